#pragma once

// basic_auth: names and passwords as HTTP itself asks for them (RFC 7617). To be used over TLS.
//
//   app.use(basic_auth("staff", Accounts{{"ada", "secret"}, {"bea", "other"}}));
//   app.use(basic_auth("staff", [](std::string_view name, std::string_view password) { return … ; }));
//   app.use(basic_auth("staff", [](std::string name, std::string password) -> Task<bool> {     // a slow hash
//     Result<bool> is_right = co_await offload(verify, name, password);
//     co_return is_right && *is_right;
//   }));
//
// Without credentials, and with wrong ones, the answer is 401 with a challenge. Compare passwords by equal_secrets(),
// or by the function of your password hash, and do as much for names that do not exist: Accounts does.

#include "violet/event/task.h"
#include "violet/features/identity/http/credentials.h"
#include "violet/features/identity/identity.h"
#include "violet/web/middleware.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace violet {

// Fixed names and passwords, kept as digests.
class Accounts {
 public:
  Accounts(std::initializer_list<std::pair<std::string_view, std::string_view>> accounts);
  [[nodiscard]] bool operator()(std::string_view name, std::string_view password) const;

 private:
  struct Account {
    std::string name;  // digests
    std::string password;
  };
  std::vector<Account> accounts_;
};

namespace identity {

[[nodiscard]] std::string basic_challenge(std::string_view realm);
// False: it has answered.
bool read_basic(Exchange& exchange, std::string_view realm, NameAndPassword& out);
Verdict end_basic(Exchange& exchange, std::string_view realm, std::string_view name, bool is_right);

}  // namespace identity

template <class Check>
class BasicAuth {
  using Answer = std::invoke_result_t<const Check&, std::string, std::string>;
  static_assert(std::is_same_v<Answer, bool> || std::is_same_v<Answer, Task<bool>>,
                "violet: basic_auth() takes a function of name and password that returns bool or Task<bool>");

 public:
  static constexpr std::string_view security = "basic";

  BasicAuth(std::string realm, Check check) : realm_(std::move(realm)), check_(std::move(check)) {}

  [[nodiscard]] std::string challenge() const { return identity::basic_challenge(realm_); }

  auto on_request(Exchange& exchange) const {
    if constexpr (std::is_same_v<Answer, bool>) {
      identity::NameAndPassword given;
      if (!identity::read_basic(exchange, realm_, given)) return Verdict::Answered;
      return identity::end_basic(exchange, realm_, given.name, check_(given.name, given.password));
    } else {
      return wait(exchange);
    }
  }

 private:
  Task<Verdict> wait(Exchange& exchange) const {
    identity::NameAndPassword given;
    if (!identity::read_basic(exchange, realm_, given)) co_return Verdict::Answered;
    const bool is_right = co_await check_(given.name, given.password);
    co_return identity::end_basic(exchange, realm_, given.name, is_right);
  }

  std::string realm_;
  Check check_;
};

template <class Check>
BasicAuth<Check> basic_auth(std::string realm, Check check) {
  return BasicAuth<Check>(std::move(realm), std::move(check));
}

}  // namespace violet
