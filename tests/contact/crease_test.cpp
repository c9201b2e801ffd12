// The bottom of a crease: skin that skinning folds over the skin beside it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numbers>
#include <utility>

#include <gtest/gtest.h>

#include "derm/contact/contact_layer.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/mesh/normals.h"

#include "contact/contact_binding.h"
#include "contact/contact_search.h"
#include "contact/crease_rounding.h"

namespace derm {
namespace crease_test {
namespace {

constexpr double kRadius = 0.04, kLength = 0.6;
constexpr int kRings = 80, kSectors = 28;

/// A limb along z with round ends that bends in its middle, about x.
Character limb() {
  Character c;
  c.name = "limb";
  Affine3f from_hinge = Affine3f::Identity();
  from_hinge.translation() = -Vec3f(0, 0, static_cast<float>(kLength / 2));
  const std::vector<SkinSlot> slots = {{JointId(0), Affine3f::Identity()},
                                       {JointId(1), from_hinge}};
  SkinBuilder skin(slots, kRings * kSectors + 2);
  Diagnostics notes;
  std::vector<Influence> row;
  const auto add = [&](double x, double y, double z) {
    c.mesh.positions.push_back(Vec3d(x, y, z).cast<float>());
    const double t = std::clamp((z - kLength / 2) / 0.06 + 0.5, 0.0, 1.0);
    const auto bends = static_cast<float>(t * t * (3 - 2 * t));
    row.clear();
    if (bends > 0) row.push_back({1, bends});
    if (bends < 1) row.push_back({0, 1 - bends});
    skin.addVertex(row, 0, "limb", notes);
  };
  const auto at = [](int ring, int sector) {
    return static_cast<std::uint32_t>(ring * kSectors + sector % kSectors);
  };
  for (int r = 0; r < kRings; ++r) {
    const double z = kLength * (r + 0.5) / kRings;
    const double end = std::min(1.0, std::min(z, kLength - z) / kRadius);
    const double radius = kRadius * std::sqrt(1 - (1 - end) * (1 - end));
    for (int s = 0; s < kSectors; ++s) {
      const double around = 2 * std::numbers::pi * s / kSectors;
      add(radius * std::cos(around), radius * std::sin(around), z);
    }
  }
  const auto ends = static_cast<std::uint32_t>(c.mesh.positions.size());
  add(0, 0, 0);
  add(0, 0, kLength);
  for (int s = 0; s < kSectors; ++s) {
    c.mesh.triangles.push_back({ends, at(0, s + 1), at(0, s)});
    c.mesh.triangles.push_back({ends + 1, at(kRings - 1, s), at(kRings - 1, s + 1)});
    for (int r = 0; r + 1 < kRings; ++r) {
      c.mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
      c.mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
    }
  }
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  addDefaultParts(c);
  c.skin = std::move(skin).finish();
  c.skeleton.joints.push_back({.name = "root"});
  c.skeleton.joints.push_back({.name = "hinge", .parent = JointId(0)});
  c.skeleton.joints[1].rest.translation = Vec3f(0, 0, static_cast<float>(kLength / 2));
  return c;
}

Pose bent(const Character& c, double degrees) {
  Pose pose = c.restPose();
  pose.local[1].rotation = Quatf(Eigen::AngleAxisf(
      static_cast<float>(degrees * std::numbers::pi / 180), Eigen::Vector3f::UnitX()));
  return pose;
}

std::vector<Vec3f> posed(StackRunner& runner, const Pose& pose) {
  runner.setPose(pose, 0);
  const auto x = runner.evaluate().positions();
  return {x.begin(), x.end()};
}

Vec3f areaVector(const Triangle& t, std::span<const Vec3f> x) {
  return Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]]));
}

/// Edges with more than 150 degrees between the normals beside them.
int folded(const TriMesh& mesh, std::span<const Vec3f> x) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Vec3f> first;
  int count = 0;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3f n = areaVector(t, x).normalized();
      const auto [at, is_new] = first.emplace(std::minmax(t[k], t[(k + 1) % 3]), n);
      count += !is_new && at->second.dot(n) < -0.8660254f;
    }
  return count;
}

class Creases : public testing::Test {
 protected:
  Creases()
      : character(std::make_shared<const Character>(limb())),
        skinned(Stack::bind(character, std::vector{skinning()}, notes).value()),
        contact(Stack::bind(character, std::vector{skinning(), contactLayer("contact", {})}, notes)
                    .value()) {}
  static LayerFactory skinning() { return skinningLayer({.method = SkinningMethod::Centre}); }

  Diagnostics notes;
  std::shared_ptr<const Character> character;
  StackRunner skinned, contact;
};

TEST_F(Creases, SkinFoldsOverTheSkinBesideItNoMoreThanALimit) {
  int before = 0, after = 0;
  for (const double degrees : {80.0, 95.0, 110.0, 125.0, 140.0}) {
    const Pose pose = bent(*character, degrees);
    const std::vector<Vec3f> x = posed(skinned, pose), y = posed(contact, pose);
    const int was = folded(character->mesh, x), is = folded(character->mesh, y);
    std::printf("%.0f degrees: %d -> %d folded\n", degrees, was, is);
    before += was;
    after += is;
    for (const Triangle& t : character->mesh.triangles)
      EXPECT_GE(areaVector(t, x).dot(areaVector(t, y)), 0) << degrees;
  }
  EXPECT_GT(before, 10);
  EXPECT_LE(after, before / 2);
}

// By themselves, without what pushes the two halves of the limb apart.
TEST_F(Creases, OpenWithoutAJumpAndNotBeforeTheyAreSharp) {
  const auto body =
      detail::bindContactBody(*character, character->mesh, character->skin, {}, "limb", notes);
  ASSERT_NE(body, nullptr);
  detail::ContactSearch search(*body);
  detail::CreaseRounding creases(*body);
  const std::vector<Affine3f> palette(2, Affine3f::Identity());
  std::vector<Vec3f> last, last_skinned;
  float largest = 0, own = 0;
  std::size_t opened = 0;
  for (double degrees = 20; degrees <= 100; degrees += 0.25) {
    const std::vector<Vec3f> x = posed(skinned, bent(*character, degrees));
    search.takeUp({.palette = palette, .positions = x});
    creases.open(search);
    const std::vector<Vec3f> y = search.points();
    if (degrees < 45) {
      EXPECT_TRUE(creases.moved().empty()) << degrees;
    }
    opened += creases.moved().size();
    ASSERT_EQ(y.size(), x.size());
    for (std::size_t v = 0; v < x.size() && !last.empty(); ++v) {
      own = std::max(own, (x[v] - last_skinned[v]).norm());
      largest = std::max(largest, ((y[v] - x[v]) - (last[v] - last_skinned[v])).norm());
    }
    last = y;
    last_skinned = x;
  }
  std::printf("opening %.2f mm, the motion %.2f mm at a time\n", double{1e3f * largest},
              double{1e3f * own});
  EXPECT_GT(opened, 0u);
  EXPECT_LT(largest, own / 10);
}

}  // namespace
}  // namespace crease_test
}  // namespace derm
