#pragma once

// ScriptedService: a Service whose path says what it does, for tests and fuzz targets that attack a wire. Every answer
// names the request it belongs to, so that a request that was framed wrongly, lost or invented cannot hide.
//
//   /echo          the body, gathered first           /stream        pieces of unknown length
//   /sink          counts the body as it comes        /known         the same with a length
//   /late          held, see take_late()              /hints         103, then 200
//   /never         held until the test ends           /empty/<n>     status n, with a body that must not leave
//   /throw         throws                             /switch        101 where it is wanted, then echoes bytes
//   /twice         answers twice                      /big           1 MiB
//   anything else  "<method> <target> <authority>\n" at once, the body unread
//
// One loop's thread, except the counts.

#include "violet/core/exchange.h"
#include "violet/core/service.h"
#include "violet/event/loop.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::script {

inline constexpr int kPieces = 5;
inline constexpr std::string_view kPiece = "a piece of text;";
inline constexpr std::size_t kBigBytes = 1 << 20;

class PieceSource final : public Source {
 public:
  Pull pull(Chain& out, std::size_t) override {
    if (left_ == 0) return Pull::End;
    out.append(Slice::literal(kPiece));
    return --left_ == 0 ? Pull::End : Pull::More;
  }

 private:
  int left_ = kPieces;
};

// What "/switch" becomes: sends back what comes, up to a '!'.
class EchoTunnel final : public Receiver, public Source {
 public:
  Pull pull(Chain& out, std::size_t) override {
    out.append(std::move(waiting_));
    return is_over_ ? Pull::End : Pull::Wait;
  }
  void attach(Stream* stream) noexcept override { stream_ = stream; }
  void dispose() noexcept override {
    is_disposed_ = true;
    free_when_done();
  }

  void on_head(http::Head&, bool) override {}
  void on_data(Slice data) override {
    const std::size_t size = data.size();
    // Up to the first '!', however the bytes were cut.
    const std::size_t mark = data.text().find('!');
    if (!is_over_)
      waiting_.append(Slice::of(std::string(data.text().substr(0, mark == std::string::npos ? size : mark + 1))));
    is_over_ = is_over_ || mark != std::string::npos;
    if (stream_ == nullptr) return;
    stream_->credit(size);
    stream_->wake();
  }
  void on_end(const http::Fields*) override {
    is_over_ = true;
    if (stream_ != nullptr) stream_->wake();
  }
  void on_close(Error) noexcept override {
    is_closed_ = true;
    free_when_done();
  }

 private:
  void free_when_done() noexcept {
    if (is_disposed_ && is_closed_) delete this;
  }
  Stream* stream_ = nullptr;
  Chain waiting_;
  bool is_over_ = false;
  bool is_disposed_ = false;
  bool is_closed_ = false;
};

class ScriptedService final : public Service, private BodyWaiter, private BodySink {
 public:
  std::atomic<std::uint64_t> served_count = 0;
  std::atomic<std::uint64_t> body_count = 0;        // bodies that were delivered whole
  std::atomic<std::uint64_t> body_error_count = 0;  // and those that were not

  void serve(Exchange& exchange) override {
    ++served_count;
    const std::string_view path = exchange.request().path;
    if (path == "/echo") return exchange.collect(*this);
    if (path == "/sink") {
      exchange.pin();
      exchange.context = nullptr;
      return exchange.read(*this);
    }
    if (path == "/late") {
      hold(exchange, late_);
      if (late_ms != 0 && !timer_.is_armed()) exchange.loop().timers().arm_after(timer_, late_ms);
      return;
    }
    if (path == "/never") {
      exchange.disable_deadline();
      return hold(exchange, never_);
    }
    if (path == "/throw") throw std::runtime_error("thrown on purpose");
    if (path == "/twice") {
      exchange.reply(Body(Slice::literal("first")));
      exchange.reply(Body(Slice::literal("second")));
      return;
    }
    if (path == "/stream") return static_cast<void>(exchange.reply(Body(SourcePtr(new PieceSource))));
    if (path == "/known") {
      return static_cast<void>(exchange.reply(Body(SourcePtr(new PieceSource), kPieces * kPiece.size())));
    }
    if (path == "/hints") {
      http::Head head(exchange.arena());
      head.status = 103;
      head.fields.push(http::FieldId::Link, "</style.css>; rel=preload");
      exchange.inform(head);
      return static_cast<void>(exchange.reply(Body(Slice::literal("hinted"))));
    }
    if (path == "/big") return static_cast<void>(exchange.reply(Body(Slice::of(std::string(kBigBytes, 'b')))));
    if (path.starts_with("/empty/")) {
      exchange.response().status = static_cast<std::uint16_t>(std::atoi(std::string(path.substr(7, 3)).c_str()));
      if (exchange.response().status < 200 || exchange.response().status > 599) exchange.response().status = 204;
      return static_cast<void>(exchange.reply(Body(Slice::literal("no body may leave"))));
    }
    if (path == "/switch" && exchange.request().fields.has(http::FieldId::Upgrade)) return switch_over(exchange);
    if (exchange.request().method == http::Method::Connect) return switch_over(exchange);
    answer(exchange);
  }

  // Answers those that "/late" holds, newest first, so that the wire has to bring them into order.
  std::size_t answer_late() {
    const std::size_t count = late_.size();
    while (!late_.empty()) {
      const Ref<Exchange> exchange = std::exchange(late_.back()->exchange, {});
      late_.pop_back();
      if (!exchange->is_answered()) exchange->guard([&] { answer(*exchange); });
    }
    return count;
  }
  [[nodiscard]] std::size_t late_count() const noexcept { return late_.size(); }
  // Set before the first request: "/late" is answered by itself after so long.
  std::uint64_t late_ms = 0;
  // Lets go of everything, answered or not.
  void forget() {
    late_.clear();
    never_.clear();
  }

 private:
  // An exchange that waits; let go of when its client leaves.
  struct Held final : CancelHook {
    using List = std::vector<std::unique_ptr<Held>>;
    void on_cancel(Error) noexcept override {
      const Ref<Exchange> last = std::exchange(exchange, {});
      std::erase_if(*list, [this](const auto& held) { return held.get() == this; });
    }
    Ref<Exchange> exchange;
    List* list = nullptr;
  };
  static void hold(Exchange& exchange, Held::List& list) {
    list.push_back(std::make_unique<Held>());
    list.back()->exchange = exchange.hold();
    list.back()->list = &list;
    exchange.add_cancel_hook(*list.back());
  }

  static void answer(Exchange& exchange) {
    const http::Head& request = exchange.request();
    std::string text(request.method_text);
    text.append(" ").append(request.target).append(" ").append(request.authority).append("\n");
    exchange.response().fields.push(http::FieldId::ContentType, "text/plain");
    exchange.reply(Body(Slice::of(std::move(text))));
  }
  static void switch_over(Exchange& exchange) {
    const bool is_connect = exchange.request().method == http::Method::Connect;
    exchange.response().status = is_connect ? 200 : 101;
    if (!is_connect) exchange.response().fields.push(http::FieldId::Upgrade, "echo");
    auto* tunnel = new EchoTunnel;
    exchange.accept_upgrade(*tunnel, Body(SourcePtr(tunnel)));
  }

  void on_body(Exchange& exchange) override {
    ++body_count;
    const http::Fields* trailers = exchange.request_trailers();
    if (trailers != nullptr) {
      for (const http::Field& field : *trailers)
        static_cast<void>(exchange.response().fields.add("X-Trailer", field.name));
    }
    exchange.reply(Body(Slice::of(std::string(exchange.body()))));
  }
  void on_body_data(Exchange& exchange, Slice data) override {
    exchange.context = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(exchange.context) + data.size());
    exchange.credit(data.size());
  }
  void on_body_end(Exchange& exchange) override {
    ++body_count;
    exchange.reply(Body(Slice::of(std::to_string(reinterpret_cast<std::uintptr_t>(exchange.context)))));
  }
  void on_body_error(Exchange&, Error) noexcept override { ++body_error_count; }

  void on_timer() noexcept { answer_late(); }

  TimerTo<&ScriptedService::on_timer> timer_{*this};
  Held::List late_;
  Held::List never_;
};

}  // namespace violet::script
