#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "derm/base/result.h"

namespace derm::detail {

/// Sorted keys: the same document always gives the same bytes.
using Json = nlohmann::json;

/// Where in a JSON document we are: a chain of stack objects that becomes text only when an error
/// or a note needs it. A path must not outlive the one it was made from.
class JsonPath {
 public:
  JsonPath() = default;
  JsonPath(const JsonPath& up, std::string_view key) : up_(&up), key_(key) {}
  JsonPath(const JsonPath& up, std::string_view key, std::size_t index)
      : up_(&up), key_(key), index_(index) {}

  std::string text() const;  ///< "meshes[3].primitives[0].attributes.POSITION"

 private:
  const JsonPath* up_ = nullptr;
  std::string_view key_;
  std::optional<std::size_t> index_;
};

/// An error of the document, with file and element filled in.
Error jsonError(std::string_view file, const JsonPath& at, std::string message,
                std::optional<std::uint64_t> index = std::nullopt,
                ErrorCode code = ErrorCode::BadData);

/// The member, or null where the value is no object or has no such key.
const Json* findMember(const Json& object, const char* key);

/// Length of an array member; 0 where there is none.
std::size_t arraySize(const Json& object, const char* key);

/// object[key][index], which must be an object.
Result<const Json*> objectAt(std::string_view file, const Json& object, const char* key,
                             std::size_t index);

/// A non-negative whole number; nothing where absent; an error where it is something else.
Result<std::optional<std::uint64_t>> uintMember(std::string_view file, const Json& object,
                                                const char* key, const JsonPath& at);

/// The same for a reference to one of `limit` things.
Result<std::optional<std::size_t>> indexMember(std::string_view file, const Json& object,
                                               const char* key, std::size_t limit,
                                               const JsonPath& at);

/// Fills `out` from an array of exactly as many numbers that are finite floats; false where absent.
Result<bool> floatsMember(std::string_view file, const Json& object, const char* key,
                          std::span<double> out, const JsonPath& at);

/// The string, or nothing where absent or no string.
std::optional<std::string> stringMember(const Json& object, const char* key);

/// The member as an object to write into; whatever else was there is replaced.
Json& objectMember(Json& object, const char* key);

/// On one line. Names come from files and may be any bytes: those that are no UTF-8 are replaced,
/// where the library's own way throws.
std::string dumpText(const Json& value);

/// Whole number of a JSON value, where it is one ("3" and "3.0", not "3.5" or "-1").
std::optional<std::uint64_t> asUint(const Json& value);

}  // namespace derm::detail
