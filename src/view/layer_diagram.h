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
  /// Fails where the scene has no layer that divides or refines its surface so. Frames of the scene
  /// keep the channels that are shown from here on.
  static Result<LayerDiagram> make(Scene& scene, Diagram kind);

  /// Adds the surface of the instant that the scene plays; `surface` is it as it would be drawn
  /// otherwise, `frame` says what its triangles are pieces of, `linear` is linear skinning of it
  /// where that is shown.
  void add(DrawList& list, DrawSurface surface, const SkinFrame& frame, const SkinFrame* linear,
           const Scene& scene) const;

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
  Result<void> findFlesh(Scene& scene);
  Result<void> colourJoints(const Scene& scene);
  /// Triangles sorted by how often theirs of the character was cut.
  struct Levels {
    std::vector<Triangle> triangles;   ///< coarsest first
    std::vector<std::uint32_t> begin;  ///< where those of each level begin, and the end
  };
  Levels levelsOf(std::span<const Triangle> triangles,
                  std::span<const std::uint32_t> sources) const;
  void addRegions(DrawList& list, DrawSurface surface) const;
  void addPrisms(DrawList& list, DrawSurface surface, const Scene& scene) const;
  void addLevels(DrawList& list, DrawSurface surface, const SkinFrame& frame) const;
  void addFlesh(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                const Scene& scene) const;
  void addWeights(DrawList& list, DrawSurface surface) const;
  void addCorrection(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                     const SkinFrame& linear) const;
  Vec4f colourOf(std::size_t key) const { return linearColour(keys_[key].colour); }

  Diagram kind_;
  const BoundSurface* input_;  ///< what the volume layer divides
  MeasuredSurface measured_;
  VolumeRegions regions_;
  std::vector<std::uint32_t> key_of_joint_;  ///< Prisms: per joint of the regions
  std::size_t source_count_ = 0;             ///< Levels: triangles of the character
  Levels levels_;                            ///< Levels: of the output
  std::vector<std::string> elements_;        ///< Flesh: layers by name
  std::vector<Vec4f> colours_;               ///< Weights: per vertex of the output
  std::vector<Key> keys_;
};

}  // namespace derm::detail
