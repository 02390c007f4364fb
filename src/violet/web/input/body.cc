#include "violet/web/input/body.h"

namespace violet {

// What stays in one place while the BodyStream is moved into the coroutine's frame; in the exchange's arena.
class BodyStream::State final : public BodySink {
 public:
  explicit State(Exchange& exchange) noexcept : exchange_(exchange) {}

  // True when read() has something to say at once.
  bool prepare() {
    exchange_.credit(std::exchange(owed_bytes_, 0));
    if (!is_started_) {
      is_started_ = true;
      if (!exchange_.is_open() || exchange_.is_answered()) {
        why_ = Error(ErrorKind::Closed);
      } else {
        is_reading_ = true;
        exchange_.read(*this);
      }
    }
    return !pieces_.is_empty() || has_ended_ || why_;
  }
  Result<Slice> take() {
    if (!pieces_.is_empty()) {
      Slice piece = pieces_.pop_front();
      owed_bytes_ = piece.size();
      return piece;
    }
    if (why_) return fail(why_);
    return Slice();
  }
  void close() noexcept {
    if (is_reading_) exchange_.discard();
    exchange_.credit(owed_bytes_ + pieces_.size());
    this->~State();
  }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_ && pieces_.is_empty(); }

  void on_body_data(Exchange&, Slice data) override {
    pieces_.append(std::move(data).owned());
    wake();
  }
  void on_body_end(Exchange&) override {
    is_reading_ = false;
    has_ended_ = true;
    wake();
  }
  void on_body_error(Exchange&, Error why) noexcept override {
    is_reading_ = false;
    why_ = why;
    wake();
  }

  Read* reader = nullptr;

 private:
  void wake() noexcept {
    if (reader != nullptr) std::exchange(reader, nullptr)->resume();
  }

  Exchange& exchange_;
  Chain pieces_;
  std::size_t owed_bytes_ = 0;
  Error why_;
  bool is_started_ = false;
  bool is_reading_ = false;  // the exchange knows this sink
  bool has_ended_ = false;
};

BodyStream::BodyStream(Exchange& exchange) : state_(exchange.arena().make<State>(exchange)) {}
BodyStream::~BodyStream() {
  if (state_ != nullptr) state_->close();
}
bool BodyStream::has_ended() const noexcept { return state_->has_ended(); }

BodyStream::Read::~Read() {
  if (state_.reader == this) state_.reader = nullptr;
}
bool BodyStream::Read::await_ready() { return state_.prepare(); }
bool BodyStream::Read::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  VIOLET_CHECK(state_.reader == nullptr);  // two reads at once
  state_.reader = this;
  return true;
}
Result<Slice> BodyStream::Read::await_resume() {
  if (error()) return fail(error());
  return state_.take();
}
void BodyStream::Read::on_stop(Error why) noexcept {
  state_.reader = nullptr;
  resume_with(why);
}

}  // namespace violet
