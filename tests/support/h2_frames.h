#pragma once

// Frames of HTTP/2 by hand: writing what a peer sends, right or wrong, and reading what comes back. Blocks are written
// as literals without a table and without Huffman coding, so that tests can read them; read with violet's decoder,
// which tests/hpack checks against nghttp2.

#include "violet/h2/frame.h"
#include "violet/hpack/decoder.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {

using FieldList = std::vector<std::pair<std::string, std::string>>;

// --- writing

std::string frame(h2::FrameType type, std::uint8_t flags, std::uint32_t stream, std::string_view payload = {});
std::string settings(std::vector<h2::SettingValue> values = {});
std::string settings_ack();
std::string ping(std::string_view payload = "12345678", bool is_ack = false);
std::string goaway(std::uint32_t last, h2::Code code = h2::Code::NoError);
std::string reset(std::uint32_t stream, h2::Code code = h2::Code::Cancel);
std::string window_update(std::uint32_t stream, std::uint32_t increment);
std::string data(std::uint32_t stream, std::string_view bytes, bool ends_stream = false);
std::string padded_data(std::uint32_t stream, std::string_view bytes, std::size_t pad, bool ends_stream = false);
// A field block.
std::string block(const FieldList& fields);
std::string headers(std::uint32_t stream, std::string_view block, bool ends_stream = true, bool ends_headers = true);
inline std::string headers(std::uint32_t stream, const FieldList& fields, bool ends_stream = true) {
  return headers(stream, block(fields), ends_stream);
}
std::string continuation(std::uint32_t stream, std::string_view block, bool ends_headers = true);

// Pseudo-fields of a request to "a", and more fields behind them.
FieldList request(std::string_view method, std::string_view path, const FieldList& more = {});
inline std::string get(std::uint32_t stream, std::string_view path = "/", const FieldList& more = {}) {
  return headers(stream, request("GET", path, more));
}
// A request whose body follows.
inline std::string post(std::uint32_t stream, std::string_view path = "/", const FieldList& more = {}) {
  return headers(stream, request("POST", path, more), false);
}

// --- reading

struct Frame {
  h2::FrameType type = h2::FrameType::Data;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
  [[nodiscard]] bool has(std::uint8_t wanted) const { return (flags & wanted) != 0; }
  [[nodiscard]] std::uint32_t number(std::size_t at = 0) const { return h2::read_u32(payload.data() + at); }
};

// What has come on one stream.
struct StreamReply {
  std::vector<int> informational;
  int status = 0;  // 0: no final head yet
  FieldList fields;
  std::string body;
  FieldList trailers;
  bool is_ended = false;
  bool is_reset = false;
  h2::Code code = h2::Code::NoError;  // of a reset
  std::size_t frame_count = 0;
  [[nodiscard]] std::string field(std::string_view name) const;
};

// Reads frames and checks that each may come where it does; error() is the first thing that was wrong.
class FrameReader {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }
  [[nodiscard]] StreamReply& stream(std::uint32_t id) { return streams_[id]; }
  [[nodiscard]] std::size_t count(h2::FrameType type, std::uint8_t flags = 0) const;
  // The last GOAWAY; nullptr when there was none.
  [[nodiscard]] const Frame* goaway() const;
  [[nodiscard]] std::size_t rest_bytes() const { return rest_.size(); }
  // Bytes of DATA on a stream, for windows kept by hand.
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }

 private:
  void read(const Frame& frame);
  void read_headers(const Frame& frame, std::string_view payload);
  void note_error(const std::string& what, const Frame& frame);

  std::string rest_;
  std::string error_;
  std::vector<Frame> frames_;
  std::map<std::uint32_t, StreamReply> streams_;
  std::string block_;
  std::uint32_t block_stream_ = 0;
  bool block_ends_stream_ = false;
  std::uint64_t data_bytes_ = 0;
  hpack::Decoder decoder_;
};

}  // namespace violet::test
