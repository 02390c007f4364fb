#pragma once

// Multipart: the parts of a multipart/form-data body as they come, in coroutines.
//
//   app.post("/upload", [](Multipart form) -> Task<Result<std::string>> {
//     std::string names;
//     while (auto part = co_await form.next()) {
//       if (!part->is_file()) continue;                         // what is not read is passed over
//       Result<SavedFile> file = co_await part->save("uploads");
//       if (!file) co_return fail(file.error());
//       Result<std::string> path = co_await file->keep();
//       if (!path) co_return fail(path.error());
//       names.append(*path).append("\n");
//     }
//     if (form.error()) co_return fail(form.error());           // it was not whole
//     co_return names;
//   }).body_max(1 << 30);
//
// No more is asked of the client than is read. A body that is malformed, or beyond a limit (multipart_… in
// docs/limits.md, and body_max() for all of it), answers by itself, 400 or 413 with the reason; the handler is told,
// and what it returns goes nowhere then. Another Content-Type is a 415 before anything is read.

#include "violet/event/task.h"
#include "violet/web/input/extract.h"
#include "violet/web/upload/saved_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace violet {

namespace web {
class MultipartState;
}

// One part; to be used until the next one is asked for.
class Part {
 public:
  // The field of the form.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // The client sent it as a file.
  [[nodiscard]] bool is_file() const noexcept { return is_file_; }
  // What the client calls the file, without directories: to be shown, never to be used as a path. "" for none.
  [[nodiscard]] const std::string& file_name() const noexcept { return file_name_; }
  // As the client says, "" when it does not.
  [[nodiscard]] const std::string& content_type() const noexcept { return content_type_; }

  // The next piece, an empty one at the end.
  Task<Result<Slice>> read();
  // All of it. A part that is a file may have multipart_field_bytes_max bytes for this.
  Task<Result<std::string>> text();
  // All of it, into a new file in `folder`.
  Task<Result<SavedFile>> save(std::string folder);

 private:
  friend class Multipart;
  Part() noexcept = default;

  std::string name_;
  std::string file_name_;
  std::string content_type_;
  bool is_file_ = false;
  web::MultipartState* state_ = nullptr;
  std::uint64_t number_ = 0;
};

class Multipart {
 public:
  // Refuses the request where its Content-Type is another.
  explicit Multipart(Fetch& fetch);
  Multipart(Multipart&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Multipart& operator=(Multipart&&) = delete;
  ~Multipart();

  // The next part; nothing at the end, and when something is wrong.
  Task<std::optional<Part>> next();
  // Why there is no next part although the end has not been reached.
  [[nodiscard]] Error error() const noexcept;

 private:
  web::MultipartState* state_ = nullptr;
};

template <>
struct Extract<Multipart> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Body, .media = "multipart/form-data"};
  static constexpr bool takes_body = true;
  static constexpr bool needs_task = true;
  static Multipart from(Fetch& fetch) { return Multipart(fetch); }
};

}  // namespace violet
