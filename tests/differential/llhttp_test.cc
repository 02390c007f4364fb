// violet's request parser beside llhttp in its strict mode: the same verdict and the same reading of a head, or a
// difference of a class that stands below with its reason, and in docs/protocols.md.

#include <gtest/gtest.h>

#ifndef VIOLET_HAS_LLHTTP

TEST(Llhttp, AgreesAboutRequestHeads) {
  GTEST_SKIP() << "llhttp's sources (Debian package node-llhttp) are not installed";
}

#else

#include "violet/base/ascii.h"
#include "violet/h1/parser.h"
#include "violet/http/target.h"
#include "violet/memory/buffer.h"

#include <llhttp.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace violet {
namespace {

struct Reading {
  enum Verdict { More, Done, Bad } verdict = More;
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> fields;
  int minor = 1, major = 1;
  bool is_chunked = false, keeps_alive = false;
  std::uint64_t length = 0;
  std::size_t used = 0;
  int error = 0;  // llhttp's
};

Reading read_ours(std::string_view text) {
  std::string bytes(text);
  bytes.append(kScanPadding, '\0');
  Arena arena;
  http::Head head(arena);
  h1::Framing framing;
  const h1::Parsed parsed = h1::parse_head(bytes.data(), bytes.data() + text.size(), Limits{}, head, framing);
  Reading reading;
  if (parsed.verdict == h1::Verdict::Bad) reading.verdict = Reading::Bad;
  if (parsed.verdict != h1::Verdict::Done) return reading;
  reading.verdict = Reading::Done;
  reading.method = head.method_text;
  reading.target = head.target;
  for (const http::Field& field : head.fields) reading.fields.emplace_back(field.name, field.value);
  reading.minor = head.version == http::Version::Http10 ? 0 : 1;
  reading.is_chunked = framing.is_chunked;
  reading.length = framing.content_length;
  reading.keeps_alive = framing.keeps_alive;
  reading.used = static_cast<std::size_t>(parsed.end - bytes.data());
  return reading;
}

struct Oracle {
  llhttp_t parser;
  Reading reading;
  bool is_value = true;
};
Oracle& of(llhttp_t* parser) { return *static_cast<Oracle*>(parser->data); }

Reading read_theirs(std::string_view text) {
  static const llhttp_settings_t kSettings = [] {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_method = [](llhttp_t* parser, const char* at, std::size_t size) {
      of(parser).reading.method.append(at, size);
      return 0;
    };
    settings.on_url = [](llhttp_t* parser, const char* at, std::size_t size) {
      of(parser).reading.target.append(at, size);
      return 0;
    };
    settings.on_header_field = [](llhttp_t* parser, const char* at, std::size_t size) {
      Oracle& oracle = of(parser);
      if (oracle.is_value) oracle.reading.fields.emplace_back();
      oracle.is_value = false;
      oracle.reading.fields.back().first.append(at, size);
      return 0;
    };
    settings.on_header_value = [](llhttp_t* parser, const char* at, std::size_t size) {
      of(parser).reading.fields.back().second.append(at, size);
      return 0;
    };
    settings.on_header_value_complete = [](llhttp_t* parser) {
      of(parser).is_value = true;
      return 0;
    };
    settings.on_headers_complete = [](llhttp_t* parser) {
      Reading& reading = of(parser).reading;
      reading.verdict = Reading::Done;
      reading.major = parser->http_major;
      reading.minor = parser->http_minor;
      reading.is_chunked = (parser->flags & F_CHUNKED) != 0;
      reading.length = (parser->flags & F_CONTENT_LENGTH) != 0 ? parser->content_length : 0;
      reading.keeps_alive = parser->http_major > 0 && parser->http_minor > 0
                                ? (parser->flags & F_CONNECTION_CLOSE) == 0
                                : (parser->flags & F_CONNECTION_KEEP_ALIVE) != 0;
      return static_cast<int>(HPE_PAUSED);
    };
    return settings;
  }();
  Oracle oracle;
  llhttp_init(&oracle.parser, HTTP_REQUEST, &kSettings);
  oracle.parser.data = &oracle;
  const llhttp_errno_t error = llhttp_execute(&oracle.parser, text.data(), text.size());
  if (error != HPE_OK && error != HPE_PAUSED) oracle.reading.verdict = Reading::Bad;
  oracle.reading.error = error;
  for (auto& [name, value] : oracle.reading.fields) value = ascii::trim(value);
  return oracle.reading;
}

// --- what both may disagree about

std::string_view head_of(std::string_view text) {
  // Up to the first empty line by anybody's reading, those in front left out.
  std::size_t end = text.size();
  const std::size_t begin = std::min(text.find_first_not_of("\r\n"), text.size());
  for (std::size_t i = begin; i + 1 < text.size(); ++i) {
    if (text[i] == '\n' &&
        (text[i + 1] == '\n' || (text[i + 1] == '\r' && i + 2 < text.size() && text[i + 2] == '\n'))) {
      end = std::min(text.size(), i + 3);
      break;
    }
  }
  return text.substr(0, end);
}
bool has_bare_line_end(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')) return true;
    if (head[i] == '\r' && (i + 1 == head.size() || head[i + 1] != '\n')) return true;
  }
  return false;
}
bool has_fold(std::string_view head) {
  return head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos;
}
int count(const Reading& reading, std::string_view name) {
  return static_cast<int>(
      std::ranges::count_if(reading.fields, [&](const auto& field) { return ascii::equal_folded(field.first, name); }));
}
std::string value(const Reading& reading, std::string_view name) {
  for (const auto& [each, text] : reading.fields) {
    if (ascii::equal_folded(each, name)) return text;
  }
  return {};
}
bool is_target_refused(const Reading& theirs) {
  Arena arena;
  http::Head head(arena);
  head.method = http::find_method(theirs.method);
  head.target = theirs.target;
  return !ascii::all_are(theirs.target, ascii::kTarget) || !http::split_target(head);
}

// Why ours refuses what theirs takes, "" when there is no good reason.
std::string why_stricter(std::string_view text, const Reading& theirs) {
  const std::string_view head = head_of(text);
  const bool is_old = theirs.major == 1 && theirs.minor == 0;
  if (theirs.major != 1) return "version";
  if (has_bare_line_end(head)) return "line end";
  if (has_fold(head)) return "fold";
  if (count(theirs, "") > 0) return "empty name";
  if (const int hosts = count(theirs, "Host");
      hosts > 1 || (hosts == 0 && !is_old) || (hosts == 1 && !http::is_authority(value(theirs, "Host"), true))) {
    return "host";
  }
  if (is_target_refused(theirs)) return "target";
  if (const int codings = count(theirs, "Transfer-Encoding"); codings > 0) {
    if (is_old || codings > 1 || !ascii::equal_folded(value(theirs, "Transfer-Encoding"), "chunked")) return "coding";
  }
  if (value(theirs, "Content-Length").size() > 19) return "length";
  if (theirs.method == "CONNECT" && (theirs.length > 0 || theirs.is_chunked)) return "connect body";
  std::string_view request_line = head.substr(std::min(head.find_first_not_of("\r\n"), head.size()));
  request_line = request_line.substr(0, request_line.find('\n'));
  if (request_line.find("  ") != std::string_view::npos) return "spaces";
  return {};
}

// Why ours takes what theirs refuses.
std::string why_wider(const Reading& ours, const Reading& theirs) {
  if (theirs.error == HPE_INVALID_METHOD) return "method";
  if (theirs.error == HPE_INVALID_VERSION) return "minor version";
  if (theirs.error == HPE_INVALID_CONSTANT && ours.method != "GET") return "method";
  return {};
}

struct Tally {
  std::size_t inputs = 0, both_done = 0, both_bad = 0, waiting = 0;
  std::map<std::string, std::size_t> classes;
};

std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
    text += escaped;
  }
  return text;
}

// "" or what is wrong.
std::string compare(std::string_view text, Tally& tally) {
  const Reading ours = read_ours(text);
  const Reading theirs = read_theirs(text);
  ++tally.inputs;
  if (ours.verdict == Reading::Done && theirs.verdict == Reading::Done) {
    ++tally.both_done;
    if (ours.method != theirs.method) return "method: " + ours.method + " / " + theirs.method;
    if (ours.target != theirs.target) return "target: " + ours.target + " / " + theirs.target;
    if (ours.fields != theirs.fields) return "fields";
    if (ours.is_chunked != theirs.is_chunked || ours.length != theirs.length) return "framing";
    if (ours.minor != theirs.minor) return "version";
    if (ours.keeps_alive != theirs.keeps_alive) {
      // Theirs does not look for members inside quotes and lists as ours does.
      if (value(ours, "Connection").empty()) return "keep-alive";
      ++tally.classes["connection"];
    }
    return {};
  }
  if (ours.verdict == theirs.verdict) {
    ++(ours.verdict == Reading::Bad ? tally.both_bad : tally.waiting);
    return {};
  }
  std::string name;
  if (ours.verdict != Reading::Done && theirs.verdict == Reading::Done) name = why_stricter(text, theirs);
  if (ours.verdict == Reading::Done && theirs.verdict != Reading::Done) name = why_wider(ours, theirs);
  // One waits where the other has made up its mind to refuse: nothing is understood differently.
  if (ours.verdict != Reading::Done && theirs.verdict != Reading::Done) name = "refused sooner or later";
  if (name.empty()) {
    return "ours " + std::to_string(ours.verdict) + ", theirs " + std::to_string(theirs.verdict) + ", error " +
           std::to_string(theirs.error);
  }
  ++tally.classes[name];
  return {};
}

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(VIOLET_SOURCE_DIR "/fuzz/corpus/h1_head")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() > 1) texts.push_back(bytes.substr(1));
  }
  std::ranges::sort(texts);
  return texts;
}

constexpr std::string_view kWords[] = {"GET ",
                                       "POST ",
                                       "HEAD ",
                                       "CONNECT ",
                                       "OPTIONS ",
                                       " HTTP/1.1\r\n",
                                       " HTTP/1.0\r\n",
                                       "Host: a\r\n",
                                       "Host:",
                                       "Content-Length: ",
                                       "Content-Length: 5\r\n",
                                       "Transfer-Encoding: chunked\r\n",
                                       "Transfer-Encoding: ",
                                       "chunked",
                                       "gzip",
                                       "identity",
                                       "Connection: close\r\n",
                                       "Connection: keep-alive\r\n",
                                       "Connection: ",
                                       "close",
                                       "keep-alive",
                                       "upgrade",
                                       "Upgrade: x\r\n",
                                       "\r\n",
                                       "\r\n\r\n",
                                       "\r",
                                       "\n",
                                       " ",
                                       "\t",
                                       "\v",
                                       std::string_view("\0", 1),
                                       ":",
                                       ",",
                                       ";",
                                       "\"",
                                       "http://a",
                                       "*",
                                       "/",
                                       "?",
                                       "#",
                                       "[::1]",
                                       "\x7f",
                                       "\x80",
                                       "\xff",
                                       "0",
                                       "18446744073709551615",
                                       "X-Y: z\r\n",
                                       "%",
                                       "5, 5"};

std::string mutate(std::string text, const std::vector<std::string>& texts, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return n == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t rounds = 1 + below(3); rounds > 0; --rounds) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0: text.insert(at, kWords[below(std::size(kWords))]); break;
      case 1: text.erase(at, 1 + below(4)); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 4: text.insert(at, text.substr(below(text.size()), below(24))); break;
      case 5: {
        const std::string& other = texts[below(texts.size())];
        text = text.substr(0, at) + other.substr(below(other.size()));
        break;
      }
    }
  }
  return text;
}

TEST(Llhttp, AgreesAboutRequestHeads) {
  const std::vector<std::string> texts = corpus();
  ASSERT_GT(texts.size(), 20u);
  Tally tally;
  int failures = 0;
  const auto check = [&](const std::string& text) {
    const std::string wrong = compare(text, tally);
    if (wrong.empty()) return true;
    ADD_FAILURE() << wrong << ": " << shown(text);
    return ++failures < 20;
  };
  for (const std::string& text : texts) {
    if (!check(text)) return;
  }
  std::mt19937 random(20260);
  for (int i = 0; i < 500'000; ++i) {
    if (!check(mutate(texts[static_cast<std::size_t>(i) % texts.size()], texts, random))) return;
  }
  std::printf("%zu inputs: taken by both %zu, refused by both %zu, incomplete for both %zu\n", tally.inputs,
              tally.both_done, tally.both_bad, tally.waiting);
  for (const auto& [name, times] : tally.classes) std::printf("  %-24s %zu\n", name.c_str(), times);
  EXPECT_GT(tally.both_done, tally.inputs / 20) << "a comparison of refusals alone proves little";
}

}  // namespace
}  // namespace violet

#endif
