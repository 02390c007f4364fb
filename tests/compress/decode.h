#pragma once

// What a client does with an encoded body. Each fails the test, and gives "", for anything but one whole, well-formed
// body.

#include "violet/http/value/coding.h"

#include <string>
#include <string_view>

namespace violet::encoding {

std::string decode(http::Coding coding, std::string_view encoded);
// As much as can be read of the beginning of a gzip body.
std::string decode_part(std::string_view encoded);

// Text that compresses about as well as JSON does, always the same.
std::string sample(std::size_t size);

}  // namespace violet::encoding
