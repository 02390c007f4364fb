#pragma once

// SavedFile: bytes of a client in a file on the disk. Nobody knows the file by name until keep() gives it one; without
// that it is gone as soon as this value is: when the handler fails, the client leaves, or the program ends.
//
//   Result<SavedFile> file = co_await part->save("uploads");
//   if (!file) co_return fail(file.error());               // 507 when the disk is full
//   Result<std::string> path = co_await file->keep(".png");   // "uploads/0f3c….png", on the disk for good
//
// The name is made of 128 random bits; that of the client is never part of it. Opening, writing and naming are done by
// worker threads. Belongs to one coroutine at a time.

#include "violet/event/task.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace violet {

namespace web {
class DiskFile;
}  // namespace web

class SavedFile {
 public:
  // A new file in `folder`, which has to be there and is trusted. What goes wrong is ErrorKind::System with its errno;
  // a full disk has status 507.
  static Task<Result<SavedFile>> create(std::string folder);

  explicit SavedFile(std::shared_ptr<web::DiskFile> file) noexcept : file_(std::move(file)) {}
  SavedFile(SavedFile&& other) noexcept : file_(std::move(other.file_)), size_(other.size_) {}
  SavedFile& operator=(SavedFile&& other) noexcept {
    std::swap(file_, other.file_);
    size_ = other.size_;
    return *this;
  }
  ~SavedFile();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // For reading and writing at any place; closed with this value.
  [[nodiscard]] int descriptor() const noexcept;

  // Appends. Gives the text's memory back, to be filled again.
  Task<Result<std::string>> write(std::string bytes);
  // Writes everything through to the disk and gives the file a random name in its folder, with `ending` behind it:
  // letters and digits behind a dot, or nothing. Returns folder and name. Once.
  Task<Result<std::string>> keep(std::string ending = {});

 private:
  std::shared_ptr<web::DiskFile> file_;  // a worker may still write when the coroutine is gone
  std::uint64_t size_ = 0;
};

}  // namespace violet
