#include "violet/web/route/table.h"

#include "violet/base/ascii.h"
#include "violet/base/check.h"

namespace violet::web {
namespace {

constexpr std::uint64_t bit_of(http::Method method) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(method);
}
static_assert(http::kMethodCount < 64);

// At most half full.
constexpr std::size_t slots_for(std::size_t count) noexcept {
  std::size_t slots = 8;
  while (slots < count * 2) slots *= 2;
  return slots;
}

}  // namespace

const Endpoint* Leaf::find_fallback(http::Method method) const noexcept {
  if (method == http::Method::Head) {
    for (const Entry& entry : entries_) {
      if (entry.method == http::Method::Get) return entry.endpoint;
    }
  }
  return any_;
}

// --- building

const Endpoint* Table::insert(const Pattern& pattern, http::Method method, bool any, const Endpoint& endpoint) {
  VIOLET_CHECK(any || method != http::Method::Other);
  if (const std::uint32_t at = find_leaf(pattern); at != kNone) {
    const Leaf& leaf = leaves_[at];
    if (any && leaf.any_ != nullptr) return leaf.any_;
    if (!any && (leaf.methods_ & bit_of(method)) != 0) {
      for (const Leaf::Entry& entry : leaf.entries_) {
        if (entry.method == method) return entry.endpoint;
      }
    }
  }
  const std::uint32_t at = make_leaf(pattern);
  Leaf& leaf = leaves_[at];
  if (any) {
    leaf.any_ = &endpoint;
  } else {
    leaf.methods_ |= bit_of(method);
    leaf.entries_.push_back({method, &endpoint});
  }
  return nullptr;
}

std::uint32_t Table::find_leaf(const Pattern& pattern) const noexcept {
  std::uint32_t at = 0;
  for (const Segment& segment : pattern.segments) {
    if (segment.kind == Segment::Kind::Rest) return nodes_[at].rest;
    at = segment.kind == Segment::Kind::Param ? nodes_[at].param : find_child(at, segment.text);
    if (at == kNone) return kNone;
  }
  return nodes_[at].leaf;
}

std::uint32_t Table::make_leaf(const Pattern& pattern) {
  std::uint32_t at = 0;
  std::size_t value_count = 0;
  bool is_rest = false;
  for (const Segment& segment : pattern.segments) {
    if (segment.kind != Segment::Kind::Literal) ++value_count;
    if (segment.kind == Segment::Kind::Rest) {
      is_rest = true;
    } else if (segment.kind == Segment::Kind::Param) {
      if (nodes_[at].param == kNone) {
        nodes_.emplace_back();
        nodes_[at].param = static_cast<std::uint32_t>(nodes_.size() - 1);
      }
      at = nodes_[at].param;
    } else {
      at = make_child(at, segment.text);
    }
  }
  if (pattern.segments.size() > depth_max_) depth_max_ = pattern.segments.size();
  if (value_count > values_max_) values_max_ = value_count;
  std::uint32_t& leaf = is_rest ? nodes_[at].rest : nodes_[at].leaf;
  if (leaf == kNone) {
    leaves_.emplace_back();
    leaf = static_cast<std::uint32_t>(leaves_.size() - 1);
    // A path that equals a text with '%' means something else than that text.
    if (value_count == 0 && pattern.text.find('%') == std::string::npos) add_exact(pattern.text, leaf);
  }
  return leaf;
}

std::uint32_t Table::find_child(std::uint32_t parent, std::string_view text) const noexcept {
  if (!nodes_[parent].has_literals) return kNone;
  const std::uint32_t hash = hash_of(parent, text);
  const std::size_t mask = edge_slots_.size() - 1;
  for (std::size_t at = hash & mask; edge_slots_[at] != kNone; at = (at + 1) & mask) {
    const Edge& edge = edges_[edge_slots_[at]];
    if (edge.hash == hash && edge.parent == parent && is_equal(edge.text, text)) return edge.child;
  }
  return kNone;
}

std::uint32_t Table::make_child(std::uint32_t parent, std::string_view text) {
  if (const std::uint32_t child = find_child(parent, text); child != kNone) return child;
  nodes_.emplace_back();
  const auto child = static_cast<std::uint32_t>(nodes_.size() - 1);
  nodes_[parent].has_literals = true;
  edges_.push_back({hash_of(parent, text), parent, child, std::string(text)});
  if (slots_for(edges_.size()) != edge_slots_.size()) {
    edge_slots_.assign(slots_for(edges_.size()), kNone);
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) index_edge(edge);
  } else {
    index_edge(static_cast<std::uint32_t>(edges_.size() - 1));
  }
  return child;
}

void Table::index_edge(std::uint32_t edge) noexcept {
  const std::size_t mask = edge_slots_.size() - 1;
  std::size_t at = edges_[edge].hash & mask;
  while (edge_slots_[at] != kNone) at = (at + 1) & mask;
  edge_slots_[at] = edge;
}

void Table::add_exact(const std::string& text, std::uint32_t leaf) {
  ++exact_count_;
  if (slots_for(exact_count_) != exact_slots_.size()) {
    std::vector<ExactSlot> old(slots_for(exact_count_));
    old.swap(exact_slots_);
    exact_mask_ = exact_slots_.size() - 1;
    for (ExactSlot& slot : old) {
      if (slot.leaf != kNone) index_exact(std::move(slot));
    }
  }
  index_exact({hash_of(text), leaf, text});
}

void Table::index_exact(ExactSlot slot) noexcept {
  std::size_t at = slot.hash & exact_mask_;
  while (exact_slots_[at].leaf != kNone) at = (at + 1) & exact_mask_;
  exact_slots_[at] = std::move(slot);
}

// --- finding

Table::Split Table::split(std::string_view path, Arena& arena, SplitPath& out) const {
  if (path.empty() || path.front() != '/') return Split::Never;
  out = {};
  out.text = path;
  if (std::memchr(path.data(), '%', path.size()) != nullptr) {
    char* text = static_cast<char*>(arena.allocate(path.size(), 1));
    std::size_t size = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i] != '%') {
        text[size++] = path[i];
        continue;
      }
      if (i + 2 >= path.size()) return Split::Malformed;
      const int high = ascii::hex_value(path[i + 1]);
      const int low = ascii::hex_value(path[i + 2]);
      if (high < 0 || low < 0) return Split::Malformed;
      i += 2;
      text[size] = static_cast<char>(high << 4 | low);
      if (text[size] == '/') out.last_inner_slash = text + size;
      ++size;
    }
    out.text = {text, size};
    if (std::memchr(text, 0, size) != nullptr) return Split::Never;
  }
  // Segments end at the raw slashes; the decoded ones among them are found again by walking both texts.
  auto* segments = arena.array<std::string_view>(depth_max_);
  out.segments = segments;
  const char* const end = path.data() + path.size();
  const char* raw = path.data() + 1;
  const char* text = out.text.data() + 1;
  for (;;) {
    const char* start = text;
    for (; raw != end && *raw != '/'; ++text) raw += *raw == '%' ? 3 : 1;
    if (out.count < depth_max_) segments[out.count] = {start, static_cast<std::size_t>(text - start)};
    ++out.count;
    if (raw == end) return Split::Done;
    ++raw;
    ++text;
  }
}

const Endpoint* Table::find(const SplitPath& path, http::Method method, std::string_view* values) const noexcept {
  return find_below({path, method, values}, 0, 0, 0);
}

const Endpoint* Table::find_below(const Search& search, std::uint32_t at, std::size_t depth,
                                  std::size_t value_count) const noexcept {
  const Node& node = nodes_[at];
  const SplitPath& path = search.path;
  if (depth == path.count) return node.leaf != kNone ? leaves_[node.leaf].find(search.method) : nullptr;
  if (depth == depth_max_) return nullptr;
  const std::string_view segment = path.segments[depth];
  if (const std::uint32_t child = find_child(at, segment); child != kNone) {
    if (const Endpoint* found = find_below(search, child, depth + 1, value_count); found != nullptr) return found;
  }
  if (segment.empty()) return nullptr;
  if (node.param != kNone) {
    search.values[value_count] = segment;
    if (const Endpoint* found = find_below(search, node.param, depth + 1, value_count + 1); found != nullptr) {
      return found;
    }
  }
  if (node.rest == kNone || path.last_inner_slash >= segment.data()) return nullptr;
  search.values[value_count] = {segment.data(), static_cast<std::size_t>(path.text.end() - segment.data())};
  return leaves_[node.rest].find(search.method);
}

std::uint64_t Table::methods(const SplitPath& path) const noexcept { return methods_below(path, 0, 0); }

std::uint64_t Table::methods_below(const SplitPath& path, std::uint32_t at, std::size_t depth) const noexcept {
  const Node& node = nodes_[at];
  if (depth == path.count) return node.leaf != kNone ? leaves_[node.leaf].methods() : 0;
  if (depth == depth_max_) return 0;
  const std::string_view segment = path.segments[depth];
  std::uint64_t found = 0;
  if (const std::uint32_t child = find_child(at, segment); child != kNone)
    found = methods_below(path, child, depth + 1);
  if (segment.empty()) return found;
  if (node.param != kNone) found |= methods_below(path, node.param, depth + 1);
  if (node.rest != kNone && path.last_inner_slash < segment.data()) found |= leaves_[node.rest].methods();
  return found;
}

std::uint64_t Table::all_methods() const noexcept {
  std::uint64_t found = 0;
  for (const Leaf& leaf : leaves_) found |= leaf.methods();
  return found;
}

}  // namespace violet::web
