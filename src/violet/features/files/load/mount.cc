#include "violet/features/files/load/mount.h"

#include "violet/features/files/load/describe.h"
#include "violet/features/files/load/listing.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace violet::files {
namespace {

constexpr std::size_t kQueueMax = 1 << 20;  // of jobs: requests that wait are bounded before they become jobs

bool is_denied(int error) noexcept { return error == EACCES || error == EPERM; }

// Neither the path nor the tree is at fault: trying again may help.
bool is_passing(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO; }

Entry::Kind kind_for(int error) noexcept {
  if (is_denied(error)) return Entry::Kind::Forbidden;
  return is_passing(error) ? Entry::Kind::Failed : Entry::Kind::Missing;
}

enum class Bytes : std::uint8_t { Read, Changed, Failed };

Bytes read_all(int descriptor, Content& content, int& error) {
  std::size_t at = 0;
  while (at < content.size()) {
    const ssize_t n = ::pread(descriptor, content.data() + at, content.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error = errno;
      return Bytes::Failed;
    }
    if (n == 0) return Bytes::Changed;
    at += static_cast<std::size_t>(n);
  }
  return Bytes::Read;
}

}  // namespace

struct Mount::Loading {
  const Wanted& wanted;
  Entry& entry;
  std::string path;  // without a slash at its end
};

Mount::Mount(std::string root_path, FileOptions file_options, Root::Way way)
    : options(std::move(file_options)),
      root(std::move(root_path), options.symlinks, way),
      store({.bytes = options.cache_bytes, .files = options.cache_files, .file_bytes = options.cached_file_bytes}),
      workers(options.threads > 0 ? options.threads : 1, kQueueMax) {
  if (options.revalidate == Revalidate::ByEvents) {
    watch = std::make_unique<Watch>(root.path(), root.follows_links());
  }
}

Ref<Entry> Mount::load(const Wanted& wanted) {
  counts.loads.fetch_add(1, std::memory_order_relaxed);
  auto entry = Ref<Entry>::adopt(new Entry);
  entry->key = wanted.path;
  entry->generation = generation.load(std::memory_order_acquire);
  Loading loading{wanted, *entry, entry->key};
  if (watch != nullptr) {
    entry->events = watch->count();
    entry->is_watched = watch->add(loading.path);
  }
  if (loading.path.empty() || loading.path.ends_with('/')) {
    if (!loading.path.empty()) loading.path.pop_back();
    load_folder(loading);
  } else {
    load_name(loading);
  }
  for (Variant& variant : entry->variants) prepare_fields(*entry, variant);
  return entry;
}

// What the entry rests on is looked at before the thing is opened: a change in between is then seen later as one.
void Mount::load_name(Loading& loading) {
  Entry& entry = loading.entry;
  entry.check_path = root.path() + "/" + loading.path;
  entry.check_follows = root.follows_links();
  entry.check_error = look(entry.check_path.c_str(), entry.check_follows, entry.check);
  Result<Opened> opened = root.open(loading.path);
  if (!opened) {
    entry.kind = kind_for(opened.error().detail());
    entry.is_kept = entry.kind != Entry::Kind::Failed;
    return;
  }
  if (opened->status.kind == FileKind::Folder) {
    entry.kind = Entry::Kind::Redirect;
  } else if (opened->status.kind == FileKind::Regular) {
    entry.variants.emplace_back();
    if (load_variant(loading, std::move(*opened), loading.path, entry.variants[0])) load_twins(loading, loading.path);
  }
}

void Mount::load_folder(Loading& loading) {
  Entry& entry = loading.entry;
  entry.check_path = loading.path.empty() ? root.path() : root.path() + "/" + loading.path;
  // The root itself may be a link.
  entry.check_follows = loading.path.empty() || root.follows_links();
  entry.check_error = look(entry.check_path.c_str(), entry.check_follows, entry.check);
  Result<Opened> folder = root.open(loading.path);
  if (!folder || folder->status.kind != FileKind::Folder) {
    if (!folder) entry.kind = kind_for(folder.error().detail());
    entry.is_kept = entry.kind != Entry::Kind::Failed;
    return;
  }
  for (const std::string& name : options.index) {
    if (load_file(loading, loading.path.empty() ? name : loading.path + "/" + name)) return;
  }
  if (!options.listing) return;
  entry.kind = Entry::Kind::Listing;
  entry.is_kept = false;  // names, sizes and times of everything in it: nothing tells when one of them changes
  entry.page = listing_page(root, std::move(folder->descriptor),
                            {.title = loading.path,
                             .shows_dotfiles = options.dotfiles == Dotfiles::Show,
                             .names_max = loading.wanted.names_max});
}

// An index: the entry rests on the file instead of the folder. False when there is none.
bool Mount::load_file(Loading& loading, const std::string& relative) {
  Entry& entry = loading.entry;
  Result<Opened> opened = root.open(relative);
  if (!opened || opened->status.kind != FileKind::Regular) return false;
  entry.check_path = root.path() + "/" + relative;
  entry.check_follows = root.follows_links();
  entry.variants.emplace_back();
  if (load_variant(loading, std::move(*opened), relative, entry.variants[0])) load_twins(loading, relative);
  return true;
}

bool Mount::load_variant(Loading& loading, Opened&& opened, const std::string& relative, Variant& variant) {
  Entry& entry = loading.entry;
  entry.kind = Entry::Kind::File;
  variant.path = root.path() + "/" + relative;
  variant.version = opened.status.version;
  Descriptor descriptor = std::move(opened.descriptor);
  if (!read_content(loading, descriptor, variant)) return false;
  if (!variant.content) variant.file = Ref<FileBuffer>::adopt(FileBuffer::make(descriptor.detach()));
  variant.etag = make_etag(variant.version, variant.coding);
  if (!entry.is_kept) variant.etag.insert(0, "W/");  // other bytes may have the same times
  variant.modified_s = modified_second(variant.version, std::time(nullptr));
  variant.last_modified = make_date(variant.modified_s);
  if (variant.coding != http::Coding::Identity) return true;
  entry.check_error = 0;
  entry.check = {.version = variant.version, .kind = FileKind::Regular};
  describe(entry, options, relative);
  return true;
}

// Leaves the version settled and, where the file is to be in memory, its bytes, all of that version.
bool Mount::read_content(Loading& loading, Descriptor& descriptor, Variant& variant) {
  Entry& entry = loading.entry;
  constexpr int kTriesMax = 3;
  int error = 0;
  for (int i = 0; i < kTriesMax; ++i) {
    Status before;
    const Settled settled = settled_version(descriptor.get(), before, error);
    if (settled == Settled::Failed) break;
    if (settled != Settled::Yes) entry.is_kept = false;
    variant.version = before.version;
    if (!store.takes(variant.size())) return true;
    if (settled == Settled::Yes) {
      variant.content = store.find(variant.version, loading.wanted.second, loading.wanted.holder);
      if (variant.content) return true;
    }
    Ref<Content> content = Content::make(variant.version, store.resident());
    counts.reads.fetch_add(1, std::memory_order_relaxed);
    const Bytes bytes = read_all(descriptor.get(), *content, error);
    if (bytes == Bytes::Failed) break;
    Status after;
    error = look(descriptor.get(), after);
    if (error != 0) break;
    // Written all the time: good for this one answer, if nothing of it has moved while it was read.
    const bool is_last = i + 1 == kTriesMax;
    if (bytes == Bytes::Changed || after.version != before.version) continue;
    if (settled == Settled::Changing && !is_last) continue;
    variant.content = std::move(content);
    if (!entry.is_kept) return true;
    variant.content = store.insert(std::move(variant.content), loading.wanted.second, loading.wanted.holder);
    return true;
  }
  entry.kind = error != 0 ? kind_for(error) : Entry::Kind::Busy;
  entry.is_kept = false;
  entry.variants.clear();
  return false;
}

void Mount::load_twins(Loading& loading, const std::string& relative) {
  Entry& entry = loading.entry;
  for (const http::Coding coding : options.twins) {
    const std::string_view extension = twin_extension(coding);
    if (extension.empty() || relative.ends_with(extension)) continue;
    const std::string name = relative + std::string(extension);
    Result<Opened> opened = root.open(name);
    // Older than its file: it holds something else.
    if (!opened || opened->status.kind != FileKind::Regular) continue;
    if (!is_made_after(opened->status.version, entry.variants[0].version)) continue;
    Variant twin;
    twin.coding = coding;
    const Entry::Kind kind = entry.kind;
    std::vector<Variant> others = std::move(entry.variants);
    const bool is_loaded = load_variant(loading, std::move(*opened), name, twin);
    entry.variants = std::move(others);
    entry.kind = kind;
    if (!is_loaded) continue;
    entry.variants.push_back(std::move(twin));
    entry.varies = true;
  }
}

bool Mount::is_true(const Entry& entry, const Variant* variant) const noexcept {
  Status now;
  const int error = look(entry.check_path.c_str(), entry.check_follows, now);
  if (error != entry.check_error) return false;
  if (error == 0 && now.kind != entry.check.kind) return false;
  if (error == 0 && entry.kind == Entry::Kind::Redirect) {
    // What is in a folder does not matter to it.
    return now.version.inode == entry.check.version.inode && now.version.device == entry.check.version.device;
  }
  if (error == 0 && now.version != entry.check.version) return false;
  for (const Variant& each : entry.variants) {
    if (each.coding == http::Coding::Identity || (variant != nullptr && variant != &each)) continue;
    Status twin;
    if (look(each.path.c_str(), root.follows_links(), twin) != 0 || twin.kind != FileKind::Regular ||
        twin.version != each.version) {
      return false;
    }
  }
  return true;
}

bool Mount::has_new_twin(const Entry& entry) const noexcept {
  if (entry.kind != Entry::Kind::File) return false;
  const Variant& file = entry.variants[0];
  for (const http::Coding coding : options.twins) {
    const std::string_view extension = twin_extension(coding);
    if (extension.empty() || file.path.ends_with(extension)) continue;
    bool is_known = false;
    for (const Variant& variant : entry.variants) is_known = is_known || variant.coding == coding;
    if (is_known) continue;
    Status twin;
    const std::string path = file.path + std::string(extension);
    if (look(path.c_str(), root.follows_links(), twin) == 0 && twin.kind == FileKind::Regular &&
        is_made_after(twin.version, file.version)) {
      return true;
    }
  }
  return false;
}

bool Mount::confirms(const Entry& entry) const noexcept {
  return entry.generation == generation.load(std::memory_order_acquire) && !entry.is_evicted() &&
         is_true(entry, nullptr) && !has_new_twin(entry);
}

void Mount::forget_replaced(const Entry& before, const Entry& now) {
  for (const Variant& old : before.variants) {
    bool is_kept = !old.content;
    for (const Variant& variant : now.variants) is_kept = is_kept || variant.version == old.version;
    if (!is_kept) store.forget(old.version);
  }
}

}  // namespace violet::files
