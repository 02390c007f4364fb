// h1/parser.h's parse_head: whatever the bytes, however they are cut. The first byte chooses the limits.
//
// What must hold: the verdict on a prefix is never taken back by what follows; what is accepted obeys the grammar when
// it is looked at with other eyes than the parser's; and what was accepted, written again, is accepted as the same.

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/h1/parser.h"
#include "violet/memory/buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace violet;

struct Outcome {
  std::unique_ptr<char[]> bytes;
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  http::Head head{*arena};
  h1::Framing framing;
  h1::Parsed parsed;
  std::size_t used = 0;
};

// In a copy of exactly the size that the parser may read.
std::unique_ptr<Outcome> parse(std::string_view text, const Limits& limits) {
  auto outcome = std::make_unique<Outcome>();
  outcome->bytes = std::make_unique<char[]>(text.size() + kScanPadding);
  std::ranges::copy(text, outcome->bytes.get());
  // Padding that would be taken for more input, if it were looked at.
  std::ranges::fill_n(outcome->bytes.get() + text.size(), kScanPadding, '\n');
  const char* begin = outcome->bytes.get();
  outcome->parsed = h1::parse_head(begin, begin + text.size(), limits, outcome->head, outcome->framing);
  if (outcome->parsed.verdict == h1::Verdict::Done) {
    outcome->used = static_cast<std::size_t>(outcome->parsed.end - begin);
  }
  return outcome;
}

void check_prefix(std::string_view text, std::size_t size, const Outcome& whole, const Limits& limits) {
  const auto part = parse(text.substr(0, size), limits);
  switch (part->parsed.verdict) {
    case h1::Verdict::More: EXPECT(whole.parsed.verdict != h1::Verdict::Done || size < whole.used); break;
    case h1::Verdict::Done: EXPECT(whole.parsed.verdict == h1::Verdict::Done && whole.used == part->used); break;
    case h1::Verdict::Bad:
      EXPECT(whole.parsed.verdict == h1::Verdict::Bad && whole.parsed.status == part->parsed.status &&
             whole.parsed.limit == part->parsed.limit);
      break;
  }
}

bool is_inside(std::string_view part, const Outcome& outcome) {
  const char* begin = outcome.bytes.get();
  return part.empty() || (part.data() >= begin && part.data() + part.size() <= begin + outcome.used);
}

void check_accepted(const Outcome& whole, const Limits& limits) {
  const http::Head& head = whole.head;
  EXPECT(ascii::is_token(head.method_text) && is_inside(head.method_text, whole));
  EXPECT(!head.target.empty() && ascii::all_are(head.target, ascii::kTarget) && is_inside(head.target, whole));
  EXPECT(is_inside(head.path, whole) || head.path == "/" || head.path == "*");
  EXPECT(is_inside(head.query, whole) && is_inside(head.authority, whole));
  EXPECT(head.fields.count() <= limits.field_count_max);
  EXPECT(head.raw.size() <= limits.request_line_bytes_max + limits.field_bytes_max);
  std::size_t lengths = 0, codings = 0, hosts = 0;
  std::string again(head.method_text);
  again.append(" ")
      .append(head.target)
      .append(head.version == http::Version::Http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  for (const http::Field& field : head.fields) {
    EXPECT(ascii::is_token(field.name) && is_inside(field.name, whole));
    EXPECT(http::is_field_value(field.value) && is_inside(field.value, whole));
    EXPECT(field.id == http::find_field(field.name));
    lengths += ascii::equal_folded(field.name, "content-length");
    codings += ascii::equal_folded(field.name, "transfer-encoding");
    hosts += ascii::equal_folded(field.name, "host");
    again.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  again.append("\r\n");
  EXPECT(lengths <= 1 && hosts <= 1 && (lengths == 0 || codings == 0));
  EXPECT(hosts == 1 || head.version == http::Version::Http10);
  EXPECT(whole.framing.is_chunked == (codings > 0) && (whole.framing.content_length == 0 || lengths == 1));
  EXPECT(codings == 0 || head.version == http::Version::Http11);

  // Written again it is the same, under limits that cannot be shorter than it by the white space that has gone.
  Limits wide = limits;
  wide.request_line_bytes_max = wide.field_bytes_max = 1 << 20;
  const auto second = parse(again, wide);
  EXPECT(second->parsed.verdict == h1::Verdict::Done && second->used == again.size());
  EXPECT(second->head.path == head.path && second->head.query == head.query &&
         second->head.authority == head.authority);
  EXPECT(second->head.fields.count() == head.fields.count());
  EXPECT(second->framing.content_length == whole.framing.content_length);
  EXPECT(second->framing.keeps_alive == whole.framing.keeps_alive);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Limits limits;
  if ((data[0] & 1) != 0) {
    limits.request_line_bytes_max = 16 + data[0];
    limits.field_bytes_max = 32 + data[0];
    limits.field_count_max = 3;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = parse(text, limits);
  if (whole->parsed.verdict == h1::Verdict::Done) check_accepted(*whole, limits);
  if (whole->parsed.verdict == h1::Verdict::Bad) EXPECT(whole->parsed.status >= 400 && whole->parsed.status < 600);
  const std::size_t step = text.size() <= 256 ? 1 : text.size() / 64;
  for (std::size_t cut = 0; cut < text.size(); cut += step) check_prefix(text, cut, *whole, limits);
  return 0;
}
