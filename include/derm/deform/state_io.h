#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "derm/base/hash.h"
#include "derm/base/result.h"

namespace derm {

/// Collects the state of layers as plain bytes, to restore it later or to hash it.
class StateWriter {
 public:
  template <class T>
  void write(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  /// T without padding (numbers, Eigen's fixed-size vectors).
  template <class T>
  void writeSpan(std::span<const T> values) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    bytes_.insert(bytes_.end(), bytes, bytes + values.size_bytes());
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }
  std::uint64_t hash() const {
    Hash64 h;
    h.addSpan(std::span<const std::uint8_t>(bytes_));
    return h.value();
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Reads what a StateWriter wrote, in the same order; too few bytes is an error, not a crash.
class StateReader {
 public:
  explicit StateReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  Result<void> read(T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    return readBytes(&value, sizeof value);
  }
  template <class T>
  Result<void> readSpan(std::span<T> values) {
    return readBytes(values.data(), values.size_bytes());
  }
  bool atEnd() const { return bytes_.empty(); }

 private:
  Result<void> readBytes(void* to, std::size_t size) {
    if (size > bytes_.size())
      return Error{ErrorCode::BadData, "saved state is too short", {.element = "state"}};
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return {};
  }
  std::span<const std::uint8_t> bytes_;
};

}  // namespace derm
