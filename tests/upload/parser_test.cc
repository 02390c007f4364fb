// The multipart parser: each body whole, byte by byte, and split at each byte, with the same events.

#include "violet/web/upload/parser.h"

#include "violet/core/limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {
namespace {

using Step = MultipartParser::Step;

class Events {
 public:
  explicit Events(const Limits& limits) : parser_("XyZ", limits) {}

  void feed(std::string_view input) {
    while (take(parser_.next(input))) {
    }
  }
  std::string end() {
    if (!is_over_) take(parser_.finish());
    return text_;
  }

 private:
  bool take(Step step) {
    if (is_over_) return false;
    const PartHead& head = parser_.head();
    switch (step) {
      case Step::More: return false;
      case Step::Part:
        text_ += "[" + head.name + "|" + head.file_name.value_or("-") + "|" + head.content_type + "]";
        content_.clear();
        return true;
      case Step::Data: content_ += parser_.data(); return true;
      case Step::PartEnd: text_ += "{" + content_ + "}"; return true;
      case Step::End: text_ += "end"; break;
      case Step::Bad:
        text_ += "bad: ";
        text_ += parser_.error().kind() == ErrorKind::TooLarge ? name(static_cast<LimitId>(parser_.error().detail()))
                                                               : parser_.defect();
    }
    is_over_ = true;
    return false;
  }

  MultipartParser parser_;
  std::string text_;
  std::string content_;
  bool is_over_ = false;
};

std::string events_in_pieces(std::string_view body, std::size_t size, const Limits& limits = {}) {
  Events events(limits);
  for (std::size_t at = 0; at < body.size(); at += size) {
    // In memory of its own, so that reading beyond a piece is found out.
    const std::string piece(body.substr(at, size));
    events.feed(piece);
  }
  return events.end();
}

// The events of the whole, which those of every split have to equal.
std::string events_of(std::string_view body, const Limits& limits = {}) {
  std::string whole = events_in_pieces(body, body.size() + 1, limits);
  EXPECT_EQ(events_in_pieces(body, 1, limits), whole);
  for (std::size_t at = 1; at < body.size(); ++at) {
    Events events(limits);
    const std::string first(body.substr(0, at));
    const std::string second(body.substr(at));
    events.feed(first);
    events.feed(second);
    EXPECT_EQ(events.end(), whole) << "split at " << at;
  }
  return whole;
}

std::string part(std::string_view disposition, std::string_view content) {
  return "--XyZ\r\nContent-Disposition: " + std::string(disposition) + "\r\n\r\n" + std::string(content) + "\r\n";
}
std::string field(std::string_view content) { return part("form-data; name=a", content) + "--XyZ--\r\n"; }

TEST(MultipartParser, GivesFieldsAndFiles) {
  const std::string body =
      part("form-data; name=\"a\"", "1") +
      "--XyZ\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\n"
      "two\r\nlines\r\n--XyZ--\r\n";
  EXPECT_EQ(events_of(body), "[a|-|]{1}[f|x.txt|text/plain]{two\r\nlines}end");
}

TEST(MultipartParser, TakesContentThatLooksLikeABoundary) {
  for (const std::string content : {"\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--Xy", "\r\r\n--X", "--XyZ?", "--Xy",
                                    "-", "a\r\n\r\n--xyz", "\r\n\r\n", "\r\n--Xy\r\n--Xy\r\r\r", "--Xy\r\n--Xy"}) {
    if (content.starts_with("--XyZ")) continue;
    EXPECT_EQ(events_of(field(content)), "[a|-|]{" + content + "}end") << testing::PrintToString(content);
  }
}

TEST(MultipartParser, TakesEmptyParts) {
  EXPECT_EQ(events_of(field("")), "[a|-|]{}end");
  // The line break in front of a boundary may be that of the empty line (RFC 2046 §5.1.1).
  EXPECT_EQ(events_of("--XyZ\r\nContent-Disposition: form-data; name=a\r\n\r\n--XyZ--"), "[a|-|]{}end");
}

TEST(MultipartParser, TakesNoPartAtAll) { EXPECT_EQ(events_of("--XyZ--\r\n"), "end"); }

TEST(MultipartParser, PassesOverPreambleEpilogueAndPadding) {
  EXPECT_EQ(
      events_of("to be\r\nignored --XyZ\r\n--XyZ \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--XyZ-- \r\n"
                "--XyZ\r\nand this"),
      "[a|-|]{1}end");
  EXPECT_EQ(events_of("\r\n" + field("1")), "[a|-|]{1}end");
}

TEST(MultipartParser, RefusesWhatIsNotWhole) {
  EXPECT_EQ(events_of(""), "bad: the body has no part and no last boundary");
  EXPECT_EQ(events_of("nothing"), "bad: the body has no part and no last boundary");
  const std::string whole = "--XyZ\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--XyZ--";
  EXPECT_EQ(events_of(whole), "[a|-|]{1}end");
  for (std::size_t size = 5; size < whole.size(); ++size) {
    EXPECT_NE(events_of(whole.substr(0, size)).find("bad: the body ends before its last boundary"), std::string::npos);
  }
}

TEST(MultipartParser, RefusesWhatStandsBehindABoundary) {
  constexpr std::string_view kDefect = "bad: something other than a line break follows a boundary";
  for (const std::string body :
       {"--XyZa\r\n\r\n", "--XyZ\n\r\n", "--XyZ-\r\n", "--XyZ\rA", "--XyZ--a", "--XyZ--\ra", "--XyZ a"}) {
    EXPECT_EQ(events_of(body), kDefect) << body;
  }
  EXPECT_EQ(events_of(part("form-data; name=a", "1\r\n--XyZ1")), "[a|-|]{1}" + std::string(kDefect));
  EXPECT_EQ(events_of("--XyZ" + std::string(300, ' ') + "\r\n"), "bad: too many blanks follow a boundary");
}

TEST(MultipartParser, ReadsNames) {
  const auto names = [](std::string_view disposition) {
    const std::string all = events_of(part(disposition, "") + "--XyZ--");
    return all.substr(0, all.find("{}"));
  };
  EXPECT_EQ(names("form-data; name=a"), "[a|-|]");
  EXPECT_EQ(names("FORM-DATA; NAME=\"a b\" ; x=y;"), "[a b|-|]");
  EXPECT_EQ(names(R"(form-data; name="a\"b"; filename="c\\d")"), R"([a"b|d|])");
  EXPECT_EQ(names(R"(form-data; name="a%22b%0D%0Ac%20d")"), "[a\"b\r\nc%20d|-|]");
  EXPECT_EQ(names("form-data; name=\"\"; filename=\"\""), "[||]");
  EXPECT_EQ(names("form-data; name=\"\xc3\xa4\"; filename=\"\xe2\x82\xac.txt\""), "[\xc3\xa4|\xe2\x82\xac.txt|]");
  EXPECT_EQ(names("form-data; name=a; filename*=UTF-8''%e2%82%ac%20rates; filename=x"), "[a|\xe2\x82\xac rates|]");
  EXPECT_EQ(names("form-data; name=a; filename*=utf-8'en'x"), "[a|x|]");
  EXPECT_EQ(names("form-data; name=\"a;filename=b\""), "[a;filename=b|-|]");
}

TEST(MultipartParser, NeverGivesDirectories) {
  const auto name = [](std::string_view file) {
    const std::string all = events_of(part("form-data; name=a; filename=" + std::string(file), "") + "--XyZ--");
    return all.substr(3, all.find("|]") - 3);
  };
  EXPECT_EQ(name(R"("../../etc/passwd")"), "passwd");
  EXPECT_EQ(name(R"("..")"), "");
  EXPECT_EQ(name(R"("a/.")"), "");
  EXPECT_EQ(name(R"("...")"), "...");
  EXPECT_EQ(name(R"("C:\dir\x.txt")"), "x.txt");
  EXPECT_EQ(name(R"("/")"), "");
  EXPECT_EQ(name("x; filename*=UTF-8''..%2f..%2fx%5cy"), "y");
}

TEST(MultipartParser, RefusesMalformedHeads) {
  const auto defect = [](std::string_view lines) {
    const std::string all = events_of("--XyZ\r\n" + std::string(lines) + "\r\n\r\n--XyZ--");
    return all.substr(0, 5) == "bad: " ? all.substr(5) : all;
  };
  const std::string good = "Content-Disposition: form-data; name=a";
  EXPECT_EQ(defect(good), "[a|-|]{}end");
  EXPECT_EQ(events_of("--XyZ\r\n\r\n1\r\n--XyZ--"), "bad: a part has no Content-Disposition");
  EXPECT_EQ(defect("X: y"), "a part has no Content-Disposition");
  EXPECT_EQ(defect("Content-Disposition: attachment; name=a"), "a part's disposition is not form-data");
  EXPECT_EQ(defect("Content-Disposition: form-data"), "a part has no name");
  EXPECT_EQ(defect("Content-Disposition: form-data; filename=a"), "a part has no name");
  EXPECT_EQ(defect(good + "\r\n" + good), "a part has two dispositions");
  EXPECT_EQ(defect(good + "\r\nContent-Type: a/b\r\nContent-Type: c/d"), "a part has two types");
  EXPECT_EQ(defect(good + "\r\n folded"), "a field line of a part is malformed");
  EXPECT_EQ(defect(good + "\r\nno colon"), "a field line of a part is malformed");
  EXPECT_EQ(defect(good + "\r\nX : y"), "a field line of a part is malformed");
  EXPECT_EQ(defect(good + "\nX: y"), "a field line of a part has a control character");
  EXPECT_EQ(defect(good + std::string(1, '\0')), "a field line of a part has a control character");
  EXPECT_EQ(defect(good + "\r\nContent-Transfer-Encoding: base64"), "the transfer encoding of a part is not supported");
  EXPECT_EQ(defect(good + "\r\nContent-Transfer-Encoding: Binary"), "[a|-|]{}end");
  for (const char* bad :
       {"; name=b", "; filename=x; filename=y", "; filename=", "; filename=\"x", "; filename*=x",
        "; filename*=latin1''x", "; filename*=UTF-8''%4", "; filename*=UTF-8''%zz", "; =x", "; x", ";; x=y"}) {
    EXPECT_EQ(defect(good + bad), "the Content-Disposition of a part is malformed") << bad;
  }
  EXPECT_EQ(defect("Content-Disposition: form-data; name=\"\xff\""), "the name of a part is not UTF-8");
  EXPECT_EQ(defect(good + "; filename*=UTF-8''a%00b"), "the name of a part is not UTF-8");
}

TEST(MultipartParser, HoldsItsLimits) {
  Limits limits;
  limits.multipart_parts_max = 2;
  const std::string two = part("form-data; name=a", "") + part("form-data; name=b", "");
  EXPECT_EQ(events_of(two + "--XyZ--", limits), "[a|-|]{}[b|-|]{}end");
  EXPECT_EQ(events_of(two + field(""), limits), "[a|-|]{}[b|-|]{}bad: multipart_parts_max");

  limits = {};
  const std::string head = "Content-Disposition: form-data; name=a\r\n\r\n";
  limits.multipart_head_bytes_max = head.size();
  EXPECT_EQ(events_of(field("1"), limits), "[a|-|]{1}end");
  --limits.multipart_head_bytes_max;
  EXPECT_EQ(events_of(field("1"), limits), "bad: multipart_head_bytes_max");
  EXPECT_EQ(events_of("--XyZ\r\n" + std::string(100, 'x'), limits), "bad: multipart_head_bytes_max");

  limits = {};
  limits.multipart_name_bytes_max = 3;
  EXPECT_EQ(events_of(part("form-data; name=abc; filename=def", "") + "--XyZ--", limits), "[abc|def|]{}end");
  EXPECT_EQ(events_of(part("form-data; name=abcd", ""), limits), "bad: multipart_name_bytes_max");
  EXPECT_EQ(events_of(part("form-data; name=a; filename=abcd", ""), limits), "bad: multipart_name_bytes_max");

  limits = {};
  limits.multipart_field_bytes_max = 4;
  limits.multipart_file_bytes_max = 5;
  EXPECT_EQ(events_of(field("1234"), limits), "[a|-|]{1234}end");
  EXPECT_EQ(events_of(field("12345"), limits), "[a|-|]bad: multipart_field_bytes_max");
  const std::string file = "form-data; name=a; filename=b";
  EXPECT_EQ(events_of(part(file, "12345") + "--XyZ--", limits), "[a|b|]{12345}end");
  EXPECT_EQ(events_of(part(file, "123456") + "--XyZ--", limits), "[a|b|]bad: multipart_file_bytes_max");
}

TEST(MultipartType, NamesItsBoundary) {
  EXPECT_TRUE(is_form_data("multipart/form-data; boundary=x"));
  EXPECT_TRUE(is_form_data(" Multipart/Form-Data ;boundary=x"));
  EXPECT_FALSE(is_form_data("multipart/mixed; boundary=x"));
  EXPECT_FALSE(is_form_data("multipart/form-dataset; boundary=x"));
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=----WebKitFormBoundary7MA4"), "----WebKitFormBoundary7MA4");
  EXPECT_EQ(boundary_of("multipart/form-data; charset=utf-8; BOUNDARY=\"a b:c\""), "a b:c");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(70, 'a')), std::string(70, 'a'));
  for (const std::string& bad :
       {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
        std::string("multipart/form-data; boundary=\"\""), std::string("multipart/form-data; boundary=\"a \""),
        std::string("multipart/form-data; boundary=a; boundary=b"), std::string("multipart/form-data; boundary=a b"),
        std::string("multipart/form-data; boundary=\"a"), std::string("multipart/form-data; boundary=\"a\r\n\""),
        std::string("multipart/form-data; boundary=\"a;\""), "multipart/form-data; boundary=" + std::string(71, 'a')}) {
    EXPECT_FALSE(boundary_of(bad)) << bad;
  }
}

}  // namespace
}  // namespace violet::web
