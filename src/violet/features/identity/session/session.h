#pragma once

// Sessions: what a server remembers of a browser between requests, behind a cookie that says nothing by itself.
//
//   app.use(sessions());
//   app.post("/login", [](Form<Login> form, BrowserSession session) -> std::optional<Redirect> {
//     if (!is_right(*form)) return {};
//     session.login(form->name);                       // a new id; Identity is who that says from now on
//     return Redirect("/");
//   });
//   app.get("/", [](BrowserSession session) { return std::string(session.get("color").value_or("none")); });
//   app.post("/logout", [](BrowserSession session) { session.destroy(); });
//
// Ids have 128 bits of the system's generator. The cookie is HttpOnly and SameSite=Lax; over TLS it is Secure and its
// name has the prefix __Host-. It is set only by an answer whose handler has changed something, so visitors who only
// look get none. What is changed counts when the answer's head leaves, unless that is a 5xx; nothing that a generator
// changes later does. See session/store.h for requests at the same time.

#include "violet/features/identity/identity.h"
#include "violet/features/identity/session/store.h"
#include "violet/web/middleware.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace violet {

struct SessionOptions {
  std::shared_ptr<SessionStore> store = {};  // nothing: a MemorySessions of its own
  std::string cookie = "session";
  std::int64_t idle_seconds = 30 * 60;
  std::int64_t age_seconds_max = 12 * 60 * 60;
  std::size_t bytes_max = 16 * 1024;  // of names and values, but not of the library's own
};

namespace identity {

// A session during one request; all of it in the exchange's arena.
class SessionNote {
 public:
  explicit SessionNote(Arena& arena, std::size_t bytes_max) noexcept : arena_(arena), bytes_max_(bytes_max) {}

  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept;
  // False: there is no room. The library's own names, which begin with '$', have it always.
  bool set(std::string_view name, std::optional<std::string_view> value);
  // As the store has it, whatever its size.
  void load(std::string_view name, std::string_view value);
  // Nothing of what is stored counts any more, and nothing of what was changed.
  void clear() noexcept;

  std::string_view key;           // of what is stored, "" where nothing is
  const void* options = nullptr;  // whose sessions() it is
  std::int64_t created = 0;
  bool is_changed = false;
  bool is_renewed = false;
  bool is_login = false;
  bool is_new_user = false;  // there was none before the login
  bool is_cleared = false;
  bool is_destroyed = false;
  bool is_committed = false;

 private:
  friend class SessionCommit;
  struct Value {
    Value* next;
    std::string_view name;
    std::optional<std::string_view> value;  // nothing: taken away
    bool is_changed;
  };
  Value& place_of(std::string_view name);

  Arena& arena_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Value* values_ = nullptr;
};

}  // namespace identity

class BrowserSession {
 public:
  BrowserSession(Exchange& exchange, identity::SessionNote& note) noexcept : exchange_(&exchange), note_(&note) {}

  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept;
  // False: there is no room, or it was destroyed. Names that begin with '$' are the library's own.
  bool set(std::string_view name, std::string_view value);
  void remove(std::string_view name);

  // Who is logged in; "" for nobody.
  [[nodiscard]] std::string_view subject() const noexcept;
  // From now on it is this user's, under a new id: one that somebody else has planted is worth nothing. What it held
  // for nobody or for the same user is kept; what it held for another one, or before destroy(), is gone. Never fails.
  void login(std::string_view subject);
  // A new id for the same values, for any other change of rights.
  void regenerate() noexcept;
  // Logs out: everything is forgotten at once, and so is the cookie. Only login() begins a session again.
  void destroy() noexcept;

  // For a hidden field "csrf" of a form (CsrfForm<T>), or a field X-CSRF-Token: another text each time, so that its
  // length in compressed pages says nothing (BREACH).
  [[nodiscard]] std::string csrf_token();
  [[nodiscard]] bool is_csrf_token(std::string_view token) const;

 private:
  Exchange* exchange_;
  identity::SessionNote* note_;
};

class Sessions {
 public:
  explicit Sessions(SessionOptions options);

  Verdict on_request(Exchange& exchange) const;
  Task<Verdict> on_wait(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;
  // A cookie is no scheme that HTTP has registered; this name says to clients what they need.
  [[nodiscard]] std::string challenge() const;
  // For the log, when several processes serve and each would have a store of its own.
  [[nodiscard]] std::string_view process_note() const noexcept;

 private:
  std::shared_ptr<const SessionOptions> options_;
};
// Used twice before one route, the outer one counts.
[[nodiscard]] inline Sessions sessions(SessionOptions options = {}) { return Sessions(std::move(options)); }

template <>
struct Extract<BrowserSession> : Extractor {
  static BrowserSession from(Fetch& fetch);
};

}  // namespace violet
