#pragma once

#include <functional>
#include <string>
#include <vector>

#include "derm/character/character.h"

#include "cast/remesh.h"
#include "cast/rig.h"
#include "cast/sculpt.h"
#include "cast/surface.h"
#include "cast/weights.h"

namespace derm::detail::cast {

/// All that makes a modelled member of the cast, but its clips.
struct Figure {
  std::string name;
  Sculpt body;
  Grid grid;
  std::vector<Region> regions;  ///< later ones lie over earlier ones
  RemeshDesc remesh;            ///< its budget is for the whole, also where half is modelled
  /// Where a vertex of the meshed half (or whole) goes in the end: tips finer than the budget's
  /// triangles. Keeps x = 0 in place; empty = none.
  std::function<Vec3d(const Vec3d&)> finish;
  Rig rig;
  std::vector<Bone> bones;
  WeightDesc weights;
  std::vector<Material> materials;            ///< 0 is the ground material
  std::function<Vec3d(const Vec3d&)> colour;  ///< vertex tint at a point; empty = none
  struct Group {
    std::string name;
    std::function<double(const Vec3d&)> strength;  ///< [0,1]; 0 leaves the vertex out
  };
  std::vector<Group> groups;
};

/// Models, meshes, weights and colours the figure. The result lacks clips only.
Character built(const Figure& figure);

/// A matt (or, with low roughness, wet) coloured surface. Colour is linear RGB.
Material paint(std::string name, const Vec3d& colour, double roughness = 0.6);

}  // namespace derm::detail::cast
