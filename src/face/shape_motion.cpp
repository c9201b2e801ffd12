#include "derm/face/shape_motion.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "derm/base/number_text.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/face_slits.h"

#include "face/control_point_index.h"
#include "face/gaze.h"
#include "face/lid_closing.h"
#include "face/lip_limits.h"
#include "face/shape_names.h"

namespace derm {
namespace {

using detail::controlPointIndex;
using detail::kLowerLidShare;
using detail::shapeIndex;

/// How much of the lids' opening a lower lid may rise by, and from where on it is held back.
constexpr double kLowerLidFree = 0.3, kLowerLidMost = 0.5;
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
  for (std::size_t e = 0; e < 2; ++e)
    out.opening_[e] = points.at(kEyes[e].upper) - points.at(kEyes[e].lower);
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
  // The lids' points may lie beside the margins and beside each other: the rig's own blink knows
  // how far the upper one goes until the margins meet.
  for (const PointDisplacement& d :
       detail::expressionOf(rigged, rig, points, slits, detail::LipLimits(), "blink"))
    for (std::size_t e = 0; e < 2; ++e)
      if (d.point == kEyes[e].upper) {
        out.opening_[e] = -d.displacement_m;
        out.meets_[e] = (e == 0 ? slits.left_eye : slits.right_eye).has_value();
      }
  if (!slits.mouth) return out;

  out.lips_ = std::make_shared<const detail::LipLimits>(rigged, rig, poser, *slits.mouth);
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
  if (lips_) lips_->keepApart(displacements);
}

void ShapeMotion::closeLids(std::span<const float> coefficients,
                            std::span<Vec3d> displacements) const noexcept {
  static const std::array<std::size_t, 2> kBlink = {shapeIndex("eyeBlinkLeft"),
                                                    shapeIndex("eyeBlinkRight")};
  for (std::size_t e = 0; e < 2; ++e) {
    const std::size_t u = controlPointIndex(kEyes[e].upper), l = controlPointIndex(kEyes[e].lower);
    const Vec3d& rest = opening_[e];
    const double height = axes_.up.dot(rest);
    if (!(height > 0)) continue;
    const double blink = double(coefficients[kBlink[e]]);
    // What the other shapes do, then the blink on top of it.
    Vec3d upper = displacements[u] - blink * table_[kBlink[e]][u];
    Vec3d lower = displacements[l] - blink * table_[kBlink[e]][l];
    const double rise = axes_.up.dot(lower) / height;
    lower += (heldBack(rise, kLowerLidFree, kLowerLidMost) - rise) * height * axes_.up;
    // Margins are known to meet where the rig's own blink brings them: shut, the lower one is
    // there.
    if (meets_[e]) lower *= 1 - blink;
    Vec3d gap = rest + upper - lower;
    const double crossed = -axes_.up.dot(gap);
    if (crossed > 0) {
      upper += crossed * axes_.up;
      gap += crossed * axes_.up;
    }
    const double share = meets_[e] ? 0.0 : kLowerLidShare;
    displacements[u] = upper - blink * (1 - share) * gap;
    displacements[l] = lower + blink * share * gap;
  }
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
