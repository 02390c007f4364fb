#include "violet/features/identity/identity.h"

#include "violet/web/middleware.h"

#include <string>
#include <utility>

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

namespace {

http::Field challenge_field(std::string_view value) noexcept {
  return {.name = "WWW-Authenticate", .value = value, .id = http::FieldId::WwwAuthenticate};
}

}  // namespace

void challenge(Exchange& exchange, std::string_view challenge, std::string_view detail, int status) {
  const http::Field field = challenge_field(exchange.arena().copy(challenge));
  exchange.refuse(Error(ErrorKind::Invalid, 0, static_cast<std::uint16_t>(status)), detail, field);
}

// Once for each handler: the challenges of what stands before it.
void Extract<Identity>::bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t) {
  std::string all;
  for (const web::Middleware* middleware : binding.before) {
    if (middleware->challenge.empty()) continue;
    if (!all.empty()) all += ", ";
    all += middleware->challenge;
  }
  if (all.empty()) return;
  auto* text = new std::string(std::move(all));
  binding.kept.add(text, text, [](void* object) noexcept { delete static_cast<std::string*>(object); });
  slot.object = text;
}

Identity Extract<Identity>::from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
  static constexpr identity::Note kNobody;
  Exchange& exchange = fetch.exchange();
  if (const auto* note = identity::find(exchange); note != nullptr) return Identity(*note);
  if (const auto* challenges = static_cast<const std::string*>(slot.object); challenges != nullptr) {
    fetch.refuse(Error(ErrorKind::Invalid, 0, 401), "authentication is needed",
                 exchange.arena().make<http::Field>(challenge_field(*challenges)));
  } else {
    fetch.refuse(Error(ErrorKind::Invalid, 0, 403), "nothing here can tell who asks");
  }
  return Identity(kNobody);
}

}  // namespace violet
