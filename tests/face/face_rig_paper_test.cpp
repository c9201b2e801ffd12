#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "rigged_head.h"

namespace derm::face_rig_paper_test {
namespace {

/// Surprise with every joint moved by its point's displacement, as published numbers have it.
double surprisedStretch(char letter, ZoneBlend blend) {
  const Character head = headCalled(letter);
  Diagnostics notes;
  const FacePoints points = pointsOf(head);
  const FaceWeights w = faceWeights(head.mesh, points,
                                    {.blend = blend,
                                     .lids_along_margins = false,
                                     .lips_around_slit = false,
                                     .with_jaw = false,
                                     .smooth = false,
                                     .separate_sides = false},
                                    notes)
                            .value();
  std::vector<Vec3d> moved(29, Vec3d::Zero());
  const auto surprise = expressionDisplacements("surprise", points);
  for (const PointDisplacement& d : *surprise) moved[columnOf(d.point)] = d.displacement_m;
  std::vector<Vec3f> posed;
  for (std::size_t v = 0; v < w.vertexCount(); ++v) {
    Vec3d p = head.mesh.positions[v].cast<double>();
    for (const FaceWeights::Share& s : w[v]) p += s.weight * moved[s.point];
    posed.push_back(p.cast<float>());
  }
  return largestStretch(head.mesh, posed);
}

// Dutreve 2011, eq. 3.19, on three heads that are formulas: normalising over control points alone
// tears the skin; what is left for the head keeps it whole. Known: 19.9, 53.6, 8.4
// and 2.7, 4.8, 2.8 on meshes that differ from these in their rims.
TEST(FaceRigPaper, Eq3_19_TearsAndTheHeadsShareDoesNot) {
  const double torn[] = {19.9, 53.6, 8.4}, whole[] = {2.7, 4.8, 2.8};
  for (int i = 0; i < 3; ++i) {
    const char letter = static_cast<char>('a' + i);
    const double normalised = surprisedStretch(letter, ZoneBlend::Normalised);
    const double residual = surprisedStretch(letter, ZoneBlend::Residual);
    std::printf("head %c: stretch on surprise %.2f normalised, %.2f with the head's share\n",
                letter, normalised, residual);
    EXPECT_NEAR(normalised, torn[i], 0.03 * torn[i]);
    EXPECT_NEAR(residual, whole[i], 0.1 * whole[i]);
  }
  EXPECT_LE(surprisedStretch('a', ZoneBlend::Residual), 3.5);
  EXPECT_LE(surprisedStretch('c', ZoneBlend::Residual), 3.5);
}

// What `derm face rig` makes: points follow exactly, and edges are stretched less.
TEST(FaceRigPaper, TheDefaultRigStretchesLess) {
  for (const char letter : {'a', 'b', 'c'}) {
    Character head = headCalled(letter);
    Diagnostics notes;
    const FaceRig rig = addFaceRig(head, {}, notes).value();
    for (const std::string_view name : expressionNames()) {
      const double stretch = largestStretch(head.mesh, inExpression(head, rig, name));
      std::printf("head %c: %s %.2f\n", letter, std::string(name).c_str(), stretch);
      // The cartoon's lids close over eyes of 2.6 cm that are painted on the skin.
      EXPECT_LE(stretch, name == "blink" && letter == 'c' ? 7.0 : 3.5) << letter << " " << name;
    }
  }
}

}  // namespace
}  // namespace derm::face_rig_paper_test
