#pragma once

// UploadedFile: a file in a form that was sent as multipart/form-data, as a member of Form<T>'s struct.
//
//   struct Profile { text<1, 80> name; std::optional<UploadedFile> picture; std::vector<UploadedFile> more; };
//   app.post("/profile", [](Form<Profile> form) -> Task<Result<std::string>> {
//     if (!form->picture) co_return "no picture";
//     Result<SavedFile> file = co_await form->picture->save("pictures");
//     if (!file) co_return fail(file.error());
//     co_return co_await file->keep(".png");
//   }).body_max(8 << 20);
//
// The body is gathered in memory first, at most body_max() bytes; for more take a Multipart. Valid as long as the
// request. A file field that was left empty has not come.

#include "violet/data/type_of.h"
#include "violet/web/upload/saved_file.h"

#include <string>
#include <string_view>

namespace violet {

class UploadedFile {
 public:
  UploadedFile() noexcept = default;
  // Of texts that live as long as the request.
  UploadedFile(std::string_view file_name, std::string_view content_type, std::string_view bytes) noexcept
      : file_name_(file_name), content_type_(content_type), bytes_(bytes) {}

  // What the client calls it, without directories: to be shown, never to be used as a path.
  [[nodiscard]] std::string_view file_name() const noexcept { return file_name_; }
  // As the client says, "" when it does not.
  [[nodiscard]] std::string_view content_type() const noexcept { return content_type_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  // Writes it into a new file in `folder`.
  Task<Result<SavedFile>> save(std::string folder) const;

 private:
  std::string_view file_name_;
  std::string_view content_type_;
  std::string_view bytes_;
};

// No text is a file.
template <>
struct TextForm<UploadedFile> {
  static constexpr std::string_view format = "binary";
  static bool read(std::string_view, UploadedFile&) noexcept { return false; }
  static std::size_t write(const UploadedFile&, char*, std::size_t) noexcept { return 0; }
};

}  // namespace violet
