// hpack::Decoder on whatever bytes: a sequence of settings, budgets and blocks.
//
// What must hold: no more is handed out than the budget allows, and no more memory taken than the block explains; what
// is handed out without a flaw is valid when it is looked at with other eyes; a budget changes what is handed out and
// never the table; what is broken stays so.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "tests/hpack/blocks.h"
#include "violet/base/ascii.h"

#include <cstdint>

namespace {

using namespace violet;
using hpack::Verdict;

void check_section(const hpack::Section& section, const hpack::Budget& budget) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
    const auto which = static_cast<hpack::Pseudo>(i);
    if (!section.has(which)) {
      EXPECT(section.get(which).empty());
      continue;
    }
    bytes += 32 + hpack::name(which).size() + section.get(which).size();
    EXPECT(http::is_field_value(section.get(which)) || (section.flaws & hpack::Section::kBadValue) != 0);
  }
  for (const http::Field& field : section.fields) {
    bytes += 32 + field.name.size() + field.value.size();
    EXPECT(section.has(field.id));
    EXPECT(http::is_field_value(field.value) || (section.flaws & hpack::Section::kBadValue) != 0);
    if ((section.flaws & hpack::Section::kBadName) == 0) {
      EXPECT(ascii::is_token(field.name) && field.id == http::find_field(field.name));
    }
    if (field.id != http::FieldId::Other) EXPECT(field.name == http::name(field.id));
  }
  EXPECT(bytes <= budget.bytes_max && section.fields.count() <= budget.count_max);
}

void check_tables(const hpack::DynamicTable& a, const hpack::DynamicTable& b) {
  EXPECT(a.count() == b.count() && a.size() == b.size() && a.capacity() == b.capacity());
  EXPECT(a.size() <= a.capacity());
  for (std::uint32_t age = 0; age < a.count(); ++age) {
    EXPECT(a.value(a.at(age)) == b.value(b.at(age)) && a.at(age).key == b.at(age).key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  hpack::Decoder decoder;
  hpack::Decoder generous;
  while (!input.is_empty()) {
    const std::uint8_t control = input.byte();
    if ((control & 3) == 3) {
      const std::uint32_t bytes = input.byte() * 257u;
      decoder.set_table_bytes_max(bytes);
      generous.set_table_bytes_max(bytes);
    }
    const hpack::Budget budget = (control & 4) != 0 ? hpack::Budget{.bytes_max = control, .count_max = control / 32u}
                                                    : hpack::Budget{.bytes_max = 32'768, .count_max = 100};
    const std::string_view block = input.sized_text();
    // Up to three times, so that it is recognised.
    for (int i = 0; i <= (control >> 3 & 3); ++i) {
      const test::Decoded decoded = test::decode(decoder, block, budget);
      const test::Decoded all = test::decode(generous, block, {.bytes_max = 1u << 30, .count_max = 1u << 30});
      EXPECT((decoded.verdict == Verdict::Broken) == (all.verdict == Verdict::Broken));
      EXPECT(all.verdict == Verdict::Broken || all.verdict == Verdict::Done);
      if (decoded.verdict == Verdict::Broken) {
        EXPECT(test::decode(decoder, "\x82").verdict == Verdict::Broken);
        return 0;
      }
      EXPECT(decoded.section.flaws == (decoded.section.flaws & all.section.flaws));
      if (decoded.verdict == Verdict::Done) EXPECT(decoded.lines() == all.lines());
      check_section(decoded.section, budget);
      check_tables(decoder.table(), generous.table());
      EXPECT(decoded.arena->heap_bytes() <= 4 * (budget.bytes_max + 2 * block.size()) + 64 * 1024);
    }
  }
  return 0;
}
