#pragma once

// Decoder: the reading end of HPACK (RFC 7541), one for each connection and direction. Owned by its session; one
// thread.
//
//   hpack::Section section(head.fields);
//   switch (decoder.decode(block, {.bytes_max = …, .count_max = …}, section)) { … }
//
// A block is decoded whole, from the first byte of HEADERS to the last of the last CONTINUATION, and every block must
// be: the table of the next one depends on it (RFC 9113 §4.3). That holds for blocks of streams that were refused or
// reset, too.
//
// A block over its budget is no error of the connection. From the line that does not fit, nothing more is stored, but
// reading goes on, so that the table stays what the peer thinks it is and the stream alone can be refused (431; RFC
// 9113 §10.5.1). What that costs grows with the bytes that came and not with what they unpack to; how many may come is
// the session's limit.

#include "violet/hpack/memo.h"
#include "violet/hpack/section.h"
#include "violet/hpack/table/dynamic_table.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::hpack {

enum class Verdict : std::uint8_t {
  Done,
  OverBytes,  // over Budget::bytes_max; the section has what fitted
  OverCount,  // over Budget::count_max; the same
  Broken,     // COMPRESSION_ERROR of the connection (RFC 9113 §4.3): nothing can be decoded any more
};

class Decoder {
 public:
  // Our SETTINGS_HEADER_TABLE_SIZE before any is acknowledged (RFC 9113 §6.5.2).
  static constexpr std::uint32_t kTableBytesDefault = 4096;

  Decoder() noexcept : table_(kTableBytesDefault) {}

  // The peer has acknowledged our SETTINGS_HEADER_TABLE_SIZE. After a smaller one its next block has to begin with a
  // size update (RFC 7541 §4.2). REQUIRES: bytes <= DynamicTable::kCapacityMax.
  void set_table_bytes_max(std::uint32_t bytes) noexcept;

  // REQUIRES: kScanPadding readable bytes behind `block` unless it is empty; a new section with empty fields.
  [[nodiscard]] Verdict decode(std::string_view block, const Budget& budget, Section& section) {
    if (memos_ && memos_->recall(block, budget, epoch_, section)) return Verdict::Done;
    return decode_new(block, budget, section);
  }

  // Gives back what blocks that came before are recognised by, and the table's spare room. It comes again.
  void rest() {
    memos_.reset();
    table_.fit();
  }

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  class Run;
  [[nodiscard]] Verdict decode_new(std::string_view block, const Budget& budget, Section& section);

  DynamicTable table_;
  std::unique_ptr<Memos> memos_;  // once a block has come
  std::uint64_t epoch_ = 0;       // another one after each change of the table, and of what is asked of blocks
  std::uint32_t table_bytes_max_ = kTableBytesDefault;
  // The smallest maximum since the last block, which the next one has to go down to when the table was larger.
  std::uint32_t table_bytes_low_ = kTableBytesDefault;
  bool must_update_ = false;
  bool is_broken_ = false;
};

}  // namespace violet::hpack
