// The record layer of TLS 1.3 against a peer that has the keys: records of any content and type, changes of keys,
// records that were touched, and bytes that are no records. What the layer makes of them is what a model says, whole
// and in pieces, and what it seals the peer can open.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "tests/tls/records.h"

#include <cstdint>
#include <string>

namespace {

using namespace violet;
using Verdict = tls::RecordLayer::Verdict;

struct Script {
  std::string bytes;
  std::string content;  // what comes of it before it fails or ends
  bool is_sure = true;  // the model knows `content`
};

constexpr unsigned char kTypes[] = {20, 21, 22, 23, 23, 23, 0, 99};

Script write_script(fuzz::Input& input, test::RecordPeer& peer) {
  Script script;
  bool is_over = false;
  while (!input.is_empty() && script.bytes.size() < 200'000) {
    const std::uint8_t what = input.byte();
    const std::size_t times = what & 0x40 ? input.byte() * 66u : 1;
    std::string record;
    switch (what & 7) {
      case 0:
      case 1:
      case 2: {
        std::string content;
        const std::string_view text = input.sized_text();
        for (std::size_t i = 0; i < times && content.size() < 17'000; ++i) content += text;
        record = peer.seal(content, test::RecordPeer::kData, what & 0x80 ? input.byte() * 5u : 0);
        if (!is_over && content.size() > tls::RecordLayer::kPlainBytesMax) is_over = true;
        if (!is_over) script.content += content;
        // Padding over the limit, or a flood of empty records.
        script.is_sure = script.is_sure && !content.empty() && content.size() < 15'000;
        break;
      }
      case 3: record = peer.key_update((what & 8) != 0); break;
      case 4:
        record = peer.seal({"\1\0", 2}, test::RecordPeer::kAlert);
        is_over = true;
        break;
      case 5:
        record = peer.seal_inner(input.sized_text(), kTypes[input.byte() & 7]);
        script.is_sure = false;
        break;
      case 6:
        record = peer.seal("touched");
        record[input.byte() % record.size()] ^= static_cast<char>(input.byte() | 1);
        is_over = true;
        break;
      default:
        record = input.sized_text();
        script.is_sure = script.is_sure && record.empty();
        break;
    }
    script.bytes += record;
  }
  return script;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tls::CipherPool pool;
  fuzz::Input input(data, size);
  const auto suite = static_cast<tls::Suite>(input.byte() % tls::kSuiteCount);
  const std::size_t piece = 1 + input.byte() * (input.byte() & 1 ? 97u : 1u);
  const std::size_t bite = 1 + input.byte() * (input.byte() & 1 ? 97u : 1u);
  test::RecordPeer peer(pool, suite);
  EXPECT(peer.is_ready);
  const Script script = write_script(input, peer);

  tls::RecordLayer whole(pool, suite);
  tls::RecordLayer parts(pool, suite);
  for (tls::RecordLayer* layer : {&whole, &parts}) {
    EXPECT(layer->start(test::RecordPeer::client_secret(suite), test::RecordPeer::server_secret(suite), 0));
  }
  const test::RecordReading expected = test::read_records(whole, script.bytes);
  const test::RecordReading got = test::read_records(parts, script.bytes, piece, bite);
  EXPECT(got == expected);
  EXPECT(whole.alert() == parts.alert() && whole.reason() == parts.reason() && whole.owes_keys() == parts.owes_keys());
  EXPECT((expected.verdict == Verdict::Failed) == (whole.reason() != 0));
  EXPECT(!script.is_sure || expected.content == script.content);

  std::string sealed(tls::RecordLayer::kMessageBytesMax + tls::RecordLayer::kOverheadBytes + 100, '\0');
  std::size_t end = whole.owes_keys() ? whole.seal_keys(sealed.data()) : 0;
  end += whole.seal("answer", sealed.data() + end);
  const auto answer = peer.open(sealed.substr(0, end));
  EXPECT(!answer.empty() && answer.back() == (test::RecordPeer::Record{test::RecordPeer::kData, "answer"}));
  return 0;
}
