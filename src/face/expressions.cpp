#include "derm/face/expressions.h"

#include <algorithm>
#include <array>
#include <string>

#include "derm/base/nearest_name.h"

namespace derm {
namespace {

/// What a row's numbers are multiplied by.
enum class Unit { EyeNose, MouthNose, MouthWidth, LidOpening };
constexpr Unit kEns = Unit::EyeNose;
constexpr Unit kMns = Unit::MouthNose;
constexpr Unit kMw = Unit::MouthWidth;
constexpr Unit kIr = Unit::LidOpening;

/// One displacement of a point of the left side or the middle; right ones are mirrored. Those of
/// one point add up.
struct Shift {
  std::string_view expression;
  std::string_view point;
  Unit unit;
  double outward, up, forward;
};

constexpr std::array kShifts = {
    Shift{"joy", "8.3", kMw, .16, 0, 0},
    Shift{"joy", "8.3", kMns, 0, .35, 0},
    Shift{"joy", "8.5", kMw, .06, 0, 0},
    Shift{"joy", "8.5", kMns, 0, .10, 0},
    Shift{"joy", "8.7", kMw, .06, 0, 0},
    Shift{"joy", "8.7", kMns, 0, -.05, 0},
    Shift{"joy", "8.2", kMns, 0, -.10, 0},
    Shift{"joy", "8.1", kMns, 0, .05, 0},
    Shift{"joy", "5.1", kEns, .04, .16, .08},
    Shift{"joy", "3.3", kIr, 0, .25, 0},
    Shift{"joy", "3.1", kIr, 0, -.10, 0},

    Shift{"sadness", "4.1", kEns, -.03, .20, 0},
    Shift{"sadness", "4.3", kEns, 0, .02, 0},
    Shift{"sadness", "4.5", kEns, 0, -.10, 0},
    Shift{"sadness", "8.3", kMns, 0, -.25, 0},
    Shift{"sadness", "8.7", kMns, 0, -.10, 0},
    Shift{"sadness", "3.1", kIr, 0, -.30, 0},
    Shift{"sadness", "2.1", kMns, 0, .06, 0},

    Shift{"disgust", "4.1", kEns, -.05, -.15, 0},
    Shift{"disgust", "4.3", kEns, 0, -.12, 0},
    Shift{"disgust", "9.1", kEns, .03, .14, 0},
    Shift{"disgust", "9.3", kEns, 0, .05, 0},
    Shift{"disgust", "8.1", kMns, 0, .22, .05},
    Shift{"disgust", "8.5", kMns, 0, .25, 0},
    Shift{"disgust", "8.3", kMns, 0, -.05, 0},
    Shift{"disgust", "5.1", kEns, 0, .14, .05},
    Shift{"disgust", "3.3", kIr, 0, .30, 0},
    Shift{"disgust", "3.1", kIr, 0, -.20, 0},

    Shift{"surprise", "4.1", kEns, 0, .35, 0},
    Shift{"surprise", "4.3", kEns, 0, .42, 0},
    Shift{"surprise", "4.5", kEns, 0, .33, 0},
    Shift{"surprise", "3.1", kIr, 0, .35, 0},
    Shift{"surprise", "3.3", kIr, 0, -.10, 0},
    Shift{"surprise", "2.1", kMns, 0, -.95, -.10},
    Shift{"surprise", "8.2", kMns, 0, -.80, -.05},
    Shift{"surprise", "8.7", kMns, 0, -.65, 0},
    Shift{"surprise", "8.3", kMw, -.06, 0, 0},
    Shift{"surprise", "8.3", kMns, 0, -.30, 0},
    Shift{"surprise", "8.1", kMns, 0, .06, 0},

    Shift{"fear", "4.1", kEns, -.06, .32, 0},
    Shift{"fear", "4.3", kEns, -.02, .22, 0},
    Shift{"fear", "4.5", kEns, 0, .10, 0},
    Shift{"fear", "3.1", kIr, 0, .30, 0},
    Shift{"fear", "3.3", kIr, 0, .05, 0},
    Shift{"fear", "8.3", kMw, .08, 0, 0},
    Shift{"fear", "8.3", kMns, 0, -.12, 0},
    Shift{"fear", "8.2", kMns, 0, -.25, 0},
    Shift{"fear", "8.7", kMns, 0, -.22, 0},
    Shift{"fear", "2.1", kMns, 0, -.25, 0},

    Shift{"anger", "4.1", kEns, -.09, -.24, .02},
    Shift{"anger", "4.3", kEns, -.04, -.18, 0},
    Shift{"anger", "4.5", kEns, 0, .04, 0},
    Shift{"anger", "3.1", kIr, 0, -.12, 0},
    Shift{"anger", "3.3", kIr, 0, .15, 0},
    Shift{"anger", "8.1", kMns, 0, -.10, 0},
    Shift{"anger", "8.2", kMns, 0, .12, 0},
    Shift{"anger", "8.3", kMw, -.05, 0, 0},
    Shift{"anger", "9.1", kEns, .05, .05, 0},

    // The chin swings down and back about the ears, and the lower lip goes with it; the corners are
    // held by both jaws.
    Shift{"jawOpen", "2.1", kMns, 0, -.90, -.25},
    Shift{"jawOpen", "8.2", kMns, 0, -.80, -.18},
    Shift{"jawOpen", "8.7", kMns, 0, -.68, -.14},
    Shift{"jawOpen", "8.3", kMns, 0, -.30, -.06},
    Shift{"jawOpen", "8.3", kMw, -.03, 0, 0},
    Shift{"jawOpen", "8.5", kMns, 0, -.07, -.01},
};

constexpr std::array<std::string_view, 8> kExpressionNames = {
    "joy", "sadness", "disgust", "surprise", "fear", "anger", "blink", "jawOpen"};

double lengthOf(Unit unit, const FaceUnits& units) {
  switch (unit) {
    case Unit::EyeNose:
      return units.eye_nose_m;
    case Unit::MouthNose:
      return units.mouth_nose_m;
    case Unit::MouthWidth:
      return units.mouth_width_m;
    case Unit::LidOpening:
      break;
  }
  return units.lid_opening_m;
}

void add(std::vector<PointDisplacement>& out, std::string_view point, const Vec3d& displacement_m) {
  const auto same = std::find_if(out.begin(), out.end(),
                                 [&](const PointDisplacement& d) { return d.point == point; });
  if (same == out.end())
    out.push_back({point, displacement_m});
  else
    same->displacement_m += displacement_m;
}

}  // namespace

std::span<const std::string_view> expressionNames() { return kExpressionNames; }

Result<std::vector<PointDisplacement>> expressionDisplacements(std::string_view name,
                                                               const FacePoints& points,
                                                               double strength) {
  if (std::find(kExpressionNames.begin(), kExpressionNames.end(), name) == kExpressionNames.end()) {
    const std::vector<std::string> names(kExpressionNames.begin(), kExpressionNames.end());
    return Error{ErrorCode::BadArgument,
                 "no expression is called \"" + std::string(name) + "\"" + didYouMean(name, names),
                 {}};
  }
  DERM_CHECK(validateControlPoints(points));
  const FaceAxes axes = faceAxes(points);
  const FaceUnits units = measureFaceUnits(points);
  std::vector<PointDisplacement> out;
  if (name == "blink") {
    add(out, "3.1", strength * (points.at("3.3") - points.at("3.1")));
    add(out, "3.2", strength * (points.at("3.4") - points.at("3.2")));
  }
  for (const Shift& row : kShifts) {
    if (row.expression != name) continue;
    const FaceFeature* point = findFaceFeature(row.point);
    const double length = strength * lengthOf(row.unit, units);
    const Vec3d straight = length * (row.up * axes.up + row.forward * axes.forward);
    const Vec3d outward = length * row.outward * axes.left;
    add(out, point->number, straight + outward);
    if (point->side != FaceSide::Middle) add(out, point->mirror, straight - outward);
  }
  return out;
}

}  // namespace derm
