#pragma once

// Front: what one loop knows of a mount: the paths that were asked for, with what is there, found without a lock; and
// the requests that wait for a worker. Everything here belongs to the loop's thread.
//
//   known and true            answer at once
//   unknown, or out of date   -> load by a worker -> answer
//
// Requests for one path share a load. A request that comes while the worker is at it already waits too, but is then
// served anew: what was read may be older than the request.

#include "violet/base/list.h"
#include "violet/core/exchange.h"
#include "violet/core/site.h"
#include "violet/event/timer.h"
#include "violet/features/files/load/mount.h"
#include "violet/features/files/serve/entry_index.h"
#include "violet/features/files/serve/gate.h"
#include "violet/http/value/coding.h"
#include "violet/memory/text.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace violet::files {

// What a file is sent for.
enum class Purpose : std::uint8_t {
  Asked,     // it is what the path names
  Spa,       // instead of a path that does not exist
  NotFound,  // as the page of a 404
};

class Front final : public SiteLocal {
 public:
  // The front of the exchange's loop.
  static Front& of(Mount& mount, Exchange& exchange);
  Front(Mount& mount, Site& site);
  ~Front() override;

  // Answers, at once or later. `path` is decoded and lives as long as the request's texts.
  void serve(Exchange& exchange, std::string_view path);

  [[nodiscard]] Gate& gate() noexcept { return gate_; }
  [[nodiscard]] Mount& mount() noexcept { return mount_; }
  [[nodiscard]] const std::shared_ptr<Anchor>& anchor() const noexcept { return anchor_; }
  // What the store has put out goes from here as well.
  void drop_evicted() noexcept;
  // What separates the parts of a multipart answer: nobody can put it into a file.
  [[nodiscard]] std::string make_boundary();
  [[nodiscard]] std::size_t entry_count() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_count_; }

 private:
  friend class LoadJob;
  class Waiter;
  struct Load;
  struct Request {
    Exchange& exchange;
    std::string_view path;
    Purpose purpose = Purpose::Asked;
    int rounds = 0;  // that it has waited for
  };
  struct Hash {
    std::size_t operator()(std::string_view text) const noexcept { return hash_text(text, seed); }
    std::uint64_t seed;
  };
  struct Equal {
    bool operator()(std::string_view a, std::string_view b) const noexcept { return are_equal(a, b); }
  };

  void serve(const Request& request);
  [[nodiscard]] bool is_current(Entry& entry, const Variant* chosen, const http::AcceptEncoding& accepted);
  [[nodiscard]] bool lacks_twin(Entry& entry, const http::AcceptEncoding& accepted);
  [[nodiscard]] const http::AcceptEncoding& accepted_by(const http::Fields& fields);
  const http::AcceptEncoding& learn_accepted(std::string_view text);
  const http::AcceptEncoding& learn_accepted(const http::Fields& fields);
  void wait(const Request& request, Entry* known);
  void begin(Load& load);
  void on_loaded(Load& load, Ref<Entry> entry, bool is_confirmed);
  void answer(const Request& request, Entry& entry);
  void answer(const Request& request, Entry& entry, const Variant* chosen);
  void answer_missing(const Request& request);
  void keep(Entry& entry);
  void drop(Entry& entry) noexcept;
  void drop_oldest_file() noexcept;
  void close_idle_files() noexcept;

  Mount& mount_;
  Site& site_;
  std::shared_ptr<Anchor> anchor_;
  Gate gate_;
  EntryIndex entries_;
  List<Entry, Entry> order_;  // least recently used first
  std::unordered_map<std::string_view, std::unique_ptr<Load>, Hash, Equal> loads_;
  std::size_t waiting_count_ = 0;
  std::size_t open_file_count_ = 0;  // entries that have files open
  TimerTo<&Front::close_idle_files> idle_timer_{*this};
  std::uint64_t boundary_;
  std::string accept_text_;  // the last Accept-Encoding, and what it says
  http::AcceptEncoding accept_;
};

}  // namespace violet::files
