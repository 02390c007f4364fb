#pragma once

// put<T>: the writer of one type, made by the compiler. It knows what Writer reads from tables (data/type.h): names are
// constants of the code, members are where they are, and nobody asks for kinds. The text is the same to the byte, for
// little more than half of the instructions; so this is for types that are known and values that are written all the
// time.
//
//   json::Put put = &json::put<User>;
//   put(writer, &user);

#include "violet/json/writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace violet::json {

// Writes a value of the type that it was made for.
using Put = void (*)(Writer& writer, const void* value);

class Typed {
 public:
  template <class T>
  static void write(Writer& to, const T& value) {
    to.at_ = put(to, value, to.room(to.at_, kScalarRoom));
  }

 private:
  static constexpr std::size_t kScalarRoom = Writer::kScalarRoom;
  static constexpr std::size_t kRest = Writer::kRest;

  // Numbers that are whole, true and false: they have a longest form.
  template <class T>
  static consteval bool is_scalar() {
    if constexpr (data::Known<T> && !data::kIsSecret<T>) {
      constexpr data::Kind kKind = data::kType<T>.kind;
      return kKind == data::Kind::Bool || kKind == data::Kind::Signed || kKind == data::Kind::Unsigned;
    } else {
      return false;
    }
  }
  template <class T>
  static constexpr bool kIsScalar = is_scalar<T>();

  // REQUIRES: kScalarRoom bytes at `at`, which scalars take. Behind all others there are kRest bytes again.
  template <class T>
  static char* put(Writer& to, const T& value, char* at) {
    if constexpr (data::Known<T>) {
      return put_known(to, value, at);
    } else {
      return at;  // its table says that it has no form
    }
  }
  template <class T>
  static char* put_known(Writer& to, const T& value, char* at) {
    constexpr data::Kind kKind = data::kType<T>.kind;
    if constexpr (data::kIsSecret<T>) {
      return to.room(Writer::put_null(at), kRest);
    } else if constexpr (kIsScalar<T>) {
      return put_scalar<T>(&value, at);
    } else if constexpr (kKind == data::Kind::String) {
      return to.put_text(*static_cast<const std::string*>(static_cast<const void*>(&value)), at);
    } else if constexpr (kKind == data::Kind::View) {
      return to.put_text(*static_cast<const std::string_view*>(static_cast<const void*>(&value)), at);
    } else if constexpr (data::Structure<T>) {
      return put_object(to, value, at);
    } else if constexpr (requires { requires data::TypeOf<T>::is_row; }) {
      return put_row(to, value.data(), value.size(), at);
    } else {
      return to.room(to.put(data::kType<T>, &value, at), kRest);
    }
  }

  template <class T>
  static char* put_scalar(const void* value, char* at) {
    constexpr data::Kind kKind = data::kType<T>.kind;
    if constexpr (kKind == data::Kind::Bool) {
      return Writer::put_bool(*static_cast<const bool*>(value), at);
    } else if constexpr (kKind == data::Kind::Signed) {
      return Writer::put_signed(data::load_signed(value, data::kType<T>.size), at);
    } else {
      return Writer::put_unsigned(data::load_unsigned(value, data::kType<T>.size), at);
    }
  }

  template <class T>
  static char* put_object(Writer& to, const T& object, char* at) {
    if (to.depth_ == Writer::kDepthMax) [[unlikely]]
      return to.fail_too_deep(at);
    ++to.depth_;
    if constexpr (kFirst<T> == data::TypeOf<T>::members.size()) *at++ = '{';
    at = reflect::visit(object, [&to, at]<class... M>(const M&... member) {
      constexpr std::array<std::size_t, sizeof...(M)> kRoomBefore = rooms_before<T, M...>();
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        char* next = at;
        ((next = put_member<T, I, kRoomBefore[I]>(to, member, next)), ...);
        return next;
      }(std::index_sequence_for<M...>{});
    });
    --to.depth_;
    *at++ = '}';
    return to.room(at, kRest);
  }

  // The first one that is written opens the object.
  template <class T>
  static constexpr std::size_t kFirst = [] {
    std::size_t at = 0;
    while (at < data::TypeOf<T>::members.size() && !data::TypeOf<T>::members[at].is_written) ++at;
    return at;
  }();

  // What a member asks for: its name, a scalar, and the brace behind the last one.
  template <class T>
  static constexpr std::size_t needed(std::size_t i) {
    return data::TypeOf<T>::members[i].prefix.size() + kScalarRoom + 1;
  }
  // How many bytes there are for certain before each member.
  template <class T, class... M>
  static constexpr std::array<std::size_t, sizeof...(M)> rooms_before() {
    constexpr bool kScalars[] = {kIsScalar<M>...};
    std::array<std::size_t, sizeof...(M)> before{};
    std::size_t room = kScalarRoom;
    for (std::size_t i = 0; i < sizeof...(M); ++i) {
      before[i] = room;
      if (!data::TypeOf<T>::members[i].is_written) continue;
      if (room < needed<T>(i)) room = std::max(kRest, needed<T>(i));
      room = kScalars[i] ? room - needed<T>(i) + 1 : kRest;
    }
    return before;
  }

  template <class T, std::size_t I, std::size_t RoomBefore, class M>
  [[gnu::always_inline]] static char* put_member(Writer& to, const M& value, char* at) {
    if constexpr (data::TypeOf<T>::members[I].is_written) {
      constexpr std::string_view kPrefix = data::TypeOf<T>::members[I].prefix;
      constexpr std::size_t kNeeded = needed<T>(I);
      if constexpr (kNeeded > Writer::kRoom) {
        at = to.room(at, 1);
        *at++ = I == kFirst<T> ? '{' : ',';
        at = to.room(to.put_raw(kPrefix.substr(1), at), kScalarRoom);
      } else {
        if constexpr (RoomBefore < kNeeded) at = to.room(at, std::max(kRest, kNeeded));
        std::memcpy(at, kPrefix.data(), kPrefix.size());
        if constexpr (I == kFirst<T>) *at = '{';
        at += kPrefix.size();
      }
      return put(to, value, at);
    } else {
      return at;
    }
  }

  template <class E>
  static char* put_row(Writer& to, const E* element, std::size_t count, char* at) {
    if (to.depth_ == Writer::kDepthMax) [[unlikely]]
      return to.fail_too_deep(at);
    ++to.depth_;
    const E* const end = element + count;
    at = to.room(at, kRest);
    for (char lead = '['; element != end; ++element) {
      if constexpr (kIsScalar<E>) at = to.room(at, 1 + kScalarRoom);
      *at++ = lead;
      lead = ',';
      at = put(to, *element, at);
    }
    --to.depth_;
    at = to.room(at, 2 + kRest);
    if (count == 0) *at++ = '[';
    *at++ = ']';
    return at;
  }
};

template <data::Known T>
void put(Writer& writer, const void* value) {
  Typed::write(writer, *static_cast<const T*>(value));
}

}  // namespace violet::json
