// features/files/disk: whatever a path says, nothing but what lies below the root is opened, and the kernel's way and
// the walk agree about it. The input is a decoded path; its first byte chooses whether links are followed.

#include "fuzz/expect.h"
#include "violet/features/files/disk/path.h"
#include "violet/features/files/disk/root.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace violet;
namespace fs = std::filesystem;

// A tree with a way out of every kind; removed at the end of the process.
class World {
 public:
  World() {
    std::string pattern = (fs::temp_directory_path() / "violet_fuzz_XXXXXX").string();
    EXPECT(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    fs::create_directories(path_ / "root/a/b");
    fs::create_directories(path_ / "out");
    for (const char* name : {"root/f", "root/a/f", "root/a/b/f", "root/.h"}) std::ofstream(path_ / name) << "in";
    std::ofstream(path_ / "out/f") << "OUT";
    fs::create_symlink("..", path_ / "root/u");
    fs::create_symlink("../out", path_ / "root/o");
    fs::create_symlink("a", path_ / "root/l");
    fs::create_symlink("../f", path_ / "root/a/l");
    fs::create_symlink(path_ / "out/f", path_ / "root/s");
    fs::create_symlink("r", path_ / "root/r");
    EXPECT(::mkfifo((path_ / "root/p").c_str(), 0644) == 0);
  }
  ~World() { fs::remove_all(path_); }
  [[nodiscard]] std::string root() const { return (path_ / "root").string(); }

 private:
  fs::path path_;
};

// 0, or the errno; what a regular file holds goes to `text`.
int open(const files::Root& root, std::string_view path, std::string& text) {
  const Result<files::Opened> opened = root.open(path);
  if (!opened) return opened.error().detail();
  if (opened->status.kind != files::FileKind::Regular) return 0;
  std::array<char, 16> bytes{};
  const ssize_t n = ::read(opened->descriptor.get(), bytes.data(), bytes.size());
  text.assign(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return 0;
}

// The two ways name some refusals differently.
bool is_refusal(int error) { return error == ELOOP || error == EXDEV || error == ENOENT || error == ENOTDIR; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  if (size == 0) return 0;
  const Symlinks symlinks = (data[0] & 1) != 0 ? Symlinks::Inside : Symlinks::None;
  std::string path(reinterpret_cast<const char*>(data) + 1, size - 1);
  const files::PathVerdict verdict = files::check_path(path);
  if (verdict != files::PathVerdict::Never) {
    // What is let through has no segment that means another place, whoever reads it.
    const std::string framed = "/" + path + "/";
    EXPECT(framed.find("/../") == std::string::npos && framed.find("/./") == std::string::npos);
    EXPECT(path.find('\\') == std::string::npos && path.find('\0') == std::string::npos && !path.starts_with('/'));
    const std::string_view inner = path.ends_with('/') ? std::string_view(path).substr(0, path.size() - 1) : path;
    EXPECT(inner.find("//") == std::string_view::npos);
    EXPECT((framed.find("/.") != std::string::npos) == (verdict == files::PathVerdict::Hidden));
  }
  // The roots themselves are asked for anything that a string can name.
  if (path.find('\0') != std::string::npos) return 0;
  static const files::Root roots[2][2] = {
      {files::Root(world.root(), Symlinks::None), files::Root(world.root(), Symlinks::None, files::Root::Way::Walk)},
      {files::Root(world.root(), Symlinks::Inside),
       files::Root(world.root(), Symlinks::Inside, files::Root::Way::Walk)}};
  const auto& pair = roots[symlinks == Symlinks::Inside ? 1 : 0];
  std::string by_kernel;
  std::string by_walk;
  const int kernel = open(pair[0], path, by_kernel);
  const int walk = open(pair[1], path, by_walk);
  EXPECT(by_kernel.empty() || by_kernel == "in");
  EXPECT(by_walk.empty() || by_walk == "in");
  if (verdict == files::PathVerdict::Never || path.ends_with('/')) return 0;
  EXPECT(by_kernel == by_walk);
  EXPECT(kernel == walk || (is_refusal(kernel) && is_refusal(walk)));
  return 0;
}
