#include "violet/ws/client/client.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/event/wait.h"
#include "violet/ws/client/dial.h"
#include "violet/ws/client/handshake.h"
#include "violet/ws/client/stream.h"
#include "violet/ws/handshake.h"

#include <atomic>

namespace violet {
namespace {

// What a client's socket keeps: its settings. Somebody reads it.
class ClientSocket final : public ws::Application {
 public:
  explicit ClientSocket(const ws::Options& options) : settings(options, Limits()) {}
  void dispose() noexcept override { delete this; }
  const ws::Settings settings;

 private:
  ~ClientSocket() = default;
};

std::uint64_t next_connection_id() noexcept {
  // Apart from a server's, which count from one.
  static std::atomic<std::uint64_t> last = std::uint64_t{1} << 63;
  return ++last;
}

std::string make_key() {
  std::array<std::uint8_t, 16> nonce;
  VIOLET_CHECK(uv_random(nullptr, nullptr, nonce.data(), nonce.size(), 0, nullptr) == 0);
  const auto key = ws::key_of(nonce);
  return {key.data(), key.size()};
}

WebSocket make_socket(Loop& loop, const ws::Dialed& dialed, bool is_secure, const ws::Agreement& agreement,
                      const ws::Options& options, std::string_view early) {
  auto* application = new ClientSocket(options);
  ws::Session& session = ws::Session::make(loop, application->settings, ws::Role::Client);
  session.set_deflate(agreement.deflate);
  if (!agreement.protocol.empty()) session.extras().protocol = agreement.protocol;
  Connection connection;
  connection.peer = dialed.peer;
  connection.is_secure = is_secure;
  connection.id = next_connection_id();
  auto* stream = new ws::ClientStream(loop, *dialed.transport, connection);
  session.open(*stream, application);
  WebSocket socket(session);
  stream->open(session, session.body(), early);
  return socket;
}

}  // namespace

WebSocketClient::WebSocketClient(Loop& loop, std::string_view url, ClientOptions options)
    : loop_(loop), url_(ws::Url::parse(url)), options_(std::move(options)), reconnect_(options_.reconnect) {
  for (const auto& [name, value] : options_.socket.fields) {
    if (!ascii::is_token(name) || !http::is_field_value(value)) url_ = fail(ErrorKind::Invalid);
  }
  if (!http::is_field_value(options_.origin)) url_ = fail(ErrorKind::Invalid);
  if (!url_ || !url_->is_secure) return;
  auto context = tls::ClientContext::make(options_.tls);
  if (context) {
    tls_ = std::move(*context);
  } else {
    log(LogLevel::Error, "WebSocketClient: " + context.error());
    url_ = fail(ErrorKind::Invalid);
  }
}

WebSocketClient::~WebSocketClient() = default;

std::string WebSocketClient::request(std::string_view key) const {
  std::string text = "GET " + url_->target + " HTTP/1.1\r\nHost: " + url_->authority +
                     "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  add("Sec-WebSocket-Key", key);
  if (!options_.origin.empty()) add("Origin", options_.origin);
  std::string protocols;
  for (const std::string& one : options_.socket.protocols) protocols += (protocols.empty() ? "" : ", ") + one;
  if (!protocols.empty()) add("Sec-WebSocket-Protocol", protocols);
  if (options_.socket.compression.is_on)
    add("Sec-WebSocket-Extensions", ws::deflate_offer(options_.socket.compression));
  for (const auto& [name, value] : options_.socket.fields) add(name, value);
  return text + "\r\n";
}

Task<Result<WebSocket>> WebSocketClient::attempt() {
  Result<ws::Dialed> dialed = co_await ws::dial(loop_, *url_, tls_);
  if (!dialed) co_return fail(dialed.error());
  const std::string key = make_key();
  ws::AskForSwitch asked(*dialed->transport, request(key));
  Result<void> answered = co_await asked;
  Result<ws::Agreement> agreement = fail(ErrorKind::Closed);
  if (answered) agreement = ws::read_agreement(asked.head, key, options_.socket);
  if (!answered || !agreement) {
    dialed->transport->close();
    co_return fail(answered ? agreement.error() : answered.error());
  }
  co_return make_socket(loop_, *dialed, url_->is_secure, *agreement, options_.socket, asked.early);
}

Task<Result<WebSocket>> WebSocketClient::connect_once() {
  if (!url_) co_return fail(url_.error());
  Task<Result<WebSocket>> task = attempt();
  Result<WebSocket> socket = co_await with_deadline(std::move(task), options_.connect_ms);
  co_return socket;
}

Task<Result<WebSocket>> WebSocketClient::connect() {
  for (;;) {
    Result<WebSocket> socket = co_await connect_once();
    if (socket) {
      reconnect_.succeeded();
      co_return socket;
    }
    if (!url_) co_return socket;
    const std::optional<std::uint64_t> delay_ms = reconnect_.next_ms();
    if (!delay_ms) co_return socket;
    Result<void> slept = co_await sleep_ms(*delay_ms);
    if (!slept) co_return fail(slept.error());
  }
}

}  // namespace violet
