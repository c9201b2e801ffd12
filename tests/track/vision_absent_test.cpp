#include <gtest/gtest.h>

#include "derm/track/marker_tracker.h"

namespace derm::vision_absent_test {
namespace {

TEST(MarkerTrackerAbsent, SaysHowToGetIt) {
  const std::vector<Marker> markers = {{"9.3", Vec3d(30, 30, 0)}};
  const auto tracker = MarkerTracker::start(Grey8Image(64, 64, 100), 0, markers);
  ASSERT_FALSE(tracker.ok());
  EXPECT_EQ(tracker.error().code, ErrorCode::Unsupported);
  EXPECT_NE(tracker.error().message.find("libopencv-video-dev"), std::string::npos);
}

}  // namespace
}  // namespace derm::vision_absent_test
