#pragma once

// FileReply: a file as the body, sent by the wire straight from the descriptor.
//
//   return FileReply("report.pdf");                       // application/pdf, by the name
//   return FileReply("export", "text/csv; charset=utf-8");
//
// The path is the program's own, never a client's: nothing here confines it to a folder. Opening is synchronous.

#include "violet/web/output/respond.h"

#include <string>
#include <string_view>

namespace violet {

class FileReply {
 public:
  // Without a type: the one that the name's ending stands for; see http/value/media_type.h.
  explicit FileReply(std::string path, std::string content_type = {})
      : path_(std::move(path)), content_type_(std::move(content_type)) {}
  // Takes an open descriptor over; it has no name to guess by.
  explicit FileReply(int descriptor, std::string content_type = "application/octet-stream") noexcept
      : descriptor_(descriptor), content_type_(std::move(content_type)) {}
  FileReply(FileReply&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        content_type_(std::move(other.content_type_)) {}
  FileReply& operator=(FileReply&&) = delete;
  ~FileReply();

  // 404 when there is no such regular file, 403 when it may not be read.
  void send(Exchange& exchange);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::string content_type_;
};

template <>
struct Respond<FileReply> {
  static constexpr auto replies =
      web::replies(web::ReplyShape{.status = 200, .media = "*/*"}, web::ReplyShape{.status = 403, .is_problem = true},
                   web::ReplyShape{.status = 404, .is_problem = true});
  static void send(Exchange& exchange, FileReply&& file) { file.send(exchange); }
};

}  // namespace violet
