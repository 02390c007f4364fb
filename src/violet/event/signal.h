#pragma once

// SignalWatcher: calls a function on the loop's thread when the process gets a signal.
//
//   SignalWatcher terminate(loop, SIGTERM, [&](int) { loop.stop(); });
//
// Several watchers, on several loops, may watch one signal. Destroying it ends the watch, also inside the callback; do
// it before the loop is destroyed. It does not keep the loop running.

#include "violet/base/check.h"
#include "violet/base/function.h"
#include "violet/event/loop.h"

#include <uv.h>

#include <csignal>
#include <pthread.h>
#include <utility>

namespace violet {

// A thread that is started while one of these lives takes no signals: those are for the loops, and for Server::run().
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class SignalWatcher {
 public:
  SignalWatcher(Loop& loop, int signal_number, Function<void(int)> callback)
      : watch_(new Watch{{}, std::move(callback), false}) {
    VIOLET_CHECK(uv_signal_init(loop.uv(), &watch_->handle) == 0);
    watch_->handle.data = watch_;
    uv_unref(reinterpret_cast<uv_handle_t*>(&watch_->handle));
    is_active_ = uv_signal_start(&watch_->handle, &SignalWatcher::on_signal, signal_number) == 0;
  }
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher() {
    watch_->is_closed = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&watch_->handle),
             [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
  }

  // False if the system refused: SIGKILL, SIGSTOP, no such signal.
  [[nodiscard]] bool is_active() const noexcept { return is_active_; }

 private:
  // Dies in the close callback; the callback's captures live as long, so that it may destroy the watcher.
  struct Watch {
    uv_signal_t handle;
    Function<void(int)> callback;
    bool is_closed;
  };
  static void on_signal(uv_signal_t* handle, int signal_number) noexcept {
    Watch* watch = static_cast<Watch*>(handle->data);
    if (!watch->is_closed) watch->callback(signal_number);
  }

  Watch* watch_;
  bool is_active_ = false;
};

}  // namespace violet
