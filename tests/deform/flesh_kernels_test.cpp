#include "deform/flesh_kernels.h"

#include <vector>

#include <gtest/gtest.h>

namespace derm::flesh_kernels_test {
namespace {

using namespace detail;

// A swing that dies away passes through numbers whose squares no float holds.
TEST(FleshKernels, SkinWithinTheBonesRadiusStaysHoweverLittleIsLeftOfASwing) {
  const std::vector<std::uint32_t> vertices = {0, 1, 2};
  const std::vector<float> alpha = {1, 0.5f, 0.01f};
  const FleshRuns runs = makeFleshRuns(vertices, alpha);
  const std::vector<Vec3f> before = {{0.02f, 0.1f, 0}, {0, 0.2f, 0.03f}, {0.01f, 0.3f, 0.01f}};
  for (const float left : {1e-3f, 1e-18f, 1e-19f, 1e-20f, 1e-22f}) {
    std::vector<Vec3f> positions = before;
    FleshFrame frame;
    frame.runs = &runs;
    frame.positions = positions.data()->data();
    frame.bone_along = Vec3f(0, 1, 0);
    frame.bone_radius = 0.05f;
    frame.soft_limit = 0.5f;
    frame.rotates = true;
    frame.offset = Vec3f(left, 0, 0);
    frame.origin = Vec3f(0, 0.5f, 0);
    frame.swing = Vec3f(0, 0, left);
    moveFlesh(frame, 0);
    EXPECT_EQ(positions, before) << left;
  }
}

}  // namespace
}  // namespace derm::flesh_kernels_test
