#include "violet/features/identity/session/session.h"

#include "violet/base/ascii.h"
#include "violet/base/check.h"
#include "violet/base/log.h"
#include "violet/features/identity/http/credentials.h"
#include "violet/features/identity/secret.h"
#include "violet/web/output/cookie.h"

namespace violet {
namespace identity {
namespace {

constexpr std::string_view kSubject = SessionStore::kSubject;
constexpr std::string_view kCsrf = "$csrf";
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kIdCharacters = 22;  // of base64url
constexpr std::size_t kCsrfBytes = 32;

std::string cookie_name(const Exchange& exchange, const SessionOptions& options) {
  return (exchange.is_secure() ? "__Host-" : "") + options.cookie;
}

// Without a generator there is no session that could be trusted.
std::string new_secret(std::size_t count) {
  const Result<std::string> bytes = random_bytes(count);
  VIOLET_CHECK(bytes.has_value());
  return base64url(*bytes);
}

std::string masked(std::string_view secret, std::string_view mask) {
  std::string text(mask);
  for (std::size_t i = 0; i < secret.size(); ++i) {
    text += static_cast<char>(static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(mask[i]));
  }
  return text;
}

}  // namespace

std::optional<std::string_view> SessionNote::get(std::string_view name) const noexcept {
  for (const Value* at = values_; at != nullptr; at = at->next) {
    if (at->name == name) return at->value;
  }
  return std::nullopt;
}

SessionNote::Value& SessionNote::place_of(std::string_view name) {
  for (Value* at = values_; at != nullptr; at = at->next) {
    if (at->name == name) return *at;
  }
  values_ = ::new (arena_.allocate(sizeof(Value), alignof(Value))) Value{values_, arena_.copy(name), {}, false};
  return *values_;
}

bool SessionNote::set(std::string_view name, std::optional<std::string_view> value) {
  if (!name.starts_with('$')) {
    const auto old = get(name);
    const std::size_t rest = bytes_ - (old ? name.size() + old->size() : 0);
    const std::size_t size = value ? name.size() + value->size() : 0;
    if (size != 0 && rest + size > bytes_max_) return false;
    bytes_ = rest + size;
  }
  Value& place = place_of(name);
  place.value = value ? std::optional<std::string_view>(arena_.copy(*value)) : std::nullopt;
  place.is_changed = true;
  is_changed = true;
  return true;
}

void SessionNote::load(std::string_view name, std::string_view value) {
  place_of(name).value = arena_.copy(value);
  if (!name.starts_with('$')) bytes_ += name.size() + value.size();
}

void SessionNote::clear() noexcept {
  values_ = nullptr;
  bytes_ = 0;
  is_cleared = true;
}

namespace {

// Whether no cache that serves several users may keep the answer.
bool is_private(const http::Fields& fields) {
  bool has_said = false;
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::CacheControl) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view one = ascii::trim(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      if (ascii::equal_folded(one, "public") || ascii::equal_folded(one.substr(0, 8), "s-maxage")) return false;
      has_said |= ascii::equal_folded(one, "private") || ascii::equal_folded(one, "no-store");
    }
  }
  return has_said;
}

}  // namespace

// What an answer does to the store and to the client's cookie.
class SessionCommit {
 public:
  SessionCommit(Exchange& exchange, const SessionOptions& options, SessionNote& note) noexcept
      : exchange_(exchange), options_(options), note_(note) {}

  void run(http::Head& head) {
    const std::string key(note_.key);
    if (note_.is_destroyed) {
      if (key.empty()) return;
      options_.store->remove(key);
      Cookie cookie = Cookie::removal(cookie_name(exchange_, options_));
      return send(head, cookie);
    }
    if (!note_.is_changed && !note_.is_renewed) return;
    if (key.empty()) {
      if (note_.is_changed) create(head);
    } else if (note_.is_cleared) {
      options_.store->remove(key);
      create(head);
    } else if (!note_.is_renewed) {
      options_.store->change(key, changes(), options_.bytes_max);
    } else {
      renew(key, head);
    }
  }

 private:
  void renew(const std::string& key, http::Head& head) {
    const std::string id = new_secret(kIdBytes);
    SessionStore::Renewal renewal;
    renewal.key = sha256(id);
    renewal.changes = changes();
    renewal.created = note_.created != 0 ? note_.created : now();
    renewal.is_new_user = note_.is_new_user;
    if (options_.store->renew(key, std::move(renewal), options_.bytes_max)) return send_id(head, id);
    // It has ended meanwhile, and only a login begins another one; or another request has renewed it.
    if (note_.is_login) return create(head);
    options_.store->change(key, changes(), options_.bytes_max);
  }
  // Of what this request has written, and nothing that it has found.
  void create(http::Head& head) {
    const std::string id = new_secret(kIdBytes);
    SessionStore::Record record;
    for (const auto* at = note_.values_; at != nullptr; at = at->next) {
      if (at->value && at->is_changed) record.values.emplace_back(at->name, *at->value);
    }
    record.created = record.used = now();
    options_.store->create(sha256(id), std::move(record));
    send_id(head, id);
  }
  void send_id(http::Head& head, const std::string& id) {
    Cookie cookie;
    cookie.name = cookie_name(exchange_, options_);
    cookie.value = id;
    send(head, cookie);
  }
  [[nodiscard]] std::int64_t now() const noexcept { return exchange_.loop().wall_seconds(); }
  [[nodiscard]] std::vector<SessionStore::Change> changes() const {
    std::vector<SessionStore::Change> all;
    for (const auto* at = note_.values_; at != nullptr; at = at->next) {
      if (!at->is_changed) continue;
      all.push_back({std::string(at->name), at->value ? std::optional<std::string>(*at->value) : std::nullopt});
    }
    return all;
  }
  void send(http::Head& head, Cookie& cookie) {
    cookie.secure = exchange_.is_secure();
    const Result<std::string> field = cookie.to_field();
    if (!field) return log(LogLevel::Error, "the name of the session's cookie cannot be one: " + cookie.name);
    head.fields.push(http::FieldId::SetCookie, exchange_.arena().copy(*field));
    // Nobody else may be given this answer, and with it the session.
    if (is_private(head.fields)) return;
    head.fields.remove(http::FieldId::CacheControl);
    head.fields.remove("CDN-Cache-Control");  // would count before it (RFC 9213 §2.2)
    head.fields.push(http::FieldId::CacheControl, "no-store");
  }

  Exchange& exchange_;
  const SessionOptions& options_;
  SessionNote& note_;
};

}  // namespace identity

using identity::SessionNote;

std::optional<std::string_view> BrowserSession::get(std::string_view name) const noexcept { return note_->get(name); }
bool BrowserSession::set(std::string_view name, std::string_view value) {
  return !name.starts_with('$') && !note_->is_destroyed && note_->set(name, value);
}
void BrowserSession::remove(std::string_view name) {
  if (!name.starts_with('$') && !note_->is_destroyed) note_->set(name, std::nullopt);
}
std::string_view BrowserSession::subject() const noexcept { return note_->get(identity::kSubject).value_or(""); }

void BrowserSession::login(std::string_view subject) {
  const auto before = note_->get(identity::kSubject);
  if (before && *before != subject) note_->clear();
  note_->is_destroyed = false;
  note_->is_renewed = true;
  note_->is_login = true;
  note_->is_new_user |= !before;
  note_->created = 0;
  note_->set(identity::kCsrf, std::nullopt);
  note_->set(identity::kSubject, subject);
  set_identity(*exchange_, subject, "session");
}

void BrowserSession::regenerate() noexcept { note_->is_renewed = true; }

void BrowserSession::destroy() noexcept {
  note_->clear();
  note_->is_destroyed = true;
  const auto* who = identity::find(*exchange_);
  if (who != nullptr && who->scheme == "session") clear_identity(*exchange_);
}

std::string BrowserSession::csrf_token() {
  std::string secret;
  if (const auto known = note_->get(identity::kCsrf)) {
    secret = *known;
  } else {
    secret = identity::new_secret(identity::kCsrfBytes);
    if (!note_->is_destroyed) note_->set(identity::kCsrf, secret);
  }
  const Result<std::string> mask = identity::random_bytes(secret.size());
  VIOLET_CHECK(mask.has_value());
  return identity::base64url(identity::masked(secret, *mask));
}

bool BrowserSession::is_csrf_token(std::string_view token) const {
  const auto secret = note_->get(identity::kCsrf);
  std::string text;
  if (!secret || !identity::from_base64url(token, text) || text.size() != secret->size() * 2) return false;
  const std::string_view mask = std::string_view(text).substr(0, secret->size());
  return equal_secrets(identity::masked(*secret, mask), text);
}

Sessions::Sessions(SessionOptions options) {
  if (options.store == nullptr) options.store = std::make_shared<MemorySessions>();
  options_ = std::make_shared<const SessionOptions>(std::move(options));
}

std::string Sessions::challenge() const { return "Cookie realm=" + identity::quoted(options_->cookie); }

std::string_view Sessions::process_note() const noexcept {
  if (options_->store->is_shared()) return {};
  return "sessions() keeps them in the memory of one process: with several, whoever reaches another one is not logged "
         "in there; give it a store that all of them share";
}

Verdict Sessions::on_request(Exchange& exchange) const {
  if (exchange.note<SessionNote>() != nullptr) return Verdict::Continue;
  auto& note = exchange.add_note<SessionNote>(exchange.arena(), options_->bytes_max);
  note.options = options_.get();
  const auto id = Request(exchange).cookie(identity::cookie_name(exchange, *options_));
  if (!id || id->size() != identity::kIdCharacters) return Verdict::Continue;
  note.key = exchange.arena().copy(identity::sha256(*id));
  return Verdict::Wait;
}

Task<Verdict> Sessions::on_wait(Exchange& exchange) const {
  SessionNote& note = *exchange.note<SessionNote>();
  const std::int64_t now = exchange.loop().wall_seconds();
  std::string key(note.key);
  Result<std::optional<SessionStore::Record>> loaded = co_await options_->store->load(std::move(key), now);
  if (!loaded) {
    exchange.refuse(loaded.error());
    co_return Verdict::Answered;
  }
  std::optional<SessionStore::Record>& record = *loaded;
  if (record && (now - record->used >= options_->idle_seconds || now - record->created >= options_->age_seconds_max)) {
    options_->store->remove(std::string(note.key));
    record.reset();
  }
  if (!record) {
    note.key = {};  // an id that is not ours is never taken over
    co_return Verdict::Continue;
  }
  note.created = record->created;
  for (const auto& [name, value] : record->values) note.load(name, value);
  // A cookie comes by itself: it never takes the place of credentials that were asked for.
  const auto subject = note.get(identity::kSubject);
  if (subject && identity::find(exchange) == nullptr) set_identity(exchange, *subject, "session");
  co_return Verdict::Continue;
}

void Sessions::on_reply(Exchange& exchange, http::Head& head, Body&) const {
  auto* note = exchange.note<SessionNote>();
  if (note == nullptr || note->options != options_.get() || note->is_committed || head.status >= 500) return;
  note->is_committed = true;
  identity::SessionCommit(exchange, *options_, *note).run(head);
}

BrowserSession Extract<BrowserSession>::from(Fetch& fetch) {
  Exchange& exchange = fetch.exchange();
  auto* note = exchange.note<SessionNote>();
  if (note == nullptr) {
    log(LogLevel::Error, "a handler takes a BrowserSession, but no app.use(sessions()) stands before it");
    fetch.refuse(Error(ErrorKind::Handler), {});
    note = exchange.arena().make<SessionNote>(exchange.arena(), 0);
  }
  return BrowserSession(exchange, *note);
}

}  // namespace violet
