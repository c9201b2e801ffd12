#include "face/lip_field.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace derm::detail {
namespace {

constexpr std::array<std::string_view, LipField::kCount> kNumbers = {"8.3", "8.5", "8.1", "8.6",
                                                                     "8.4", "8.8", "8.2", "8.7"};
constexpr double kPi = std::numbers::pi;
constexpr double kCornerFold = 0.12;  ///< [mouth widths] how far a corner's fold reaches
constexpr std::size_t kLeft = 0, kUpper = 2, kRight = 4, kLower = 6;

/// 1 to 0 over t in [0,1], level at both ends.
double fadeOut(double t) {
  const double left = 1 - std::clamp(t, 0.0, 1.0);
  return left * left * (3 - 2 * left);
}

}  // namespace

std::span<const std::string_view, LipField::kCount> LipField::numbers() { return kNumbers; }

LipField::LipField(const HeadSurface& head, const GeodesicSurface& ways, const FacePoints& points,
                   const FaceAxes& axes, const std::optional<FaceSlit>& slit,
                   const SlitContours& contours, const std::vector<bool>& face, const Desc& desc)
    : head_(&head), desc_(desc) {
  const Vec3d left_corner = points.at("8.3"), right_corner = points.at("8.4");
  const Vec3d across = left_corner - right_corner;
  along_ = (across - axes.forward.dot(across) * axes.forward).normalized();
  up_ = axes.forward.cross(along_);
  if (up_.dot(axes.up) < 0) up_ = -up_;
  const SlitContours chains = slit ? SlitContours{slit->upper, slit->lower} : contours;
  upper_ = chainOf(head, chains.upper);
  lower_ = chainOf(head, chains.lower);
  if (upper_.points.size() < 3 || lower_.points.size() < 3) {
    shares_.assign(head.positions.size(), Shares{});
    return;
  }
  if (!slit) {
    // The lips meet half way between their borders.
    Chain between = upper_;
    for (Vec2d& p : between.points) p.y() = 0.5 * (p.y() + lower_.at(p.x()));
    upper_ = lower_ = between;
  }
  const double first = std::min(upper_.points.front().x(), lower_.points.front().x());
  const double last = std::max(upper_.points.back().x(), lower_.points.back().x());
  half_ = 0.5 * (last - first);
  centre_ = {0.5 * (first + last), 0};
  side_ = slitSides(ways, chains);
  std::vector<GeodesicSeed> seeds;
  for (const std::vector<std::uint32_t>* chain : {&chains.upper, &chains.lower})
    for (const std::uint32_t v : *chain) seeds.push_back({v, 0});
  way_ = ways.distances(seeds);
  if (slit) findInside(head, points, *slit, face);

  // Points that were found by shape may lie anywhere near their places: angles keep their order.
  constexpr double kLeast = 0.2;  // [rad] between two points
  for (std::size_t i = 0; i < kCount; ++i) {
    const double side = i > kLeft && i < kRight ? 1 : -1;
    angles_[i] = i == kLeft ? 0 : i == kRight ? kPi : angleAt(points.at(kNumbers[i]), side);
  }
  angles_[kUpper] = std::clamp(angles_[kUpper], 0.35 * kPi, 0.65 * kPi);
  angles_[kLower] = std::clamp(angles_[kLower], 1.35 * kPi, 1.65 * kPi);
  for (std::size_t i = 1; i < kCount; i += 2) {
    const double after = i + 1 < kCount ? angles_[i + 1] : 2 * kPi;
    angles_[i] = std::clamp(angles_[i], angles_[i - 1] + kLeast, after - kLeast);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const double way = way_[head.nearestVertex(points.at(kNumbers[i]), face)];
    border_[i] = std::isfinite(way) ? way : 0;
  }
  const double width = across.norm();
  const Vec3d nostrils = 0.5 * (points.at("9.1") + points.at("9.2"));
  const double to_nose = std::abs(axes.up.dot(nostrils - points.at("8.1")));
  const double to_chin = (points.at("8.2") - points.at("2.1")).norm();
  // On scanned faces what a corner does is half of it 0.4 widths away, and next to nothing at 0.85.
  const double corner = 0.85 * width;
  reach_ = {corner, 1.2 * to_nose, to_nose, 1.2 * to_nose, corner, to_chin, 0.9 * to_chin, to_chin};
  for (std::size_t i = 0; i < kCount; ++i) reach_[i] *= desc.scale[i];
  depth_ = 0.25 * width;

  shares_.assign(head.positions.size(), Shares{});
  for (std::uint32_t v = 0; v < shares_.size(); ++v)
    if (std::isfinite(way_[v])) shares_[v].points = aroundAt(v);
  if (slit)
    for (const std::uint32_t end : {slit->upper.front(), slit->upper.back()})
      evenOutAt(end, kCornerFold * width, shares_);
  for (std::uint32_t v = 0; v < shares_.size(); ++v)
    if (std::isfinite(way_[v])) fade(v, shares_[v]);
}

void LipField::fade(std::uint32_t vertex, Shares& out) const {
  out.inside = isInside(vertex);
  double border = 0, reach = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    border += out.points[i] * border_[i];
    reach += out.points[i] * reach_[i];
  }
  double left = reach > 0 ? fadeOut((way_[vertex] - border) / reach) : 0;
  if (out.inside) {
    left = fadeOut(way_[vertex] / depth_);
    out.jaw = std::clamp(0.5 - side_[vertex], 0.0, 1.0);
  }
  for (double& share : out.points) {
    share *= left;
    out.sum += share;
  }
  out.sum = std::min(out.sum, 1.0);
}

LipField::Chain LipField::chainOf(const HeadSurface& head,
                                  std::span<const std::uint32_t> vertices) const {
  Chain out;
  for (const std::uint32_t v : vertices) out.points.push_back(inFrame(head.positions[v]));
  // A chain may turn back a little at its corners; over one position the last counts.
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const Vec2d& a, const Vec2d& b) { return a.x() < b.x(); });
  out.points.erase(std::unique(out.points.begin(), out.points.end(),
                               [](const Vec2d& a, const Vec2d& b) { return a.x() == b.x(); }),
                   out.points.end());
  return out;
}

double LipField::Chain::at(double along) const {
  const auto after = std::upper_bound(points.begin(), points.end(), along,
                                      [](double a, const Vec2d& p) { return a < p.x(); });
  if (after == points.begin()) return points.front().y();
  if (after == points.end()) return points.back().y();
  const Vec2d &a = *(after - 1), &b = *after;
  return a.y() + (along - a.x()) / (b.x() - a.x()) * (b.y() - a.y());
}

/// What cannot be reached from the nose without crossing the slit's chains.
void LipField::findInside(const HeadSurface& head, const FacePoints& points, const FaceSlit& slit,
                          const std::vector<bool>& face) {
  std::vector<bool> outside(head.positions.size(), false);
  for (const std::vector<std::uint32_t>* chain : {&slit.upper, &slit.lower})
    for (const std::uint32_t v : *chain) outside[v] = true;
  std::vector<std::uint32_t> open = {head.nearestVertex(points.at("9.3"), face)};
  outside[open.back()] = true;
  while (!open.empty()) {
    const std::uint32_t v = open.back();
    open.pop_back();
    for (const std::uint32_t n : head.neighbours[v])
      if (!outside[n]) {
        outside[n] = true;
        open.push_back(n);
      }
  }
  inside_ = outside;
  inside_.flip();
}

double LipField::angleAt(const Vec3d& p, double side) const {
  const Vec2d q = inFrame(p);
  const double x = (q.x() - centre_.x()) / half_;
  const double over = (q.y() - upper_.at(q.x())) / half_,
               under = (q.y() - lower_.at(q.x())) / half_;
  const bool above = side > 0 || (side == 0 && over + under > 0);
  // Lips that overlap hide a part of each other; there they are as on the slit.
  const double y = above ? std::max(0.0, over) : std::min(0.0, under);
  const double angle =
      std::acos(std::clamp(0.5 * (std::hypot(x + 1, y) - std::hypot(x - 1, y)), -1.0, 1.0));
  return above || angle == 0 ? angle : 2 * kPi - angle;
}

std::array<double, LipField::kCount> LipField::splines(double angle) const {
  std::array<double, kCount> out{};
  // The cell that holds the angle reaches half way to the points beside its own.
  const auto nodeAt = [&](std::size_t i) {  // i counts on from kCount, so that i - 2 is there
    return angles_[i % kCount] + 2 * kPi * (double(i / kCount) - 1);
  };
  const auto knotAt = [&](std::size_t i) { return 0.5 * (nodeAt(i) + nodeAt(i + 1)); };
  std::size_t cell = kCount;
  while (angle > knotAt(cell)) ++cell;
  const double from = knotAt(cell - 1), size = knotAt(cell) - from;
  if (desc_.interpolating) {
    const std::size_t low = angle < nodeAt(cell) ? cell - 1 : cell;
    const double t = (angle - nodeAt(low)) / (nodeAt(low + 1) - nodeAt(low));
    const double smooth = t * t * (3 - 2 * t);
    out[low % kCount] = 1 - smooth;
    out[(low + 1) % kCount] = smooth;
    return out;
  }
  const double before = from - knotAt(cell - 2), after = knotAt(cell + 1) - knotAt(cell);
  const double t = (angle - from) / size;
  const double down = (1 - t) * (1 - t) * size / (before + size),
               up = t * t * size / (size + after);
  out[(cell - 1) % kCount] = down;
  out[(cell + 1) % kCount] = up;
  out[cell % kCount] = 1 - down - up;
  return out;
}

std::array<double, LipField::kCount> LipField::aroundAt(std::uint32_t vertex) const {
  const double side = side_[vertex];
  const Vec3d& p = head_->positions[vertex];
  // Ways along the skin tell the lips apart near the slit, and heights do farther away.
  constexpr double kSure = 0.5;
  if (!isInside(vertex)) return splines(angleAt(p, std::abs(side) > kSure ? side : 0));
  // Upper and lower half are joined at the sides and behind. At the rim both lips have a part
  // there; deeper neither has: the corners do beside them, jaw and head elsewhere.
  const double up = std::clamp(2 * side, 0.0, 1.0), down = std::clamp(-2 * side, 0.0, 1.0);
  const double both = 0.5 * (1 - up - down), at_rim = fadeOut(2 * way_[vertex] / depth_);
  const std::array<double, kCount> above = splines(angleAt(p, 1)), below = splines(angleAt(p, -1));
  std::array<double, kCount> out{};
  for (std::size_t i = 0; i < kCount; ++i) {
    const double kept = i == kLeft || i == kRight ? 1 : at_rim;
    out[i] = up * above[i] + down * below[i] + kept * both * (above[i] + below[i]);
  }
  return out;
}

/// Where lips join, the skin of a corner folds inwards, and what one sees from the front says
/// little of who is beside whom: there parts go over into each other along the skin. Solves u - l^2
/// laplace(u) = given within the radius, by Gauss and Seidel.
void LipField::evenOutAt(std::uint32_t corner, double radius, std::vector<Shares>& shares) const {
  constexpr double kLength = 0.4;  // l over the radius
  constexpr int kSweeps = 60;
  const double length = kLength * radius;
  std::vector<std::uint32_t> near;
  for (std::uint32_t v = 0; v < shares.size(); ++v)
    if (std::isfinite(way_[v]) && !head_->neighbours[v].empty() &&
        (head_->positions[v] - head_->positions[corner]).norm() < radius)
      near.push_back(v);
  std::vector<std::array<double, kCount>> given;
  for (const std::uint32_t v : near) given.push_back(shares[v].points);
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (std::size_t i = 0; i < near.size(); ++i) {
      const std::span<const std::uint32_t> around = head_->neighbours[near[i]];
      // Less and less towards the radius, where nothing changes.
      const double off = (head_->positions[near[i]] - head_->positions[corner]).norm() / radius;
      const double least = 0.02 * length;
      std::array<double, kCount> sum = given[i];
      double total = 1;
      for (const std::uint32_t n : around) {
        const double edge =
            std::max(least, (head_->positions[n] - head_->positions[near[i]]).norm());
        const double k = fadeOut(off) * 4 * length * length / (double(around.size()) * edge * edge);
        for (std::size_t j = 0; j < kCount; ++j) sum[j] += k * shares[n].points[j];
        total += k;
      }
      for (std::size_t j = 0; j < kCount; ++j) shares[near[i]].points[j] = sum[j] / total;
    }
}

}  // namespace derm::detail
