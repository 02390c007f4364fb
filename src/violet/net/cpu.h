#pragma once

// How many loops make sense here.

namespace violet::net {

// Processors this process may use: the affinity mask, cut by the cgroup's CPU quota (cgroup v2 and v1), at least 1.
int usable_processors() noexcept;

// Descriptors this process may open (RLIMIT_NOFILE); raises the soft limit to the hard one first.
unsigned long usable_descriptors() noexcept;

}  // namespace violet::net
