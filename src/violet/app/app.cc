#include "violet/app/app.h"

#include "violet/app/state.h"
#include "violet/app/test_client.h"
#include "violet/base/log.h"
#include "violet/features/openapi/write/document.h"
#include "violet/tls/certificate/development.h"
#include "violet/web/route/listing.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

namespace violet {
namespace {

bool is_production() {
  const char* const environment = std::getenv("VIOLET_ENV");
  return environment != nullptr && std::string_view(environment) == "production";
}

}  // namespace

App::App() : App(new State) {
  const char* environment = std::getenv("VIOLET_ENV");
  dev(environment != nullptr && std::string_view(environment) == "dev");
}
App::App(State* state) : Routes(state->router), state_(state) {}
App::App(App&&) noexcept = default;
App::~App() = default;

Router& App::router() noexcept { return state_->router; }

App& App::note_provided(bool is_new, std::string_view type) {
  if (!is_new) state_->provide_errors.push_back("app.provide<" + std::string(type) + ">() was called twice");
  return *this;
}

Files& App::files(std::string_view prefix, std::string folder, FileOptions options, web::Where where) {
  state_->files.push_back(serve_files(*this, prefix, std::move(folder), std::move(options), where));
  return *state_->files.back();
}
App& App::docs(std::string_view prefix, DocsOptions options, web::Where where) {
  if (state_->docs != nullptr) {
    state_->provide_errors.emplace_back("app.docs() was called twice");
    return *this;
  }
  state_->docs = std::make_unique<Docs>(*this, prefix, std::move(options), where);
  return *this;
}
std::string App::openapi() {
  const std::vector<web::RouteInfo> routes = state_->router.routes();
  std::vector<std::string> errors;
  if (state_->docs == nullptr) return openapi::write_document(routes, {}, errors);
  errors = state_->docs->build(routes);
  return state_->docs->document();
}
App& App::on_error(ErrorPages::Hook hook) {
  state_->pages.set_hook(std::move(hook));
  return *this;
}
App& App::bus(std::unique_ptr<ws::Bus> bus) {
  state_->topics.set_bus(std::move(bus));
  return *this;
}
ws::Topics& App::topics() noexcept { return state_->topics; }
ws::Counters App::socket_counters() const { return state_->totals.sum(); }
ws::Totals& App::socket_totals() noexcept { return state_->totals; }
App& App::limits(const Limits& limits) {
  state_->limits = limits;
  return *this;
}
const Limits& App::limits() const noexcept { return state_->limits; }
App& App::loops(int count) {
  state_->loops = count;
  return *this;
}
App& App::processes(const ProcessOptions& options) {
  state_->processes = options;
  return *this;
}
App& App::name(std::string_view name) {
  state_->name = name;
  return *this;
}
App& App::dev(bool dev) {
  if (dev && is_production()) {
    log(LogLevel::Warn, "app.dev(true) is left out: VIOLET_ENV=production");
    dev = false;
  }
  state_->pages.set_dev(dev);
  return *this;
}
App& App::drain_ms(std::uint64_t deadline_ms, std::uint64_t readiness_ms) {
  state_->drain_ms = deadline_ms;
  state_->readiness_ms = readiness_ms;
  return *this;
}

App& App::listen(std::string_view url, const ListenOptions& options) {
  state_->listens.push_back({std::string(url), options});
  return *this;
}

App& App::on_listen(Function<void(const std::vector<std::string>& urls)> hook) {
  state_->on_listen = std::move(hook);
  return *this;
}

namespace {

// For a listener that was given none.
tls::Loaded<CertificateFiles> make_certificate(const std::string& url) {
  if (is_production()) return std::unexpected("no certificate is given, and VIOLET_ENV=production wants one");
  auto made = tls::development_certificate();
  if (!made) return std::unexpected(std::move(made.error()));
  log(LogLevel::Warn, url + ": no certificate was given, so that " +
                          (made->path.empty() ? "one for localhost was made, which is kept nowhere"
                                              : "the development certificate for localhost is used: " + made->path));
  return std::move(made->files);
}

tls::Loaded<Entrance> entrance_of(const std::string& url, const ListenOptions& options) {
  Entrance entrance{.expects_proxy = options.proxy_protocol};
  for (const std::string& protocol : options.protocols) {
    if (protocol != "h2" && protocol != "http/1.1") return std::unexpected("unknown protocol: " + protocol);
  }
  if (options.protocols.empty()) return std::unexpected("no protocol is given");
  if (options.protocols.size() == 1) entrance.protocol = options.protocols.front();
  if (!url.starts_with("https://")) {
    if (!options.certificate.empty()) return std::unexpected("a certificate is given, but the URL is not https");
    return entrance;
  }
  tls::ServerSettings settings{
      .client_certificate = options.client_certificate, .client_ca = options.client_ca, .protocols = options.protocols};
  settings.certificates.push_back({options.certificate, options.key, options.ocsp});
  if (options.certificate.empty()) {
    auto made = make_certificate(url);
    if (!made) return std::unexpected(std::move(made.error()));
    settings.certificates.front() = std::move(*made);
  }
  settings.certificates.insert(settings.certificates.end(), options.more_certificates.begin(),
                               options.more_certificates.end());
  auto credentials = tls::Credentials::load(std::move(settings));
  if (!credentials) return std::unexpected(std::move(credentials.error()));
  entrance.credentials = std::move(*credentials);
  return entrance;
}

}  // namespace

void App::State::fail_to_listen(const std::string& url, const std::string& why) {
  errors.push_back("cannot listen on " + url + ": " + why);
}

bool App::State::plan(std::vector<Plan>& plans) {
  errors = freeze();
  if (listens.empty()) errors.emplace_back("nothing to listen on: app.listen(\"http://127.0.0.1:8080\")");
  if (!errors.empty()) return false;
  for (const Listen& listen : listens) {
    auto entrance = entrance_of(listen.url, listen.options);
    if (!entrance) {
      fail_to_listen(listen.url, entrance.error());
      continue;
    }
    plans.push_back({listen.url,
                     {.backlog = listen.options.backlog,
                      .reuse_port = listen.options.reuse_port,
                      .unix_mode = listen.options.unix_mode},
                     std::move(*entrance)});
  }
  return errors.empty();
}

bool App::State::open(std::vector<Plan>& plans) {
  auto opened =
      std::make_unique<Server>(router, ServerOptions{.limits = limits,
                                                     .loops = loops,
                                                     .error_page = &pages,
                                                     .server_name = name,
                                                     .readiness_delay = std::chrono::milliseconds(readiness_ms),
                                                     .drain = std::chrono::milliseconds(drain_ms),
                                                     .supervisor = line});
  std::vector<std::string> found;
  for (Plan& plan : plans) {
    if (auto endpoint =
            opened->listen(plan.url, plan.options, std::move(plan.entrance), std::exchange(plan.sockets, {}))) {
      found.push_back(endpoint->to_string());
    } else {
      fail_to_listen(plan.url, message(endpoint.error()));
    }
  }
  if (!errors.empty()) return false;
  const std::lock_guard lock(mutex);
  server = std::move(opened);
  urls = std::move(found);
  return true;
}

void App::State::announce() {
  if (on_listen) {
    on_listen(urls);
  } else {
    for (const std::string& url : urls) log(LogLevel::Info, "listening on " + url);
  }
}

int App::State::serve() {
  // With worker processes their supervisor says so for all.
  const int status = server->run([this] {
    if (line < 0) announce();
  });
  drop_server();
  return status;
}

// Says what `violet routes` and `violet openapi` want to know. False when something is wrong; the errors say what.
bool App::State::tell(const Tell& wanted) {
  errors = freeze();
  if (!errors.empty()) return false;
  const std::vector<web::RouteInfo> routes = router.routes();
  std::string text;
  if (wanted.what == Tell::What::Routes) {
    text = routes_json(routes, limits);
  } else {
    text = docs != nullptr ? docs->document() : openapi::write_document(routes, {}, errors);
  }
  if (errors.empty() && !wanted.write(text)) {
    errors.push_back("cannot write " + wanted.file + ": " + std::strerror(errno));
  }
  return errors.empty();
}

int App::run() {
  const std::optional<Tell> wanted = Tell::wanted();
  if (wanted && state_->tell(*wanted)) return 0;
  std::vector<State::Plan> plans;
  if (!wanted && state_->plan(plans) && state_->count_processes()) {
    if (state_->processes.count > 0) return state_->supervise(plans, [this] { state_.reset(); });
    if (state_->open(plans)) return state_->serve();
  }
  for (const std::string& error : state_->errors) log(LogLevel::Error, error);
  return 1;
}

bool App::start() {
  if (const auto wanted = Tell::wanted()) {
    if (state_->tell(*wanted)) state_->errors.emplace_back("nothing is served: VIOLET_TELL asks for something else");
    return false;
  }
  std::vector<State::Plan> plans;
  if (!state_->plan(plans)) return false;
  if (state_->processes.count > 0) {
    state_->errors.emplace_back("app.processes() is for run(): start() serves on threads of this process");
    return false;
  }
  if (!state_->open(plans)) return false;
  if (const Result<void> started = state_->server->start(); !started) {
    state_->errors.push_back("cannot start: " + message(started.error()));
    state_->drop_server();
    return false;
  }
  if (state_->on_listen) state_->on_listen(state_->urls);
  return true;
}

void App::stop(std::uint64_t deadline_ms) {
  const std::lock_guard lock(state_->mutex);
  if (state_->server == nullptr) return;
  if (state_->line >= 0) WorkerLink::say(state_->line, WorkerLink::Word::Stop);
  state_->server->stop(std::chrono::milliseconds(deadline_ms));
}

void App::wait() {
  Server* server = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    server = state_->server.get();
  }
  if (server == nullptr) return;
  server->wait();
  state_->drop_server();
}

bool App::reload_certificates() {
  const std::lock_guard lock(state_->mutex);
  return state_->server == nullptr || state_->server->reload_certificates();
}

bool App::is_ready() const {
  const std::lock_guard lock(state_->mutex);
  return state_->server != nullptr && state_->server->is_ready();
}

std::vector<std::string> App::urls() const {
  const std::lock_guard lock(state_->mutex);
  return state_->urls;
}

Counters App::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->server != nullptr ? state_->server->counters() : Counters();
}

const std::vector<std::string>& App::errors() const noexcept { return state_->errors; }

TestClient App::test() { return TestClient(*this); }

std::vector<std::string> App::State::freeze() {
  std::vector<std::string> found = provide_errors;
  for (std::string& error : router.freeze()) found.push_back(std::move(error));
  if (pages.is_dev()) pages.set_routes(router.routes());
  if (docs != nullptr && found.empty()) found = docs->build(router.routes());
  return found;
}

void App::State::drop_server() {
  std::unique_ptr<Server> gone;
  const std::lock_guard lock(mutex);
  gone = std::move(server);
}

}  // namespace violet
