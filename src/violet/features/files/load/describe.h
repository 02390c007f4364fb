#pragma once

// What the head of an answer says about a file: made once, by whoever loads it.

#include "violet/features/files/load/entry.h"
#include "violet/features/files/options.h"

#include <string>
#include <string_view>

namespace violet::files {

// ".br"; "" for codings that have no twins.
[[nodiscard]] std::string_view twin_extension(http::Coding coding) noexcept;

// A strong tag: it changes whenever anything of the version does, also the time of the last change of the inode, which
// alone tells of bytes that were written over others and given their time; and is another one for each coding. Mixed,
// so that it tells nobody what the inode is.
[[nodiscard]] std::string make_etag(const Version& version, http::Coding coding);
// The second of the last change. A time that is still to come is replaced by now: no message may say that what it
// brings was changed after it was sent (RFC 9110 §8.8.2.1).
[[nodiscard]] std::int64_t modified_second(const Version& version, std::int64_t now_s) noexcept;
// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::string make_date(std::int64_t seconds);

// Type, Cache-Control and Content-Disposition, the same for all variants. `relative` is the file's path below the root.
void describe(Entry& entry, const FileOptions& options, std::string_view relative);

// variant.fields, when everything else of both is known.
void prepare_fields(const Entry& entry, Variant& variant);

}  // namespace violet::files
