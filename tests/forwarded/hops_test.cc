// What is read from Forwarded and the X-Forwarded fields.

#include "violet/features/forwarded/hops.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace violet::forwarded {
namespace {

// "node|proto|host node|proto|host"
std::string forwarded(std::initializer_list<std::string_view> lines, std::size_t max = 32) {
  Arena arena;
  http::Fields fields(arena);
  for (const std::string_view line : lines) fields.push(http::FieldId::Forwarded, line);
  const Hops hops = read_forwarded(fields, arena, max);
  EXPECT_EQ(hops.nodes.size(), hops.protos.size());
  EXPECT_EQ(hops.nodes.size(), hops.hosts.size());
  std::string text;
  for (std::size_t i = 0; i < hops.nodes.size(); ++i) {
    if (i > 0) text += ' ';
    text.append(hops.nodes[i]).append("|").append(hops.protos[i]).append("|").append(hops.hosts[i]);
  }
  return text;
}

TEST(Forwarded, HasTheElementsOfAllLines) {
  EXPECT_EQ(forwarded({"for=192.0.2.43"}), "192.0.2.43||");
  EXPECT_EQ(forwarded({"For=\"[2001:db8:cafe::17]:4711\""}), "[2001:db8:cafe::17]:4711||");
  EXPECT_EQ(forwarded({"for=192.0.2.60;proto=http;by=203.0.113.43"}), "192.0.2.60|http|");
  EXPECT_EQ(forwarded({"for=192.0.2.43, for=198.51.100.17", "PROTO=https;host=\"a.example:8443\""}),
            "192.0.2.43|| 198.51.100.17|| |https|a.example:8443");
  EXPECT_EQ(forwarded({" , for=a ;; proto=b;, ,"}), "a|b|");
  EXPECT_EQ(forwarded({"for=_hidden;secret=x;new=\"y,z\""}), "_hidden||");
  EXPECT_EQ(forwarded({"for=\"a\\\"b,\\\\\""}), "a\"b,\\||");
  EXPECT_EQ(forwarded({}), "");
  EXPECT_EQ(forwarded({""}), "");
}

TEST(Forwarded, SaysNothingWhereItIsMalformedAndBefore) {
  for (const char* bad :
       {"for", "for=", "=x", "for=\"open", "for=\"open\\", "for=a b", "for=[::1]", "for=a;=", "for=\"a\"b",
        "for=a;for=b", "for=a;proto=http;Proto=https", "by=a;for=b;by=a", "for=a, for=\"x, for=b"}) {
    EXPECT_EQ(forwarded({bad}), "") << bad;
    EXPECT_EQ(forwarded({"for=before", bad, "for=behind"}), "behind||") << bad;
  }
}

TEST(Forwarded, KeepsTheLastElements) {
  EXPECT_EQ(forwarded({"for=a,for=b", "for=c,for=d"}, 3), "b|| c|| d||");
  EXPECT_EQ(forwarded({"for=a,for=b"}, 0), "");
}

TEST(XForwarded, HasTheMembersOfAllLines) {
  Arena arena;
  http::Fields fields(arena);
  fields.push(http::FieldId::XForwardedFor, " a ,b,, \t");
  fields.push(http::FieldId::XForwardedProto, "https");
  fields.push(http::FieldId::XForwardedFor, "c");
  const Hops hops = read_x_forwarded(fields, arena, 2);
  ASSERT_EQ(hops.nodes.size(), 2u);
  EXPECT_EQ(hops.nodes[0], "b");
  EXPECT_EQ(hops.nodes[1], "c");
  ASSERT_EQ(hops.protos.size(), 1u);
  EXPECT_EQ(hops.protos[0], "https");
  EXPECT_TRUE(hops.hosts.empty());
}

TEST(NodeAddress, IsFoundWithAndWithoutPorts) {
  const auto text = [](std::string_view node) {
    const auto address = address_of(node);
    return address ? address->to_string() : "none";
  };
  EXPECT_EQ(text("192.0.2.1"), "192.0.2.1:0");
  EXPECT_EQ(text("192.0.2.1:8080"), "192.0.2.1:8080");
  EXPECT_EQ(text("192.0.2.1:_port"), "192.0.2.1:0");
  EXPECT_EQ(text("[2001:db8::1]"), "[2001:db8::1]:0");
  EXPECT_EQ(text("[2001:db8::1]:443"), "[2001:db8::1]:443");
  EXPECT_EQ(text("2001:db8::1"), "[2001:db8::1]:0");
  EXPECT_EQ(text("::1"), "[::1]:0");
  for (const std::string_view none :
       {"unknown", "_hidden", "", "[", "[]", "[::1", "[192.0.2.1]", "[::1]x", "[::1]:", "192.0.2.1:", "192.0.2.1:99999",
        "192.0.2.256", "1.2.3", "a.example", "192.0.2.1:80x", "::1%eth0", ":80", "1.2.3.4.5", " 192.0.2.1"}) {
    EXPECT_EQ(text(none), "none") << none;
  }
  EXPECT_EQ(text(std::string_view("192.0.2.1\0x", 11)), "none");
}

}  // namespace
}  // namespace violet::forwarded
