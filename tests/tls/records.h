#pragma once

// RecordPeer: the other end of a RecordLayer, a client that seals whatever a test wants and opens what comes back.

#include "violet/tls/record/layer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

class RecordPeer {
 public:
  enum Type : unsigned char { kChangeCipherSpec = 20, kAlert = 21, kHandshake = 22, kData = 23 };

  RecordPeer(tls::CipherPool& pool, tls::Suite suite, std::uint64_t received = 0)
      : out_(pool, suite, tls::TrafficKeys::Way::Seal), in_(pool, suite, tls::TrafficKeys::Way::Open) {
    is_ready = out_.start(client_secret(suite), 0) && in_.start(server_secret(suite), received);
  }

  static std::string client_secret(tls::Suite suite) { return std::string(tls::TrafficKeys::secret_bytes(suite), 'c'); }
  static std::string server_secret(tls::Suite suite) { return std::string(tls::TrafficKeys::secret_bytes(suite), 's'); }

  // A record whose inside is `content`, its type and `padding` zeros (RFC 8446 §5.2, §5.4).
  std::string seal(std::string_view content, unsigned char type = kData, std::size_t padding = 0) {
    std::string inner(content);
    if (padding > 0) {
      inner += static_cast<char>(type);
      inner.append(padding - 1, '\0');
      type = 0;
    }
    return seal_inner(inner, type);
  }
  std::string seal_inner(std::string_view content, unsigned char last) {
    const std::size_t size = content.size() + 1 + tls::TrafficKeys::kTagBytes;
    std::string record(tls::TrafficKeys::kHeadBytes + size, '\0');
    record.replace(0, 5, {23, 3, 3, static_cast<char>(size >> 8), static_cast<char>(size)});
    if (!out_.seal(record.data(), content, last, record.data() + 5)) record.clear();
    return record;
  }
  std::string key_update(bool wants_ours = false) {
    const std::string record = seal({wants_ours ? "\x18\0\0\1\1" : "\x18\0\0\1\0", 5}, kHandshake);
    is_ready = is_ready && out_.update();
    return record;
  }

  struct Record {
    unsigned char type = 0;
    std::string content;
    bool operator==(const Record&) const = default;
  };
  // All records of what the server has sent; changes keys where the server does. Empty when one is wrong.
  std::vector<Record> open(std::string bytes) {
    std::vector<Record> records;
    while (bytes.size() >= 5) {
      const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
      const std::size_t size = static_cast<std::size_t>(at(3)) << 8 | at(4);
      if (bytes.size() < 5 + size) return {};
      const ssize_t n = in_.open(bytes.data(), bytes.data() + 5, size, bytes.data() + 5);
      if (n < 1) return {};
      Record record{at(5 + static_cast<std::size_t>(n) - 1), bytes.substr(5, static_cast<std::size_t>(n) - 1)};
      if (record.type == kHandshake && !in_.update()) return {};
      records.push_back(std::move(record));
      bytes.erase(0, 5 + size);
    }
    return records;
  }

  bool is_ready = false;

 private:
  tls::TrafficKeys out_;
  tls::TrafficKeys in_;
};

// What a layer makes of bytes that come in pieces of at most `piece`, read in bites of at most `bite`.
struct RecordReading {
  tls::RecordLayer::Verdict verdict = tls::RecordLayer::Verdict::More;  // the last one
  std::string content;
  std::size_t upkeep_count = 0;
  bool operator==(const RecordReading&) const = default;
};

inline RecordReading read_records(tls::RecordLayer& layer, std::string_view bytes,
                                  std::size_t piece = std::string::npos, std::size_t bite = 16'384) {
  using Verdict = tls::RecordLayer::Verdict;
  RecordReading reading;
  tls::Input input;
  std::string to(bite, '\0');
  for (;;) {
    std::size_t total = 0;
    reading.verdict = layer.open(input, to.data(), to.size(), total);
    reading.content.append(to, 0, total);
    if (reading.verdict == Verdict::Upkeep) ++reading.upkeep_count;
    if (reading.verdict == Verdict::Closed || reading.verdict == Verdict::Failed) return reading;
    if (reading.verdict != Verdict::More) continue;
    if (bytes.empty()) return reading;
    input.compact();
    const std::size_t n = std::min({piece, bytes.size(), input.room()});
    input.put(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
}

}  // namespace violet::test
