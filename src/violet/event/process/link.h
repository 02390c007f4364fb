#pragma once

// WorkerLink: a worker process's end of the line to its Supervisor. Orders come down, three words go up.
//
// Orders come by this line rather than as signals, because whoever stops a whole group (a terminal, systemd) signals
// the workers as well, and a second signal cuts the drain short.

#include "violet/base/function.h"
#include "violet/event/loop.h"

#include <uv.h>

namespace violet {

class WorkerLink {
 public:
  // Orphaned: the supervisor is gone. End as by Drain, but for sure: nobody is left to kill this process.
  enum class Order : char { Drain = 'd', Cut = 'c', Reload = 'r', Orphaned = 'o' };
  // It serves; a handler of it wants all to end; it drains by itself, and another one may serve beside it.
  enum class Word : char { Ready = 'y', Stop = 's', Leaving = 'l' };

  // Takes `descriptor` over: a non-blocking stream socket. The loop's thread; destroy it before the loop. It does not
  // keep the loop running.
  WorkerLink(Loop& loop, int descriptor, Function<void(Order)> on_order);
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;
  ~WorkerLink();

  // Any thread. What cannot be said is lost: then there is nobody to hear it.
  static void say(int descriptor, Word word) noexcept;

 private:
  // Dies in the close callback.
  struct Watch {
    uv_poll_t handle;
    Function<void(Order)> on_order;
    int descriptor;
    bool is_closed;
  };
  static void on_readable(uv_poll_t* handle, int error, int events) noexcept;

  Watch* watch_;
};

}  // namespace violet
