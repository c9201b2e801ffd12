#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/weights/character_weights.h"

#include "support/compare.h"

/// Real characters, stripped of their weights and weighted anew, against what their artists did.
namespace derm::auto_weights_data_test {
namespace {

/// Mean over the skinned vertices of half the sum of |new - old| over the joints: 0 the same, 1 all
/// on other joints.
double distanceFromArtist(const Character& c, const Skin& found) {
  double sum = 0;
  std::size_t vertices = 0;
  std::vector<double> difference(c.skeleton.size());
  for (const MeshInstance& m : c.instances) {
    if (m.rigid) continue;
    vertices += m.vertex_count;
    for (std::size_t v = m.first_vertex; v < std::size_t{m.first_vertex} + m.vertex_count; ++v) {
      std::fill(difference.begin(), difference.end(), 0.0);
      for (const Influence& i : c.skin[v])
        difference[c.skin.slots[i.slot].joint.index()] += i.weight;
      for (const Influence& i : found[v]) difference[found.slots[i.slot].joint.index()] -= i.weight;
      for (const double d : difference) sum += std::abs(d) / 2;
    }
  }
  return vertices > 0 ? sum / static_cast<double>(vertices) : 0.0;
}

struct Case {
  const char* file;
  double heat;      ///< measured, plus a tenth
  double geodesic;  ///< the same
};

class AutoWeightsData : public ::testing::TestWithParam<Case> {};

TEST_P(AutoWeightsData, ComeNearToTheArtistsWeights) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  Diagnostics notes;
  const Result<Character> c = loadCharacter(folder / GetParam().file, {}, notes);
  ASSERT_TRUE(c.ok()) << c.error().text();
  for (const auto& [method, max] : {std::pair{WeightMethod::Heat, GetParam().heat},
                                    {WeightMethod::Geodesic, GetParam().geodesic}}) {
    const Result<Skin> skin = autoWeights(*c, {}, {.method = method}, notes);
    ASSERT_TRUE(skin.ok()) << skin.error().text();
    ASSERT_TRUE(validate(*skin, c->mesh.vertexCount(), c->skeleton.size(), "").ok());
    const double distance = distanceFromArtist(*c, *skin);
    RecordProperty(std::string(nameOf(method)), std::to_string(distance));
    EXPECT_LT(distance, max) << nameOf(method);
  }
}

INSTANTIATE_TEST_SUITE_P(Characters, AutoWeightsData,
                         ::testing::Values(Case{"CesiumMan.glb", 0.09, 0.22},
                                           Case{"Fox.glb", 0.30, 0.29},
                                           Case{"RiggedFigure.glb", 0.19, 0.21},
                                           Case{"KayKit_Knight.glb", 0.42, 0.43},
                                           Case{"RiggedSimple.glb", 0.06, 0.05}),
                         [](const auto& test) {
                           std::string name = test.param.file;
                           return name.substr(0, name.find_first_of("._"));
                         });

}  // namespace
}  // namespace derm::auto_weights_data_test
