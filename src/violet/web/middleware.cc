#include "violet/web/middleware.h"

namespace violet::web {

// What stands for a request that the middleware has already answered.
Task<Verdict> Middleware::wait_on_request(Exchange&) { co_return Verdict::Answered; }

}  // namespace violet::web
