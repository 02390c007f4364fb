// What RFC 8259 takes for JSON and what not, whole, and as a value that nobody asked for.

#include "violet/json/reader.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace violet::json {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kTaken[] = {
    // values
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "1234567890123456789012345678901234567890",
    "\"\"",
    "[]",
    "{}",
    // numbers
    "0.5",
    "-0.0",
    "0e1",
    "0e+1",
    "0e-1",
    "0E1",
    "1e5",
    "1E+5",
    "1.5e-5",
    "123.456e78",
    "1e-400",
    "0.00000001",
    // texts
    R"("plain")",
    R"("\"")",
    R"("\\")",
    R"("\/")",
    R"("\b\f\n\r\t")",
    R"("\u0000")",
    R"("\u00e9")",
    R"("\uFFFF")",
    R"("\ud834\udd1e")",
    R"("\uD834\uDD1E")",
    R"("\udbff\udfff")",
    "\"\x7f\"",
    "\"/\"",
    "\"\xc2\x80\"",
    "\"\xdf\xbf\"",
    "\"\xe0\xa0\x80\"",
    "\"\xed\x9f\xbf\"",
    "\"\xee\x80\x80\"",
    "\"\xef\xbf\xbf\"",
    "\"\xf0\x90\x80\x80\"",
    "\"\xf4\x8f\xbf\xbf\"",
    "\"\xe2\x80\xa8\"",
    "\"a string that is longer than one vector, and then some more of it\"",
    // structure
    "[1]",
    "[1,2]",
    "[[],[[]]]",
    R"({"a":1})",
    R"({"a":1,"b":2})",
    R"({"":0})",
    R"({"a":{"b":[{}]}})",
    R"({"a\nb":1})",
    "[null,true,false,0,\"\",[],{}]",
    R"({"a":"b","c":"d","e":"f","g":"h","i":"j","k":"l","m":"n","o":"p"})",
    // white space
    " 1",
    "1 ",
    "\t1\n",
    "\r\n[\r\n1\r\n,\r\n2\r\n]\r\n",
    "{ \"a\" : 1 , \"b\" : 2 }",
    "[ ]",
    "{ }",
};

constexpr std::string_view kRefused[] = {
    // nothing, or too much
    "",
    " ",
    "\n",
    "1 2",
    "null null",
    "[] []",
    "{}{}",
    "[]]",
    "{}}",
    "1,",
    "\xef\xbb\xbf[]",
    // literals
    "nul",
    "nulll",
    "Null",
    "TRUE",
    "tru",
    "truee",
    "fals",
    "undefined",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    // numbers
    "+1",
    "-",
    "--1",
    "01",
    "-01",
    "00",
    "1.",
    ".5",
    "-.5",
    "1.e5",
    "1e",
    "1e+",
    "1e-",
    "1E",
    "0x1",
    "1_000",
    "1a",
    "1 .5",
    "0.1.2",
    "1e5.5",
    "\xef\xbc\x91",
    "1eE2",
    "0e",
    "2.e+3",
    "-1.0.",
    "0b1",
    "1f",
    // texts
    "\"",
    "\"a",
    "'a'",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u\"",
    "\"\\u1\"",
    "\"\\u12\"",
    "\"\\u123\"",
    "\"\\u123g\"",
    "\"\\U0041\"",
    "\"\\a\"",
    "\"\\'\"",
    "\"\\0\"",
    "\"\\ud800\"",
    "\"\\ud800\\u0041\"",
    "\"\\ud800\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800x\"",
    "\"\\ud800\\udbff\"",
    "\"\t\"",
    "\"\n\"",
    "\"\x01\"",
    "\"\x1f\"",
    "\"\0\""sv,
    "\"\x80\"",
    "\"\xbf\"",
    "\"\xc0\x80\"",
    "\"\xc1\xbf\"",
    "\"\xc2\"",
    "\"\xc2x\"",
    "\"\xe0\x80\x80\"",
    "\"\xe0\x9f\xbf\"",
    "\"\xe2\x82\"",
    "\"\xed\xa0\x80\"",
    "\"\xed\xbf\xbf\"",
    "\"\xf0\x80\x80\x80\"",
    "\"\xf0\x8f\xbf\xbf\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xf5\x80\x80\x80\"",
    "\"\xf8\x88\x80\x80\x80\"",
    "\"\xff\"",
    "\"\xfe\"",
    "\"a long text before the bad byte \xff\"",
    "\"\\",
    "\"\\u00",
    // lists
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[,]",
    "[1,,2]",
    "[1 2]",
    "[1:2]",
    "[1;2]",
    "[\"a\",",
    "[1}",
    "[[]",
    "[1]x",
    // objects
    "{",
    "}",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{\"a\" 1}",
    "{\"a\",1}",
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1;\"b\":2}",
    "{\"a\"::1}",
    "{\"a\":1]",
    "{null:1}",
    "{[]:1}",
    "{\"a\":1,,\"b\":2}",
    "{\"\\ud800\":1}",
    // white space and comments
    "\f1",
    "\v1",
    "\xc2\xa0"
    "1",
    "\xe2\x80\x83"
    "1",
    "/**/1",
    "1//",
    "1#",
    "[1]\0"sv,
    "[1\0]"sv,
    "\0[1]"sv,
};

bool is_json(std::string_view text) {
  struct Any {
    int nothing = 0;
  };
  const auto exact = std::make_unique<char[]>(text.size());
  std::memcpy(exact.get(), text.data(), text.size());
  const auto value = read<Any>({exact.get(), text.size()});
  return value || value.error().syntax.empty();
}

TEST(JsonGrammar, TakesEveryForm) {
  for (const std::string_view text : kTaken) {
    EXPECT_TRUE(is_json(text)) << text;
    EXPECT_TRUE(is_json("{\"unknown\":" + std::string(text) + "}")) << text;
    EXPECT_TRUE(is_json("[" + std::string(text) + "," + std::string(text) + "]")) << text;
  }
}

TEST(JsonGrammar, RefusesEveryOther) {
  for (const std::string_view text : kRefused) {
    EXPECT_FALSE(is_json(text)) << text;
    if (text.find_first_not_of(" \n") == std::string_view::npos) continue;
    EXPECT_FALSE(is_json("{\"unknown\":" + std::string(text) + "}")) << text;
    EXPECT_FALSE(is_json(std::string(text) + std::string(40, ' '))) << text;
  }
}

TEST(JsonGrammar, AgreesWithAnotherReaderOnEveryEntry) {
  const auto theirs = [](std::string_view text) { return nlohmann::json::accept(text.begin(), text.end()); };
  for (const std::string_view text : kTaken) EXPECT_TRUE(theirs(text)) << text;
  for (const std::string_view text : kRefused) {
    // Theirs skips a byte order mark and takes NUL for the end.
    if (!text.starts_with("\xef\xbb\xbf") && text.find('\0') != text.size() - 1) EXPECT_FALSE(theirs(text)) << text;
  }
}

}  // namespace
}  // namespace violet::json
