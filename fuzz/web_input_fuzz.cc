// What handlers are given, against a reader that is written the slow way: Query<T> into a struct, numbers of paths and
// fields, cookies.
//
//   byte 0: what the rest is      0 a query, 1 a path parameter, 2 a field's value, 3 a Cookie field
//
// What must hold: the handler is called exactly when the reference can read everything, and with the same values; what
// is refused is refused with 400. Nothing is taken from outside the request.

#include "fuzz/expect.h"
#include "tests/web/fake_wire.h"
#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

struct In {
  int a;  // declared without a value: it has to come
  std::int64_t b = -1;
  int abc = 3;
  std::uint8_t c = 7;
  std::int16_t d = 8;
  std::string_view s = "text";
  std::optional<unsigned> o;
  std::vector<std::int64_t> v;
  std::vector<std::string> w;
  bool f = false;
  double x = 0.5;
};

std::string dump(const In& in) {
  std::string text = std::to_string(in.a) + " " + std::to_string(in.b) + " " + std::to_string(in.abc) + " " +
                     std::to_string(in.c) + " " + std::to_string(in.d) + " [" + std::string(in.s) + "] " +
                     (in.o ? std::to_string(*in.o) : "none") + " " + (in.f ? "true" : "false");
  for (const std::int64_t each : in.v) text += " " + std::to_string(each);
  for (const std::string& each : in.w) text.append(" [").append(each).append("]");
  char number[64];
  std::snprintf(number, sizeof number, " %.17g", in.x);
  return text + number;
}

// --- the slow reader

template <class T>
bool read_whole(std::string_view text, T& out) {
  if constexpr (std::is_signed_v<T>) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    if (text.empty()) return false;
    __int128 value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9') return false;
      if (value < (__int128{1} << 100)) value = value * 10 + (c - '0');
    }
    if (is_negative) value = -value;
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
    out = static_cast<T>(value);
    return true;
  } else {
    std::int64_t wide = 0;
    if (text.starts_with('-') || !read_whole(text, wide) || wide > std::numeric_limits<T>::max()) return false;
    out = static_cast<T>(wide);
    return true;
  }
}
bool read(std::string_view text, std::string_view& out) {
  out = text;
  return true;
}
bool read(std::string_view text, std::string& out) {
  out = text;
  return true;
}
bool read(std::string_view text, bool& out) {
  out = text == "true" || text == "1";
  return out || text == "false" || text == "0";
}
bool read(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(out);
}
template <class T>
bool read(std::string_view text, T& out) {
  return read_whole(text, out);
}
template <class T>
bool read(std::string_view text, std::optional<T>& out) {
  return read(text, out.emplace());
}
template <class T>
bool read(std::string_view text, std::vector<T>& out) {
  return read(text, out.emplace_back());
}
template <class T>
constexpr bool is_many(const std::vector<T>&) {
  return true;
}
template <class T>
constexpr bool is_many(const T&) {
  return false;
}

bool decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%') {
      if (text.size() - i < 3 || ascii::hex_value(text[i + 1]) < 0 || ascii::hex_value(text[i + 2]) < 0) return false;
      out += static_cast<char>(ascii::hex_value(text[i + 1]) * 16 + ascii::hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return true;
}

// False: refused. `kept` holds what views look at.
bool read_query(std::string_view query, In& in, std::vector<std::string>& kept) {
  bool is_good = true;
  std::vector<std::string> seen;
  kept.reserve(query.size() + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    std::string name;
    if (!decode(pair.substr(0, equals), name) || name.empty()) continue;
    const bool has_value = equals != std::string_view::npos;
    std::string& value = kept.emplace_back();
    const bool is_decoded = decode(has_value ? pair.substr(equals + 1) : std::string_view{}, value);
    reflect::for_each(in, [&](std::string_view member, auto& out) {
      if (member != name) return;
      if (std::find(seen.begin(), seen.end(), name) != seen.end() && !is_many(out)) return;
      seen.push_back(name);
      if (!has_value && std::is_same_v<decltype(out), bool&>) value = "true";
      is_good = is_decoded && read(value, out) && is_good;
    });
  }
  return is_good && std::find(seen.begin(), seen.end(), "a") != seen.end();
}

bool read_cookie(std::string_view rest, std::string_view wanted, std::string_view& found) {
  while (true) {
    const std::size_t end = rest.find(';');
    const std::string_view pair = ascii::trim(rest.substr(0, end));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals > 0 && ascii::trim(pair.substr(0, equals)) == wanted) {
      found = ascii::trim(pair.substr(equals + 1));
      if (found.size() >= 2 && found.front() == '"' && found.back() == '"') found = found.substr(1, found.size() - 2);
      return true;
    }
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

// --- what is asked

struct Server : web::FakeServer {
  Server() {
    router.get("/query", [](Query<In> in) { return dump(*in); });
    router.get("/path/{x}", [](Path<std::int16_t> x) { return std::to_string(*x); });
    router.get("/field", [](Header<"X-Number", std::optional<std::int32_t>> number) {
      return number->has_value() ? std::to_string(**number) : std::string("none");
    });
    router.get("/cookie", [](Cookies cookies) { return "[" + std::string(cookies.get("k").value_or("none")) + "]"; });
    EXPECT(router.freeze().empty());
  }
};

void expect(const web::FakeAnswer& answer, bool is_good, const std::string& text) {
  EXPECT(answer.status == (is_good ? 200 : 400));
  if (is_good) EXPECT(answer.body == text);
}

void check_query(Server& server, std::string_view text) {
  if (!ascii::all_are(text, ascii::kTarget)) return;
  In in;
  in.a = 0;
  std::vector<std::string> kept;
  const bool is_good = read_query(text, in, kept);
  expect(server.get("/query?" + std::string(text)), is_good, dump(in));
}

void check_path(Server& server, std::string_view text) {
  if (text.empty() || !ascii::all_are(text, ascii::kTarget) || text.find_first_of("/?") != text.npos) return;
  std::string decoded;
  // A '+' is itself in a path.
  std::string escaped;
  for (const char c : text) escaped.append(c == '+' ? "%2b" : std::string(1, c));
  const bool is_decoded = decode(escaped, decoded);
  std::int16_t value = 0;
  const web::FakeAnswer answer = server.get("/path/" + std::string(text));
  if (is_decoded && (decoded.empty() || decoded.find('\0') != decoded.npos)) {
    EXPECT(answer.status == 404);
    return;
  }
  const bool is_good = is_decoded && read_whole(decoded, value);
  expect(answer, is_good, std::to_string(value));
}

void check_field(Server& server, std::string_view text) {
  if (!http::is_field_value(text)) return;
  std::int32_t value = 0;
  const bool is_good = read_whole(text, value);
  expect(server.get("/field", {{"X-Number", std::string(text)}}), is_good, std::to_string(value));
}

void check_cookie(Server& server, std::string_view text) {
  if (!http::is_field_value(text)) return;
  std::string_view found = "none";
  static_cast<void>(read_cookie(text, "k", found));
  expect(server.get("/cookie", {{"Cookie", std::string(text)}}), true, "[" + std::string(found) + "]");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: check_query(server, text); break;
    case 1: check_path(server, text); break;
    case 2: check_field(server, text); break;
    default: check_cookie(server, text);
  }
  return 0;
}
