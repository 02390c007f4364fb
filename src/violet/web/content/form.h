#pragma once

// Form<T>: an HTML form (application/x-www-form-urlencoded or multipart/form-data), read into a struct by the names of
// its members.
//
//   struct SignUp { text<1, 40> name; email mail; std::optional<int> age; bool news = false; std::vector<int> topics;
//   }; app.post("/sign-up", [](Form<SignUp> form) { … form->name … });
//
// What fits and what has to come is as for JSON (json/reader.h). Members are numbers, bools, enumerations, texts,
// times, UploadedFile (web/upload/uploaded_file.h), and std::optional or std::vector of those. Of a name that comes
// more than once the first counts, a vector gets all. An optional that is no text takes "", what a browser sends for a
// field left blank, for none. Unknown names are ignored. A form that does not fit is a 422 with every bad field; a body
// of another type a 415, before it is read.

#include "violet/data/type_of.h"
#include "violet/web/input/extract.h"

#include <string_view>

namespace violet {

template <class T>
struct Form {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace web {

// `what` names the parameter in what is reported.
void bind_pairs(Binding& binding, const data::Type& type, std::string_view what);
// Refuses a body of another type.
void admit_form(Fetch& fetch);
// REQUIRES: admitted.
void fetch_form(Fetch& fetch, const data::Type& type, void* out);
// name=value pairs of any kind into the members of an object; all that is wrong goes to `fetch`.
void fetch_pairs(Fetch& fetch, data::Part part, std::string_view pairs, const data::Type& type, void* out);

}  // namespace web

template <class T>
  requires data::Structure<T>
struct Extract<Form<T>> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Body,
                                    .is_checked = true,
                                    .media = "application/x-www-form-urlencoded",
                                    .other_media = "multipart/form-data",
                                    .type = &data::kType<T>};
  static constexpr bool wants_body = true;
  static void bind(web::Binding& binding, web::ParameterSlot&, std::size_t) {
    web::bind_pairs(binding, data::kType<T>, "Form<>");
  }
  static void admit(Fetch& fetch) { web::admit_form(fetch); }
  static Form<T> from(Fetch& fetch) {
    Form<T> form;
    web::fetch_form(fetch, data::kType<T>, &form.value);
    return form;
  }
};

}  // namespace violet
