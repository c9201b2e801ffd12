#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/gltf/accessor.h"
#include "io/gltf/document.h"

namespace derm::detail::gltf {

inline constexpr const char* kGroupsKey = "derm_groups";
inline constexpr const char* kNameKey = "derm_name";

enum class DrawMode { Triangles, Strip, Fan };

/// The attributes of one morph target that derm uses.
struct TargetPlan {
  std::optional<Accessor> position, normal, tangent;
};

/// Vertices that one or more primitives of a mesh share (equal `attributes` and `targets`).
struct BlockPlan {
  std::size_t vertex_count = 0;
  Accessor position;
  std::optional<Accessor> normal, tangent, uv, colour;
  std::vector<std::pair<Accessor, Accessor>> joints_weights;
  std::vector<TargetPlan> targets;
  std::size_t first_primitive = 0;  ///< the first that uses it, for messages
};

struct PrimitivePlan {
  std::size_t index = 0;  ///< in the mesh
  std::size_t block = 0;
  DrawMode mode = DrawMode::Triangles;
  std::optional<Accessor> indices;
  std::size_t corner_count = 0;  ///< indices, or vertices where there are none
  std::size_t triangle_count = 0;
  int material = -1;
  std::string name;
};

/// What to read of one mesh: all accessors opened and checked against each other, nothing decoded.
struct MeshPlan {
  std::size_t index = 0;
  std::string name;
  std::vector<BlockPlan> blocks;
  std::vector<PrimitivePlan> primitives;  ///< without those that have no triangles to show
  std::size_t vertex_count = 0;
  std::size_t triangle_count = 0;
  std::size_t target_count = 0;
  std::vector<std::string> target_names;
  std::vector<float> weights;  ///< default weight per target

  bool skinned() const;  ///< some block has joints and weights
};

Result<MeshPlan> planMesh(const ReadContext& context, std::size_t mesh);

/// Fills `out` from a "weights" array of a mesh or node, where it has one.
void readWeights(const ReadContext& context, const Json& object, const JsonPath& at,
                 std::vector<float>& out);

}  // namespace derm::detail::gltf
