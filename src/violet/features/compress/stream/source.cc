#include "violet/features/compress/stream/source.h"

#include "violet/core/limits.h"
#include "violet/features/compress/stream/job.h"

#include <algorithm>
#include <utility>

namespace violet::encoding {
namespace {

// What one job takes: enough to be worth the two hops, little enough to be given up soon.
constexpr std::size_t kJobBytes = 128 * 1024;
// What the body inside is asked for at once: how much the wire has room for says nothing of what is worth a read.
constexpr std::size_t kInputBytes = 64 * 1024;

}  // namespace

EncodedSource::EncodedSource(Exchange& exchange, Spares& spares, const Kind& kind, std::size_t loop_bytes_max,
                             Body&& body)
    : exchange_(&exchange),
      spares_(spares),
      kind_(kind),
      loop_bytes_max_(loop_bytes_max),
      is_large_(body.length().value_or(0) > loop_bytes_max),
      input_(std::move(body.chain())),
      source_(body.take_source()) {
  input_.make_owned();
  if (source_ == nullptr) verdict_ = Pull::End;
}

Pull EncodedSource::pull(Chain& out, std::size_t max) {
  loop_bytes_left_ = loop_bytes_max_;
  const Pull verdict = advance(out, max);
  // The body inside may have lent its bytes for the time of the call.
  input_.make_owned();
  return verdict;
}

Pull EncodedSource::advance(Chain& out, std::size_t max) {
  for (;;) {
    const std::size_t size = std::min(max, encoded_.size());
    encoded_.move_front(size, out);
    max -= size;
    if (!encoded_.is_empty()) return Pull::More;
    if (has_failed_) return Pull::Failed;
    if (job_ != nullptr) return Pull::Wait;
    if (has_ended_) return Pull::End;
    if (max == 0) return Pull::More;
    if (encoder_ == nullptr) begin();
    if (input_.is_empty()) fill();
    if (has_failed_) return Pull::Failed;
    // It gives nothing until what is queued has left: asking again here would be for ever.
    if (input_.is_empty() && verdict_ == Pull::More) return Pull::More;
    if (input_.is_empty() && verdict_ == Pull::Wait && !has_unflushed_) return Pull::Wait;
    encode();
  }
}

// Not before somebody has room for what it makes: an encoder takes more memory than a stream.
void EncodedSource::begin() {
  encoder_ = spares_.take(kind_);
  has_failed_ = !encoder_->begin(source_ == nullptr ? input_.size() : Encoder::kUnknown);
}

// Gets more input. What the kernel would send by itself is read here, so that nothing is queued before the rest.
void EncodedSource::fill() {
  if (has_failed_ || verdict_ == Pull::End) return;
  const auto flush_bytes = static_cast<std::size_t>(exchange_->limits().flush_bytes_max);
  verdict_ = source_->pull(input_, std::max(kInputBytes, flush_bytes));
  has_failed_ = verdict_ == Pull::Failed;
}

// More input for one job, as long as there is any without waiting.
void EncodedSource::gather() {
  for (std::size_t before = 0; !has_failed_ && verdict_ == Pull::More && input_.size() < kInputBytes;) {
    if (input_.size() == before) return;
    before = input_.size();
    input_.make_owned();
    fill();
  }
}

// Behind what has just been taken from the input.
Flush EncodedSource::next_flush() const noexcept {
  if (!input_.is_empty()) return Flush::None;
  if (verdict_ == Pull::End) return Flush::End;
  return verdict_ == Pull::Wait ? Flush::Sync : Flush::None;
}

void EncodedSource::encode() {
  if (input_.is_empty()) {
    if (const Flush flush = next_flush(); flush != Flush::None) encode_here({}, flush);
    return;
  }
  const Slice& front = input_.front();
  if (front.is_file() || is_large_ || front.size() > loop_bytes_left_) return submit();
  Chain piece;
  input_.move_front(std::min(front.size(), kJobBytes), piece);
  loop_bytes_left_ -= piece.size();
  encode_here(piece.front().text(), next_flush());
}

void EncodedSource::encode_here(std::string_view in, Flush flush) {
  note_flush(flush);
  for (Step step; !step.is_done;) {
    if (!block_ || Block::capacity() - block_used_ < Encoder::kRoomMin) {
      block_ = spares_.blocks.take();
      block_used_ = 0;
    }
    char* const to = block_->data() + block_used_;
    step = encoder_->step(in, flush, to, Block::capacity() - block_used_);
    if (step.has_failed) {
      has_failed_ = true;
      return;
    }
    in.remove_prefix(step.read_bytes);
    block_used_ += step.written_bytes;
    if (step.written_bytes > 0) encoded_.append(Slice(*block_, to, step.written_bytes));
  }
}

// One range of a file, or bytes.
Chain EncodedSource::take_for_job() {
  Chain piece;
  do {
    input_.move_front(std::min(input_.front().size(), kJobBytes - piece.size()), piece);
    if (piece.front().is_file()) break;
  } while (!input_.is_empty() && !input_.front().is_file() && piece.size() < kJobBytes);
  return piece;
}

void EncodedSource::submit() {
  if (!input_.front().is_file()) gather();
  if (has_failed_) return;
  const Chain piece = take_for_job();
  const Flush flush = next_flush();
  note_flush(flush);
  job_ = new EncodeJob(*this, exchange_->loop(), std::move(encoder_), piece, flush);
  if (exchange_->loop().workers().submit(*job_)) return;
  // No worker has room: better here than never.
  job_->run();
  take_back(std::unique_ptr<EncodeJob>(job_));
}

void EncodedSource::note_flush(Flush flush) noexcept {
  has_unflushed_ = flush == Flush::None;
  has_ended_ = flush == Flush::End;
}

void EncodedSource::take_back(std::unique_ptr<EncodeJob> job) noexcept {
  job_ = nullptr;
  encoder_ = std::move(job->encoder);
  has_failed_ = job->has_failed;
  encoded_ = Chain(Slice::of(std::move(job->out)));
}

void EncodedSource::on_job(std::unique_ptr<EncodeJob> job) noexcept {
  take_back(std::move(job));
  if (stream_ != nullptr) stream_->wake();
}

void EncodedSource::attach(Stream* stream) noexcept {
  stream_ = stream;
  if (source_ != nullptr) source_->attach(stream);
}

void EncodedSource::dispose() noexcept {
  if (job_ != nullptr) {
    job_->leave();
    if (exchange_->loop().workers().withdraw(*job_)) take_back(std::unique_ptr<EncodeJob>(job_));
  }
  spares_.give(kind_, std::move(encoder_));
  source_.reset();
  const Ref<Exchange> exchange = std::move(exchange_);
  this->~EncodedSource();
}

}  // namespace violet::encoding
