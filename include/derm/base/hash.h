#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace derm {

/// Running 64-bit hash of plain values, for state hashes and change detection (not for security).
/// The same bytes give the same hash on every little-endian machine.
class Hash64 {
 public:
  void addBytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    mix(size);
    for (; size >= 8; size -= 8, bytes += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes, 8);
      mix(word);
    }
    if (size > 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, size);
      mix(word);
    }
  }
  template <class T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    addBytes(&value, sizeof value);
  }
  /// T must be without padding; Eigen's fixed-size float vectors are.
  template <class T>
  void addSpan(std::span<const T> values) {
    addBytes(values.data(), values.size_bytes());
  }
  std::uint64_t value() const { return finish(state_); }

 private:
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9FB21C651E98DF25ull;
    state_ ^= state_ >> 32;
  }
  static std::uint64_t finish(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 0x243F6A8885A308D3ull;
};

}  // namespace derm
