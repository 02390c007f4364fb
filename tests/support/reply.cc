#include "tests/support/reply.h"

#include "violet/base/ascii.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

// A line without its CRLF. 0: not there yet, -1: malformed.
int take_line(std::string_view& rest, std::string_view& line) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return 0;
  if (end == 0 || rest[end - 1] != '\r') return -1;
  line = rest.substr(0, end - 1);
  if (line.find('\r') != std::string_view::npos) return -1;
  rest.remove_prefix(end + 1);
  return 1;
}

// Field lines up to and including the empty one.
int take_fields(std::string_view& rest, Reply::Lines& fields) {
  for (;;) {
    std::string_view line;
    if (const int found = take_line(rest, line); found != 1) return found;
    if (line.empty()) return 1;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !ascii::is_token(line.substr(0, colon))) return -1;
    const std::string_view value = line.substr(colon + 1);
    if (!ascii::all_are(value, ascii::kFieldValue)) return -1;
    fields.emplace_back(line.substr(0, colon), ascii::trim(value));
  }
}

// A chunked body with its trailers.
int take_chunks(std::string_view& rest, Reply& reply) {
  for (;;) {
    std::string_view line;
    if (const int found = take_line(rest, line); found != 1) return found;
    std::size_t size = 0;
    if (line.empty() || line.size() > 8) return -1;
    for (char c : line) {
      if (ascii::hex_value(c) < 0) return -1;
      size = size * 16 + static_cast<std::size_t>(ascii::hex_value(c));
    }
    if (size == 0) return take_fields(rest, reply.trailers);
    if (rest.size() < size + 2) return 0;
    if (rest.substr(size, 2) != "\r\n") return -1;
    reply.body += rest.substr(0, size);
    ++reply.chunk_count;
    rest.remove_prefix(size + 2);
  }
}

}  // namespace

std::string Reply::field(std::string_view name) const {
  std::string value;
  bool is_found = false;
  for (const auto& [each, text] : fields) {
    if (!ascii::equal_folded(each, name)) continue;
    if (is_found) return "<twice>";
    is_found = true;
    value = text;
  }
  return value;
}

bool Reply::has(std::string_view name) const {
  for (const auto& [each, text] : fields) {
    if (ascii::equal_folded(each, name)) return true;
  }
  return false;
}

bool ReplyReader::fail(std::string why) {
  if (error_.empty()) error_ = std::move(why) + " in: " + bytes_.substr(0, 400);
  return false;
}

std::optional<Reply> ReplyReader::next(ReadAs as) {
  if (!error_.empty() || bytes_.empty()) return std::nullopt;
  const auto bad = [this](const char* why) {
    fail(why);
    return std::nullopt;
  };
  std::string_view rest = bytes_;
  std::string_view line;
  Reply reply;
  int found = take_line(rest, line);
  if (found < 0) return bad("malformed status line");
  if (found == 0) return std::nullopt;
  if (line.size() < 13 || !line.starts_with("HTTP/1.") || line[8] != ' ' || line[12] != ' ')
    return bad("no status line");
  const auto status = ascii::to_number<int>(line.substr(9, 3));
  if (!status || *status < 100 || *status > 599) return bad("no status");
  reply.version = line.substr(0, 8);
  reply.status = *status;
  reply.reason = line.substr(13);
  found = take_fields(rest, reply.fields);
  if (found < 0) return bad("malformed field");
  if (found == 0) return std::nullopt;

  const bool has_length = reply.has("content-length");
  const std::string length_text = reply.field("content-length");
  const auto length = ascii::to_number<std::size_t>(length_text);
  reply.is_chunked = reply.has("transfer-encoding");
  if (has_length && !length) return bad("bad Content-Length");
  if (has_length && reply.is_chunked) return bad("both Content-Length and Transfer-Encoding");
  if (reply.is_chunked && reply.field("transfer-encoding") != "chunked") return bad("bad Transfer-Encoding");
  const bool is_informational = reply.status < 200;
  if ((is_informational || reply.status == 204) && (has_length || reply.is_chunked))
    return bad("framing on 1xx or 204");

  const bool has_no_body = is_informational || reply.status == 204 || reply.status == 304 || as.is_head ||
                           (as.is_connect && reply.status / 100 == 2);
  if (has_no_body) {
  } else if (reply.is_chunked) {
    found = take_chunks(rest, reply);
    if (found < 0) return bad("malformed chunk");
    if (found == 0) return std::nullopt;
  } else if (has_length) {
    if (rest.size() < *length) return std::nullopt;
    reply.body = rest.substr(0, *length);
    rest.remove_prefix(*length);
  } else {
    if (!as.is_ended) return std::nullopt;
    reply.ends_with_close = true;
    reply.body = rest;
    rest = {};
  }
  bytes_.erase(0, bytes_.size() - rest.size());
  return reply;
}

std::vector<Reply> replies_of(std::string_view bytes, ReadAs as) {
  ReplyReader reader;
  reader.add(bytes);
  std::vector<Reply> replies;
  while (auto reply = reader.next(as)) replies.push_back(std::move(*reply));
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(reader.rest(), "");
  return replies;
}

Reply reply_of(std::string_view bytes, ReadAs as) {
  std::vector<Reply> replies = replies_of(bytes, as);
  EXPECT_EQ(replies.size(), 1u) << bytes.substr(0, 400);
  return replies.empty() ? Reply{} : replies.front();
}

}  // namespace violet::test
