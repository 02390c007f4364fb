#pragma once

// Decoding: the stage that decodes a request's body. Lives in the exchange's arena. One thread, the loop's.
//
//   wire --on_data--> [encoded_] --decode--> exchange.take_data     the wire gets its credit as bytes are decoded,
//   wire <--credit_wire-----'       ^------- exchange.credit        and these are, as the exchange uses what there is
//
// How much is decoded beyond what has been used is bounded by receive_bytes_max, how much in all by the exchange's own
// limit. A body that grows beyond body_ratio_max is refused before that.

#include "violet/core/exchange.h"
#include "violet/event/loop.h"
#include "violet/features/compress/codec/decoder.h"
#include "violet/memory/block.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace violet::encoding {

class Decoding final : public BodyStage {
 public:
  Decoding(Exchange& exchange, http::Coding coding, BlockPool& blocks)
      : exchange_(exchange),
        blocks_(blocks),
        decoder_(make_decoder(coding)),
        trailers_(exchange.arena()),
        go_on_(*this) {}

  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_credit(std::size_t n) override;
  void dispose() noexcept override { this->~Decoding(); }

 private:
  ~Decoding() = default;

  void decode() noexcept;
  [[nodiscard]] bool decode_some();
  void finish();
  void fail(Error why) noexcept;
  [[nodiscard]] bool is_bomb() const noexcept;

  Exchange& exchange_;
  BlockPool& blocks_;
  std::unique_ptr<Decoder> decoder_;  // nullptr: done, or failed
  Chain encoded_;
  http::Fields trailers_;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
  std::uint64_t owed_bytes_ = 0;  // decoded, and not used yet
  bool is_full_ = false;          // the last step filled its room: there may be more without input
  bool has_ended_ = false;        // on the wire
  DeferredTo<&Decoding::decode> go_on_;
};

}  // namespace violet::encoding
