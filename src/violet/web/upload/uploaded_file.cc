#include "violet/web/upload/uploaded_file.h"

namespace violet {

Task<Result<SavedFile>> UploadedFile::save(std::string folder) const {
  Result<SavedFile> file = co_await SavedFile::create(std::move(folder));
  if (!file) co_return fail(file.error());
  std::string bytes(bytes_);
  Result<std::string> memory = co_await file->write(std::move(bytes));
  if (!memory) co_return fail(memory.error());
  co_return std::move(*file);
}

}  // namespace violet
