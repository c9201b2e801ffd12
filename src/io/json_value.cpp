#include "io/json_value.h"

#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace derm::detail {

std::string JsonPath::text() const {
  std::vector<const JsonPath*> chain;
  for (const JsonPath* p = this; p != nullptr && !p->key_.empty(); p = p->up_) chain.push_back(p);
  std::string out;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if (!out.empty()) out += '.';
    out += (*it)->key_;
    if ((*it)->index_) out += fmt::format("[{}]", *(*it)->index_);
  }
  return out;
}

Error jsonError(std::string_view file, const JsonPath& at, std::string message,
                std::optional<std::uint64_t> index, ErrorCode code) {
  return Error{
      code, std::move(message), {.file = std::string(file), .element = at.text(), .index = index}};
}

const Json* findMember(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

std::size_t arraySize(const Json& object, const char* key) {
  const Json* array = findMember(object, key);
  return array != nullptr && array->is_array() ? array->size() : 0;
}

Result<const Json*> objectAt(std::string_view file, const Json& object, const char* key,
                             std::size_t index) {
  const Json* array = findMember(object, key);
  const JsonPath root;
  if (array == nullptr || !array->is_array() || index >= array->size())
    return jsonError(file, JsonPath(root, key), "there is no such element", index);
  if (!(*array)[index].is_object())
    return jsonError(file, JsonPath(root, key, index), "must be an object");
  return &(*array)[index];
}

std::optional<std::uint64_t> asUint(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (number >= 0) return static_cast<std::uint64_t>(number);
    return std::nullopt;
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0 && number <= 0x1p53 && std::floor(number) == number)
      return static_cast<std::uint64_t>(number);
  }
  return std::nullopt;
}

Result<std::optional<std::uint64_t>> uintMember(std::string_view file, const Json& object,
                                                const char* key, const JsonPath& at) {
  const Json* value = findMember(object, key);
  if (value == nullptr) return std::optional<std::uint64_t>();
  const std::optional<std::uint64_t> number = asUint(*value);
  if (!number) return jsonError(file, JsonPath(at, key), "must be a whole number of at least 0");
  return number;
}

Result<std::optional<std::size_t>> indexMember(std::string_view file, const Json& object,
                                               const char* key, std::size_t limit,
                                               const JsonPath& at) {
  DERM_TRY(const std::optional<std::uint64_t> number, uintMember(file, object, key, at));
  if (!number) return std::optional<std::size_t>();
  if (*number >= limit)
    return jsonError(file, JsonPath(at, key),
                     fmt::format("refers to number {}, but there are {}", *number, limit));
  return std::optional<std::size_t>(static_cast<std::size_t>(*number));
}

Result<bool> floatsMember(std::string_view file, const Json& object, const char* key,
                          std::span<double> out, const JsonPath& at) {
  const Json* array = findMember(object, key);
  if (array == nullptr) return false;
  const JsonPath here(at, key);
  if (!array->is_array() || array->size() != out.size())
    return jsonError(file, here, fmt::format("must be an array of {} numbers", out.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!(*array)[i].is_number()) return jsonError(file, here, "must be a number", i);
    out[i] = (*array)[i].get<double>();
    if (!(std::abs(out[i]) <= std::numeric_limits<float>::max()))
      return jsonError(file, here, "too large for a float", i);
  }
  return true;
}

std::optional<std::string> stringMember(const Json& object, const char* key) {
  const Json* value = findMember(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::string dumpText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json& objectMember(Json& object, const char* key) {
  Json& member = object[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

}  // namespace derm::detail
