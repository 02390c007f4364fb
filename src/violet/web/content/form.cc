#include "violet/web/content/form.h"

#include "violet/base/ascii.h"
#include "violet/data/rule/rule.h"
#include "violet/data/text_value.h"
#include "violet/http/target.h"
#include "violet/web/upload/parser.h"
#include "violet/web/upload/uploaded_file.h"

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
    end();
  }
  // One part of a multipart form; `value` lives as long as the request.
  void take_part(const PartHead& head, std::string_view value) {
    const std::size_t index = find(head.name);
    if (index == shape_.count) return;
    const data::Type& type = *shape_.members[index].type;
    if (!is_file(type)) {
      if (head.file_name) return fail(head.name, "has to be a text, not a file");
      return store(index, head.name, value);
    }
    if (!head.file_name) return fail(head.name, "has to be a file");
    // What a browser sends where no file was chosen.
    if (head.file_name->empty() && value.empty()) return;
    if (!mark(index)) return;
    Arena& arena = fetch_.exchange().arena();
    const UploadedFile file(arena.copy(*head.file_name), arena.copy(head.content_type), value);
    void* place = members_[index];
    if (type.kind == data::Kind::Optional) place = type.optional->emplace(place);
    if (type.kind == data::Kind::List) place = type.list->append(place, 0);
    *static_cast<UploadedFile*>(place) = file;
  }
  void end() {
    complain();
    if (shape_.rules != nullptr && !has_failed_) check();
  }

 private:
  void take(std::string_view raw_name, std::string_view raw_value) {
    Arena& arena = fetch_.exchange().arena();
    // A badly encoded name is unknown, whatever it is.
    const auto name = http::decode(raw_name, arena, true);
    if (!name) return;
    const std::size_t index = find(*name);
    if (index == shape_.count) return;
    const auto value = http::decode(raw_value, arena, true);
    if (!value) {
      if (mark(index)) fail(*name, "is badly encoded");
      return;
    }
    store(index, *name, *value);
  }

  // The index of the member, or shape_.count.
  [[nodiscard]] std::size_t find(std::string_view name) const noexcept {
    std::size_t index = 0;
    while (index < shape_.count && (shape_.members[index].name != name || shape_.members[index].is_ignored)) ++index;
    return index;
  }
  // False: it has come already, and the first counts.
  bool mark(std::size_t index) noexcept {
    if ((seen_ >> index & 1) != 0 && !data::takes_many(*shape_.members[index].type)) return false;
    seen_ |= std::uint32_t{1} << index;
    return true;
  }
  void store(std::size_t index, std::string_view name, std::string_view value) {
    const data::Type& type = *shape_.members[index].type;
    if (!mark(index) || (value.empty() && is_blank_for(type))) return;
    const std::string what = data::set_text(type, members_[index], value, fetch_.exchange().arena());
    if (!what.empty()) fail(name, what);
  }

  // An UploadedFile, or those that there may be none or many of.
  static bool is_file(const data::Type& type) noexcept {
    if (type.kind == data::Kind::Optional) return is_file(*type.optional->inner);
    if (data::takes_many(type)) return is_file(*type.list->element);
    return type.kind == data::Kind::Text && type.text == &data::TypeOf<UploadedFile>::table;
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

// The parts of a multipart body that is all there.
class Parts {
 public:
  Parts(Fetch& fetch, std::string_view boundary, Pairs& to)
      : fetch_(fetch), parser_(boundary, fetch.exchange().limits()), to_(to) {}

  void read(std::string_view body) {
    using Step = MultipartParser::Step;
    Step step = Step::More;
    do {
      step = parser_.next(body);
      if (step == Step::Part) value_ = {};
      if (step == Step::Data) append(parser_.data());
      if (step == Step::PartEnd) to_.take_part(parser_.head(), value_);
      if (step == Step::More) step = parser_.finish();
    } while (step != Step::End && step != Step::Bad);
    if (step == Step::Bad) return fetch_.refuse(parser_.error(), parser_.defect());
    to_.end();
  }

 private:
  // Nearly always the only piece of its part.
  void append(std::string_view data) {
    if (value_.empty()) {
      const std::string_view body = fetch_.exchange().body();
      const bool is_of_body = data.data() >= body.data() && data.data() < body.data() + body.size();
      value_ = is_of_body ? data : fetch_.exchange().arena().copy(data);
      return;
    }
    value_ = fetch_.exchange().arena().copy(std::string(value_).append(data));
  }

  Fetch& fetch_;
  MultipartParser parser_;
  Pairs& to_;
  std::string_view value_;
};

bool is_urlencoded(std::string_view content_type) noexcept {
  return ascii::equal_folded(ascii::trim(content_type.substr(0, content_type.find(';'))),
                             "application/x-www-form-urlencoded");
}

void fetch_parts(Fetch& fetch, std::string_view content_type, const data::Type& type, void* out) {
  const auto boundary = boundary_of(content_type);
  if (!boundary) return fetch.refuse(Error(ErrorKind::Invalid), "the Content-Type has no boundary, or a malformed one");
  Pairs pairs(fetch, data::Part::Body, type, out);
  Parts(fetch, *boundary, pairs).read(fetch.exchange().body());
}

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

void admit_form(Fetch& fetch) {
  const std::string_view type = fetch.exchange().request().fields.get(http::FieldId::ContentType);
  if (is_form_data(type) || is_urlencoded(type)) return;
  fetch.refuse(Error(ErrorKind::Unsupported, 0, 415),
               "the body has to be application/x-www-form-urlencoded or multipart/form-data");
}

void fetch_form(Fetch& fetch, const data::Type& type, void* out) {
  const std::string_view content_type = fetch.exchange().request().fields.get(http::FieldId::ContentType);
  if (is_form_data(content_type)) {
    fetch_parts(fetch, content_type, type, out);
  } else {
    fetch_pairs(fetch, data::Part::Body, fetch.exchange().body(), type, out);
  }
}

}  // namespace violet::web
