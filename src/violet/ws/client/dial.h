#pragma once

// Dial: a connection to a server, as a coroutine: the name is looked up on worker threads, its addresses are tried one
// after the other, and TLS is spoken where the URL asks for it.

#include "violet/event/loop.h"
#include "violet/event/task.h"
#include "violet/net/transport.h"
#include "violet/tls/client_context.h"
#include "violet/ws/client/url.h"

namespace violet::ws {

struct Dialed {
  net::Transport* transport = nullptr;  // the caller's, to close()
  Address peer;
};

// `tls` is needed for wss. Address: no such name. System: nobody listens, no route. Protocol: the certificate was
// refused.
Task<Result<Dialed>> dial(Loop& loop, const Url& url, Ref<tls::ClientContext> tls);

}  // namespace violet::ws
