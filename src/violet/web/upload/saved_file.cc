#include "violet/web/upload/saved_file.h"

#include "violet/event/offload.h"
#include "violet/web/upload/disk_file.h"

namespace violet {
namespace {

using web::DiskFile;

Result<std::shared_ptr<DiskFile>> create_file(const std::string& folder) { return DiskFile::create(folder); }

Result<std::string> write_file(const std::shared_ptr<DiskFile>& file, std::string bytes) {
  VIOLET_TRY_VOID(file->write(bytes));
  bytes.clear();
  return bytes;
}

Result<std::string> link_file(const std::shared_ptr<DiskFile>& file, const std::string& ending) {
  return file->link(ending);
}

// Letting go of a large file takes the file system a while.
class Closing final : public WorkerPool::Job {
 public:
  explicit Closing(std::shared_ptr<DiskFile> file) noexcept : file_(std::move(file)) {}

 private:
  void run() noexcept override { file_.reset(); }
  void finish(bool) noexcept override { delete this; }
  std::shared_ptr<DiskFile> file_;
};

}  // namespace

SavedFile::~SavedFile() {
  Loop* const loop = file_ != nullptr ? Loop::current() : nullptr;
  if (loop == nullptr) return;
  auto job = std::make_unique<Closing>(std::move(file_));
  if (loop->workers().submit(*job)) static_cast<void>(job.release());
}

Task<Result<SavedFile>> SavedFile::create(std::string folder) {
  Result<std::shared_ptr<DiskFile>> file = co_await offload(create_file, std::move(folder));
  if (!file) co_return fail(file.error());
  co_return SavedFile(std::move(*file));
}

int SavedFile::descriptor() const noexcept { return file_->descriptor(); }

Task<Result<std::string>> SavedFile::write(std::string bytes) {
  const std::size_t size = bytes.size();
  Result<std::string> memory = co_await offload(write_file, file_, std::move(bytes));
  if (memory) size_ += size;
  co_return memory;
}

Task<Result<std::string>> SavedFile::keep(std::string ending) {
  co_return co_await offload(link_file, file_, std::move(ending));
}

}  // namespace violet
