#include "violet/tls/certificate/names.h"

#include "violet/base/ascii.h"

#include <algorithm>

namespace violet::tls {
namespace {

constexpr std::size_t kHostBytesMax = 255;  // of a DNS name (RFC 1035 §2.3.4)

}  // namespace

void NameTable::add(std::string_view name, std::size_t index) {
  Entry entry{std::string(name), index};
  for (char& c : entry.name) c = ascii::lower(c);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), entry.name,
                                   [](const Entry& left, const std::string& right) { return left.name < right; });
  if (at == entries_.end() || at->name != entry.name) entries_.insert(at, std::move(entry));
}

const NameTable::Entry* NameTable::find_entry(std::string_view name) const noexcept {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                   [](const Entry& left, std::string_view right) { return left.name < right; });
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

std::optional<std::size_t> NameTable::find(std::string_view host) const noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > kHostBytesMax) return std::nullopt;
  char lower[kHostBytesMax];
  std::transform(host.begin(), host.end(), lower, [](char c) { return ascii::lower(c); });
  const std::string_view name(lower, host.size());
  if (const Entry* entry = find_entry(name)) return entry->index;
  // "*.example" for "a.example": the star takes the place of the first label.
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  lower[dot - 1] = '*';
  if (const Entry* entry = find_entry(name.substr(dot - 1))) return entry->index;
  return std::nullopt;
}

}  // namespace violet::tls
