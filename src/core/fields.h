#pragma once

// Walks the fields of described types, groups flattened: what every codec is built on.

#include "core/describe.h"

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ff::core {

template <class T>
concept Described = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;

template <class E>
concept DescribedEnum = std::is_enum_v<E> && boost::describe::has_describe_enumerators<E>::value;

/// A group is a struct whose members stand flat beside those of the struct that holds it.
template <class T>
inline constexpr bool is_group = false;
template <>
inline constexpr bool is_group<StateVector> = true;
template <>
inline constexpr bool is_group<Counters> = true;
template <>
inline constexpr bool is_group<Times> = true;
template <>
inline constexpr bool is_group<Timers> = true;
template <>
inline constexpr bool is_group<Hold> = true;
template <>
inline constexpr bool is_group<Progress> = true;
template <>
inline constexpr bool is_group<Ending> = true;

/// The wire spelling of a C++ name: a trailing underscore, which avoids a keyword, is dropped.
constexpr std::string_view wire_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

template <DescribedEnum E>
std::string_view name_of(E value) {
  const char* name = boost::describe::enum_to_string(value, nullptr);
  return name ? wire_name(name) : std::string_view("?");
}

template <DescribedEnum E>
std::optional<E> enum_from(std::string_view name) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (wire_name(d.name) == name) found = d.value;
  });
  return found;
}

/// The enumerator with that number, if there is one.
template <DescribedEnum E>
std::optional<E> enum_from_number(std::int64_t number) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (static_cast<std::int64_t>(d.value) == number) found = d.value;
  });
  return found;
}

/// Calls `visit(name, member)` for each field of `record`, groups flattened, in the order of the description.
template <class T, class Visit>
  requires Described<std::remove_const_t<T>>
void for_each_field(T& record, Visit&& visit) {
  using Members = boost::describe::describe_members<std::remove_const_t<T>, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto d) {
    auto& member = record.*d.pointer;
    using M = std::remove_cvref_t<decltype(member)>;
    if constexpr (is_group<M>) {
      for_each_field(member, visit);
    } else {
      static constexpr std::string_view kName = wire_name(decltype(d)::name);
      visit(kName, member);
    }
  });
}

inline constexpr std::array<std::string_view, 0> kNoFields{};

/// The same over two records of one type, field by field: `visit(name, left, right)`. Those named in `kBut` are left out.
template <const auto& kBut = kNoFields, class T, class Visit>
  requires Described<T>
void for_each_field_pair(const T& left, const T& right, Visit&& visit) {
  using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto d) {
    const auto& a = left.*d.pointer;
    const auto& b = right.*d.pointer;
    using M = std::remove_cvref_t<decltype(a)>;
    if constexpr (is_group<M>) {
      for_each_field_pair<kBut>(a, b, visit);
    } else {
      static constexpr std::string_view kName = wire_name(decltype(d)::name);
      if constexpr (std::find(kBut.begin(), kBut.end(), kName) == kBut.end()) visit(kName, a, b);
    }
  });
}

}  // namespace ff::core
