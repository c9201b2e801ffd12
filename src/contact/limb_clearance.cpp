#include "derm/contact/limb_clearance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/base/parallel.h"
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
constexpr std::string_view kStage = "turning arms out";

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
  SunkLimbs(const Character& character, const ContactBody& body, std::span<const Limb> limbs,
            double max_sunk)
      : character_(character),
        body_(body),
        limbs_(limbs),
        max_sunk_(max_sunk),
        search_(body),
        of_all_(body.pointCount()),
        model_(character.skeleton.size()),
        palette_(character.skin.slots.size()),
        positions_(character.mesh.vertexCount()) {
    std::vector<std::uint8_t> group(body.pointCount(), 0);
    for (std::size_t l = 0; l < limbs.size(); ++l)
      for (std::uint32_t p = 0; p < body.welded_count; ++p)
        if (limbs[l].has[p])
          group[p] = static_cast<std::uint8_t>(std::min<std::size_t>(l, 254) + 1);
    for (const Limb& limb : limbs) {
      PointSet& of_limb = of_each_.emplace_back(body.pointCount());
      for (std::uint32_t p = 0; p < body.welded_count; ++p) {
        if (!limb.has[p]) continue;
        of_limb.add(p);
        of_all_.add(p);
      }
    }
    // Of limbs on limbs one may well meet the other.
    bool nested = false;
    for (std::uint32_t p = 0; p < body.welded_count; ++p)
      nested = nested || std::count_if(limbs.begin(), limbs.end(),
                                       [&](const Limb& limb) { return limb.has[p]; }) > 1;
    if (!nested && limbs.size() < 255) search_.setGroups(std::move(group));
    findMoving();
  }

  /// `turned`: all but the limbs is as in the pose before. Of one limb alone where `only` is given.
  void pose(const Pose& pose, bool turned, const Limb* only) {
    localToModel(character_.skeleton, pose.local, model_);
    skinningMatrices(character_.skin, model_, palette_);
    const auto place = [&](std::size_t v) {
      Vec3f sum = Vec3f::Zero();
      for (const Influence& i : character_.skin[v])
        sum += i.weight * (palette_[i.slot] * character_.mesh.positions[v]);
      positions_[v] = sum;
    };
    if (turned)
      for (const std::uint32_t v : moving_) place(v);
    else
      for (std::size_t v = 0; v < positions_.size(); ++v) place(v);
    search_.takeUp({.palette = palette_, .positions = positions_});
    search_.find(only == nullptr ? &of_all_
                                 : &of_each_[static_cast<std::size_t>(only - &limbs_[0])]);
    // Gating is dear and takes contacts out: only those that may turn a limb are asked about.
    search_.keepContacts([&](const Contact& c) {
      return std::any_of(limbs_.begin(), limbs_.end(),
                         [&](const Limb& limb) { return deeperThanAllowed(limb, c) > 0; });
    });
    const bool deep =
        std::any_of(limbs_.begin(), limbs_.end(), [&](const Limb& limb) { return isSunk(limb); });
    if (deep) search_.gate();
  }

  /// The turn about the limb's joint, in model space, that takes it out; nothing where it is not
  /// sunk too deep.
  Vec3d turnOut(const Limb& limb) const {
    if (!isSunk(limb)) return Vec3d::Zero();
    const Vec3d pivot = model_[limb.joint.index()].translation();
    Eigen::Matrix3d a = Eigen::Matrix3d::Zero();
    Vec3d b = Vec3d::Zero();
    for (const Contact& c : search_.contacts()) {
      const double deeper = deeperThanAllowed(limb, c);
      if (!(deeper > 0)) continue;
      const Vec3d out = wayOut(c);
      const Vec3d arm = search_.points()[c.point].cast<double>() - pivot;
      const Vec3d lever = arm.cross(out.normalized());
      const double weight = double{body_.areas[c.point]} * deeper;
      a += weight * lever * lever.transpose();
      b += weight * deeper * lever;
    }
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
  /// Vertices that a turn of the limbs moves.
  void findMoving() {
    std::vector<bool> below(character_.skeleton.size(), false);
    for (std::size_t j = 0; j < below.size(); ++j) {  // parents come first
      const JointId parent = character_.skeleton.joints[j].parent;
      below[j] = parent.valid() && below[parent.index()];
      for (const Limb& limb : limbs_) below[j] = below[j] || j == limb.joint.index();
    }
    for (std::uint32_t v = 0; v < positions_.size(); ++v)
      for (const Influence& i : character_.skin[v])
        if (below[character_.skin.slots[i.slot].joint.index()]) {
          moving_.push_back(v);
          break;
        }
  }

  Vec3d wayOut(const Contact& c) const {
    return (c.away + 2 * search_.gapOf(c.point) * c.normal).cast<double>();
  }

  /// [m] by which a contact of a limb with what is not of it is deeper than allowed; else not > 0.
  double deeperThanAllowed(const Limb& limb, const Contact& c) const {
    if (!limb.has[c.point] || limb.has[c.hit[0]]) return 0;
    const double allowed = max_sunk_ * double{search_.scale()} * double{body_.thickness[c.point]};
    const double deeper = double{c.depth} - double{search_.gapOf(c.point)} - allowed;
    return deeper > 0 && wayOut(c).norm() > 0 ? deeper : 0;
  }

  bool isSunk(const Limb& limb) const {
    double deepest = 0;
    for (const Contact& c : search_.contacts())
      deepest = std::max(deepest, deeperThanAllowed(limb, c) / double{search_.scale()});
    return deepest > kEnough * double{body_.lengths.unit};
  }

  static Quatd rotationOf(const Affine3d& m) {
    // Axes of turns change sign in a mirror Q: they go through it as through the rotation -Q, which
    // is the polar decomposition's.
    if (m.linear().determinant() < 0) return Quatd(polarDecomposition(m.linear()).rotation);
    return Quatd(Eigen::Matrix3d(m.rotation()));
  }

  const Character& character_;
  const ContactBody& body_;
  std::span<const Limb> limbs_;
  double max_sunk_;
  ContactSearch search_;
  PointSet of_all_;
  std::vector<PointSet> of_each_;
  std::vector<Affine3d> model_;
  std::vector<Affine3f> palette_;
  std::vector<Vec3f> positions_;
  std::vector<std::uint32_t> moving_;
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

/// The turn of each limb, the least that takes it out at this instant. False where none is sunk.
bool turnOutAt(double time, const Character& character, const Clip& clip, double max_turn_rad,
               SunkLimbs& sunk, std::span<const Limb> limbs, std::span<Vec3d> turns) {
  Pose pose = character.restPose();
  sampleClip(clip, static_cast<float>(time), pose);
  std::vector<Quatd> was;
  for (const Limb& limb : limbs)
    was.push_back(pose.local[limb.joint.index()].rotation.cast<double>());
  std::fill(turns.begin(), turns.end(), Vec3d::Zero());
  const auto turn = [&](std::size_t l, const Vec3d& by) {
    turns[l] = by;
    pose.local[limbs[l].joint.index()].rotation =
        (fromVector(by) * was[l]).normalized().cast<float>();
  };
  bool any = false;
  for (int step = 0; step < kMaxSteps; ++step) {
    sunk.pose(pose, step > 0, nullptr);
    bool more_turns = false;
    for (std::size_t l = 0; l < limbs.size(); ++l) {
      const Vec3d more = sunk.turnOut(limbs[l]);
      if (more == Vec3d::Zero()) continue;
      const Quatd parent = sunk.parentRotation(limbs[l].joint);
      Vec3d all = toVector(fromVector(parent.inverse() * more) * fromVector(turns[l]));
      if (all.norm() > max_turn_rad) all *= max_turn_rad / all.norm();
      turn(l, all);
      more_turns = any = true;
    }
    if (!more_turns) break;
  }
  if (!any) return false;
  // Steps from deep inside overshoot: back as far as the limb stays out.
  for (std::size_t l = 0; l < limbs.size(); ++l) {
    const Vec3d all = turns[l];
    if (all == Vec3d::Zero()) continue;
    double in = 0, out = 1;
    for (int step = 0; step < kHalvings; ++step) {
      const double middle = (in + out) / 2;
      turn(l, middle * all);
      sunk.pose(pose, true, &limbs[l]);
      (sunk.turnOut(limbs[l]) == Vec3d::Zero() ? out : in) = middle;
    }
    turn(l, out * all);
  }
  return true;
}

}  // namespace

Result<LimbClearanceReport> clearLimbs(const Character& character, std::span<const JointId> joints,
                                       const LimbClearanceDesc& desc, Clip& clip,
                                       Diagnostics& notes, const Progress& progress) {
  const auto cancelled = [] { return Error{ErrorCode::Cancelled, "cancelled", {}}; };
  LimbClearanceReport report;
  if (!character.hasSkin() || joints.empty()) return report;
  if (!keepGoing(progress, 0, kStage)) return cancelled();
  const std::shared_ptr<const ContactBody> body =
      detail::bindContactBody(character, character.mesh, character.skin, {}, clip.name, notes);
  if (body == nullptr) return report;
  std::vector<Limb> limbs;
  for (const JointId joint : joints)
    if (rotationTrack(clip, joint) != nullptr)
      limbs.push_back({joint, pointsBelow(character, *body, joint), {}});
  if (limbs.empty()) return report;
  const double duration = double{clip.duration_s()};
  const std::size_t instants = static_cast<std::size_t>(std::floor(duration * desc.rate_hz)) + 2;
  report.instants = instants;
  std::vector<Vec3d> turns(instants * limbs.size());
  std::vector<char> turned(instants, 0);
  // Every instant is found by itself; a chunk has its own work space.
  constexpr std::size_t kRound = 256, kChunk = 64;
  for (std::size_t first = 0; first < instants; first += kRound) {
    if (!keepGoing(progress, static_cast<double>(first) / static_cast<double>(instants), kStage))
      return cancelled();
    parallelFor(std::min(kRound, instants - first), kChunk,
                [&](std::size_t begin, std::size_t end) {
                  SunkLimbs sunk(character, *body, limbs, desc.max_sunk);
                  for (std::size_t i = first + begin; i < first + end; ++i) {
                    const double time = std::min(duration, static_cast<double>(i) / desc.rate_hz);
                    turned[i] = turnOutAt(time, character, clip, desc.max_turn_rad, sunk, limbs,
                                          std::span(turns).subspan(i * limbs.size(), limbs.size()));
                  }
                });
  }
  report.turned = static_cast<std::size_t>(std::count(turned.begin(), turned.end(), 1));
  if (report.turned == 0) return report;
  for (std::size_t l = 0; l < limbs.size(); ++l) {
    Limb& limb = limbs[l];
    for (std::size_t i = 0; i < instants; ++i) limb.turns.push_back(turns[i * limbs.size() + l]);
    limb.turns = spreadInTime(limb.turns, desc.fade_s * desc.rate_hz);
    for (const Vec3d& turn : limb.turns)
      report.largest_turn_rad = std::max(report.largest_turn_rad, turn.norm());
    turnKeys(*rotationTrack(clip, limb.joint), limb.turns, desc.rate_hz);
  }
  return report;
}

}  // namespace derm
