#include "derm/face/face_frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/LU>

#include "derm/face/face_features.h"
#include "derm/face/head_registration.h"

namespace derm {
namespace {

/// Which points of a scheme are each other's mirror image, and which are above and below.
struct Scheme {
  std::vector<std::pair<std::string, std::string>> sides;  ///< subject's left, right
  std::vector<std::string> high;
  std::vector<std::string> low;
};

Scheme mpeg4() {
  Scheme scheme;
  for (const FaceFeature& f : faceFeatures()) {
    const std::string number(f.number);
    if (f.side == FaceSide::Left) scheme.sides.push_back({number, std::string(f.mirror)});
    if (number.starts_with("3.") || number.starts_with("4.")) scheme.high.push_back(number);
    if (number.starts_with("8.") || number.starts_with("2.")) scheme.low.push_back(number);
  }
  return scheme;
}

/// Multi-PIE, counted from `first`.
Scheme multiPie(int first) {
  const auto name = [&](int i) { return std::to_string(i + first); };
  Scheme scheme;
  const auto mirror = [&](int left, int right) {
    scheme.sides.push_back({name(left), name(right)});
  };
  for (int i = 0; i < 8; ++i) mirror(16 - i, i);
  for (int i = 17; i < 22; ++i) mirror(43 - i, i);
  for (int i = 36; i < 40; ++i) mirror(81 - i, i);
  mirror(46, 41);
  mirror(47, 40);
  mirror(35, 31);
  mirror(34, 32);
  mirror(54, 48);
  mirror(53, 49);
  mirror(52, 50);
  mirror(55, 59);
  mirror(56, 58);
  mirror(64, 60);
  mirror(63, 61);
  mirror(65, 67);
  for (int i = 17; i < 27; ++i) scheme.high.push_back(name(i));
  for (int i = 36; i < 48; ++i) scheme.high.push_back(name(i));
  for (int i = 48; i < 68; ++i) scheme.low.push_back(name(i));
  return scheme;
}

/// The axes that a scheme's points show, where it has enough of them.
std::optional<Mat3d> axesBy(const Scheme& scheme, const std::map<std::string, Vec3d>& at,
                            double unit) {
  Vec3d left = Vec3d::Zero();
  int pairs = 0;
  for (const auto& [l, r] : scheme.sides) {
    const auto a = at.find(l);
    const auto b = at.find(r);
    if (a == at.end() || b == at.end()) continue;
    left += a->second - b->second;
    ++pairs;
  }
  const auto mean = [&](const std::vector<std::string>& labels, int& count) {
    Vec3d sum = Vec3d::Zero();
    count = 0;
    for (const std::string& label : labels)
      if (const auto found = at.find(label); found != at.end()) {
        sum += found->second;
        ++count;
      }
    return count > 0 ? Vec3d(sum / count) : sum;
  };
  int high_count = 0;
  int low_count = 0;
  Vec3d up = mean(scheme.high, high_count) - mean(scheme.low, low_count);
  if (pairs < 2 || high_count < 2 || low_count < 1 || left.norm() < 0.1 * unit * pairs) return {};
  left.normalize();
  up -= up.dot(left) * left;
  if (up.norm() < 0.1 * unit) return {};
  up.normalize();
  Mat3d axes;
  axes.col(0) = left;
  axes.col(1) = up;
  axes.col(2) = left.cross(up);
  return axes;
}

}  // namespace

Result<FaceFrame> faceFrame(const TriMesh& head, std::span<const LabelledPoint> points) {
  std::vector<std::pair<std::string, Vec3d>> at;
  for (const LabelledPoint& p : points) {
    DERM_CHECK(validate(p.point, head.triangles.size(), "point \"" + p.label + "\""));
    at.emplace_back(p.label, positionAt(p.point, head.triangles, head.positions).cast<double>());
  }
  return faceFrame(at);
}

Result<FaceFrame> faceFrame(std::span<const std::pair<std::string, Vec3d>> points) {
  FaceFrame frame;
  std::map<std::string, Vec3d> at;
  if (points.size() < 4)
    return Error{ErrorCode::BadArgument,
                 std::to_string(points.size()) +
                     " labelled points do not say where the face is; at least 4 are needed",
                 {.element = "points"}};
  for (const auto& [label, position] : points) {
    const FaceFeature* feature = findFaceFeature(label);
    at.emplace(feature != nullptr ? std::string(feature->number) : label, position);
    frame.origin += position;
  }
  frame.origin /= static_cast<double>(points.size());
  double squares = 0;
  for (const auto& [label, position] : points) squares += (position - frame.origin).squaredNorm();
  frame.unit = std::sqrt(squares / static_cast<double>(points.size()));
  if (!(frame.unit > 0) || !std::isfinite(frame.unit))
    return Error{
        ErrorCode::BadArgument, "all labelled points lie in one position", {.element = "points"}};
  for (const Scheme& scheme : {mpeg4(), multiPie(at.count("0") ? 0 : 1)})
    if (const std::optional<Mat3d> axes = axesBy(scheme, at, frame.unit)) {
      constexpr double kCos20 = 0.9397;
      if (axes->trace() < 1 + 2 * kCos20) frame.axes = *axes;
      break;
    }
  return frame;
}

HeadMap::HeadMap(const FaceFrame& source, const FaceFrame& target, std::vector<Vec3d> centres,
                 std::vector<Vec3d> weights, const Affine3d& affine)
    : source_(source),
      target_(target),
      centres_(std::move(centres)),
      weights_(std::move(weights)),
      affine_(affine) {
  DERM_REQUIRE(centres_.size() == weights_.size());
}

Vec3d HeadMap::warp(const Vec3d& x) const {
  Vec3d y = affine_ * x;
  for (std::size_t k = 0; k < centres_.size(); ++k) y += (x - centres_[k]).norm() * weights_[k];
  return y;
}

Vec3d HeadMap::operator()(const Vec3d& source) const {
  return target_.fromFace(warp(source_.toFace(source)));
}

Vec3d HeadMap::inverse(const Vec3d& target) const {
  constexpr double kClose = 1e-16;  // squared, of a face unit
  const Vec3d y = target_.toFace(target);
  struct Local {
    Vec3d off;  ///< from y
    Mat3d slope;
  };
  const auto at = [&](const Vec3d& x) {
    Local out{affine_ * x - y, affine_.linear()};
    for (std::size_t k = 0; k < centres_.size(); ++k) {
      const Vec3d d = x - centres_[k];
      const double r = d.norm();
      out.off += r * weights_[k];
      if (r > 1e-9) out.slope += weights_[k] * (d / r).transpose();
    }
    return out;
  };
  Vec3d x = affine_.linear().partialPivLu().solve(y - affine_.translation());
  Local here = at(x);
  for (int iteration = 0; iteration < 12 && here.off.squaredNorm() > kClose; ++iteration) {
    const Vec3d step = here.slope.partialPivLu().solve(here.off);
    if (!step.allFinite()) break;
    // The kernel has a kink at each centre: halve steps that overshoot one.
    double share = 1;
    Local next = at(x - step);
    while (next.off.squaredNorm() >= here.off.squaredNorm() && share > 0.1) {
      share /= 2;
      next = at(x - share * step);
    }
    if (next.off.squaredNorm() >= here.off.squaredNorm()) break;
    x -= share * step;
    here = next;
  }
  return source_.fromFace(x);
}

Mat3d HeadMap::slope(const Vec3d& source) const {
  const Vec3d x = source_.toFace(source);
  Mat3d slope = affine_.linear();
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    const Vec3d d = x - centres_[k];
    const double r = d.norm();
    if (r > 1e-9) slope += weights_[k] * (d / r).transpose();
  }
  return target_.unit / source_.unit * target_.axes * slope * source_.axes.transpose();
}

Affine3d HeadMap::pose() const {
  const double scale = target_.unit / source_.unit;
  Affine3d out;
  out.linear() = scale * target_.axes * source_.axes.transpose();
  out.translation() = target_.origin - out.linear() * source_.origin;
  return out;
}

}  // namespace derm
