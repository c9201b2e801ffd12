#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derm/mesh/measured_surface.h"
#include "derm/view/scene_view.h"
#include "derm/volume/volume_regions.h"

/// Private to room view: what layers made of a surface when they were bound, as drawings.
namespace derm::detail {

class LayerDiagram {
 public:
  /// Fails where the scene has no layer that divides or refines its surface so.
  static Result<LayerDiagram> make(const Scene& scene, Diagram kind);

  /// Adds the surface of the instant that the scene plays; `surface` is it as it would be drawn
  /// otherwise.
  void add(DrawList& list, DrawSurface surface, const Scene& scene) const;

  /// What the colours stand for, on a half-clear plate.
  Rgba8Image legend() const;

 private:
  struct Key {
    std::string name;
    Rgba8 colour;
  };
  LayerDiagram(const Scene& scene, Diagram kind) : kind_(kind), input_(&scene.stack().input()) {}
  Result<void> divide(const Scene& scene);
  Result<void> countPieces(const Scene& scene);
  void addRegions(DrawList& list, DrawSurface surface) const;
  void addPrisms(DrawList& list, DrawSurface surface, const Scene& scene) const;
  void addLevels(DrawList& list, DrawSurface surface) const;
  Vec4f colourOf(std::size_t key) const { return linearColour(keys_[key].colour); }

  Diagram kind_;
  const BoundSurface* input_;  ///< what the volume layer divides
  MeasuredSurface measured_;
  VolumeRegions regions_;
  std::vector<std::uint32_t> key_of_joint_;  ///< Prisms: per joint of the regions
  std::vector<Triangle> by_level_;           ///< Levels: the output's triangles, coarsest first
  std::vector<std::uint32_t> level_begin_;   ///< where each level's begin, and the end
  std::vector<Key> keys_;
};

}  // namespace derm::detail
