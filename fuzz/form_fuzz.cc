// Forms in their two encodings.
//
//   the input: an urlencoded form
//
// What must hold: the same pairs as multipart/form-data are read the same, or refused with the same status; with
// either, what is refused is a 422.

#include "violet/web/content/form.h"

#include "fuzz/expect.h"
#include "tests/web/fake_wire.h"
#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/data/rule/checked.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuzzed {

struct In {
  violet::text<1, 8> a;
  int b = 1;
  std::optional<std::string> c;
  std::optional<int> d;
  std::vector<std::string> e;
  bool f = false;
  std::vector<std::uint8_t> g;
};

}  // namespace fuzzed

namespace {

using namespace violet;
using fuzzed::In;

std::string dump(const In& in) {
  std::string text = "[" + *in.a + "] " + std::to_string(in.b) + " " + (in.c ? "[" + *in.c + "]" : "none") + " " +
                     (in.d ? std::to_string(*in.d) : "none") + (in.f ? " true" : " false");
  for (const std::string& each : in.e) text.append(" [").append(each).append("]");
  for (const std::uint8_t each : in.g) text.append(" ").append(std::to_string(each));
  return text;
}

bool decode(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (text.size() - i < 3 || ascii::hex_value(text[i + 1]) < 0 || ascii::hex_value(text[i + 2]) < 0) return false;
    out += static_cast<char>(ascii::hex_value(text[i + 1]) * 16 + ascii::hex_value(text[i + 2]));
    i += 2;
  }
  return true;
}

// The same pairs as parts; nothing where they cannot be written so.
std::optional<std::string> as_parts(std::string_view rest) {
  std::string body;
  std::string_view raw_name;
  std::string_view raw_value;
  while (web::next_pair(rest, raw_name, raw_value)) {
    std::string name;
    std::string value;
    if (!decode(raw_name, name) || !decode(raw_value, value)) return {};
    if (!ascii::is_token(name) || value.find("--B") != std::string::npos) return {};
    body += "--B\r\nContent-Disposition: form-data; name=" + name + "\r\n\r\n" + value + "\r\n";
  }
  return body + "--B--";
}

struct Server : web::FakeServer {
  Server() {
    router.post("/", [](Form<In> form) { return dump(*form); });
    EXPECT(router.freeze().empty());
  }
  web::FakeAnswer ask(std::string body, std::string type) {
    return send({.method = http::Method::Post, .fields = {{"Content-Type", std::move(type)}}, .body = std::move(body)});
  }
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const web::FakeAnswer plain = server.ask(std::string(text), "application/x-www-form-urlencoded");
  EXPECT(plain.status == 200 || plain.status == 422);
  const auto parts = as_parts(text);
  if (!parts) return 0;
  const web::FakeAnswer other = server.ask(*parts, "multipart/form-data; boundary=B");
  EXPECT(other.status == plain.status);
  EXPECT(other.body == plain.body);
  return 0;
}
