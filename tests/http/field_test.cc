// Field names, field lists, statuses and methods.

#include "violet/base/ascii.h"
#include "violet/http/fields.h"
#include "violet/http/head.h"
#include "violet/http/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace violet::http {
namespace {

using namespace std::string_literals;

std::string folded(std::string_view text, bool upper) {
  std::string result(text);
  for (char& c : result) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (!upper) c = ascii::lower(c);
  }
  return result;
}

TEST(FieldId, FindsEveryKnownNameInEveryCase) {
  std::set<std::string> names;
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    const auto id = static_cast<FieldId>(i);
    const std::string text(name(id));
    ASSERT_FALSE(text.empty());
    EXPECT_TRUE(names.insert(folded(text, false)).second) << "twice: " << text;
    EXPECT_EQ(find_field(text), id);
    EXPECT_EQ(find_field(folded(text, false)), id) << text;
    EXPECT_EQ(find_field(folded(text, true)), id) << text;
    EXPECT_EQ(lower_name(id), folded(text, false));
    // Exactly as long as it is: what stands behind does not count.
    EXPECT_EQ(find_field(std::string_view(text + "garbage").substr(0, text.size())), id);
  }
  EXPECT_EQ(name(FieldId::Other), "");
}

TEST(FieldId, TakesNoNearMissForAKnownName) {
  EXPECT_EQ(find_field(""), FieldId::Other);
  EXPECT_EQ(find_field(std::string(1000, 'a')), FieldId::Other);
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    const std::string text(name(static_cast<FieldId>(i)));
    EXPECT_NE(find_field(text.substr(1)), static_cast<FieldId>(i));
    EXPECT_NE(find_field(text.substr(0, text.size() - 1)), static_cast<FieldId>(i));
    EXPECT_EQ(find_field(text + "x"), FieldId::Other) << text;
    EXPECT_EQ(find_field(text + "\0"s), FieldId::Other);
    // Every other byte at every place: controls that fold onto hyphens and digits, high bytes, neighbours.
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (int c = 0; c < 256; ++c) {
        std::string wrong = text;
        wrong[at] = static_cast<char>(c);
        if (ascii::lower(wrong[at]) == ascii::lower(text[at])) continue;
        const FieldId found = find_field(wrong);
        if (found != FieldId::Other) {
          EXPECT_TRUE(ascii::equal_folded(name(found), wrong)) << text << " with byte " << c << " at " << at;
        }
      }
    }
  }
}

TEST(Fields, AddsSetsFindsAndRemoves) {
  Arena arena;
  Fields fields(arena);
  EXPECT_TRUE(fields.add("X-One", "1"));
  EXPECT_TRUE(fields.add(FieldId::SetCookie, "a=1"));
  EXPECT_TRUE(fields.add("set-cookie", "b=2"));
  EXPECT_TRUE(fields.add("x-one", "2"));
  EXPECT_EQ(fields.count(), 4u);
  EXPECT_EQ(fields.get("X-ONE"), "1");
  EXPECT_EQ(fields.get(FieldId::SetCookie), "a=1");
  EXPECT_TRUE(fields.set("X-One", "3"));
  EXPECT_EQ(fields.count(), 3u);
  EXPECT_EQ(fields.get("x-one"), "3");
  EXPECT_TRUE(fields.set(FieldId::SetCookie, "c=3"));
  EXPECT_EQ(fields.count(), 2u);
  EXPECT_EQ(fields.remove("SET-COOKIE"), 1u);
  EXPECT_EQ(fields.remove("x-none"), 0u);
  EXPECT_EQ(fields.find("set-cookie"), nullptr);
  EXPECT_EQ(fields.get("none"), "");
  // A value of the list may be set from itself.
  EXPECT_TRUE(fields.set("X-One", fields.get("x-one")));
  EXPECT_EQ(fields.get("x-one"), "3");
}

TEST(Fields, RefusesWhatMustNotReachAWire) {
  Arena arena;
  Fields fields(arena);
  for (const std::string& bad :
       {"a\r\nX: 1"s, "a\n"s, "\ra"s, "a\0b"s, "\x01"s, "\x7f"s, " a"s, "a "s, "\ta"s, "a\x1b"s}) {
    EXPECT_FALSE(fields.add("X-Name", bad)) << bad;
    EXPECT_FALSE(fields.add(FieldId::Location, bad)) << bad;
    EXPECT_FALSE(fields.set("X-Name", bad));
    EXPECT_FALSE(fields.set(FieldId::Location, bad));
  }
  for (const std::string& bad : {""s, "a b"s, "a:b"s, "a\r\n"s, "a\0"s, "\xc3\xa4"s, "a/b"s, "(a)"s}) {
    EXPECT_FALSE(fields.add(bad, "v")) << bad;
    EXPECT_FALSE(fields.set(bad, "v")) << bad;
  }
  EXPECT_FALSE(fields.add(FieldId::Other, "v"));
  EXPECT_TRUE(fields.is_empty());
  EXPECT_TRUE(fields.add("X-Name", "tab\tand \xc3\xa4"));
  EXPECT_TRUE(fields.add("X-Empty", ""));
}

TEST(Fields, KeepsLongValuesWhole) {
  Arena arena;
  Fields fields(arena);
  const std::string value(100'000, 'v');
  EXPECT_TRUE(fields.add("X-Long", value));
  EXPECT_EQ(fields.get("x-long"), value);
}

TEST(Fields, GrowsPastEveryRoom) {
  Arena arena;
  alignas(Field) std::byte room[3 * sizeof(Field)];
  Fields fields(arena, reinterpret_cast<Field*>(room), 3);
  for (int i = 0; i < 40'000; ++i) fields.push(FieldId::Vary, i % 2 == 0 ? "a" : "b");
  ASSERT_EQ(fields.count(), 40'000u);
  EXPECT_EQ(fields.begin()[39'999].value, "b");
}

TEST(Fields, FindsMembersOfLists) {
  Arena arena;
  Fields fields(arena);
  ASSERT_TRUE(fields.add("Connection", "keep-alive, Upgrade"));
  ASSERT_TRUE(fields.add("Connection", ",, x ,\t\"a,b\""));
  EXPECT_TRUE(fields.has_member(FieldId::Connection, "upgrade"));
  EXPECT_TRUE(fields.has_member(FieldId::Connection, "X"));
  EXPECT_TRUE(fields.has_member(FieldId::Connection, "\"a,b\""));
  EXPECT_FALSE(fields.has_member(FieldId::Connection, "a"));
  EXPECT_FALSE(fields.has_member(FieldId::Connection, "keep"));
  EXPECT_FALSE(fields.has_member(FieldId::Vary, "x"));
}

TEST(Head, PinMovesEveryTextOfTheRawBytesAndNoOther) {
  Arena arena;
  std::string raw = "GET /path?query HTTP/1.1\r\nHost: name\r\n";
  Head head(arena);
  const std::string_view all = raw;
  head.raw = all;
  head.method_text = all.substr(0, 3);
  head.target = all.substr(4, 11);
  head.path = all.substr(4, 5);
  head.query = all.substr(10, 5);
  head.scheme = "http";
  head.fields.push(Field{.name = "Host", .value = all.substr(32, 4), .id = FieldId::Host});
  head.authority = all.substr(32, 4);
  head.pin();
  raw.assign(raw.size(), 'X');
  EXPECT_EQ(head.method_text, "GET");
  EXPECT_EQ(head.target, "/path?query");
  EXPECT_EQ(head.path, "/path");
  EXPECT_EQ(head.query, "query");
  EXPECT_EQ(head.authority, "name");
  EXPECT_EQ(head.fields.get("host"), "name");
  EXPECT_EQ(head.scheme, "http");
  EXPECT_TRUE(head.raw.empty());
  EXPECT_EQ(head.pin(), 0);
}

TEST(Status, HasALineForEveryCode) {
  for (int status = 100; status <= 999; ++status) {
    const std::string expected = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason(status)) + "\r\n";
    EXPECT_EQ(status_line(status), expected);
  }
  EXPECT_EQ(reason(404), "Not Found");
  EXPECT_EQ(reason(299), "");
  EXPECT_TRUE(is_bodyless(204) && is_bodyless(304) && is_bodyless(100) && !is_bodyless(200) && !is_bodyless(205));
}

TEST(Method, MapsByTable) {
  for (std::size_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    EXPECT_EQ(find_method(name(method)), method);
    EXPECT_EQ(find_method(folded(name(method), false)), Method::Other);
  }
  EXPECT_EQ(find_method(""), Method::Other);
  EXPECT_TRUE(is_safe(Method::Get) && !is_safe(Method::Post) && is_idempotent(Method::Put) &&
              !is_idempotent(Method::Patch));
}

// --- lines that are made once

Ref<PreparedFields> make_prepared() {
  const std::string type = "text/css";  // gone when the lines are used
  const PreparedFields::Line lines[] = {
      {FieldId::ContentType, type}, {FieldId::Vary, ""}, {FieldId::ETag, "\"a-b\""}, {FieldId::AcceptRanges, "bytes"}};
  return PreparedFields::make(lines);
}

std::string text_of(const Fields& fields) {
  std::string text;
  for (const Field& field : fields) text.append(field.name).append(": ").append(field.value).append("\r\n");
  return text;
}
constexpr std::string_view kPreparedText = "Content-Type: text/css\r\nETag: \"a-b\"\r\nAccept-Ranges: bytes\r\n";

TEST(PreparedFields, AreTakenAsTheyAre) {
  const Ref<PreparedFields> prepared = make_prepared();
  EXPECT_EQ(prepared->text(), kPreparedText);
  EXPECT_EQ(prepared->lines().size(), 3u);
  Arena arena;
  const Fields none(arena);
  EXPECT_EQ(none.prepared(), nullptr);
  Fields fields(arena);
  fields.use(*prepared);
  EXPECT_EQ(arena.heap_bytes(), 0u);
  const Fields& seen = fields;
  EXPECT_EQ(text_of(seen), kPreparedText);
  EXPECT_EQ(seen.get(FieldId::ETag), "\"a-b\"");
  EXPECT_EQ(fields.prepared(), prepared.get());
  EXPECT_TRUE(fields.others().empty());
}

TEST(PreparedFields, HaveOthersBehindThem) {
  const Ref<PreparedFields> prepared = make_prepared();
  Arena arena;
  Fields fields(arena);
  fields.use(*prepared);
  ASSERT_TRUE(fields.add("x-own", "1"));
  fields.push(FieldId::Vary, "Accept");
  EXPECT_EQ(fields.prepared(), prepared.get());
  ASSERT_EQ(fields.others().size(), 2u);
  EXPECT_EQ(fields.others()[0].name, "x-own");
  EXPECT_EQ(fields.count(), 5u);
  EXPECT_EQ(prepared->lines().size(), 3u);
}

TEST(PreparedFields, AreAMessagesOwnOnceSomethingChanges) {
  Ref<PreparedFields> prepared = make_prepared();
  for (const bool is_longer : {false, true}) {
    Arena arena;
    Fields fields(arena);
    fields.use(*prepared);
    if (is_longer) fields.push(FieldId::Vary, "Accept");
    ASSERT_TRUE(fields.set(FieldId::ETag, "W/\"c\""));
    EXPECT_EQ(fields.prepared(), nullptr);
    EXPECT_EQ(fields.get(FieldId::ETag), "W/\"c\"");
    EXPECT_EQ(fields.get(FieldId::ContentType), "text/css");
    EXPECT_EQ(fields.remove(FieldId::AcceptRanges), 1u);
    EXPECT_EQ(fields.count(), is_longer ? 3u : 2u);
    EXPECT_EQ(fields.others().size(), fields.count());
  }
  EXPECT_EQ(prepared->text(), kPreparedText);
  EXPECT_EQ(prepared->lines().size(), 3u);
  // Texts that were taken over outlive where they came from.
  Arena arena;
  Fields fields(arena);
  fields.use(*prepared);
  EXPECT_EQ(fields.begin()->value, "text/css");
  prepared = nullptr;
  EXPECT_EQ(fields.get(FieldId::ContentType), "text/css");
}

TEST(PreparedFields, AreHeldAsLongAsTheyAreUsed) {
  Ref<PreparedFields> prepared = make_prepared();
  Arena arena;
  Fields fields(arena);
  fields.use(*prepared);
  prepared = nullptr;
  EXPECT_EQ(fields.prepared()->text(), kPreparedText);
  fields.clear();
  EXPECT_EQ(fields.prepared(), nullptr);
  EXPECT_TRUE(fields.is_empty());
  fields.push(FieldId::Vary, "Accept");
  EXPECT_EQ(fields.get(FieldId::Vary), "Accept");
  fields.clear();
  fields.use(*make_prepared());
  Field room[2];
  fields.reset(room, 2);
  EXPECT_EQ(fields.prepared(), nullptr);
  fields.push(FieldId::Vary, "Accept");
  EXPECT_EQ(fields.begin(), &room[0]);
}

TEST(PreparedFields, OfNothingAreNothing) {
  Arena arena;
  Fields fields(arena);
  fields.use(*PreparedFields::make({}));
  EXPECT_TRUE(fields.is_empty() && fields.others().empty());
  fields.push(FieldId::Vary, "Accept");
  EXPECT_EQ(fields.others().size(), 1u);
}

// --- numbers

TEST(Digits, AreThoseOfEveryNumber) {
  const auto unsigned_text = [](std::uint64_t value) {
    char room[ascii::kDigitsMax];
    return std::string(room, ascii::put_unsigned(room, value));
  };
  const auto signed_text = [](std::int64_t value) {
    char room[ascii::kDigitsMax + 1];
    return std::string(room, ascii::put_signed(room, value));
  };
  for (std::uint64_t edge = 1;; edge *= 10) {
    for (const std::uint64_t value : {edge - 1, edge, edge + 1, edge * 7 + 3}) {
      EXPECT_EQ(unsigned_text(value), std::to_string(value));
      EXPECT_EQ(signed_text(static_cast<std::int64_t>(value)), std::to_string(static_cast<std::int64_t>(value)));
      EXPECT_EQ(signed_text(static_cast<std::int64_t>(0 - value)),
                std::to_string(static_cast<std::int64_t>(0 - value)));
    }
    if (edge > ~std::uint64_t{0} / 10) break;
  }
  EXPECT_EQ(unsigned_text(~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(signed_text(INT64_MIN), "-9223372036854775808");
}

}  // namespace
}  // namespace violet::http
