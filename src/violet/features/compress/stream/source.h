#pragma once

// EncodedSource: a body as it is encoded. Asks the body inside for whole pieces when the wire asks for more than there
// is, and keeps what the wire has no room for yet; hands over everything whenever the body inside has to wait, so that
// events arrive when they happen. Bodies of more than `loop_bytes_max`, ranges of files, and what goes beyond
// `loop_bytes_max` in one call are encoded on worker threads. Lives in the exchange's arena; one thread, the loop's.
//
//   pull() --large piece--> a job runs: Wait --on_job()--> wake(), pull() hands it over …

#include "violet/core/body.h"
#include "violet/core/exchange.h"
#include "violet/features/compress/spares.h"

#include <cstddef>
#include <memory>

namespace violet::encoding {

class EncodeJob;

class EncodedSource final : public Source {
 public:
  // Copies what `body` has borrowed.
  EncodedSource(Exchange& exchange, Spares& spares, const Kind& kind, std::size_t loop_bytes_max, Body&& body);

  Pull pull(Chain& out, std::size_t max) override;
  const http::Fields* trailers() override { return source_ != nullptr ? source_->trailers() : nullptr; }
  void attach(Stream* stream) noexcept override;
  void dispose() noexcept override;

 private:
  friend class EncodeJob;
  ~EncodedSource() override = default;

  Pull advance(Chain& out, std::size_t max);
  void begin();
  void fill();
  void gather();
  [[nodiscard]] Flush next_flush() const noexcept;
  void encode();
  void encode_here(std::string_view in, Flush flush);
  [[nodiscard]] Chain take_for_job();
  void submit();
  void take_back(std::unique_ptr<EncodeJob> job) noexcept;
  void on_job(std::unique_ptr<EncodeJob> job) noexcept;
  void note_flush(Flush flush) noexcept;

  Ref<Exchange> exchange_;
  Spares& spares_;
  Kind kind_;
  std::size_t loop_bytes_max_;
  std::size_t loop_bytes_left_ = 0;  // in this call
  bool is_large_;
  std::unique_ptr<Encoder> encoder_;  // nullptr: nobody has asked yet, or job_ has it
  Stream* stream_ = nullptr;

  Chain input_;
  SourcePtr source_;
  Pull verdict_ = Pull::More;  // of source_, at its last answer
  EncodeJob* job_ = nullptr;   // under way
  Chain encoded_;              // and not yet pulled
  Ref<Block> block_;           // what is encoded here goes into
  std::size_t block_used_ = 0;
  bool has_unflushed_ = false;
  bool has_ended_ = false;
  bool has_failed_ = false;
};

}  // namespace violet::encoding
