#pragma once

// The body of a request, in one piece or as it comes.
//
//   app.post("/", [](Text text) { … *text … });                          // collected first, at most body_bytes_max
//   app.post("/", [](Bytes bytes) { … bytes->size() … });
//   app.post("/upload", [](BodyStream body) -> Task<std::string> {       // as it comes
//     std::uint64_t size = 0;
//     for (;;) {
//       Result<Slice> piece = co_await body.read();
//       if (!piece) co_return "the client left";
//       if (piece->is_empty()) break;                                    // the end
//       size += piece->size();
//     }
//     co_return std::to_string(size);
//   });

#include "violet/data/type_of.h"
#include "violet/event/task.h"
#include "violet/web/input/extract.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace violet {

// Not checked to be UTF-8.
struct Text {
  using Wrapped = std::string_view;
  std::string_view value;
  operator std::string_view() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const std::string_view& operator*() const noexcept { return value; }
  const std::string_view* operator->() const noexcept { return &value; }
};

struct Bytes {
  using Wrapped = std::span<const std::byte>;
  std::span<const std::byte> value;
  operator std::span<const std::byte>() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const std::span<const std::byte>& operator*() const noexcept { return value; }
  const std::span<const std::byte>* operator->() const noexcept { return &value; }
};

// Reads the body piece by piece. Nothing is asked of the client (not even 100 Continue sent) before the first read(),
// and no more than a window ahead of what has been read: a piece counts as used when the next one is asked for. What is
// left unread when it dies is read away.
class BodyStream {
 public:
  class State;
  class [[nodiscard("co_await it")]] Read : public Waiter {
   public:
    explicit Read(State& state) noexcept : state_(state) {}
    ~Read() override;
    bool await_ready();
    bool await_suspend(std::coroutine_handle<> handle) noexcept;
    Result<Slice> await_resume();

   private:
    friend class State;
    void on_stop(Error why) noexcept override;
    State& state_;
  };

  explicit BodyStream(Exchange& exchange);
  BodyStream(BodyStream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  BodyStream& operator=(BodyStream&&) = delete;
  ~BodyStream();

  // The next piece, never more than one being asked for; an empty one at the end. Fails when the client has left, the
  // framing is broken, a limit was passed or the chain is stopped.
  Read read() noexcept { return Read(*state_); }
  // The last piece has been read.
  [[nodiscard]] bool has_ended() const noexcept;

 private:
  State* state_;
};

template <>
struct Extract<Text> : Extractor {
  static constexpr web::Input input{
      .kind = web::Input::Kind::Body, .media = "text/plain", .type = &data::kType<std::string>};
  static constexpr bool wants_body = true;
  static Text from(Fetch& fetch) noexcept { return {fetch.exchange().body()}; }
};
template <>
struct Extract<Bytes> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Body, .media = "application/octet-stream"};
  static constexpr bool wants_body = true;
  static Bytes from(Fetch& fetch) noexcept {
    const std::string_view body = fetch.exchange().body();
    return {{reinterpret_cast<const std::byte*>(body.data()), body.size()}};
  }
};
template <>
struct Extract<BodyStream> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Body, .media = "application/octet-stream"};
  static constexpr bool takes_body = true;
  static constexpr bool needs_task = true;
  static BodyStream from(Fetch& fetch) { return BodyStream(fetch.exchange()); }
};

}  // namespace violet
