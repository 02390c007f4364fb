#include "violet/features/files/files.h"

#include "violet/features/files/disk/path.h"
#include "violet/features/files/load/mount.h"
#include "violet/features/files/serve/answer.h"
#include "violet/features/files/serve/front.h"

#include <chrono>
#include <dirent.h>
#include <vector>

namespace violet {
namespace files {
namespace {

// One of the three routes of a mount.
class FilesHandler final : public web::Handler {
 public:
  enum class What : std::uint8_t { Below, Root, Bare };

  FilesHandler(std::shared_ptr<Mount> mount, What what) noexcept : mount_(std::move(mount)), what_(what) {}

  void bind(web::Binding& binding) override {
    if (what_ != What::Below) return;
    name_index_ = binding.names.size() - 1;
    if (const Result<Opened> opened = mount_->root.open(""); !opened) {
      binding.fail("the folder " + mount_->root.path() + " cannot be served: " + message(opened.error()));
    }
    for (const auto* rules : {&mount_->options.media_types, &mount_->options.cache_control}) {
      for (const FileOptions::Rule& rule : *rules) {
        if (rule.value.empty() || !http::is_field_value(rule.value)) {
          binding.fail("the rule for \"" + rule.pattern + "\" has a value that no field can have");
        }
      }
    }
  }
  void run(Exchange& exchange) override {
    switch (what_) {
      case What::Below: Front::of(*mount_, exchange).serve(exchange, exchange.match.values[name_index_]); break;
      case What::Root: Front::of(*mount_, exchange).serve(exchange, ""); break;
      case What::Bare: send_redirect(exchange); break;
    }
  }

 private:
  std::shared_ptr<Mount> mount_;
  What what_;
  std::size_t name_index_ = 0;
};

std::uint32_t now_s() noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// The names in a folder below the root; none if it is no folder.
std::vector<std::string> names_in(const Root& root, const std::string& path) {
  std::vector<std::string> names;
  Result<Opened> opened = root.open(path);
  if (!opened || opened->status.kind != FileKind::Folder) return names;
  DIR* folder = ::fdopendir(opened->descriptor.get());
  if (folder == nullptr) return names;
  static_cast<void>(opened->descriptor.detach());
  while (const dirent* entry = ::readdir(folder)) names.emplace_back(entry->d_name);
  ::closedir(folder);
  return names;
}

std::size_t prewarm_below(Mount& mount, const std::string& path) {
  constexpr std::size_t kPathMax = 4096;  // deeper than that nothing can be opened
  const Result<Opened> opened = mount.root.open(path);
  if (!opened || path.size() > kPathMax) return 0;
  if (opened->status.kind == FileKind::Regular) {
    if (!mount.store.takes(opened->status.version.size)) return 0;
    const Ref<Entry> entry = mount.load({.path = path, .second = now_s()});
    return entry->kind == Entry::Kind::File && entry->variants[0].content ? 1 : 0;
  }
  const std::string folder = path.empty() ? path : path + "/";
  std::size_t count = 0;
  for (const std::string& name : names_in(mount.root, path)) {
    const PathVerdict verdict = check_path(name);
    if (verdict == PathVerdict::Never) continue;
    if (verdict == PathVerdict::Hidden && mount.options.dotfiles != Dotfiles::Show) continue;
    count += prewarm_below(mount, folder + name);
  }
  return count;
}

}  // namespace
}  // namespace files

Files::Files(std::shared_ptr<files::Mount> mount) noexcept : mount_(std::move(mount)) {}
Files::~Files() = default;

std::size_t Files::prewarm(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && files::check_path(path) == files::PathVerdict::Never) return 0;
  return files::prewarm_below(*mount_, std::string(path));
}

void Files::clear() {
  mount_->generation.fetch_add(1, std::memory_order_acq_rel);
  mount_->store.clear();
}

Files::Stats Files::stats() const {
  const files::Store::Stats store = mount_->store.stats();
  const files::Counts& counts = mount_->counts;
  return {.cached_bytes = store.bytes,
          .cached_files = store.files,
          .resident_bytes = store.resident_bytes,
          .evicted = store.evicted,
          .loads = counts.loads.load(std::memory_order_relaxed),
          .reads = counts.reads.load(std::memory_order_relaxed),
          .reading = counts.reading.load(std::memory_order_relaxed),
          .refused = counts.refused.load(std::memory_order_relaxed)};
}

std::unique_ptr<Files> serve_files(Routes& routes, std::string_view prefix, std::string folder, FileOptions options,
                                   web::Where where) {
  using What = files::FilesHandler::What;
  auto mount = std::make_shared<files::Mount>(std::move(folder), std::move(options));
  const auto add = [&](const std::string& pattern, What what) {
    routes.handle(http::Method::Get, pattern, new files::FilesHandler(mount, what), where);
  };
  std::string base(prefix);
  if (base.ends_with('/')) base.pop_back();
  add(base + "/{file...}", What::Below);
  add(base + "/", What::Root);
  if (!base.empty()) add(base, What::Bare);
  return std::make_unique<Files>(std::move(mount));
}

}  // namespace violet
