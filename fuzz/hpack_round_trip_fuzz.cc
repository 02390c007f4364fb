// hpack::Encoder into hpack::Decoder: what comes out is what went in, and both tables are one. The input says which
// lines there are, which of them come again, and how the peer's table size changes.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "tests/hpack/blocks.h"
#include "violet/base/ascii.h"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace violet;

struct Line {
  bool is_pseudo = false;
  hpack::Pseudo which{};
  http::FieldId id{};
  std::string name;
  std::string value;
  bool is_sensitive = false;

  [[nodiscard]] std::string text() const {
    std::string lower(is_pseudo ? hpack::name(which) : name);
    for (char& c : lower) c = ascii::lower(c);
    return lower + ": " + value;
  }
};

// A text of `wanted` characters out of whatever the input has.
std::string clean(std::string_view text, std::uint8_t wanted, char instead) {
  std::string result(text);
  for (char& c : result) {
    if (!ascii::is(c, wanted)) c = instead;
  }
  if (!result.empty() && (result.front() == ' ' || result.front() == '\t')) result.front() = instead;
  if (!result.empty() && (result.back() == ' ' || result.back() == '\t')) result.back() = instead;
  return result;
}

Line make_line(fuzz::Input& input) {
  Line line;
  const std::uint8_t kind = input.byte();
  line.is_sensitive = (kind & 0x1f) == 0x1f;
  if (kind < 0x40) {
    line.is_pseudo = true;
    line.which = static_cast<hpack::Pseudo>(kind % hpack::kPseudoCount);
  } else if (kind < 0xc0) {
    line.id = static_cast<http::FieldId>(1 + kind % (http::kFieldIdCount - 1));
    line.name = http::name(line.id);
  } else {
    line.name = clean(input.text(kind == 0xc0 ? 300 : kind & 0xf), ascii::kToken, 'X') + "-";
    line.id = http::find_field(line.name);
  }
  line.value = clean(input.sized_text(), ascii::kFieldValue, 'v');
  return line;
}

std::string encode(hpack::Encoder& encoder, const std::vector<const Line*>& lines) {
  std::size_t room = hpack::Encoder::kBeginBytesMax;
  for (const Line* line : lines) room += hpack::Encoder::bound(line->text().size(), 0);
  const auto out = std::make_unique<char[]>(room);
  char* p = encoder.begin(out.get());
  for (const Line* line : lines) {
    p = line->is_pseudo
            ? encoder.pseudo(p, line->which, line->value, line->is_sensitive)
            : encoder.field(
                  p, {.name = line->name, .value = line->value, .id = line->id, .is_sensitive = line->is_sensitive});
  }
  EXPECT(static_cast<std::size_t>(p - out.get()) <= room);
  return std::string(out.get(), p);
}

// The lines in the order in which a section lists them.
std::vector<std::string> expected(const std::vector<const Line*>& lines) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
    for (const Line* line : lines) {
      if (line->is_pseudo && line->which == static_cast<hpack::Pseudo>(i)) texts.push_back(line->text());
    }
  }
  for (const Line* line : lines) {
    if (!line->is_pseudo) texts.push_back(line->text());
  }
  return texts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  hpack::Encoder encoder;
  hpack::Decoder decoder;
  std::vector<Line> known;
  while (!input.is_empty()) {
    const std::uint8_t control = input.byte();
    for (int i = control >> 6; i >= 2 && i <= 3; ++i) {
      const std::uint32_t bytes = input.byte() * 17u;
      encoder.set_peer_table_bytes_max(bytes);
      decoder.set_table_bytes_max(bytes);
    }
    if ((control & 0x20) != 0 || known.empty()) known.push_back(make_line(input));
    // Which of the lines this head has: a window over all of them.
    std::vector<const Line*> lines;
    std::uint8_t seen = 0;
    for (std::size_t i = 0; i < (control & 7); ++i) {
      const Line& line = known[(known.size() - 1 + i * (control >> 3 & 3)) % known.size()];
      const std::uint8_t bit = line.is_pseudo ? hpack::Section::bit(line.which) : std::uint8_t{0};
      if ((seen & bit) != 0) continue;
      seen |= bit;
      lines.push_back(&line);
    }
    const std::string block = encode(encoder, lines);
    const test::Decoded decoded = test::decode(decoder, block);
    EXPECT(decoded.verdict == hpack::Verdict::Done);
    EXPECT((decoded.section.flaws & ~hpack::Section::kLatePseudo) == 0);
    const std::vector<std::string> texts = decoded.lines();
    constexpr std::string_view kNever = " (never)";
    const std::vector<std::string> wanted = expected(lines);
    EXPECT(texts.size() == wanted.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT(texts[i] == wanted[i] || texts[i] == wanted[i] + std::string(kNever));
    }
    for (const Line* line : lines) {
      if (!line->is_sensitive) continue;
      bool is_kept = false;
      for (const std::string& text : texts) is_kept |= text == line->text() + std::string(kNever);
      EXPECT(is_kept);
    }
    EXPECT(encoder.table().size() == decoder.table().size() && encoder.table().count() == decoder.table().count());
  }
  return 0;
}
