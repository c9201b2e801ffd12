#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"

/// A head whose margins and control points are watched while a clip plays.
namespace derm::testing_support {

/// The same opening as one sees it from before a face that looks along +z. A slit's own directions
/// are those of the skin around it: looked at along them, lids that meet at different depths cross.
inline FaceSlit seenFromFront(FaceSlit slit) {
  slit.along.z() = 0;
  slit.along.normalize();
  const Vec3d up = Vec3d::UnitZ().cross(slit.along);
  slit.up = up.dot(slit.up) < 0 ? Vec3d(-up) : up;
  slit.outward = Vec3d::UnitZ();
  return slit;
}

/// How far the upper margin is below the lower one anywhere, where it was not at rest [m]. Next to
/// the corners (a tenth of the width) the two margins run into each other and fold as corners are
/// pulled about; that is no crossing.
class MarginCrossing {
 public:
  MarginCrossing(const FaceSlit& slit, const std::vector<Vec3f>& rest) : slit_(slit) {
    const auto along = [&](std::uint32_t v) { return slit.along.dot(rest[v].cast<double>()); };
    const double first = along(slit.upper.front()), last = along(slit.upper.back());
    for (std::size_t k = 0; k < slit.upper.size(); ++k) {
      at_rest_.push_back(depth(k, rest));
      const double t = (along(slit.upper[k]) - first) / (last - first);
      counts_.push_back(t > 0.1 && t < 0.9);
    }
  }

  double operator()(const std::vector<Vec3f>& at) const {
    double worst = 0;
    for (std::size_t k = 0; k < slit_.upper.size(); ++k)
      if (counts_[k]) worst = std::max(worst, depth(k, at) - std::max(at_rest_[k], 0.0));
    return worst;
  }

  /// Of one vertex of the upper margin, below the lower margin as seen from the front.
  double depth(std::size_t k, const std::vector<Vec3f>& at) const {
    const Vec3d p = at[slit_.upper[k]].cast<double>();
    const double x = slit_.along.dot(p);
    double lowest = INFINITY;
    for (std::size_t i = 0; i + 1 < slit_.lower.size(); ++i) {
      const Vec3d a = at[slit_.lower[i]].cast<double>(), b = at[slit_.lower[i + 1]].cast<double>();
      const double from = slit_.along.dot(a), to = slit_.along.dot(b);
      if (x < std::min(from, to) || x > std::max(from, to) || from == to) continue;
      const double t = (x - from) / (to - from);
      lowest = std::min(lowest, slit_.up.dot(a + t * (b - a)) - slit_.up.dot(p));
    }
    return lowest < INFINITY ? lowest : 0.0;
  }

 private:
  FaceSlit slit_;
  std::vector<double> at_rest_;
  std::vector<bool> counts_;
};

/// What a clip does to the vertices that matter, frame by frame.
class PlayedFace {
 public:
  PlayedFace(const Character& head, const FaceSlits& slits) : head_(head), slits_(slits) {
    for (const auto* slit : {&slits.left_eye, &slits.right_eye, &slits.mouth})
      if (*slit)
        for (const auto* chain : {&(*slit)->upper, &(*slit)->lower})
          watched_.insert(watched_.end(), chain->begin(), chain->end());
    for (const LabelledPoint& p : head.points)
      for (const std::uint32_t v : head.mesh.triangles[p.point.triangle]) watched_.push_back(v);
    std::sort(watched_.begin(), watched_.end());
    watched_.erase(std::unique(watched_.begin(), watched_.end()), watched_.end());
    of_vertex_.assign(head.morphs.size(), {});
    for (std::size_t m = 0; m < head.morphs.size(); ++m)
      for (std::size_t i = 0; i < head.morphs[m].vertices.size(); ++i)
        if (std::binary_search(watched_.begin(), watched_.end(), head.morphs[m].vertices[i]))
          of_vertex_[m].push_back(i);
  }

  /// Only the watched vertices move.
  std::vector<Vec3f> at(const Clip& clip, double time_s) const {
    Pose pose = head_.restPose();
    sampleClip(clip, static_cast<float>(time_s), pose);
    std::vector<Vec3f> out = head_.mesh.positions;
    for (std::size_t m = 0; m < of_vertex_.size(); ++m)
      if (pose.morph_weights[m] != 0)
        for (const std::size_t i : of_vertex_[m])
          out[head_.morphs[m].vertices[i]] += pose.morph_weights[m] * head_.morphs[m].positions[i];
    if (!head_.hasSkin()) return out;
    std::vector<Affine3d> model(head_.skeleton.size());
    std::vector<Affine3f> palette(head_.skin.slots.size());
    localToModel(head_.skeleton, pose.local, model);
    skinningMatrices(head_.skin, model, palette);
    for (const std::uint32_t v : watched_) {
      Vec3f moved = Vec3f::Zero();
      for (const Influence& i : head_.skin[v]) moved += i.weight * (palette[i.slot] * out[v]);
      out[v] = moved;
    }
    return out;
  }

  const std::vector<std::uint32_t>& watched() const { return watched_; }

 private:
  const Character& head_;
  const FaceSlits& slits_;
  std::vector<std::uint32_t> watched_;
  std::vector<std::vector<std::size_t>> of_vertex_;  ///< per morph: entries that are watched
};

/// The energy of what is fastest in a motion: the sum of squared second differences. Positions come
/// frame by frame.
class Jitter {
 public:
  void add(const std::vector<Vec3d>& points) {
    if (frames_ >= 2)
      for (std::size_t i = 0; i < points.size(); ++i)
        energy_ += (points[i] - 2 * last_[i] + before_[i]).squaredNorm();
    before_ = last_;
    last_ = points;
    ++frames_;
  }
  double energy() const { return energy_; }

 private:
  std::vector<Vec3d> last_, before_;
  std::size_t frames_ = 0;
  double energy_ = 0;
};

}  // namespace derm::testing_support
