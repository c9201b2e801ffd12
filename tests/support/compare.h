#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/math/vec.h"

namespace derm::testing_support {

inline constexpr float kFloatEps = std::numeric_limits<float>::epsilon();

inline float maxDistance(std::span<const Vec3f> a, std::span<const Vec3f> b) {
  EXPECT_EQ(a.size(), b.size());
  float largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const float d = (a[i] - b[i]).norm();
    // NaN must not pass as small.
    if (!(d <= largest)) largest = std::isfinite(d) ? d : std::numeric_limits<float>::infinity();
  }
  return largest;
}

inline std::vector<Vec3d> inDouble(std::span<const Vec3f> positions) {
  std::vector<Vec3d> out;
  for (const Vec3f& p : positions) out.push_back(p.cast<double>());
  return out;
}

inline float largestCoordinate(std::span<const Vec3f> positions) {
  float largest = 0;
  for (const Vec3f& p : positions) largest = std::max(largest, p.cwiseAbs().maxCoeff());
  return largest;
}

/// Folder of third-party test data; empty path where it is absent.
inline std::filesystem::path dataFolder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(DERM_TEST_DATA) / name;
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

}  // namespace derm::testing_support

/// First line of a test that needs third-party data: declares `folder`, or skips with a word.
#define DERM_DATA_OR_SKIP(folder, name)                                           \
  const std::filesystem::path folder = ::derm::testing_support::dataFolder(name); \
  if (folder.empty()) GTEST_SKIP() << "test data \"" << name << "\" is not here"
