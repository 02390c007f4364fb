#include "violet/web/route/table.h"

#include "violet/base/ascii.h"
#include "violet/base/check.h"

#include <cstring>

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

inline std::uint32_t Table::find_child(std::uint32_t parent, std::string_view text) const noexcept {
  if (text.empty()) return nodes_[parent].empty;
  if (!nodes_[parent].has_literals) return kNone;
  const std::uint32_t hash = hash_of(parent, text);
  for (std::size_t at = hash & edge_mask_; edge_slots_[at].edge != kNone; at = (at + 1) & edge_mask_) {
    if (edge_slots_[at].hash != hash) continue;
    const Edge& edge = edges_[edge_slots_[at].edge];
    if (edge.parent == parent && are_equal(edge.text, text)) return edge.child;
  }
  return kNone;
}

std::uint32_t Table::make_child(std::uint32_t parent, std::string_view text) {
  if (const std::uint32_t child = find_child(parent, text); child != kNone) return child;
  nodes_.emplace_back();
  const auto child = static_cast<std::uint32_t>(nodes_.size() - 1);
  if (text.empty()) return nodes_[parent].empty = child;
  nodes_[parent].has_literals = true;
  edges_.push_back({hash_of(parent, text), parent, child, std::string(text)});
  if (slots_for(edges_.size()) != edge_slots_.size()) {
    edge_slots_.assign(slots_for(edges_.size()), {});
    edge_mask_ = edge_slots_.size() - 1;
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) index_edge(edge);
  } else {
    index_edge(static_cast<std::uint32_t>(edges_.size() - 1));
  }
  return child;
}

void Table::index_edge(std::uint32_t edge) noexcept {
  std::size_t at = edges_[edge].hash & edge_mask_;
  while (edge_slots_[at].edge != kNone) at = (at + 1) & edge_mask_;
  edge_slots_[at] = {edges_[edge].hash, edge};
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
  out.text_ = path;
  if (find_byte(path, '%') != path.size()) {
    if (const Split verdict = decode(path, arena, out); verdict != Split::Done) return verdict;
  }
  out.segments_ = arena.array<std::string_view>(depth_max_);
  out.at_ = out.text_.data() + 1;
  out.raw_ = path.data() + 1;
  out.raw_end_ = path.data() + path.size();
  return Split::Done;
}

Table::Split Table::decode(std::string_view path, Arena& arena, SplitPath& out) {
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
    if (text[size] == '/') out.last_inner_slash_ = text + size;
    ++size;
  }
  out.text_ = {text, size};
  out.is_decoded_ = true;
  return std::memchr(text, 0, size) != nullptr ? Split::Never : Split::Done;
}

// Segments end at the raw slashes; the decoded ones among them are found again by walking both texts.
void SplitPath::split_next() noexcept {
  const char* const start = at_;
  if (!is_decoded_) [[likely]] {
    at_ += find_byte({at_, static_cast<std::size_t>(raw_end_ - at_)}, '/');
    raw_ = at_;
  } else {
    for (; raw_ != raw_end_ && *raw_ != '/'; ++at_) raw_ += *raw_ == '%' ? 3 : 1;
  }
  segments_[count_++] = {start, static_cast<std::size_t>(at_ - start)};
  is_whole_ = raw_ == raw_end_;
  ++raw_;
  ++at_;
}

const Endpoint* Table::find(SplitPath& path, http::Method method, std::string_view* values) const noexcept {
  return find_below({path, method, values}, 0, 0, 0);
}

const Endpoint* Table::find_below(const Search& search, std::uint32_t at, std::size_t depth,
                                  std::size_t value_count) const noexcept {
  SplitPath& path = search.path;
  for (;;) {
    const Node& node = nodes_[at];
    if (path.ends_at(depth)) return node.leaf != kNone ? leaves_[node.leaf].find(search.method) : nullptr;
    if (depth == depth_max_) return nullptr;
    if (!node.has_literals && node.param == kNone) {
      // Nothing below depends on where this segment ends, unless it is empty.
      const std::string_view rest = path.rest(depth);
      if (!rest.empty() && rest.front() != '/') return find_rest(search, node, rest, value_count);
    }
    const std::string_view segment = path.segment(depth);
    if (const std::uint32_t child = find_child(at, segment); child != kNone) {
      if (node.param == kNone && node.rest == kNone) {
        // There is no other way.
        at = child;
        ++depth;
        continue;
      }
      if (const Endpoint* found = find_below(search, child, depth + 1, value_count); found != nullptr) return found;
    }
    if (segment.empty()) return nullptr;
    if (node.param != kNone) {
      search.values[value_count] = segment;
      if (const Endpoint* found = find_below(search, node.param, depth + 1, value_count + 1); found != nullptr) {
        return found;
      }
    }
    return find_rest(search, node, path.rest(depth), value_count);
  }
}

const Endpoint* Table::find_rest(const Search& search, const Node& node, std::string_view rest,
                                 std::size_t value_count) const noexcept {
  if (node.rest == kNone || search.path.last_inner_slash() >= rest.data()) return nullptr;
  search.values[value_count] = rest;
  return leaves_[node.rest].find(search.method);
}

std::uint64_t Table::methods(SplitPath& path) const noexcept { return methods_below(path, 0, 0); }

std::uint64_t Table::methods_below(SplitPath& path, std::uint32_t at, std::size_t depth) const noexcept {
  const Node& node = nodes_[at];
  if (path.ends_at(depth)) return node.leaf != kNone ? leaves_[node.leaf].methods() : 0;
  if (depth == depth_max_) return 0;
  const std::string_view segment = path.segment(depth);
  std::uint64_t found = 0;
  if (const std::uint32_t child = find_child(at, segment); child != kNone)
    found = methods_below(path, child, depth + 1);
  if (segment.empty()) return found;
  if (node.param != kNone) found |= methods_below(path, node.param, depth + 1);
  if (node.rest != kNone && path.last_inner_slash() < segment.data()) found |= leaves_[node.rest].methods();
  return found;
}

std::uint64_t Table::all_methods() const noexcept {
  std::uint64_t found = 0;
  for (const Leaf& leaf : leaves_) found |= leaf.methods();
  return found;
}

}  // namespace violet::web
