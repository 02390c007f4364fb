#pragma once

// From a head to HEADERS and CONTINUATION (RFC 9113 §6.2, §8): what a wire has to say of a message, in which order, and
// what it must not say.

#include "violet/core/site.h"
#include "violet/hpack/encoder.h"
#include "violet/http/head.h"
#include "violet/net/io/output.h"

#include <cstdint>
#include <string_view>

namespace violet::h2 {

// What a head says about the body behind it. The wire decides, not the handler.
struct Framing {
  enum class Length : std::uint8_t {
    None,   // no word about it
    Known,  // Content-Length
    Kept,   // a bodyless answer that may carry the handler's own Content-Length (304, HEAD)
  };
  Length says = Length::None;
  bool ends_stream = false;
  std::uint64_t length = 0;
};

// Where heads go: a connection's output through its encoder, in the order of writing.
struct HeadWriter {
  net::Output& output;
  hpack::Encoder& encoder;

  // A response, 1xx included. Date and Server come from `site`; a 1xx head gets neither. `body` follows in one DATA
  // frame that ends the stream, with one reservation for both. REQUIRES: body.size() <= kBodyMax; empty unless the head
  // does not end the stream.
  void response(std::uint32_t stream, int status, const http::Fields& fields, const Framing& framing, Site& site,
                std::string_view body = {});
  static constexpr std::size_t kBodyMax = 1024;

  // A request: pseudo-fields from the head, Host left out (§8.3.1).
  void request(std::uint32_t stream, const http::Head& head, const Framing& framing);

  // Trailers; they end the stream.
  void trailers(std::uint32_t stream, const http::Fields& fields);
};

}  // namespace violet::h2
