#include "violet/web/upload/part_head.h"

#include "violet/base/ascii.h"
#include "violet/data/format/utf8.h"

#include <cstddef>

namespace violet::web {
namespace {

struct Parameter {
  std::string_view name;
  std::string value;
};

// A quoted-string behind its first quote. A backslash counts where something follows that needs one: paths of Windows
// come without.
bool take_quoted(std::string_view& rest, std::string& value) {
  while (!rest.empty()) {
    char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c == '\\' && !rest.empty() && (rest.front() == '"' || rest.front() == '\\')) {
      c = rest.front();
      rest.remove_prefix(1);
    }
    value += c;
  }
  return false;
}

// Takes `; name=value` off. False: it is malformed.
bool take_parameter(std::string_view& rest, Parameter& out) {
  rest = ascii::trim(rest);
  if (rest.empty() || rest.front() != ';') return false;
  rest = ascii::trim(rest.substr(1));
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return false;
  out.name = ascii::trim(rest.substr(0, equals));
  out.value.clear();
  rest = ascii::trim(rest.substr(equals + 1));
  if (!ascii::is_token(out.name) || rest.empty()) return false;
  if (rest.front() == '"') {
    rest.remove_prefix(1);
    return take_quoted(rest, out.value);
  }
  const std::string_view token = ascii::trim(rest.substr(0, rest.find(';')));
  rest.remove_prefix(token.size());
  out.value = token;
  return ascii::is_token(token);
}

// f(parameter) for each behind the first `;`; f answers whether it may be. False: one is malformed or may not be.
template <class F>
bool for_each_parameter(std::string_view value, F&& f) {
  const std::size_t semicolon = value.find(';');
  std::string_view rest = semicolon == std::string_view::npos ? std::string_view{} : value.substr(semicolon);
  Parameter parameter;
  while (!ascii::trim(rest).empty()) {
    // A last `;` that nothing follows is often seen and says nothing.
    if (ascii::trim(rest) == ";") return true;
    if (!take_parameter(rest, parameter) || !f(parameter)) return false;
  }
  return true;
}

std::string_view without_parameters(std::string_view value) noexcept {
  return ascii::trim(value.substr(0, value.find(';')));
}

void replace_all(std::string& text, std::string_view what, char with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    text.replace(at, what.size(), 1, with);
  }
}

// What browsers encode in names.
void decode_name(std::string& name) {
  replace_all(name, "%22", '"');
  replace_all(name, "%0D", '\r');
  replace_all(name, "%0A", '\n');
}

// UTF-8'language'percent-encoded (RFC 8187 §3.2).
std::optional<std::string> decode_extended(std::string_view value) {
  const std::size_t charset = value.find('\'');
  const std::size_t language = charset == std::string_view::npos ? charset : value.find('\'', charset + 1);
  if (language == std::string_view::npos || !ascii::equal_folded(value.substr(0, charset), "UTF-8")) return {};
  const std::string_view encoded = value.substr(language + 1);
  std::string text;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      text += encoded[i];
      continue;
    }
    if (encoded.size() - i < 3) return {};
    const int high = ascii::hex_value(encoded[i + 1]);
    const int low = ascii::hex_value(encoded[i + 2]);
    if (high < 0 || low < 0) return {};
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

bool is_text(std::string_view text) noexcept {
  return text.find('\0') == std::string_view::npos && utf8::is_valid(text);
}

// Directories that a client names mean nothing here (RFC 7578 §4.2); "." and ".." are no names of files.
std::string last_segment(const std::string& name) {
  std::string last = name.substr(name.find_last_of("/\\") + 1);
  return last == "." || last == ".." ? std::string() : last;
}

std::string_view read_disposition(std::string_view value, PartHead& out) {
  if (!ascii::equal_folded(without_parameters(value), "form-data")) return "a part's disposition is not form-data";
  std::optional<std::string> name;
  std::optional<std::string> plain;
  std::optional<std::string> extended;
  const bool is_good = for_each_parameter(value, [&](Parameter& parameter) {
    std::optional<std::string>* to = nullptr;
    if (ascii::equal_folded(parameter.name, "name")) to = &name;
    if (ascii::equal_folded(parameter.name, "filename")) to = &plain;
    if (ascii::equal_folded(parameter.name, "filename*")) to = &extended;
    if (to == nullptr) return true;
    if (*to) return false;  // which of two counts would be a guess
    if (to == &extended) {
      *to = decode_extended(parameter.value);
      return to->has_value();
    }
    decode_name(parameter.value);
    *to = std::move(parameter.value);
    return true;
  });
  if (!is_good) return "the Content-Disposition of a part is malformed";
  if (!name) return "a part has no name";  // RFC 7578 §4.2
  out.name = std::move(*name);
  const std::optional<std::string>& file = extended ? extended : plain;
  if (file) out.file_name = last_segment(*file);
  return is_text(out.name) && is_text(out.file_name.value_or("")) ? "" : "the name of a part is not UTF-8";
}

std::string_view read_line(std::string_view name, std::string_view value, PartHead& out, bool& has_disposition) {
  if (ascii::equal_folded(name, "Content-Disposition")) {
    if (has_disposition) return "a part has two dispositions";
    has_disposition = true;
    return read_disposition(value, out);
  }
  if (ascii::equal_folded(name, "Content-Type")) {
    if (!out.content_type.empty()) return "a part has two types";
    out.content_type = value;
  }
  // Nobody sends it any more (RFC 7578 §4.7), and what is encoded would be taken for what it encodes.
  if (ascii::equal_folded(name, "Content-Transfer-Encoding") && !ascii::equal_folded(value, "binary") &&
      !ascii::equal_folded(value, "8bit") && !ascii::equal_folded(value, "7bit")) {
    return "the transfer encoding of a part is not supported";
  }
  return {};
}

}  // namespace

std::string_view read_part_head(std::string_view lines, PartHead& out) {
  out = {};
  bool has_disposition = false;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !ascii::is_token(line.substr(0, colon))) {
      return "a field line of a part is malformed";
    }
    const std::string_view value = ascii::trim(line.substr(colon + 1));
    if (!ascii::all_are(value, ascii::kFieldValue)) return "a field line of a part has a control character";
    if (const auto defect = read_line(line.substr(0, colon), value, out, has_disposition); !defect.empty()) {
      return defect;
    }
  }
  return has_disposition ? "" : "a part has no Content-Disposition";
}

bool is_form_data(std::string_view content_type) noexcept {
  return ascii::equal_folded(without_parameters(content_type), "multipart/form-data");
}

std::optional<std::string> boundary_of(std::string_view content_type) {
  constexpr std::size_t kBoundaryMax = 70;
  constexpr std::string_view kMarks = "'()+_,-./:=? ";
  std::optional<std::string> boundary;
  const bool is_good = for_each_parameter(content_type, [&](Parameter& parameter) {
    if (!ascii::equal_folded(parameter.name, "boundary")) return true;
    if (boundary) return false;
    boundary = std::move(parameter.value);
    return true;
  });
  if (!is_good || !boundary || boundary->empty() || boundary->size() > kBoundaryMax || boundary->back() == ' ')
    return {};
  for (const char c : *boundary) {
    const bool is_letter = ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z';
    if (!is_letter && !ascii::is(c, ascii::kDigit) && kMarks.find(c) == std::string_view::npos) return {};
  }
  return boundary;
}

}  // namespace violet::web
