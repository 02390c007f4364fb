#pragma once

// App: routes, middleware, limits and listeners together: the value that a program holds.
//
//   App app;
//   app.get("/", [] { return "hello"; });
//   return app.listen("http://127.0.0.1:8080").run();
//
// Many may live in one process, and each can be started again after it has stopped. Everything is registered and set
// first, by one thread; start() and run() then check it all and build the table; nothing may be registered while the
// app runs. Handlers are called by all loops at once. stop(), wait(), is_ready() and
// counters() are for any thread.

#include "violet/base/function.h"
#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/event/process/options.h"
#include "violet/features/files/files.h"
#include "violet/features/openapi/options.h"
#include "violet/features/websocket/websocket.h"
#include "violet/tls/settings.h"
#include "violet/web/error_pages.h"
#include "violet/web/router.h"
#include "violet/ws/topic/topics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

class TestClient;

using tls::CertificateFiles;
using tls::ClientCertificate;

struct ListenOptions {
  // --- of "https://…"
  // PEM files, the chain behind the certificate; PEM texts do as well. Without a certificate there is one for
  // localhost, made by itself, except with VIOLET_ENV=production in the environment.
  std::string certificate = {};
  std::string key = {};   // "": it stands in the certificate's file
  std::string ocsp = {};  // a DER file to staple
  // For clients that ask for other names (SNI, wildcards too), or that can use another kind of key.
  std::vector<CertificateFiles> more_certificates = {};
  // Whether clients are asked for certificates, and who signs those. request.security() has what they have shown.
  ClientCertificate client_certificate = ClientCertificate::None;
  std::string client_ca = {};

  // --- of all
  // What is spoken, the preferred one first: agreed on by ALPN with TLS, told by the client's first bytes without it
  // (HTTP/2 also by Upgrade: h2c). A client that speaks only others is refused.
  std::vector<std::string> protocols = {"h2", "http/1.1"};
  // Connections come through a load balancer that says in a PROXY header (version 1 or 2) who the client is. Whoever
  // can reach this listener can claim any address.
  bool proxy_protocol = false;
  int backlog = 4096;
  // Every loop has a socket of its own and the kernel spreads connections over them.
  bool reuse_port = true;
  int unix_mode = 0660;  // permissions of a Unix socket's file
};

class App : public Routes {
 public:
  App();
  App(App&&) noexcept;
  App& operator=(App&&) = delete;
  ~App();  // stops at once

  // A handler for WebSockets; see features/websocket/websocket.h. For a group: websocket(group, pattern, handler).
  template <class F>
  Route& websocket(std::string_view pattern, F&& handler, WebSocketOptions options = {},
                   web::Where where = web::Where::current()) {
    options.topics = &topics();
    options.totals = &socket_totals();
    return violet::websocket(*this, pattern, std::forward<F>(handler), std::move(options), where);
  }
  // To all WebSockets that have subscribed to `topic`; see ws/topic/topics.h. Any thread.
  void publish(std::string_view topic, std::string_view text) { topics().publish(topic, ws::Kind::Text, text); }
  void publish_binary(std::string_view topic, std::string_view bytes) {
    topics().publish(topic, ws::Kind::Binary, bytes);
  }
  // Carries what is published to other machines, too.
  App& bus(std::unique_ptr<ws::Bus> bus);
  // For routes of groups: websocket(group, "/chat", handler, {.topics = &app.topics()}).
  [[nodiscard]] ws::Topics& topics() noexcept;
  // What the WebSockets of all loops of this process have counted: opened, closed, messages, drops by policy. For any
  // thread. Routes of groups count when they are given {.totals = &app.socket_totals()}.
  [[nodiscard]] ws::Counters socket_counters() const;
  [[nodiscard]] ws::Totals& socket_totals() noexcept;

  // --- what it is made of, beside the routes
  // `T&` as a handler's parameter; the object is shared by all loops. One of each type.
  template <class T>
  App& provide(T value) {
    return note_provided(router().provide(std::move(value)), reflect::type_name<T>());
  }
  template <class T>
  App& provide(std::unique_ptr<T> value) {
    return note_provided(router().provide(std::move(value)), reflect::type_name<T>());
  }
  // Serves a folder of the disk; see features/files/files.h. The result lives as long as the App.
  Files& files(std::string_view prefix, std::string folder, FileOptions options = {},
               web::Where where = web::Where::current());
  // The document of all routes at prefix/openapi.json, and a page that shows it and tries it out at `prefix`; see
  // docs/guide/openapi.md. Once.
  App& docs(std::string_view prefix, DocsOptions options = {}, web::Where where = web::Where::current());
  // The same document as text, also without docs(). Not while the app runs.
  [[nodiscard]] std::string openapi();
  // Shapes every answer that violet makes by itself: Reply(const ErrorInfo&); see web/error_pages.h.
  App& on_error(ErrorPages::Hook hook);
  App& limits(const Limits& limits);
  [[nodiscard]] const Limits& limits() const noexcept;
  // How many threads serve, in each process; 0, the default: one for each usable processor.
  App& loops(int count);
  // run() serves by worker processes instead of by itself: it binds, forks them, replaces those that die, and ends them
  // together; see event/process/supervisor.h. 0: none. When this is not called, VIOLET_PROCESSES in the environment
  // says how many. Nothing may have started threads before run(): they would be missing in the workers.
  App& processes(int count) { return processes(ProcessOptions{.count = count}); }
  App& processes(const ProcessOptions& options);
  // The Server field of every answer; "" for none, the default.
  App& name(std::string_view name);
  // Shows in error pages what exceptions said, and browsers all that is known of an error. Also by VIOLET_ENV=dev in
  // the environment; never with VIOLET_ENV=production.
  App& dev(bool dev);
  // The time that busy connections have when a signal ends run(), and how long is_ready() is false before that.
  App& drain_ms(std::uint64_t deadline_ms, std::uint64_t readiness_ms = 0);

  // --- running
  // "http://127.0.0.1:8080", "https://[::]:8443", "http://*:8080", "unix:/run/app.sock". Bound by start() and run(),
  // which report what does not work.
  App& listen(std::string_view url, const ListenOptions& options = {});
  // Called by run() and start() with urls() when all of them are bound and connections can be made; run() then leaves
  // out its own lines in the log. With processes it is called once, when all of them serve.
  App& on_listen(Function<void(const std::vector<std::string>& urls)> hook);
  // Serves until SIGTERM, SIGINT or stop(). Returns the exit status: 0, or 1 when it could not start, after logging
  // why; with processes also 1 when one had to be killed in the end, and 3 when one died too often. In a worker process
  // it does not return: what was provided is destroyed and the process ends.
  [[nodiscard]] int run();
  // Serves on threads of its own. False when it could not; errors() says why.
  [[nodiscard]] bool start();
  // Ends run() or what start() began: no new connections, busy ones finish, the rest is cut at the deadline. Called in
  // a worker process it ends all of them.
  void stop(std::uint64_t deadline_ms = 10'000);
  template <class Duration>
    requires requires(const Duration& duration) { Duration::period::num; }
  void stop(const Duration& deadline) {
    using Period = typename Duration::period;
    stop(static_cast<std::uint64_t>(deadline.count()) * 1000 * Period::num / Period::den);
  }
  // Returns when it has stopped. Not for a loop's thread.
  void wait();
  // Reads the certificates of all listeners again, as SIGHUP does to run() and as happens by itself when a file
  // changes. New connections get what is new; what cannot be used is logged and the old one stays: false. Any thread.
  bool reload_certificates();
  // It serves and is not about to stop.
  [[nodiscard]] bool is_ready() const;
  // Where it listens, with the ports that the kernel chose: "http://127.0.0.1:41873".
  [[nodiscard]] std::vector<std::string> urls() const;
  // Connections, requests and errors of all loops of this process since it was started; zeros while it does not run.
  // For any thread.
  [[nodiscard]] Counters counters() const;
  // What was wrong at the last start().
  [[nodiscard]] const std::vector<std::string>& errors() const noexcept;

  // --- testing
  // Requests through the whole pipeline without a socket; see app/test_client.h.
  [[nodiscard]] TestClient test();

 private:
  friend class TestClient;
  struct State;
  explicit App(State* state);
  Router& router() noexcept;
  App& note_provided(bool is_new, std::string_view type);

  std::unique_ptr<State> state_;
};

}  // namespace violet
