// Networks: which texts are one, and which addresses they have.

#include "violet/features/forwarded/network.h"

#include <gtest/gtest.h>

namespace violet::forwarded {
namespace {

bool contains(const char* network, const char* address) {
  const auto parsed = Network::parse(network);
  EXPECT_TRUE(parsed) << network;
  return parsed && parsed->contains(*Address::parse(address, 1));
}

TEST(Network, HasTheAddressesThatBeginWithItsBits) {
  EXPECT_TRUE(contains("10.0.0.0/8", "10.0.0.0"));
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.255.255"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_FALSE(contains("10.0.0.0/8", "9.255.255.255"));
  EXPECT_TRUE(contains("192.0.2.128/25", "192.0.2.128"));
  EXPECT_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(contains("192.0.2.7", "192.0.2.7"));
  EXPECT_FALSE(contains("192.0.2.7", "192.0.2.6"));
  EXPECT_TRUE(contains("0.0.0.0/0", "203.0.113.9"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(contains("::1", "::1"));
  EXPECT_TRUE(contains("::/0", "2001:db8::1"));
}

TEST(Network, TellsTheFamiliesApart) {
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_FALSE(contains("::/0", "127.0.0.1"));
  EXPECT_TRUE(contains("127.0.0.0/8", "::ffff:127.0.0.1")) << "as a socket for both families says it";
  EXPECT_TRUE(Network::parse("unix")->contains({.family = Address::Family::Unix}));
  EXPECT_FALSE(Network::parse("unix")->contains(*Address::parse("127.0.0.1", 1)));
  EXPECT_FALSE(Network::parse("0.0.0.0/0")->contains({.family = Address::Family::Unix}));
  EXPECT_FALSE(Network::parse("unix")->contains({}));
}

TEST(Network, RefusesWhatIsNone) {
  for (const char* text : {"", "localhost", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8 ",
                           "10.1.0.0/8", "10.0.0/8", "/8", "10.0.0.0/08x", "2001:db8::1/64", "10.0.0.0/300"}) {
    EXPECT_FALSE(Network::parse(text)) << text;
  }
}

}  // namespace
}  // namespace violet::forwarded
