#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "derm/base/assert.h"

namespace derm {

enum class ErrorCode {
  BadData,      ///< the bytes or values given are wrong
  BadArgument,  ///< a parameter is out of range or names something that is not there
  Unsupported,  ///< right, but asks for something derm does not do
  CannotRead,   ///< the file is missing or unreadable
  CannotWrite,  ///< the file could not be written; the old one is untouched
  Cancelled,    ///< a progress callback asked to stop
};

/// Where in the user's data an error is. Every field is optional; what is known is filled in.
struct Where {
  std::string file = {};     ///< as the user named it
  std::string element = {};  ///< path inside the file: "meshes[0].primitives[2].indices", "MOTION"
  std::optional<std::uint64_t> line = {};    ///< 1-based, for text
  std::optional<std::uint64_t> column = {};  ///< 1-based, for text
  std::optional<std::uint64_t> byte = {};    ///< offset, for binary
  std::optional<std::uint64_t> index = {};   ///< which one of the element's items
};

/// What went wrong with the user's data or parameters. Our own bugs are DERM_ASSERT, never this.
struct Error {
  ErrorCode code = ErrorCode::BadData;
  std::string message = {};
  Where where;

  /// One line: "walk.bvh:412: MOTION[118]: 61 values, but the hierarchy needs 63".
  std::string text() const;
};

/// A value or the reason there is none. (g++ 12 in C++20 mode has no std::expected.)
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    DERM_REQUIRE(ok());
    return *std::get_if<0>(&content_);
  }
  const T& value() const& {
    DERM_REQUIRE(ok());
    return *std::get_if<0>(&content_);
  }
  T&& value() && {
    DERM_REQUIRE(ok());
    return std::move(*std::get_if<0>(&content_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    DERM_REQUIRE(!ok());
    return *std::get_if<1>(&content_);
  }
  Error&& error() && {
    DERM_REQUIRE(!ok());
    return std::move(*std::get_if<1>(&content_));
  }

 private:
  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    DERM_REQUIRE(!ok());
    return *error_;
  }
  Error&& error() && {
    DERM_REQUIRE(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace derm

#define DERM_CONCAT_INNER(a, b) a##b
#define DERM_CONCAT(a, b) DERM_CONCAT_INNER(a, b)

/// `DERM_TRY(auto mesh, parseObj(...));` — declares the value, or returns the error to our caller.
#define DERM_TRY(declaration, expression) \
  DERM_TRY_INNER(DERM_CONCAT(derm_result_, __LINE__), declaration, expression)
#define DERM_TRY_INNER(result, declaration, expression) \
  auto result = (expression);                           \
  if (!result.ok()) return std::move(result).error();   \
  declaration = *std::move(result)

/// `DERM_CHECK(writeHeader(out));` — for Result<void>.
#define DERM_CHECK(expression)                                \
  do {                                                        \
    if (auto derm_checked = (expression); !derm_checked.ok()) \
      return std::move(derm_checked).error();                 \
  } while (false)
