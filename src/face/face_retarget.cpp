#include "derm/face/face_retarget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <Eigen/Geometry>

#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/expressions.h"
#include "derm/face/face_rig.h"
#include "derm/math/decompositions.h"

#include "face/control_units.h"
#include "face/eye_centre.h"
#include "face/smooth_step.h"

namespace derm {
namespace {

/// Points that can meet: lids, lips, the lips' inner margins.
constexpr std::array<std::array<std::string_view, 2>, 8> kMeeting = {{{"3.1", "3.3"},
                                                                      {"3.2", "3.4"},
                                                                      {"2.2", "2.3"},
                                                                      {"2.6", "2.8"},
                                                                      {"2.7", "2.9"},
                                                                      {"8.1", "8.2"},
                                                                      {"8.5", "8.7"},
                                                                      {"8.6", "8.8"}}};

/// Share of a gap below which a pair closes as the source's does, whatever the map makes of it.
constexpr double kClosing = 0.3;

/// What a label means: a feature point's number, or the word itself.
std::string canonical(std::string_view label) {
  const FaceFeature* feature = findFaceFeature(label);
  return std::string(feature != nullptr ? feature->number : label);
}

Result<std::vector<std::string>> canonicalLabels(const NeutralFace& face, std::string_view which) {
  std::vector<std::string> out;
  std::unordered_map<std::string, std::size_t> seen;
  for (const std::string& label : face.labels) {
    out.push_back(canonical(label));
    if (!seen.try_emplace(out.back(), seen.size()).second)
      return Error{ErrorCode::BadData,
                   "the " + std::string(which) + " has the point \"" + out.back() + "\" twice"};
  }
  return out;
}

std::string listed(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// Those that are feature points.
FacePoints featuresOf(const NeutralFace& face) {
  FacePoints out;
  for (std::size_t i = 0; i < face.labels.size(); ++i)
    if (const FaceFeature* feature = findFaceFeature(face.labels[i]))
      out.set(feature->number, face.positions[i]);
  return out;
}

/// Whether its units can be measured.
bool hasUnits(const FacePoints& points) {
  return points.missing(controlPointNumbers()).empty() && validateControlPoints(points).ok();
}

/// A face of a picture as one that stands upright before us: y up, the subject's left to +x.
struct UprightPicture {
  FacePoints points;
  Mat3d axes = Mat3d::Zero();  ///< columns: left and up in the picture; nothing forward
};
std::optional<UprightPicture> uprightPicture(const FacePoints& picture) {
  if (!picture.missing(controlPointNumbers()).empty()) return {};
  const auto middle = [&](const char* a, const char* b) {
    return Vec3d(0.5 * (picture.at(a) + picture.at(b)));
  };
  const Vec3d left_eye = middle("3.7", "3.11"), right_eye = middle("3.12", "3.8");
  const Vec3d left = left_eye - right_eye;
  const Vec3d from_mouth = 0.5 * (left_eye + right_eye) - middle("8.3", "8.4");
  if (!(left.norm() > 0)) return {};
  UprightPicture out;
  out.axes.col(0) = left.normalized();
  out.axes.col(1) = (from_mouth - out.axes.col(0).dot(from_mouth) * out.axes.col(0));
  if (!(out.axes.col(1).norm() > 0)) return {};
  out.axes.col(1).normalize();
  for (const std::string_view number : controlPointNumbers())
    out.points.set(number, out.axes.transpose() * picture.at(number));
  return out;
}

/// Lengths of a face that looks along its axes; those of a picture are in its own plane.
FaceUnits planeUnits(const FacePoints& p) {
  const auto height = [&](const char* a, const char* b) { return p.at(a).y() - p.at(b).y(); };
  const Vec3d left = 0.5 * (p.at("3.1") + p.at("3.3")), right = 0.5 * (p.at("3.2") + p.at("3.4"));
  const double eyes = 0.5 * (left.y() + right.y());
  const double mouth = 0.5 * (p.at("8.3").y() + p.at("8.4").y());
  return {(left - right).norm(), eyes - p.at("9.3").y(), p.at("9.3").y() - mouth,
          (p.at("8.3") - p.at("8.4")).norm(), 0.5 * (height("3.1", "3.3") + height("3.2", "3.4"))};
}

/// Eyes that are all but shut at rest would make a blink of one face many openings of another.
bool areUsable(const FaceUnits& u) {
  constexpr double kShut = 0.02;  // of the eyes' distance; people squint at 0.05
  return u.eye_separation_m > 0 && u.eye_nose_m > 0 && u.mouth_nose_m > 0 && u.mouth_width_m > 0 &&
         u.lid_opening_m > kShut * u.eye_separation_m;
}

Mat3d columns(const FaceAxes& axes) {
  Mat3d out;
  out << axes.left, axes.up, axes.forward;
  return out;
}

/// Per point, along left, up and forward; the inner lips move as the lips do.
Vec3d unitsOf(std::string_view number, const FaceUnits& units) {
  const bool lip = number.starts_with("2.") && number.size() == 3;
  return detail::unitsAt(lip ? "2.1" : number, units);
}

}  // namespace

NeutralFace neutralFace(const PointTracks& tracks) {
  return {tracks.space, tracks.labels, tracks.neutral};
}

NeutralFace neutralFace(const FacePoints& points) {
  NeutralFace out;
  for (const FaceFeature& feature : faceFeatures())
    if (const Vec3d* at = points.find(feature.number)) {
      out.labels.emplace_back(feature.number);
      out.positions.push_back(*at);
    }
  return out;
}

Result<FaceRetargeter> FaceRetargeter::bind(const NeutralFace& source, const NeutralFace& target,
                                            const FaceRetargetDesc& desc, Diagnostics& notes) {
  DERM_REQUIRE(source.labels.size() == source.positions.size());
  DERM_REQUIRE(target.labels.size() == target.positions.size());
  if (!(desc.amplitude >= 0 && desc.amplitude <= 1))
    return Error{ErrorCode::BadArgument, "must be from 0 to 1", {.element = "amplitude"}};
  if (!(desc.depth_smoothing > 0))
    return Error{ErrorCode::BadArgument, "must be above 0", {.element = "depth_smoothing"}};
  if (target.space == TrackSpace::Picture)
    return Error{ErrorCode::BadArgument, "a picture cannot be a target", {.element = "target"}};
  FaceRetargeter out;
  DERM_TRY(const std::vector<std::string> from, canonicalLabels(source, "source"));
  // A picture may be that of a mirror.
  if (source.space == TrackSpace::Model) DERM_CHECK(validateFaceOrder(featuresOf(source)));
  DERM_TRY(out.labels_, canonicalLabels(target, "target"));
  std::vector<std::string> names, missing;
  for (std::size_t t = 0; t < out.labels_.size(); ++t) {
    const auto s = std::find(from.begin(), from.end(), out.labels_[t]);
    if (s == from.end()) {
      missing.push_back(out.labels_[t]);
      continue;
    }
    names.push_back(out.labels_[t]);
    Shared shared;
    shared.source = static_cast<std::size_t>(s - from.begin());
    shared.target = t;
    shared.at_rest = source.positions[shared.source];
    out.shared_.push_back(shared);
  }
  if (names.size() < 4)
    return Error{ErrorCode::BadData,
                 "source and target share " + std::to_string(names.size()) +
                     " labels, but four are needed" +
                     (names.empty() ? std::string() : ": " + listed(names)),
                 {.element = "points"}};
  if (!missing.empty()) {
    const bool control = std::any_of(missing.begin(), missing.end(), [](const std::string& label) {
      return isControlPoint(label);
    });
    notes.add(control ? Severity::Warning : Severity::Info, "retarget-points", "points",
              "the source does not have these, so they stay: " + listed(missing));
  }

  out.picture_ = source.space == TrackSpace::Picture;
  out.amplitude_ = desc.amplitude;
  out.source_count_ = source.labels.size();
  out.neutral_ = target.positions;
  const RbfDesc rbf{.kernel = desc.kernel, .sigma = desc.sigma};
  std::vector<RbfPoint<3>> rest, goals;
  std::vector<RbfPoint<2>> flat;
  for (const Shared& s : out.shared_) {
    rest.emplace_back(s.at_rest);
    flat.emplace_back(s.at_rest.head<2>());
    goals.emplace_back(out.neutral_[s.target]);
  }
  if (out.picture_) {
    DERM_TRY(out.rbf_, RbfMap23::bind(flat, goals, rbf, notes));
  } else {
    DERM_TRY(out.rbf_, RbfMap33::bind(rest, goals, rbf, notes));
  }
  for (Shared& s : out.shared_) s.image = out.mapped(s.at_rest);
  const FacePoints features = featuresOf(target);
  const bool whole = hasUnits(features);
  if (whole) out.axes_ = faceAxes(features);
  out.scaleInUnits(source, target, notes);
  out.findContacts(source);
  if (desc.slide_lids && whole)
    for (std::size_t t = 0; t < out.labels_.size(); ++t) {
      const FaceSide eye = detail::eyeOfLid(out.labels_[t]);
      if (eye == FaceSide::Middle) continue;
      if (const std::optional<Vec3d> centre = detail::eyeCentre(features, eye, out.axes_))
        out.lids_.push_back({t, out.neutral_[t] - *centre});
    }
  if (out.picture_ && desc.depth == FaceDepth::Expressions) {
    if (!whole)
      return Error{ErrorCode::BadData,
                   "depth by expressions needs all control points of the target",
                   {.element = "points"}};
    DERM_CHECK(out.learnDepth(features, desc.depth_smoothing));
  }
  return out;
}

void FaceRetargeter::scaleInUnits(const NeutralFace& source, const NeutralFace& target,
                                  Diagnostics& notes) {
  Eigen::Matrix3Xd from(3, shared_.size()), to(3, shared_.size());
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    from.col(column) = shared_[i].at_rest;
    to.col(column) = neutral_[shared_[i].target];
  }
  target_middle_ = to.rowwise().mean();
  source_middle_ = picture_ ? target_middle_ : Vec3d(from.rowwise().mean());

  const FacePoints features = featuresOf(target), others = featuresOf(source);
  const bool whole = hasUnits(features);
  if (picture_) {
    const std::optional<UprightPicture> upright = uprightPicture(others);
    const FaceUnits theirs = upright ? planeUnits(upright->points) : FaceUnits{};
    if (!whole || !areUsable(theirs)) {
      if (amplitude_ > 0)
        notes.info(
            "retarget-units", "points",
            "units of the face need all control points in the picture, and eyes that are open at "
            "rest: amplitude is 0");
      amplitude_ = 0;
      return;
    }
    const FaceUnits ours = measureFaceUnits(features);
    for (Shared& s : shared_) {
      const Vec3d ratio =
          unitsOf(labels_[s.target], ours).cwiseQuotient(unitsOf(labels_[s.target], theirs));
      s.in_units = columns(axes_) * ratio.asDiagonal() * upright->axes.transpose();
    }
    return;
  }

  const double spread_from = (from.colwise() - source_middle_).squaredNorm();
  const double spread_to = (to.colwise() - target_middle_).squaredNorm();
  head_scale_ = spread_from > 0 ? std::sqrt(spread_to / spread_from) : 1;
  if (whole && hasUnits(others)) {
    const FaceUnits ours = measureFaceUnits(features), theirs = measureFaceUnits(others);
    const Mat3d axes = columns(axes_), their_axes = columns(faceAxes(others));
    head_turn_ = axes * their_axes.transpose();
    if (areUsable(ours) && areUsable(theirs)) {
      for (Shared& s : shared_) {
        const bool known = findFaceFeature(labels_[s.target]) != nullptr;
        const Vec3d ratio = known ? Vec3d(unitsOf(labels_[s.target], ours)
                                              .cwiseQuotient(unitsOf(labels_[s.target], theirs)))
                                  : Vec3d::Constant(head_scale_);
        s.in_units = axes * ratio.asDiagonal() * their_axes.transpose();
      }
      return;
    }
  } else {
    head_turn_ = bestRotation((to.colwise() - target_middle_) *
                              (from.colwise() - source_middle_).transpose())
                     .rotation;
  }
  if (amplitude_ > 0)
    notes.info(
        "retarget-units", "points",
        "units of the faces need all control points of both, and eyes that are open at rest: "
        "their sizes count instead");
  for (Shared& s : shared_) s.in_units = head_scale_ * head_turn_;
}

void FaceRetargeter::findContacts(const NeutralFace& source) {
  const auto find = [this](std::string_view number) {
    return std::find_if(shared_.begin(), shared_.end(),
                        [&](const Shared& s) { return labels_[s.target] == number; });
  };
  for (const auto& [upper, lower] : kMeeting) {
    const auto a = find(upper), b = find(lower);
    if (a == shared_.end() || b == shared_.end()) continue;
    Contact contact;
    contact.a = static_cast<std::size_t>(a - shared_.begin());
    contact.b = static_cast<std::size_t>(b - shared_.begin());
    const Vec3d gap = source.positions[a->source] - source.positions[b->source];
    const Vec3d apart = neutral_[a->target] - neutral_[b->target];
    if (!(gap.squaredNorm() > 0)) continue;  // they meet at rest: nothing tells when they do not
    contact.per_gap = gap / gap.squaredNorm();
    contact.height = apart.norm();
    if (contact.height > 0) contact.apart = apart / contact.height;
    contacts_.push_back(contact);
  }
}

Result<void> FaceRetargeter::learnDepth(const FacePoints& target, double smoothing) {
  std::vector<std::vector<PointDisplacement>> motions;
  for (const std::string_view name : expressionNames()) {
    DERM_TRY(auto moves, expressionDisplacements(name, target));
    motions.push_back(slidLids(moves, target));
  }
  for (const FaceShape& shape : faceShapes()) {
    DERM_TRY(auto moves, faceShapeDisplacements(shape.name, target));
    motions.push_back(slidLids(moves, target));
  }
  std::vector<Eigen::Index> row(labels_.size(), -1);
  for (const Shared& s : shared_)
    if (isControlPoint(labels_[s.target])) {
      row[s.target] = static_cast<Eigen::Index>(depth_targets_.size());
      depth_targets_.push_back(s.target);
    }
  const auto points = static_cast<Eigen::Index>(depth_targets_.size());
  const auto count = static_cast<Eigen::Index>(motions.size());
  Eigen::MatrixXd plane = Eigen::MatrixXd::Zero(2 * points, count);
  Eigen::MatrixXd forward = Eigen::MatrixXd::Zero(points, count);
  for (std::size_t m = 0; m < motions.size(); ++m)
    for (const PointDisplacement& d : motions[m]) {
      const auto t = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), d.point) -
                                              labels_.begin());
      if (t == labels_.size() || row[t] < 0) continue;
      const auto k = static_cast<Eigen::Index>(m);
      plane(2 * row[t], k) += axes_.left.dot(d.displacement_m);
      plane(2 * row[t] + 1, k) += axes_.up.dot(d.displacement_m);
      forward(row[t], k) += axes_.forward.dot(d.displacement_m);
    }
  const Eigen::MatrixXd gram = plane * plane.transpose();
  const double largest =  // singular value of `plane`
      std::sqrt(std::max(symmetricEigen(gram).values.maxCoeff(), 0.0));
  const double mu = smoothing * largest;
  // forward plane^T (plane plane^T + mu^2)^-1: the least expression that looks like it.
  const Eigen::MatrixXd damped = gram + mu * mu * Eigen::MatrixXd::Identity(2 * points, 2 * points);
  depth_ = solveSymmetric(damped, plane * forward.transpose()).transpose();
  return {};
}

Vec3d FaceRetargeter::mapped(const Vec3d& p) const noexcept {
  if (const RbfMap33* in_space = std::get_if<RbfMap33>(&rbf_)) return in_space->evaluate(p);
  return std::get_if<RbfMap23>(&rbf_)->evaluate(p.head<2>());
}

Vec3d FaceRetargeter::byMap(const Shared& s, std::span<const Vec3d> source) const noexcept {
  return neutral_[s.target] + (mapped(source[s.source]) - s.image);
}

void FaceRetargeter::map(std::span<const Vec3d> source, std::span<Vec3d> target) const noexcept {
  DERM_REQUIRE(source.size() == source_count_ && target.size() == neutral_.size());
  std::copy(neutral_.begin(), neutral_.end(), target.begin());
  for (const Shared& s : shared_) {
    const Vec3d by_map = byMap(s, source);
    Vec3d change = s.in_units * (source[s.source] - s.at_rest) + neutral_[s.target] - by_map;
    // A picture's units know nothing of depth; the map has a guess at least.
    if (picture_) change -= axes_.forward.dot(change) * axes_.forward;
    target[s.target] = amplitude_ > 0 ? Vec3d(by_map + amplitude_ * change) : by_map;
  }

  // Reads left and up, writes forward.
  for (std::size_t i = 0; i < depth_targets_.size(); ++i) {
    const std::size_t t = depth_targets_[i];
    double depth = 0;
    for (std::size_t k = 0; k < depth_targets_.size(); ++k) {
      const Vec3d move = target[depth_targets_[k]] - neutral_[depth_targets_[k]];
      const auto column = static_cast<Eigen::Index>(2 * k);
      depth += depth_(static_cast<Eigen::Index>(i), column) * axes_.left.dot(move) +
               depth_(static_cast<Eigen::Index>(i), column + 1) * axes_.up.dot(move);
    }
    target[t] += (depth - axes_.forward.dot(target[t] - neutral_[t])) * axes_.forward;
  }
  for (const Lid& lid : lids_) {
    const Vec3d to = lid.from_centre + target[lid.target] - neutral_[lid.target];
    const double depth = axes_.forward.dot(to);
    const double left = lid.from_centre.squaredNorm() - (to - depth * axes_.forward).squaredNorm();
    if (left > 0) target[lid.target] += (std::sqrt(left) - depth) * axes_.forward;
  }
  for (const Contact& contact : contacts_) {
    const Shared &a = shared_[contact.a], &b = shared_[contact.b];
    const double open = contact.per_gap.dot(source[a.source] - source[b.source]);
    const Vec3d wanted = byMap(a, source) - byMap(b, source);
    Vec3d gap = target[a.target] - target[b.target];
    Vec3d half = 0.5 * detail::smoothStep(0, 1, 1 - open) * (wanted - gap);
    gap += 2 * half;
    const double height = contact.apart.dot(gap);
    const double share = std::max(0.0, open) * contact.height;
    const double met =
        std::max(0.0, height + detail::smoothStep(0, 1, 1 - open / kClosing) * (share - height));
    half += 0.5 * (met - height) * contact.apart;
    target[a.target] += half;
    target[b.target] -= half;
  }
}

Transform FaceRetargeter::mapHead(const Transform& source) const noexcept {
  const Mat3d turn = head_turn_ * source.rotation.cast<double>().normalized().toRotationMatrix() *
                     head_turn_.transpose();
  const Vec3d moved = source.rotation.cast<double>().normalized() * source_middle_ +
                      source.translation.cast<double>() - source_middle_;
  Transform out;
  out.rotation = Quatd(turn).cast<float>();
  out.translation =
      (target_middle_ + head_scale_ * (head_turn_ * moved) - turn * target_middle_).cast<float>();
  return out;
}

}  // namespace derm
