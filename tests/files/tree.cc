#include "tests/files/tree.h"

#include "violet/base/check.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace violet::files {

namespace fs = std::filesystem;

Tree::Tree() {
  std::string pattern = (fs::temp_directory_path() / "violet_files_XXXXXX").string();
  VIOLET_CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = fs::canonical(pattern).string();
}

Tree::~Tree() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Tree::write(std::string_view name, std::string_view text) const {
  fs::create_directories(fs::path(path(name)).parent_path());
  std::ofstream(path(name), std::ios::binary | std::ios::trunc) << text;
}

void Tree::replace(std::string_view name, std::string_view text) const {
  const std::string next = std::string(name) + ".next";
  write(next, text);
  rename(next, name);
}

void Tree::folder(std::string_view name) const { fs::create_directories(path(name)); }

void Tree::link(std::string_view name, std::string_view target) const {
  const std::string next = path(name) + ".next";
  VIOLET_CHECK(::symlink(std::string(target).c_str(), next.c_str()) == 0);
  VIOLET_CHECK(::rename(next.c_str(), path(name).c_str()) == 0);
}

void Tree::fifo(std::string_view name) const { VIOLET_CHECK(::mkfifo(path(name).c_str(), 0644) == 0); }

void Tree::socket(std::string_view name) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path(name).c_str());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  VIOLET_CHECK(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(descriptor);
}

void Tree::remove(std::string_view name) const { fs::remove_all(path(name)); }
void Tree::rename(std::string_view from, std::string_view to) const { fs::rename(path(from), path(to)); }
void Tree::truncate(std::string_view name, std::uint64_t size) const { fs::resize_file(path(name), size); }

void Tree::set_time(std::string_view name, std::int64_t seconds, std::int64_t nanoseconds) const {
  const timespec times[] = {{.tv_sec = seconds, .tv_nsec = nanoseconds}, {.tv_sec = seconds, .tv_nsec = nanoseconds}};
  VIOLET_CHECK(::utimensat(AT_FDCWD, path(name).c_str(), times, 0) == 0);
}

std::string Tree::read(std::string_view name) const {
  std::ostringstream text;
  text << std::ifstream(path(name), std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace violet::files
