#include "violet/features/identity/identity.h"

namespace violet {

void set_identity(Exchange& exchange, std::string_view subject, std::string_view scheme, const JwtClaims* claims) {
  auto* note = exchange.note<identity::Note>();
  if (note == nullptr) note = &exchange.add_note<identity::Note>();
  note->subject = exchange.arena().copy(subject);
  note->scheme = exchange.arena().copy(scheme);
  note->claims = claims;
  note->is_known = true;
}

void clear_identity(Exchange& exchange) noexcept {
  if (auto* note = exchange.note<identity::Note>(); note != nullptr) *note = {};
}

void challenge(Exchange& exchange, std::string_view challenge, std::string_view detail, int status) {
  const http::Field field{
      .name = "WWW-Authenticate", .value = exchange.arena().copy(challenge), .id = http::FieldId::WwwAuthenticate};
  exchange.refuse(Error(ErrorKind::Invalid, 0, static_cast<std::uint16_t>(status)), detail, field);
}

Identity Extract<Identity>::from(Fetch& fetch) noexcept {
  static constexpr identity::Note kNobody;
  if (const auto* note = identity::find(fetch.exchange()); note != nullptr) return Identity(*note);
  fetch.refuse(Error(ErrorKind::Invalid, 0, 401), "authentication is needed");
  return Identity(kNobody);
}

}  // namespace violet
