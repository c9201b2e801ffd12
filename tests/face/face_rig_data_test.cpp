#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "derm/face/control_points.h"
#include "derm/io/character_file.h"

#include "rigged_head.h"
#include "support/unpacked.h"

namespace derm {
namespace {

/// Control points of a scanned head from its 68 landmarks: one, or the middle between two.
std::vector<PointPlace> placesOf(const std::filesystem::path& folder, const Character& head) {
  std::vector<std::uint32_t> landmarks(68);
  std::ifstream file(folder / "landmarks68.txt");
  for (std::string line; std::getline(file, line);) {
    std::size_t number = 0;
    std::uint32_t vertex = 0;
    if (std::istringstream(line) >> number >> vertex) landmarks.at(number) = vertex;
  }
  const std::map<std::string, std::vector<std::size_t>> from = {
      {"2.1", {8}},      {"4.1", {22}}, {"4.2", {21}},     {"4.3", {24}},     {"4.4", {19}},
      {"4.5", {26}},     {"4.6", {17}}, {"3.1", {43, 44}}, {"3.2", {37, 38}}, {"3.3", {46, 47}},
      {"3.4", {40, 41}}, {"3.7", {45}}, {"3.8", {39}},     {"3.11", {42}},    {"3.12", {36}},
      {"9.1", {35}},     {"9.2", {31}}, {"9.3", {30}},     {"8.1", {51}},     {"8.2", {57}},
      {"8.3", {54}},     {"8.4", {48}}, {"8.5", {52, 53}}, {"8.6", {49, 50}}, {"8.7", {55, 56}},
      {"8.8", {58, 59}}};
  std::vector<PointPlace> out;
  std::map<std::string, Vec3d> at;
  for (const auto& [label, numbers] : from) {
    Vec3d sum = Vec3d::Zero();
    for (const std::size_t n : numbers) sum += head.mesh.positions[landmarks[n]].cast<double>();
    at[label] = sum / double(numbers.size());
  }
  // No landmark is on a cheek: between the eye's outer corner and the mouth's.
  at["5.1"] = 0.4 * at["3.7"] + 0.6 * at["8.3"] + Vec3d(0.003, 0, 0.01);
  at["5.2"] = 0.4 * at["3.12"] + 0.6 * at["8.4"] + Vec3d(-0.003, 0, 0.01);
  for (const auto& [label, position] : at) out.push_back({label, {}, position});
  return out;
}

/// Real heads: lids and lips lead into sockets and a mouth bag, nothing is symmetric.
TEST(FaceRigData, RealHeadsBlinkAndOpenTheirMouths) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  // This one has its vertices as the landmarks count them.
  Character head =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes).value();
  head.morphs.clear();
  head.points = placePoints(placesOf(folder, head), head.mesh, 1, notes).value();
  const FacePoints points = pointsOf(head);
  const Result<FaceWeights> w = faceWeights(head.mesh, points, {}, notes);
  ASSERT_TRUE(w) << w.error().text();
  EXPECT_TRUE(w->lips_part);
  for (std::size_t v = 0; v < w->vertexCount(); ++v) EXPECT_LE((*w)[v].size(), 4u);
}

}  // namespace
}  // namespace derm
