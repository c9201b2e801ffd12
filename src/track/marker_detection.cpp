#include "derm/track/marker_detection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "derm/math/decompositions.h"

#include "track/group_motion.h"
#include "track/vision.h"

namespace derm {
namespace {

using detail::PlaneMap;
using detail::Point2;
namespace vision = detail::vision;

/// Pairs of points that may be one, nearest first; each of both lists once.
template <class Near>
std::vector<std::ptrdiff_t> pairNearest(std::size_t points, std::size_t dots, double reach,
                                        const Near& distance) {
  struct Pair {
    double distance;
    std::size_t point, dot;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t k = 0; k < dots; ++k)
      if (const double d = distance(i, k); d <= reach) pairs.push_back({d, i, k});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::vector<std::ptrdiff_t> dot_of(points, -1);
  std::vector<bool> used(dots, false);
  for (const Pair& p : pairs) {
    if (dot_of[p.point] >= 0 || used[p.dot]) continue;
    dot_of[p.point] = static_cast<std::ptrdiff_t>(p.dot);
    used[p.dot] = true;
  }
  return dot_of;
}

PlaneMap affineFit(std::span<const Point2> from, std::span<const Point2> to) {
  Point2 a = Point2::Zero(), b = Point2::Zero();
  for (std::size_t i = 0; i < from.size(); ++i) a += from[i], b += to[i];
  a /= static_cast<double>(from.size());
  b /= static_cast<double>(from.size());
  Eigen::Matrix2d ff = Eigen::Matrix2d::Zero(), tf = Eigen::Matrix2d::Zero();
  for (std::size_t i = 0; i < from.size(); ++i) {
    ff += (from[i] - a) * (from[i] - a).transpose();
    tf += (to[i] - b) * (from[i] - a).transpose();
  }
  ff += 1e-9 * ff.trace() * Eigen::Matrix2d::Identity();
  PlaneMap out;
  out.linear = solveSymmetric(ff, tf.transpose()).transpose();
  out.offset = b - out.linear * a;
  return out;
}

}  // namespace

Result<std::vector<Dot>> detectDots(const Grey8Image& picture, const DotDetectionDesc& desc) {
  const double largest =
      desc.max_radius_px > 0 ? desc.max_radius_px : std::max(5.0, picture.height / 40.0);
  const auto bad = [](std::string message, std::string element) {
    return Error{ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
  };
  if (!(desc.min_radius_px > 0 && desc.min_radius_px <= 1000))
    return bad("must be above 0 and at most 1000 pixels", "min_radius_px");
  if (!(largest >= desc.min_radius_px && largest <= 1000))
    return bad("must be at least min_radius_px and at most 1000 pixels", "max_radius_px");
  if (!(desc.min_contrast >= 1 && desc.min_contrast <= 255))
    return bad("must be 1 to 255 grey levels", "min_contrast");
  if (desc.max_dots < 1 || desc.max_dots > 65536) return bad("must be 1 to 65536", "max_dots");
  if (picture.empty()) return std::vector<Dot>();
  DERM_TRY(const vision::Functions* library, vision::functions());
  std::vector<vision::Dot> found(desc.max_dots);
  int count = 0;
  const vision::GreyView view{picture.pixels.data(), picture.width, picture.height, picture.width};
  if (library->dots(&view, desc.bright ? 1 : 0, static_cast<float>(desc.min_radius_px),
                    static_cast<float>(largest), static_cast<float>(desc.min_contrast),
                    found.data(), static_cast<int>(found.size()), &count))
    return Error{ErrorCode::BadData, std::string("OpenCV: ") + library->lastError(), {}};
  std::vector<Dot> out;
  for (int i = 0; i < count; ++i) {
    const vision::Dot& d = found[static_cast<std::size_t>(i)];
    out.push_back({Vec3d(static_cast<double>(d.x), static_cast<double>(d.y), 0),
                   static_cast<double>(d.radius), static_cast<double>(d.contrast),
                   static_cast<double>(d.roundness)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Dot& a, const Dot& b) { return a.position.y() < b.position.y(); });
  return out;
}

std::size_t snapToDots(std::span<Marker> markers, std::span<const Dot> dots, double reach_px) {
  const std::vector<std::ptrdiff_t> dot_of =
      pairNearest(markers.size(), dots.size(), reach_px, [&](std::size_t i, std::size_t k) {
        return (markers[i].position - dots[k].position).norm();
      });
  std::size_t count = 0;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    if (dot_of[i] < 0) continue;
    markers[i].position = dots[static_cast<std::size_t>(dot_of[i])].position;
    ++count;
  }
  return count;
}

std::vector<Marker> unnamedMarkers(std::span<const Dot> dots) {
  std::vector<Marker> out;
  for (std::size_t i = 0; i < dots.size(); ++i)
    out.push_back({"dot" + std::to_string(i + 1), dots[i].position});
  return out;
}

Result<std::vector<Marker>> nameDots(std::span<const Dot> dots, std::span<const Marker> face) {
  std::vector<Point2> points, spots;
  for (const Marker& m : face) points.emplace_back(m.position.x(), -m.position.y());
  for (const Dot& d : dots) spots.emplace_back(d.position.x(), d.position.y());
  const auto failed = [&](std::size_t met) {
    return Error{ErrorCode::BadData,
                 "the face's points do not fit the dots: " + std::to_string(spots.size()) +
                     " dots, and at most " + std::to_string(met) + " of " +
                     std::to_string(points.size()) + " points meet one",
                 {}};
  };
  if (points.size() < 4 || spots.size() < 4) return failed(0);

  // Pairs of points far apart say most of how the face lies in the picture.
  struct Base {
    std::size_t a, b;
    double length;
  };
  std::vector<Base> bases;
  double nearest_sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double nearest = 1e300;
    for (std::size_t j = 0; j < points.size(); ++j) {
      const double d = (points[i] - points[j]).norm();
      if (j != i) nearest = std::min(nearest, d);
      if (j > i) bases.push_back({i, j, d});
    }
    nearest_sum += nearest;
  }
  const double spacing = nearest_sum / static_cast<double>(points.size());
  std::stable_sort(bases.begin(), bases.end(),
                   [](const Base& p, const Base& q) { return p.length > q.length; });
  bases.resize(std::min<std::size_t>(bases.size(), 12));

  // Turned by less than 40 degrees, all within the picture of the dots.
  PlaneMap best;
  double best_score = -1;
  Point2 low = spots[0], high = spots[0];
  for (const Point2& s : spots) low = low.cwiseMin(s), high = high.cwiseMax(s);
  const double extent = (high - low).norm();
  for (const Base& base : bases) {
    const Point2 along = points[base.b] - points[base.a];
    if (!(base.length > 0)) continue;
    for (std::size_t k = 0; k < spots.size(); ++k)
      for (std::size_t l = 0; l < spots.size(); ++l) {
        const Point2 seen = spots[l] - spots[k];
        if (k == l || seen.norm() < 0.15 * extent) continue;
        const double dot = along.dot(seen), cross = along.x() * seen.y() - along.y() * seen.x();
        if (!(dot > std::abs(cross) * 1.19)) continue;  // 1 / tan 40 degrees
        const double per = 1.0 / along.squaredNorm();
        PlaneMap map;
        map.linear << dot * per, -cross * per, cross * per, dot * per;
        map.offset = spots[k] - map.linear * points[base.a];
        const double reach = 0.35 * spacing * std::sqrt(map.linear.determinant());
        double score = 0;
        for (const Point2& p : points) {
          const Point2 at = map(p);
          double squared = 1e300;
          for (const Point2& s : spots) squared = std::min(squared, (s - at).squaredNorm());
          score += 1 - std::min(reach, std::sqrt(squared)) / reach;
        }
        // A face shrunk onto a crowd of dots meets many; those of the right size leave few over.
        score -= 0.25 * std::abs(1 - std::sqrt(map.linear.determinant()) * base.length / extent);
        if (score > best_score) best_score = score, best = map;
      }
  }
  if (best_score < 0) return failed(0);

  std::vector<std::ptrdiff_t> dot_of;
  std::size_t met = 0;
  for (int round = 0; round < 6; ++round) {
    const double reach =
        (round < 3 ? 0.6 : 0.45) * spacing * std::sqrt(std::max(1e-12, best.linear.determinant()));
    dot_of = pairNearest(points.size(), spots.size(), reach, [&](std::size_t i, std::size_t k) {
      return (best(points[i]) - spots[k]).norm();
    });
    std::vector<Point2> from, to;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (dot_of[i] < 0) continue;
      from.push_back(points[i]);
      to.push_back(spots[static_cast<std::size_t>(dot_of[i])]);
    }
    met = from.size();
    if (met < 4 || 2 * met < points.size()) return failed(met);
    best = affineFit(from, to);
  }
  std::vector<Marker> out;
  for (std::size_t i = 0; i < face.size(); ++i)
    if (dot_of[i] >= 0)
      out.push_back({face[i].label, dots[static_cast<std::size_t>(dot_of[i])].position});
  return out;
}

}  // namespace derm
