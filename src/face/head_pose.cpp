#include "head_pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/base/parallel.h"
#include "derm/math/decompositions.h"

/// The target's mirror planes give most of the rotation; similarity ICP from starts around them the
/// rest. Matching is by position, normal and mean curvature, so that a face is not taken for the
/// back of a head.
namespace derm::detail {
namespace {

using Tree8 = PointTree<8, float>;
using Tree6 = PointTree<6, float>;

constexpr double kNormalWeight = 0.4;
constexpr double kCurvatureWeight = 0.35;
constexpr double kSourceRadius = 1.7;  // face units
constexpr double kSourceVoxel = 0.19;  // face units
constexpr double kTargetVoxel = 0.11;  // rms radii
constexpr double kBackRadius = 1.25;   // face units: the part that the target must explain
constexpr double kMinPoseOpenness = 0.3;

struct PosePoints {
  std::vector<Vec3d> positions;
  std::vector<Vec3d> normals;
  std::vector<std::array<double, 2>> curvatures;
  std::size_t size() const { return positions.size(); }
};

/// `unit` = length of a face unit in the samples' own.
PosePoints posePoints(const Samples& samples, double radius, double voxel, double unit) {
  Samples scaled = samples;
  for (Vec3d& p : scaled.positions) p /= unit;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> inner;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (samples.openness[i] <= kMinPoseOpenness) continue;
    const double r = samples.positions[i].norm();
    if (r < 1.3 * radius) open.push_back(i);
    if (r < radius) inner.push_back(i);
  }
  const std::vector<std::uint32_t> kept = thinned(samples, inner, voxel);
  PosePoints out;
  out.curvatures.resize(kept.size());
  for (const std::uint32_t i : kept) {
    out.positions.push_back(samples.positions[i]);
    out.normals.push_back(samples.normals[i]);
  }
  std::size_t scale = 0;
  for (const double sigma : {0.20, 0.36}) {
    const QuadricFits fits(scaled, open, sigma);
    parallelFor(kept.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const LocalShape shape =
            fits.at(scaled.positions[kept[i]], scaled.normals[kept[i]], Vec3d::UnitY());
        out.curvatures[i][scale] = shape.lateral + shape.vertical;
      }
    });
    ++scale;
  }
  return out;
}

void squashCurvatures(PosePoints& points, const std::array<double, 2>& deviation) {
  for (std::array<double, 2>& h : points.curvatures)
    for (std::size_t k = 0; k < 2; ++k)
      h[k] = kCurvatureWeight * std::tanh(h[k] / (1.5 * deviation[k]));
}

std::array<double, 2> curvatureDeviations(const PosePoints& points) {
  std::array<double, 2> out{};
  for (std::size_t k = 0; k < 2; ++k) {
    double sum = 0;
    double squares = 0;
    for (const std::array<double, 2>& h : points.curvatures) {
      sum += h[k];
      squares += h[k] * h[k];
    }
    const double n = std::max<double>(1, static_cast<double>(points.size()));
    out[k] = std::sqrt(std::max(1e-12, squares / n - (sum / n) * (sum / n)));
  }
  return out;
}

Tree8::Point key8(const Vec3d& p, const Vec3d& n, const std::array<double, 2>& h) {
  const Vec3d m = kNormalWeight * n;
  return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]),
          static_cast<float>(m[0]), static_cast<float>(m[1]), static_cast<float>(m[2]),
          static_cast<float>(h[0]), static_cast<float>(h[1])};
}

Tree8 tree8(const PosePoints& points) {
  std::vector<Tree8::Point> keys(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    keys[i] = key8(points.positions[i], points.normals[i], points.curvatures[i]);
  return Tree8(std::move(keys));
}

Tree6::Point key6(const Vec3d& p, const Vec3d& n) {
  const Vec3d m = kNormalWeight * n;
  return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]),
          static_cast<float>(m[0]), static_cast<float>(m[1]), static_cast<float>(m[2])};
}

/// Mean of the smallest share of a list of distances.
double trimmedMean(std::vector<double>& values, double share) {
  if (values.empty()) return 1;
  const auto kept = std::max<std::size_t>(
      1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                   values.end());
  // Summed in sorted order, so that equal sets give equal sums.
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept));
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) sum += values[i];
  return sum / static_cast<double>(kept);
}

struct MirrorPlane {
  Vec3d normal = Vec3d::UnitX();
  double offset = 0;  ///< normal . p on the plane
  double score = 0;
};

class MirrorSearch {
 public:
  explicit MirrorSearch(const PosePoints& points) : points_(points) {
    std::vector<Tree6::Point> keys(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      keys[i] = key6(points.positions[i], points.normals[i]);
    tree_ = Tree6(std::move(keys));
    order_ = farthestPointOrder(points.positions, 600, 0);
  }

  std::vector<MirrorPlane> find() const {
    constexpr int kDirections = 80;
    const std::vector<Vec3d> all = fibonacciDirections(2 * kDirections);
    std::vector<MirrorPlane> planes(kDirections);
    parallelFor(planes.size(), 4, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        planes[i].normal = all[i];
        planes[i].score = step(planes[i], 300, false);
      }
    });
    std::sort(planes.begin(), planes.end(),
              [](const MirrorPlane& a, const MirrorPlane& b) { return a.score < b.score; });
    planes.resize(6);
    parallelFor(planes.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (int k = 0; k < 10; ++k) planes[i].score = step(planes[i], 600, k + 1 < 10);
    });
    std::sort(planes.begin(), planes.end(),
              [](const MirrorPlane& a, const MirrorPlane& b) { return a.score < b.score; });
    std::vector<MirrorPlane> kept;
    for (const MirrorPlane& plane : planes) {
      bool fresh = true;
      for (const MirrorPlane& other : kept)
        fresh = fresh && std::abs(plane.normal.dot(other.normal)) < 0.97;
      if (fresh) kept.push_back(plane);
      if (kept.size() == 2) break;
    }
    return kept;
  }

 private:
  /// Mean distance of reflected points to the surface; moves the plane to fit the pairs better.
  double step(MirrorPlane& plane, std::size_t count, bool move) const {
    struct Pair {
      double squared;
      std::uint32_t from, to;
    };
    count = std::min(count, order_.size());
    std::vector<Pair> pairs(count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t i = order_[k];
      const Vec3d& p = points_.positions[i];
      const Vec3d& n = points_.normals[i];
      const Vec3d mirrored = p - 2 * (plane.normal.dot(p) - plane.offset) * plane.normal;
      const Vec3d mirrored_normal = n - 2 * plane.normal.dot(n) * plane.normal;
      const Tree6::Near near = tree_.nearest(key6(mirrored, mirrored_normal));
      pairs[k] = {near.squared, i, near.index};
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return a.squared != b.squared ? a.squared < b.squared : a.from < b.from;
    });
    pairs.resize(std::max<std::size_t>(1, count * 3 / 4));
    double sum = 0;
    for (const Pair& pair : pairs) sum += std::sqrt(pair.squared);
    if (move) {
      Vec3d mean_a = Vec3d::Zero();
      Vec3d mean_b = Vec3d::Zero();
      for (const Pair& pair : pairs) {
        mean_a += points_.positions[pair.from];
        mean_b += points_.positions[pair.to];
      }
      mean_a /= static_cast<double>(pairs.size());
      mean_b /= static_cast<double>(pairs.size());
      Mat3d cross = Mat3d::Zero();
      for (const Pair& pair : pairs)
        cross += (points_.positions[pair.from] - mean_a) *
                 (points_.positions[pair.to] - mean_b).transpose();
      Vec3d normal = symmetricEigen3(cross + cross.transpose()).vectors.col(0);
      if (normal.dot(plane.normal) < 0) normal = -normal;
      plane.normal = normal.normalized();
      plane.offset = plane.normal.dot(0.5 * (mean_a + mean_b));
    }
    return sum / static_cast<double>(pairs.size());
  }

  const PosePoints& points_;
  Tree6 tree_;
  std::vector<std::uint32_t> order_;
};

class PoseSearch {
 public:
  PoseSearch(const PosePoints& source, const PosePoints& target)
      : source_(source), target_(target), source_tree_(tree8(source)), target_tree_(tree8(target)) {
    source_order_ = farthestPointOrder(source.positions, source.size(), 0);
    target_order_ =
        farthestPointOrder(target.positions, std::min<std::size_t>(target.size(), 700), 0);
  }

  /// Similarity ICP with the first `count` points of the farthest-point order.
  void refine(PoseCandidate& pose, std::size_t count, int iterations) const {
    struct Pair {
      double squared;
      std::uint32_t from, to;
    };
    count = std::min(count, source_order_.size());
    std::vector<Pair> pairs(count);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      pairs.resize(count);
      for (std::size_t k = 0; k < count; ++k) {
        const std::uint32_t i = source_order_[k];
        const Tree8::Near near = target_tree_.nearest(
            key8(pose.scale * (pose.rotation * source_.positions[i]) + pose.shift,
                 pose.rotation * source_.normals[i], source_.curvatures[i]));
        pairs[k] = {near.squared, i, near.index};
      }
      std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.squared != b.squared ? a.squared < b.squared : a.from < b.from;
      });
      pairs.resize(std::max<std::size_t>(4, count * 4 / 5));
      Vec3d mean_a = Vec3d::Zero();
      Vec3d mean_b = Vec3d::Zero();
      for (const Pair& pair : pairs) {
        mean_a += source_.positions[pair.from];
        mean_b += target_.positions[pair.to];
      }
      mean_a /= static_cast<double>(pairs.size());
      mean_b /= static_cast<double>(pairs.size());
      Mat3d cross = Mat3d::Zero();
      double spread = 0;
      for (const Pair& pair : pairs) {
        const Vec3d a = source_.positions[pair.from] - mean_a;
        cross += (target_.positions[pair.to] - mean_b) * a.transpose();
        spread += a.squaredNorm();
      }
      const RotationFit fit = bestRotation(cross);
      pose.rotation = fit.rotation;
      const double scale = spread > 0 ? fit.trace / spread : pose.scale;
      pose.scale = std::clamp(scale, pose.scale / 1.1, pose.scale * 1.1);
      pose.shift = mean_b - pose.scale * (pose.rotation * mean_a);
    }
  }

  double score(const PoseCandidate& pose, std::size_t count) const {
    std::vector<double> forward(std::min(count, source_order_.size()));
    for (std::size_t k = 0; k < forward.size(); ++k) {
      const std::uint32_t i = source_order_[k];
      const Tree8::Near near = target_tree_.nearest(
          key8(pose.scale * (pose.rotation * source_.positions[i]) + pose.shift,
               pose.rotation * source_.normals[i], source_.curvatures[i]));
      forward[k] = std::min(1.0, std::sqrt(static_cast<double>(near.squared)) / pose.scale);
    }
    std::vector<double> backward;
    for (const std::uint32_t i : target_order_) {
      if (backward.size() >= count) break;
      const Vec3d x = pose.rotation.transpose() * (target_.positions[i] - pose.shift) / pose.scale;
      if (x.squaredNorm() > kBackRadius * kBackRadius) continue;
      const Tree8::Near near = source_tree_.nearest(
          key8(x, pose.rotation.transpose() * target_.normals[i], target_.curvatures[i]));
      backward.push_back(std::min(1.0, std::sqrt(static_cast<double>(near.squared))));
    }
    if (backward.size() < 8) return 2;
    return trimmedMean(forward, 0.9) + trimmedMean(backward, 0.9);
  }

 private:
  const PosePoints& source_;
  const PosePoints& target_;
  Tree8 source_tree_;
  Tree8 target_tree_;
  std::vector<std::uint32_t> source_order_;
  std::vector<std::uint32_t> target_order_;
};

bool samePose(const PoseCandidate& a, const PoseCandidate& b) {
  return (a.rotation.transpose() * b.rotation).trace() >= 2.75 &&
         std::abs(std::log(a.scale / b.scale)) < 0.15 && (a.shift - b.shift).norm() < 0.3;
}

/// cos 50 degrees: trace of a rotation = 1 + 2 cos.
bool nearUpright(const PoseCandidate& pose, double cosine = 0.642) {
  return pose.rotation.trace() >= 1 + 2 * cosine;
}

}  // namespace

std::vector<PoseCandidate> searchPoses(const Samples& source, const Samples& target,
                                       const PoseSearchDesc& desc) {
  double squares = 0;
  double area = 0;
  Vec3d centre = Vec3d::Zero();
  for (std::size_t i = 0; i < source.size(); ++i) {
    centre += source.areas[i] * source.positions[i];
    area += source.areas[i];
  }
  centre /= area;
  for (std::size_t i = 0; i < source.size(); ++i)
    squares += source.areas[i] * (source.positions[i] - centre).squaredNorm();
  const double source_radius = std::sqrt(squares / area);  // face units per rms radius

  PosePoints from = posePoints(source, kSourceRadius, kSourceVoxel, 1);
  PosePoints to =
      posePoints(target, std::numeric_limits<double>::infinity(), kTargetVoxel, 1 / source_radius);
  if (from.size() < 30 || to.size() < 30) return {};
  const std::array<double, 2> deviation = curvatureDeviations(from);
  squashCurvatures(from, deviation);
  squashCurvatures(to, deviation);
  const PoseSearch search(from, to);

  std::vector<PoseCandidate> starts;
  const auto start = [&](const Mat3d& rotation, double factor, const MirrorPlane* plane) {
    PoseCandidate pose;
    pose.rotation = rotation;
    pose.scale = factor / source_radius;
    pose.shift = -pose.scale * (rotation * centre);
    if (plane) pose.shift += (plane->offset - plane->normal.dot(pose.shift)) * plane->normal;
    if (!desc.upright || nearUpright(pose)) starts.push_back(pose);
  };
  std::vector<MirrorPlane> planes = MirrorSearch(to).find();
  if (desc.upright) planes.push_back({Vec3d::UnitX(), 0, 0});
  for (const MirrorPlane& plane : planes)
    for (const double sign : {1.0, -1.0})
      for (int k = 0; k < 24; ++k) {
        const double angle = 2 * std::numbers::pi * k / 24;
        Vec3d e1, e2;
        const Vec3d left = sign * plane.normal;
        tangents(left, std::abs(left.y()) < 0.9 ? Vec3d::UnitY() : Vec3d::UnitZ(), e1, e2);
        Mat3d rotation;
        rotation.col(0) = left;
        rotation.col(1) = std::cos(angle) * e1 + std::sin(angle) * e2;
        rotation.col(2) = left.cross(Vec3d(rotation.col(1)));
        for (const double factor : {0.80, 1.05}) start(rotation, factor, &plane);
      }
  if (desc.thorough) {
    // Rotations spread over all of SO(3): gaze directions times turns about them.
    for (const Vec3d& gaze : fibonacciDirections(desc.upright ? 90 : 60))
      for (int k = 0; k < 10; ++k) {
        const double angle = 2 * std::numbers::pi * k / 10;
        Vec3d e1, e2;
        tangents(gaze, std::abs(gaze.y()) < 0.9 ? Vec3d::UnitY() : Vec3d::UnitX(), e1, e2);
        Mat3d rotation;
        rotation.col(2) = gaze;
        rotation.col(1) = std::cos(angle) * e2 + std::sin(angle) * e1;
        rotation.col(0) = Vec3d(rotation.col(1)).cross(gaze);
        for (const double factor : {0.65, 0.95, 1.3}) start(rotation, factor, nullptr);
      }
  }
  parallelFor(starts.size(), 2, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      search.refine(starts[i], 100, 3);
      starts[i].score = search.score(starts[i], 150);
    }
  });
  const auto better = [](const PoseCandidate& a, const PoseCandidate& b) {
    return a.score < b.score;
  };
  const auto distinct = [&](std::vector<PoseCandidate>& list, std::size_t count) {
    std::stable_sort(list.begin(), list.end(), better);
    std::vector<PoseCandidate> kept;
    for (const PoseCandidate& pose : list) {
      if (kept.size() == count) break;
      bool fresh = true;
      for (const PoseCandidate& other : kept) fresh = fresh && !samePose(pose, other);
      if (fresh) kept.push_back(pose);
    }
    list = std::move(kept);
  };
  distinct(starts, desc.thorough ? 16 : 9);
  parallelFor(starts.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      search.refine(starts[i], 10000, 18);
      starts[i].score = search.score(starts[i], 10000);
    }
  });
  // ICP may wander off from where the head is known to look.
  constexpr double kCos65 = 0.423;
  if (desc.upright)
    std::erase_if(starts, [&](const PoseCandidate& p) { return !nearUpright(p, kCos65); });
  distinct(starts, 3);
  while (starts.size() > 1 && starts.back().score > 1.3 * starts.front().score) starts.pop_back();
  return starts;
}

}  // namespace derm::detail
