#include "violet/web/content/form.h"

#include "violet/base/ascii.h"
#include "violet/data/rule/rule.h"
#include "violet/data/text_value.h"
#include "violet/http/target.h"

#include <string>

namespace violet::web {
namespace {

// One set of pairs on its way into one object.
class Pairs {
 public:
  Pairs(Fetch& fetch, data::Part part, const data::Type& type, void* out) noexcept
      : fetch_(fetch), part_(part), shape_(*type.object), out_(out) {
    shape_.locate(out, members_);
  }

  void read(std::string_view rest) {
    std::string_view name;
    std::string_view value;
    while (next_pair(rest, name, value)) take(name, value);
    complain();
    if (shape_.rules != nullptr && !has_failed_) check();
  }

 private:
  void take(std::string_view raw_name, std::string_view raw_value) {
    Arena& arena = fetch_.exchange().arena();
    // A badly encoded name is unknown, whatever it is.
    const auto name = http::decode(raw_name, arena, true);
    if (!name) return;
    std::size_t index = 0;
    while (index < shape_.count && (shape_.members[index].name != *name || shape_.members[index].is_ignored)) ++index;
    if (index == shape_.count) return;
    const data::Type& type = *shape_.members[index].type;
    if ((seen_ >> index & 1) != 0 && !data::takes_many(type)) return;
    seen_ |= std::uint32_t{1} << index;
    const auto value = http::decode(raw_value, arena, true);
    if (!value) return fail(*name, "is badly encoded");
    if (value->empty() && is_blank_for(type)) return;
    if (const std::string what = data::set_text(type, members_[index], *value, arena); !what.empty()) fail(*name, what);
  }

  // A field left blank: none, where there may be none and "" means nothing.
  static bool is_blank_for(const data::Type& type) noexcept {
    if (type.kind != data::Kind::Optional) return false;
    const data::Kind inner = type.optional->inner->kind;
    return inner != data::Kind::String && inner != data::Kind::View;
  }

  void complain() {
    const std::uint32_t missing = shape_.required() & ~seen_;
    for (std::size_t i = 0; i < shape_.count; ++i) {
      if ((missing >> i & 1) == 0) continue;
      const data::Type& type = *shape_.members[i].type;
      // A query has all its texts and lists, be they empty.
      const bool is_text_or_list =
          type.kind == data::Kind::String || type.kind == data::Kind::View || type.kind == data::Kind::List;
      if (part_ == data::Part::Query && is_text_or_list && type.rule_count == 0) continue;
      // What may come any number of times may come no time; rules say otherwise where it may not.
      if (data::takes_many(type) && type.rule_count == 0) continue;
      fail(shape_.members[i].name, "is missing");
    }
    for (std::size_t i = 0; i < shape_.count; ++i) {
      const data::Type& type = *shape_.members[i].type;
      if (!data::takes_many(type) || (seen_ >> i & 1) == 0) continue;
      for (std::size_t rule = 0; rule < type.rule_count; ++rule) {
        if (!data::holds(type.rules[rule], type, members_[i])) {
          fail(shape_.members[i].name, data::describe(type.rules[rule], type));
        }
      }
    }
  }

  void check() {
    data::Rules rules(
        shape_, out_,
        [](void* to, std::string_view member, std::string_view what) { static_cast<Pairs*>(to)->fail(member, what); },
        this);
    shape_.rules(out_, rules);
  }

  void fail(std::string_view name, std::string_view what) {
    has_failed_ = true;
    if (part_ != data::Part::Body) return fetch_.fail(part_, name, what);
    fetch_.fail(part_, name.empty() ? std::string() : "/" + std::string(name), what);
  }

  Fetch& fetch_;
  data::Part part_;
  const data::ObjectType& shape_;
  void* out_;
  void* members_[data::kMembersMax];
  std::uint32_t seen_ = 0;
  bool has_failed_ = false;
};

}  // namespace

void bind_pairs(Binding& binding, const data::Type& type, std::string_view what) {
  const std::string parameter = "the handler's " + std::string(what) + ": ";
  for (std::size_t i = 0; i < type.object->count; ++i) {
    const data::Member& member = type.object->members[i];
    if (!member.is_ignored && !data::takes_text(*member.type)) {
      binding.fail(parameter + std::string(member.name) + " cannot be read from a text");
    }
  }
  struct To {
    Binding& binding;
    const std::string& parameter;
  } to{binding, parameter};
  data::find_defects(
      type, true,
      [](void* target, std::string_view sentence) {
        auto& [found_by, prefix] = *static_cast<To*>(target);
        found_by.fail(prefix + std::string(sentence));
      },
      &to);
}

void fetch_pairs(Fetch& fetch, data::Part part, std::string_view pairs, const data::Type& type, void* out) {
  Pairs(fetch, part, type, out).read(pairs);
}

void fetch_form(Fetch& fetch, const data::Type& type, void* out) {
  const std::string_view content_type = fetch.exchange().request().fields.get(http::FieldId::ContentType);
  if (!ascii::equal_folded(ascii::trim(content_type.substr(0, content_type.find(';'))),
                           "application/x-www-form-urlencoded")) {
    fetch.refuse(Error(ErrorKind::Unsupported, 0, 415), "the body has to be application/x-www-form-urlencoded");
    return;
  }
  fetch_pairs(fetch, data::Part::Body, fetch.exchange().body(), type, out);
}

}  // namespace violet::web
