#include "derm/face/rig_transfer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "derm/face/expressions.h"
#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"
#include "derm/math/decompositions.h"

#include "face/control_point_index.h"
#include "face/control_units.h"
#include "face/lid_closing.h"
#include "face/margin_match.h"
#include "face/mouth_inside.h"
#include "face/shape_openings.h"
#include "face/shape_solver.h"
#include "face/share_pruning.h"
#include "face/slit_curves.h"
#include "face/smooth_step.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::kControlPointCount;

using detail::Counterpart;
using detail::OpeningPair;
using detail::WeldedMesh;

/// In eye distances: as of shapes.
constexpr double kGradientLength = 0.3, kFadeLength = 0.5;

/// The control points of the lids, by their place in controlPointNumbers().
std::vector<std::size_t> lidJoints() {
  std::vector<std::size_t> out;
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (std::size_t j = 0; j < numbers.size(); ++j)
    for (const char* lid : {"3.1", "3.2", "3.3", "3.4"})
      if (numbers[j] == lid) out.push_back(j);
  return out;
}

/// Per point of the welded source how much it follows each control joint.
std::vector<std::array<double, kControlPointCount>> weightsOf(const Character& source,
                                                              const FaceRig& rig,
                                                              const WeldedMesh& welded) {
  std::vector<int> joint_of_slot(source.skin.slots.size(), -1);
  for (std::size_t s = 0; s < joint_of_slot.size(); ++s)
    for (std::size_t j = 0; j < rig.joints.size(); ++j)
      if (source.skin.slots[s].joint == rig.joints[j]) joint_of_slot[s] = static_cast<int>(j);
  std::vector<std::array<double, kControlPointCount>> out(welded.pointCount());
  for (std::size_t p = 0; p < out.size(); ++p) {
    out[p].fill(0);
    for (const Influence& i : source.skin[welded.first_vertex[p]])
      if (const int j = joint_of_slot[i.slot]; j >= 0)
        out[p][static_cast<std::size_t>(j)] += static_cast<double>(i.weight);
  }
  return out;
}

/// Counterparts of the target's skin, with lips and lids put right.
std::vector<std::optional<SurfacePoint>> counterparts(const WeldedMesh& from, const WeldedMesh& to,
                                                      std::uint32_t skin,
                                                      const HeadCorrespondence& given,
                                                      const FaceSlits& a, const FaceSlits& b) {
  std::vector<std::optional<SurfacePoint>> out(to.pointCount());
  for (std::size_t p = 0; p < out.size(); ++p)
    if (const std::uint32_t v = to.first_vertex[p]; to.pieces.of_vertex[p] == skin && given.has(v))
      out[p] = given.source_points[v];
  const auto match = [&](const std::optional<FaceSlit>& s, const std::optional<FaceSlit>& t,
                         double radius) {
    if (s && t)
      detail::matchMargins(
          from, {detail::slitSurface(from, *s, radius), detail::slitSurface(to, *t, radius)}, out);
  };
  match(a.left_eye, b.left_eye, detail::kLidRadius);
  match(a.right_eye, b.right_eye, detail::kLidRadius);
  match(a.mouth, b.mouth, detail::kLipRadius);
  return out;
}

/// [0,1] per point of the mesh: how much of its weights are the target's own: all on the lips and
/// in the mouth, less and less around, none where corners no longer pull. A narrow border between
/// two heads' weights would fold the skin beside a smile.
std::vector<double> ownLips(const WeldedMesh& mesh, const FaceSlit& mouth) {
  constexpr double kLips = 0.15, kAround = 0.9;  // mouth widths from the slit
  std::vector<double> out(mesh.pointCount(), 0);
  const detail::SlitSurface lips = detail::slitSurface(mesh, mouth, kAround);
  for (const detail::SlitSide* side : {&lips.upper, &lips.lower})
    for (std::size_t k = 0; k < side->points.size(); ++k)
      out[side->points[k]] =
          1 - detail::smoothStep(kLips, kAround, side->distances[k] / mouth.width_m);
  const std::vector<bool> inside = detail::insideMouth(mesh, mouth);
  for (std::size_t p = 0; p < out.size(); ++p)
    if (inside[p]) out[p] = 1;
  return out;
}

/// Rotation of a joint in the bind pose: joint to model.
Mat3d bindRotation(const Character& character, JointId joint) {
  std::vector<Affine3d> model(character.skeleton.size());
  localToModel(character.skeleton, bindTransforms(character.skeleton, character.skin), model);
  return bestRotation(model[joint.index()].linear()).rotation;
}

bool isExpression(std::string_view name) {
  const std::span<const std::string_view> all = expressionNames();
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// Whether two clips are one to what a file and its units leave of floats.
bool alike(const Clip& a, const Clip& b) {
  constexpr float kRounding = 1e-5f;  // of a track's largest value
  if (a.tracks.size() != b.tracks.size()) return false;
  for (std::size_t t = 0; t < a.tracks.size(); ++t) {
    const Track &x = a.tracks[t], &y = b.tracks[t];
    if (x.joint != y.joint || x.channel != y.channel || x.times_s.size() != y.times_s.size() ||
        x.values.size() != y.values.size())
      return false;
    float largest = 0, apart = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      largest = std::max(largest, std::abs(x.values[i]));
      apart = std::max(apart, std::abs(x.values[i] - y.values[i]));
    }
    if (apart > kRounding * largest) return false;
  }
  return true;
}

/// The source's clips as motions of the target's face.
std::vector<Clip> carriedClips(const Character& source, const FaceRig& from,
                               const FacePoints& source_points, const FaceSlits& source_slits,
                               const Character& target, const FaceRig& to,
                               const FacePoints& target_points, const FaceSlits& target_slits) {
  const FaceUnits source_units = measureFaceUnits(source_points);
  const FaceUnits target_units = measureFaceUnits(target_points);
  const FaceAxes source_axes = faceAxes(source_points), target_axes = faceAxes(target_points);
  Mat3d a, b;
  a << source_axes.left, source_axes.up, source_axes.forward;
  b << target_axes.left, target_axes.up, target_axes.forward;
  const Mat3d source_head = bindRotation(source, from.head);
  const Mat3d target_head = bindRotation(target, to.head);
  const Result<FacePoser> source_poser = FacePoser::make(source, from);
  const Result<FacePoser> target_poser = FacePoser::make(target, to);
  const auto lipsOf = [](const Character& c, const FaceRig& rig, const Result<FacePoser>& poser,
                         const FaceSlits& slits) {
    return poser && slits.mouth ? detail::LipLimits(c, rig, *poser, *slits.mouth)
                                : detail::LipLimits();
  };
  const detail::LipLimits source_lips = lipsOf(source, from, source_poser, source_slits);
  const detail::LipLimits target_lips = lipsOf(target, to, target_poser, target_slits);
  std::vector<Clip> out;
  for (const Clip& clip : source.clips) {
    // An expression that derm made for the source is made anew: points go exactly where they
    // should, so that a blink shuts, whatever the weights.
    if (source_poser && target_poser && isExpression(clip.name) &&
        alike(source_poser->clip(clip.name,
                                 detail::expressionOf(source, from, source_points, source_slits,
                                                      source_lips, clip.name)),
              clip)) {
      out.push_back(target_poser->clip(
          clip.name,
          detail::expressionOf(target, to, target_points, target_slits, target_lips, clip.name)));
      continue;
    }
    Clip carried{.name = clip.name, .tracks = {}};
    for (const Track& track : clip.tracks) {
      if (!track.ofJoint()) continue;
      const auto at = std::find(from.joints.begin(), from.joints.end(), track.joint);
      if (at == from.joints.end() || track.channel == Channel::Scale) continue;
      const auto j = static_cast<std::size_t>(at - from.joints.begin());
      Track mine = track;
      mine.joint = to.joints[j];
      if (track.channel == Channel::Translation) {
        const std::string_view number = controlPointNumbers()[j];
        const Vec3d ratio = detail::unitRatio(number, source_units, target_units);
        const Mat3d map =
            target_head.transpose() * b * ratio.asDiagonal() * a.transpose() * source_head;
        const Vec3f rest_from = source.skeleton[track.joint].rest.translation;
        const Vec3f rest_to = target.skeleton[mine.joint].rest.translation;
        // Of a cubic key only the middle one of three is a position; the others are slopes.
        for (std::size_t k = 0; k * 3 < mine.values.size(); ++k) {
          const bool position = track.interpolation != Interpolation::Cubic || k % 3 == 1;
          Vec3f value(mine.values[3 * k], mine.values[3 * k + 1], mine.values[3 * k + 2]);
          if (position) value -= rest_from;
          value = (map * value.cast<double>()).cast<float>();
          if (position) value += rest_to;
          for (std::size_t c = 0; c < 3; ++c)
            mine.values[3 * k + c] = value[static_cast<Eigen::Index>(c)];
        }
      }
      carried.tracks.push_back(std::move(mine));
    }
    if (!carried.tracks.empty()) out.push_back(std::move(carried));
  }
  return out;
}

}  // namespace

Result<FaceRig> transferFaceRig(const Character& source, Character& given_target,
                                const HeadCorrespondence& correspondence,
                                const RigTransferDesc& desc, Diagnostics& notes,
                                const Progress& progress) {
  if (desc.max_influences < 2 || desc.max_influences > kControlPointCount + 1)
    return Error{ErrorCode::BadArgument, "must be 2 to 29", {.element = "max_influences"}};
  DERM_CHECK(
      validate(correspondence, source.mesh.triangles.size(), given_target.mesh.vertexCount()));
  const std::optional<FaceRig> from = findFaceRig(source);
  if (!from)
    return Error{
        ErrorCode::BadArgument, "has no face rig; derm face rig makes one", {.element = "source"}};
  DERM_TRY(const FacePoints source_points, facePoints(source.points, source.mesh));
  DERM_CHECK(validateControlPoints(source_points));

  // The procedural rig first: joints, pieces beside the skin, a body's own weights. On a copy: an
  // error or a cancelled transfer must not leave half a rig behind.
  Character target = given_target;
  FaceRigDesc rig_desc;
  rig_desc.clips = false;
  rig_desc.weights.max_influences = desc.max_influences;
  DERM_TRY(const FaceRig to, addFaceRig(target, rig_desc, notes));
  DERM_TRY(const FacePoints target_points, facePoints(target.points, target.mesh));

  const WeldedMesh source_mesh = detail::weldedMesh(source.mesh);
  const WeldedMesh mesh = detail::weldedMesh(target.mesh);
  std::vector<std::size_t> counts(mesh.pieces.count, 0);
  for (std::size_t p = 0; p < mesh.pointCount(); ++p)
    counts[mesh.pieces.of_vertex[p]] += correspondence.has(mesh.first_vertex[p]) ? 1 : 0;
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most == 0)
    return Error{ErrorCode::BadData,
                 "no vertex of the target has a counterpart on the source",
                 {.element = "correspondence"}};
  const auto skin = static_cast<std::uint32_t>(most - counts.begin());
  const FaceSlits source_slits = findFaceSlits(source.mesh, source.points, notes);
  const FaceSlits slits = findFaceSlits(target.mesh, target.points, notes);
  const std::vector<std::optional<SurfacePoint>> points =
      desc.separate_sides
          ? counterparts(source_mesh, mesh, skin, correspondence, source_slits, slits)
          : counterparts(source_mesh, mesh, skin, correspondence, {}, {});
  const std::vector<std::array<double, kControlPointCount>> given =
      weightsOf(source, *from, source_mesh);

  const double unit = measureFaceUnits(target_points).eye_separation_m;
  std::vector<Counterpart> values(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) values[p].found = points[p].has_value();
  detail::ShapeSolver solver(mesh, values,
                             {.piece = skin,
                              .gradient_length_m = kGradientLength * unit,
                              .fade_length_m = kFadeLength * unit,
                              .use_gradients = false});
  std::vector<std::array<double, kControlPointCount>> found(points.size());
  // Three joints at a time, as the three axes of a displacement.
  for (std::size_t first = 0; first < kControlPointCount; first += 3) {
    if (!keepGoing(progress, static_cast<double>(first) / kControlPointCount, "weights"))
      return Error{ErrorCode::Cancelled, "cancelled", {}};
    for (std::size_t p = 0; p < points.size(); ++p) {
      values[p].displacement.setZero();
      if (!points[p]) continue;
      const Triangle& t = source_mesh.triangles[points[p]->triangle];
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t k = 0; k < 3 && first + k < kControlPointCount; ++k)
          values[p].displacement[static_cast<Eigen::Index>(k)] +=
              static_cast<double>(points[p]->barycentric[static_cast<Eigen::Index>(c)]) *
              given[t[c]][first + k];
    }
    const std::vector<Vec3d> solved = solver.solve(values);
    for (std::size_t p = 0; p < points.size(); ++p)
      for (std::size_t k = 0; k < 3 && first + k < kControlPointCount; ++k)
        found[p][first + k] = solved[p][static_cast<Eigen::Index>(k)];
  }

  // Rows anew: what followed the head or its control joints shares that by the found weights.
  std::vector<int> joint_of_slot(target.skin.slots.size(), -2);
  std::array<std::uint32_t, kControlPointCount + 1> slot_of{};
  // A prop may have a slot of its own on the head's joint: the face's is the one it follows most.
  std::vector<double> weight_of_slot(joint_of_slot.size(), 0);
  for (std::size_t p = 0; p < mesh.pointCount(); ++p)
    if (mesh.pieces.of_vertex[p] == skin)
      for (const Influence& i : target.skin[mesh.first_vertex[p]])
        weight_of_slot[i.slot] += static_cast<double>(i.weight);
  double most_weight = -1;
  for (std::uint32_t s = 0; s < joint_of_slot.size(); ++s) {
    if (target.skin.slots[s].joint == to.head) {
      joint_of_slot[s] = -1;
      if (weight_of_slot[s] >= most_weight) slot_of[kControlPointCount] = s;
      most_weight = std::max(most_weight, weight_of_slot[s]);
    }
    for (std::size_t j = 0; j < kControlPointCount; ++j)
      if (target.skin.slots[s].joint == to.joints[j]) {
        joint_of_slot[s] = static_cast<int>(j);
        slot_of[j] = s;
      }
  }
  const std::vector<std::size_t> lids = lidJoints();
  const std::vector<double> own_lips = desc.separate_sides && desc.own_lips && slits.mouth
                                           ? ownLips(mesh, *slits.mouth)
                                           : std::vector<double>(found.size(), 0);
  for (std::size_t p = 0; p < found.size(); ++p) {
    if (!desc.own_lids && own_lips[p] == 0) continue;
    double face = 0;
    for (const Influence& i : target.skin[mesh.first_vertex[p]])
      if (joint_of_slot[i.slot] != -2) face += static_cast<double>(i.weight);
    if (!(face > 0)) continue;
    std::array<double, kControlPointCount> own{};
    for (const Influence& i : target.skin[mesh.first_vertex[p]])
      if (const int j = joint_of_slot[i.slot]; j >= 0)
        own[static_cast<std::size_t>(j)] += static_cast<double>(i.weight) / face;
    for (std::size_t j = 0; j < kControlPointCount; ++j)
      found[p][j] += own_lips[p] * (own[j] - found[p][j]);
    if (desc.own_lids)
      for (const std::size_t j : lids) found[p][j] = own[j];
  }
  SkinBuilder builder(target.skin.slots, target.mesh.vertexCount());
  std::vector<Influence> row;
  std::vector<FaceWeights::Share> shares;
  for (std::size_t v = 0; v < target.mesh.vertexCount(); ++v) {
    const std::uint32_t p = mesh.of_vertex[v];
    row.clear();
    double face = 0;
    for (const Influence& i : target.skin[v]) {
      if (joint_of_slot[i.slot] != -2) face += static_cast<double>(i.weight);
      if (joint_of_slot[i.slot] == -2 || mesh.pieces.of_vertex[p] != skin) row.push_back(i);
    }
    if (mesh.pieces.of_vertex[p] == skin && face > 0) {
      shares.clear();
      double left = 1;
      for (std::uint32_t j = 0; j < kControlPointCount; ++j)
        if (found[p][j] > 1e-4) {
          shares.push_back({j, found[p][j]});
          left -= found[p][j];
        }
      if (left > 1e-6) shares.push_back({FaceWeights::kHead, left});
      detail::pruneShares(shares, desc.max_influences, desc.own_lids);
      for (const FaceWeights::Share& s : shares)
        row.push_back({slot_of[s.point], static_cast<float>(face * s.weight)});
    }
    builder.addVertex(row, slot_of[kControlPointCount], "face rig", notes);
  }
  target.skin = pruned(std::move(builder).finish(), std::max<std::size_t>(desc.max_influences, 4));
  if (desc.own_lids) detail::closeLids(target, to, target_points, slits, desc.max_influences);
  if (desc.clips)
    for (Clip& clip :
         carriedClips(source, *from, source_points, source_slits, target, to, target_points, slits))
      target.clips.push_back(std::move(clip));
  given_target = std::move(target);
  return to;
}

}  // namespace derm
