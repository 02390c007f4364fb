#include "violet/server/proxy_header.h"

#include "violet/base/ascii.h"

#include <algorithm>

namespace violet {
namespace {

using Verdict = ProxyHeader::Verdict;

constexpr std::string_view kStart1 = "PROXY ";
constexpr std::string_view kStart2("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kLineMax = 107;  // of version 1, CRLF included (§2.1)
constexpr std::size_t kHead2 = 16;     // of version 2: start, version, family, length

// Takes what stands before the next space off `rest`.
std::string_view next_word(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

bool read_address(std::string_view host, std::string_view port, Address::Family family, Address& to) noexcept {
  // Digits only, no sign and no zero in front (§2.1).
  const auto number = ascii::to_number<std::uint16_t>(port);
  if (!number || (port.size() > 1 && port.front() == '0')) return false;
  const auto address = Address::parse(host, *number);
  if (!address || address->family != family) return false;
  to = *address;
  return true;
}

// "TCP4 192.0.2.1 198.51.100.1 56324 443", "UNKNOWN …"
bool read_line(std::string_view line, ProxyHeader& header) noexcept {
  const std::string_view kind = next_word(line);
  if (kind == "UNKNOWN") return true;
  if (kind != "TCP4" && kind != "TCP6") return false;
  const auto family = kind == "TCP4" ? Address::Family::Ipv4 : Address::Family::Ipv6;
  const std::string_view source = next_word(line);
  const std::string_view destination = next_word(line);
  const std::string_view source_port = next_word(line);
  const std::string_view destination_port = line;
  return read_address(source, source_port, family, header.source) &&
         read_address(destination, destination_port, family, header.destination);
}

void parse_line(std::string_view bytes, std::size_t bytes_max, ProxyHeader& header) noexcept {
  const std::size_t most = std::min(kLineMax, bytes_max);
  const std::size_t end = bytes.substr(0, most).find("\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() >= most) header.verdict = Verdict::Bad;
    return;
  }
  const bool is_good = read_line(bytes.substr(kStart1.size(), end - kStart1.size()), header);
  header.verdict = is_good ? Verdict::Done : Verdict::Bad;
  header.size = end + 2;
}

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<unsigned char>(bytes[at]); }

Address binary_address(std::string_view address, std::string_view port, Address::Family family) noexcept {
  Address result;
  result.family = family;
  result.port = static_cast<std::uint16_t>(byte_at(port, 0) << 8 | byte_at(port, 1));
  std::copy(address.begin(), address.end(), result.bytes.begin());
  return result;
}

// Source, destination, and their ports, one after the other.
bool read_binary(std::string_view block, std::size_t size, Address::Family family, ProxyHeader& header) noexcept {
  if (block.size() < 2 * size + 4) return false;
  header.source = binary_address(block.substr(0, size), block.substr(2 * size, 2), family);
  header.destination = binary_address(block.substr(size, size), block.substr(2 * size + 2, 2), family);
  return true;
}

void parse_binary(std::string_view bytes, std::size_t bytes_max, ProxyHeader& header) noexcept {
  if (bytes.size() < kHead2) return;
  const unsigned version = byte_at(bytes, 12) >> 4;
  const unsigned command = byte_at(bytes, 12) & 15;
  const unsigned family = byte_at(bytes, 13) >> 4;
  const unsigned transport = byte_at(bytes, 13) & 15;
  const std::size_t size = kHead2 + (byte_at(bytes, 14) << 8 | byte_at(bytes, 15));
  header.verdict = Verdict::Bad;
  if (version != 2 || command > 1 || family > 3 || transport > 2 || size > bytes_max) return;
  header.verdict = Verdict::More;
  if (bytes.size() < size) return;
  header.size = size;
  header.verdict = Verdict::Done;
  // LOCAL is the balancer itself; its addresses are to be ignored (§2.2).
  if (command == 0) return;
  const std::string_view block = bytes.substr(kHead2, size - kHead2);
  bool is_good = true;
  if (family == 1) is_good = read_binary(block, 4, Address::Family::Ipv4, header);
  if (family == 2) is_good = read_binary(block, 16, Address::Family::Ipv6, header);
  if (!is_good) header.verdict = Verdict::Bad;
}

}  // namespace

ProxyHeader parse_proxy_header(std::string_view bytes, std::size_t bytes_max) noexcept {
  ProxyHeader header;
  const bool is_first = bytes.starts_with(kStart1.substr(0, bytes.size()));
  const bool is_second = bytes.starts_with(kStart2.substr(0, bytes.size()));
  if (!is_first && !is_second) {
    header.verdict = Verdict::Bad;
  } else if (is_first && bytes.size() >= kStart1.size()) {
    parse_line(bytes, bytes_max, header);
  } else if (is_second && bytes.size() >= kStart2.size()) {
    parse_binary(bytes, bytes_max, header);
  }
  if (header.verdict != Verdict::Done) header.source = header.destination = {};
  return header;
}

}  // namespace violet
