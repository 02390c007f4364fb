#include "violet/json/writer.h"

#include "tests/json/types.h"
#include "violet/json/block_writer.h"
#include "violet/json/typed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace violet::json {
namespace {

// Gives no more room than it must, each time in memory of its own: a step too far is seen by AddressSanitizer.
class PieceWriter final : public Writer {
 public:
  explicit PieceWriter(std::size_t first_bytes) { begin_piece(first_bytes); }
  [[nodiscard]] std::string text() { return text_ + std::string(piece_.get(), at()); }

 private:
  char* make_room(char* at, char*& end) override {
    text_.append(piece_.get(), at);
    piece_ = std::make_unique<char[]>(kRoom);
    end = piece_.get() + kRoom;
    return piece_.get();
  }
  void begin_piece(std::size_t bytes) {
    piece_ = std::make_unique<char[]>(bytes);
    begin(piece_.get(), piece_.get() + bytes);
  }
  std::string text_;
  std::unique_ptr<char[]> piece_;
};

// By the tables and by the writer that the compiler makes: the same text.
template <class T>
std::string written(const T& value) {
  StringWriter typed;
  put<T>(typed, &value);
  std::string text = std::move(typed).text();
  EXPECT_EQ(text, to_string(value));
  return text;
}

Everything everything() {
  Everything all;
  all.flag = true;
  all.i8 = -128;
  all.i16 = 32767;
  all.i32 = -2147483648;
  all.i64 = std::numeric_limits<std::int64_t>::min();
  all.u8 = 255;
  all.u16 = 10'000;
  all.u32 = 4294967295;
  all.u64 = std::numeric_limits<std::uint64_t>::max();
  all.f = 0.1F;
  all.d = 1e300;
  all.text = "a";
  all.color = Color::Blue;
  all.point = {1, -2};
  all.pointer = std::make_unique<Point>(3, 4);
  all.points = {{5, 6}, {7, 8}};
  all.bits = {true, false};
  all.three = {1, 2, 3};
  all.map = {{"b", 2}, {"a\n", 1}};
  all.by_number = {{-7, "seven"}};
  all.bytes = {std::byte{0xff}, std::byte{0}};
  all.pet = Dog{"rex", false};
  all.loose = 2.5;
  all.when = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(1709209800250));
  all.day = std::chrono::sys_days(std::chrono::days(19782));
  all.length = std::chrono::milliseconds(-5);
  all.lists = {{}, {"x", "y"}};
  return all;
}

TEST(JsonWriter, WritesEveryKind) {
  EXPECT_EQ(written(everything()),
            R"({"flag":true,"i8":-128,"i16":32767,"i32":-2147483648,"i64":-9223372036854775808,"u8":255,"u16":10000,)"
            R"("u32":4294967295,"u64":18446744073709551615,"f":0.1,"d":1e+300,"text":"a","color":"Blue",)"
            R"("point":{"x":1,"y":-2},"maybe":null,"pointer":{"x":3,"y":4},"points":[{"x":5,"y":6},{"x":7,"y":8}],)"
            R"("bits":[true,false],"three":[1,2,3],"map":{"a\n":1,"b":2},"by_number":{"-7":"seven"},"bytes":"/wA=",)"
            R"("pet":{"type":"Dog","name":"rex","barks":false},"loose":2.5,"when":"2024-02-29T12:30:00.250Z",)"
            R"("day":"2024-02-29","length":-5,"lists":[[],["x","y"]]})");
}

TEST(JsonWriter, NeverWritesBeyondTheRoomThereIs) {
  const Everything all = everything();
  const std::string expected = to_string(all);
  for (std::size_t first_bytes = 0; first_bytes < 300; ++first_bytes) {
    PieceWriter by_tables(first_bytes);
    by_tables.write(all);
    ASSERT_EQ(by_tables.text(), expected) << first_bytes;
    PieceWriter typed(first_bytes);
    put<Everything>(typed, &all);
    ASSERT_EQ(typed.text(), expected) << first_bytes;
  }
}

TEST(JsonWriter, WritesWholeNumbersOfEveryLength) {
  std::uint64_t value = 0;
  for (int digits = 1; digits <= 20; ++digits) {
    for (const std::uint64_t number : {value, value + 1, value * 9, std::uint64_t{0} - value}) {
      EXPECT_EQ(written(number), std::to_string(number));
      EXPECT_EQ(written(static_cast<std::int64_t>(number)), std::to_string(static_cast<std::int64_t>(number)));
    }
    value = value == 0 ? 1 : value * 10;
  }
}

TEST(JsonWriter, EscapesWhatHasToBe) {
  // Each special character at each place of texts of each length, so that every path through the text meets it.
  const std::pair<char, std::string> escapes[] = {
      {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"},       {'\r', "\\r"},     {'\t', "\\t"},
      {'\b', "\\b"}, {'\f', "\\f"},  {'\x01', "\\u0001"}, {'\0', "\\u0000"}, {'\x1f', "\\u001f"}};
  for (std::size_t size = 1; size < 70; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const auto& [character, escape] : escapes) {
        std::string text(size, 'x');
        text[at] = character;
        const std::string expected = "\"" + std::string(at, 'x') + escape + std::string(size - at - 1, 'x') + "\"";
        ASSERT_EQ(written(text), expected) << size << " " << at;
      }
    }
  }
  EXPECT_EQ(written(std::string("\x7f/ ")), "\"\x7f/ \"");
}

TEST(JsonWriter, MakesUtf8OfAnyBytes) {
  EXPECT_EQ(written(std::string("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80")), "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(written(std::string("a\xff"
                                "b")),
            "\"a" + bad + "b\"");
  EXPECT_EQ(written(std::string("\xc3")), "\"" + bad + "\"");
  EXPECT_EQ(written(std::string("\xed\xa0\x80")), "\"" + bad + bad + bad + "\"");
}

TEST(JsonWriter, WritesTheShortestNumbersThatReadBack) {
  for (const double value : {0.0, 1.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.125}) {
    EXPECT_EQ(std::strtod(written(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(written(0.3), "0.3");
  EXPECT_EQ(written(0.3F), "0.3");
  EXPECT_EQ(written(-0.0), "-0");
}

TEST(JsonWriter, TreatsWhatIsNoNumberByPolicy) {
  const std::vector<double> values = {std::nan(""), INFINITY, -INFINITY};
  EXPECT_EQ(written(values), "[null,null,null]");
  StringWriter as_text;
  as_text.non_finite(NonFinite::Text).write(values);
  EXPECT_EQ(std::move(as_text).text(), R"(["NaN","Infinity","-Infinity"])");
  StringWriter failing;
  failing.non_finite(NonFinite::Fail).write(values);
  EXPECT_TRUE(failing.has_failed());
}

TEST(JsonWriter, FollowsTheDescriptionOfMembers) {
  Described value{.id = 1, .display_name = "ada", .password = {"hidden"}};
  EXPECT_EQ(written(value), R"({"id":1,"display/\u0022name\u0022":"ada","note":""})");
}

struct OnlySecrets {
  secret<std::string> a;
  std::optional<secret<int>> b;
};
TEST(JsonWriter, NeverWritesSecrets) {
  EXPECT_EQ(written(OnlySecrets{{"x"}, secret<int>{7}}), "{}");
  EXPECT_EQ(written(std::vector<secret<int>>{{7}, {8}}), "[null,null]");
  EXPECT_EQ(written(std::map<std::string, secret<int>>{{"a", {7}}}), R"({"a":null})");
}

TEST(JsonWriter, WritesListsThatAreNoRows) {
  EXPECT_EQ(written(std::set<int>{3, 1}), "[1,3]");
  EXPECT_EQ(written(std::vector<bool>{}), "[]");
  EXPECT_EQ(written(std::map<std::string, int>{}), "{}");
}

TEST(JsonWriter, NumbersEnumeratorsWithoutAName) {
  EXPECT_EQ(written(static_cast<Color>(9)), "9");
  EXPECT_EQ(written(Level::Low), "\"Low\"");
}

TEST(JsonWriter, EndsAtStructuresTooDeep) {
  Tree root;
  Tree* at = &root;
  for (int i = 0; i < Writer::kDepthMax; ++i) at = &at->children.emplace_back();
  StringWriter writer;
  writer.write(root);
  EXPECT_TRUE(writer.has_failed());
  StringWriter typed;
  put<Tree>(typed, &root);
  EXPECT_TRUE(typed.has_failed());
}

TEST(JsonWriter, FillsBlockAfterBlock) {
  BlockPool pool;
  const std::vector<std::string> texts(4000, "some text of middling length \n");
  {
    BlockWriter writer(pool);
    writer.write(texts);
    const std::size_t size = writer.size();
    const Chain chain = writer.take();
    EXPECT_EQ(chain.size(), size);
    EXPECT_GT(chain.count(), 5u);
    EXPECT_EQ(chain.to_string(), written(texts));
  }
  EXPECT_EQ(pool.used_count(), 0u);
}

TEST(JsonWriter, FitsAtEveryDistanceFromABlocksEnd) {
  BlockPool pool;
  const std::string value = written(Described{.id = 1234567, .display_name = "a \" quoted name", .password = {}});
  for (std::size_t left = 0; left < 400; ++left) {
    BlockWriter writer(pool);
    writer.raw(std::string(Block::capacity() - left, ' '));
    writer.write(Described{.id = 1234567, .display_name = "a \" quoted name", .password = {}});
    const Chain chain = writer.take();
    ASSERT_EQ(chain.to_string().substr(Block::capacity() - left), value) << left;
  }
}

}  // namespace
}  // namespace violet::json
