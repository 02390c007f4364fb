#pragma once

// Which answers are encoded at all.

#include "violet/features/compress/options.h"
#include "violet/http/head.h"

#include <string_view>

namespace violet::encoding {

// The answer has a body of its own that nobody has encoded or forbidden to encode.
[[nodiscard]] bool may_encode(const http::Head& response) noexcept;
// The media type (parameters are passed over) promises that encoding pays.
[[nodiscard]] bool is_worth_it(std::string_view content_type, const CompressOptions& options) noexcept;

}  // namespace violet::encoding
