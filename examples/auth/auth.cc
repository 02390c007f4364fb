// Who may do what: a page behind a login with a session, and an API behind tokens that this program signs.
//
//   auth [URL]                                                     http://127.0.0.1:8080; log in as ada, "secret"
//   curl -u ada:secret -X POST http://127.0.0.1:8080/token          a token
//   curl -H "Authorization: Bearer …" http://127.0.0.1:8080/api/me  you are ada

#include <violet/features/identity/secret.h>
#include <violet/violet.h>

#include <chrono>
#include <string>

using namespace violet;

namespace {

struct Login {
  std::string name;
  std::string password;
};
struct Claims {
  std::string sub;
  std::int64_t exp;
  std::string scope = "read";
};

const Accounts& accounts() {
  static const Accounts known{{"ada", "secret"}, {"bea", "hidden"}};
  return known;
}

// Subjects are names of accounts(); what users may choose has to be escaped.
Reply page(BrowserSession session, MaybeIdentity who) {
  const std::string field = "<input type=hidden name=csrf value=" + session.csrf_token() + ">";
  const std::string login = "<input name=name> <input name=password type=password> <button>Log in</button>";
  const std::string text =
      who ? "<p>Hello " + std::string((*who).subject()) + "<form method=post action=/logout><button>Log out</button>"
          : "<form method=post action=/login>" + field + login;
  return Reply("<!doctype html><title>Auth</title>" + text + "</form>").content_type("text/html; charset=utf-8");
}

// A secret that ends with the program: tokens and all.
JwtKey new_key() { return JwtKey::hmac(JwtAlgorithm::HS256, identity::random_bytes(32).value()).value(); }

}  // namespace

int main(int argc, char** argv) {
  const JwtKey key = new_key();
  App app;
  app.use(sessions(), csrf());
  app.get("/", page);
  app.post("/login", [](CsrfForm<Login> form, BrowserSession session) -> std::expected<Redirect, Status> {
    if (!accounts()(form->name, form->password)) return std::unexpected(Status::Unauthorized);
    session.login(form->name);
    return Redirect("/");
  });
  app.post("/logout", [](BrowserSession session) {
    session.destroy();
    return Redirect("/");
  });

  Group tokens = app.group("/token");
  tokens.use(basic_auth("tokens", accounts()));
  tokens.post("", [key](Identity who) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return sign_jwt(key, Claims{std::string(who.subject()), now / std::chrono::seconds(1) + 600});
  });

  Group api = app.group("/api");
  api.use(bearer_auth("api", JwtVerifier(key)), require_scope("read"));
  api.get("/me", [](Identity who) { return "you are " + std::string(who.subject()); });
  return app.listen(argc > 1 ? argv[1] : "http://127.0.0.1:8080").run();
}
