#include "fuzz/wire.h"

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/base/log.h"

#include <algorithm>

namespace violet::fuzz {
namespace {

Loop& loop() {
  static Loop one;
  return one;
}

}  // namespace

Limits limits_without_time() {
  Limits limits;
#define VIOLET_WITHOUT_TIME(name, value, unit, status, stops) \
  if (std::string_view(unit) == "ms") limits.name = 0;
  VIOLET_LIMITS(VIOLET_WITHOUT_TIME)
#undef VIOLET_WITHOUT_TIME
  return limits;
}

Wire::Wire(const Limits& limits, Service* other, ErrorPage* error_page)
    : site_(loop(), other != nullptr ? *other : service, limits), shared_(site_) {
  site_.error_page = error_page;
}

Wire::~Wire() {
  if (wire_) end();
  if (wire_ && (session_ != nullptr || tunnel_.is_open())) break_off();
  EXPECT(session_ == nullptr && !tunnel_.is_open());
  // Exchanges that are still counted then, but for the one that Shared keeps warm, fail the pool's own assertion.
  service.forget();
}

void Wire::on_session_closed(h1::Session& session) noexcept {
  EXPECT(&session == session_);
  delete session_;
  session_ = nullptr;
}

void Wire::open() {
  wire_ = net::MemoryTransport::make(loop());
  wire_->set_read_max(read_max);
  wire_->set_room(room);
  session_ = new h1::Session(shared_, *this, *wire_, Connection{});
  session_->open();
}

// Until nothing moves any more. An input that never comes to rest is a finding.
void Wire::settle() {
  std::size_t unread = ~std::size_t{0};
  int idle_count = 0;
  for (int turn = 0; idle_count < 2; ++turn) {
    EXPECT(turn < 2'000'000);
    loop().step(0);
    const std::string piece = wire_->take();
    received_ += piece;
    const bool moves = !piece.empty() || wire_->unread_bytes() != unread;
    unread = wire_->unread_bytes();
    idle_count = moves ? 0 : idle_count + 1;
    if (!piece.empty() && room != ~std::size_t{0} && !wire_->is_closed()) wire_->add_room(piece.size());
  }
}

void Wire::send(std::string_view bytes) {
  if (wire_->is_closed()) return;
  wire_->feed(bytes);
  settle();
}

void Wire::finish() {
  // Answers may let further requests in, which may be held again.
  while (service.answer_late() > 0) settle();
}

std::string Wire::run(std::string_view bytes) {
  open();
  send(bytes);
  finish();
  return received_;
}

void Wire::end() {
  if (!wire_->is_closed()) wire_->feed_end();
  settle();
}

void Wire::break_off() {
  if (!wire_->is_closed()) wire_->break_off();
  settle();
}

namespace {

// One line without its CRLF; false when there is none, or a stray CR or LF in it.
bool take_line(std::string_view& rest, std::string_view& line) {
  const std::size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) return false;
  line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool take_chunks(std::string_view& rest, std::string& body) {
  for (;;) {
    std::string_view line;
    if (!take_line(rest, line) || line.empty() || line.size() > 16) return false;
    std::uint64_t size = 0;
    for (const char c : line) {
      if (ascii::hex_value(c) < 0) return false;
      size = size * 16 + static_cast<std::uint64_t>(ascii::hex_value(c));
    }
    if (size == 0) break;
    if (size > rest.size() || rest.size() - size < 2 || rest.substr(size, 2) != "\r\n") return false;
    body.append(rest.substr(0, size));
    rest.remove_prefix(size + 2);
  }
  std::string_view line;
  return take_line(rest, line) && line.empty();
}

// 1: taken, 0: the bytes end too early, -1: malformed.
int take_answer(std::string_view& rest, std::string_view method, Answer& answer) {
  std::string_view line;
  if (rest.find("\r\n\r\n") == std::string_view::npos) return 0;
  if (!take_line(rest, line) || line.size() < 13 || !line.starts_with("HTTP/1.1 ") || line[12] != ' ') return -1;
  answer.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  if (answer.status < 100 || answer.status > 599) return -1;
  std::optional<std::uint64_t> length;
  bool is_chunked = false;
  bool has_date = false;
  while (take_line(rest, line) && !line.empty()) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || !ascii::is_token(line.substr(0, colon))) return -1;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (!http::is_field_value(value)) return -1;
    if (name == "Date") {
      if (has_date) return -1;
      has_date = true;
      continue;
    }
    answer.fields.append(line).append("\n");
    if (name == "Content-Length") {
      if (length) return -1;
      length = ascii::to_number<std::uint64_t>(value);
      if (!length) return -1;
    }
    if (name == "Transfer-Encoding") is_chunked = value == "chunked";
    if (name == "Connection") answer.closes = value == "close";
  }
  const bool is_informational = answer.status < 200;
  if (has_date == is_informational) return -1;
  if (length && is_chunked) return -1;
  if ((is_informational || answer.status == 204) && (length || is_chunked)) return -1;
  if (is_informational || answer.status == 204 || answer.status == 304 || method == "HEAD") return 1;
  if (method == "CONNECT" && answer.status < 300) return 1;
  if (is_chunked) return take_chunks(rest, answer.body) ? 1 : 0;
  if (length) {
    if (*length > rest.size()) return 0;
    answer.body = rest.substr(0, *length);
    rest.remove_prefix(*length);
    return 1;
  }
  // Without either the body ends with the connection.
  if (!answer.closes) return -1;
  answer.body = rest;
  rest = {};
  return 1;
}

}  // namespace

bool read_answers(std::string_view bytes, const std::vector<std::string>& methods, bool is_cut,
                  std::vector<Answer>& answers) {
  std::size_t index = 0;
  bool is_raw = false;
  while (!bytes.empty()) {
    if (is_raw) {
      answers.back().body += bytes;
      return true;
    }
    const std::string_view method = index < methods.size() ? std::string_view(methods[index]) : std::string_view{};
    Answer answer;
    const int verdict = take_answer(bytes, method, answer);
    if (verdict < 0) return false;
    if (verdict == 0) return is_cut;
    is_raw = answer.status == 101 || (method == "CONNECT" && answer.status >= 200 && answer.status < 300);
    if (answer.status >= 200 || is_raw) ++index;
    answers.push_back(std::move(answer));
    // Nothing follows an answer that says close.
    if (answers.back().closes && !bytes.empty()) return false;
  }
  return true;
}

}  // namespace violet::fuzz
