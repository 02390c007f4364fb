#pragma once

// EncodeJob: one piece of a body, bytes or one range of a file, on a worker thread. Owns all that it uses, because its
// source may end meanwhile, and the loop as well.

#include "violet/event/loop.h"
#include "violet/event/offload.h"
#include "violet/features/compress/codec/encoder.h"
#include "violet/memory/chain.h"

#include <cstdint>
#include <memory>
#include <string>

namespace violet::encoding {

class EncodedSource;

class EncodeJob final : public WorkerPool::Job {
 public:
  EncodeJob(EncodedSource& source, Loop& loop, std::unique_ptr<Encoder> with, const Chain& piece, Flush flush);
  ~EncodeJob() override;

  void run() noexcept override;
  // The source is gone: nobody waits any more. The loop's thread only.
  void leave() noexcept { source_ = nullptr; }

  std::unique_ptr<Encoder> encoder;
  std::string out;
  bool has_failed = false;

 private:
  void finish(bool has_run) noexcept override;
  static void arrive(std::unique_ptr<EncodeJob> job) noexcept;
  [[nodiscard]] bool read() noexcept;

  EncodedSource* source_;
  LoopRef origin_;
  std::string in_;
  int descriptor_ = -1;  // of a range of a file, our own
  std::uint64_t offset_ = 0;
  std::size_t size_;
  Flush flush_;
};

}  // namespace violet::encoding
