#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_rig.h"
#include "derm/mesh/coarsening.h"

namespace derm {

/// A head to work on in place of one of millions of triangles.
///
/// What faces need (points, weights, shapes) is known at far fewer vertices than a scan has. So a
/// head of more than kLargest triangles is represented by kCoarse of its own vertices' triangles
/// (coarsening.h); what was found there goes back to all vertices as means of their neighbours'.
/// A smaller head is its own proxy, and nothing below changes anything.
/// Cost: about 4 us and 0.3 kB per vertex of the large head. Keeps a reference to it.
class HeadProxy {
 public:
  static constexpr std::size_t kLargest = 600000;
  static constexpr std::size_t kCoarse = 300000;

  /// Requires a valid character. Errors: cancelled. `largest`: what is larger is represented.
  static Result<HeadProxy> of(Character& full, const Progress& progress = {},
                              std::size_t largest = kLargest, std::size_t coarse = kCoarse);

  /// What to work on. Vertices without their seams; mesh, points, skeleton and skin alone.
  Character& head() { return coarse_ ? *coarse_ : *full_; }
  bool isCoarse() const { return coarse_.has_value(); }

  /// Points of head() on the full head, and the other way round: the nearest that face the same
  /// way.
  std::vector<LabelledPoint> onFull(std::span<const LabelledPoint> points) const;
  std::vector<LabelledPoint> fromFull(std::span<const LabelledPoint> points) const;
  /// [0,1] per vertex of the full head, of one per vertex of head().
  std::vector<float> onFull(std::span<const float> values) const;

  /// Gives the full head the points of head().
  void keepPoints();
  /// Gives it these shapes of head(), with normals of its own (setShapes()).
  void keepShapes(std::vector<MorphTarget> shapes, Diagnostics& notes);
  /// Gives it the rig that head() has got, and its clips. Lids are shut anew, along all vertices of
  /// the full head's margins.
  Result<void> keepRig(const FaceRig& rig, std::size_t max_influences, Diagnostics& notes);

 private:
  HeadProxy() = default;
  /// Per vertex of the full head, from those of head().
  template <class T>
  std::vector<T> spread(std::span<const T> values, const T& zero) const;
  Result<void> shutLids(const FaceRig& rig, std::size_t max_influences);
  FaceWeights weightsOnFull(const FaceRig& rig, std::size_t max_influences) const;

  Character* full_ = nullptr;
  std::optional<Character> coarse_;
  std::vector<std::uint32_t> weld_;    ///< of the full head
  std::vector<std::uint32_t> vertex_;  ///< per vertex of head() that of the full one
  Coarsening coarsening_;              ///< without `triangles`
};

}  // namespace derm
