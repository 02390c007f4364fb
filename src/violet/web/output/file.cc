#include "violet/web/output/file.h"

#include "violet/base/ascii.h"
#include "violet/http/fields.h"
#include "violet/http/value/media_type.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace violet {

FileReply::~FileReply() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileReply::send(Exchange& exchange) {
  if (descriptor_ < 0) {
    // Not blocking: opening a FIFO would wait for its other end.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
      const int code = errno;
      const bool is_missing = code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENAMETOOLONG;
      const std::uint16_t status = is_missing                         ? 404
                                   : code == EACCES                   ? 403
                                   : code == EMFILE || code == ENFILE ? 503
                                                                      : 500;
      exchange.refuse(Error(ErrorKind::System, code, status));
      return;
    }
  }
  struct stat about;
  if (::fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) {
    exchange.refuse(Error(ErrorKind::NotFound));
    return;
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  const std::string_view type = content_type_.empty() ? http::media_type_of(path_) : std::string_view(content_type_);
  if (!exchange.response().fields.set(http::FieldId::ContentType, type)) {
    exchange.refuse(Error(ErrorKind::Handler));
    return;
  }
  if (size == 0) {
    exchange.reply();
    return;
  }
  FileBuffer* buffer = FileBuffer::make(std::exchange(descriptor_, -1));
  Body body(Slice::file(*buffer, 0, size));
  buffer->release();
  exchange.reply(std::move(body));
}

}  // namespace violet
