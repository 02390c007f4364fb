// structure_sizes: "BYTES NAME" of each structure of which there is one for a connection, a request or a piece of it.
// Their budgets stand in budgets.toml.

#include "violet/core/exchange.h"
#include "violet/h1/session.h"
#include "violet/net/socket.h"
#include "violet/ws/session.h"

#include <cstdio>

int main() {
#define SIZE(type) std::printf("%zu %s\n", sizeof(violet::type), #type)
  SIZE(Error);
  SIZE(Slice);
  SIZE(Chain);
  SIZE(Body);
  SIZE(Connection);
  SIZE(http::Field);
  SIZE(http::Head);
  SIZE(Exchange);
  SIZE(net::SocketTransport);
  SIZE(h1::Session);
  SIZE(h1::Stream);
  SIZE(h1::Tunnel);
  SIZE(net::Output);
  SIZE(ws::Session);
}
