#pragma once

// nghttp2's ends of HPACK behind plain calls, and what violet's decoder is to make of the lines that nghttp2 reads.

#include "tests/hpack/blocks.h"
#include "violet/base/ascii.h"

#include <nghttp2/nghttp2.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace violet::fuzz {

struct HpackLine {
  std::string name;
  std::string value;
  bool is_sensitive = false;

  friend bool operator==(const HpackLine&, const HpackLine&) = default;
};

class Nghttp2Inflater {
 public:
  Nghttp2Inflater() { VIOLET_CHECK(nghttp2_hd_inflate_new(&inflater_) == 0); }
  Nghttp2Inflater(const Nghttp2Inflater&) = delete;
  Nghttp2Inflater& operator=(const Nghttp2Inflater&) = delete;
  ~Nghttp2Inflater() { nghttp2_hd_inflate_del(inflater_); }

  void set_table_bytes_max(std::uint32_t bytes) {
    VIOLET_CHECK(nghttp2_hd_inflate_change_table_size(inflater_, bytes) == 0);
  }
  [[nodiscard]] std::size_t table_bytes() { return nghttp2_hd_inflate_get_dynamic_table_size(inflater_); }

  // nullopt: broken.
  std::optional<std::vector<HpackLine>> inflate(std::string_view block) {
    std::vector<HpackLine> lines;
    const auto* in = reinterpret_cast<const std::uint8_t*>(block.data());
    std::size_t left = block.size();
    for (;;) {
      nghttp2_nv line;
      int flags = 0;
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &line, &flags, in, left, 1);
      if (used < 0) return std::nullopt;
      in += used;
      left -= static_cast<std::size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        lines.push_back({{reinterpret_cast<const char*>(line.name), line.namelen},
                         {reinterpret_cast<const char*>(line.value), line.valuelen},
                         (line.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0});
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && left == 0) return std::nullopt;
    }
    VIOLET_CHECK(nghttp2_hd_inflate_end_headers(inflater_) == 0);
    return lines;
  }

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

class Nghttp2Deflater {
 public:
  Nghttp2Deflater() { VIOLET_CHECK(nghttp2_hd_deflate_new(&deflater_, 4096) == 0); }
  Nghttp2Deflater(const Nghttp2Deflater&) = delete;
  Nghttp2Deflater& operator=(const Nghttp2Deflater&) = delete;
  ~Nghttp2Deflater() { nghttp2_hd_deflate_del(deflater_); }

  void set_table_bytes_max(std::uint32_t bytes) {
    VIOLET_CHECK(nghttp2_hd_deflate_change_table_size(deflater_, bytes) == 0);
  }
  [[nodiscard]] std::size_t table_bytes() { return nghttp2_hd_deflate_get_dynamic_table_size(deflater_); }

  std::string deflate(const std::vector<HpackLine>& lines) {
    std::vector<nghttp2_nv> array;
    for (const HpackLine& line : lines) {
      const auto bytes = [](const std::string& text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
      };
      array.push_back({bytes(line.name), bytes(line.value), line.name.size(), line.value.size(),
                       static_cast<std::uint8_t>(line.is_sensitive ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)});
    }
    std::string block(nghttp2_hd_deflate_bound(deflater_, array.data(), array.size()), '\0');
    const ssize_t size = nghttp2_hd_deflate_hd(deflater_, reinterpret_cast<std::uint8_t*>(block.data()), block.size(),
                                               array.data(), array.size());
    VIOLET_CHECK(size >= 0);
    block.resize(static_cast<std::size_t>(size));
    return block;
  }

 private:
  nghttp2_hd_deflater* deflater_ = nullptr;
};

// What a section of these lines has to look like.
struct ExpectedSection {
  std::vector<HpackLine> fields;
  std::optional<HpackLine> pseudo[hpack::kPseudoCount];
  std::uint8_t flaws = 0;

  explicit ExpectedSection(const std::vector<HpackLine>& lines) {
    for (const HpackLine& line : lines) add(line);
  }

  [[nodiscard]] bool is(const hpack::Section& section) const {
    for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
      const auto which = static_cast<hpack::Pseudo>(i);
      if (section.has(which) != pseudo[i].has_value()) return false;
      if (!pseudo[i]) continue;
      const bool is_sensitive = (section.sensitive & hpack::Section::bit(which)) != 0;
      if (section.get(which) != pseudo[i]->value || is_sensitive != pseudo[i]->is_sensitive) return false;
    }
    if (section.flaws != flaws || section.fields.count() != fields.size()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const http::Field& field = section.fields.begin()[i];
      const std::string_view name = field.id != http::FieldId::Other ? http::lower_name(field.id) : field.name;
      if (name != fields[i].name || field.value != fields[i].value || field.is_sensitive != fields[i].is_sensitive)
        return false;
      const bool is_upper = name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos;
      if (field.id != (is_upper ? http::FieldId::Other : http::find_field(name))) return false;
      if (!section.has(field.id)) return false;
    }
    return true;
  }

 private:
  void add(const HpackLine& line) {
    using hpack::Section;
    if (!http::is_field_value(line.value)) flaws |= Section::kBadValue;
    if (!line.name.starts_with(':')) {
      if (!ascii::is_token(line.name) || line.name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos) {
        flaws |= Section::kBadName;
      }
      fields.push_back(line);
      return;
    }
    for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
      if (line.name != hpack::name(static_cast<hpack::Pseudo>(i))) continue;
      if (pseudo[i]) {
        flaws |= Section::kRepeatedPseudo;
        return;
      }
      if (!fields.empty()) flaws |= Section::kLatePseudo;
      pseudo[i] = line;
      return;
    }
    flaws |= Section::kUnknownPseudo;
  }
};

}  // namespace violet::fuzz
