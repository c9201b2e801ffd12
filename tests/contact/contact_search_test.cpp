// Which skin is inside which, whatever else is looked at with it.
#include "contact/contact_search.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "derm/deform/basic_layers.h"

#include "contact/contact_binding.h"
#include "contact/two_balls.h"

namespace derm {
namespace contact_search_test {
namespace {

using namespace contact_test;

// Points are passed over by the boxes of those beside them: it must not show.
TEST(ContactSearch, APointMeetsTheSameSkinAloneAndAmongAll) {
  const auto c = std::make_shared<const Character>(balls());
  Diagnostics notes;
  const auto body = detail::bindContactBody(*c, c->mesh, c->skin, {}, "balls", notes);
  ASSERT_NE(body, nullptr);
  StackRunner runner(Stack::bind(c, std::vector{skinningLayer({})}, notes).value());
  detail::ContactSearch search(*body), alone(*body);
  detail::PointSet one(body->pointCount());
  // Far from the middle of the world, where rounding is coarse, as well.
  for (const float away : {0.0f, 40.0f}) {
    Pose pose = pressed(*c, 2 * kRadius - 0.03);
    pose.local[0].translation = Vec3f(away, 0.3f * away, -away);
    pose.local[0].rotation = Quatf(Eigen::AngleAxisf(0.6f, Eigen::Vector3f(1, 2, 3).normalized()));
    runner.setPose(pose, 0);
    const detail::ContactFrame frame = {.palette = runner.palette(),
                                        .positions = runner.evaluate().positions()};
    search.takeUp(frame);
    ASSERT_TRUE(search.find(nullptr));
    ASSERT_GT(search.contacts().size(), 20u);
    std::size_t found = 0;
    alone.takeUp(frame);
    for (std::uint32_t p = 0; p < body->welded_count; ++p) {
      one.clear();
      one.add(p);
      ASSERT_TRUE(alone.find(&one));
      for (const detail::Contact& contact : alone.contacts()) {
        ++found;
        const auto same = [&](const detail::Contact& a) { return a.point == contact.point; };
        EXPECT_EQ(contact.point, p);
        const auto at = std::find_if(search.contacts().begin(), search.contacts().end(), same);
        ASSERT_NE(at, search.contacts().end()) << p;
        EXPECT_EQ(at->depth, contact.depth);
        EXPECT_EQ(at->hit, contact.hit);
      }
    }
    EXPECT_EQ(found, search.contacts().size());
  }
}

/// As joints of files in centimetres on a mesh in metres have it, and smaller still.
TEST(ContactSearch, SkinThatIsPosedTinyMeetsAsAnyOther) {
  const auto c = std::make_shared<const Character>(balls());
  Diagnostics notes;
  const auto body = detail::bindContactBody(*c, c->mesh, c->skin, {}, "balls", notes);
  ASSERT_NE(body, nullptr);
  StackRunner runner(Stack::bind(c, std::vector{skinningLayer({})}, notes).value());
  detail::ContactSearch search(*body);
  for (const float scale : {1.0f, 1.0f / 1024, 1.0f / 65536}) {
    SCOPED_TRACE(scale);
    Pose pose = pressed(*c, 2 * kRadius - 0.03);
    pose.local[0].scale = Vec3f::Constant(scale);
    runner.setPose(pose, 0);
    search.takeUp({.palette = runner.palette(), .positions = runner.evaluate().positions()});
    EXPECT_NEAR(search.scale(), scale, 1e-5f * scale);
    ASSERT_TRUE(search.find(nullptr));
    EXPECT_GT(search.contacts().size(), 20u);
  }
}

}  // namespace
}  // namespace contact_search_test
}  // namespace derm
