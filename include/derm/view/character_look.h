#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/deform/layer.h"
#include "derm/deform/skin_frame.h"
#include "derm/render/draw_list.h"
#include "derm/render/overlays.h"

namespace derm {

/// A character's materials with their textures decoded, on the surface that a stack makes of it:
/// made once, used for every picture. Textures that cannot be decoded are noted and left out. A
/// material that the file says nothing about is shown as clay.
class CharacterLook {
 public:
  /// `bound` is what the stack gives, and must outlive the look.
  CharacterLook(const Character& character, const BoundSurface& bound, Diagnostics& notes);

  /// The surface of an instant, which must outlive the drawing: the triangles that it has at this
  /// instant, announced or not (SkinFrame::topology), each with its material. `controls`: the
  /// pose's, which weight detail maps; weights go to `list`.
  DrawSurface surfaceOf(const SkinFrame& frame, std::span<const float> controls,
                        DrawList& list) const;

 private:
  /// A run of triangles of one part.
  struct Run {
    std::uint32_t first = 0, count = 0;
    std::size_t part = 0;
  };
  /// What weights a detail map of a part's material.
  struct MapWeights {
    std::size_t part = 0;
    std::size_t map = 0;
    std::vector<float> painted;  ///< per vertex of the bound surface; empty = 1 everywhere
    std::optional<std::size_t> control;
    std::string channel;
  };
  void addMapWeights(const Character& character, const Material& material, std::size_t part);
  /// `sources`: the character's triangle that each is a piece of; empty = the same triangles.
  std::vector<Run> runsOf(std::size_t triangle_count, std::span<const std::uint32_t> sources) const;
  std::vector<DrawMaterial> weightedMaterials(const SkinFrame& frame,
                                              std::span<const float> controls,
                                              DrawList& list) const;

  const BoundSurface* bound_;
  std::vector<DrawMaterial> materials_;  ///< one per part of the character
  std::vector<MapWeights> map_weights_;
  std::vector<std::size_t> part_of_;  ///< per triangle of the character
  std::vector<Run> announced_runs_;
};

/// The bones of a character in a pose, for addSkeleton(): its skin's joints, each hanging on the
/// nearest one above it, without those above the first that moves skin. Requires one matrix per
/// joint.
std::vector<SkeletonJoint> skeletonJoints(const Character& character,
                                          std::span<const Affine3d> model);

/// The weight of one joint at each vertex, over all slots that refer to it.
std::vector<float> weightsOfJoint(const Skin& skin, JointId joint);

}  // namespace derm
