#include "violet/features/compress/stream/source.h"

#include "violet/features/compress/stream/job.h"

#include <algorithm>
#include <utility>

namespace violet::encoding {
namespace {

// What one job takes: enough to be worth the two hops, little enough to be given up soon.
constexpr std::size_t kJobBytes = 128 * 1024;

}  // namespace

EncodedSource::EncodedSource(Exchange& exchange, Spares& spares, const Kind& kind, std::size_t loop_bytes_max,
                             Body&& body)
    : exchange_(&exchange),
      spares_(spares),
      kind_(kind),
      loop_bytes_max_(loop_bytes_max),
      encoder_(spares.take(kind)),
      input_(std::move(body.chain())),
      source_(body.take_source()) {
  input_.make_owned();
  if (source_ == nullptr) verdict_ = Pull::End;
  has_failed_ = !encoder_->begin(source_ == nullptr ? input_.size() : Encoder::kUnknown);
}

Pull EncodedSource::pull(Chain& out, std::size_t max) {
  const std::size_t before = out.size();
  for (;;) {
    out.append(std::move(encoded_));
    if (has_failed_) return Pull::Failed;
    if (job_ != nullptr) return Pull::Wait;
    if (has_ended_) return Pull::End;
    if (out.size() - before >= max) return Pull::More;
    fill(max);
    // It gives nothing until what is queued has left: asking again here would be for ever.
    if (input_.is_empty() && verdict_ == Pull::More) return Pull::More;
    if (input_.is_empty() && verdict_ == Pull::Wait && !has_unflushed_) return Pull::Wait;
    encode(out);
  }
}

// Gets input where there is none.
void EncodedSource::fill(std::size_t max) {
  if (!input_.is_empty() || verdict_ == Pull::End) return;
  verdict_ = source_->pull(input_, max);
  has_failed_ = verdict_ == Pull::Failed;
}

// For the next piece of input, which is the last one that is there when nothing stands behind it.
Flush EncodedSource::next_flush() const noexcept {
  if (input_.count() > 1 || (input_.count() == 1 && input_.begin()->size() > kJobBytes)) return Flush::None;
  if (verdict_ == Pull::End) return Flush::End;
  return verdict_ == Pull::Wait ? Flush::Sync : Flush::None;
}

void EncodedSource::encode(Chain& out) {
  if (has_failed_) return;
  const Flush flush = next_flush();
  if (input_.is_empty()) {
    if (flush != Flush::None) encode_here({}, flush, out);
    return;
  }
  Slice& front = *input_.begin();
  Slice piece = front.size() > kJobBytes ? front.prefix(kJobBytes) : front;
  input_.drop_front(piece.size());
  if (piece.is_file() || piece.size() > loop_bytes_max_) {
    submit(std::move(piece), flush);
  } else {
    encode_here(piece.text(), flush, out);
  }
}

void EncodedSource::encode_here(std::string_view in, Flush flush, Chain& out) {
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
    if (step.written_bytes > 0) out.append(Slice(*block_, to, step.written_bytes));
  }
}

void EncodedSource::submit(Slice piece, Flush flush) {
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
  encoded_ = Slice::of(std::move(job->out));
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
