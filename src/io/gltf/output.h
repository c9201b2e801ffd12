#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "derm/math/vec.h"

#include "io/gltf/document.h"
#include "io/json_value.h"

namespace derm::detail::gltf {

inline constexpr int kVertexTarget = 34962;
inline constexpr int kIndexTarget = 34963;

/// The file being written: its JSON and the bytes of its one binary buffer. Numbers are
/// little-endian as they lie in memory (as all of derm's machines are).
class Output {
 public:
  Output() = default;
  /// Starts from a document: its buffers are joined into one, which its buffer views then refer to
  /// by the same numbers. Buffers that could not be read stay separate.
  explicit Output(const GltfDocument& document);

  Json root = Json::object();
  std::vector<std::uint8_t> bin;

  /// Appends to one of the root's arrays; gives the new number.
  std::size_t append(const char* array, Json item);
  /// `target` 0 = none. The view starts at a multiple of four.
  std::size_t addView(std::span<const std::uint8_t> bytes, int target);

  // Each adds an accessor with a view of its own.
  std::size_t addVectors(std::span<const Vec2f> values);
  std::size_t addVectors(std::span<const Vec3f> values, bool with_bounds);
  std::size_t addVectors(std::span<const Vec4f> values);
  std::size_t addIndices(std::span<const std::uint32_t> values);
  std::size_t addMatrices(std::span<const Affine3f> values);
  /// Rows of four joint numbers below `joint_count`.
  std::size_t addJoints(std::span<const std::uint32_t> values, std::size_t joint_count);
  /// `count` vectors, zero but for those listed. Without any it needs no bytes.
  std::size_t addSparse(std::size_t count, std::span<const std::uint32_t> indices,
                        std::span<const Vec3f> values, bool with_bounds);

  /// Puts the binary buffer into the JSON, with a uri where it is a file of its own.
  void finishBuffers(const std::string& bin_uri);

 private:
  std::size_t addAccessor(std::size_t view, int component, std::size_t count, const char* type);

  Json first_buffer_ = Json::object();  ///< what the document said about the (first) joined buffer
  std::vector<Json> separate_;          ///< buffers that stay on their own
};

/// Smallest and largest of each component, as the "min" and "max" of an accessor.
void setBounds(Json& accessor, std::span<const float> values, std::size_t width);

}  // namespace derm::detail::gltf
