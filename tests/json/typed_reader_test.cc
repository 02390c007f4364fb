// json/read/typed.h takes a shorter way to what json/reader.h does by tables: for every text, right or wrong, both come
// to the same value and find the same things wrong with it.

#include "tests/json/types.h"
#include "violet/json/reader.h"
#include "violet/json/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::json {
namespace {

// What was read and what is wrong, as one text. The JSON stands in memory of its own size, so that sanitizers see a
// reader that goes beyond it.
template <class T>
std::string outcome(std::string_view text, bool is_typed, const ReadOptions& options) {
  const auto exact = std::make_unique<char[]>(text.size());
  if (!text.empty()) std::memcpy(exact.get(), text.data(), text.size());
  const std::string_view alone(exact.get(), text.size());
  T value{};
  Arena arena;
  data::Findings findings(arena);
  SyntaxError syntax;
  const bool is_read = is_typed ? read(alone, kGet<T>, &value, options, findings, syntax)
                                : read(alone, data::kType<T>, &value, options, findings, syntax);
  std::string all = is_read ? "read " : "refused ";
  all.append(syntax.what).append(" at ").append(std::to_string(syntax.offset)).append("\n");
  for (const data::Finding& finding : findings.list()) {
    all.append(finding.where).append(": ").append(finding.what).append("\n");
  }
  return all + to_string(value);
}

template <class T>
void expect_same(std::string_view text, const ReadOptions& options = {}) {
  EXPECT_EQ(outcome<T>(text, true, options), outcome<T>(text, false, options)) << text;
}

constexpr std::string_view kCompact =
    R"([{"id":17,"name":"Alpha Widget","category":"garden","price":62,"discount":5,"active":true,"tags":["new","eco",)"
    R"("longer than what fits into a short string"],"counts":[1,-22,333,4444,55555,666666,7777777],"place":{"x":-1,)"
    R"("y":0},"total":99999999},{"id":-1,"name":"","category":"","price":0,"discount":null,"active":false,"tags":[],)"
    R"("counts":[],"place":{"x":1,"y":2},"total":18446744073709551615}])";

// The same, as people write it.
std::string indented() {
  std::string text;
  bool is_quoted = false;
  for (const char c : kCompact) {
    if (c == '"') is_quoted = !is_quoted;
    text += c;
    if (!is_quoted && (c == ',' || c == '{' || c == '[')) text += "\n\t  ";
    if (!is_quoted && c == ':') text += ' ';
  }
  return text;
}

// The first item's members, one behind the other.
std::vector<std::string> members() {
  return {R"("id":17)",          R"("name":"Alpha")",   R"("category":"garden")",
          R"("price":62)",       R"("discount":5)",     R"("active":true)",
          R"("tags":["a","b"])", R"("counts":[1,2,3])", R"("place":{"x":1,"y":2})",
          R"("total":99999999)"};
}
std::string listed(const std::vector<std::string>& parts) {
  std::string text = "[{";
  for (const std::string& part : parts) {
    if (text.size() > 2) text += ',';
    text += part;
  }
  // Much text behind it, so that nothing but the order leads to the longer way.
  return text + "}," + std::string(kCompact.substr(1));
}

TEST(JsonTypedReader, ReadsWhatTheWriterWrites) {
  for (const std::string& text : {std::string(kCompact), indented()}) {
    const auto stocks = read<std::vector<Stock>>(text);
    ASSERT_TRUE(stocks) << stocks.error().to_string();
    EXPECT_EQ(to_string(*stocks), kCompact);
  }
}

TEST(JsonTypedReader, SaysTheSameOfTextsThatEndAnywhere) {
  for (const std::string& text : {std::string(kCompact), indented()}) {
    for (std::size_t size = 0; size <= text.size(); ++size) expect_same<std::vector<Stock>>(text.substr(0, size));
  }
}

TEST(JsonTypedReader, SaysTheSameWhateverOneByteIs) {
  constexpr std::string_view kOthers = "\",:{}[]0-9.eEtn \n\x01\x7f\x80\xc3\\/";
  for (const std::string& whole : {std::string(kCompact), indented()}) {
    std::string text = whole;
    for (char& c : text) {
      const char was = c;
      for (const char other : kOthers) {
        c = other;
        expect_same<std::vector<Stock>>(text);
      }
      c = was;
    }
  }
}

TEST(JsonTypedReader, TakesMembersInAnyOrder) {
  std::vector<std::string> parts = members();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::rotate(parts.begin(), parts.begin() + 1, parts.end());
    expect_same<std::vector<Stock>>(listed(parts));
    EXPECT_EQ(read<std::vector<Stock>>(listed(parts))->front().total, 99999999U);
  }
}

TEST(JsonTypedReader, MissesOneOrAllMembers) {
  expect_same<std::vector<Stock>>(listed({}));
  for (std::size_t i = 0; i < members().size(); ++i) {
    std::vector<std::string> parts = members();
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    expect_same<std::vector<Stock>>(listed(parts));
  }
}

TEST(JsonTypedReader, TakesDuplicatesAndUnknownNamesByPolicy) {
  for (const DuplicateKeys duplicates : {DuplicateKeys::Refuse, DuplicateKeys::First, DuplicateKeys::Last}) {
    for (const UnknownKeys unknown : {UnknownKeys::Ignore, UnknownKeys::Refuse}) {
      for (std::size_t i = 0; i <= members().size(); ++i) {
        for (const std::string& more : {std::string(R"("price":63)"), std::string(R"("other":[{"id":1}])")}) {
          std::vector<std::string> parts = members();
          parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i), more);
          expect_same<std::vector<Stock>>(listed(parts), {.unknown = unknown, .duplicates = duplicates});
        }
      }
    }
  }
}

TEST(JsonTypedReader, FindsEveryValueThatDoesNotFit) {
  constexpr std::string_view kValues[] = {"null",     "true",       "-1",
                                          "1.5",      "1e2",        "1e400",
                                          "007",      "4294967296", "99999999999999999999",
                                          "\"text\"", R"("a\nb")",  "\"gr\xc3\xbc\"",
                                          "\"\xff\"", "[1,null]",   "[\"a\",2]",
                                          "{}",       R"({"x":1})", "[",
                                          "-",        "\"",         "01",
                                          "12345678", "123456789",  "-12345678"};
  for (std::size_t i = 0; i < members().size(); ++i) {
    for (const std::string_view value : kValues) {
      std::vector<std::string> parts = members();
      parts[i] = parts[i].substr(0, parts[i].find(':') + 1).append(value);
      expect_same<std::vector<Stock>>(listed(parts));
    }
  }
}

TEST(JsonTypedReader, KeepsTheDefaultOfWhatDoesNotFit) {
  struct Numbers {
    int whole = 7;
    std::string text = "kept";
    int other = 8;
    std::string filler;
  };
  const std::string filler(200, 'x');
  const std::string text = R"({"whole":1.5,"text":3,"other":2,"filler":")" + filler + "\"}";
  Numbers numbers;
  Arena arena;
  data::Findings findings(arena);
  SyntaxError syntax;
  EXPECT_FALSE(read(text, kGet<Numbers>, &numbers, {}, findings, syntax));
  EXPECT_EQ(numbers.whole, 7);
  EXPECT_EQ(numbers.text, "kept");
  EXPECT_EQ(numbers.other, 2);
  EXPECT_EQ(findings.list().size(), 2U);
}

TEST(JsonTypedReader, CountsDepthAsTablesDo) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += R"({"value":1,"children":[)";
  text += std::string(200, ' ');
  for (int i = 0; i < 40; ++i) text += "]}";
  for (std::uint16_t depth = 78; depth <= 82; ++depth) expect_same<Tree>(text, {.depth_max = depth});
  EXPECT_TRUE(read<Tree>(text, {.depth_max = 80}));
  EXPECT_FALSE(read<Tree>(text, {.depth_max = 79}));
}

// A list is given room for what the text may still hold, and a text cannot ask for more than eight times what it held.
TEST(JsonTypedReader, KeepsRoomWithinBounds) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "1,";
  text += "1" + std::string(1 << 20, ' ') + "]";
  const auto numbers = read<std::vector<int>>(text);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->size(), 1001U);
  EXPECT_LE(numbers->capacity(), 8008U);
}

}  // namespace
}  // namespace violet::json
