#include "derm/face/face_rig.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Jacobi>

#include "derm/base/number_text.h"
#include "derm/math/decompositions.h"

#include "face/control_point_index.h"
#include "face/eye_centre.h"
#include "face/face_rig_parts.h"
#include "face/head_joint.h"
#include "face/lid_closing.h"

namespace derm {
namespace {

/// People's eyes are 6 cm apart; ten times more or less is more likely another unit.
void noteSize(const FacePoints& points, Diagnostics& notes) {
  const double eyes_m = measureFaceUnits(points).eye_separation_m;
  if (eyes_m > 0.6 || eyes_m < 0.006)
    notes.warn("face-size", "face",
               "its eyes are " + shortNumber(eyes_m) + " m apart; is the unit right (--unit)?");
}

using detail::controlPointIndex;
using detail::kControlPointCount;

using Rows = Eigen::Matrix<double, 28, 3>;

/// Where a head without a skeleton turns: at the height of the nose's tip, about the middle of the
/// skull.
Vec3d headPivot(const FacePoints& p) {
  if (const Vec3d* spine = p.find("7.1")) return *spine;
  const FaceAxes axes = faceAxes(p);
  const FaceUnits units = measureFaceUnits(p);
  const Vec3d eyes = 0.25 * (p.at("3.7") + p.at("3.11") + p.at("3.8") + p.at("3.12"));
  return eyes - 1.2 * units.eye_separation_m * axes.forward - units.eye_nose_m * axes.up;
}

Transform placed(const Vec3d& position) {
  Transform out;
  out.translation = position.cast<float>();
  return out;
}

/// [0,1] per joint: how much the control points follow it, on average.
std::vector<double> followed(const Character& c, std::span<const LabelledPoint> points) {
  std::vector<double> out(c.skeleton.size(), 0);
  std::size_t count = 0;
  for (const LabelledPoint& p : points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    if (feature == nullptr || !isControlPoint(feature->number)) continue;
    ++count;
    const Triangle& t = c.mesh.triangles[p.point.triangle];
    for (int i = 0; i < 3; ++i)
      for (const Influence& w : c.skin[t[static_cast<std::size_t>(i)]])
        out[c.skin.slots[w.slot].joint.index()] +=
            double(p.point.barycentric[i]) * double(w.weight);
  }
  for (double& share : out) share /= double(std::max<std::size_t>(count, 1));
  return out;
}

Result<JointId> headOf(const Character& c, const FaceRigDesc& desc) {
  const std::vector<double> share = followed(c, c.points);
  if (desc.head_joint.empty()) return detail::faceCarrier(c.skeleton, share);
  DERM_TRY(const JointId head, c.skeleton.named(desc.head_joint));
  double below = 0;
  for (std::size_t j = 0; j < share.size(); ++j)
    if (isBelow(c.skeleton, JointId(j), head)) below += share[j];
  if (below > 0) return head;
  return Error{ErrorCode::BadArgument,
               "no control point follows the joint \"" + desc.head_joint + "\"",
               {.element = "skin"}};
}

/// The inverse of weights of which some are next to nothing, as of a point that was found inside
/// the mouth: its joint would have to go anywhere to take it where it is wanted. Singular values
/// below kLeast count as s / kLeast^2 instead of 1 / s, so such a point stays behind. Nothing where
/// there are none: on faces they are 0.37 and more.
std::optional<Eigen::MatrixXd> damped(const Eigen::MatrixXd& weights) {
  constexpr double kLeast = 0.25;
  // Jacobi's method: symmetricEigen() would be 35 kB more in the browser's first file.
  constexpr int kMaxSweeps = 30;
  constexpr double kZero = 1e-15;
  Eigen::MatrixXd values = weights.transpose().lazyProduct(weights);
  Eigen::MatrixXd vectors = Eigen::MatrixXd::Identity(values.rows(), values.cols());
  double largest = 1;
  for (int sweep = 0; sweep < kMaxSweeps && largest > kZero; ++sweep) {
    largest = 0;
    for (Eigen::Index q = 1; q < values.cols(); ++q)
      for (Eigen::Index p = 0; p < q; ++p) {
        largest = std::max(largest, std::abs(values(p, q)));
        Eigen::JacobiRotation<double> rotation;
        if (!rotation.makeJacobi(values, p, q)) continue;
        values.applyOnTheLeft(p, q, rotation.adjoint());
        values.applyOnTheRight(p, q, rotation);
        vectors.applyOnTheRight(p, q, rotation);
      }
  }
  if (values.diagonal().minCoeff() >= kLeast * kLeast) return {};
  const Eigen::MatrixXd shares = weights.lazyProduct(vectors);
  for (Eigen::Index k = 0; k < values.cols(); ++k)
    vectors.col(k) /= std::max(values(k, k), kLeast * kLeast);
  return Eigen::MatrixXd(vectors.lazyProduct(shares.transpose()));
}

/// The model matrix of a joint in the bind pose.
Affine3d bindModel(const Character& c, JointId joint) {
  const std::vector<Transform> local = bindTransforms(c.skeleton, c.skin);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, local, model);
  return model[joint.index()];
}

void addJoint(Character& c, std::string name, JointId parent, const Transform& rest) {
  c.skeleton.joints.push_back({std::move(name), parent, rest});
  if (!c.joint_source.empty()) c.joint_source.push_back(-1);
}

/// Adds the control joints under the head, and a slot for each; returns the first slot.
std::uint32_t addControlJoints(Character& c, const Affine3d& head_model, const FacePoints& points,
                               std::vector<SkinSlot>& slots, FaceRig& rig) {
  const auto first = static_cast<std::uint32_t>(slots.size());
  for (const std::string_view number : controlPointNumbers()) {
    const Affine3d model(Eigen::Translation3d(points.at(number)));
    const Transform local = decompose(head_model.inverse() * model).transform;
    rig.joints.emplace_back(c.skeleton.size());
    addJoint(c, controlJointName(number), rig.head, local);
    slots.push_back({rig.joints.back(), (head_model * local.matrixd()).inverse().cast<float>()});
  }
  return first;
}

/// A head alone: everything follows the head or its points.
void rigBareHead(Character& c, const FacePoints& points, const FaceWeights& weights, FaceRig& rig,
                 Diagnostics& notes) {
  const Vec3d pivot = headPivot(points);
  rig.head = JointId(c.skeleton.size());
  addJoint(c, "head", JointId(), placed(pivot));
  const Affine3d head_model = c.skeleton[rig.head].rest.matrixd();
  std::vector<SkinSlot> slots = {{rig.head, head_model.inverse().cast<float>()}};
  const std::uint32_t first = addControlJoints(c, head_model, points, slots, rig);
  SkinBuilder builder(std::move(slots), c.mesh.vertexCount());
  std::vector<Influence> row;
  for (std::size_t v = 0; v < weights.vertexCount(); ++v) {
    row.clear();
    for (const FaceWeights::Share& s : weights[v])
      row.push_back(
          {s.point == FaceWeights::kHead ? 0 : first + s.point, static_cast<float>(s.weight)});
    builder.addVertex(row, 0, "face rig", notes);
  }
  c.skin = std::move(builder).finish();
  for (MeshInstance& m : c.instances) m.rigid = false;
}

/// What one vertex of a skinned face follows from now on: control joints share what the head and
/// the joints below it had, the rest stays. Where there are too many, the smallest of theirs are
/// dropped: a face at rest then moves with the body as before.
class FaceRow {
 public:
  FaceRow(const std::vector<bool>& of_head, std::uint32_t first_control)
      : of_head_(of_head), first_(first_control) {}

  /// Returns whether influences were dropped.
  bool make(std::span<const Influence> old, std::span<const FaceWeights::Share> shares,
            std::size_t max_influences, std::vector<Influence>& row) {
    row.clear();
    face_.clear();
    double of_face = 0, head_share = 0;
    for (const FaceWeights::Share& s : shares)
      if (s.point == FaceWeights::kHead) head_share = s.weight;
    for (const Influence& i : old) {
      if (!of_head_[i.slot]) {
        row.push_back(i);
        continue;
      }
      of_face += double(i.weight);
      if (head_share > 0) face_.push_back({i.slot, double(i.weight) * head_share});
    }
    for (const FaceWeights::Share& s : shares)
      if (s.point != FaceWeights::kHead) face_.push_back({first_ + s.point, of_face * s.weight});
    std::stable_sort(face_.begin(), face_.end(),
                     [](const Part& a, const Part& b) { return a.weight > b.weight; });
    const std::size_t room = std::max(max_influences, old.size()) - row.size();
    const bool dropped = face_.size() > room;
    if (dropped) face_.resize(room);
    double kept = 0;
    for (const Part& part : face_) kept += part.weight;
    for (const Part& part : face_)
      row.push_back({part.slot, static_cast<float>(part.weight * of_face / kept)});
    return dropped;
  }

 private:
  struct Part {
    std::uint32_t slot;
    double weight;
  };
  const std::vector<bool>& of_head_;  ///< per old slot: of the head or below it
  std::uint32_t first_;
  std::vector<Part> face_;
};

/// Whether the face is a part that hangs on one joint, as characters of few triangles have it.
bool isFaceRigid(const Character& c) {
  std::size_t rigid = 0, count = 0;
  for (const LabelledPoint& p : c.points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    if (feature == nullptr || !isControlPoint(feature->number)) continue;
    ++count;
    const std::uint32_t v = c.mesh.triangles[p.point.triangle][0];
    for (const MeshInstance& m : c.instances)
      if (m.rigid && v >= m.first_vertex && v - m.first_vertex < m.vertex_count) ++rigid;
  }
  return 2 * rigid > count;
}

/// Whether clips move nodes that meshes hang on: eyeballs, a jaw's teeth, a hat, or all of it.
bool hasMovingParts(const Character& c) {
  if (!c.hasSkin()) return false;
  std::vector<bool> moved(c.skeleton.size(), false);
  for (const Clip& clip : c.clips)
    for (const Track& track : clip.tracks)
      if (track.ofJoint()) moved[track.joint.index()] = true;
  for (std::size_t j = 0; j < moved.size(); ++j) {  // parents come first
    const JointId parent = c.skeleton.joints[j].parent;
    if (parent.valid() && moved[parent.index()]) moved[j] = true;
  }
  return std::any_of(c.instances.begin(), c.instances.end(), [&](const MeshInstance& m) {
    return m.rigid && m.joint.valid() && moved[m.joint.index()];
  });
}

/// The face of a character with a skin: control joints share what its head joint had.
void rigSkinnedFace(Character& c, const FacePoints& points, const FaceWeights& weights,
                    std::size_t max_influences, FaceRig& rig, Diagnostics& notes) {
  std::vector<bool> of_head(c.skin.slots.size());
  for (std::size_t s = 0; s < of_head.size(); ++s)
    of_head[s] = isBelow(c.skeleton, c.skin.slots[s].joint, rig.head);
  std::vector<SkinSlot> slots = c.skin.slots;
  const Affine3d head_model = bindModel(c, rig.head);
  const std::uint32_t first = addControlJoints(c, head_model, points, slots, rig);
  // A head that was asked for need not have weights of its own, only joints below it.
  if (std::none_of(slots.begin(), slots.end(),
                   [&](const SkinSlot& s) { return s.joint == rig.head; }))
    slots.push_back({rig.head, head_model.inverse().cast<float>()});
  SkinBuilder builder(slots, c.mesh.vertexCount());
  FaceRow face(of_head, first);
  std::vector<Influence> row;
  const bool rigid_face = isFaceRigid(c);
  bool below = false;
  for (MeshInstance& m : c.instances) {
    bool bends = false;
    for (std::size_t v = m.first_vertex; v < std::size_t{m.first_vertex} + m.vertex_count; ++v) {
      const std::span<const Influence> old = c.skin[v];
      const bool follows =
          std::any_of(old.begin(), old.end(), [&](const Influence& i) { return of_head[i.slot]; });
      if ((m.rigid && !rigid_face) || !follows || weights.weight(v, FaceWeights::kHead) == 1) {
        row.assign(old.begin(), old.end());
      } else {
        bends = true;
        for (const Influence& i : old)
          below = below || (of_head[i.slot] && c.skin.slots[i.slot].joint != rig.head);
        if (face.make(old, weights[v], max_influences, row))
          notes.info("face-influences-dropped", "skin",
                     "more influences than asked for; the face's smallest were dropped", v);
      }
      builder.addVertex(row, 0, "face rig", notes);
    }
    if (bends) m.rigid = false;
  }
  if (below)
    notes.info(
        "face-joints-below", "skin",
        "joints below the head's moved parts of the face too; control joints share what they "
        "had");
  c.skin = std::move(builder).finish();
}

Result<void> addClips(Character& c, const FaceRig& rig, const FacePoints& points,
                      const FaceSlits& slits) {
  DERM_TRY(const FacePoser poser, FacePoser::make(c, rig));
  const detail::LipLimits lips =
      slits.mouth ? detail::LipLimits(c, rig, poser, *slits.mouth) : detail::LipLimits();
  for (const std::string_view name : expressionNames())
    c.clips.push_back(poser.clip(name, detail::expressionOf(c, rig, points, slits, lips, name)));
  return {};
}

}  // namespace

std::string controlJointName(std::string_view number) {
  const FaceFeature* feature = findFaceFeature(number);
  DERM_REQUIRE(feature != nullptr);
  std::string out = "fp_" + std::string(feature->number) + "_" + std::string(feature->name);
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

std::optional<FaceRig> findFaceRig(const Character& character) {
  FaceRig out;
  for (const std::string_view number : controlPointNumbers()) {
    const JointId joint = character.skeleton.find(controlJointName(number));
    if (!joint.valid()) return {};
    const JointId parent = character.skeleton[joint].parent;
    if (!parent.valid() || (out.head.valid() && out.head != parent)) return {};
    out.head = parent;
    out.joints.push_back(joint);
  }
  return out;
}

Result<FaceRig> detail::addRigOfWeights(Character& character, const FacePoints& points,
                                        const FaceWeights& weights, const FaceRigDesc& desc,
                                        std::optional<JointId> head, Diagnostics& notes) {
  for (LabelledPoint& p : character.points)
    if (const FaceFeature* feature = findFaceFeature(p.label)) p.label = feature->number;
  FaceRig rig;
  const bool bends = std::any_of(character.instances.begin(), character.instances.end(),
                                 [](const MeshInstance& m) { return !m.rigid; });
  if (character.hasSkin() && (bends || hasMovingParts(character))) {
    if (head) {
      rig.head = *head;
    } else {
      DERM_TRY(rig.head, headOf(character, desc));
    }
    rigSkinnedFace(character, points, weights, desc.weights.max_influences, rig, notes);
  } else {
    rigBareHead(character, points, weights, rig, notes);
  }
  return rig;
}

Result<FaceRig> addFaceRig(Character& character, const FaceRigDesc& desc, Diagnostics& notes) {
  if (findFaceRig(character))
    return Error{
        ErrorCode::BadData, "the character has a face rig already", {.element = "skeleton"}};
  DERM_TRY(const FacePoints points, facePoints(character.points, character.mesh));
  DERM_CHECK(validateControlPoints(points));
  noteSize(points, notes);
  DERM_TRY(const FaceWeights weights, faceWeights(character.mesh, points, desc.weights, notes));
  Character rigged = character;
  DERM_TRY(const FaceRig rig, detail::addRigOfWeights(rigged, points, weights, desc, {}, notes));
  if (desc.clips || desc.weights.lids_along_margins) {
    Diagnostics ignored;  // an eye that does not open stays as it is
    const FaceSlits slits = findFaceSlits(rigged.mesh, points, ignored);
    if (desc.weights.lids_along_margins)
      detail::closeLids(rigged, rig, points, slits, desc.weights.max_influences);
    if (desc.clips) DERM_CHECK(addClips(rigged, rig, points, slits));
  }
  character = std::move(rigged);
  return rig;
}

std::vector<PointDisplacement> slidLids(std::span<const PointDisplacement> displacements,
                                        const FacePoints& points) {
  std::vector<PointDisplacement> out(displacements.begin(), displacements.end());
  const FaceAxes axes = faceAxes(points);
  for (PointDisplacement& d : out) {
    const FaceSide eye = detail::eyeOfLid(d.point);
    if (eye == FaceSide::Middle) continue;
    const std::optional<Vec3d> centre = detail::eyeCentre(points, eye, axes);
    if (!centre) continue;
    const Vec3d from = points.at(d.point) - *centre, to = from + d.displacement_m;
    const double depth = axes.forward.dot(to);
    const double beside = (to - depth * axes.forward).squaredNorm();
    const double left = from.squaredNorm() - beside;
    if (left > 0) d.displacement_m += (std::sqrt(left) - depth) * axes.forward;
  }
  return out;
}

std::vector<PointDisplacement> slidLips(std::span<const PointDisplacement> displacements,
                                        const FacePoints& points) {
  std::vector<PointDisplacement> out(displacements.begin(), displacements.end());
  const FaceAxes axes = faceAxes(points);
  const Vec3d corners = 0.5 * (points.at("8.3") + points.at("8.4"));
  const double half = 0.5 * std::abs(axes.left.dot(points.at("8.3") - points.at("8.4")));
  const double depth = axes.forward.dot(0.5 * (points.at("8.1") + points.at("8.2")) - corners);
  if (!(half > 0) || !(depth > 0)) return out;
  const auto arch = [&](double sideways) {
    return -depth * (sideways / half) * (sideways / half);  // a parabola through lips and corners
  };
  for (PointDisplacement& d : out) {
    if (d.point[0] != '8') continue;
    const double from = axes.left.dot(points.at(d.point) - corners);
    const double to = from + axes.left.dot(d.displacement_m);
    d.displacement_m += (arch(to) - arch(from)) * axes.forward;
  }
  return out;
}

Result<FacePoser> FacePoser::make(const Character& character, const FaceRig& rig) {
  FacePoser out;
  out.rig_ = rig;
  DERM_TRY(const FacePoints points, facePoints(character.points, character.mesh));
  DERM_CHECK(validateControlPoints(points));
  const FaceAxes axes = faceAxes(points);
  for (const std::string_view number : controlPointNumbers()) {
    std::optional<Hinge> hinge;
    if (const std::optional<Vec3d> pivot = detail::lidPivot(points, number, axes))
      hinge = {*pivot, detail::eyeAxes(points, detail::eyeOfLid(number), axes).along};
    out.hinges_.push_back(hinge);
    out.positions_.push_back(points.at(number));
  }
  std::vector<std::optional<std::size_t>> column(character.skeleton.size());
  for (std::size_t j = 0; j < kControlPointCount; ++j) column[rig.joints[j].index()] = j;
  Eigen::Matrix<double, 28, 28> weights = Eigen::Matrix<double, 28, 28>::Zero();
  std::vector<bool> found(kControlPointCount, false);
  for (const LabelledPoint& p : character.points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    const std::size_t row =
        feature != nullptr ? controlPointIndex(feature->number) : kControlPointCount;
    if (row == kControlPointCount || found[row]) continue;
    found[row] = true;
    const Triangle& t = character.mesh.triangles[p.point.triangle];
    for (std::size_t i = 0; i < 3; ++i)
      for (const Influence& w : character.skin[t[i]]) {
        const auto j = column[character.skin.slots[w.slot].joint.index()];
        if (!j) continue;
        const double share =
            double(p.point.barycentric[static_cast<Eigen::Index>(i)]) * double(w.weight);
        weights(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(*j)) += share;
        if (out.hinges_[*j])
          out.levers_.push_back(
              {row, *j, share, character.mesh.positions[t[i]].cast<double>() - out.positions_[*j]});
      }
  }
  const std::optional<Eigen::MatrixXd> inverse =
      solveGeneral(weights, Eigen::MatrixXd::Identity(28, 28), 1e-6);
  if (!inverse)
    return Error{
        ErrorCode::BadData, "the control points do not follow their joints", {.element = "skin"}};
  out.solve_ = damped(weights).value_or(*inverse);
  for (const JointId joint : rig.joints) out.rest_.push_back(character.skeleton[joint].rest);
  out.to_head_ = bindModel(character, rig.head).linear().inverse();
  return out;
}

std::vector<JointMove> FacePoser::jointMoves(
    std::span<const PointDisplacement> displacements) const {
  Rows wanted = Rows::Zero();
  for (const PointDisplacement& d : displacements) {
    const std::size_t row = controlPointIndex(d.point);
    DERM_REQUIRE(row < kControlPointCount);
    wanted.row(static_cast<Eigen::Index>(row)) += d.displacement_m.transpose();
  }
  std::vector<JointMove> out(kControlPointCount);
  solve(wanted, out);
  return out;
}

void FacePoser::solve(const Rows& wanted, std::span<JointMove> out) const noexcept {
  // Turns follow from the ways and ways from the turns; the turns' part is small.
  constexpr int kRounds = 8;
  Rows aim = wanted;
  for (int round = 0; round < kRounds; ++round) {
    const Rows moved = solve_ * aim;
    for (std::size_t j = 0; j < kControlPointCount; ++j) {
      out[j].translation_m = moved.row(static_cast<Eigen::Index>(j));
      if (hinges_[j])
        out[j].rotation = detail::turnAbout(hinges_[j]->centre_m, hinges_[j]->axis, positions_[j],
                                            positions_[j] + out[j].translation_m);
    }
    if (levers_.empty()) break;
    aim = wanted;
    for (const Lever& lever : levers_)
      aim.row(static_cast<Eigen::Index>(lever.point)) -=
          lever.weight * (out[lever.joint].rotation * lever.arm_m - lever.arm_m).transpose();
  }
}

Transform FacePoser::moved(const Transform& local, const JointMove& move) const {
  Transform out = local;
  out.translation += (to_head_ * move.translation_m).cast<float>();
  out.rotation = local.rotation * move.rotation.cast<float>();
  return out;
}

void FacePoser::pose(std::span<const PointDisplacement> displacements, Pose& pose) const {
  apply(jointMoves(displacements), pose);
}

void FacePoser::pose(std::span<const Vec3d> displacements_m, Pose& pose) const noexcept {
  DERM_REQUIRE(displacements_m.size() == kControlPointCount);
  Rows wanted;
  for (std::size_t i = 0; i < kControlPointCount; ++i)
    wanted.row(static_cast<Eigen::Index>(i)) = displacements_m[i].transpose();
  std::array<JointMove, kControlPointCount> moves;
  solve(wanted, moves);
  apply(moves, pose);
}

void FacePoser::apply(std::span<const JointMove> moves, Pose& pose) const noexcept {
  for (std::size_t j = 0; j < kControlPointCount; ++j) {
    Transform& local = pose.local[rig_.joints[j].index()];
    local = moved(local, moves[j]);
  }
}

Clip FacePoser::clip(std::string_view name,
                     std::span<const PointDisplacement> displacements) const {
  // Half-way keys keep lids on the ball; lids are faster than faces.
  const std::vector<float> times = name == "blink"
                                       ? std::vector<float>{0, 0.05f, 0.1f, 0.15f, 0.25f, 0.35f}
                                       : std::vector<float>{0, 0.2f, 0.4f, 1.1f, 1.3f, 1.5f};
  const std::vector<JointMove> moves = jointMoves(displacements);
  double largest = 0;
  for (const JointMove& m : moves) largest = std::max(largest, m.translation_m.norm());
  Clip out;
  out.name = name;
  for (std::size_t j = 0; j < kControlPointCount; ++j) {
    if (!(moves[j].translation_m.norm() > 1e-5 * largest)) continue;
    JointMove half{0.5 * moves[j].translation_m, Quatd::Identity()};
    if (hinges_[j]) {
      half.rotation = Quatd::Identity().slerp(0.5, moves[j].rotation);
      const Vec3d arm = positions_[j] - hinges_[j]->centre_m, full = arm + moves[j].translation_m;
      const double grown = full.norm() / arm.norm();
      // What is not of the turn, sideways for example, is half done.
      const Vec3d other = full - grown * (moves[j].rotation * arm);
      half.translation_m = 0.5 * (1 + grown) * (half.rotation * arm) - arm + 0.5 * other;
    }
    const Transform& rest = rest_[j];
    const Transform whole = moved(rest, moves[j]), between = moved(rest, half);
    Track way, turn;
    way.joint = turn.joint = rig_.joints[j];
    way.times_s = turn.times_s = times;
    turn.channel = Channel::Rotation;
    for (const Transform* key : {&rest, &between, &whole, &whole, &between, &rest}) {
      const Vec3f& t = key->translation;
      const Quatf& r = key->rotation;
      way.values.insert(way.values.end(), {t.x(), t.y(), t.z()});
      turn.values.insert(turn.values.end(), {r.x(), r.y(), r.z(), r.w()});
    }
    out.tracks.push_back(std::move(way));
    if (hinges_[j]) out.tracks.push_back(std::move(turn));
  }
  return out;
}

}  // namespace derm
