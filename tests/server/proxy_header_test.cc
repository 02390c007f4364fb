#include "violet/server/proxy_header.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace violet::test {
namespace {

using Verdict = ProxyHeader::Verdict;

constexpr std::size_t kMost = 4096;

// Version 2: command, family and what follows, with the right length.
std::string binary(unsigned command, unsigned family, std::string_view rest) {
  std::string bytes("\r\n\r\n\0\r\nQUIT\n", 12);
  bytes += static_cast<char>(0x20 | command);
  bytes += static_cast<char>(family);
  bytes += static_cast<char>(rest.size() >> 8);
  bytes += static_cast<char>(rest.size() & 255);
  return bytes.append(rest);
}

const std::string kIpv4("\xc0\x00\x02\x01\xc6\x33\x64\x02\xdc\x04\x01\xbb", 12);  // 192.0.2.1:56324 to 198.51.100.2:443
const std::string kIpv6 = std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + "\x01" + std::string(15, '\0') +
                          "\x01" + std::string("\xdc\x04\x01\xbb", 4);

struct Good {
  std::string bytes;
  std::string source;  // "" for none
};

const Good kGood[] = {
    {"PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n", "192.0.2.1:56324"},
    {"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535"},
    {"PROXY TCP6 2001:db8::1 ::1 56324 443\r\n", "[2001:db8::1]:56324"},
    {"PROXY TCP4 192.0.2.1 198.51.100.2 0 0\r\n", "192.0.2.1:0"},
    {"PROXY UNKNOWN\r\n", ""},
    {"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", ""},
    {binary(1, 0x11, kIpv4), "192.0.2.1:56324"},
    {binary(1, 0x11,
            kIpv4 + std::string("\x04\x00\x03"
                                "abc",
                                6)),
     "192.0.2.1:56324"},
    {binary(1, 0x21, kIpv6), "[2001:db8::1]:56324"},
    {binary(1, 0x12, kIpv4), "192.0.2.1:56324"},
    {binary(1, 0x31, std::string(216, 'x')), ""},
    {binary(1, 0x00, ""), ""},
    {binary(0, 0x00, ""), ""},
    {binary(0, 0x11, kIpv4), ""},
    {binary(1, 0x11, kIpv4 + std::string(kMost - 16 - 12, 't')), "192.0.2.1:56324"},
};

TEST(ProxyHeader, IsReadWholeByteByByteAndBeforeOtherBytes) {
  for (const auto& [bytes, source] : kGood) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_EQ(parse_proxy_header(std::string_view(bytes).substr(0, size), kMost).verdict, Verdict::More) << size;
    }
    for (const std::string& behind : {std::string(), std::string("GET / HTTP/1.1\r\n"), bytes}) {
      const ProxyHeader header = parse_proxy_header(bytes + behind, kMost);
      ASSERT_EQ(header.verdict, Verdict::Done) << bytes;
      EXPECT_EQ(header.size, bytes.size());
      EXPECT_EQ(header.source.family == Address::Family::None ? "" : header.source.to_string(), source);
    }
  }
}

TEST(ProxyHeader, NamesWhereTheClientCameTo) {
  EXPECT_EQ(parse_proxy_header(kGood[0].bytes, kMost).destination.to_string(), "198.51.100.2:443");
  EXPECT_EQ(parse_proxy_header(binary(1, 0x11, kIpv4), kMost).destination.to_string(), "198.51.100.2:443");
  EXPECT_EQ(parse_proxy_header(binary(1, 0x21, kIpv6), kMost).destination.to_string(), "[::1]:443");
}

TEST(ProxyHeader, RefusesEverythingElse) {
  const std::string good = binary(1, 0x11, kIpv4);
  const auto with = [&good](std::size_t at, char c) {
    std::string bytes = good;
    bytes[at] = c;
    return bytes;
  };
  const std::string bad[] = {
      "GET / HTTP/1.1\r\n",
      "\x16\x03\x01",
      "PROXY\r\n",
      "PROXYTCP4",
      "proxy TCP4 192.0.2.1 198.51.100.2 56324 443\r\n",
      "PROXY TCP5 192.0.2.1 198.51.100.2 56324 443\r\n",
      "PROXY TCP4 192.0.2.1 198.51.100.2 56324\r\n",
      "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443 \r\n",
      "PROXY TCP4  192.0.2.1 198.51.100.2 56324 443\r\n",
      "PROXY TCP4 192.0.2.1 198.51.100.2 65536 443\r\n",
      "PROXY TCP4 192.0.2.1 198.51.100.2 056 443\r\n",
      "PROXY TCP4 192.0.2.1 198.51.100.2 -1 443\r\n",
      "PROXY TCP4 192.0.2.256 198.51.100.2 1 443\r\n",
      "PROXY TCP4 2001:db8::1 ::1 56324 443\r\n",
      "PROXY TCP6 192.0.2.1 198.51.100.2 56324 443\r\n",
      "PROXY TCP4 localhost 198.51.100.2 56324 443\r\n",
      "PROXY UNKNOWN" + std::string(200, 'x'),
      "PROXY UNKNOWN" + std::string(93, 'x') + "\r\n",  // 108 bytes
      with(12, '\x11'),                                 // version 1 in version 2's form
      with(12, '\x22'),                                 // no such command
      with(13, '\x41'),                                 // no such family
      with(13, '\x13'),                                 // no such transport
      binary(1, 0x11, kIpv4.substr(1)),
      binary(1, 0x21, kIpv4),
      binary(1, 0x11, kIpv4 + std::string(kMost, 't')),
  };
  for (const std::string& bytes : bad) {
    const ProxyHeader header = parse_proxy_header(bytes, kMost);
    EXPECT_EQ(header.verdict, Verdict::Bad) << bytes;
    EXPECT_EQ(header.source.family, Address::Family::None);
  }
}

TEST(ProxyHeader, IsRefusedAsSoonAsItCannotBecomeOne) {
  EXPECT_EQ(parse_proxy_header("G", kMost).verdict, Verdict::Bad);
  EXPECT_EQ(parse_proxy_header("PROXX", kMost).verdict, Verdict::Bad);
  EXPECT_EQ(parse_proxy_header("PROXY UNKNOWN" + std::string(94, 'x'), kMost).verdict, Verdict::Bad);
  std::string head = binary(1, 0x11, kIpv4).substr(0, 16);
  head[14] = head[15] = '\xff';
  EXPECT_EQ(parse_proxy_header(head, kMost).verdict, Verdict::Bad) << "its length alone says that it is too long";
}

}  // namespace
}  // namespace violet::test
