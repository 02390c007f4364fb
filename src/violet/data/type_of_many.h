#pragma once

// kType<T> of lists, maps, bytes and variants; included by data/type_of.h.

#include "violet/data/type_of.h"

#include <charconv>

namespace violet::data {

// --- bytes

template <class T>
concept ByteList = requires(const T& value) {
  { value.data() } -> std::convertible_to<const std::byte*>;
  { value.size() } -> std::convertible_to<std::size_t>;
};
template <ByteList T>
struct TypeOf<T> {
  static std::string_view get(const void* bytes) {
    const T& value = *static_cast<const T*>(bytes);
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }
  static void assign(void* bytes, std::string_view decoded) {
    const auto* first = reinterpret_cast<const std::byte*>(decoded.data());
    if constexpr (std::is_constructible_v<T, const std::byte*, const std::byte*>) {
      *static_cast<T*>(bytes) = T(first, first + decoded.size());
    } else {
      static_assert(sizeof(T) == 0, "violet: bytes are std::vector<std::byte> or std::span<const std::byte>");
    }
  }
  static constexpr BytesType table{&get, &assign};
  static consteval Type make() {
    Type type(Kind::Bytes);
    type.bytes = &table;
    return type;
  }
};

// --- lists

template <class T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
} && !std::is_convertible_v<const T&, std::string_view> && !ByteList<T>;
template <class T>
concept MapLike = Range<T> && requires {
  typename T::key_type;
  typename T::mapped_type;
};
template <class T>
concept ListLike = Range<T> && !requires { typename T::mapped_type; };

template <ListLike T>
struct TypeOf<T> {
  using Element = std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>;
  static constexpr bool is_row = requires(const T& list) {
    { list.data() } -> std::convertible_to<const Element*>;
    { list.size() } -> std::convertible_to<std::size_t>;
  };
  static constexpr bool is_array = !std::is_empty_v<T> && std::is_aggregate_v<T> && is_row;
  static constexpr bool is_bits = std::is_same_v<Element, bool> && !is_row;

  static ListType::Row row(const void* list) {
    const T& value = *static_cast<const T*>(list);
    return {value.data(), value.size()};
  }
  static void each(const void* list, Visitor& visitor) {
    for (const Element& element : *static_cast<const T*>(list)) visitor.on_element(&element);
  }
  static void* append(void* list, [[maybe_unused]] std::size_t at) {
    if constexpr (is_array) {
      return static_cast<T*>(list)->data() + at;
    } else {
      return &static_cast<T*>(list)->emplace_back();
    }
  }
  static void append_bool(void* list, bool value) { static_cast<T*>(list)->push_back(value); }
  static void clear(void* list) { static_cast<T*>(list)->clear(); }

  static consteval ListType make_list() {
    ListType list(type_of_member<Element>());
    if constexpr (is_row) {
      list.stride = sizeof(Element);
      list.row = &row;
    } else {
      list.each = &each;
    }
    if constexpr (is_array) {
      list.fixed_count = sizeof(T) / sizeof(Element);
      list.append = &append;
    } else if constexpr (is_bits) {
      list.append_bool = &append_bool;
    } else if constexpr (requires(T& value) {
                           { value.emplace_back() } -> std::same_as<Element&>;
                         }) {
      list.append = &append;
    }
    if constexpr (requires(T& value) { value.clear(); }) list.clear = &clear;
    return list;
  }
  static constexpr ListType table = make_list();
  static consteval Type make() {
    Type type(Kind::List);
    type.list = &table;
    return type;
  }
};

// --- maps

template <class K>
concept TextKey = std::is_same_v<K, std::string> || std::is_same_v<K, std::string_view>;

template <MapLike T>
struct TypeOf<T> {
  using Key = typename T::key_type;
  using Value = typename T::mapped_type;
  static_assert(TextKey<Key> || (std::is_integral_v<Key> && !std::is_same_v<Key, bool>),
                "violet: the keys of a map in a document are std::string, std::string_view or integers");

  static void* insert(void* map, std::string_view key, bool& is_new) {
    Key own{};
    if constexpr (TextKey<Key>) {
      own = Key(key);
    } else {
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), own);
      if (error != std::errc{} || end != key.data() + key.size()) return nullptr;
    }
    const auto [at, inserted] = static_cast<T*>(map)->try_emplace(std::move(own));
    is_new = inserted;
    return &at->second;
  }
  static void each(const void* map, Visitor& visitor) {
    for (const auto& [key, value] : *static_cast<const T*>(map)) {
      if constexpr (TextKey<Key>) {
        visitor.on_entry(key, &value);
      } else {
        char text[24];
        const char* end = std::to_chars(text, text + sizeof text, key).ptr;
        visitor.on_entry({text, static_cast<std::size_t>(end - text)}, &value);
      }
    }
  }
  static void clear(void* map) { static_cast<T*>(map)->clear(); }
  static constexpr MapType table{type_of_member<Value>(), std::is_same_v<Key, std::string_view>, &insert, &each,
                                 &clear};
  static consteval Type make() {
    Type type(Kind::Map);
    type.map = &table;
    return type;
  }
};

// --- variants

template <class T>
inline constexpr bool kIsVariant = false;
template <template <class...> class V, class... A>
  requires requires(const V<A...>& value) {
    value.index();
    value.valueless_by_exception();
  }
inline constexpr bool kIsVariant<V<A...>> = true;

template <class V>
struct VariantOf;
template <template <class...> class V, class... A>
struct VariantOf<V<A...>> {
  using Self = V<A...>;
  static constexpr bool is_tagged = (Structure<A> && ...);

  template <std::size_t I>
  static void* emplace(void* variant) {
    return &static_cast<Self*>(variant)->template emplace<I>();
  }
  static std::size_t index(const void* variant) { return static_cast<const Self*>(variant)->index(); }
  static const void* get(const void* variant) {
    const void* found = nullptr;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((found = found != nullptr ? found : pointer_to<I>(static_cast<const Self*>(variant))), ...);
    }(std::index_sequence_for<A...>{});
    return found;
  }
  template <std::size_t I>
  static const void* pointer_to(const Self* variant) {
    return get_if<I>(variant);
  }
  template <class T>
  static consteval std::string_view name() {
    if (!kVariantName<T>.empty()) return kVariantName<T>;
    std::string_view text = reflect::type_name<T>();
    const std::size_t colon = text.find('<') == std::string_view::npos ? text.rfind(':') : std::string_view::npos;
    return colon == std::string_view::npos ? text : text.substr(colon + 1);
  }
  template <std::size_t... I>
  static consteval auto make(std::index_sequence<I...>) {
    return std::array<VariantType::Alternative, sizeof...(A)>{
        VariantType::Alternative{name<A>(), type_of_member<A>(), &emplace<I>}...};
  }
  static constexpr auto alternatives = make(std::index_sequence_for<A...>{});
  static constexpr VariantType table{is_tagged ? kVariantTag<Self> : std::string_view{}, alternatives.data(),
                                     alternatives.size(), &index, &get};
};

template <class T>
  requires kIsVariant<T>
struct TypeOf<T> {
  static consteval Type make() {
    Type type(Kind::Variant);
    type.variant = &VariantOf<T>::table;
    return type;
  }
};

}  // namespace violet::data
