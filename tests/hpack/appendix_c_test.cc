// The examples of RFC 7541, Appendix C: decoded, and where the choices of the encoder are those of the example,
// encoded.

#include "tests/hpack/blocks.h"
#include "violet/hpack/integer.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using Lines = std::vector<std::string>;
using hpack::Verdict;

struct Example {
  std::string_view hex;
  Lines lines;
  std::uint32_t table_bytes;
  Lines table;  // newest first
};

Lines entries(const hpack::DynamicTable& table) {
  Lines lines;
  for (std::uint32_t age = 0; age < table.count(); ++age) {
    const hpack::Entry& entry = table.at(age);
    const std::string_view name = entry.key.is_other()    ? table.name(entry)
                                  : entry.key.is_pseudo() ? hpack::name(entry.key.pseudo())
                                                          : http::lower_name(entry.key.id());
    lines.push_back(std::string(name) + ": " + std::string(table.value(entry)));
  }
  return lines;
}

void expect_decoded(hpack::Decoder& decoder, const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    const Decoded decoded = decode(decoder, from_hex(example.hex));
    EXPECT_EQ(decoded.verdict, Verdict::Done);
    EXPECT_EQ(decoded.section.flaws, 0);
    EXPECT_EQ(decoded.lines(), example.lines);
    EXPECT_EQ(decoder.table().size(), example.table_bytes);
    EXPECT_EQ(entries(decoder.table()), example.table);
  }
}

// C.5 and C.6 assume a table of 256 bytes.
void shrink(hpack::Decoder& decoder) { ASSERT_EQ(decode(decoder, from_hex("3fe101")).verdict, Verdict::Done); }

TEST(HpackAppendixC, Integers) {
  struct Case {
    std::string_view hex;
    int prefix;
    std::uint32_t value;
  };
  for (const Case& c : {Case{"0a", 5, 10}, Case{"1f9a0a", 5, 1337}, Case{"2a", 8, 42}}) {
    const std::string bytes = from_hex(c.hex);
    const char* p = bytes.data();
    std::uint32_t value;
    ASSERT_TRUE(hpack::read_integer(p, p + bytes.size(), c.prefix, value));
    EXPECT_EQ(value, c.value);
    EXPECT_EQ(p, bytes.data() + bytes.size());
    char out[hpack::kIntegerBytesMax];
    EXPECT_EQ(std::string(out, hpack::write_integer(out, c.prefix, 0, c.value)), bytes);
  }
}

TEST(HpackAppendixC, Representations) {
  const std::vector<Example> examples[] = {
      {{"400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        {"custom-key: custom-header"},
        55,
        {"custom-key: custom-header"}}},
      {{"040c 2f73 616d 706c 652f 7061 7468", {":path: /sample/path"}, 0, {}}},
      {{"1008 7061 7373 776f 7264 0673 6563 7265 74", {"password: secret (never)"}, 0, {}}},
      {{"82", {":method: GET"}, 0, {}}},
  };
  for (const auto& example : examples) {
    hpack::Decoder decoder;
    expect_decoded(decoder, example);
  }
}

std::vector<Example> requests(std::string_view first, std::string_view second, std::string_view third) {
  return {
      {first,
       {":authority: www.example.com", ":method: GET", ":path: /", ":scheme: http"},
       57,
       {":authority: www.example.com"}},
      {second,
       {":authority: www.example.com", ":method: GET", ":path: /", ":scheme: http", "cache-control: no-cache"},
       110,
       {"cache-control: no-cache", ":authority: www.example.com"}},
      {third,
       {":authority: www.example.com", ":method: GET", ":path: /index.html", ":scheme: https",
        "custom-key: custom-value"},
       164,
       {"custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"}},
  };
}

std::vector<Example> responses(std::string_view first, std::string_view second, std::string_view third) {
  return {
      {first,
       {":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "location: https://www.example.com"},
       222,
       {"location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private",
        ":status: 302"}},
      {second,
       {":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "location: https://www.example.com"},
       222,
       {":status: 307", "location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "cache-control: private"}},
      {third,
       {":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT",
        "location: https://www.example.com", "content-encoding: gzip",
        "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"},
       215,
       {"set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", "content-encoding: gzip",
        "date: Mon, 21 Oct 2013 20:13:22 GMT"}},
  };
}

constexpr std::string_view kCodedRequests[] = {
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
};

TEST(HpackAppendixC, RequestsWithoutHuffman) {
  hpack::Decoder decoder;
  expect_decoded(decoder,
                 requests("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", "8286 84be 5808 6e6f 2d63 6163 6865",
                          "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"));
}

TEST(HpackAppendixC, RequestsWithHuffman) {
  hpack::Decoder decoder;
  expect_decoded(decoder, requests(kCodedRequests[0], kCodedRequests[1], kCodedRequests[2]));
}

// The encoder makes the same choices for these.
TEST(HpackAppendixC, RequestsAreEncodedAsTheExampleIs) {
  using hpack::Pseudo;
  hpack::Encoder encoder;
  const auto encode = [&encoder](std::string_view scheme, std::string_view path, http::Field field) {
    char out[1024];
    char* p = encoder.begin(out);
    p = encoder.pseudo(p, Pseudo::Method, "GET");
    p = encoder.pseudo(p, Pseudo::Scheme, scheme);
    p = encoder.pseudo(p, Pseudo::Path, path);
    p = encoder.pseudo(p, Pseudo::Authority, "www.example.com");
    if (!field.name.empty()) p = encoder.field(p, field);
    return std::string(out, p);
  };
  EXPECT_EQ(encode("http", "/", {}), from_hex(kCodedRequests[0]));
  EXPECT_EQ(encode("http", "/", {.name = "Cache-Control", .value = "no-cache", .id = http::FieldId::CacheControl}),
            from_hex(kCodedRequests[1]));
  EXPECT_EQ(encode("https", "/index.html", {.name = "Custom-Key", .value = "custom-value"}),
            from_hex(kCodedRequests[2]));
}

TEST(HpackAppendixC, ResponsesWithoutHuffman) {
  hpack::Decoder decoder;
  shrink(decoder);
  expect_decoded(
      decoder,
      responses("4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 "
                "3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                "4803 3330 37c1 c0bf",
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 "
                "7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 "
                "6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31"));
}

TEST(HpackAppendixC, ResponsesWithHuffman) {
  hpack::Decoder decoder;
  shrink(decoder);
  expect_decoded(
      decoder,
      responses("4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad "
                "1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                "4883 640e ffc1 c0bf",
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 "
                "e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07"));
}

}  // namespace
}  // namespace violet::test
