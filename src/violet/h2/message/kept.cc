#include "violet/h2/message/kept.h"

#include <cstdint>
#include <cstring>

namespace violet::h2 {
namespace {

// Numbers are written as they stand in memory: nobody but restore() reads them.
void put(std::string& out, std::uint32_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }
void put(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// Reads what put() wrote; texts are views into it.
class Reader {
 public:
  explicit Reader(std::string_view kept) noexcept : rest_(kept) {}
  [[nodiscard]] bool is_done() const noexcept { return rest_.empty(); }
  std::uint32_t number() noexcept {
    std::uint32_t value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text() noexcept {
    const std::uint32_t size = number();
    const std::string_view value(rest_.data(), size);
    rest_.remove_prefix(value.size());
    return value;
  }

 private:
  std::string_view rest_;
};

void put_fields(std::string& out, const http::Fields& fields) {
  for (const http::Field& field : fields) {
    put(out, static_cast<std::uint32_t>(field.id) << 1 | (field.is_sensitive ? 1u : 0u));
    if (field.id == http::FieldId::Other) put(out, field.name);
    put(out, field.value);
  }
}

void take_fields(Reader reader, http::Fields& fields) {
  while (!reader.is_done()) {
    const std::uint32_t number = reader.number();
    http::Field& field = fields.push_raw();
    field.id = static_cast<http::FieldId>(number >> 1);
    field.is_sensitive = (number & 1) != 0;
    field.name = field.id == http::FieldId::Other ? reader.text() : http::name(field.id);
    field.value = reader.text();
  }
}

}  // namespace

std::string keep(const http::Fields& fields) {
  std::string out;
  put_fields(out, fields);
  return out;
}

std::string keep(const http::Head& request) {
  std::string out;
  put(out, static_cast<std::uint32_t>(request.form));
  for (const std::string_view text :
       {request.method_text, request.target, request.scheme, request.authority, request.protocol}) {
    put(out, text);
  }
  put(out, static_cast<std::uint32_t>(request.path.size()));
  put_fields(out, request.fields);
  out.shrink_to_fit();
  return out;
}

void restore(std::string_view kept, http::Fields& fields) { take_fields(Reader(fields.arena().copy(kept)), fields); }

void restore(std::string_view kept, http::Head& request) {
  Reader reader(request.fields.arena().copy(kept));
  request.version = http::Version::Http2;
  request.form = static_cast<http::TargetForm>(reader.number());
  for (std::string_view* text :
       {&request.method_text, &request.target, &request.scheme, &request.authority, &request.protocol}) {
    *text = reader.text();
  }
  request.method = http::find_method(request.method_text);
  // Path and query are parts of the target.
  const std::uint32_t path_bytes = reader.number();
  request.path = request.target.substr(0, path_bytes);
  request.query =
      path_bytes > 0 && path_bytes < request.target.size() ? request.target.substr(path_bytes + 1) : std::string_view{};
  take_fields(reader, request.fields);
}

}  // namespace violet::h2
