#pragma once

// JSON schemas of described types, made from the same lists as their codecs.

#include "core/describe_calls.h"

#include <boost/core/demangle.hpp>

#include <typeinfo>

namespace ff::server {

/// One field of a request: in its body, its path or its query.
struct SchemaField {
  std::string name;
  core::json::value schema;
  bool required = false;
};

/// `Execution` of `ff::Execution`.
std::string short_name(const std::string& type);

core::json::value integer_schema(std::int64_t least, std::uint64_t most);
core::json::value text_schema(std::string_view format = {});
core::json::value list_schema(core::json::value items);
core::json::value reference_to(std::string_view name);
core::json::value object_schema(const std::vector<SchemaField>& fields);

/// Adds what is known of a request's field beyond its type: bounds, lengths.
void add_bounds(SchemaField& field);

/// The schemas that others refer to, by name; each is made once.
class Schemas {
 public:
  template <class T>
  core::json::value of() {
    if constexpr (core::is_optional<T>) {
      return of<typename T::value_type>();
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {{"type", "number"}};
    } else if constexpr (std::is_integral_v<T>) {
      return integer_schema(static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                            static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    } else if constexpr (std::is_same_v<T, std::string>) {
      return text_schema();
    } else if constexpr (std::is_same_v<T, Uuid>) {
      return text_schema("uuid");
    } else if constexpr (std::is_same_v<T, ExecutionId>) {
      return named("ExecutionId", [](core::json::object& schema) {
        schema["type"] = "string";
        schema["pattern"] = "^\\{fp:[0-9]+\\}:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
      });
    } else if constexpr (core::DescribedEnum<T>) {
      return named(type_name<T>(), [](core::json::object& schema) {
        schema["type"] = "string";
        for (std::string_view name : core::spellings<T>()) {
          if (!schema.contains("enum")) schema["enum"].emplace_array();
          schema["enum"].get_array().push_back(core::json::string(name));
        }
      });
    } else if constexpr (core::Described<T>) {
      return described<T>();
    } else {
      return container(static_cast<T*>(nullptr));
    }
  }

  /// A schema of that name, filled in when it is first asked for; the answer refers to it.
  template <class Fill>
  core::json::value named(const std::string& name, Fill&& fill) {
    if (!components_.contains(name)) {
      components_[name].emplace_object();  // first, so that a type may refer to itself
      core::json::object schema;
      fill(schema);
      components_[name] = std::move(schema);
    }
    return reference_to(name);
  }
  const core::json::object& components() const { return components_; }

 private:
  template <class T>
  static std::string type_name() {
    return short_name(boost::core::demangle(typeid(T).name()));
  }
  template <class T>
  core::json::value container(const std::vector<T>*) {
    return list_schema(of<T>());
  }
  template <class T>
  core::json::value container(const std::map<std::string, T>*) {
    core::json::value item = of<T>();
    if constexpr (core::is_optional<T>) item.as_object()["type"] = core::json::array{"string", "null"};
    return {{"type", "object"}, {"additionalProperties", std::move(item)}};
  }
  /// What is written: every member that is not optional is there.
  template <class T>
  core::json::value described() {
    return named(type_name<T>(), [this](core::json::object& schema) {
      std::vector<SchemaField> fields;
      const T empty{};
      core::for_each_field(empty, [&](std::string_view name, const auto& member) {
        using M = std::remove_cvref_t<decltype(member)>;
        fields.push_back({std::string(name), of<M>(), !core::is_optional<M>});
      });
      schema = object_schema(fields).as_object();
    });
  }

  core::json::object components_;
};

/// The fields of a request, with their bounds and with what counts when they are left out.
template <class T>
std::vector<SchemaField> fields_of(Schemas& schemas) {
  std::vector<SchemaField> fields;
  const T empty{};
  core::for_each_field(empty, [&](std::string_view name, const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    SchemaField& field = fields.emplace_back(SchemaField{std::string(name), schemas.of<M>(), false});
    for (std::string_view required : core::required_members<T>) field.required = field.required || required == name;
    if constexpr (std::is_arithmetic_v<M> || std::is_same_v<M, std::string>)
      if (!field.required) field.schema.as_object()["default"] = core::to_value(member);
    add_bounds(field);
  });
  return fields;
}

}  // namespace ff::server
