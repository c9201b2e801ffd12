#include "derm/math/rbf.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"

#include "math/analytic_heads.h"
#include "support/allocations.h"
#include "support/simd_targets.h"

namespace derm::rbf_test {
namespace {

using namespace testing_support;

constexpr std::array<RbfKernel, 5> kKernels{RbfKernel::Biharmonic, RbfKernel::ThinPlate,
                                            RbfKernel::Triharmonic, RbfKernel::Multiquadric,
                                            RbfKernel::Gaussian};

template <int N>
std::vector<RbfPoint<N>> randomPoints(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<RbfPoint<N>> out(count);
  for (RbfPoint<N>& p : out)
    for (int i = 0; i < N; ++i) p[i] = rng.uniform(-1, 1);
  return out;
}

template <int N>
double extent(const std::vector<RbfPoint<N>>& points) {
  RbfPoint<N> low = points[0], high = points[0];
  for (const RbfPoint<N>& p : points) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return (high - low).norm();
}

template <int In, int Out>
RbfMap<In, Out> bound(const std::vector<RbfPoint<In>>& from, const std::vector<RbfPoint<Out>>& to,
                      const RbfDesc& desc) {
  Diagnostics notes;
  Result<RbfMap<In, Out>> map = RbfMap<In, Out>::bind(from, to, desc, notes);
  EXPECT_TRUE(map.ok()) << map.error().text();
  return *std::move(map);
}

/// All kernels, with a width per centre and with one for all.
std::vector<RbfDesc> allDescs() {
  std::vector<RbfDesc> out;
  for (const RbfKernel kernel : kKernels) {
    out.push_back({.kernel = kernel});
    out.push_back({.kernel = kernel, .sigma = 0.5});
  }
  return out;
}

template <int In, int Out>
void expectInterpolates() {
  const auto from = randomPoints<In>(40, 1);
  const auto to = randomPoints<Out>(40, 2);
  for (const RbfDesc& desc : allDescs()) {
    SCOPED_TRACE(int(desc.kernel));
    const auto map = bound<In, Out>(from, to, desc);
    EXPECT_EQ(map.rank(), In);
    for (std::size_t i = 0; i < from.size(); ++i)
      EXPECT_LT((map.evaluate(from[i]) - to[i]).norm(), 1e-10 * extent<Out>(to));
  }
}

TEST(Rbf, GoesThroughTheTargetsInAllDimensions) {
  expectInterpolates<2, 2>();
  expectInterpolates<2, 3>();
  expectInterpolates<3, 2>();
  expectInterpolates<3, 3>();
}

TEST(Rbf, GoesThroughTheTargetsWithoutTheAffinePart) {
  const auto from = randomPoints<3>(40, 1), to = randomPoints<3>(40, 2);
  for (RbfDesc desc : allDescs()) {
    SCOPED_TRACE(int(desc.kernel));
    desc.affine = false;
    const auto map = bound<3, 3>(from, to, desc);
    for (std::size_t i = 0; i < from.size(); ++i)
      EXPECT_LT((map.evaluate(from[i]) - to[i]).norm(), 1e-9 * extent<3>(to));
  }
}

TEST(Rbf, ReproducesAffineMapsWhateverLambda) {
  const auto from = randomPoints<3>(30, 3);
  Mat3d linear;
  linear << 1, .2, 0, -.4, 2, .1, .3, 0, .5;
  const auto mapped = [&](const Vec3d& p) { return Vec3d(linear * p + Vec3d(4, -5, 6)); };
  std::vector<Vec3d> to;
  for (const Vec3d& p : from) to.push_back(mapped(p));
  for (RbfDesc desc : allDescs()) {
    for (const double lambda : {0.0, 1e-6, 1e-4, 1e-2}) {
      SCOPED_TRACE(testing::Message() << int(desc.kernel) << " lambda " << lambda);
      desc.lambda = lambda;
      const auto map = bound<3, 3>(from, to, desc);
      for (const Vec3d& p : randomPoints<3>(20, 4))
        EXPECT_LT((map.evaluate(3 * p) - mapped(3 * p)).norm(), 1e-10 * extent<3>(to));
    }
  }
}

TEST(Rbf, LambdaSmooths) {
  const auto from = randomPoints<2>(30, 3), to = randomPoints<2>(30, 4);
  for (const RbfKernel kernel : kKernels) {
    double before = 0;
    for (const double lambda : {1e-4, 1e-2, 1.0, 100.0}) {
      const auto map = bound<2, 2>(from, to, {.kernel = kernel, .sigma = 0.5, .lambda = lambda});
      double missed = 0;
      for (std::size_t i = 0; i < from.size(); ++i)
        missed += (map.evaluate(from[i]) - to[i]).squaredNorm();
      EXPECT_GT(missed, before) << int(kernel) << " " << lambda;
      before = missed;
    }
  }
}

TEST(Rbf, DoesNotDependOnUnitsAndOrigins) {
  const std::vector<Vec3d> from = controlPoints(kHumanA).positions;
  const std::vector<Vec3d> to = controlPoints(kHumanB).positions;
  for (RbfDesc desc : allDescs()) {
    desc.lambda = 1e-4;
    const auto map = bound<3, 3>(from, to, desc);
    for (const double scale : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
      SCOPED_TRACE(testing::Message() << int(desc.kernel) << " scale " << scale);
      // An offset of a few extents: more would take digits from the points themselves.
      const Vec3d move = scale * Vec3d(30, -20, 50);
      const auto moved = [&](const Vec3d& p) { return Vec3d(scale * p + move); };
      std::vector<Vec3d> far_from, far_to;
      for (std::size_t i = 0; i < from.size(); ++i) {
        far_from.push_back(moved(from[i]));
        far_to.push_back(moved(to[i]));
      }
      const auto far = bound<3, 3>(far_from, far_to, desc);
      for (const Vec3d& p : {Vec3d(1, 2, 10), Vec3d(-7, 5, 0), Vec3d(20, -30, 4)})
        EXPECT_LT((far.evaluate(moved(p)) - moved(map.evaluate(p))).norm(),
                  1e-9 * scale * extent<3>(to));
    }
  }
}

TEST(Rbf, DuplicatesBecomeOneAndAreReported) {
  auto from = randomPoints<3>(12, 5), to = randomPoints<3>(12, 6);
  const std::vector<Vec3d> distinct_from = from, distinct_to = to;
  from.push_back(from[3] + Vec3d(0, 5e-7, 0));
  to.push_back(to[3] + Vec3d(0, 0, 0.2));
  for (const RbfKernel kernel : kKernels) {
    Diagnostics notes;
    const auto map = RbfMap33::bind(from, to, {.kernel = kernel}, notes);
    ASSERT_TRUE(map.ok());
    EXPECT_EQ(map->centreCount(), 12u);
    ASSERT_EQ(notes.count("rbf-duplicates"), 1u);
    EXPECT_EQ(notes.notes()[0].first_indices, std::vector<std::uint64_t>{12});
    EXPECT_LT((map->evaluate(from[3]) - (to[3] + Vec3d(0, 0, 0.1))).norm(), 1e-4);
    EXPECT_LT((map->evaluate(from[5]) - to[5]).norm(), 1e-10);
  }
}

TEST(Rbf, OffThePlaneItMovesAsASimilarity) {
  // A flat triangle fan, turned, doubled and moved: 1 off the plane is 2 off its image, on the same
  // side, although the points say nothing of it.
  const Quatd turn(Eigen::AngleAxisd(1.1, Vec3d(1, 2, -1).normalized()));
  const Quatd tilt(Eigen::AngleAxisd(0.4, Vec3d::UnitX()));
  const auto mapped = [&](const Vec3d& p) { return Vec3d(2 * (turn * p) + Vec3d(1, 2, 3)); };
  std::vector<Vec3d> from, to, bent;
  for (const RbfPoint<2>& p : randomPoints<2>(20, 7)) {
    from.push_back(tilt * Vec3d(p.x(), p.y(), 0) + Vec3d(0, 0, 9));
    to.push_back(mapped(from.back()));
    bent.push_back(to.back() + 0.1 * (turn * Vec3d(0, 0, std::sin(3 * p.x()))));
  }
  const Vec3d normal = tilt * Vec3d::UnitZ();
  for (const RbfDesc& desc : allDescs()) {
    SCOPED_TRACE(int(desc.kernel));
    Diagnostics notes;
    const auto map = RbfMap33::bind(from, to, desc, notes);
    ASSERT_TRUE(map.ok());
    EXPECT_EQ(map->rank(), 2);
    EXPECT_EQ(notes.count("rbf-flat"), 1u);
    for (const Vec3d& p : randomPoints<3>(10, 8))
      EXPECT_LT((map->evaluate(p) - mapped(p)).norm(), 1e-9);
    // With targets off the plane: through them, and still about the same off the plane.
    const auto onto_bent = bound<3, 3>(from, bent, desc);
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_LT((onto_bent.evaluate(from[i]) - bent[i]).norm(), 1e-10 * extent<3>(bent));
      const Vec3d up = onto_bent.evaluate(from[i] + normal);
      const Vec3d down = onto_bent.evaluate(from[i] - normal);
      EXPECT_LT(((up - down) / 2 - 2 * (turn * normal)).norm(), 0.1);
    }
  }
}

TEST(Rbf, BesideALineItMovesAsTheSimilarityThatTurnsLeast) {
  std::vector<Vec3d> from, to;
  for (const double t : {-1.0, -0.3, 0.5, 2.0}) {
    from.emplace_back(t, 1, 0);
    to.emplace_back(0, 3 * t, 7);
  }
  for (const RbfKernel kernel : kKernels) {
    const auto map = bound<3, 3>(from, to, {.kernel = kernel});
    EXPECT_EQ(map.rank(), 1);
    // x to y about z: y becomes -x, z stays.
    EXPECT_LT((map.evaluate({0.5, 2, 0}) - Vec3d(-3, 1.5, 7)).norm(), 1e-9);
    EXPECT_LT((map.evaluate({0.5, 1, 1}) - Vec3d(0, 1.5, 10)).norm(), 1e-9);
  }
  // Reversed, in 2D: half a turn, not a mirror image.
  const std::vector<RbfPoint<2>> line{{0, 0}, {1, 0}, {3, 0}}, reversed{{0, 0}, {-1, 0}, {-3, 0}};
  const auto turned = bound<2, 2>(line, reversed, {});
  EXPECT_LT((turned.evaluate({1, 1}) - RbfPoint<2>(-1, -1)).norm(), 1e-9);
}

TEST(Rbf, AnyPointsGiveNumbers) {
  const double kTiny = 1e-9;
  const std::vector<std::vector<Vec3d>> shelf{
      {{0, 0, 0}, {1, 0, 0}},
      {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}},
      {{0, 0, 0}, {1, 0, 0}, {2, kTiny, 0}, {3, 0, kTiny}},
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, kTiny}},
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
      {{5, 5, 5}, {5, 5, 5}, {6, 5, 5}, {5, 6, 5}, {5, 5, 5}}};
  for (const std::vector<Vec3d>& from : shelf) {
    std::vector<Vec3d> turned, same(from.size(), Vec3d(1, 2, 3));
    for (const Vec3d& p : from) turned.emplace_back(-p.y(), p.x(), 2 * p.z());
    for (const auto& to : {from, turned, same}) {
      for (const RbfDesc& desc : allDescs()) {
        const auto map = bound<3, 3>(from, to, desc);
        for (const Vec3d& p : randomPoints<3>(5, 9)) {
          EXPECT_TRUE(map.evaluate(p).allFinite());
          const std::array<Vec3f, 1> point{p.cast<float>()};
          std::array<Vec3f, 1> mapped;
          map.evaluate(point, mapped);
          EXPECT_TRUE(mapped[0].allFinite());
        }
      }
    }
  }
}

TEST(Rbf, SaysWhatIsWrong) {
  Diagnostics notes;
  const auto from = randomPoints<3>(5, 1), to = randomPoints<3>(5, 2);
  const auto error = [&](const std::vector<Vec3d>& a, const std::vector<Vec3d>& b,
                         const RbfDesc& desc) {
    const auto map = RbfMap33::bind(a, b, desc, notes);
    return map.ok() ? std::string("none") : map.error().text();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error({}, {}, {}), "there are none"));
  EXPECT_TRUE(has(error(from, {to[0]}, {}), "5 sources, but 1 targets"));
  EXPECT_TRUE(has(error({from[0], from[0]}, {to[0], to[1]}, {}), "two distinct sources"));
  EXPECT_EQ(error({from[0]}, {to[0]}, {.kernel = RbfKernel::Gaussian, .affine = false}), "none");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto odd = from;
  odd[3].y() = nan;
  EXPECT_TRUE(has(error(odd, to, {}), "rbf points[3]: source is not finite"));
  odd[3].y() = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(error(from, odd, {}), "rbf points[3]: target is not finite"));
  EXPECT_TRUE(has(error(from, to, {.sigma = -1}), "rbf.sigma"));
  EXPECT_TRUE(has(error(from, to, {.sigma = nan}), "rbf.sigma"));
  EXPECT_TRUE(has(error(from, to, {.lambda = -1}), "rbf.lambda"));
  EXPECT_TRUE(has(error(from, to, {.lambda = nan}), "rbf.lambda"));
  EXPECT_TRUE(has(error(randomPoints<3>(60, 1), randomPoints<3>(60, 2),
                        {.kernel = RbfKernel::Gaussian, .sigma = 50}),
                  "sigma is too wide"));
  // r^2 ln r is 0 at r = 1, here the distance of the first two in rms radii: two columns are alike.
  const std::vector<Vec3d> line{{0, 0, 0}, {1, 0, 0}, {(1 + std::sqrt(15)) / 2, 0, 0}};
  EXPECT_TRUE(has(error(line, line, {.kernel = RbfKernel::ThinPlate, .affine = false}),
                  "needs the affine part"));
}

template <int In, int Out>
void expectBatchMatches() {
  // More than two tasks, and a rest that fills no register.
  constexpr std::size_t kCount = 5003;
  std::vector<RbfPoint<In>> from = randomPoints<In>(28, 1);
  std::vector<RbfPoint<Out>> to;
  for (const RbfPoint<In>& p : from) {
    RbfPoint<Out> q;
    for (int o = 0; o < Out; ++o) q[o] = 100 + 3 * p[o % In] + 0.3 * std::sin(3 * p[(o + 1) % In]);
    to.push_back(q);
  }
  for (RbfPoint<In>& p : from) p += RbfPoint<In>::Constant(20);
  std::vector<RbfPointf<In>> points;
  for (const RbfPoint<In>& p : randomPoints<In>(kCount, 3))
    points.push_back((1.5 * p + RbfPoint<In>::Constant(20)).template cast<float>());
  for (std::size_t i = 0; i < from.size(); ++i) points[i] = from[i].template cast<float>();
  for (const RbfDesc& desc : allDescs()) {
    SCOPED_TRACE(int(desc.kernel));
    const auto map = bound<In, Out>(from, to, desc);
    onEveryTarget([&] {
      std::vector<RbfPointf<Out>> mapped(kCount), threaded(kCount);
      {
        const ThreadLimit one(1);
        const std::size_t before = allocationCount();
        map.evaluate(points, mapped);
        EXPECT_EQ(allocationCount(), before);
      }
      double worst = 0;
      for (std::size_t i = 0; i < kCount; ++i)
        worst = std::max(worst, (map.evaluate(points[i].template cast<double>().eval()) -
                                 mapped[i].template cast<double>())
                                    .norm());
      EXPECT_LT(worst, 1e-5 * extent<Out>(to) + 2e-5);  // 100 + ... has steps of 8e-6
      const ThreadLimit many(4);
      map.evaluate(points, threaded);
      EXPECT_EQ(mapped, threaded);
    });
  }
}

TEST(Rbf, ManyPointsAtOnceAreThoseOneByOne) {
  expectBatchMatches<2, 2>();
  expectBatchMatches<2, 3>();
  expectBatchMatches<3, 2>();
  expectBatchMatches<3, 3>();
}

TEST(Rbf, PointsAreMappedInPlace) {
  const auto map =
      bound<3, 3>(controlPoints(kHumanA).positions, controlPoints(kHumanB).positions, {});
  std::vector<Vec3f> points, mapped(70);
  for (const Vec3d& p : randomPoints<3>(70, 1)) points.push_back((8 * p).cast<float>());
  map.evaluate(points, mapped);
  map.evaluate(points, points);
  EXPECT_EQ(points, mapped);
  map.evaluate(std::span<const Vec3f>(), std::span<Vec3f>());
}

}  // namespace
}  // namespace derm::rbf_test
