#pragma once

// From a decoded field section to a head: the rules of RFC 9113 §8 that HPACK does not know, for both directions.
//
// What they refuse is malformed, a fault of its stream alone: pseudo-fields that are missing, repeated, late or
// unknown, fields that belong to a connection, upper case, a Host that contradicts :authority, a target that HTTP/1.1
// would refuse (http/target.h), Content-Length that is no plain number. Texts stay where the decoder put them.

#include "violet/hpack/section.h"
#include "violet/http/head.h"

#include <cstdint>
#include <optional>

namespace violet::h2 {

enum class Reading : std::uint8_t {
  Good,
  Malformed,
  TargetTooLong,  // 414
  TooManyBytes,   // 431, by the decoder's budget
  TooManyFields,  // the same
  Broken,         // the connection has failed
};

// Everything but the fields, which the section has put into `head` already. `length`: what Content-Length says.
// `may_extend`: the peer was told that it may use :protocol (RFC 8441 §3).
[[nodiscard]] Reading read_request(const hpack::Section& section, std::uint64_t target_bytes_max, bool may_extend,
                                   http::Head& head, std::optional<std::uint64_t>& length);

[[nodiscard]] Reading read_response(const hpack::Section& section, http::Head& head,
                                    std::optional<std::uint64_t>& length);

// Drops what no trailer may carry (RFC 9110 §6.5.1). False: malformed (RFC 9113 §8.1).
[[nodiscard]] bool read_trailers(hpack::Section& section) noexcept;

}  // namespace violet::h2
