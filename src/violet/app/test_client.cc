#include "violet/app/test_client.h"

#include "violet/app/state.h"
#include "violet/base/ascii.h"
#include "violet/core/site.h"
#include "violet/h1/session.h"
#include "violet/http/status.h"
#include "violet/net/memory.h"

namespace violet {

std::string_view TestReply::header(std::string_view name) const noexcept {
  for (const Field& field : fields_) {
    if (ascii::equal_folded(field.name, name)) return field.value;
  }
  return {};
}

// Reads one answer as RFC 9112 §6.3 frames it.
class TestReader {
 public:
  explicit TestReader(bool is_head) noexcept : is_head_(is_head) {}

  // True when the answer is complete. `is_closed`: nothing more will come.
  bool read(std::string_view bytes, bool is_closed) {
    reply = {};
    rest_ = bytes;
    for (;;) {
      if (!read_head()) return false;
      if (!http::is_informational(reply.status_) || reply.status_ == 101) break;
      reply.informed_.push_back(reply.status_);
      reply.fields_.clear();
    }
    if (is_head_ || http::is_bodyless(reply.status_)) return true;
    if (ascii::equal_folded(reply.header("Transfer-Encoding"), "chunked")) return read_chunks();
    if (const auto length = ascii::to_number<std::size_t>(reply.header("Content-Length"))) {
      if (rest_.size() < *length) return false;
      reply.text_ = rest_.substr(0, *length);
      return true;
    }
    reply.text_ = rest_;
    return is_closed;
  }

  // An answer that there is not.
  static TestReply failed(std::string why) {
    TestReply none;
    none.text_ = std::move(why);
    return none;
  }

  TestReply reply;

 private:
  bool read_line(std::string_view& line) noexcept {
    const std::size_t end = rest_.find("\r\n");
    if (end == std::string_view::npos) return false;
    line = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    return true;
  }
  bool read_fields(std::vector<TestReply::Field>& fields) {
    std::string_view line;
    while (read_line(line)) {
      if (line.empty()) return true;
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return false;
      fields.push_back({std::string(line.substr(0, colon)), std::string(ascii::trim(line.substr(colon + 1)))});
    }
    return false;
  }
  bool read_head() {
    std::string_view line;
    if (!read_line(line) || line.size() < 12 || !line.starts_with("HTTP/1.")) return false;
    reply.status_ = ascii::to_number<int>(line.substr(9, 3)).value_or(0);
    return reply.status_ != 0 && read_fields(reply.fields_);
  }
  bool read_chunks() {
    std::string_view line;
    while (read_line(line)) {
      std::size_t size = 0;
      for (char c : line.substr(0, line.find(';'))) size = size * 16 + static_cast<std::size_t>(ascii::hex_value(c));
      if (size == 0) return read_fields(reply.trailers_);
      if (rest_.size() < size + 2) return false;
      reply.text_ += rest_.substr(0, size);
      rest_.remove_prefix(size + 2);
    }
    return false;
  }

  bool is_head_;
  std::string_view rest_;
};

struct TestClient::State final : h1::Session::Host {
  explicit State(App::State& app) : site(loop, app.router, app.limits), shared(site) {
    site.error_page = &app.pages;
    site.server_name = app.name;
  }

  // One request on a connection of its own. is_done(bytes so far, is_closed) ends it.
  template <class Done>
  std::string exchange(std::string_view bytes, Done is_done) {
    const Loop::Scope scope(loop);
    const Ref<net::MemoryTransport> wire = net::MemoryTransport::make(loop);
    Connection connection;
    connection.peer = *Address::parse("127.0.0.1", 1);
    connection.id = ++connection_count;
    session = new h1::Session(shared, *this, *wire, connection);
    session->open();
    wire->feed(bytes);
    const std::uint64_t end_us = Loop::clock_us() + timeout_ms * 1000;
    is_in_time = true;
    for (int turn = 0; !is_done(std::string_view(wire->written()), session == nullptr || wire->is_shut_down());
         ++turn) {
      if (session == nullptr || Loop::clock_us() > end_us) {
        is_in_time = session == nullptr;
        break;
      }
      // What does not wait is answered in the first turns.
      loop.step(turn < kQuickTurns ? 0 : kStepMs);
    }
    close();
    return wire->take();
  }

  void close() {
    if (session != nullptr) session->abort(Error(ErrorKind::Closed));
    // What handlers still do after their client has left is theirs to end, but not for ever.
    const std::uint64_t end_us = Loop::clock_us() + timeout_ms * 1000;
    while ((session != nullptr || has_work()) && Loop::clock_us() < end_us) loop.step(1);
  }

  // An exchange is under way; the one that is kept for the next request is not.
  [[nodiscard]] bool has_work() const noexcept {
    return site.exchanges.used_count() > (shared.has_spare_stream() ? 1u : 0u);
  }

  void on_session_closed(h1::Session& closed) noexcept override {
    session = nullptr;
    delete &closed;
  }

  static constexpr int kStepMs = 20;
  static constexpr int kQuickTurns = 3;

  Loop loop;
  Site site;
  h1::Shared shared;
  h1::Session* session = nullptr;
  std::uint64_t connection_count = 0;
  std::uint64_t timeout_ms = 5'000;
  bool is_in_time = true;
  std::string errors;  // why nothing can be sent
};

TestClient::TestClient(App& app) : state_(new State(*app.state_)) {
  // A running app is frozen already, and its table in use.
  {
    const std::lock_guard lock(app.state_->mutex);
    if (app.state_->server != nullptr) return;
  }
  for (const std::string& error : app.state_->freeze()) state_->errors += error + "\n";
}
TestClient::TestClient(TestClient&&) noexcept = default;
TestClient::~TestClient() = default;

TestClient& TestClient::timeout_ms(std::uint64_t ms) noexcept {
  state_->timeout_ms = ms;
  return *this;
}

TestReply TestClient::send(std::string_view bytes, bool is_head) {
  TestReader reader(is_head);
  if (!state_->errors.empty()) {
    return TestReader::failed(state_->errors);
  }
  bool is_whole = false;
  const std::string got = state_->exchange(bytes, [&](std::string_view answer, bool is_closed) {
    is_whole = reader.read(answer, is_closed);
    return is_whole;
  });
  if (is_whole) return std::move(reader.reply);
  return TestReader::failed((state_->is_in_time ? "the connection was closed after: " : "no whole answer in time: ") +
                            got);
}

std::string TestClient::raw(std::string_view bytes) {
  if (!state_->errors.empty()) return state_->errors;
  std::size_t last = 0;
  int quiet_turns = 0;
  return state_->exchange(bytes, [&](std::string_view answer, bool is_closed) {
    constexpr int kQuietTurnsMax = 5;
    quiet_turns = answer.size() == last && !state_->has_work() ? quiet_turns + 1 : 0;
    last = answer.size();
    return is_closed || quiet_turns > kQuietTurnsMax;
  });
}

TestRequest::TestRequest(TestClient& client, std::string_view method, std::string_view target)
    : client_(client), method_(method), target_(target) {}

TestRequest& TestRequest::header(std::string_view name, std::string_view value) {
  has_host_ |= ascii::equal_folded(name, "Host");
  has_length_ |= ascii::equal_folded(name, "Content-Length") || ascii::equal_folded(name, "Transfer-Encoding");
  fields_.append(name).append(": ").append(value).append("\r\n");
  return *this;
}

TestRequest& TestRequest::body(std::string text) {
  body_ = std::move(text);
  has_body_ = true;
  return *this;
}

TestReply TestRequest::send() {
  std::string bytes = method_ + " " + target_ + " HTTP/1.1\r\n";
  if (!has_host_) bytes += "Host: test\r\n";
  bytes += fields_;
  if (has_body_ && !has_length_) bytes += "Content-Length: " + std::to_string(body_.size()) + "\r\n";
  bytes += "\r\n";
  bytes += body_;
  return client_.send(bytes, method_ == "HEAD");
}

}  // namespace violet
