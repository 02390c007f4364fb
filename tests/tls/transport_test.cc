#include "violet/tls/transport.h"

#include "tests/support/script.h"
#include "tests/support/tls_wire.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

TEST(TlsTransport, ShakesHandsAndCarriesBytesBothWays) {
  TlsWire wire(usual_settings());
  ASSERT_TRUE(wire.shake());
  EXPECT_EQ(wire.server.transport->version(), "TLSv1.3");
  EXPECT_EQ(wire.server.transport->cipher(), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(wire.server.transport->protocol(), "http/1.1");
  EXPECT_EQ(wire.client.transport->protocol(), "http/1.1");
  EXPECT_EQ(wire.server.transport->server_name(), "a.example");
  EXPECT_TRUE(wire.server.transport->is_secure());
  wire.client.send("ping");
  wire.run();
  wire.server.send("pong");
  wire.run();
  EXPECT_EQ(wire.server.received, "ping");
  EXPECT_EQ(wire.client.received, "pong");
}

}  // namespace
}  // namespace violet::test
