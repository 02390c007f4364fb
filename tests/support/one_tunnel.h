#pragma once

// OneTunnel: where a fixture with one connection keeps the tunnel that its session may become.

#include "violet/base/check.h"
#include "violet/h1/tunnel/tunnel.h"

#include <cstddef>

namespace violet::test {

class OneTunnel final : public h1::Tunnel::Host {
 public:
  OneTunnel() = default;
  OneTunnel(const OneTunnel&) = delete;
  OneTunnel& operator=(const OneTunnel&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return tunnel_ != nullptr; }
  [[nodiscard]] std::size_t closed_count() const noexcept { return closed_count_; }
  void abort(Error why) noexcept {
    if (tunnel_ != nullptr) tunnel_->abort(why);
  }

  void on_tunnel_opened(h1::Tunnel& tunnel) noexcept override {
    VIOLET_CHECK(tunnel_ == nullptr);
    tunnel_ = &tunnel;
  }
  void on_tunnel_closed(h1::Tunnel& tunnel) noexcept override {
    VIOLET_CHECK(tunnel_ == &tunnel);
    tunnel_ = nullptr;
    ++closed_count_;
    delete &tunnel;
  }

 private:
  h1::Tunnel* tunnel_ = nullptr;
  std::size_t closed_count_ = 0;
};

}  // namespace violet::test
