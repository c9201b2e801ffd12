#include "derm/contact/limb_clearance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/math/polar.h"
#include "derm/math/transform.h"

#include "contact/contact_binding.h"
#include "contact/contact_search.h"

namespace derm {
namespace {

using detail::Contact;
using detail::ContactBody;
using detail::ContactSearch;
using detail::PointSet;

constexpr int kMaxSteps = 10, kHalvings = 4;
constexpr double kMaxStep = 0.12;  ///< [rad] at a time
/// Of the mean square arm: keeps turns about axes that help little small.
constexpr double kDamping = 0.05;
/// [units] deeper than allowed by less than this is good enough.
constexpr double kEnough = 1;
/// From here on a point belongs to a limb.
constexpr float kOfLimb = 0.5f;

/// One limb, and how it is turned at each instant: rotation vectors in the space of its parent.
struct Limb {
  JointId joint;
  std::vector<bool> has;  ///< per point
  std::vector<Vec3d> turns;
};

std::vector<bool> pointsBelow(const Character& character, const ContactBody& body, JointId joint) {
  std::vector<bool> below(character.skeleton.size(), false), out(body.pointCount(), false);
  for (std::size_t j = 0; j < below.size(); ++j) {  // parents come first
    const JointId parent = character.skeleton.joints[j].parent;
    below[j] = j == joint.index() || (parent.valid() && below[parent.index()]);
  }
  for (std::size_t p = 0; p < body.welded_count; ++p) {
    float share = 0;
    for (const detail::ContactWeight& w : body.weightsOf(p))
      if (below[character.skin.slots[body.parts[w.part].slot].joint.index()]) share += w.weight;
    out[p] = share > kOfLimb;
  }
  return out;
}

Quatd fromVector(const Vec3d& turn) {
  const double angle = turn.norm();
  return Quatd(angle > 0 ? Eigen::AngleAxisd(angle, turn / angle) : Eigen::AngleAxisd::Identity());
}

Vec3d toVector(const Quatd& q) {
  const Eigen::AngleAxisd turn(q.w() < 0 ? Quatd(-q.coeffs()) : q);
  return turn.angle() * turn.axis();
}

/// Poses the character and finds what is sunk.
class SunkLimbs {
 public:
  SunkLimbs(const Character& character, const ContactBody& body, std::span<const Limb> limbs)
      : character_(character),
        body_(body),
        search_(body),
        among_(body.pointCount()),
        model_(character.skeleton.size()),
        palette_(character.skin.slots.size()),
        positions_(character.mesh.vertexCount()) {
    for (const Limb& limb : limbs)
      for (std::uint32_t p = 0; p < body.welded_count; ++p)
        if (limb.has[p]) among_.add(p);
  }

  void pose(const Pose& pose) {
    localToModel(character_.skeleton, pose.local, model_);
    skinningMatrices(character_.skin, model_, palette_);
    for (std::size_t v = 0; v < positions_.size(); ++v) {
      Vec3f sum = Vec3f::Zero();
      for (const Influence& i : character_.skin[v])
        sum += i.weight * (palette_[i.slot] * character_.mesh.positions[v]);
      positions_[v] = sum;
    }
    search_.takeUp({.palette = palette_, .positions = positions_});
    search_.find(&among_);
    if (!search_.contacts().empty()) search_.gate();
  }

  /// The turn about the limb's joint, in model space, that takes it out; nothing where it is not
  /// sunk too deep.
  Vec3d turnOut(const Limb& limb, double max_sunk) const {
    const Vec3d pivot = model_[limb.joint.index()].translation();
    Eigen::Matrix3d a = Eigen::Matrix3d::Zero();
    Vec3d b = Vec3d::Zero();
    double deepest = 0;
    for (const Contact& c : search_.contacts()) {
      if (!limb.has[c.point] || limb.has[c.hit[0]]) continue;
      const double scale = double{search_.scale()};
      const double allowed = max_sunk * scale * double{body_.thickness[c.point]};
      const double deeper = double{c.depth} - double{search_.gapOf(c.point)} - allowed;
      const Vec3d out = (c.away + 2 * search_.gapOf(c.point) * c.normal).cast<double>();
      if (!(deeper > 0) || !(out.norm() > 0)) continue;
      deepest = std::max(deepest, deeper / scale);
      const Vec3d arm = search_.points()[c.point].cast<double>() - pivot;
      const Vec3d lever = arm.cross(out.normalized());
      const double weight = double{body_.areas[c.point]} * deeper;
      a += weight * lever * lever.transpose();
      b += weight * deeper * lever;
    }
    if (!(deepest > kEnough * double{body_.lengths.unit})) return Vec3d::Zero();
    a.diagonal().array() += kDamping * a.trace() / 3;
    const Vec3d turn = a.ldlt().solve(b);
    if (!turn.allFinite()) return Vec3d::Zero();
    return turn * std::min(1.0, kMaxStep / std::max(turn.norm(), 1e-12));
  }

  Quatd parentRotation(JointId joint) const {
    const JointId parent = character_.skeleton[joint].parent;
    if (!parent.valid()) return Quatd::Identity();
    return rotationOf(model_[parent.index()]);
  }

 private:
  static Quatd rotationOf(const Affine3d& m) {
    // Axes of turns change sign in a mirror Q: they go through it as through the rotation -Q, which
    // is the polar decomposition's.
    if (m.linear().determinant() < 0) return Quatd(polarDecomposition(m.linear()).rotation);
    return Quatd(Eigen::Matrix3d(m.rotation()));
  }

  const Character& character_;
  const ContactBody& body_;
  ContactSearch search_;
  PointSet among_;
  std::vector<Affine3d> model_;
  std::vector<Affine3f> palette_;
  std::vector<Vec3f> positions_;
};

/// Each turn reaches into the instants before and after, falling off in a straight line, then all
/// are averaged: at least what was needed, and never sudden.
std::vector<Vec3d> spreadInTime(const std::vector<Vec3d>& turns, double reach) {
  const auto count = static_cast<std::ptrdiff_t>(turns.size());
  const auto window = static_cast<std::ptrdiff_t>(std::ceil(reach));
  std::vector<Vec3d> wide(turns.size()), out(turns.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    Vec3d best = Vec3d::Zero();
    for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, i - 2 * window);
         k <= std::min(count - 1, i + 2 * window); ++k) {
      const double away = std::abs(static_cast<double>(i - k));
      const double share = std::clamp(2 - away / reach, 0.0, 1.0);  // flat, then falling
      const Vec3d here = share * turns[static_cast<std::size_t>(k)];
      if (here.squaredNorm() > best.squaredNorm()) best = here;
    }
    wide[static_cast<std::size_t>(i)] = best;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    Vec3d sum = Vec3d::Zero();
    double weights = 0;
    for (std::ptrdiff_t k = i - window; k <= i + window; ++k) {
      const double x = static_cast<double>(k - i) / (reach + 1);
      const double weight = (1 - x * x) * (1 - x * x);
      sum += weight * wide[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(k, 0, count - 1))];
      weights += weight;
    }
    out[static_cast<std::size_t>(i)] = sum / weights;
  }
  return out;
}

Track* rotationTrack(Clip& clip, JointId joint) {
  for (Track& t : clip.tracks)
    if (t.channel == Channel::Rotation && t.joint == joint &&
        t.interpolation != Interpolation::Cubic)
      return &t;
  return nullptr;
}

/// Turns every key by what is needed at its time.
void turnKeys(Track& track, std::span<const Vec3d> turns, double rate_hz) {
  for (std::size_t k = 0; k < track.times_s.size(); ++k) {
    const double at =
        std::clamp(double{track.times_s[k]} * rate_hz, 0.0, static_cast<double>(turns.size() - 1));
    const auto i = static_cast<std::size_t>(at);
    const std::size_t next = std::min(i + 1, turns.size() - 1);
    const double share = at - static_cast<double>(i);
    const Vec3d turn = (1 - share) * turns[i] + share * turns[next];
    if (turn == Vec3d::Zero()) continue;
    float* const v = track.values.data() + 4 * k;
    const Quatd was = Eigen::Quaternionf(v[3], v[0], v[1], v[2]).cast<double>();
    const Eigen::Quaternionf now = (fromVector(turn) * was).normalized().cast<float>();
    v[0] = now.x(), v[1] = now.y(), v[2] = now.z(), v[3] = now.w();
  }
}

/// Adds a turn to each limb: the least that takes it out at this instant. False where none is sunk.
bool turnOutAt(double time, const Character& character, const Clip& clip,
               const LimbClearanceDesc& desc, SunkLimbs& sunk, std::span<Limb> limbs) {
  Pose pose = character.restPose();
  sampleClip(clip, static_cast<float>(time), pose);
  std::vector<Quatd> was;
  for (Limb& limb : limbs) {
    limb.turns.push_back(Vec3d::Zero());
    was.push_back(pose.local[limb.joint.index()].rotation.cast<double>());
  }
  const auto turn = [&](std::size_t l, const Vec3d& by) {
    limbs[l].turns.back() = by;
    pose.local[limbs[l].joint.index()].rotation =
        (fromVector(by) * was[l]).normalized().cast<float>();
  };
  bool any = false;
  for (int step = 0; step < kMaxSteps; ++step) {
    sunk.pose(pose);
    bool turns = false;
    for (std::size_t l = 0; l < limbs.size(); ++l) {
      const Vec3d more = sunk.turnOut(limbs[l], desc.max_sunk);
      if (more == Vec3d::Zero()) continue;
      const Quatd parent = sunk.parentRotation(limbs[l].joint);
      Vec3d all = toVector(fromVector(parent.inverse() * more) * fromVector(limbs[l].turns.back()));
      if (all.norm() > desc.max_turn_rad) all *= desc.max_turn_rad / all.norm();
      turn(l, all);
      turns = any = true;
    }
    if (!turns) break;
  }
  if (!any) return false;
  // Steps from deep inside overshoot: back as far as the limb stays out.
  for (std::size_t l = 0; l < limbs.size(); ++l) {
    const Vec3d all = limbs[l].turns.back();
    if (all == Vec3d::Zero()) continue;
    double in = 0, out = 1;
    for (int step = 0; step < kHalvings; ++step) {
      const double middle = (in + out) / 2;
      turn(l, middle * all);
      sunk.pose(pose);
      (sunk.turnOut(limbs[l], desc.max_sunk) == Vec3d::Zero() ? out : in) = middle;
    }
    turn(l, out * all);
  }
  return true;
}

}  // namespace

LimbClearanceReport clearLimbs(const Character& character, std::span<const JointId> joints,
                               const LimbClearanceDesc& desc, Clip& clip, Diagnostics& notes) {
  LimbClearanceReport report;
  if (!character.hasSkin() || joints.empty()) return report;
  const std::shared_ptr<const ContactBody> body =
      detail::bindContactBody(character, character.mesh, character.skin, {}, clip.name, notes);
  if (body == nullptr) return report;
  std::vector<Limb> limbs;
  for (const JointId joint : joints)
    if (rotationTrack(clip, joint) != nullptr)
      limbs.push_back({joint, pointsBelow(character, *body, joint), {}});
  if (limbs.empty()) return report;
  SunkLimbs sunk(character, *body, limbs);
  const double duration = double{clip.duration_s()};
  report.instants = static_cast<std::size_t>(std::floor(duration * desc.rate_hz)) + 2;
  for (std::size_t i = 0; i < report.instants; ++i) {
    const double time = std::min(duration, static_cast<double>(i) / desc.rate_hz);
    report.turned += turnOutAt(time, character, clip, desc, sunk, limbs) ? 1 : 0;
  }
  if (report.turned == 0) return report;
  for (Limb& limb : limbs) {
    limb.turns = spreadInTime(limb.turns, desc.fade_s * desc.rate_hz);
    for (const Vec3d& turn : limb.turns)
      report.largest_turn_rad = std::max(report.largest_turn_rad, turn.norm());
    turnKeys(*rotationTrack(clip, limb.joint), limb.turns, desc.rate_hz);
  }
  return report;
}

}  // namespace derm
