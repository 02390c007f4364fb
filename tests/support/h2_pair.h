#pragma once

// H2Pair: two h2::Sessions, a client and a server, each over a MemoryTransport, with their bytes carried across. A Call
// is one request of the client and what has come of it.

#include "tests/support/h2_wire.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

class Call final : public Receiver {
 public:
  void on_head(http::Head& head, bool has_body) override;
  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_close(Error why) noexcept override;

  h2::Stream* stream = nullptr;
  PushSource::Watch upload;
  StreamReply reply;
  std::size_t owed = 0;
  bool gives_credit = true;
  int close_count = 0;
  Error why;
};

class H2Pair final : h2::Session::Host {
 public:
  explicit H2Pair(const Limits& limits = {});
  H2Pair(const H2Pair&) = delete;
  H2Pair& operator=(const H2Pair&) = delete;
  ~H2Pair();

  // A request without a body, or with one that is pushed into call.upload.source. nullptr when the client may not.
  Call* open(std::string_view method, std::string_view target, const FieldList& fields = {}, bool has_body = false,
             std::string_view protocol = {}, std::optional<std::uint64_t> length = {});
  Call& get(std::string_view target) {
    Call& call = *open("GET", target);
    settle();
    return call;
  }
  // Carries bytes both ways until nothing moves any more.
  void settle();
  // Everything that has been carried to the client.
  [[nodiscard]] const std::string& sent_by_server() const { return carried_; }

  H2Wire server;
  Limits limits;
  net::Buffers buffers;
  h2::Shared shared;
  Ref<net::MemoryTransport> wire;  // the client's
  h2::Session* client = nullptr;
  std::vector<std::unique_ptr<Call>> calls;

 private:
  void on_session_closed(h2::Session& closed) noexcept override;
  std::string carried_;
};

}  // namespace violet::test
