// features/forwarded/hops.h: Forwarded and the X-Forwarded fields. A newline in the input stands between two lines.
// Whatever a client has sent, the line that a proxy adds behind it is read as it stands.

#include "fuzz/expect.h"
#include "violet/features/forwarded/hops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace {

using namespace violet;

using Texts = std::span<const std::string_view>;

constexpr http::FieldId kX[] = {http::FieldId::XForwardedFor, http::FieldId::XForwardedProto,
                                http::FieldId::XForwardedHost};

void add_lines(http::Fields& fields, std::string_view text) {
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    fields.push(http::FieldId::Forwarded, text.substr(0, end));
    fields.push(kX[i % std::size(kX)], text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool is_tail(Texts tail, Texts all) {
  return tail.size() <= all.size() && std::ranges::equal(tail, all.last(tail.size()));
}

void check_tails(forwarded::Hops (*read)(const http::Fields&, Arena&, std::size_t), const http::Fields& fields) {
  Arena arena;
  const forwarded::Hops all = read(fields, arena, 10'000);
  for (const std::size_t max : {0, 1, 3}) {
    const forwarded::Hops some = read(fields, arena, max);
    EXPECT(some.nodes.size() == std::min(max, all.nodes.size()));
    EXPECT(is_tail(some.nodes, all.nodes) && is_tail(some.protos, all.protos) && is_tail(some.hosts, all.hosts));
  }
  for (const std::string_view node : all.nodes) {
    const auto address = forwarded::address_of(node);
    if (!address) continue;
    const auto again = forwarded::address_of(address->to_string());
    EXPECT(again && *again == *address);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Arena arena;
  http::Fields fields(arena);
  add_lines(fields, {reinterpret_cast<const char*>(data), size});
  check_tails(forwarded::read_forwarded, fields);
  check_tails(forwarded::read_x_forwarded, fields);

  fields.push(http::FieldId::Forwarded, "for=\"192.0.2.99:1\";proto=https");
  fields.push(http::FieldId::XForwardedFor, "192.0.2.99");
  const forwarded::Hops hops = forwarded::read_forwarded(fields, arena, 32);
  EXPECT(!hops.nodes.empty() && hops.nodes.back() == "192.0.2.99:1" && hops.protos.back() == "https");
  EXPECT(forwarded::read_x_forwarded(fields, arena, 32).nodes.back() == "192.0.2.99");
  return 0;
}
