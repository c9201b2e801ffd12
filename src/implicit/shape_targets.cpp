#include "derm/implicit/shape_targets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// True where the straight way between two points stays inside.
bool straightWayInside(const Target& target, const Vec3d& from, const Vec3d& to) {
  constexpr int kPoints = 24;
  for (int i = 0; i <= kPoints; ++i)
    if (!(sampledAt(target, from + (to - from) * i / kPoints) > target.iso())) return false;
  return true;
}

/// Seeds that see each other from inside are one part.
void joinParts(const Target& target, std::span<TargetSeed> seeds) {
  for (std::uint32_t i = 0; i < seeds.size(); ++i) {
    seeds[i].part = i;
    for (std::uint32_t j = 0; j < i; ++j) {
      const std::uint32_t other = seeds[j].part;
      if (other == seeds[i].part ||
          !straightWayInside(target, seeds[j].position, seeds[i].position))
        continue;
      const std::uint32_t joined = seeds[i].part;
      for (std::uint32_t k = 0; k <= i; ++k)
        if (seeds[k].part == joined) seeds[k].part = other;
    }
  }
}

/// Calls field(x, y, z) with offsets from `centre`.
template <class Field>
void sampleAround(const SampleBatch& at, const Vec3d& centre, std::span<float> g,
                  const Field& field) {
  const Vec3f shift = Vec3d(at.origin - centre).cast<float>();
  for (std::size_t i = 0; i < at.size(); ++i)
    g[i] = field(at.x[i] + shift.x(), at.y[i] + shift.y(), at.z[i] + shift.z());
}

Box3d boxAround(const Vec3d& centre, const Vec3d& half) { return {centre - half, centre + half}; }

float square(float x) { return x * x; }

}  // namespace

double sampledAt(const Target& target, const Vec3d& point) {
  const float zero = 0;
  float g = 0;
  target.sample({point, {&zero, 1}, {&zero, 1}, {&zero, 1}}, {&g, 1});
  return g;
}

Vec3d sampledGradient(const Target& target, const Vec3d& point, double step_m) {
  const float s = static_cast<float>(step_m);
  const std::array<float, 6> x = {s, -s, 0, 0, 0, 0}, y = {0, 0, s, -s, 0, 0},
                             z = {0, 0, 0, 0, s, -s};
  std::array<float, 6> g{};
  target.sample({point, x, y, z}, g);
  return Vec3d(g[0] - g[1], g[2] - g[3], g[4] - g[5]) / (2 * double{s});
}

FieldRange LipschitzTarget::rangeIn(const Box3d& box) const {
  const double middle = sampledAt(*this, box.centre());
  const double reach = lipschitz() * 0.5 * (box.high - box.low).norm() * (1 + 1e-5);
  return {middle - reach, middle + reach};
}

// ------------------------------------------------------------------------------- sphere, torus

SphereTarget::SphereTarget(const Vec3d& centre, double radius_m)
    : centre_(centre), radius_m_(radius_m) {
  DERM_REQUIRE(centre.allFinite() && radius_m > 0 && std::isfinite(radius_m));
}

void SphereTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const float r = static_cast<float>(radius_m_);
  sampleAround(at, centre_, g,
               [r](float x, float y, float z) { return r - std::sqrt(x * x + y * y + z * z); });
}

Box3d SphereTarget::bounds() const { return boxAround(centre_, Vec3d::Constant(radius_m_)); }

TorusTarget::TorusTarget(const Vec3d& centre, double ring_m, double tube_m)
    : centre_(centre), ring_m_(ring_m), tube_m_(tube_m) {
  DERM_REQUIRE(centre.allFinite() && tube_m > 0 && ring_m > tube_m && std::isfinite(ring_m));
}

void TorusTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const float ring = static_cast<float>(ring_m_), tube = static_cast<float>(tube_m_);
  sampleAround(at, centre_, g, [ring, tube](float x, float y, float z) {
    return tube - std::sqrt(square(std::sqrt(x * x + z * z) - ring) + y * y);
  });
}

Box3d TorusTarget::bounds() const {
  const double wide = ring_m_ + tube_m_;
  return boxAround(centre_, Vec3d(wide, tube_m_, wide));
}

void TorusTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  seeds.push_back({centre_ + Vec3d(ring_m_, 0, 0)});
}

// ------------------------------------------------------------------------------ segment, screw

SegmentTarget::SegmentTarget(const Vec3d& from, const Vec3d& to, double radius_m)
    : from_(from), to_(to), radius_m_(radius_m) {
  DERM_REQUIRE(from.allFinite() && to.allFinite() && radius_m > 0 && std::isfinite(radius_m));
}

void SegmentTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const Vec3f way = (to_ - from_).cast<float>();
  const float r = static_cast<float>(radius_m_), long2 = std::max(way.squaredNorm(), 1e-30f);
  sampleAround(at, from_, g, [&](float x, float y, float z) {
    const float t = std::clamp((x * way.x() + y * way.y() + z * way.z()) / long2, 0.0f, 1.0f);
    return r -
           std::sqrt(square(x - t * way.x()) + square(y - t * way.y()) + square(z - t * way.z()));
  });
}

Box3d SegmentTarget::bounds() const {
  Box3d box;
  box.include(from_);
  box.include(to_);
  return box.grown(radius_m_);
}

void SegmentTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  seeds.push_back({0.5 * (from_ + to_)});
}

ScrewTarget::ScrewTarget(const Desc& desc) : desc_(desc) {
  DERM_REQUIRE(desc.centre.allFinite() && desc.height_m > 0 && desc.radius_m > 0 &&
               desc.offset_m >= 0 && std::isfinite(desc.turns));
}

void ScrewTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const float half = static_cast<float>(desc_.height_m / 2),
              offset = static_cast<float>(desc_.offset_m),
              radius = static_cast<float>(desc_.radius_m);
  const float twist = static_cast<float>(2 * std::numbers::pi * desc_.turns / desc_.height_m);
  sampleAround(at, desc_.centre, g, [=](float x, float y, float z) {
    const float along = std::clamp(y, -half, half);
    // Beyond the ends space is not twisted any further, so that they are round.
    const float c = std::cos(twist * along), s = std::sin(twist * along);
    const float u = c * x + s * z, v = c * z - s * x;
    return radius - std::sqrt(square(u - offset) + v * v + square(y - along));
  });
}

double ScrewTarget::lipschitz() const {
  // A twisted point moves sideways by twist x its distance from the axis; beyond this radius the
  // bound is loose only where nothing is.
  const double twist = 2 * std::numbers::pi * std::abs(desc_.turns) / desc_.height_m;
  const double far = twist * 2 * (desc_.offset_m + desc_.radius_m);
  return std::sqrt(1 + far * far);
}

Box3d ScrewTarget::bounds() const {
  const double wide = desc_.offset_m + desc_.radius_m;
  return boxAround(desc_.centre, Vec3d(wide, desc_.height_m / 2 + desc_.radius_m, wide));
}

void ScrewTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  seeds.push_back({desc_.centre + Vec3d(desc_.offset_m, 0, 0)});
}

// ------------------------------------------------------------------------------------- letter D

namespace {

/// The letter's outline for height 1: a half disc and a straight back, with a hole of the same
/// kind; positive inside.
float letterDepth2d(float x, float y) {
  constexpr float kHalf = 0.5f, kWall = 0.17f, kBack = -0.32f;
  const auto half_disc = [](float px, float py, float back, float r) {
    // Intersection of a capsule-ended disc around the origin with x > back.
    const float stretched = px < 0 ? py : std::sqrt(px * px + py * py);
    const float round = px < 0 ? r - std::abs(stretched) : r - stretched;
    return std::min(round, px - back);
  };
  const float outer = half_disc(x, y, kBack, kHalf);
  const float hole = half_disc(x, y, kBack + kWall, kHalf - kWall);
  return std::min(outer, -hole);
}

}  // namespace

LetterDTarget::LetterDTarget(const Vec3d& centre, double height_m)
    : centre_(centre), height_m_(height_m) {
  DERM_REQUIRE(centre.allFinite() && height_m > 0 && std::isfinite(height_m));
}

void LetterDTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const float size = static_cast<float>(height_m_);
  constexpr float kThick = 0.11f, kRound = 0.05f;
  sampleAround(at, centre_, g, [size](float x, float y, float z) {
    const float a = letterDepth2d(x / size + 0.09f, y / size) - kRound;
    const float b = kThick - std::abs(z / size) - kRound;
    const float outside = std::sqrt(square(std::min(a, 0.0f)) + square(std::min(b, 0.0f)));
    return size * (kRound + (a > 0 && b > 0 ? std::min(a, b) : -outside));
  });
}

Box3d LetterDTarget::bounds() const {
  return boxAround(centre_, height_m_ * Vec3d(0.45, 0.5, 0.11));
}

void LetterDTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  seeds.push_back({centre_ + height_m_ * Vec3d(-0.325, 0, 0)});
}

// ---------------------------------------------------------------------------------------- blobs

BlobTarget::BlobTarget(std::vector<Blob> blobs, double iso) : blobs_(std::move(blobs)), iso_(iso) {
  DERM_REQUIRE(std::isfinite(iso));
  for (const Blob& b : blobs_)
    DERM_REQUIRE(b.centre.allFinite() && b.reach_m > 0 && std::isfinite(b.reach_m));
}

namespace {

float wyvill(float q) { return q < 1 ? 1 - q * (22 - q * (17 - 4 * q)) / 9 : 0.0f; }

/// Squares of the smallest and largest distance from a point to a box.
std::pair<double, double> squaredDistances(const Box3d& box, const Vec3d& p) {
  double min = 0, max = 0;
  for (int k = 0; k < 3; ++k) {
    const double below = box.low[k] - p[k], above = p[k] - box.high[k];
    const double out = std::max({below, above, 0.0});
    const double far = std::max(std::abs(box.low[k] - p[k]), std::abs(box.high[k] - p[k]));
    min += out * out;
    max += far * far;
  }
  return {min, max};
}

}  // namespace

void BlobTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  std::fill(g.begin(), g.end(), 0.0f);
  for (const Blob& b : blobs_) {
    const Vec3f shift = Vec3d(at.origin - b.centre).cast<float>();
    const float scale = static_cast<float>(1 / (b.reach_m * b.reach_m));
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float r2 =
          square(at.x[i] + shift.x()) + square(at.y[i] + shift.y()) + square(at.z[i] + shift.z());
      g[i] += wyvill(r2 * scale);
    }
  }
}

Box3d BlobTarget::bounds() const {
  Box3d box;
  for (const Blob& b : blobs_) box.include(boxAround(b.centre, Vec3d::Constant(b.reach_m)));
  return box;
}

FieldRange BlobTarget::rangeIn(const Box3d& box) const {
  FieldRange range{0, 0};
  for (const Blob& b : blobs_) {
    const auto [min, max] = squaredDistances(box, b.centre);
    const double scale = 1 / (b.reach_m * b.reach_m);
    range.low += wyvill(static_cast<float>(max * scale));
    range.high += wyvill(static_cast<float>(min * scale));
  }
  return {range.low - 1e-5, range.high + 1e-5};
}

void BlobTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  const std::size_t first = seeds.size();
  for (const Blob& b : blobs_) seeds.push_back({b.centre});
  joinParts(*this, std::span(seeds).subspan(first));
}

BlobTarget sixBlobs() {
  std::vector<BlobTarget::Blob> blobs;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-0.38, 0.38}) blobs.push_back({side * Vec3d::Unit(axis), 0.62});
  return BlobTarget(std::move(blobs));
}

BlobTarget twoBlobs() { return BlobTarget({{Vec3d(-0.5, 0, 0), 0.6}, {Vec3d(0.5, 0, 0), 0.6}}); }

// ---------------------------------------------------------------------------------------- union

UnionTarget::UnionTarget(std::vector<std::shared_ptr<const Target>> parts, double blend_m)
    : parts_(std::move(parts)), blend_m_(blend_m) {
  DERM_REQUIRE(!parts_.empty() && blend_m >= 0);
}

void UnionTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  constexpr std::size_t kRun = 256;
  std::array<float, kRun> other;
  const float blend = static_cast<float>(blend_m_);
  for (std::size_t first = 0; first < at.size(); first += kRun) {
    const std::size_t n = std::min(kRun, at.size() - first);
    const SampleBatch run{at.origin, at.x.subspan(first, n), at.y.subspan(first, n),
                          at.z.subspan(first, n)};
    const std::span<float> out = g.subspan(first, n);
    parts_.front()->sample(run, out);
    for (std::size_t p = 1; p < parts_.size(); ++p) {
      parts_[p]->sample(run, {other.data(), n});
      for (std::size_t i = 0; i < n; ++i) {
        const float gap = std::max(blend - std::abs(out[i] - other[i]), 0.0f);
        out[i] = std::max(out[i], other[i]) + (blend > 0 ? gap * gap / (4 * blend) : 0.0f);
      }
    }
  }
}

Box3d UnionTarget::bounds() const {
  Box3d box;
  for (const auto& part : parts_) box.include(part->bounds());
  return box.empty() ? box : box.grown(blend_m_);
}

FieldRange UnionTarget::rangeIn(const Box3d& box) const {
  FieldRange range{-std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
  for (const auto& part : parts_) {
    const FieldRange r = part->rangeIn(box);
    range.low = std::max(range.low, r.low);
    range.high = std::max(range.high, r.high);
  }
  range.high += blend_m_ * static_cast<double>(parts_.size());
  return range;
}

void UnionTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  const std::size_t first = seeds.size();
  for (const auto& part : parts_) part->appendSeeds(seeds);
  joinParts(*this, std::span(seeds).subspan(first));
}

}  // namespace derm
