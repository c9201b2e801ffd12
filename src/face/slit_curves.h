#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/face/face_slits.h"

#include "face/welded_mesh.h"

namespace derm::detail {

/// A margin as a function of the way along its slit, 0 at the first corner and 1 at the second.
class SlitCurve {
 public:
  /// Two neighbours in the chain and where between them.
  struct At {
    std::uint32_t first = 0, second = 0;  ///< in points()
    double share = 0;                     ///< [0,1] of the second
  };

  SlitCurve() = default;
  SlitCurve(const WeldedMesh& mesh, const FaceSlit& slit, std::span<const std::uint32_t> chain);

  std::size_t size() const { return points_.size(); }
  const std::vector<std::uint32_t>& points() const { return points_; }  ///< of the welded mesh
  double parameter(std::size_t i) const { return parameters_[i]; }      ///< never decreasing
  At at(double parameter) const;

  /// Any value of the mesh's points there.
  template <class Values>
  auto valueAt(double parameter, const Values& values) const {
    const At at_it = at(parameter);
    return ((1 - at_it.share) * values[points_[at_it.first]] +
            at_it.share * values[points_[at_it.second]])
        .eval();
  }

 private:
  std::vector<std::uint32_t> points_;
  std::vector<double> parameters_;
};

/// The surface on one side of a slit: which points, how far from the margin, and how a value given
/// along the margin goes on to them.
struct SlitSide {
  SlitCurve curve;
  std::vector<std::uint32_t> points;  ///< of the welded mesh, within the radius; the chain's too
  std::vector<double> distances;      ///< [m] along edges, per entry of `points`
  std::vector<std::vector<float>> shares;  ///< per entry, of each point of the chain; sum 1

  /// Adds falloff(distance / radius) times the margin's value to each point's.
  void spread(std::span<const Vec3d> along_margin, double radius_m, std::span<Vec3d> values) const;
};

struct SlitSurface {
  FaceSlit slit;
  SlitSide upper, lower;
  double radius_m = 0;
};

/// `radius` in widths of the slit. Points nearer to one margin than to the other are on its side.
SlitSurface slitSurface(const WeldedMesh& mesh, const FaceSlit& slit, double radius);

}  // namespace derm::detail
