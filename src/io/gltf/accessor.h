#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/result.h"

#include "io/gltf/document.h"

namespace derm::detail::gltf {

enum class Component : std::uint16_t {
  Int8 = 5120,
  Uint8 = 5121,
  Int16 = 5122,
  Uint16 = 5123,
  Uint32 = 5125,
  Float = 5126,
};
std::size_t sizeOf(Component component);

/// A run of a buffer, inside the bytes that are really there.
struct BufferView {
  std::span<const std::uint8_t> bytes;
  std::size_t stride = 0;  ///< 0 = tightly packed
};

/// Where an accessor's numbers lie. Made by openAccessor, which has checked every range, so reading
/// cannot leave the buffers. Views into the document; valid as long as it.
struct Accessor {
  std::size_t index = 0;  ///< in the document
  std::size_t count = 0;  ///< >= 1
  std::size_t width = 1;  ///< components of one element
  Component component = Component::Float;
  bool normalised = false;
  const std::uint8_t* data = nullptr;  ///< null: all zero but for the sparse values
  std::size_t stride = 0;              ///< [bytes]
  std::size_t sparse_count = 0;
  const std::uint8_t* sparse_indices = nullptr;  ///< strictly increasing, < count
  Component sparse_component = Component::Uint32;
  const std::uint8_t* sparse_values = nullptr;  ///< tightly packed

  std::size_t sparseIndex(std::size_t i) const;
};

Result<BufferView> openBufferView(const ReadContext& context, std::size_t index);
/// `user` is what refers to it, for errors.
Result<Accessor> openAccessor(const ReadContext& context, std::size_t index, const JsonPath& user);

/// The accessor's elements [first, first + n) as floats, normalised ones divided; element i goes to
/// out[i * out_stride]. Requires out_stride >= width.
void decodeFloats(const Accessor& accessor, std::size_t first, std::size_t n, float* out,
                  std::size_t out_stride);
/// The same for whole numbers; requires an unsigned integer component.
void decodeUints(const Accessor& accessor, std::size_t first, std::size_t n, std::uint32_t* out,
                 std::size_t out_stride);
/// Only the sparse values, `width` floats each.
void decodeSparseFloats(const Accessor& accessor, float* out);

/// Index of the first number that is not finite.
std::optional<std::size_t> firstNonFinite(std::span<const float> values);

/// All elements of an accessor that must have `width` components, finite. Memory is taken from the
/// budget.
Result<std::vector<float>> readFloats(const ReadContext& context, const Accessor& accessor,
                                      const JsonPath& user);

}  // namespace derm::detail::gltf
