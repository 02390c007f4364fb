#include "violet/features/identity/http/basic.h"

#include "violet/features/identity/secret.h"

namespace violet {

Accounts::Accounts(std::initializer_list<std::pair<std::string_view, std::string_view>> accounts) {
  for (const auto& [name, password] : accounts)
    accounts_.push_back({identity::sha256(name), identity::sha256(password)});
}

// All of them, whichever it is.
bool Accounts::operator()(std::string_view name, std::string_view password) const {
  const std::string given_name = identity::sha256(name);
  const std::string given_password = identity::sha256(password);
  unsigned is_right = 0;
  for (const Account& account : accounts_) {
    const unsigned is_name = equal_secrets(account.name, given_name) ? 1 : 0;
    const unsigned is_password = equal_secrets(account.password, given_password) ? 1 : 0;
    is_right |= is_name & is_password;
  }
  return is_right != 0;
}

namespace identity {

std::string basic_challenge(std::string_view realm) { return "Basic realm=" + quoted(realm) + ", charset=\"UTF-8\""; }

bool read_basic(Exchange& exchange, std::string_view realm, NameAndPassword& out) {
  std::string_view token;
  const Found found = find_credentials(exchange.request().fields, "Basic", token);
  if (found == Found::Good && read_basic(token, out)) return true;
  challenge(exchange, basic_challenge(realm),
            found == Found::None ? "authentication is needed" : "the credentials are malformed");
  return false;
}

Verdict end_basic(Exchange& exchange, std::string_view realm, std::string_view name, bool is_right) {
  if (exchange.is_answered()) return Verdict::Answered;
  if (!is_right) {
    challenge(exchange, basic_challenge(realm), "the name or the password is wrong");
    return Verdict::Answered;
  }
  set_identity(exchange, name, "basic");
  return Verdict::Continue;
}

}  // namespace identity
}  // namespace violet
