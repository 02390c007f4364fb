#pragma once

// FileSource: a file that is not in memory, or parts of it with texts between them, as a body. On a plain connection it
// gives ranges of the descriptor, which the kernel sends by itself; elsewhere it reads a piece whenever the wire has
// room, so that memory holds one piece whatever the file's size. A piece that is not in the page cache is read by a
// worker.
//
// The file is looked at again before each piece, and before the last bytes go: one that has changed meanwhile (but for
// having grown) fails, and the client does not take what it got for whole. That is exact for what is read here; what
// the kernel sends refers to the file until the client has it, see FileOptions::sendfile. One loop's thread.

#include "violet/core/body.h"
#include "violet/core/exchange.h"
#include "violet/features/files/load/entry.h"
#include "violet/features/files/serve/gate.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace violet::files {

class Front;

class FileSource final : public Source {
 public:
  // A text, or a range of the file.
  struct Part {
    std::string text = {};
    std::uint64_t first = 0;
    std::uint64_t size = 0;
  };
  using Parts = std::vector<Part>;

  FileSource(Front& front, Exchange& exchange, const Variant& variant, Parts parts);
  ~FileSource() override;

  Pull pull(Chain& out, std::size_t max) override;
  void attach(Stream* stream) noexcept override { stream_ = stream; }

 private:
  class PieceJob;
  [[nodiscard]] bool is_unchanged() const noexcept;
  Pull pull_range(Part& part, Chain& out, std::size_t max);
  Pull pull_piece(Part& part, Chain& out, std::size_t max);
  void advance(Part& part, std::uint64_t size) noexcept;

  std::shared_ptr<Anchor> anchor_;
  Ref<FileBuffer> file_;
  Version version_;
  Parts parts_;
  std::size_t at_ = 0;  // of parts_
  Stream* stream_ = nullptr;
  std::size_t room_max_;  // what pull() may ask for when nothing waits to be sent
  bool is_sent_by_kernel_;
  PieceJob* job_ = nullptr;  // under way
  Slice piece_;              // what it has brought
  bool has_failed_ = false;
};

}  // namespace violet::files
