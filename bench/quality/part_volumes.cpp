#include "quality/part_volumes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "derm/weights/character_weights.h"

namespace derm::quality {
namespace {

/// Of the skin's area: smaller limbs are not cut off, nor limbs that leave less of the one above.
constexpr double kLeastLimb = 0.015, kMostLimb = 0.25;
/// Of a limb's volume: what may lie beside its cut at rest. With more, no plane cuts it off, as
/// with collar bones and halves of a pelvis.
constexpr double kClean = 0.05;
/// Of a limb's skin: a first bone with less only leads into it, as from a pelvis to a hip.
constexpr double kLeadsIn = 0.12;
/// Of the root of the skin's area: joints nearer to each other are at one place.
constexpr double kNear = 0.01;
/// Skin that follows a limb by less is not its own.
constexpr float kFollows = 0.1f, kCore = 0.9f;

/// From here on [sine of the angle between them] two planes meet in a line.
constexpr double kMeet = 1e-3;

/// A triangle, cut by planes.
struct Cutting {
  std::array<Vec3d, 5> corners;
  std::size_t count = 3;

  void keep(const Vec3d& at, const Vec3d& normal) {
    std::array<Vec3d, 5> kept;
    std::size_t n = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Vec3d &a = corners[k], &b = corners[(k + 1) % count];
      const double ha = normal.dot(a - at), hb = normal.dot(b - at);
      if (ha >= 0) kept[n++] = a;
      if ((ha >= 0) != (hb >= 0)) kept[n++] = a + (b - a) * (ha / (ha - hb));
    }
    corners = kept;
    count = n;
  }
  /// Six times the volume between it and an apex.
  double volume(const Vec3d& apex) const {
    double sum = 0;
    for (std::size_t k = 2; k < count; ++k)
      sum += Vec3d(corners[0] - apex)
                 .dot(Vec3d(corners[k - 1] - apex).cross(Vec3d(corners[k] - apex)));
    return sum;
  }
};

}  // namespace

PartVolumes::PartVolumes(const Character& character, const SkinMeasures& rest) {
  const Skeleton& skeleton = character.skeleton;
  const MeasuredSurface& surface = rest.surface();
  const auto triangles = rest.triangles();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::uint32_t, 2>> first;
  across_.assign(triangles.size(), {-1, -1, -1});
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (std::uint32_t k = 0; k < 3; ++k) {
      const auto [at, is_new] =
          first.emplace(std::minmax(triangles[t][k], triangles[t][(k + 1) % 3]),
                        std::array<std::uint32_t, 2>{t, k});
      if (is_new) continue;
      across_[t][k] = static_cast<std::int32_t>(at->second[0]);
      across_[at->second[0]][at->second[1]] = static_cast<std::int32_t>(t);
    }
  if (!character.hasSkin()) return;

  std::vector<double> areas(surface.pointCount(), 0.0);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (const std::uint32_t p : triangles[t]) areas[p] += double{rest.normals()[t].norm()} / 6;
  // Per joint and point: the weights of the joint and of all below it.
  std::vector<std::vector<float>> follows(skeleton.size(),
                                          std::vector<float>(surface.pointCount(), 0.0f));
  for (std::size_t p = 0; p < surface.weldedCount(); ++p)
    for (const Influence& i : character.skin[surface.vertices_of_welded[p].front()])
      for (JointId j = character.skin.slots[i.slot].joint; j.valid(); j = skeleton[j].parent)
        follows[j.index()][p] += i.weight;
  const std::vector<Affine3d> bind = bindModelMatrices(character);
  const double near = kNear * std::sqrt(rest.restArea());
  std::vector<double> shares, left;  // of the skin's area, whole and less what is cut off
  for (std::uint32_t j = 0; j < skeleton.size(); ++j) {
    double area = 0;
    Vec3d middle = Vec3d::Zero();
    for (std::size_t p = 0; p < areas.size(); ++p) {
      const double a = areas[p] * double{follows[j][p]};
      area += a;
      middle += a * rest.points()[p].cast<double>();
    }
    const double share = area / rest.restArea();
    if (!(share >= kLeastLimb && share <= kMostLimb)) continue;
    middle /= area;
    Joint joint{JointId(j), skeleton.joints[j].parent};
    const Vec3d at = bind[j].translation();
    while (joint.above.valid() && (bind[joint.above.index()].translation() - at).norm() < near)
      joint.above = skeleton[joint.above].parent;
    if (!joint.above.valid() || (middle - at).norm() < near) continue;
    for (std::size_t k = 0; k < joints_.size(); ++k)
      for (JointId up = skeleton.joints[j].parent; up.valid(); up = skeleton[up].parent)
        if (joints_[k].joint == up) joint.cut_above = static_cast<int>(k);
    joint.beyond = bind[j].inverse() * middle;
    joint.follows = follows[j];
    const Limb limb = limbOf(joint, rest, planeOf(joint, bind), nullptr);
    if (!(std::abs(limb.beside_m3) < kClean * limb.all_m3)) continue;
    if (joint.cut_above >= 0) {
      double& above = left[static_cast<std::size_t>(joint.cut_above)];
      if (above - share < kLeastLimb) continue;
      above -= share;
    }
    shares.push_back(share);
    left.push_back(share);
    joints_.push_back(std::move(joint));
  }
  for (std::size_t k = joints_.size(); k-- > 0;) {
    if (joints_[k].cut_above >= 0 || left[k] >= kLeadsIn * shares[k]) continue;
    joints_.erase(joints_.begin() + static_cast<std::ptrdiff_t>(k));
    for (Joint& joint : joints_)
      if (joint.cut_above == static_cast<int>(k))
        joint.cut_above = -1;
      else if (joint.cut_above > static_cast<int>(k))
        --joint.cut_above;
  }
  // A bone goes to the middle of the joints that are cut off next, or of its skin.
  std::vector<Vec3d> sums(joints_.size(), Vec3d::Zero());
  std::vector<int> counts(joints_.size(), 0);
  for (const Joint& joint : joints_)
    if (joint.cut_above >= 0) {
      sums[static_cast<std::size_t>(joint.cut_above)] += bind[joint.joint.index()].translation();
      ++counts[static_cast<std::size_t>(joint.cut_above)];
    }
  for (std::size_t k = 0; k < joints_.size(); ++k)
    if (counts[k] > 0)
      joints_[k].beyond = bind[joints_[k].joint.index()].inverse() * Vec3d(sums[k] / counts[k]);
  const std::vector<double> parts = volumes(rest, bind);
  for (std::size_t k = 0; k < joints_.size(); ++k) joints_[k].rest_m3 = parts[k];
}

PartVolumes::Plane PartVolumes::planeOf(const Joint& joint, std::span<const Affine3d> model) {
  const Vec3d at = model[joint.joint.index()].translation();
  const Vec3d in = (at - model[joint.above.index()].translation()).normalized();
  const Vec3d out = (model[joint.joint.index()] * joint.beyond - at).normalized();
  return {at, (in + out).norm() > 0.2 ? Vec3d((in + out).normalized()) : out};
}

PartVolumes::Limb PartVolumes::limbOf(const Joint& joint, const SkinMeasures& skin,
                                      const Plane& plane, const Plane* within) const {
  // Cuts have no volume against an apex that lies in all planes.
  Vec3d apex = plane.at;
  if (within != nullptr) {
    const Vec3d line = plane.normal.cross(within->normal);
    if (line.norm() > kMeet) {
      const Vec3d down = line.cross(plane.normal);  // in the limb's plane, to the other one
      apex += down * (within->normal.dot(within->at - plane.at) / within->normal.dot(down));
    } else {
      within = nullptr;
    }
  }
  const auto triangles = skin.triangles();
  const auto height = [&](const Vec3d& p) { return plane.normal.dot(p - plane.at); };
  const auto place = [&](std::uint32_t p) -> Vec3d { return skin.points()[p].cast<double>(); };
  const auto mean = [&](std::uint32_t t, const auto& of) {
    const Triangle& c = triangles[t];
    return (of(c[0]) + of(c[1]) + of(c[2])) / 3;
  };
  const auto follows = [&](std::uint32_t p) { return joint.follows[p]; };
  const auto before = [&](std::uint32_t t) {
    const Triangle& c = triangles[t];
    return std::any_of(c.begin(), c.end(), [&](std::uint32_t p) { return height(place(p)) > 0; });
  };
  std::vector<char> seen(triangles.size(), 0);
  std::vector<std::uint32_t> list;
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    if (mean(t, follows) > kCore && before(t)) {
      seen[t] = 1;
      list.push_back(t);
    }
  std::vector<std::array<Vec3d, 2>> border;
  double sum = 0;
  const auto add = [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    Cutting cutting = {.corners = {a, b, c}};
    cutting.keep(plane.at, plane.normal);
    if (within != nullptr) cutting.keep(within->at, within->normal);
    sum += cutting.volume(apex);
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::uint32_t t = list[i];
    const Triangle& c = triangles[t];
    add(place(c[0]), place(c[1]), place(c[2]));
    for (std::size_t k = 0; k < 3; ++k) {
      if (across_[t][k] < 0) continue;
      const auto other = static_cast<std::uint32_t>(across_[t][k]);
      if (seen[other]) continue;
      if (!(mean(other, follows) > kFollows)) {
        border.push_back({place(c[k]), place(c[(k + 1) % 3])});
      } else if (before(other)) {
        seen[other] = 1;
        list.push_back(other);
      }
    }
  }
  // Where the limb's skin ends before the plane does, as in an armpit.
  Vec3d middle = Vec3d::Zero();
  double length = 0;
  for (const auto& [a, b] : border) {
    middle += (b - a).norm() * (a + b) / 2;
    length += (b - a).norm();
  }
  if (length > 0) middle /= length;
  const double own = sum;
  for (const auto& [a, b] : border) add(b, a, middle);
  return {sum / 6, (sum - own) / 6};
}

std::vector<double> PartVolumes::volumes(const SkinMeasures& skin,
                                         std::span<const Affine3d> model) const {
  std::vector<Plane> planes;
  for (const Joint& joint : joints_) planes.push_back(planeOf(joint, model));
  std::vector<double> out;
  std::vector<bool> clean;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const Limb limb = limbOf(joints_[k], skin, planes[k], nullptr);
    clean.push_back(std::abs(limb.beside_m3) < 2 * kClean * limb.all_m3);
    out.push_back(limb.all_m3);
  }
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    if (joints_[k].cut_above < 0) continue;
    const auto above = static_cast<std::size_t>(joints_[k].cut_above);
    out[above] -= limbOf(joints_[k], skin, planes[k], &planes[above]).all_m3;
    clean[above] = clean[above] && clean[k];
  }
  for (std::size_t k = 0; k < joints_.size(); ++k)
    if (!clean[k]) out[k] = std::numeric_limits<double>::quiet_NaN();
  return out;
}

PartVolumes::Change PartVolumes::worst(const SkinMeasures& skin,
                                       std::span<const Affine3d> model) const {
  const std::vector<double> now = volumes(skin, model);
  Change worst;
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const double share = now[k] / joints_[k].rest_m3 - 1;
    if (std::isfinite(share) && !(std::abs(share) <= std::abs(worst.share)))
      worst = {share, joints_[k].joint};
  }
  return worst;
}

}  // namespace derm::quality
