#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm::detail {

/// Vertices that follow each other in the mesh. Gaps of a few vertices are filled with weight 0, so
/// that most of an element is read and written in long rows.
struct FleshRun {
  std::uint32_t first_vertex = 0;
  std::uint32_t count = 0;
  std::uint32_t first_entry = 0;  ///< of FleshRuns::alpha
};

/// An element's vertices in the order the kernels like.
struct FleshRuns {
  std::vector<FleshRun> runs;
  std::vector<float> alpha;              ///< each run padded with zeros to whole registers
  std::vector<std::uint32_t> first_run;  ///< of each task, and the end: pieces for several threads

  std::size_t taskCount() const { return first_run.empty() ? 0 : first_run.size() - 1; }
};

/// `vertices` ascending, one alpha each.
FleshRuns makeFleshRuns(std::span<const std::uint32_t> vertices, std::span<const float> alpha);

/// One frame of one element.
struct FleshFrame {
  const FleshRuns* runs = nullptr;
  float* positions = nullptr;  ///< x y z of vertex 0, 1, ...
  Vec3f bone_from = Vec3f::Zero();
  Vec3f bone_along = Vec3f::Zero();
  float bone_radius = 0;
  float reach = 1;       ///< (0,1] of the way to the bone
  float soft_limit = 1;  ///< [0,1] of that way
  bool per_vertex = true;
  bool rotates = false;
  Vec3f offset = Vec3f::Zero();  ///< u
  Vec3f origin = Vec3f::Zero();  ///< centre of the rotation
  Vec3f twist = Vec3f::Zero();   ///< rotation vector along the bone
  Vec3f swing = Vec3f::Zero();   ///< rotation vector across it
};

/// The tightest vertex of some tasks.
struct FleshTightest {
  float offset = 0;  ///< [m] largest elongation, min (d - radius) / alpha; infinity if none
  float swing = 0;   ///< [rad] largest swing, min (d - radius) / (alpha |P - O|)
};
FleshTightest tightestVertex(const FleshFrame& frame, std::size_t task);

/// Moves the vertices of a task in place. Where frame.per_vertex is not set, offset and swing are
/// already within what the tightest vertex allows.
void moveFlesh(const FleshFrame& frame, std::size_t task);

/// A displacement bent so that it nears `limit` from soft_limit * limit on without reaching it
/// (with soft_limit 1: cut there). Continuous with its first derivative. All >= 0.
double withinLimit(double displacement, double limit, double soft_limit);

}  // namespace derm::detail
