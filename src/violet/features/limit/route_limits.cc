#include "violet/features/limit/body_limit.h"
#include "violet/features/limit/timeout.h"
#include "violet/web/router.h"

namespace violet {

void BodyLimit::on_route(Route& route) const noexcept { route.body_max(bytes_); }

void Timeout::on_route(Route& route) const noexcept {
  if (options_.handler_ms != 0) route.handler_ms(options_.handler_ms);
  if (options_.answer_ms != 0) route.answer_ms(options_.answer_ms);
  route.timeout_status(options_.status);
}

}  // namespace violet
