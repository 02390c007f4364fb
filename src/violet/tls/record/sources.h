#pragma once

// PieceReader, FileReader: plaintext on its way into records, taken off in pieces of at most a record.

#include "violet/base/check.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace violet::tls {

// Plaintext in pieces, taken off in records: a record that one piece fills is a view of it, others are joined.
class PieceReader {
 public:
  PieceReader(const iovec* pieces, int count) noexcept : piece_(pieces), end_(pieces + count) { pass_empty(); }

  [[nodiscard]] bool is_empty() const noexcept { return piece_ == end_; }
  void skip(std::size_t n) noexcept {
    while (n > 0 && !is_empty()) n -= advance(std::min(n, left()));
    VIOLET_ASSERT(n == 0);  // what write() did not take was not offered again
  }
  // At most `max` bytes, at most Shared::kRecordBytes; "" on an error.
  std::string_view next(std::size_t max, char* join) noexcept {
    const char* const from = at();
    if (left() >= max || piece_ + 1 == end_) return {from, advance(std::min(left(), max))};
    std::size_t size = 0;
    while (size < max && !is_empty()) {
      const char* const part = at();
      const std::size_t n = std::min(max - size, left());
      std::memcpy(join + size, part, n);
      size += advance(n);
    }
    return {join, size};
  }

 private:
  [[nodiscard]] const char* at() const noexcept { return static_cast<const char*>(piece_->iov_base) + used_; }
  [[nodiscard]] std::size_t left() const noexcept { return piece_->iov_len - used_; }
  std::size_t advance(std::size_t n) noexcept {
    used_ += n;
    pass_empty();
    return n;
  }
  void pass_empty() noexcept {
    while (piece_ != end_ && used_ == piece_->iov_len) {
      ++piece_;
      used_ = 0;
    }
  }

  const iovec* piece_;
  const iovec* end_;
  std::size_t used_ = 0;  // of the piece
};

// The same for a range of a file.
class FileReader {
 public:
  FileReader(int descriptor, std::uint64_t offset, std::size_t size) noexcept
      : descriptor_(descriptor), offset_(offset), left_(size) {}

  [[nodiscard]] bool is_empty() const noexcept { return left_ == 0; }
  [[nodiscard]] int error() const noexcept { return error_; }
  void skip(std::size_t n) noexcept {
    VIOLET_ASSERT(n <= left_);
    offset_ += n;
    left_ -= std::min(n, left_);
  }
  std::string_view next(std::size_t max, char* join) noexcept {
    ssize_t n;
    do {
      n = ::pread(descriptor_, join, std::min(left_, max), static_cast<off_t>(offset_));
    } while (n < 0 && errno == EINTR);
    if (n < 0) error_ = errno;
    if (n <= 0) {
      left_ = 0;  // the file ends before its range does
      return {};
    }
    skip(static_cast<std::size_t>(n));
    return {join, static_cast<std::size_t>(n)};
  }

 private:
  int descriptor_;
  std::uint64_t offset_;
  std::size_t left_;
  int error_ = 0;
};

}  // namespace violet::tls
