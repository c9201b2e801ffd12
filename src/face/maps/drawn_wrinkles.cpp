#include "derm/face/drawn_wrinkles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "derm/base/nearest_name.h"
#include "derm/base/rng.h"
#include "derm/face/face_points.h"
#include "derm/mesh/triangle_tree.h"

#include "face/maps/texel_frames.h"

namespace derm {
namespace {

using detail::maps::TexelFrame;
using detail::maps::TexelFrames;

constexpr std::array<std::string_view, 5> kSets = {"forehead", "frown", "nose", "crows_feet",
                                                   "smile"};

/// In the face's plane, x to the subject's left, y up. [m]
using Flat = Eigen::Matrix<double, 2, 1, Eigen::DontAlign>;

/// One fold, along the skin.
struct Stroke {
  std::vector<Vec3d> path;  ///< [m]
  std::vector<double> amplitude;
  double half_width_m = 0;
  Vec3d low = Vec3d::Zero(), high = Vec3d::Zero();  ///< where it is to be felt
};

/// Half widths after which a fold's crest has died away.
constexpr double kReach = 6.5;
constexpr double kGrownUp = 1.7;  ///< depth 1 shows clearly in the light of a portrait
constexpr double kCrest = 0.45, kCrestWidth = 2.2;

/// Lays strokes on a head. Lengths are shares of the distance between the eyes.
class Pen {
 public:
  Pen(const TriMesh& skin, const FacePoints& points, double depth)
      : tree_(std::span<const Vec3f>(skin.positions), skin.triangles),
        points_(points),
        axes_(faceAxes(points)),
        eyes_(measureFaceUnits(points).eye_separation_m),
        depth_(depth) {}

  Flat at(std::string_view number) const {
    const Vec3d& p = points_.at(number);
    return {axes_.left.dot(p), axes_.up.dot(p)};
  }
  double unit() const { return eyes_; }

  /// A fold through `corners`, smooth between them. `width` and `depth` in eye distances; `broken`
  /// [0,1] is how uneven it is along its way.
  void draw(std::span<const Flat> corners, double width, double depth, double broken) {
    Rng random(seed_ += 7);
    const double phase = random.uniform(0, 6.28), wander = random.uniform(0, 6.28);
    Stroke stroke{.path = {}, .amplitude = {}, .half_width_m = width * eyes_};
    constexpr int kSteps = 48;
    for (int i = 0; i <= kSteps; ++i) {
      const double s = static_cast<double>(i) / kSteps;
      Flat p = along(corners, s);
      p.y() += 0.006 * eyes_ * std::sin(19 * s + wander);
      const std::optional<Vec3d> on_skin = projected(p);
      if (!on_skin) continue;
      // Soft ends, and places where the fold nearly vanishes.
      const double ends = std::clamp(std::min(s, 1 - s) / 0.22, 0.0, 1.0);
      const double uneven = 0.5 + 0.5 * std::sin(9.5 * s + phase) * std::cos(23 * s + 2 * phase);
      stroke.path.push_back(*on_skin);
      stroke.amplitude.push_back(depth_ * depth * eyes_ * ends * ends * (3 - 2 * ends) *
                                 (1 - broken * uneven) * kGrownUp);
    }
    if (stroke.path.size() < 2) return;
    stroke.low = stroke.high = stroke.path[0];
    for (const Vec3d& p : stroke.path) {
      stroke.low = stroke.low.cwiseMin(p);
      stroke.high = stroke.high.cwiseMax(p);
    }
    stroke.low.array() -= kReach * stroke.half_width_m;
    stroke.high.array() += kReach * stroke.half_width_m;
    strokes_.push_back(std::move(stroke));
  }
  std::vector<Stroke> take() { return std::move(strokes_); }

 private:
  /// Catmull-Rom through the corners.
  static Flat along(std::span<const Flat> corners, double s) {
    const auto last = static_cast<std::ptrdiff_t>(corners.size()) - 1;
    const double t = s * static_cast<double>(last);
    const auto i = std::min(static_cast<std::ptrdiff_t>(t), last - 1);
    const double f = t - static_cast<double>(i);
    const auto corner = [&](std::ptrdiff_t k) {
      return corners[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(k, 0, last))];
    };
    const Flat a = corner(i - 1), b = corner(i), c = corner(i + 1), d = corner(i + 2);
    return b + 0.5 * f * ((c - a) + f * ((2 * a - 5 * b + 4 * c - d) + f * (3 * (b - c) + d - a)));
  }
  std::optional<Vec3d> projected(const Flat& p) const {
    const Vec3d middle = p.x() * axes_.left + p.y() * axes_.up +
                         axes_.forward.dot(points_.at("9.3")) * axes_.forward;
    const Vec3d from = middle + 2 * eyes_ * axes_.forward, to = middle - 3 * eyes_ * axes_.forward;
    const auto hit = tree_.firstHit(from, to);
    if (!hit) return std::nullopt;
    return from + hit->t * (to - from);
  }

  TriangleTree tree_;
  const FacePoints& points_;
  FaceAxes axes_;
  double eyes_;
  double depth_;
  std::uint64_t seed_ = 11;
  std::vector<Stroke> strokes_;
};

void drawForehead(Pen& pen) {
  const double u = pen.unit();
  const Flat left = pen.at("4.3"), right = pen.at("4.4"), out_left = pen.at("4.5"),
             out_right = pen.at("4.6");
  const double middle = 0.5 * (left.x() + right.x()), base = 0.5 * (left.y() + right.y());
  const double reach = 0.5 * (out_left.x() - out_right.x());
  const auto line = [&](double height, double from, double to, double width, double depth,
                        double broken) {
    std::vector<Flat> corners;
    for (int i = 0; i <= 8; ++i) {
      const double x = from + (to - from) * i / 8;
      // Over each brow a bow, a dip between them, down at the temples.
      const double bow = -0.025 * std::cos(5.6 * x) - 0.15 * (x * x) * (x * x);
      corners.emplace_back(middle + x * reach, base + u * (height + bow));
    }
    pen.draw(corners, width, depth, broken);
  };
  line(0.16, -0.98, 0.98, 0.017, 0.019, 0.35);
  line(0.27, -0.95, 0.97, 0.019, 0.024, 0.25);
  line(0.38, -0.90, 0.86, 0.018, 0.021, 0.35);
  line(0.49, -0.70, 0.76, 0.016, 0.014, 0.6);
  line(0.215, -0.80, -0.30, 0.011, 0.007, 0.5);
  line(0.325, 0.18, 0.78, 0.011, 0.007, 0.5);
  line(0.435, -0.55, 0.05, 0.011, 0.006, 0.5);
}

void drawFrown(Pen& pen) {
  const double u = pen.unit();
  const Flat left = pen.at("4.1"), right = pen.at("4.2");
  const Flat middle = 0.5 * (left + right);
  const double half = 0.5 * (left.x() - right.x());
  for (const double side : {-1.0, 1.0}) {
    const auto p = [&](double x, double y) {
      return Flat(middle.x() + side * x * half, middle.y() + y * u);
    };
    pen.draw(std::array{p(0.44, -0.20), p(0.46, -0.05), p(0.52, 0.10), p(0.50, 0.26 - 0.04 * side)},
             0.017, 0.026, 0.15);
    pen.draw(std::array{p(0.95, 0.02), p(0.80, 0.10), p(0.72, 0.20)}, 0.014, 0.012, 0.3);
  }
  pen.draw(std::array{Flat(middle.x() + 0.08 * half, middle.y() - 0.10 * u),
                      Flat(middle.x() + 0.02 * half, middle.y() + 0.06 * u),
                      Flat(middle.x() - 0.05 * half, middle.y() + 0.18 * u)},
           0.012, 0.009, 0.4);
}

void drawNose(Pen& pen) {
  const double u = pen.unit();
  const Flat eyes = 0.5 * (pen.at("3.11") + pen.at("3.8"));
  const double half = 0.5 * (pen.at("3.11").x() - pen.at("3.8").x());
  for (const double y : {0.045, -0.04})
    pen.draw(std::array{Flat(eyes.x() - 0.40 * half, eyes.y() + (y - 0.025) * u),
                        Flat(eyes.x(), eyes.y() + y * u),
                        Flat(eyes.x() + 0.40 * half, eyes.y() + (y - 0.03) * u)},
             0.015, y > 0 ? 0.018 : 0.011, 0.2);
  for (const double side : {-1.0, 1.0})
    for (const double k : {0.0, 1.0, 2.0}) {
      const double y = eyes.y() - (0.14 + 0.075 * k) * u;
      pen.draw(std::array{Flat(eyes.x() + side * (0.26 + 0.03 * k) * half, y + 0.05 * u),
                          Flat(eyes.x() + side * (0.44 + 0.06 * k) * half, y + 0.01 * u),
                          Flat(eyes.x() + side * (0.62 + 0.10 * k) * half, y - 0.06 * u)},
               0.013, 0.012 - 0.002 * k, 0.3);
    }
}

void drawCrowsFeet(Pen& pen) {
  const double u = pen.unit();
  for (const auto& [corner, side] : {std::pair{"3.7", 1.0}, std::pair{"3.12", -1.0}}) {
    const Flat c = pen.at(corner);
    for (const auto& [angle, length, depth] :
         {std::array{0.62, 0.22, 0.010}, std::array{0.28, 0.28, 0.015},
          std::array{-0.04, 0.30, 0.016}, std::array{-0.36, 0.27, 0.014},
          std::array{-0.70, 0.20, 0.009}}) {
      const auto p = [&, side = side, angle = angle](double r, double bend) {
        return Flat(c + u * r * Flat(side * std::cos(angle - bend), std::sin(angle - bend)));
      };
      pen.draw(std::array{p(0.075, 0), p(0.075 + 0.5 * length, 0.05), p(0.075 + length, 0.16)},
               0.014, depth, 0.25);
    }
    // Below the lower lid.
    const Flat lid = pen.at(side > 0 ? "3.3" : "3.4");
    for (const double k : {0.0, 1.0})
      pen.draw(std::array{Flat(lid.x() - side * 0.16 * u, lid.y() - (0.085 + 0.05 * k) * u),
                          Flat(lid.x() + side * 0.05 * u, lid.y() - (0.115 + 0.06 * k) * u),
                          Flat(lid.x() + side * 0.25 * u, lid.y() - (0.075 + 0.05 * k) * u)},
               0.013, 0.010 - 0.002 * k, 0.3);
  }
}

void drawSmile(Pen& pen) {
  const double u = pen.unit();
  for (const auto& [nostril, mouth, side] :
       {std::tuple{"9.1", "8.3", 1.0}, std::tuple{"9.2", "8.4", -1.0}}) {
    const Flat n = pen.at(nostril), m = pen.at(mouth);
    pen.draw(std::array{Flat(n.x() + side * 0.05 * u, n.y() + 0.10 * u),
                        Flat(n.x() + side * 0.16 * u, n.y() - 0.06 * u),
                        Flat(0.5 * (n.x() + m.x()) + side * 0.21 * u, 0.5 * (n.y() + m.y())),
                        Flat(m.x() + side * 0.19 * u, m.y() + 0.02 * u),
                        Flat(m.x() + side * 0.16 * u, m.y() - 0.13 * u)},
             0.030, 0.040, 0.1);
    pen.draw(std::array{Flat(m.x() + side * 0.08 * u, m.y() + 0.07 * u),
                        Flat(m.x() + side * 0.105 * u, m.y()),
                        Flat(m.x() + side * 0.085 * u, m.y() - 0.09 * u)},
             0.016, 0.014, 0.2);
  }
}

Result<std::vector<Stroke>> strokesOf(std::string_view sets, Pen& pen) {
  constexpr std::array<void (*)(Pen&), kSets.size()> kDraw = {drawForehead, drawFrown, drawNose,
                                                              drawCrowsFeet, drawSmile};
  std::string_view rest = sets;
  do {
    const std::size_t plus = std::min(rest.find('+'), rest.size());
    const std::string_view name = rest.substr(0, plus);
    const auto known = std::find(kSets.begin(), kSets.end(), name);
    if (known == kSets.end()) {
      const std::vector<std::string> all(kSets.begin(), kSets.end());
      return Error{ErrorCode::BadArgument,
                   "\"" + std::string(name) + "\" is no set of lines" + didYouMean(name, all),
                   {.element = "lines"}};
    }
    kDraw[static_cast<std::size_t>(known - kSets.begin())](pen);
    rest.remove_prefix(std::min(plus + 1, rest.size()));
  } while (!rest.empty());
  return pen.take();
}

/// Gradient of a stroke's height at a point of the skin, in space.
Vec3d gradient(const Stroke& stroke, const Vec3d& p) {
  if ((p.array() < stroke.low.array()).any() || (p.array() > stroke.high.array()).any())
    return Vec3d::Zero();
  double nearest = 1e30, amplitude = 0;
  Vec3d away = Vec3d::Zero();
  for (std::size_t i = 0; i + 1 < stroke.path.size(); ++i) {
    const double t = closestOnSegment(p, stroke.path[i], stroke.path[i + 1]);
    const Vec3d d = p - (stroke.path[i] + t * (stroke.path[i + 1] - stroke.path[i]));
    if (d.squaredNorm() >= nearest) continue;
    nearest = d.squaredNorm();
    away = d;
    amplitude = (1 - t) * stroke.amplitude[i] + t * stroke.amplitude[i + 1];
  }
  const double width2 = stroke.half_width_m * stroke.half_width_m, u2 = nearest / width2;
  if (u2 > kReach * kReach) return Vec3d::Zero();
  constexpr double kCrest2 = kCrestWidth * kCrestWidth;
  const double slope =
      amplitude * (std::exp(-0.5 * u2) - kCrest / kCrest2 * std::exp(-0.5 * u2 / kCrest2));
  return slope / width2 * away;
}

}  // namespace

std::span<const std::string_view> drawnWrinkleNames() { return kSets; }

Result<FloatImage> drawWrinkles(const TriMesh& mesh, std::span<const LabelledPoint> points,
                                std::string_view sets, const DrawnWrinklesDesc& desc,
                                Diagnostics& notes) {
  if (!(desc.depth > 0 && desc.depth <= 8))
    return Error{ErrorCode::BadArgument, "must lie in (0,8]", {.element = "depth"}};
  DERM_TRY(const FacePoints face, facePoints(points, mesh));
  DERM_CHECK(validateControlPoints(face));
  DERM_TRY(const auto texels,
           TexelFrames::make(mesh, points, desc.width, desc.height, desc.padding, notes));
  Pen pen(texels.skin(), face, desc.depth);
  DERM_TRY(const std::vector<Stroke> strokes, strokesOf(sets, pen));
  const Vec3d forward = faceAxes(face).forward;
  return texels.map([&](std::size_t texel) -> Vec3d {
    const TexelFrame at = texels.at(texel);
    Vec3d g = Vec3d::Zero();
    for (const Stroke& stroke : strokes) g += gradient(stroke, at.position);
    if (g.isZero()) return Vec3d::UnitZ();
    // Strokes were laid from the front; what looks away is another side of the skin.
    g *= std::clamp(5 * (at.normal.dot(forward) - 0.05), 0.0, 1.0);
    return Vec3d(-g.dot(at.x), -g.dot(at.y), 1).normalized();
  });
}

}  // namespace derm
