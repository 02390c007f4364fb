#include "violet/features/files/serve/front.h"

#include "violet/features/files/disk/path.h"
#include "violet/features/files/serve/answer.h"
#include "violet/features/files/serve/wait.h"

#include <algorithm>
#include <random>

namespace violet::files {
namespace {

constexpr std::uint64_t kIdleFileMs = 10'000;  // after which files are closed that nobody asks for

std::uint64_t make_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// The form that suits the client best; nullptr when it accepts none.
const Variant* choose(const Entry& entry, const http::AcceptEncoding& accepted) noexcept {
  const Variant* best = nullptr;
  std::uint16_t most = 0;
  for (std::size_t i = 1; i < entry.variants.size(); ++i) {
    const std::uint16_t weight = accepted.weight(entry.variants[i].coding);
    if (weight > most) {
      best = &entry.variants[i];
      most = weight;
    }
  }
  return accepted.weight(http::Coding::Identity) > most ? &entry.variants[0] : best;
}

}  // namespace

Front& Front::of(Mount& mount, Exchange& exchange) {
  SiteLocals& locals = exchange.site().locals;
  if (SiteLocal* local = locals.find(&mount); local != nullptr) [[likely]] {
    return static_cast<Front&>(*local);
  }
  return static_cast<Front&>(locals.add(&mount, std::make_unique<Front>(mount, exchange.site())));
}

Front::Front(Mount& mount, Site& site)
    : mount_(mount),
      site_(site),
      anchor_(std::make_shared<Anchor>(*this, site.loop)),
      gate_(mount, static_cast<std::size_t>(std::max<std::uint64_t>(site.limits.file_reads_max, 1))),
      entries_(make_seed()),
      loads_(16, Hash{make_seed()}),
      boundary_(make_seed()) {}

void Front::serve(Exchange& exchange, std::string_view path) { serve({.exchange = exchange, .path = path}); }

void Front::serve(const Request& request) {
  Entry* entry = entries_.find(request.path);
  if (entry == nullptr) [[unlikely]] {
    switch (check_path(request.path)) {
      case PathVerdict::Good: break;
      case PathVerdict::Never: return answer_missing(request);
      case PathVerdict::Hidden:
        if (mount_.options.dotfiles == Dotfiles::Hide) return answer_missing(request);
        if (mount_.options.dotfiles == Dotfiles::Refuse) {
          request.exchange.refuse(Error(ErrorKind::Refused, 0, 403));
          return;
        }
    }
    return wait(request, nullptr);
  }
  const http::AcceptEncoding& accepted = accepted_by(request.exchange.request().fields);
  const Variant* chosen = entry->kind == Entry::Kind::File ? choose(*entry, accepted) : nullptr;
  if (!is_current(*entry, chosen, accepted)) return wait(request, entry);
  answer(request, *entry, chosen);
}

std::string Front::make_boundary() {
  const std::uint64_t number = Hash{boundary_}({reinterpret_cast<const char*>(&boundary_), sizeof boundary_});
  boundary_ = boundary_ * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = "0123456789abcdef"[number >> i * 4 & 15];
  return text;
}

// Clients repeat themselves: the last text is remembered with what it means.
const http::AcceptEncoding& Front::accepted_by(const http::Fields& fields) {
  std::string_view text;
  bool is_known = false;
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::AcceptEncoding) continue;
    if (is_known) return learn_accepted(fields);
    is_known = true;
    text = field.value;
  }
  return are_equal(text, accept_text_) ? accept_ : learn_accepted(text);
}

[[gnu::noinline]] const http::AcceptEncoding& Front::learn_accepted(std::string_view text) {
  accept_text_ = text;
  return accept_ = http::AcceptEncoding::parse(text);
}

// Of several lines, which are not compared with the next request's.
[[gnu::noinline]] const http::AcceptEncoding& Front::learn_accepted(const http::Fields& fields) {
  accept_text_ = "\n";  // no line reads like that
  return accept_ = http::AcceptEncoding::of(fields);
}

bool Front::is_current(Entry& entry, const Variant* chosen, const http::AcceptEncoding& accepted) {
  if (entry.generation != mount_.generation.load(std::memory_order_relaxed)) [[unlikely]]
    return false;
  switch (mount_.options.revalidate) {
    case Revalidate::Never: return true;
    case Revalidate::OnWorker: return false;
    case Revalidate::OnLoop: break;
    case Revalidate::ByEvents: {
      if (!entry.is_watched) break;
      const Watch::Count now = mount_.watch->count();
      if (now == entry.events) return true;
      if (now.upheavals != entry.events.upheavals) return false;
      if (!mount_.is_true(entry, nullptr) || mount_.has_new_twin(entry)) return false;
      entry.events = now;
      return true;
    }
  }
  return mount_.is_true(entry, chosen) && !lacks_twin(entry, accepted);
}

// Once a second: a file is right as it is, though a twin would be shorter.
bool Front::lacks_twin(Entry& entry, const http::AcceptEncoding& accepted) {
  const std::int64_t second = site_.loop.wall_seconds();
  if (entry.twins_looked_s == second || entry.kind != Entry::Kind::File) return false;
  bool wants_any = false;
  for (const http::Coding coding : mount_.options.twins) wants_any = wants_any || accepted.accepts(coding);
  if (!wants_any) return false;
  entry.twins_looked_s = second;
  return mount_.has_new_twin(entry);
}

void Front::answer(const Request& request, Entry& entry) {
  const Variant* chosen = nullptr;
  if (entry.kind == Entry::Kind::File) chosen = choose(entry, accepted_by(request.exchange.request().fields));
  answer(request, entry, chosen);
}

void Front::answer(const Request& request, Entry& entry, const Variant* chosen) {
  switch (entry.kind) {
    case Entry::Kind::File: break;
    case Entry::Kind::Missing: return answer_missing(request);
    default: return send_other(request.exchange, entry);
  }
  if (entry.is_linked() && order_.back() != &entry) {
    entry.unlink();
    order_.push_back(entry);
  }
  const std::int64_t second = site_.loop.wall_seconds();
  entry.used_s = second;
  if (chosen != nullptr && chosen->content) chosen->content->touch(static_cast<std::uint32_t>(second));
  send_file(*this, request.exchange, entry, chosen, request.purpose);
}

void Front::answer_missing(const Request& request) {
  Exchange& exchange = request.exchange;
  const FileOptions& options = mount_.options;
  if (request.purpose == Purpose::Asked && !options.spa.empty() && is_navigation(exchange) &&
      check_path(request.path) == PathVerdict::Good) {
    return serve({.exchange = exchange, .path = options.spa, .purpose = Purpose::Spa});
  }
  if (request.purpose != Purpose::NotFound && !options.not_found.empty()) {
    return serve({.exchange = exchange, .path = options.not_found, .purpose = Purpose::NotFound});
  }
  // A browser that navigates here gets the page of the app: caches must not give it this one.
  const bool varies = !options.spa.empty() && may_be_navigation(exchange);
  exchange.refuse(
      Error(ErrorKind::NotFound), {},
      varies ? http::Field{.name = http::name(http::FieldId::Vary), .value = kSpaVary, .id = http::FieldId::Vary}
             : http::Field{});
}

// Takes the place of what was known of that path.
void Front::keep(Entry& entry) {
  if (Entry* old = entries_.find(entry.key); old != nullptr) drop(*old);
  if (!entry.is_kept || mount_.options.paths == 0) return;
  while (entries_.size() >= mount_.options.paths) drop(*order_.front());
  entries_.add(Ref<Entry>(&entry));
  order_.push_back(entry);
  if (!entry.has_open_file()) return;
  if (++open_file_count_ > mount_.options.open_files) drop_oldest_file();
  if (!idle_timer_.is_armed()) site_.loop.timers().arm_after(idle_timer_, kIdleFileMs);
}

void Front::drop(Entry& entry) noexcept {
  if (entry.has_open_file()) --open_file_count_;
  entry.unlink();
  entries_.remove(entry);
}

void Front::drop_oldest_file() noexcept {
  for (Entry* entry = order_.front(); entry != nullptr; entry = order_.next(*entry)) {
    if (entry->has_open_file()) return drop(*entry);
  }
}

void Front::drop_evicted() noexcept {
  for (Entry* entry = order_.front(); entry != nullptr;) {
    Entry* next = order_.next(*entry);
    if (entry->is_evicted()) drop(*entry);
    entry = next;
  }
}

// A file that was deleted keeps its place on the disk as long as it is open.
void Front::close_idle_files() noexcept {
  const std::int64_t latest = site_.loop.wall_seconds() - static_cast<std::int64_t>(kIdleFileMs / 1000);
  for (Entry* entry = order_.front(); entry != nullptr;) {
    Entry* next = order_.next(*entry);
    if (entry->has_open_file() && entry->used_s <= latest) drop(*entry);
    entry = next;
  }
  if (open_file_count_ > 0) site_.loop.timers().arm_after(idle_timer_, kIdleFileMs);
}

}  // namespace violet::files
