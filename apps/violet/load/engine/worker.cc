#include "load/engine/worker.h"

#include <algorithm>

namespace violet::load {
namespace {

constexpr std::uint64_t kLookMs = 100;  // between two looks for requests that wait too long

std::uint64_t ms_of(double seconds) { return static_cast<std::uint64_t>(seconds * 1000); }

}  // namespace

Worker::Worker(const Options& options, const Plan& plan, const Share& share, Ref<tls::ClientContext> tls_context)
    : options_(options),
      plan_(plan),
      share_(share),
      wires_(loop_, client_limits(), options, plan),
      tls_(loop_),
      tls_context_(std::move(tls_context)),
      expected_(plan.requests.size()) {
  for (const Request& request : plan.requests) prepared_.push_back(std::make_unique<Prepared>(request));
  for (auto& body : expected_) {
    if (options.has_expected) body = std::make_unique<std::string>(options.expected);
  }
  // A message that is checked is one that has to come back.
  if (plan.is_socket && options.verifies && !options.has_expected) {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      expected_[i] = std::make_unique<std::string>(plan.requests[i].body);
    }
  }
  for (int i = 0; i < share.connections; ++i) connections_.push_back(std::make_unique<Connection>(*this));
}

Worker::~Worker() { join(); }

Limits Worker::client_limits() const {
  Limits limits;
  limits.pipeline_max = static_cast<std::uint64_t>(options_.depth);
  limits.field_bytes_max = 1 << 20;
  limits.field_count_max = 10'000;
  // Windows that are never the limit: neither side shall spend its time on opening them.
  limits.receive_bytes_max = std::uint64_t{64} << 20;
  limits.h2_window_bytes = std::uint64_t{1} << 30;
  return limits;
}

void Worker::start() {
  thread_ = std::thread([this] { run(); });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  Loop::Scope scope(loop_);
  start_ns_ = now_ns();
  TimerWheel& timers = loop_.timers();
  if (options_.warm_up > 0) {
    timers.arm_after(measure_timer_, ms_of(options_.warm_up));
  } else {
    begin_measuring();
  }
  timers.arm_after(look_timer_, kLookMs);
  for (const auto& connection : connections_) connection->open();
  if (share_.rate > 0) {
    run_open_loop();
  } else {
    loop_.run();
  }
  has_ended_ = true;
}

// Timers count milliseconds, and a request is due to the microsecond: so the loop is asked without ever blocking.
void Worker::run_open_loop() {
  std::size_t first = 0;
  while (loop_.step(0)) {
    // Not always the same connection first.
    for (std::size_t i = 0; i < connections_.size() && has_request(now_ns()); ++i) {
      connections_[(first + i) % connections_.size()]->fill();
    }
    first = (first + 1) % connections_.size();
  }
}

std::uint64_t Worker::due_ns(std::uint64_t n) const noexcept {
  return start_ns_ + static_cast<std::uint64_t>(static_cast<double>(n) * 1e9 / share_.rate);
}

bool Worker::has_request(std::uint64_t now_ns) const noexcept {
  if (is_over_ || (share_.count != 0 && is_measuring() && counted_ >= share_.count)) return false;
  return share_.rate <= 0 || due_ns(taken_) <= now_ns;
}

std::uint32_t Worker::take_request(std::uint64_t now_ns, std::uint64_t& since_ns) noexcept {
  since_ns = share_.rate > 0 ? due_ns(taken_) : now_ns;
  ++counted_;
  return plan_.at(share_.first_request + taken_++);
}

// --- answers

const std::string* Worker::expected(std::uint32_t index) const noexcept { return expected_[index].get(); }

void Worker::learn(std::uint32_t index, std::string body) {
  expected_[index] = std::make_unique<std::string>(std::move(body));
}

void Worker::on_answer(int status, std::uint64_t latency_ns, std::uint64_t bytes, bool is_right) noexcept {
  ++tally_.answers;
  if (status != 0) ++tally_.status[status >= 100 && status < 600 ? status / 100 : 0];
  tally_.bytes += bytes;
  tally_.latency_ns += latency_ns;
  tally_.latency.add(latency_ns);
  if (!is_right) on_failure(&Tally::wrong_bodies);
  on_finished();
}

void Worker::on_failure(std::uint64_t Tally::* kind) noexcept {
  ++(tally_.*kind);
  ++tally_.errors;
}

void Worker::on_lost() noexcept { on_finished(); }

void Worker::on_finished() noexcept {
  if (++finished_ >= share_.count && share_.count != 0 && is_measuring()) end();
}

// --- phases

void Worker::begin_measuring() noexcept {
  tally_.clear();
  counted_ = finished_ = 0;
  began_ns_ = now_ns();
  is_measuring_ = true;
  if (share_.count == 0) loop_.timers().arm_after(end_timer_, ms_of(options_.seconds));
}

void Worker::end() noexcept {
  if (is_over_) return;
  is_over_ = true;
  ended_ns_ = now_ns();
  is_measuring_ = false;
  look_timer_.cancel();
  end_timer_.cancel();
  for (const auto& connection : connections_) connection->close();
  loop_.stop();
}

void Worker::on_look() noexcept {
  const auto patience = static_cast<std::uint64_t>(options_.timeout * 1e9);
  const std::uint64_t now = now_ns();
  for (const auto& connection : connections_) {
    if (now > patience) connection->look(now - patience);
  }
  loop_.timers().arm_after(look_timer_, kLookMs);
}

}  // namespace violet::load
