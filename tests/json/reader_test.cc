#include "violet/json/reader.h"

#include "tests/json/types.h"
#include "violet/json/writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace violet::json {
namespace {

// What is wrong with `text` as a T; "" when nothing is. The text stands in memory of its own size, so that sanitizers
// see a reader that goes beyond it.
template <class T>
std::string trouble(std::string_view text, const ReadOptions& options = {}) {
  const auto exact = std::make_unique<char[]>(text.size());
  std::memcpy(exact.get(), text.data(), text.size());
  const auto value = read<T>({exact.get(), text.size()}, options);
  return value ? std::string() : value.error().to_string();
}

TEST(JsonReader, ReadsBackWhatTheWriterWrites) {
  Everything all;
  all.i64 = std::numeric_limits<std::int64_t>::min();
  all.u64 = std::numeric_limits<std::uint64_t>::max();
  all.f = 0.1F;
  all.d = 5e-324;
  all.text = "tab\t\"quoted\" gr\xc3\xbc";
  all.color = Color::Blue;
  all.pointer = std::make_unique<Point>(3, 4);
  all.points = {{5, 6}};
  all.bits = {true, false, true};
  all.map = {{"a\n", 1}, {"b", 2}};
  all.by_number = {{-7, "seven"}};
  all.bytes = {std::byte{0xff}, std::byte{0}};
  all.pet = Dog{"rex", false};
  all.loose = std::string("text");
  all.when = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(-1));
  all.day = std::chrono::sys_days(std::chrono::days(-1));
  all.length = std::chrono::milliseconds(-5);
  all.lists = {{}, {"x"}};
  const std::string text = to_string(all);
  auto back = read<Everything>(text);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(to_string(*back), text);
  EXPECT_EQ(back->d, all.d);
  EXPECT_EQ(std::get<Dog>(back->pet).name, "rex");
}

TEST(JsonReader, TakesWhiteSpaceAndAnyOrder) {
  const auto point = read<Point>(" \t\r\n{ \"y\" : 2 ,\n \"x\":1 } \n");
  ASSERT_TRUE(point) << point.error().to_string();
  EXPECT_EQ(*point, (Point{1, 2}));
}

// A string that grows gets more room than it asked for, and no more text.
TEST(JsonReader, ReadsTextsOfEveryLength) {
  for (std::size_t size = 0; size <= 100; ++size) {
    const std::string text(size, 'x');
    const std::string json = "[\"" + text + "\",\"next\"]";
    const auto back = read<std::vector<std::string>>(json);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(back->front(), text);
  }
}

TEST(JsonReader, UnescapesTexts) {
  EXPECT_EQ(read<std::string>(R"("\"\\\/\b\f\n\r\t\u0041\u00fc\u20ac\ud83d\ude00")").value(),
            "\"\\/\b\f\n\r\tA\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(read<std::string>(R"("\u0000")").value(), std::string(1, '\0'));
  EXPECT_EQ(read<Point>(R"({"\u0078":5})").value().x, 5);
}

TEST(JsonReader, LetsViewsLookIntoTheText) {
  const std::string text = R"(["plain","esc\naped"])";
  Arena arena;
  const auto views = read<std::vector<std::string_view>>(text, arena);
  ASSERT_TRUE(views);
  EXPECT_EQ(views->at(0).data(), text.data() + 2);
  EXPECT_EQ(views->at(1), "esc\naped");
}

TEST(JsonReader, KeepsNumbersInTheirRange) {
  EXPECT_EQ(read<std::int8_t>("-128").value(), -128);
  EXPECT_EQ(trouble<std::int8_t>("-129"), "the value: has to be a whole number from -128 to 127");
  EXPECT_EQ(trouble<std::int8_t>("128"), "the value: has to be a whole number from -128 to 127");
  EXPECT_EQ(trouble<std::uint8_t>("256"), "the value: has to be a whole number from 0 to 255");
  EXPECT_EQ(trouble<std::uint8_t>("-1"), "the value: has to be a whole number from 0 to 255");
  EXPECT_EQ(read<std::int32_t>("2147483647").value(), 2147483647);
  EXPECT_NE(trouble<std::int32_t>("2147483648"), "");
  EXPECT_NE(trouble<std::int32_t>("99999999999999999999999999"), "");
  EXPECT_EQ(read<std::uint32_t>("4294967295").value(), 4294967295);
  EXPECT_NE(trouble<std::uint32_t>("4294967296"), "");
  EXPECT_EQ(read<std::int64_t>("-9223372036854775808").value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_NE(trouble<std::int64_t>("9223372036854775808"), "");
  EXPECT_EQ(read<std::uint64_t>("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_NE(trouble<std::uint64_t>("18446744073709551616"), "");
  EXPECT_EQ(trouble<double>("1e999"), "the value: is out of range");
  EXPECT_EQ(trouble<float>("1e39"), "the value: is out of range");
  EXPECT_EQ(read<double>("0.1").value(), 0.1);
  EXPECT_EQ(read<double>("-0").value(), 0.0);
}

TEST(JsonReader, TakesWholeNumbersHoweverTheyAreWritten) {
  EXPECT_EQ(read<int>("1.0").value(), 1);
  EXPECT_EQ(read<int>("1e2").value(), 100);
  EXPECT_EQ(read<unsigned>("2.5e1").value(), 25u);
  EXPECT_NE(trouble<int>("1.5"), "");
  EXPECT_NE(trouble<int>("1e20"), "");
  EXPECT_NE(trouble<unsigned>("-1.0"), "");
  EXPECT_EQ(read<unsigned>("-0").value(), 0u);
}

TEST(JsonReader, FindsEverythingThatIsWrong) {
  struct Outer {
    std::vector<Point> points;
    std::map<std::string, int> map;
    std::optional<int> maybe;
    int number;
  };
  EXPECT_EQ(trouble<Outer>(R"({"points":[{"x":1,"y":"2"},7,{"x":null}],"map":{"a/b~c":"x"},"maybe":true})"),
            "/points/0/y: has to be a whole number from -2147483648 to 2147483647\n"
            "/points/1: has to be an object\n"
            "/points/2/x: has to be a whole number from -2147483648 to 2147483647, not null\n"
            "/map/a~1b~0c: has to be a whole number from -2147483648 to 2147483647\n"
            "/maybe: has to be a whole number from -2147483648 to 2147483647\n"
            "/number: is missing");
}

TEST(JsonReader, KeepsABoundedNumberOfFindings) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "\"x\",";
  text += "0]";
  const auto value = read<std::vector<int>>(text);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().findings.size(), data::Findings::kMax);
}

TEST(JsonReader, WantsMembersThatHaveNoDefault) {
  struct Needs {
    int number;
    int with_default = 7;
    std::string text;
    std::string chosen = "name";
    std::optional<int> maybe;
    std::vector<int> list;
    Point point;
    Color color;
  };
  EXPECT_EQ(trouble<Needs>("{}"),
            "/number: is missing\n/text: is missing\n/list: is missing\n/point: is missing\n/color: is missing");
  EXPECT_EQ(read<Described>(R"({"id":1,"display/\"name\"":"x","password":"p","cache":"theirs"})").value().cache,
            "kept");
}

TEST(JsonReader, TreatsUnknownAndDuplicateNamesByPolicy) {
  EXPECT_EQ(trouble<Point>(R"({"z":[{"a":[1]}],"x":1})"), "");
  EXPECT_EQ(trouble<Point>(R"({"z":1})", {.unknown = UnknownKeys::Refuse}), "/z: is not known");
  EXPECT_EQ(trouble<Point>(R"({"x":1,"x":2})"), "/x: comes twice");
  EXPECT_EQ(read<Point>(R"({"x":1,"x":2})", {.duplicates = DuplicateKeys::First}).value().x, 1);
  EXPECT_EQ(read<Point>(R"({"x":1,"x":2})", {.duplicates = DuplicateKeys::Last}).value().x, 2);
  using Map = std::map<std::string, int>;
  EXPECT_EQ(trouble<Map>(R"({"x":1,"\u0078":2})"), "/x: comes twice");
  EXPECT_EQ(read<Map>(R"({"x":1,"x":2})", {.duplicates = DuplicateKeys::First}).value()["x"], 1);
  EXPECT_EQ(read<Map>(R"({"x":1,"x":2})", {.duplicates = DuplicateKeys::Last}).value()["x"], 2);
}

TEST(JsonReader, ChecksWhatNobodyAskedFor) {
  for (const char* bad : {R"({"z":[1 2]})", R"({"z":tru})", R"({"z":"\x"})", R"({"z":01})", "{\"z\":\"\xff\"}",
                          R"({"z":{"a":1,}})", R"({"z":"\ud800"})"}) {
    EXPECT_NE(trouble<Point>(bad).find("line 1"), std::string::npos) << bad;
  }
}

TEST(JsonReader, GoesOnlySoDeep) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  struct Any {
    int x = 0;
  };
  EXPECT_EQ(trouble<Any>("{\"z\":" + nested(127) + "}"), "");
  EXPECT_EQ(trouble<Any>("{\"z\":" + nested(128) + "}"), "line 1, column 133: it is nested deeper than allowed");
  std::string tree = R"({"value":1,"children":[)";
  std::string text;
  for (int i = 0; i < 64; ++i) text += tree;
  text += R"({"value":1,"children":[]})";
  for (int i = 0; i < 64; ++i) text += "]}";
  EXPECT_NE(trouble<Tree>(text).find("deeper"), std::string::npos);
  EXPECT_NE(trouble<Any>("{\"z\":" + nested(100'000) + "}", {.depth_max = 65535}).find("deeper"), std::string::npos);
}

TEST(JsonReader, KnowsVariantsByTagOrByKind) {
  EXPECT_EQ(std::get<Cat>(read<Pet>(R"({"type":"Cat","name":"tom"})").value()), (Cat{"tom", 9}));
  EXPECT_EQ(std::get<Dog>(read<Pet>(R"({"name":"rex","barks":false,"type":"Dog"})").value()), (Dog{"rex", false}));
  EXPECT_EQ(trouble<Pet>(R"({"type":"Cow","name":"x"})"), "/type: has to be one of Cat, Dog");
  EXPECT_EQ(trouble<Pet>(R"({"name":"x"})"), "/type: is missing: one of Cat, Dog");
  EXPECT_EQ(trouble<Pet>(R"({"type":"Cat"})"), "/name: is missing");
  EXPECT_EQ(trouble<Pet>(R"({"type":"Cat","name":"x"})", {.unknown = UnknownKeys::Refuse}), "");
  EXPECT_TRUE(std::get<bool>(read<Loose>("true").value()));
  EXPECT_EQ(std::get<std::int64_t>(read<Loose>("7").value()), 7);
  EXPECT_EQ(std::get<double>(read<Loose>("7.5").value()), 7.5);
  EXPECT_EQ(std::get<std::string>(read<Loose>("\"x\"").value()), "x");
  EXPECT_EQ(std::get<4>(read<Loose>("[1,2]").value()), (std::vector<int>{1, 2}));
  EXPECT_EQ(trouble<Loose>("null"), "the value: has to be one of the known alternatives, not null");
}

TEST(JsonReader, ReadsTimesOfRfc3339) {
  using Time = std::chrono::sys_seconds;
  const auto seconds = [](std::string_view text) { return read<Time>(text).value().time_since_epoch().count(); };
  EXPECT_EQ(seconds("\"1970-01-01T00:00:00Z\""), 0);
  EXPECT_EQ(seconds("\"2024-02-29T12:30:00+02:00\""), 1709202600);
  EXPECT_EQ(seconds("\"1969-12-31t23:59:59.999z\""), -1);
  EXPECT_EQ(seconds("\"0000-01-01T00:00:00Z\""), -62167219200);
  EXPECT_EQ(seconds("\"9999-12-31T23:59:59Z\""), 253402300799);
  for (const char* bad :
       {"2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00", "2024-01-01",
        "2024-01-01T00:00:00+24:00", "24-01-01T00:00:00Z", "2024-01-01T00:00:00.Z", ""}) {
    EXPECT_NE(trouble<Time>("\"" + std::string(bad) + "\""), "") << bad;
  }
  EXPECT_EQ(trouble<std::chrono::sys_days>("\"2023-02-29\""), "the value: has to be a date like 2024-02-29");
}

TEST(JsonReader, RefusesTextsThatAreNotOfTheirForm) {
  EXPECT_EQ(trouble<Color>("\"Pink\""), "the value: has to be one of Red, Green, Blue");
  EXPECT_NE(trouble<std::vector<std::byte>>("\"a\""), "");
  EXPECT_NE(trouble<std::vector<std::byte>>("\"ab=c\""), "");
  EXPECT_NE(trouble<std::vector<std::byte>>("\"/wB=\""), "");
  EXPECT_EQ(read<std::vector<std::byte>>("\"\"").value().size(), 0u);
  EXPECT_EQ((trouble<std::array<int, 3>>("[1,2]")), "the value: has to be a list of 3 items");
  EXPECT_EQ((trouble<std::array<int, 3>>("[1,2,3,4]")), "the value: has to be a list of 3 items");
  EXPECT_EQ((trouble<std::map<int, int>>(R"({"x":1})")), "/x: cannot be a name here");
}

TEST(JsonReader, NamesThePlaceOfWhatIsNoJson) {
  EXPECT_EQ(trouble<Point>("{\n \"x\": 1,\n \"y\" 2}"), "line 3, column 6: ':' is expected");
  EXPECT_EQ(trouble<std::string>("\"\xc3\xbc\xc3\xbc\n\""),
            "line 1, column 4: a control character has to be escaped in a string");
  EXPECT_EQ(trouble<Point>(""), "line 1, column 1: there is nothing to read");
  EXPECT_EQ(trouble<Point>("{} x"), "line 1, column 4: nothing may follow the value");
  EXPECT_EQ(trouble<Point>("\xef\xbb\xbf{}"), "line 1, column 1: a byte order mark may not stand before JSON");
}

TEST(JsonReader, AnswersTheSameForEveryPrefix) {
  // Cut anywhere, the text is no JSON; never more than that.
  Everything all;
  all.text = "esc\"\xc3\xbc";
  all.points = {{1, 2}};
  const std::string text = to_string(all);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(trouble<Everything>(text.substr(0, size)).substr(0, 4), "line") << size;
  }
  EXPECT_EQ(trouble<Everything>(text), "");
}

}  // namespace
}  // namespace violet::json
