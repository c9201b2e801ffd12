#include "derm/track/head_motion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Geometry>

#include "track/group_motion.h"
#include "track/vision.h"

namespace derm {
namespace {

using detail::Point2;
namespace vision = detail::vision;

constexpr double kGuessedFocal =
    1.1;  ///< of the longer side; webcams and telephones have 0.8 - 1.3
constexpr std::size_t kFocalFrames = 24;

/// Where a face is before the camera (x right, y down, z away).
struct Pose {
  std::array<double, 6> numbers{};  ///< rotation vector, translation
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();

  void unpack() {
    const Eigen::Vector3d r(numbers[0], numbers[1], numbers[2]);
    const double angle = r.norm();
    rotation = angle > 0 ? Eigen::AngleAxisd(angle, r / angle).toRotationMatrix()
                         : Eigen::Matrix3d(Eigen::Matrix3d::Identity());
    translation = Eigen::Vector3d(numbers[3], numbers[4], numbers[5]);
  }
};

struct Pinhole {
  double focal = 0;
  Point2 centre;

  Point2 project(const Pose& pose, const Eigen::Vector3d& p) const {
    const Eigen::Vector3d c = pose.rotation * p + pose.translation;
    return centre + focal * c.head<2>() / c.z();
  }
  /// Where the ray of a pixel meets the plane z = depth of the face's own frame; nothing where it
  /// runs beside it.
  std::optional<Eigen::Vector3d> onPlane(const Pose& pose, const Point2& pixel,
                                         double depth) const {
    const Eigen::Vector3d ray((pixel.x() - centre.x()) / focal, (pixel.y() - centre.y()) / focal,
                              1.0);
    const Eigen::Vector3d eye = -(pose.rotation.transpose() * pose.translation);
    const Eigen::Vector3d along = pose.rotation.transpose() * ray;
    if (std::abs(along.z()) < 1e-6 * along.norm()) return std::nullopt;
    const Eigen::Vector3d hit = eye + (depth - eye.z()) / along.z() * along;
    return Eigen::Vector3d(hit.x(), hit.y(), depth);
  }
};

class PoseSolver {
 public:
  PoseSolver(const vision::Functions* library, const Pinhole& camera)
      : library_(library), camera_(camera) {}

  /// Leaves a point out that contradicts the rest. False where there are too few points or no pose.
  bool solve(std::span<const Eigen::Vector3d> points, std::span<const Point2> seen, bool guess,
             Pose& pose, double& squares) {
    points_.assign(points.begin(), points.end());
    seen_.assign(seen.begin(), seen.end());
    for (int dropped = 0;; ++dropped) {
      if (points_.size() < 4) return false;
      Pose next = pose;
      if (library_->pose(points_[0].data(), seen_[0].data(), static_cast<int>(points_.size()),
                         camera_.focal, camera_.centre.x(), camera_.centre.y(), guess ? 1 : 0,
                         next.numbers.data()))
        return false;
      for (const double value : next.numbers)
        if (!std::isfinite(value)) return false;
      next.unpack();
      std::vector<double> errors;
      for (std::size_t i = 0; i < points_.size(); ++i)
        errors.push_back((camera_.project(next, points_[i]) - seen_[i]).norm());
      std::vector<double> sorted = errors;
      std::sort(sorted.begin(), sorted.end());
      const double median = sorted[sorted.size() / 2];
      if (dropped < 2 && points_.size() > 5 && sorted.back() > std::max(2.0, 4 * median)) {
        const auto worst = std::max_element(errors.begin(), errors.end()) - errors.begin();
        points_.erase(points_.begin() + worst);
        seen_.erase(seen_.begin() + worst);
        continue;
      }
      squares = 0;
      for (const double e : errors) squares += e * e;
      squares /= static_cast<double>(errors.size());
      pose = next;
      return true;
    }
  }

 private:
  const vision::Functions* library_;
  Pinhole camera_;
  std::vector<Eigen::Vector3d> points_;
  std::vector<Point2> seen_;
};

Point2 flat(const Vec3d& p) { return Point2(p.x(), p.y()); }

bool seenIn(const PointTracks& tracks, std::size_t frame, std::size_t label) {
  return tracks.confidence.empty() || tracks.confidence[frame * tracks.labels.size() + label] > 0;
}

struct FaceInSpace {
  std::vector<std::optional<Eigen::Vector3d>> points;  ///< per label
  std::vector<std::size_t> known;                      ///< labels with a point
  std::vector<std::size_t> stable;                     ///< of those
};

/// How well a focal length explains some frames: mean square distance, of all points in the first
/// and of the stable ones in the others.
std::optional<double> misfit(const vision::Functions* library, const PointTracks& tracks,
                             const FaceInSpace& face, const Pinhole& camera) {
  PoseSolver solver(library, camera);
  std::vector<Eigen::Vector3d> points;
  std::vector<Point2> seen;
  const std::size_t count = std::min(kFocalFrames, tracks.frames());
  Pose pose;
  double sum = 0, weight = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t f = count > 1 ? k * (tracks.frames() - 1) / (count - 1) : 0;
    points.clear();
    seen.clear();
    for (const std::size_t l : k == 0 ? face.known : face.stable) {
      if (!seenIn(tracks, f, l)) continue;
      points.push_back(*face.points[l]);
      seen.push_back(flat(tracks.frame(f)[l]));
    }
    double squares = 0;
    if (!solver.solve(points, seen, k > 0, pose, squares)) {
      if (k == 0) return std::nullopt;
      continue;
    }
    sum += squares * static_cast<double>(points.size());
    weight += static_cast<double>(points.size());
  }
  return sum / weight;
}

/// Of the focal lengths from half to four times the picture's longer side the one that fits best,
/// held a little to the guess: of a head that does not turn, all fit alike.
double refinedFocal(const vision::Functions* library, const PointTracks& tracks,
                    const FaceInSpace& face, Pinhole camera, double longer_side) {
  constexpr int kSteps = 17;
  const double guess = kGuessedFocal * longer_side;
  std::array<double, kSteps> costs{};
  const double low = std::log(0.5 * longer_side), step = std::log(8.0) / (kSteps - 1);
  double least = 1e300;
  for (int i = 0; i < kSteps; ++i) {
    camera.focal = std::exp(low + step * i);
    costs[static_cast<std::size_t>(i)] = misfit(library, tracks, face, camera).value_or(1e30);
    least = std::min(least, costs[static_cast<std::size_t>(i)]);
  }
  // In units of what is left at the best, at least a fifth of a pixel: a fit twice as bad weighs as
  // much as a focal length that is wrong by a fifth.
  const double unit = std::max(0.04, least);
  int best = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double off = (low + step * i - std::log(guess)) / 0.2;
    double& cost = costs[static_cast<std::size_t>(i)];
    cost = cost / unit + 0.1 * off * off;
    if (cost < costs[static_cast<std::size_t>(best)]) best = i;
  }
  double at = best;
  if (best > 0 && best + 1 < kSteps) {
    const double a = costs[static_cast<std::size_t>(best - 1)];
    const double b = costs[static_cast<std::size_t>(best)];
    const double c = costs[static_cast<std::size_t>(best + 1)];
    if (a + c - 2 * b > 0) at += 0.5 * (a - c) / (a + c - 2 * b);
  }
  return std::exp(low + step * at);
}

/// Depths of markers that the face does not have, from those around them in the first frame.
void fillDepths(const PointTracks& tracks, const FaceInSpace& face, std::vector<double>& depth) {
  for (std::size_t l = 0; l < depth.size(); ++l) {
    if (face.points[l]) {
      depth[l] = face.points[l]->z();
      continue;
    }
    double sum = 0, weight = 0;
    for (const std::size_t k : face.known) {
      const double d = (flat(tracks.positions[k]) - flat(tracks.positions[l])).squaredNorm();
      const double w = 1.0 / (1.0 + d * d);
      sum += w * face.points[k]->z();
      weight += w;
    }
    depth[l] = sum / weight;
  }
}

Result<bool> byPnp(const PointTracks& tracks, const FaceInSpace& given, const HeadMotionDesc& desc,
                   HeadMotion& out) {
  DERM_TRY(const vision::Functions* library, vision::functions());
  const std::size_t labels = tracks.labels.size();
  const double longer = std::max(desc.width_px, desc.height_px);
  Pinhole camera{desc.focal_px > 0 ? desc.focal_px : kGuessedFocal * longer,
                 Point2(0.5 * (desc.width_px - 1), 0.5 * (desc.height_px - 1))};
  out.focal_guessed = !(desc.focal_px > 0);
  if (out.focal_guessed) camera.focal = refinedFocal(library, tracks, given, camera, longer);
  out.focal_px = camera.focal;

  FaceInSpace face = given;
  PoseSolver solver(library, camera);
  std::vector<Eigen::Vector3d> points;
  std::vector<Point2> seen;
  for (const std::size_t l : face.known) {
    points.push_back(*face.points[l]);
    seen.push_back(flat(tracks.positions[l]));
  }
  Pose rest;
  double squares = 0;
  if (!solver.solve(points, seen, false, rest, squares)) return false;
  std::vector<double> depth(labels, 0.0);
  fillDepths(tracks, face, depth);
  // The face is where the first frame has it, whoever's it was.
  for (const std::size_t l : face.known)
    if (const auto hit = camera.onPlane(rest, flat(tracks.positions[l]), depth[l]))
      face.points[l] = *hit;

  out.method = HeadMethod::Pnp;
  Pose pose = rest;
  double sum = 0;
  std::size_t solved = 0;
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    points.clear();
    seen.clear();
    for (const std::size_t l : face.stable) {
      if (!seenIn(tracks, f, l)) continue;
      points.push_back(*face.points[l]);
      seen.push_back(flat(tracks.frame(f)[l]));
    }
    if (f == 0) {
      pose = rest;
    } else if (solver.solve(points, seen, true, pose, squares)) {
      sum += squares;
      ++solved;
    } else {
      ++out.held_frames;
    }
    for (std::size_t l = 0; l < labels; ++l) {
      const Vec3d p = tracks.frame(f)[l];
      const auto hit = camera.onPlane(pose, flat(p), depth[l]);
      const Point2 still = hit ? camera.project(rest, *hit) : flat(p);
      const bool usable = hit && still.allFinite();
      out.tracks.positions[f * labels + l] = usable ? Vec3d(still.x(), still.y(), 0) : p;
      out.on_face.push_back(usable ? Vec3d(*hit) : Vec3d::Zero());
    }
    const Eigen::Matrix3d turn = rest.rotation.transpose() * pose.rotation;
    const Eigen::Vector3d shift = rest.rotation.transpose() * (pose.translation - rest.translation);
    Transform head;
    head.rotation = Quatf(Eigen::Quaterniond(turn).normalized().cast<float>());
    head.translation = shift.cast<float>();
    out.tracks.head.push_back(head);
  }
  // In the first frame the ray and the pose undo each other but for rounding.
  std::copy_n(tracks.positions.begin(), labels, out.tracks.positions.begin());
  out.residual_px = solved > 0 ? std::sqrt(sum / static_cast<double>(solved)) : 0;
  return true;
}

bool bySimilarity(const PointTracks& tracks, std::span<const std::size_t> stable, HeadMotion& out) {
  if (stable.size() < 2) return false;
  const std::size_t labels = tracks.labels.size();
  out.method = HeadMethod::Similarity;
  Eigen::Matrix2d linear = Eigen::Matrix2d::Identity();
  Point2 offset = Point2::Zero();
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    const std::span<const Vec3d> now = tracks.frame(f);
    Point2 a = Point2::Zero(), b = Point2::Zero();
    double n = 0;
    for (const std::size_t l : stable)
      if (seenIn(tracks, f, l)) a += flat(tracks.positions[l]), b += flat(now[l]), n += 1;
    if (n >= 2) {
      a /= n;
      b /= n;
      double re = 0, im = 0, size = 0;
      for (const std::size_t l : stable) {
        if (!seenIn(tracks, f, l)) continue;
        const Point2 p = flat(tracks.positions[l]) - a, q = flat(now[l]) - b;
        re += p.dot(q);
        im += p.x() * q.y() - p.y() * q.x();
        size += p.squaredNorm();
      }
      if (size > 0 && re * re + im * im > 1e-6 * size * size) {
        linear << re / size, -im / size, im / size, re / size;
        offset = b - linear * a;
      }
    } else {
      ++out.held_frames;
    }
    for (const std::size_t l : stable) {
      if (!seenIn(tracks, f, l)) continue;
      sum += (linear * flat(tracks.positions[l]) + offset - flat(now[l])).squaredNorm();
      ++count;
    }
    const double turn = std::atan2(linear(1, 0), linear(0, 0));
    const Eigen::Matrix2d back =
        (Eigen::Matrix2d() << linear(0, 0), linear(1, 0), linear(0, 1), linear(1, 1)).finished() /
        linear.determinant();
    for (std::size_t l = 0; l < labels; ++l) {
      const Point2 still = f == 0 ? flat(now[l]) : Point2(back * (flat(now[l]) - offset));
      out.tracks.positions[f * labels + l] = Vec3d(still.x(), still.y(), 0);
    }
    Transform head;
    // The picture's y points down, the model's up.
    head.rotation = Quatf(
        Eigen::Quaternionf(Eigen::AngleAxisf(static_cast<float>(-turn), Eigen::Vector3f::UnitZ())));
    out.tracks.head.push_back(head);
  }
  out.residual_px = count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
  return true;
}

}  // namespace

std::vector<std::string> stableFacePoints() {
  return {"3.7", "3.8", "3.11", "3.12", "9.1", "9.2", "9.3"};
}

Result<HeadMotion> separateHead(const PointTracks& tracks, std::span<const Marker> face,
                                const HeadMotionDesc& desc, Diagnostics& notes) {
  DERM_REQUIRE(tracks.space == TrackSpace::Picture);
  const auto bad = [](std::string message, std::string element) {
    return Error{ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
  };
  if (desc.width_px < 1 || desc.height_px < 1) return bad("must be above 0", "width_px");
  if (!(desc.focal_px >= 0 && desc.focal_px <= 1e6))
    return bad("must be 0 (guessed) to 1000000 pixels", "focal_px");
  for (const Marker& m : face)
    if (!m.position.allFinite()) return bad("is not a number", "point \"" + m.label + "\"");

  HeadMotion out;
  out.tracks = tracks;
  out.tracks.head.clear();
  if (tracks.frames() == 0) return out;
  FaceInSpace in_space;
  in_space.points.resize(tracks.labels.size());
  std::vector<std::size_t> stable;
  for (std::size_t l = 0; l < tracks.labels.size(); ++l) {
    const bool holds =
        std::find(desc.stable.begin(), desc.stable.end(), tracks.labels[l]) != desc.stable.end();
    if (holds) stable.push_back(l);
    for (const Marker& m : face)
      if (m.label == tracks.labels[l]) {
        in_space.points[l] = m.position;
        in_space.known.push_back(l);
        if (holds) in_space.stable.push_back(l);
        break;
      }
  }
  if (in_space.stable.size() >= 4) {
    DERM_TRY(const bool done, byPnp(tracks, in_space, desc, out));
    if (done) {
      if (out.held_frames > 0)
        notes.warn("head-held", "head",
                   "fewer than four stable points were seen in " + std::to_string(out.held_frames) +
                       " frames; the head was held there");
      return out;
    }
  }
  if (bySimilarity(tracks, stable, out)) {
    notes.warn("head-by-similarity", "head",
               face.empty() ? "no face in space was given: only turns in the picture, shifts and "
                              "size are taken out of the head's motion"
                            : "fewer than four stable points have a place in the face given: only "
                              "turns in the picture, shifts and size are taken out of the head's "
                              "motion");
    return out;
  }
  notes.warn("head-unknown", "head",
             "fewer than two stable points (eye corners, nose): the head's motion stays in the "
             "tracks");
  return out;
}

}  // namespace derm
