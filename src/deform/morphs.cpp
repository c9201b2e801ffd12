#include "derm/deform/morphs.h"

#include <cmath>
#include <vector>

namespace derm {
namespace {

/// A weight that is no number counts as 0, as a joint that is none counts as the identity.
bool counts(float weight) { return weight != 0 && std::isfinite(weight); }

/// Makes directions unit again; one of no length left becomes +Y, never NaN.
template <class Vector>
void normaliseTouched(std::span<const MorphTarget> targets, std::span<const float> weights,
                      std::vector<Vec3f> MorphTarget::*stream, std::span<Vector> directions) {
  for (std::size_t m = 0; m < targets.size(); ++m) {
    if (!counts(weights[m]) || (targets[m].*stream).empty()) continue;
    for (const std::uint32_t v : targets[m].vertices) {
      const Vec3f direction = directions[v].template head<3>();
      const float length = direction.norm();
      directions[v].template head<3>() =
          length > 1e-12f ? Vec3f(direction / length) : Vec3f(0, 1, 0);
    }
  }
}

template <class Vector>
void addScaled(const MorphTarget& target, const std::vector<Vec3f>& deltas, float weight,
               std::span<Vector> out) {
  if (out.empty()) return;
  for (std::size_t i = 0; i < deltas.size(); ++i)
    out[target.vertices[i]].template head<3>() += weight * deltas[i];
}

}  // namespace

void addMorphs(std::span<const MorphTarget> targets, std::span<const float> weights,
               const SurfaceOutput& surface) noexcept {
  DERM_REQUIRE(targets.size() == weights.size());
  for (std::size_t m = 0; m < targets.size(); ++m) {
    if (!counts(weights[m])) continue;
    addScaled(targets[m], targets[m].positions, weights[m], surface.positions);
    addScaled(targets[m], targets[m].normals, weights[m], surface.normals);
    addScaled(targets[m], targets[m].tangents, weights[m], surface.tangents);
  }
  // Only when all targets are in: their order must not matter beyond rounding.
  if (!surface.normals.empty())
    normaliseTouched(targets, weights, &MorphTarget::normals, surface.normals);
  if (!surface.tangents.empty())
    normaliseTouched(targets, weights, &MorphTarget::tangents, surface.tangents);
}

}  // namespace derm
