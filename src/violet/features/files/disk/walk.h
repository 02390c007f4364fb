#pragma once

// Opening beneath a folder segment by segment, for kernels that have no openat2: the same answers, by more calls.

namespace violet::files {

// A descriptor, or a negative errno. `flags` are those of open(); no link is followed at a segment unless
// `follows_links`, and then only relative ones that stay beneath `root`.
int open_by_walking(int root, const char* relative, int flags, bool follows_links);

}  // namespace violet::files
