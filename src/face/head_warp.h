#pragma once

#include <span>
#include <vector>

#include "derm/math/vec.h"

#include "head_samples.h"

namespace derm::detail {

/// x' = affine (x,1) + sum weights |x - centres|, in face units.
struct Warp {
  std::vector<Vec3d> centres;
  std::vector<Vec3d> weights;
  Affine3d affine = Affine3d::Identity();

  Vec3d operator()(const Vec3d& x) const {
    Vec3d y = affine * x;
    for (std::size_t k = 0; k < centres.size(); ++k) y += (x - centres[k]).norm() * weights[k];
    return y;
  }
};

/// A point of the source that must come to a point of the target.
struct HardPair {
  Vec3d from;
  Vec3d to;
  double weight = 1;  ///< times the weight of a good match of sites
};

struct WarpStage {
  std::size_t centres;
  double sigma;   ///< a distance that costs as much as 1 of everything else
  double lambda;  ///< stiffness
  int iterations;
};
/// From coarse to fine. Stiffness matters most: a soft map slides along the surface.
inline constexpr std::array<WarpStage, 4> kWarpStages = {{
    {60, 0.45, 90, 4},
    {120, 0.30, 30, 4},
    {220, 0.20, 9, 4},
    {350, 0.13, 1, 5},
}};

/// Fits a warp between points of two faces that are roughly in place.
class WarpFitter {
 public:
  WarpFitter(const MatchPoints& source, std::size_t sites);

  struct State {
    std::vector<Vec3d> moved;    ///< per site
    std::vector<Vec3d> normals;  ///< per site, of the moved surface
    Warp warp;
    double residual = 0;
  };
  State start() const;
  /// The sites moved by a warp that is known already.
  State startFrom(const Warp& warp) const;

  void run(State& state, const MatchPoints& target, const WarpStage& stage,
           std::span<const HardPair> hard) const;

  std::size_t siteCount() const { return positions_.size(); }

 private:
  std::vector<Vec3d> positions_;
  std::vector<Vec3d> normals_;
  std::vector<Features> features_;
  std::vector<char> border_;
};

/// How alike a moved source point and a target point are: 0 = the same.
double matchCost(const Vec3d& p, const Vec3d& n, const Features& f, const MatchPoints& target,
                 std::size_t i, double sigma);

}  // namespace derm::detail
