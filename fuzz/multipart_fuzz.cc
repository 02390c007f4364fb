// The multipart parser.
//
//   byte 0: the size of the pieces
//   bytes 1…: a body with the boundary "B"
//
// What must hold: in pieces, and byte by byte, it gives what the whole gives; what was read, written anew, reads the
// same; content never holds a boundary, a name never a directory.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "violet/core/limits.h"
#include "violet/web/upload/parser.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;
using Step = web::MultipartParser::Step;

struct Found {
  struct Part {
    std::string name;
    std::optional<std::string> file_name;
    std::string content_type;
    std::string content;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;  // those that are whole
  Error error;
  std::string defect;
  bool operator==(const Found&) const = default;
};

const Limits& limits() {
  static const Limits small = [] {
    Limits made;
    made.multipart_parts_max = 8;
    made.multipart_head_bytes_max = 256;
    made.multipart_name_bytes_max = 64;
    made.multipart_field_bytes_max = 512;
    made.multipart_file_bytes_max = 1024;
    return made;
  }();
  return small;
}

Found read(std::string_view body, std::size_t piece_size) {
  web::MultipartParser parser("B", limits());
  Found found;
  Found::Part part;
  bool is_over = false;
  const auto take = [&](Step step) {
    switch (step) {
      case Step::More: return false;
      case Step::Part:
        part = {parser.head().name, parser.head().file_name, parser.head().content_type, {}};
        return true;
      case Step::Data:
        EXPECT(!parser.data().empty());
        part.content += parser.data();
        return true;
      case Step::PartEnd: found.parts.push_back(part); return true;
      case Step::Bad:
        found.error = parser.error();
        found.defect = parser.defect();
        [[fallthrough]];
      case Step::End: is_over = true;
    }
    return false;
  };
  for (std::size_t at = 0; at < body.size() && !is_over; at += piece_size) {
    const std::string piece(body.substr(at, piece_size));
    std::string_view rest = piece;
    while (take(parser.next(rest))) {
    }
  }
  if (!is_over) take(parser.finish());
  EXPECT(is_over);
  return found;
}

std::string quote(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') {
      quoted += "%22";
    } else if (c == '\r') {
      quoted += "%0D";
    } else if (c == '\n') {
      quoted += "%0A";
    } else {
      if (c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Names with other controls, or with what looks encoded, cannot be written so that they read the same.
bool can_write(std::string_view name) {
  if (name.find('%') != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f : c == '\r' || c == '\n'; });
}

void check_again(const Found& found) {
  std::string body;
  for (const Found::Part& part : found.parts) {
    EXPECT(part.content.find("\r\n--B") == std::string::npos);
    EXPECT(part.file_name.value_or("").find_first_of("/\\") == std::string::npos);
    if (!can_write(part.name) || !can_write(part.file_name.value_or(""))) return;
    body += "--B\r\nContent-Disposition: form-data; name=" + quote(part.name);
    if (part.file_name) body += "; filename=" + quote(*part.file_name);
    if (!part.content_type.empty()) body += "\r\nContent-Type: " + part.content_type;
    body += "\r\n\r\n" + part.content + "\r\n";
  }
  Found again = read(body + "--B--", body.size() + 5);
  // What is written in another way may be longer.
  if (again.error.kind() == ErrorKind::TooLarge) return;
  EXPECT(!again.error);
  EXPECT(again.parts == found.parts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece_size = input.byte() + std::size_t{1};
  const std::string_view body = input.text(size);
  const Found whole = read(body, body.size() + 1);
  EXPECT(read(body, piece_size) == whole);
  EXPECT(read(body, 1) == whole);
  check_again(whole);
  static_cast<void>(web::boundary_of(body));
  return 0;
}
