#pragma once

// A wire without bytes: requests go straight into an Exchange, answers are taken as the stream is given them. The
// request's texts are overwritten as soon as serve() has returned, so that whoever kept them unpinned is found out.

#include "violet/core/site.h"
#include "violet/http/target.h"
#include "violet/web/router.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::web {

struct FakeAnswer {
  int status = 0;  // 0: none came
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  std::vector<std::pair<std::string, std::string>> trailers;
  bool is_whole = false;
  Error reset;
  std::size_t credit = 0;
  std::vector<int> informed;

  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return {};
  }
};

class FakeStream final : public Stream {
 public:
  explicit FakeStream(const Connection& connection) : connection_(connection) {}
  ~FakeStream() = default;

  void inform(const http::Head& head) override { answer.informed.push_back(head.status); }
  void start(const http::Head& head, Body&& body) override {
    answer.status = head.status;
    if (!keeps_answer) {
      // For counting: touch everything, keep nothing.
      std::size_t size = 0;
      for (const Slice& slice : body.chain()) size += slice.size();
      answer.is_whole = body.source() == nullptr;
      kept_bytes += size;
      return;
    }
    answer.fields.clear();
    for (const http::Field& field : head.fields) answer.fields.emplace_back(field.name, field.value);
    for (const Slice& slice : body.chain()) {
      answer.body += slice.is_file() ? "<file " + std::to_string(slice.size()) + ">" : std::string(slice.text());
    }
    source_ = body.take_source();
    if (source_ == nullptr) {
      answer.is_whole = true;
    } else {
      source_->attach(this);
      pull();
    }
  }
  void wake() override {
    ++wake_count;
    if (!is_held) pull();
  }
  void credit(std::size_t n) override { answer.credit += n; }
  void reset(Error why) override {
    answer.reset = why;
    source_.reset();
  }
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }

  void pull() {
    while (source_ != nullptr) {
      Chain chain;
      const Pull verdict = source_->pull(chain, pull_max);
      pull_count++;
      answer.body += chain.to_string();
      if (verdict == Pull::End) {
        if (const http::Fields* trailers = source_->trailers()) {
          for (const http::Field& field : *trailers) answer.trailers.emplace_back(field.name, field.value);
        }
        answer.is_whole = true;
        source_.reset();
      } else if (verdict == Pull::Failed) {
        answer.reset = Error(ErrorKind::Handler);
        source_.reset();
      } else if (verdict == Pull::Wait || is_held) {
        return;
      }
    }
  }
  void drop_body() noexcept { source_.reset(); }

  FakeAnswer answer;
  bool keeps_answer = true;
  bool is_held = false;  // the wire has no room: one pull at a time, by hand
  std::size_t pull_max = 65536;
  std::size_t kept_bytes = 0;
  int wake_count = 0;
  int pull_count = 0;

 private:
  const Connection& connection_;
  SourcePtr source_;
};

struct FakeRequest {
  http::Method method = http::Method::Get;
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::optional<std::string> body = {};
  std::size_t body_piece = 0;  // 0: in one
  std::string method_text = {};
};

// One request under way.
class FakeCall {
 public:
  FakeCall(Site& site, const Connection& connection, const FakeRequest& request, void (*set_up)(FakeStream&) = nullptr)
      : site_(site), stream(connection) {
    if (set_up != nullptr) set_up(stream);
    exchange_ = &site.exchanges.open(stream);
    receive_head(request);
  }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;
  ~FakeCall() { close(); }

  void send_data(std::string_view text) { exchange_->on_data(Slice::of(std::string(text))); }
  void send_end() { exchange_->on_end(nullptr); }
  void send_body(const FakeRequest& request) {
    if (!request.body) return;
    const std::string& body = *request.body;
    const std::size_t piece = request.body_piece == 0 ? body.size() + 1 : request.body_piece;
    for (std::size_t at = 0; at < body.size(); at += piece) send_data(std::string_view(body).substr(at, piece));
    send_end();
  }
  // Turns of the loop until there is a whole answer, at most `turns`.
  FakeAnswer& wait(int turns = 500) {
    for (int i = 0; i < turns && !is_done(); ++i) site_.loop.step(10);
    return stream.answer;
  }
  [[nodiscard]] bool is_done() const noexcept { return stream.answer.is_whole || stream.answer.reset; }
  // The end of the stream, as the wire would report it.
  void close(Error why = {}) {
    if (exchange_ == nullptr) return;
    stream.drop_body();
    std::exchange(exchange_, nullptr)->on_close(why);
  }
  Exchange& exchange() { return *exchange_; }

 private:
  void receive_head(const FakeRequest& request) {
    http::Head& head = exchange_->request();
    head.method = request.method;
    raw_ = request.method_text.empty() ? std::string(http::name(request.method)) : request.method_text;
    const std::size_t method_size = raw_.size();
    raw_ += " " + request.target + "\n";
    for (const auto& [name, value] : request.fields) raw_ += name + ":" + value + "\n";
    std::size_t at = 0;
    const auto take = [&](std::size_t size) {
      const std::string_view text = std::string_view(raw_).substr(at, size);
      at += size + 1;
      return text;
    };
    head.method_text = take(method_size);
    head.target = take(request.target.size());
    for (const auto& [name, value] : request.fields) {
      const std::string_view name_text = take(name.size());
      head.fields.push({.name = name_text, .value = take(value.size()), .id = http::find_field(name_text)});
    }
    head.raw = raw_;
    if (!http::split_target(head)) head.path = head.target;
    exchange_->on_head(head, request.body.has_value());
    raw_.assign(raw_.size(), '!');
  }

  Site& site_;
  std::string raw_;

 public:
  FakeStream stream;

 private:
  Exchange* exchange_ = nullptr;
};

// A router with its loop and site.
class FakeServer {
 public:
  Router router;
  Loop loop;
  Limits limits;
  Connection connection;

  Site& site() {
    if (!site_) {
      errors = router.freeze();
      site_.emplace(loop, router, limits);
      site_->error_page = error_page;
    }
    return *site_;
  }
  FakeAnswer send(const FakeRequest& request) {
    const Loop::Scope scope(loop);
    FakeCall call(site(), connection, request);
    call.send_body(request);
    FakeAnswer answer = call.wait();
    call.close();
    return answer;
  }
  FakeAnswer get(std::string target, std::vector<std::pair<std::string, std::string>> fields = {}) {
    return send({.target = std::move(target), .fields = std::move(fields)});
  }
  FakeAnswer post(std::string target, std::string body) {
    return send({.method = http::Method::Post, .target = std::move(target), .body = std::move(body)});
  }
  FakeAnswer ask(http::Method method, std::string target) {
    return send({.method = method, .target = std::move(target)});
  }

  ErrorPage* error_page = nullptr;
  std::vector<std::string> errors;

 private:
  std::optional<Site> site_;
};

}  // namespace violet::web
