#include "derm/face/head_correspondence.h"

#include <limits>

#include <gtest/gtest.h>

namespace derm::head_correspondence_test {
namespace {

HeadCorrespondence ofThreeVertices() {
  HeadCorrespondence c;
  c.source_points.resize(3);
  c.source_points[1].triangle = HeadCorrespondence::kNoTriangle;
  c.confidence = {1.0f, 0.0f, 0.5f};
  return c;
}

TEST(HeadCorrespondence, VerticesWithAndWithoutACounterpartAreFine) {
  const HeadCorrespondence c = ofThreeVertices();
  EXPECT_TRUE(validate(c, 1, 3));
  EXPECT_TRUE(c.has(0));
  EXPECT_FALSE(c.has(1));
}

TEST(HeadCorrespondence, WhatIsWrongIsNamed) {
  EXPECT_FALSE(validate(ofThreeVertices(), 1, 4));
  HeadCorrespondence c = ofThreeVertices();
  c.confidence.pop_back();
  EXPECT_FALSE(validate(c, 1, 3));
  c = ofThreeVertices();
  c.source_points[2].triangle = 7;
  const Result<void> far = validate(c, 1, 3);
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message.find("7"), std::string::npos) << far.error().message;
  c = ofThreeVertices();
  c.confidence[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(validate(c, 1, 3));
}

}  // namespace
}  // namespace derm::head_correspondence_test
