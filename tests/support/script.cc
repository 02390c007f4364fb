#include "tests/support/script.h"

#include <algorithm>

namespace violet::test {

void Sink::on_body_data(Exchange& exchange, Slice data) {
  text += data.text();
  ++piece_count;
  if (on_piece) on_piece(exchange, data.text());
  if (gives_credit) {
    exchange.credit(data.size());
  } else {
    owed += data.size();
  }
}

void Sink::on_body_end(Exchange& exchange) {
  ++end_count;
  if (on_end) on_end(exchange);
}

void Sink::on_body_error(Exchange&, Error why) noexcept {
  ++error_count;
  error = why;
}

PushSource::~PushSource() {
  ++watch_.death_count;
  watch_.source = nullptr;
}

Pull PushSource::pull(Chain& out, std::size_t max) {
  ++watch_.pull_count;
  watch_.max_asked = std::max(watch_.max_asked, max);
  watch_.was_asked_while_waiting = watch_.was_asked_while_waiting || is_waiting_;
  const std::size_t size = std::min(max, queue_.size());
  queue_.move_front(size, out);
  if (!queue_.is_empty()) return Pull::More;
  is_waiting_ = end_ == Pull::Wait;
  return end_;
}

void PushSource::attach(Stream* stream) noexcept {
  ++(stream != nullptr ? watch_.attach_count : watch_.detach_count);
  watch_.stream = stream;
}

std::size_t PatternSource::pulled_bytes = 0;

Pull PatternSource::pull(Chain& out, std::size_t max) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({left_, piece_, max}));
  if (size > 0) out.append(Slice::of(pattern(size, at_)));
  at_ += size;
  left_ -= size;
  pulled_bytes += size;
  return left_ > 0 ? Pull::More : end_;
}

std::string pattern(std::size_t size, std::size_t from) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((from + i) % 251);
  return text;
}

}  // namespace violet::test
