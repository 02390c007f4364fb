#include "violet/features/log/request_id.h"

#include "violet/base/ascii.h"
#include "violet/event/loop.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sys/random.h>

namespace violet {
namespace {

using http::FieldId;

constexpr std::size_t kIdBytes = 32;
constexpr std::size_t kAcceptedMax = 128;

// Random numbers for names: none repeats and none is foreseen by chance; they guard no secret. xoroshiro128+, one for
// each loop, begun with what the system gives.
class Names {
 public:
  explicit Names(Loop&) {
    std::uint64_t seed[2] = {};
    if (::getrandom(seed, sizeof seed, 0) != sizeof seed) seed[0] = Loop::clock_us();
    first_ = seed[0] | 1;
    second_ = seed[1];
  }

  std::uint64_t next() noexcept {
    const std::uint64_t result = first_ + second_;
    const std::uint64_t mixed = second_ ^ first_;
    first_ = std::rotl(first_, 24) ^ mixed ^ (mixed << 16);
    second_ = std::rotl(mixed, 37);
    return result;
  }

 private:
  std::uint64_t first_;
  std::uint64_t second_;
};

void write_hex(std::uint64_t number, char* out) noexcept {
  for (int i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[number >> (60 - i * 4) & 15];
}

std::string_view make_id(Exchange& exchange) {
  auto& names = exchange.loop().local<Names>();
  char* const text = exchange.arena().array<char>(kIdBytes);
  write_hex(names.next(), text);
  write_hex(names.next(), text + 16);
  return {text, kIdBytes};
}

// What UUIDs, ULIDs, trace ids and base64 are made of: nothing that a log, a shell or a page would take for more.
bool is_sane(std::string_view id) noexcept {
  if (id.empty() || id.size() > kAcceptedMax) return false;
  return std::ranges::all_of(id, [](char c) {
    return ascii::is(c, ascii::kDigit) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_.:=+/@").find(c) != std::string_view::npos;
  });
}

}  // namespace

void NameRequests::on_request(Exchange& exchange) const {
  if (!exchange.request_id.empty()) return;
  http::Fields& fields = exchange.request().fields;
  const std::string_view came = fields.get(FieldId::XRequestId);
  const auto is_id = [](const http::Field& field) { return field.id == FieldId::XRequestId; };
  const auto line_count = std::ranges::count_if(fields, is_id);
  const bool is_taken = options_.accept && is_sane(came);
  exchange.request_id = is_taken ? exchange.arena().copy(came) : make_id(exchange);
  if (is_taken && line_count == 1) return;
  // Whoever reads the field next must not find another one than was looked at.
  if (line_count > 0) fields.remove(FieldId::XRequestId);
  fields.push(FieldId::XRequestId, exchange.request_id);
}

void NameRequests::on_reply(Exchange& exchange, http::Head& head, Body&) const {
  if (!head.fields.has(FieldId::XRequestId)) head.fields.push(FieldId::XRequestId, exchange.request_id);
}

}  // namespace violet
