#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm::skinning_bench {

/// What one frame of skinning needs.
struct Scene {
  std::string name;
  std::vector<Vec3f> positions, normals;
  Skin skin;
  std::vector<Affine3f> palette;    ///< rigid motions
  std::vector<Affine3f> stretched;  ///< the same, with non-uniform scale

  std::size_t vertices() const { return positions.size(); }
};

/// Four limbs of sixteen joints each; four influences that change slowly along a limb.
Scene limbs(std::size_t vertices);

/// A sphere around 64 scattered joints, four influences: many different sets of joints, met in
/// short stretches along each row of vertices.
Scene scattered(std::size_t vertices);

/// As many vertices, joints and sets of joints as a full-featured body: 13,380 vertices, 163
/// joints, up to 8 influences, some hundreds of sets, a third of them of one or two vertices.
Scene crowdedBody();

/// A character from a file, in the middle of its first clip.
Result<Scene> fromFile(const std::filesystem::path& file);

}  // namespace derm::skinning_bench
