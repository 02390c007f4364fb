#pragma once

// Wire: an h1::Session over memory with the scripted service (tests/conformance/scripted_service.h) or another one, for
// targets that attack a whole session. Nothing depends on time: see limits_without_time().

#include "tests/conformance/scripted_service.h"
#include "tests/support/one_tunnel.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/h1/session.h"
#include "violet/net/memory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::fuzz {

// The defaults, but no timer ever runs.
Limits limits_without_time();

class Wire final : h1::Session::Host {
 public:
  // With another service in place of the scripted one, if there is `other`.
  explicit Wire(const Limits& limits, Service* other = nullptr, ErrorPage* error_page = nullptr);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  std::size_t read_max = ~std::size_t{0};  // bytes that one read gives
  std::size_t room = ~std::size_t{0};      // bytes that the peer reads at a time

  // Opens a connection, sends all of it, answers what is held, and lets the peer read all there is. Returns what came.
  std::string run(std::string_view bytes);
  // The same in pieces, held answers being given between them.
  void open();
  void send(std::string_view bytes);
  void finish();
  [[nodiscard]] const std::string& received() const { return received_; }

  void end();        // the peer's FIN
  void break_off();  // the peer's RST
  [[nodiscard]] bool was_closed_by_session() const { return wire_->is_closed() || wire_->is_shut_down(); }

  script::ScriptedService service;

 private:
  void settle();
  void on_session_closed(h1::Session& session) noexcept override;
  h1::Tunnel::Host* tunnels() noexcept override { return &tunnel_; }

  Site site_;
  h1::Shared shared_;
  Ref<net::MemoryTransport> wire_;
  h1::Session* session_ = nullptr;
  test::OneTunnel tunnel_;
  std::string received_;
};

struct Answer {
  int status = 0;
  std::string fields;  // the lines between the status line and the empty line, without Date
  std::string body;
  bool closes = false;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// Reads answers strictly (RFC 9112): `methods` are those of the requests, in order, as far as they are known. False
// when the bytes are no sequence of whole answers; `is_cut` allows the last one to be incomplete.
bool read_answers(std::string_view bytes, const std::vector<std::string>& methods, bool is_cut,
                  std::vector<Answer>& answers);

}  // namespace violet::fuzz
