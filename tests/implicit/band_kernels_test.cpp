#include "implicit/band_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

#include "implicit/band_stepper.h"

namespace derm::detail::band_kernels_test {
namespace {

constexpr int kSide = 24;  // three blocks each way

/// A dense cube of values and the same as a grid of 27 blocks.
struct Cube {
  std::vector<float> f = std::vector<float>(kSide * kSide * kSide);
  float& at(int x, int y, int z) {
    return f[static_cast<std::size_t>((z * kSide + y) * kSide + x)];
  }
  float at(int x, int y, int z) const {
    return f[static_cast<std::size_t>((z * kSide + y) * kSide + x)];
  }
};

BandGrid gridOf(const Cube& cube) {
  BandGrid grid;
  std::vector<BlockCoord> coords;
  for (int n = 0; n < 27; ++n) coords.push_back({n % 3, n / 3 % 3, n / 9});
  grid.createBlocks(coords);
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& b = grid.coord(slot);
    for (int i = 0; i < 512; ++i)
      grid.values(slot)[i] = cube.at(8 * b.x + (i & 7), 8 * b.y + (i >> 3 & 7), 8 * b.z + (i >> 6));
    grid.updateWords(slot);
  }
  return grid;
}

Cube bumpyBall() {
  Cube cube;
  Rng rng(3);
  for (int z = 0; z < kSide; ++z)
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const double dx = x - 11.4, dy = y - 11.7, dz = z - 11.1;
        const double f = 6.3 - std::sqrt(dx * dx + dy * dy + dz * dz) + rng.uniform(-0.2, 0.2);
        cube.at(x, y, z) = static_cast<float>(std::clamp(f, -2.5, 2.5));
      }
  return cube;
}

/// Curvature as the formula stands, in double.
double plainCurvature(const Cube& c, int x, int y, int z) {
  const auto f = [&](int a, int b, int d) { return double{c.at(x + a, y + b, z + d)}; };
  const double fx = (f(1, 0, 0) - f(-1, 0, 0)) / 2, fy = (f(0, 1, 0) - f(0, -1, 0)) / 2,
               fz = (f(0, 0, 1) - f(0, 0, -1)) / 2;
  const double fxx = f(1, 0, 0) + f(-1, 0, 0) - 2 * f(0, 0, 0),
               fyy = f(0, 1, 0) + f(0, -1, 0) - 2 * f(0, 0, 0),
               fzz = f(0, 0, 1) + f(0, 0, -1) - 2 * f(0, 0, 0);
  const double fxy = (f(1, 1, 0) + f(-1, -1, 0) - f(1, -1, 0) - f(-1, 1, 0)) / 4,
               fyz = (f(0, 1, 1) + f(0, -1, -1) - f(0, 1, -1) - f(0, -1, 1)) / 4,
               fxz = (f(1, 0, 1) + f(-1, 0, -1) - f(1, 0, -1) - f(-1, 0, 1)) / 4;
  const double g2 = std::max(fx * fx + fy * fy + fz * fz, 1e-4);
  const double sum = fx * fx * (fyy + fzz) + fy * fy * (fxx + fzz) + fz * fz * (fxx + fyy) -
                     2 * (fx * fy * fxy + fy * fz * fyz + fx * fz * fxz);
  return std::clamp(-sum / (g2 * std::sqrt(g2)), -2.0, 2.0);
}

TEST(BandKernels, ListTheBitsAndRowsOfWordsAsPlainLoopsDo) {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    std::uint64_t words[8];
    for (std::uint64_t& w : words) {
      w = rng.next();
      for (int i = 0; i < round % 7; ++i) w &= rng.next();  // full to nearly empty
    }
    std::vector<std::uint16_t> plain;
    std::uint64_t rows = 0;
    for (unsigned n = 0; n < 512; ++n)
      if (words[n / 64] >> n % 64 & 1) {
        plain.push_back(static_cast<std::uint16_t>(n));
        rows |= std::uint64_t{1} << n / 8;
      }
    std::vector<std::uint16_t> listed(512 + 8);
    listed.resize(listBits(words, listed.data()));
    EXPECT_EQ(listed, plain);
    EXPECT_EQ(rowsOf(words), rows);
  }
}

TEST(BandKernels, PackRowsOfATileByTheirNumber) {
  Rng rng(12);
  BlockTile::RowMask mask;
  for (std::uint32_t& slice : mask) slice = static_cast<std::uint32_t>(rng.next() & 0x7FF);
  const std::array<std::uint64_t, 3> words = packed(mask);
  for (int number = 0; number < 121; ++number)
    EXPECT_EQ(words[static_cast<std::size_t>(number / kRowsPerWord)] >> number % kRowsPerWord & 1,
              mask[static_cast<std::size_t>(number / 11)] >> number % 11 & 1);
}

TEST(BandKernels, CurvatureIsThatOfThePlainFormula) {
  const Cube cube = bumpyBall();
  const BandGrid grid = gridOf(cube);
  BandStepper stepper;
  stepper.prepare(grid);
  std::vector<float> curvature;
  stepper.findCurvature(grid, curvature);
  int compared = 0;
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& b = grid.coord(slot);
    for (int z = 0; z < 8; ++z)
      forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const double plain =
            plainCurvature(cube, 8 * b.x + (bit & 7), 8 * b.y + (bit >> 3), 8 * b.z + z);
        EXPECT_NEAR(curvature[512 * slot + std::size_t(64 * z + bit)], plain, 2e-4);
        ++compared;
      });
  }
  EXPECT_GT(compared, 800);
}

/// Step C as the scheme is written, node by node in double.
class PlainStep {
 public:
  explicit PlainStep(const Cube& cube) : cube_(cube) {}

  bool isNear(int x, int y, int z) const {
    const bool in = cube_.at(x, y, z) > 0;
    for (int a = 0; a < 3; ++a)
      for (int d : {-1, 1})
        if ((cube_.at(x + d * (a == 0), y + d * (a == 1), z + d * (a == 2)) > 0) != in) return true;
    return false;
  }

  double next(int x, int y, int z, double move) const {
    const double f = cube_.at(x, y, z), sign = f > 0 ? 1 : -1;
    double starts[3], central = 0, one_sided = 0;
    for (int a = 0; a < 3; ++a) {
      const auto v = [&](int d) {
        return double{cube_.at(x + d * (a == 0), y + d * (a == 1), z + d * (a == 2))};
      };
      central += (v(1) - v(-1)) * (v(1) - v(-1)) / 4;
      const double rise = std::max(sign * f - std::min(sign * v(1), sign * v(-1)), 0.0);
      one_sided += rise * rise;
      const bool low = sign * v(-1) < sign * v(1);
      const double near = sign * v(low ? -1 : 1), beyond = sign * v(low ? -2 : 2);
      starts[a] = near + std::clamp(near - beyond, 0.0, 1.2) / 3;
    }
    if (!isNear(x, y, z)) return sign * std::min(std::max(1e-3, solve(starts)), 2.5);
    const double g = std::sqrt(central), slope = g > 0.6 ? g : std::sqrt(one_sided);
    const double d = std::clamp(move, -0.5, 0.5);
    const double pulled =
        f + d * std::max(g, 0.6) +
        std::min(0.3, 0.01 + 2 * std::abs(d)) * std::clamp(1 - slope, -1.0, 0.5) * f;
    return std::clamp(pulled, -0.95 * 2.5, 0.95 * 2.5);
  }

 private:
  static double solve(double (&a)[3]) {
    std::sort(a, a + 3);
    double u = a[0] + 2.0 / 3;
    for (int n = 2; n <= 3; ++n) {
      if (u <= a[n - 1]) break;
      double sum = 0, squares = 0;
      for (int k = 0; k < n; ++k) {
        sum += a[k];
        squares += a[k] * a[k];
      }
      u = (sum + std::sqrt(std::max(0.0, sum * sum - n * (squares - 4.0 / 9)))) / n;
    }
    return u;
  }
  const Cube& cube_;
};

TEST(BandKernels, AStepDoesWhatTheSchemeSaysAtEveryNode) {
  const Cube cube = bumpyBall();
  BandGrid grid = gridOf(cube);
  BandStepper stepper;
  stepper.prepare(grid);
  const std::vector<float> moves(stepper.index().count(), 0.2f);
  stepper.advance(grid, moves, {});
  const PlainStep plain(cube);
  int near = 0;
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& b = grid.coord(slot);
    for (int i = 0; i < 512; ++i) {
      const int x = 8 * b.x + (i & 7), y = 8 * b.y + (i >> 3 & 7), z = 8 * b.z + (i >> 6);
      if (std::min({x, y, z}) < 2 || std::max({x, y, z}) > kSide - 3) continue;
      near += plain.isNear(x, y, z);
      // Values above the limit of the band are snapped to its width.
      EXPECT_NEAR(grid.values(slot)[i], plain.next(x, y, z, 0.2), 3e-4)
          << x << " " << y << " " << z;
    }
  }
  EXPECT_GT(near, 800);
}

}  // namespace
}  // namespace derm::detail::band_kernels_test
