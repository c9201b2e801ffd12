#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "derm/character/character.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/triangle_tree.h"

#include "support/posed.h"

/// A head while a clip holds its expression.
namespace derm::testing_support {

/// The skin when a clip holds its expression.
inline std::vector<Vec3f> held(const Character& head, std::string_view name) {
  for (const Clip& clip : head.clips)
    if (clip.name == name)
      return skinned(head, poseAt(head, clip, name == "blink" ? 0.1 : 0.4), SkinningMethod::Linear)
          .positions;
  ADD_FAILURE() << "no clip " << name;
  return head.mesh.positions;
}

/// [1] Largest distance of an upper margin's vertices to the lower margin, seen from the front,
/// over the opening at rest; of both eyes.
inline double gapOf(const Character& head, const std::vector<Vec3f>& posed) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head.mesh, head.points, notes);
  EXPECT_TRUE(slits.left_eye && slits.right_eye);
  const auto seen = [&](std::uint32_t v) { return Vec3d(posed[v].x(), posed[v].y(), 0); };
  double largest = 0;
  for (const std::optional<FaceSlit>* eye : {&slits.left_eye, &slits.right_eye}) {
    if (!*eye) continue;
    const std::vector<std::uint32_t>& lower = (*eye)->lower;
    EXPECT_GT((*eye)->upper.size(), 5u);
    for (const std::uint32_t v : (*eye)->upper) {
      double nearest = 1;
      for (std::size_t i = 0; i + 1 < lower.size(); ++i) {
        const Vec3d a = seen(lower[i]), b = seen(lower[i + 1]);
        const double t = closestOnSegment(seen(v), a, b);
        nearest = std::min(nearest, (a + t * (b - a) - seen(v)).norm());
      }
      largest = std::max(largest, nearest / (*eye)->opening_m);
    }
  }
  return largest;
}

}  // namespace derm::testing_support
