#include "derm/face/shape_motion.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "derm/base/number_text.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/face_slits.h"

#include "face/control_point_index.h"
#include "face/gaze.h"
#include "face/lid_closing.h"
#include "face/shape_names.h"
#include "face/shape_projection.h"
#include "face/slit_curves.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::controlPointIndex;
using detail::kLowerLidShare;
using detail::shapeIndex;

/// How much of the lids' opening a lower lid may rise by, and from where on it is held back.
constexpr double kLowerLidFree = 0.3, kLowerLidMost = 0.5;
/// Heights of lips are compared at this many steps along the mouth.
constexpr int kLipSteps = 12;

/// The points that keep lips apart; the corners follow both.
constexpr std::array<std::string_view, 6> kLipPoints = {"8.1", "8.2", "8.5", "8.6", "8.7", "8.8"};

struct BlinkPoints {
  std::string_view upper, lower, blink;
};
constexpr std::array<BlinkPoints, 2> kEyes = {
    {{"3.1", "3.3", "eyeBlinkLeft"}, {"3.2", "3.4", "eyeBlinkRight"}}};

/// Goes on as it is up to `free`, then ever more slowly towards `most`; never steeper than 1.
double heldBack(double value, double free, double most) {
  if (value <= free) return value;
  const double room = most - free;
  return most - room * std::exp((free - value) / room);
}

/// Values that clamping would hide: a take in percent would play as one long grimace.
class CoefficientRange {
 public:
  CoefficientRange(const ShapeTracks& tracks, std::string_view name, Diagnostics& notes)
      : tracks_(tracks), name_(name), notes_(notes) {}

  Result<void> add(std::size_t frame, std::size_t shape) {
    const float value = tracks_.frame(frame)[shape];
    if (value >= -kNoise && value <= 1 + kNoise) return {};
    const bool far = value < -0.5f || value > 1.5f;
    if (far && frame >= next_far_) {  // each frame counts once
      next_far_ = frame + 1;
      ++far_frames_;
    }
    if (far_frames_ > kFarFrames || std::abs(value) > 10)
      return Error{
          ErrorCode::BadData,
          shortNumber(double(value)) + " is no coefficient: these go from 0 to 1" +
              (value > 0 ? "; are they percent?" : ""),
          {.file = std::string(name_),
           .element =
               (tracks_.lines.empty() ? "shape \"" : "column \"") + tracks_.names[shape] + "\"",
           .line = lineOf(frame),
           .index = tracks_.lines.empty() ? std::optional<std::uint64_t>(frame) : std::nullopt}};
    notes_.warn("shape-values-clamped", name_,
                "\"" + tracks_.names[shape] + "\" " +
                    (tracks_.lines.empty() ? "in frame " + std::to_string(frame)
                                           : "in line " + std::to_string(tracks_.lines[frame])) +
                    " is " + shortNumber(double(value)) + "; values outside 0 to 1 are clamped");
    return {};
  }

 private:
  std::optional<std::uint64_t> lineOf(std::size_t frame) const {
    return tracks_.lines.empty() ? std::nullopt : std::optional(tracks_.lines[frame]);
  }

  static constexpr float kNoise = 1e-3f;
  static constexpr std::size_t kFarFrames = 3;  ///< so many may be glitches of a tracker
  const ShapeTracks& tracks_;
  std::string_view name_;
  Diagnostics& notes_;
  std::size_t far_frames_ = 0, next_far_ = 0;
};

}  // namespace

Result<ShapeTracks> arkitTracks(const ShapeTracks& tracks, Diagnostics& notes,
                                std::string_view name) {
  DERM_CHECK(validate(tracks, name));
  ShapeTracks out;
  for (const FaceShape& shape : faceShapes()) out.names.emplace_back(shape.name);
  out.times_s = tracks.times_s;
  out.head = tracks.head;
  out.values.assign(tracks.frames() * out.names.size(), 0.0f);
  struct Source {
    std::size_t column, shape;
    float share;
  };
  std::vector<Source> sources;
  std::vector<std::size_t> halves(out.names.size(), 0), wholes(out.names.size(), 0);
  for (std::size_t s = 0; s < tracks.names.size(); ++s) {
    const std::optional<detail::NamedShape> named = detail::shapeCalled(tracks.names[s]);
    if (!named) {
      notes.warn("shape-unknown", tracks.names[s], "is none of ARKit's shapes; left out");
      continue;
    }
    ++(named->half ? halves : wholes)[named->shape];
    sources.push_back({s, named->shape, 1});
  }
  if (sources.empty())
    return Error{
        ErrorCode::BadData, "none of the names is one of ARKit's shapes", {.element = "names"}};
  for (Source& source : sources) {
    const std::size_t count = halves[source.shape] + wholes[source.shape];
    source.share = 1.0f / static_cast<float>(count);
  }
  CoefficientRange range(tracks, name, notes);
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    const std::span<const float> from = tracks.frame(f);
    for (const Source& source : sources) {
      DERM_CHECK(range.add(f, source.column));
      out.values[f * out.names.size() + source.shape] += source.share * from[source.column];
    }
  }
  for (float& value : out.values) value = std::clamp(value, 0.0f, 1.0f);
  return out;
}

Result<ShapeMotion> ShapeMotion::bind(const FacePoints& points) {
  DERM_CHECK(validateControlPoints(points));
  ShapeMotion out;
  out.points_ = points;
  out.axes_ = faceAxes(points);
  for (const FaceShape& shape : faceShapes()) {
    std::array<Vec3d, kPoints> row;
    row.fill(Vec3d::Zero());
    DERM_TRY(const std::vector<PointDisplacement> moves,
             faceShapeDisplacements(shape.name, out.points_));
    for (const PointDisplacement& d : moves) row[controlPointIndex(d.point)] += d.displacement_m;
    out.table_.push_back(row);
  }
  return out;
}

Result<ShapeMotion> ShapeMotion::bind(const Character& rigged, const FaceRig& rig,
                                      Diagnostics& notes) {
  DERM_TRY(const FacePoser poser, FacePoser::make(rigged, rig));
  DERM_TRY(const FacePoints points, facePoints(rigged.points, rigged.mesh));
  DERM_TRY(ShapeMotion out, bind(points));
  const FaceSlits slits = findFaceSlits(rigged.mesh, rigged.points, notes);
  if (!slits.mouth) return out;

  // How a height of each control point's displacement moves the margins of the lips.
  const FaceSlit& mouth = *slits.mouth;
  out.lips_up_ = mouth.up;
  const detail::WeldedMesh welded = detail::weldedMesh(rigged.mesh);
  const detail::SlitCurve upper(welded, mouth, mouth.upper), lower(welded, mouth, mouth.lower);
  std::vector<int> joint_of_slot(rigged.skin.slots.size(), -1);
  for (std::size_t s = 0; s < joint_of_slot.size(); ++s)
    for (std::size_t j = 0; j < rig.joints.size(); ++j)
      if (rig.joints[j] == rigged.skin.slots[s].joint) joint_of_slot[s] = static_cast<int>(j);
  const double step_m = 1e-2 * mouth.width_m;
  std::vector<std::vector<JointMove>> moves;
  for (const std::string_view number : controlPointNumbers())
    moves.push_back(poser.jointMoves(std::array{PointDisplacement{number, step_m * mouth.up}}));
  const auto share = [&](const detail::SlitCurve& curve, double t, std::size_t point) {
    const detail::SlitCurve::At at = curve.at(t);
    double sum = 0;
    for (const auto& [index, part] : {std::pair{at.first, 1 - at.share}, {at.second, at.share}})
      for (const Influence& i : rigged.skin[welded.first_vertex[curve.points()[index]]])
        if (const int j = joint_of_slot[i.slot]; j >= 0)
          sum += part * double(i.weight) *
                 mouth.up.dot(moves[point][static_cast<std::size_t>(j)].translation_m) / step_m;
    return sum;
  };
  for (int k = 1; k < kLipSteps; ++k) {
    const double t = double(k) / kLipSteps;
    LipLimit limit;
    const double gap = mouth.up.dot(Vec3d(upper.valueAt(t, welded.positions)) -
                                    Vec3d(lower.valueAt(t, welded.positions)));
    limit.limit_m = -std::max(gap, 0.0);
    for (std::size_t j = 0; j < kPoints; ++j)
      limit.shares[j] = share(upper, t, j) - share(lower, t, j);
    out.lips_.push_back(limit);
  }
  return out;
}

void ShapeMotion::evaluateSum(std::span<const float> coefficients,
                              std::span<Vec3d> displacements) const noexcept {
  DERM_REQUIRE(coefficients.size() == kShapes && displacements.size() == kPoints);
  std::fill(displacements.begin(), displacements.end(), Vec3d(Vec3d::Zero()));
  for (std::size_t s = 0; s < kShapes; ++s)
    if (coefficients[s] != 0)
      for (std::size_t j = 0; j < kPoints; ++j)
        displacements[j] += double(coefficients[s]) * table_[s][j];
}

void ShapeMotion::evaluate(std::span<const float> coefficients,
                           std::span<Vec3d> displacements) const noexcept {
  evaluateSum(coefficients, displacements);
  closeLids(coefficients, displacements);
  keepLipsApart(displacements);
}

void ShapeMotion::closeLids(std::span<const float> coefficients,
                            std::span<Vec3d> displacements) const noexcept {
  static const std::array<std::size_t, 2> kBlink = {shapeIndex("eyeBlinkLeft"),
                                                    shapeIndex("eyeBlinkRight")};
  for (std::size_t e = 0; e < 2; ++e) {
    const std::size_t u = controlPointIndex(kEyes[e].upper), l = controlPointIndex(kEyes[e].lower);
    const Vec3d rest = points_.at(kEyes[e].upper) - points_.at(kEyes[e].lower);
    const double height = axes_.up.dot(rest);
    if (!(height > 0)) continue;
    const double blink = double(coefficients[kBlink[e]]);
    // What the other shapes do, then the blink on top of it.
    Vec3d upper = displacements[u] - blink * table_[kBlink[e]][u];
    Vec3d lower = displacements[l] - blink * table_[kBlink[e]][l];
    const double rise = axes_.up.dot(lower) / height;
    lower += (heldBack(rise, kLowerLidFree, kLowerLidMost) - rise) * height * axes_.up;
    Vec3d gap = rest + upper - lower;
    const double crossed = -axes_.up.dot(gap);
    if (crossed > 0) {
      upper += crossed * axes_.up;
      gap += crossed * axes_.up;
    }
    displacements[u] = upper - blink * (1 - kLowerLidShare) * gap;
    displacements[l] = lower + blink * kLowerLidShare * gap;
  }
}

void ShapeMotion::keepLipsApart(std::span<Vec3d> displacements) const noexcept {
  if (lips_.empty()) return;
  constexpr std::size_t kFree = kLipPoints.size();
  std::array<std::size_t, kFree> points{};
  for (std::size_t i = 0; i < kFree; ++i) points[i] = controlPointIndex(kLipPoints[i]);
  std::array<double, kFree> heights{};
  std::array<double, kFree * kLipSteps> rows{};
  std::array<double, kLipSteps> limits{}, multipliers{};
  for (std::size_t i = 0; i < kFree; ++i) heights[i] = lips_up_.dot(displacements[points[i]]);
  double worst = 0;
  for (std::size_t k = 0; k < lips_.size(); ++k) {
    double all = 0, fixed = 0;
    for (std::size_t j = 0; j < kPoints; ++j)
      all += lips_[k].shares[j] * lips_up_.dot(displacements[j]);
    fixed = all;
    for (std::size_t i = 0; i < kFree; ++i) {
      rows[k * kFree + i] = lips_[k].shares[points[i]];
      fixed -= rows[k * kFree + i] * heights[i];
    }
    limits[k] = lips_[k].limit_m - fixed;
    worst = std::max(worst, lips_[k].limit_m - all);
  }
  if (!(worst > 0)) return;
  const std::array<double, kFree> before = heights;
  detail::projectOntoLimits(heights, std::span(rows).first(kFree * lips_.size()),
                            std::span(limits).first(lips_.size()),
                            std::span(multipliers).first(lips_.size()), 1e-7);
  for (std::size_t i = 0; i < kFree; ++i)
    displacements[points[i]] += (heights[i] - before[i]) * lips_up_;
}

PointTracks shapePoints(const ShapeMotion& motion, const ShapeTracks& tracks) {
  PointTracks out;
  out.times_s = tracks.times_s;
  for (const std::string_view number : controlPointNumbers()) {
    out.labels.emplace_back(number);
    out.neutral.push_back(motion.points().at(number));
  }
  std::vector<Vec3d> moves(ShapeMotion::kPoints);
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    motion.evaluate(tracks.frame(f), moves);
    for (std::size_t j = 0; j < moves.size(); ++j)
      out.positions.push_back(out.neutral[j] + moves[j]);
  }
  const FaceAxes axes = faceAxes(motion.points());
  const FaceUnits units = measureFaceUnits(motion.points());
  const Vec3d middle = motion.points().at("9.3") - 1.5 * units.eye_separation_m * axes.forward;
  for (const Quatd& turn : tracks.head) {
    const Quatd by = detail::turnInModel(turn, axes);
    Transform moved;
    moved.rotation = by.cast<float>();
    moved.translation = (middle - by * middle).cast<float>();
    out.head.push_back(moved);
  }
  return out;
}

}  // namespace derm
