#pragma once

// connect(): the client's end of a TCP connection.

#include "violet/base/address.h"
#include "violet/net/socket.h"

namespace violet::net {

// A transport whose connection is under way: until it stands nothing can be read and there is no room to write, so a
// session may be given it at once; when it fails, on_broken() is told. TCP_NODELAY is set. System: no descriptor, no
// route. REQUIRES: an IPv4 or IPv6 address.
Result<SocketTransport*> connect(Loop& loop, const Address& to);

}  // namespace violet::net
