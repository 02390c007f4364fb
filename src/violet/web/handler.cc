#include "violet/web/handler.h"

#include "violet/base/log.h"

namespace violet::web {

// A coroutine's texts outlive serve().
void begin_task(Exchange& exchange) { exchange.pin(); }

void wait_for_task(Exchange& exchange) {
  if (exchange.task().is_active()) exchange.start_deadline();
}

void end_task(Exchange& exchange, const std::exception_ptr& exception, Error error) noexcept {
  if (exception != nullptr) {
    exchange.on_exception(exception);
  } else {
    exchange.guard([&] { exchange.refuse(error); });
  }
  exchange.release();
}

void answer_nothing(Exchange& exchange) {
  exchange.response().status = 204;
  exchange.reply();
}

void require_answer(Exchange& exchange) {
  if (exchange.is_answered() || !exchange.is_open()) return;
  log(LogLevel::Error, "a coroutine that takes the exchange ended without an answer");
  exchange.refuse(Error(ErrorKind::Handler));
}

}  // namespace violet::web
