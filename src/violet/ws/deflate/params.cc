#include "violet/ws/deflate/params.h"

#include "violet/base/ascii.h"

#include <algorithm>

namespace violet::ws {
namespace {

constexpr std::string_view kName = "permessage-deflate";
constexpr int kBitsMax = 15;
constexpr int kOwnBitsMin = 9;

// One member of Sec-WebSocket-Extensions, read strictly: a parameter that is unknown, there twice or has a wrong value
// spoils it (RFC 7692 §7).
struct Member {
  std::string_view name;
  bool is_right = true;
  bool server_no_takeover = false;
  bool client_no_takeover = false;
  int server_bits = 0;  // 0: not there
  int client_bits = 0;
  bool has_client_bits = false;  // perhaps without a value
};

int bits_of(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  if (value.empty() || value.front() == '0') return 0;
  const auto bits = ascii::to_number<int>(value);
  return bits && *bits >= 8 && *bits <= kBitsMax ? *bits : 0;
}

void read_parameter(std::string_view text, Member& member) {
  const std::size_t equals = text.find('=');
  const std::string_view name = ascii::trim(text.substr(0, equals));
  const bool has_value = equals != std::string_view::npos;
  const int bits = has_value ? bits_of(ascii::trim(text.substr(equals + 1))) : 0;
  const auto take_flag = [&](bool& flag) { member.is_right &= !std::exchange(flag, true) && !has_value; };
  if (name == "server_no_context_takeover") {
    take_flag(member.server_no_takeover);
  } else if (name == "client_no_context_takeover") {
    take_flag(member.client_no_takeover);
  } else if (name == "server_max_window_bits") {
    member.is_right &= member.server_bits == 0 && bits != 0;
    member.server_bits = bits;
  } else if (name == "client_max_window_bits") {
    member.is_right &= !std::exchange(member.has_client_bits, true) && (bits != 0 || !has_value);
    member.client_bits = bits;
  } else {
    member.is_right = false;
  }
}

Member read_member(std::string_view text) {
  Member member;
  std::size_t end = text.find(';');
  member.name = ascii::trim(text.substr(0, end));
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find(';');
    read_parameter(ascii::trim(text.substr(0, end)), member);
  }
  return member;
}

int own_bits_wanted(const Compression& wanted) { return std::clamp(wanted.own_window_bits, kOwnBitsMin, kBitsMax); }
int peer_bits_wanted(const Compression& wanted) { return std::clamp(wanted.peer_window_bits, kOwnBitsMin, kBitsMax); }

void add_bits(std::string& text, std::string_view name, int bits) {
  text.append("; ").append(name).append("=").append(std::to_string(bits));
}

// RFC 7692 §7.1: the answer stays within the offer.
bool take_offer(const Member& offer, const Compression& wanted, DeflateParams& params, std::string& answer) {
  const int own_bits =
      offer.server_bits != 0 ? std::min(offer.server_bits, own_bits_wanted(wanted)) : own_bits_wanted(wanted);
  if (own_bits < kOwnBitsMin) return false;
  const int client_bits = offer.client_bits != 0 ? offer.client_bits : kBitsMax;
  const int peer_bits = offer.has_client_bits ? std::min(client_bits, peer_bits_wanted(wanted)) : kBitsMax;
  params.is_on = true;
  params.keeps_own = wanted.keeps_own_context && !offer.server_no_takeover;
  params.keeps_peer = wanted.lets_peer_keep_context && !offer.client_no_takeover;
  params.own_bits = static_cast<std::uint8_t>(own_bits);
  params.peer_bits = static_cast<std::uint8_t>(peer_bits);
  answer = kName;
  if (!params.keeps_own) answer += "; server_no_context_takeover";
  if (!params.keeps_peer) answer += "; client_no_context_takeover";
  if (offer.server_bits != 0 || own_bits < kBitsMax) add_bits(answer, "server_max_window_bits", own_bits);
  if (offer.has_client_bits && peer_bits < kBitsMax) add_bits(answer, "client_max_window_bits", peer_bits);
  return true;
}

// Calls `use` with each member of the field's lines until it answers true.
template <class Use>
bool any_member(const http::Fields& fields, Use use) {
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::SecWebSocketExtensions) continue;
    std::string_view rest = field.value;
    for (std::string_view text = ascii::next_member(rest); !text.empty(); text = ascii::next_member(rest)) {
      if (use(read_member(text))) return true;
    }
  }
  return false;
}

}  // namespace

DeflateParams choose_deflate(const http::Fields& request, const Compression& wanted, std::string& answer) {
  DeflateParams params;
  if (!wanted.is_on) return params;
  any_member(request, [&](const Member& offer) {
    return offer.name == kName && offer.is_right && take_offer(offer, wanted, params, answer);
  });
  return params;
}

std::string deflate_offer(const Compression& wanted) {
  std::string text(kName);
  if (!wanted.lets_peer_keep_context) text += "; server_no_context_takeover";
  if (!wanted.keeps_own_context) text += "; client_no_context_takeover";
  if (peer_bits_wanted(wanted) < kBitsMax) add_bits(text, "server_max_window_bits", peer_bits_wanted(wanted));
  if (own_bits_wanted(wanted) < kBitsMax) {
    add_bits(text, "client_max_window_bits", own_bits_wanted(wanted));
  } else {
    text += "; client_max_window_bits";
  }
  return text;
}

std::optional<DeflateParams> read_deflate_answer(const http::Fields& response, const Compression& wanted) {
  DeflateParams params;
  bool is_right = true;
  any_member(response, [&](const Member& answer) {
    const int own_bits = answer.client_bits != 0 ? answer.client_bits : kBitsMax;
    const int peer_bits = answer.server_bits != 0 ? answer.server_bits : kBitsMax;
    // Only what was offered, once, and each value within the offer (§7.1.2).
    is_right = is_right && !params.is_on && wanted.is_on && answer.name == kName && answer.is_right &&
               answer.has_client_bits == (answer.client_bits != 0) && own_bits >= kOwnBitsMin && own_bits <= kBitsMax &&
               peer_bits <= peer_bits_wanted(wanted) && (answer.server_no_takeover || wanted.lets_peer_keep_context);
    params.is_on = true;
    params.keeps_own = wanted.keeps_own_context && !answer.client_no_takeover;
    params.keeps_peer = !answer.server_no_takeover;
    params.own_bits = static_cast<std::uint8_t>(std::min(own_bits, own_bits_wanted(wanted)));
    params.peer_bits = static_cast<std::uint8_t>(peer_bits);
    return !is_right;
  });
  if (!is_right) return std::nullopt;
  return params;
}

}  // namespace violet::ws
