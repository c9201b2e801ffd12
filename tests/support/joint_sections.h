#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/character/character.h"

namespace derm {

/// Sections of a limb as the weights draw them: the vertices whose share of a joint and all below
/// it lies in one tenth of [0,1]. Ten of them lead from one side of the joint to the other.
class JointSections {
 public:
  JointSections(const Character& c, JointId joint) : tenths_(10) {
    for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
      double share = 0;
      for (const Influence& i : c.skin[v])
        if (isBelow(c.skeleton, c.skin.slots[i.slot].joint, joint)) share += double{i.weight};
      if (share > 0.001 && share < 0.999) tenths_[std::size_t(share * 10)].push_back(v);
    }
    std::erase_if(tenths_, [](const auto& some) { return some.size() < kMinVertices; });
    for (const auto& some : tenths_) rest_m_.push_back(radius(c.mesh.positions, some));
  }

  std::size_t count() const { return tenths_.size(); }

  /// Radius posed over at rest of the smallest and the largest of the sections.
  struct Range {
    double min = 9, max = 0;
  };
  template <class Vec>
  Range range(std::span<const Vec> posed) const {
    Range out;
    for (std::size_t k = 0; k < tenths_.size(); ++k) {
      const double ratio = radius(posed, tenths_[k]) / rest_m_[k];
      out.min = std::min(out.min, ratio);
      out.max = std::max(out.max, ratio);
    }
    return out;
  }

 private:
  static constexpr std::size_t kMinVertices = 6;  ///< fewer say nothing about a section

  /// [m] Root mean square distance to the centroid.
  template <class Positions>
  static double radius(const Positions& x, const std::vector<std::size_t>& some) {
    Vec3d middle = Vec3d::Zero();
    for (const std::size_t v : some) middle += x[v].template cast<double>() / double(some.size());
    double sum = 0;
    for (const std::size_t v : some)
      sum += Vec3d(x[v].template cast<double>() - middle).squaredNorm();
    return std::sqrt(sum / double(some.size()));
  }

  std::vector<std::vector<std::size_t>> tenths_;
  std::vector<double> rest_m_;
};

}  // namespace derm
