#include "face/lid_closing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "face/control_point_index.h"
#include "face/eye_centre.h"
#include "face/shape_openings.h"
#include "face/slit_curves.h"
#include "face/slit_margins.h"
#include "face/slit_sides.h"
#include "face/welded_mesh.h"

namespace derm::detail {

using Vec2d = Eigen::Vector2d;

namespace {

/// Weights below this are left out of a skin.
constexpr double kMinWeight = 1e-3;
/// What is asked of the largest weight, and how much of all may be given up for it in one round: a
/// lid that follows its joint by little turns too far for linear skinning.
constexpr double kMaxWeight = 0.98, kMinScale = 0.9;

/// Where on the way a + w b a point meets the line, w nearest to `near`; where it passes the line,
/// next to the line's end.
double meeting(const Vec2d& a, const Vec2d& b, std::span<const Vec2d> line, double near) {
  std::optional<double> best;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    // a + w b = p + t q
    const Vec2d p = line[i], q = line[i + 1] - p, off = p - a;
    const double det = b.y() * q.x() - b.x() * q.y();
    if (std::abs(det) <= 1e-12 * b.norm() * q.norm()) continue;
    const double w = (off.y() * q.x() - off.x() * q.y()) / det;
    const double t = (b.x() * off.y() - b.y() * off.x()) / det;
    if (t < -1e-9 || t > 1 + 1e-9) continue;
    if (!best || std::abs(w - near) < std::abs(*best - near)) best = w;
  }
  if (best || !(b.norm() > 0)) return best.value_or(near);
  const Vec2d end =
      (line.front() - a).norm() < (line.back() - a).norm() ? line.front() : line.back();
  return (end - a).dot(b) / b.squaredNorm();
}

/// One eye of a rigged head.
class LidCloser {
 public:
  LidCloser(const Character& character, const FaceRig& rig, const WeldedMesh& mesh,
            const FaceSlit& slit, FaceSide side, const FacePoints& points)
      : character_(character),
        mesh_(mesh),
        surface_(slitSurface(mesh, slit, kLidRadius)),
        axes_(eyeAxes(points, side, faceAxes(points))),
        lid_(controlPointIndex(eyePoints(side).upper[0])) {
    joint_of_slot_.assign(character.skin.slots.size(), -1);
    for (std::size_t s = 0; s < joint_of_slot_.size(); ++s)
      for (std::size_t j = 0; j < rig.joints.size(); ++j)
        if (character.skin.slots[s].joint == rig.joints[j]) joint_of_slot_[s] = static_cast<int>(j);
    for (const std::string_view number : controlPointNumbers())
      pivots_.push_back(points.at(number));
  }

  /// A vertex of the upper margin, and the lid's weight that brings it onto the lower one.
  struct Needed {
    std::size_t at = 0;  ///< in the margin
    double weight = 0;   ///< that it has
    double needed = 0;   ///< may be above 1
  };
  std::vector<Needed> solve(std::span<const JointMove> blink) const {
    std::vector<Vec2d> lower;
    for (const std::uint32_t p : surface_.lower.curve.points())
      lower.push_back(seen(mesh_.positions[p] + moved(p, blink, 1)));
    const std::vector<std::uint32_t>& margin = surface_.upper.curve.points();
    std::vector<Needed> out;
    for (std::size_t i = 1; i + 1 < margin.size(); ++i) {
      const std::uint32_t p = margin[i];
      const double weight = lidWeight(p);
      // Others share what the lid leaves: position = rest + (1 - w) others + w lid.
      const Vec3d others =
          weight < 1 ? Vec3d(moved(p, blink, 0) / (1 - weight)) : Vec3d(Vec3d::Zero());
      const Vec3d own = byJoint(lid_, mesh_.positions[p], blink);
      const double found =
          meeting(seen(mesh_.positions[p] + others), seen(own - others), lower, weight);
      out.push_back({i, weight, std::max(0.0, found)});
    }
    return out;
  }

  /// Per point of the mesh what the lid's weight is to be; NaN = as it is.
  std::vector<double> spread(std::span<const Needed> needed) const {
    std::vector<double> out(mesh_.pointCount(), std::numeric_limits<double>::quiet_NaN());
    const std::vector<std::uint32_t>& margin = surface_.upper.curve.points();
    std::vector<Vec3d> change(margin.size(), Vec3d::Zero());
    for (const Needed& n : needed)
      if (n.weight > kMinWeight) change[n.at].x() = std::clamp(n.needed / n.weight - 1, -0.5, 0.5);
    std::vector<Vec3d> around(mesh_.pointCount(), Vec3d::Zero());
    surface_.upper.spread(change, surface_.radius_m, around);
    // Where more than 1 is needed the joint has to go farther, and all of the lid to follow it
    // less.
    double most = 0;
    for (const Needed& n : needed) most = std::max(most, n.needed);
    const double scale = std::max(kMinScale, std::min(1.0, kMaxWeight / most));
    for (std::uint32_t p = 0; p < out.size(); ++p)
      if (const double weight = lidWeight(p); weight > 0)
        out[p] = std::clamp(scale * (1 + around[p].x()) * weight, 0.0, 1.0);
    for (const Needed& n : needed) out[margin[n.at]] = std::min(1.0, scale * n.needed);
    return out;
  }

  std::size_t lid() const { return lid_; }

 private:
  Vec2d seen(const Vec3d& p) const { return axes_.inFrame(p).head<2>(); }

  double lidWeight(std::uint32_t p) const {
    double sum = 0;
    for (const Influence& i : character_.skin[mesh_.first_vertex[p]])
      if (joint_of_slot_[i.slot] == static_cast<int>(lid_)) sum += static_cast<double>(i.weight);
    return sum;
  }

  Vec3d byJoint(std::size_t j, const Vec3d& p, std::span<const JointMove> blink) const {
    const Vec3d arm = p - pivots_[j];
    return blink[j].rotation * arm - arm + blink[j].translation_m;
  }

  /// How far a point goes by all joints; `own` times the lid's part.
  Vec3d moved(std::uint32_t p, std::span<const JointMove> blink, double own) const {
    Vec3d sum = Vec3d::Zero();
    for (const Influence& i : character_.skin[mesh_.first_vertex[p]])
      if (const int j = joint_of_slot_[i.slot]; j >= 0)
        sum += (static_cast<std::size_t>(j) == lid_ ? own : 1.0) * static_cast<double>(i.weight) *
               byJoint(static_cast<std::size_t>(j), mesh_.positions[p], blink);
    return sum;
  }

  const Character& character_;
  const WeldedMesh& mesh_;
  SlitSurface surface_;
  EyeAxes axes_;
  std::size_t lid_;
  std::vector<int> joint_of_slot_;
  std::vector<Vec3d> pivots_;  ///< [m] of the rig's joints
};

/// Rows in which slot `lid` has the wanted weight and the others share the rest as before.
Skin withWeights(const Skin& skin, const WeldedMesh& mesh, std::span<const double> wanted,
                 std::uint32_t lid, std::uint32_t head, std::size_t max_influences) {
  Diagnostics ignored;  // rows that were fine stay fine
  SkinBuilder builder(skin.slots, skin.vertexCount());
  std::vector<Influence> row;
  for (std::size_t v = 0; v < skin.vertexCount(); ++v) {
    row.assign(skin[v].begin(), skin[v].end());
    if (const double to = wanted[mesh.of_vertex[v]]; !std::isnan(to)) {
      const auto own =
          std::find_if(row.begin(), row.end(), [&](const Influence& i) { return i.slot == lid; });
      double others = 0;
      for (const Influence& i : row) others += i.slot == lid ? 0 : static_cast<double>(i.weight);
      if (own == row.end() && row.size() >= max_influences) {
        // Rows are sorted: the last is the smallest.
        others -= static_cast<double>(row.back().weight);
        row.back() = {lid, 0};
      } else if (own == row.end()) {
        row.push_back({lid, 0});
      }
      if (!(others > 0) && to < 1) row.push_back({head, 1.0f});
      const double scale = others > 0 ? (1 - to) / others : 1 - to;
      for (Influence& i : row)
        i.weight = static_cast<float>(i.slot == lid ? to : scale * static_cast<double>(i.weight));
      std::erase_if(row, [](const Influence& i) { return !(i.weight > 0); });
    }
    builder.addVertex(row, head, "face rig", ignored);
  }
  return std::move(builder).finish();
}

std::vector<LidCloser> closersOf(const Character& character, const FaceRig& rig,
                                 const WeldedMesh& mesh, const FacePoints& points,
                                 const FaceSlits& slits) {
  std::vector<LidCloser> out;
  if (slits.left_eye)
    out.emplace_back(character, rig, mesh, *slits.left_eye, FaceSide::Left, points);
  if (slits.right_eye)
    out.emplace_back(character, rig, mesh, *slits.right_eye, FaceSide::Right, points);
  return out;
}

/// The blink that suits the weights: control points may lie anywhere near the margins, so how far
/// one goes until these meet is found by trying.
std::vector<PointDisplacement> blinkOf(const FacePoser& poser, std::span<const LidCloser> closers,
                                       const TriMesh& mesh, const FacePoints& points,
                                       const FaceSlits& slits) {
  constexpr int kTries = 6;
  std::vector<PointDisplacement> out = expressionDisplacements("blink", points).value();
  for (PointDisplacement& d : out) {
    const FaceSide side = eyeOfLid(d.point);
    const LidMeeting lids =
        lidMeeting(mesh, points, side == FaceSide::Left ? slits.left_eye : slits.right_eye, side);
    d.displacement_m = lids.lower - lids.upper;
  }
  for (int i = 0; i < kTries && !closers.empty(); ++i) {
    const std::vector<JointMove> moves = poser.jointMoves(slidLids(out, points));
    for (const LidCloser& closer : closers) {
      // The median: some vertices at the corners can be brought nowhere near.
      std::vector<double> ratios;
      for (const LidCloser::Needed& n : closer.solve(moves))
        if (n.weight > kMinWeight) ratios.push_back(n.needed / n.weight);
      if (ratios.empty()) continue;
      const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
      std::nth_element(ratios.begin(), middle, ratios.end());
      for (PointDisplacement& d : out)
        if (d.point == controlPointNumbers()[closer.lid()])
          d.displacement_m *= std::clamp(*middle, 0.5, 2.0);
    }
  }
  return slidLids(out, points);
}

}  // namespace

LidMeeting lidMeeting(const TriMesh& mesh, const FacePoints& points,
                      const std::optional<FaceSlit>& slit, FaceSide side) {
  const SlitPoints eye = eyePoints(side);
  if (!slit) return {points.at(eye.upper[0]), points.at(eye.lower[0])};
  EyeAxes axes = eyeAxes(points, side, faceAxes(points));
  if (axes.along.dot(slit->along) < 0) axes.along = -axes.along;
  const std::vector<Vec3d> upper = positionsOf(slit->upper, mesh.positions);
  const std::vector<Vec3d> lower = positionsOf(slit->lower, mesh.positions);
  const Vec3d& at = points.at(eye.upper[0]);
  return {besideOnMargin(upper, axes.along, at), besideOnMargin(lower, axes.along, at)};
}

std::vector<PointDisplacement> expressionOf(const Character& character, const FaceRig& rig,
                                            const FacePoints& points, const FaceSlits& slits,
                                            const LipLimits& lips, std::string_view name) {
  if (name == "blink") {
    const WeldedMesh mesh = weldedMesh(character.mesh);
    if (const Result<FacePoser> poser = FacePoser::make(character, rig))
      return blinkOf(*poser, closersOf(character, rig, mesh, points, slits), character.mesh, points,
                     slits);
  }
  std::array<Vec3d, kControlPointCount> moves;
  moves.fill(Vec3d::Zero());
  const std::vector<PointDisplacement> given = expressionDisplacements(name, points).value();
  for (const PointDisplacement& d : given) moves[controlPointIndex(d.point)] += d.displacement_m;
  lips.keepApart(moves);
  std::vector<PointDisplacement> out;
  for (std::size_t j = 0; j < moves.size(); ++j)
    if (!moves[j].isZero(0)) out.push_back({controlPointNumbers()[j], moves[j]});
  return slidLips(slidLids(out, points), points);
}

void closeLids(Character& character, const FaceRig& rig, const FacePoints& points,
               const FaceSlits& slits, std::size_t max_influences) {
  // Weights decide how far the joints go, and that the weights: a few rounds, on faces of odd
  // proportions more.
  constexpr int kRounds = 12;
  constexpr double kArrived = 1e-4;  // of a lid's motion
  const WeldedMesh mesh = weldedMesh(character.mesh);
  const std::vector<LidCloser> closers = closersOf(character, rig, mesh, points, slits);
  const auto slotOf = [&](JointId joint) {
    const auto at = std::find_if(character.skin.slots.begin(), character.skin.slots.end(),
                                 [&](const SkinSlot& s) { return s.joint == joint; });
    return static_cast<std::uint32_t>(at - character.skin.slots.begin());
  };
  bool arrived = false;
  for (int round = 0; round < kRounds && !arrived; ++round) {
    arrived = true;
    for (const LidCloser& closer : closers) {
      const Result<FacePoser> poser = FacePoser::make(character, rig);
      if (!poser) return;
      const std::vector<JointMove> moves =
          poser->jointMoves(blinkOf(*poser, closers, character.mesh, points, slits));
      const std::vector<LidCloser::Needed> needed = closer.solve(moves);
      for (const LidCloser::Needed& n : needed)
        arrived = arrived && std::abs(n.needed - n.weight) < kArrived;
      character.skin =
          withWeights(character.skin, mesh, closer.spread(needed), slotOf(rig.joints[closer.lid()]),
                      slotOf(rig.head), max_influences);
    }
  }
}

}  // namespace derm::detail
