#include "violet/http/head.h"

namespace violet::http {

std::string_view name(Version version) noexcept {
  switch (version) {
    case Version::Http10: return "HTTP/1.0";
    case Version::Http11: return "HTTP/1.1";
    case Version::Http2: return "HTTP/2";
    case Version::Http3: return "HTTP/3";
  }
  return "";
}

std::ptrdiff_t Head::pin() {
  if (raw.empty()) return 0;
  const std::string_view copy = fields.arena().copy(raw);
  const std::ptrdiff_t distance = copy.data() - raw.data();
  for (std::string_view* text : {&method_text, &target, &scheme, &authority, &path, &query, &protocol}) {
    if (text->data() >= raw.data() && text->data() <= raw.data() + raw.size()) *text = {text->data() + distance, text->size()};
  }
  fields.move_texts(raw, distance);
  raw = {};
  return distance;
}

}  // namespace violet::http
