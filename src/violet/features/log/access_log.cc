#include "violet/features/log/access_log.h"

#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/features/log/line.h"
#include "violet/features/log/sink.h"

#include <chrono>
#include <optional>
#include <utility>

namespace violet {
namespace access {
namespace {

// What a loop has for the log: its ring, and the line that is put together.
class LoopLog final : public SiteLocal {
 public:
  LoopLog(std::shared_ptr<Sink> sink, std::size_t bytes) : sink_(std::move(sink)), ring_(sink_->add_ring(bytes)) {}
  ~LoopLog() override {
    ring_->close();
    sink_->call();
  }

  void write(const Entry& entry) noexcept {
    const bool is_json = sink_->options().format == LogFormat::Json;
    ring_->append(is_json ? line_.json(entry) : line_.text(entry));
    sink_->call();
    if (ring_->is_half_full()) [[unlikely]]
      sink_->hurry();
  }
  [[nodiscard]] bool wants_query() const noexcept { return sink_->options().query; }

 private:
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<Ring> ring_;
  Line line_;
};

LoopLog& log_of(Exchange& exchange, const std::shared_ptr<Sink>& sink) {
  SiteLocals& locals = exchange.site().locals;
  SiteLocal* local = locals.find(sink.get());
  if (local == nullptr) {
    local = &locals.add(sink.get(), std::make_unique<LoopLog>(sink, exchange.limits().access_log_bytes_max));
  }
  return static_cast<LoopLog&>(*local);
}

std::int64_t wall_us() noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// One request on its way, from its head to its end.
class Record final : public CancelHook {
 public:
  // `owner` is the outermost use of a log, which sees the answer as it leaves.
  Record(Exchange& exchange, LoopLog& log, const AccessLog* owner) noexcept
      : exchange_(exchange), log_(log), owner_(owner), start_us_(Loop::clock_us()), peer_(exchange.connection().peer) {
    exchange.add_cancel_hook(*this);
  }

  void on_cancel(Error why) noexcept override {
    int status = exchange_.response().status;
    // An answer that no hook has seen is one of the server's own, and no 200.
    if (!has_answer_ && why && status == 200) status = kClientLeft;
    write(status);
  }
  // Everything is there.
  void end(const http::Head& head, std::uint64_t bytes) noexcept {
    unlink();
    bytes_ = bytes;
    is_complete_ = true;
    write(head.status);
  }
  void begin_answer(std::uint64_t bytes) noexcept {
    has_answer_ = true;
    bytes_ = bytes;
  }
  [[nodiscard]] bool is_of(const AccessLog* log) const noexcept { return owner_ == log && !is_written_; }
  void add_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }
  void set_complete() noexcept { is_complete_ = true; }

 private:
  static constexpr int kClientLeft = 499;

  void write(int status) noexcept {
    is_written_ = true;
    const http::Head& head = exchange_.request();
    log_.write({
        .time_us = wall_us(),
        .peer = peer(),
        .id = exchange_.request_id,
        .method = head.method_text,
        .path = head.path,
        .query = log_.wants_query() ? head.query : std::string_view{},
        .protocol = http::name(head.version),
        .route = exchange_.match.pattern,
        .status = status,
        .bytes = bytes_,
        .duration_us = Loop::clock_us() - start_us_,
        .is_complete = is_complete_,
    });
  }
  // When the connection is gone, who it was is still known.
  [[nodiscard]] Address peer() const noexcept {
    const Address& known = exchange_.peer();
    return known.family != Address::Family::None ? known : peer_;
  }

  Exchange& exchange_;
  LoopLog& log_;
  const AccessLog* owner_;
  std::uint64_t start_us_;
  std::uint64_t bytes_ = 0;
  Address peer_;
  bool has_answer_ = false;
  bool is_complete_ = false;
  bool is_written_ = false;
};

// A body as it goes, counted. Lives in the exchange's arena.
class CountedSource final : public Source {
 public:
  CountedSource(Exchange& exchange, Record& record, SourcePtr inside)
      : exchange_(&exchange), record_(record), inside_(std::move(inside)) {}

  Pull pull(Chain& out, std::size_t max) override {
    const std::size_t before = out.size();
    const Pull verdict = inside_->pull(out, max);
    record_.add_bytes(out.size() - before);
    if (verdict == Pull::End) record_.set_complete();
    return verdict;
  }
  const http::Fields* trailers() override { return inside_->trailers(); }
  void attach(Stream* stream) noexcept override { inside_->attach(stream); }
  void dispose() noexcept override {
    inside_.reset();
    const Ref<Exchange> last = std::move(exchange_);
    this->~CountedSource();
  }

 private:
  ~CountedSource() override = default;

  Ref<Exchange> exchange_;
  Record& record_;
  SourcePtr inside_;
};

void count(Exchange& exchange, Record& record, Body& body) {
  exchange.pin();
  const std::uint64_t there = body.chain().size();
  record.begin_answer(there);
  std::optional<std::uint64_t> length = body.length();
  if (length) *length -= there;
  Body counted(SourcePtr(exchange.arena().make<CountedSource>(exchange, record, body.take_source())), length);
  counted.chain() = std::move(body.chain());
  body = std::move(counted);
}

bool has_no_body(const Exchange& exchange, const http::Head& head) noexcept {
  return exchange.request().method == http::Method::Head || head.status == 204 || head.status == 304;
}

}  // namespace
}  // namespace access

AccessLog::AccessLog(AccessLogOptions options) : sink_(std::make_shared<access::Sink>(std::move(options))) {}

void AccessLog::on_use() {
  if (sink_ == nullptr) sink_ = std::make_shared<access::Sink>(AccessLogOptions{});
}

void AccessLog::on_request(Exchange& exchange) const {
  if (exchange.note<access::Record>() != nullptr) return;
  exchange.add_note<access::Record>(exchange, access::log_of(exchange, sink_), this);
}

void AccessLog::on_reply(Exchange& exchange, http::Head& head, Body& body) const {
  auto* const record = exchange.note<access::Record>();
  if (record == nullptr || !record->is_of(this)) return;
  if (access::has_no_body(exchange, head)) {
    record->end(head, 0);
  } else if (body.source() == nullptr) {
    record->end(head, body.chain().size());
  } else {
    access::count(exchange, *record, body);
  }
}

std::uint64_t AccessLog::dropped_count() const noexcept { return sink_ != nullptr ? sink_->dropped_count() : 0; }

}  // namespace violet
