#include "violet/http/value/media_type.h"

#include "violet/base/ascii.h"
#include "violet/http/value/media_type_table.h"

#include <algorithm>

namespace violet::http {

std::string_view media_type_of_extension(std::string_view extension) noexcept {
  char folded[kExtensionMax];
  if (extension.empty() || extension.size() > sizeof folded) return {};
  std::transform(extension.begin(), extension.end(), folded, ascii::lower);
  const std::string_view key(folded, extension.size());
  const auto* end = std::end(kMediaTypes);
  const auto* at =
      std::lower_bound(std::begin(kMediaTypes), end, key,
                       [](const MediaTypeRow& row, std::string_view wanted) { return row.extension < wanted; });
  return at != end && at->extension == key ? at->type : std::string_view{};
}

std::string_view media_type_of(std::string_view file_name) noexcept {
  const std::string_view name = file_name.substr(file_name.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return kOctetStream;
  const std::string_view type = media_type_of_extension(name.substr(dot + 1));
  return type.empty() ? kOctetStream : type;
}

}  // namespace violet::http
