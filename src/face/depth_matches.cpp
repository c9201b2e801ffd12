#include "face/depth_matches.h"

#include <algorithm>
#include <cmath>

#include "face/watershed.h"

namespace derm::detail {
namespace {

/// Of the Laplacian whose likeness is the confidence, and half the side of the patch [px of 512].
constexpr int kConfidenceStep = 8, kConfidenceReach = 20;

}  // namespace

Result<void> checkHeads(const TriMesh& source, std::span<const LabelledPoint> source_points,
                        const TriMesh& target) {
  DERM_CHECK(validate(source, "source"));
  DERM_CHECK(validate(target, "target"));
  for (const LabelledPoint& p : source_points)
    DERM_CHECK(validate(p.point, source.triangles.size(), "point " + p.label + " of the source"));
  return {};
}

std::vector<LandmarkMatch> matchesUnder(const TriMesh& source,
                                        std::span<const LabelledPoint> source_points,
                                        const DepthMap& from, const TriMesh& target,
                                        const DepthMap& to,
                                        const std::function<Pixel(const Pixel&)>& map) {
  const int unit = std::max(from.size() / 512, 1);
  const Map source_bend = laplacian(from.depth, kConfidenceStep * unit);
  const Map target_bend = laplacian(to.depth, kConfidenceStep * unit);
  const TriangleTree triangles(std::span<const Vec3f>(target.positions), target.triangles);
  std::vector<LandmarkMatch> out;
  out.reserve(source_points.size());
  for (const LabelledPoint& point : source_points) {
    const Pixel at =
        from.pixelOf(positionAt(point.point, source.triangles, source.positions).cast<double>());
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0, count = 0;
    const int step = 2 * unit;
    for (int y = -kConfidenceReach * unit; y <= kConfidenceReach * unit; y += step)
      for (int x = -kConfidenceReach * unit; x <= kConfidenceReach * unit; x += step) {
        const Pixel p = at + Pixel(x, y), q = map(p);
        if (!from.contains(p) || !to.contains(q)) continue;
        const double s = source_bend.sample(p), t = target_bend.sample(q);
        a += s;
        b += t;
        aa += s * s;
        bb += t * t;
        ab += s * t;
        ++count;
      }
    const double spread = (aa * count - a * a) * (bb * count - b * b);
    const double likeness = spread > 0 ? (ab * count - a * b) / std::sqrt(spread) : 0;
    out.push_back({point.label, pointUnder(map(at), to, triangles),
                   static_cast<float>(std::clamp(likeness, 0.0, 1.0))});
  }
  return out;
}

}  // namespace derm::detail
