#pragma once

// Head: everything of a message that comes before its body, the same type for both directions and every wire. A request
// uses method, target and what the target was split into; a response uses status. All texts are views, see Fields.

#include "violet/http/fields.h"
#include "violet/http/method.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::http {

enum class Version : std::uint8_t { Http10 = 10, Http11 = 11, Http2 = 20, Http3 = 30 };
// "HTTP/1.1"
[[nodiscard]] constexpr std::string_view name(Version version) noexcept {
  switch (version) {
    case Version::Http10: return "HTTP/1.0";
    case Version::Http11: return "HTTP/1.1";
    case Version::Http2: return "HTTP/2";
    case Version::Http3: return "HTTP/3";
  }
  return "";
}

// The four forms of a request target (RFC 9112 §3.2).
enum class TargetForm : std::uint8_t { Origin, Absolute, Authority, Asterisk };

struct Head {
  Head(Arena& arena, Field* first, std::uint32_t capacity) noexcept : fields(arena, first, capacity) {}
  explicit Head(Arena& arena) noexcept : fields(arena) {}

  Version version = Version::Http11;
  // Of a response; 0 in a request, and until a response's head has arrived.
  std::uint16_t status = 0;

  // Of a request.
  Method method = Method::Get;
  TargetForm form = TargetForm::Origin;
  std::string_view method_text;  // "GET"
  std::string_view target;       // as received: "/a%20b?c=d"
  std::string_view scheme;       // "https": of the target, or of the transport the request came on
  std::string_view authority;    // "example.com:8443": of the target where it has one, otherwise of Host
  std::string_view path;         // not decoded: "/a%20b"; "*" for the asterisk form, "" for the authority form
  std::string_view query;        // not decoded, without the '?'
  std::string_view protocol;     // of an extended CONNECT (RFC 8441 §4)

  Fields fields;

  // The received bytes that texts may lie in; empty when all texts live longer than the head.
  std::string_view raw;

  // Copies `raw` into the fields' arena and moves every text along: the head may then outlive the block it was parsed
  // in. Returns how far the texts moved.
  std::ptrdiff_t pin() {
    if (raw.empty()) return 0;
    const std::string_view from = raw;
    const std::ptrdiff_t distance = fields.arena().copy(from).data() - from.data();
    for (std::string_view* text : {&method_text, &target, &scheme, &authority, &path, &query, &protocol}) {
      move_text(*text, from, distance);
    }
    fields.move_texts(from, distance);
    raw = {};
    return distance;
  }

  // Back to the state after construction; texts and field lines are forgotten.
  void clear() noexcept {
    version = Version::Http11;
    status = 0;
    method = Method::Get;
    form = TargetForm::Origin;
    method_text = target = scheme = authority = path = query = protocol = raw = {};
    fields.clear();
  }
};

}  // namespace violet::http
