#pragma once

// Mount: one served folder, shared by all loops: its options, its root, the contents in memory, and the threads that
// read. Everything in it may be used by any thread.

#include "violet/event/offload.h"
#include "violet/features/files/cache/store.h"
#include "violet/features/files/disk/root.h"
#include "violet/features/files/disk/watch.h"
#include "violet/features/files/load/entry.h"
#include "violet/features/files/options.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace violet::files {

// Counters of all loops; each is counted where it happens.
struct Counts {
  std::atomic<std::uint64_t> loads = 0;    // paths resolved by workers
  std::atomic<std::uint64_t> reads = 0;    // files read into memory
  std::atomic<std::uint64_t> reading = 0;  // loads and reads under way now
  std::atomic<std::uint64_t> refused = 0;  // requests turned away because too many wait
};

class Mount {
 public:
  Mount(std::string root, FileOptions options, Root::Way way = Root::Way::Kernel);

  // What is at a path, from the disk. For worker threads.
  struct Wanted {
    std::string_view path;           // decoded, good, see check_path()
    std::uint32_t second = 0;        // now, for the store
    std::shared_ptr<Holder> holder;  // told when contents are put out
    std::size_t names_max = 0;       // that a listing shows
  };
  Ref<Entry> load(const Wanted& wanted);
  // Whether what the entry rests on looks the same. `variant` is what would be sent, nullptr for all of them.
  [[nodiscard]] bool is_true(const Entry& entry, const Variant* variant) const noexcept;
  // Whether there is a twin now that the entry does not have.
  [[nodiscard]] bool has_new_twin(const Entry& entry) const noexcept;
  // Whether the entry is still all that load() would bring.
  [[nodiscard]] bool confirms(const Entry& entry) const noexcept;
  // Gives up the contents that `before` had and `now` has not.
  void forget_replaced(const Entry& before, const Entry& now);

  const FileOptions options;
  const Root root;
  Store store;
  std::unique_ptr<Watch> watch;               // for Revalidate::ByEvents
  std::atomic<std::uint64_t> generation = 0;  // grows when everything is to be forgotten
  Counts counts;
  WorkerPool workers;  // dies first: its jobs use the rest

 private:
  struct Loading;
  void load_folder(Loading& loading);
  void load_name(Loading& loading);
  bool load_file(Loading& loading, const std::string& relative);
  bool load_variant(Loading& loading, Opened&& opened, const std::string& relative, Variant& variant);
  bool read_content(Loading& loading, Descriptor& descriptor, Variant& variant);
  void load_twins(Loading& loading, const std::string& relative);
};

}  // namespace violet::files
