#include "derm/face/face_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "derm/mesh/measures.h"

namespace derm {
namespace {

std::size_t featureIndex(std::string_view number) {
  const std::span<const FaceFeature> all = faceFeatures();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].number == number) return i;
  return all.size();
}

std::string list(std::span<const std::string_view> numbers) {
  std::string out;
  for (const std::string_view number : numbers) {
    const FaceFeature* point = findFaceFeature(number);
    out += (out.empty() ? "" : ", ") + std::string(number) + " (" + std::string(point->name) + ")";
  }
  return out;
}

Vec3d normalised(const Vec3d& v, const Vec3d& otherwise) {
  const double length = v.norm();
  return length > 0 ? Vec3d(v / length) : otherwise;
}

Vec3d middle(const FacePoints& p, std::string_view a, std::string_view b) {
  return 0.5 * (p.at(a) + p.at(b));
}

/// From the subject's right to its left, all pairs together. `about` says which is which: labels
/// may be swapped.
Vec3d acrossFace(const FacePoints& p, const Vec3d& about) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kPairs = {
      {{"3.7", "3.12"}, {"3.11", "3.8"}, {"4.3", "4.4"}, {"8.3", "8.4"}}};
  Vec3d out = Vec3d::Zero();
  for (const auto& [left, right] : kPairs) {
    const Vec3d across = p.at(left) - p.at(right);
    out += across.dot(about) < 0 ? Vec3d(-across) : across;
  }
  return out;
}

/// What faceAxes() needs.
constexpr std::array<std::string_view, 10> kDirections = {"2.1", "3.7", "3.8", "3.11", "3.12",
                                                          "4.3", "4.4", "8.3", "8.4",  "9.3"};

/// The first of each is above the second on any face. Lids and lips may touch, and points that are
/// set by hand pass each other a little then.
constexpr std::array<std::array<std::string_view, 2>, 14> kAbove = {{{"9.3", "2.1"},
                                                                     {"8.1", "8.2"},
                                                                     {"8.5", "8.7"},
                                                                     {"8.6", "8.8"},
                                                                     {"3.1", "3.3"},
                                                                     {"3.2", "3.4"},
                                                                     {"4.3", "3.1"},
                                                                     {"4.4", "3.2"},
                                                                     {"4.1", "3.3"},
                                                                     {"4.2", "3.4"},
                                                                     {"4.5", "3.3"},
                                                                     {"4.6", "3.4"},
                                                                     {"9.3", "8.2"},
                                                                     {"8.2", "2.1"}}};
constexpr double kTouching = 0.02;  ///< of the way from the brows to the chin

/// Comes before the sides, as a nose in the chin's place would turn left and right, too.
Result<void> checkHeights(const FacePoints& points) {
  const Vec3d up = faceAxes(points).up;
  const double height = (middle(points, "4.3", "4.4") - points.at("2.1")).norm();
  std::string first;
  std::size_t more = 0;
  for (const auto& [above, below] : kAbove) {
    const Vec3d *a = points.find(above), *b = points.find(below);
    if (a == nullptr || b == nullptr || !(up.dot(*a - *b) < -kTouching * height)) continue;
    if (first.empty())
      first = list(std::array{above}) + " lies below " + list(std::array{below});
    else
      ++more;
  }
  if (first.empty()) return {};
  if (more > 0)
    first += ", and " + std::to_string(more) + (more == 1 ? " pair" : " pairs") + " more";
  return Error{ErrorCode::BadData, "upper and lower are swapped: " + first, {.element = "points"}};
}

/// Some point mirrored in one half of the face: pairs whose left one lies right of the right one.
Result<void> checkSides(const FacePoints& points) {
  const FaceAxes axes = faceAxes(points);
  std::vector<std::string_view> swapped;
  std::size_t pairs = 0;
  for (const std::string_view number : controlPointNumbers()) {
    const FaceFeature* point = findFaceFeature(number);
    if (point->side != FaceSide::Left || points.find(number) == nullptr ||
        points.find(point->mirror) == nullptr)
      continue;
    ++pairs;
    if (axes.left.dot(points.at(number) - points.at(point->mirror)) <= 0)
      swapped.insert(swapped.end(), {number, point->mirror});
  }
  if (swapped.empty()) return {};
  const bool all = swapped.size() == 2 * pairs;
  return Error{ErrorCode::BadData,
               all ? "left and right are swapped: the points of the subject's left side lie on its "
                     "right"
                   : "left and right are swapped for " + list(swapped),
               {.element = "points"}};
}

}  // namespace

void FacePoints::set(std::string_view number, const Vec3d& position_m) {
  const std::size_t i = featureIndex(number);
  DERM_REQUIRE(i < positions_.size());
  positions_[i] = position_m;
}

const Vec3d* FacePoints::find(std::string_view number) const {
  const std::size_t i = featureIndex(number);
  return i < positions_.size() && positions_[i] ? &*positions_[i] : nullptr;
}

const Vec3d& FacePoints::at(std::string_view number) const {
  const Vec3d* found = find(number);
  DERM_REQUIRE(found != nullptr);
  return *found;
}

std::vector<std::string_view> FacePoints::missing(std::span<const std::string_view> numbers) const {
  std::vector<std::string_view> out;
  for (const std::string_view number : numbers)
    if (find(number) == nullptr) out.push_back(number);
  return out;
}

Result<FacePoints> facePoints(std::span<const LabelledPoint> points, const TriMesh& mesh) {
  FacePoints out;
  const double near = 1e-6 * bounds(mesh.positions).diagonal();
  for (const LabelledPoint& p : points) {
    const FaceFeature* known = findFaceFeature(p.label);
    if (known == nullptr) continue;
    const Vec3d position = positionAt(p.point, mesh.triangles, mesh.positions).cast<double>();
    const Vec3d* before = out.find(known->number);
    if (before != nullptr && (*before - position).norm() > near)
      return Error{ErrorCode::BadData,
                   "is given twice, by number and by name, at different places",
                   {.element = "point " + std::string(known->number) + " (" +
                               std::string(known->name) + ")"}};
    out.set(known->number, position);
  }
  return out;
}

FaceAxes faceAxes(const FacePoints& p) {
  const Vec3d eyes = 0.5 * (middle(p, "3.7", "3.12") + middle(p, "3.11", "3.8"));
  const Vec3d mouth = middle(p, "8.3", "8.4");
  const Vec3d up = normalised(middle(p, "4.3", "4.4") - p.at("2.1"), Vec3d::UnitY());
  // The nose sticks out of the plane of eyes and mouth.
  const Vec3d out = p.at("9.3") - 0.5 * (eyes + mouth);
  const Vec3d forward = normalised(out - up.dot(out) * up, Vec3d::UnitZ());
  // Left is known well, as faces have two sides. Up is not: chins recede, foreheads slope. So a
  // face is taken to stand as upright as its sides allow, unless it is far from that.
  constexpr double kSameSide = 0.985;  // cos 10 deg
  constexpr double kUpright = 0.766;   // cos 40 deg
  const Vec3d left = normalised(acrossFace(p, up.cross(forward)), up.cross(forward));
  if (up.y() > kUpright && forward.z() > kUpright && left.x() > kSameSide) return {};
  const Vec3d upright = Vec3d::UnitY() - left.y() * left;
  if (upright.norm() > 0.1) {
    const Vec3d level = upright.normalized();
    if (up.dot(level) > kUpright && forward.dot(left.cross(level)) > kUpright)
      return {left, level, left.cross(level)};
  }
  return {up.cross(forward), up, forward};
}

Result<void> validateControlPoints(const FacePoints& points) {
  const std::vector<std::string_view> missing = points.missing(controlPointNumbers());
  if (!missing.empty())
    return Error{ErrorCode::BadData,
                 std::to_string(missing.size()) + " control point" +
                     (missing.size() == 1 ? " is" : "s are") + " missing: " + list(missing),
                 {.element = "points"}};
  for (const std::string_view a : controlPointNumbers())
    for (const std::string_view b : controlPointNumbers()) {
      if (a == b) break;
      if ((points.at(a) - points.at(b)).norm() > 0) continue;
      const std::array<std::string_view, 2> both = {b, a};
      return Error{ErrorCode::BadData, "lie at one place: " + list(both), {.element = "points"}};
    }
  return validateFaceOrder(points);
}

Result<void> validateFaceOrder(const FacePoints& points) {
  if (!points.missing(kDirections).empty()) return {};
  DERM_CHECK(checkHeights(points));
  return checkSides(points);
}

FaceUnits measureFaceUnits(const FacePoints& p) {
  const Vec3d up = faceAxes(p).up;
  const Vec3d left_eye = middle(p, "3.1", "3.3"), right_eye = middle(p, "3.2", "3.4");
  const Vec3d mouth = middle(p, "8.3", "8.4"), nose = p.at("9.3");
  FaceUnits units;
  units.eye_separation_m = (left_eye - right_eye).norm();
  units.eye_nose_m = up.dot(0.5 * (left_eye + right_eye) - nose);
  units.mouth_nose_m = up.dot(nose - mouth);
  units.mouth_width_m = (p.at("8.3") - p.at("8.4")).norm();
  units.lid_opening_m = up.dot(middle(p, "3.1", "3.2") - middle(p, "3.3", "3.4"));
  return units;
}

}  // namespace derm
