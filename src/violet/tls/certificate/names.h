#pragma once

// NameTable: which of several certificates is for the name that a client asks for (SNI, RFC 6066 §3). Exact names
// first, then wildcards, which stand for one label (RFC 6125 §6.4.3). Made once, asked at each handshake without an
// allocation.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace violet::tls {

class NameTable {
 public:
  // "a.example" or "*.a.example", of the certificate `index`. The first one of a name stays.
  void add(std::string_view name, std::size_t index);
  // Upper and lower case are the same, and so is a dot at the end.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view host) const noexcept;

 private:
  struct Entry {
    std::string name;  // in lower case, a wildcard with its '*'
    std::size_t index;
  };
  [[nodiscard]] const Entry* find_entry(std::string_view name) const noexcept;

  std::vector<Entry> entries_;  // sorted by name
};

}  // namespace violet::tls
