#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "derm/face/head_correspondence.h"
#include "derm/mesh/named_position.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::testing_support {

/// Every vertex as a corner of some triangle; kNoTriangle for those without.
inline std::vector<SurfacePoint> cornersOf(const TriMesh& mesh) {
  std::vector<SurfacePoint> out(mesh.vertexCount(),
                                {HeadCorrespondence::kNoTriangle, Vec3f::UnitX()});
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t c = 0; c < 3; ++c)
      out[mesh.triangles[t][c]] = {t, Vec3f::Unit(static_cast<Eigen::Index>(c))};
  return out;
}

/// Of two meshes with the same triangles: every vertex is its own counterpart.
inline HeadCorrespondence sameVertices(const TriMesh& mesh) {
  return {cornersOf(mesh), std::vector<float>(mesh.vertexCount(), 1.0f)};
}

/// The vertices of a faces-ict head, in the numbering of ict_generic_55morphs.glb (an OBJ reader
/// splits them at uv seams).
inline std::vector<Vec3f> ictPositions(const std::string& obj) {
  std::ifstream file(obj);
  std::vector<Vec3f> out;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("v ")) continue;
    std::istringstream numbers(line.substr(2));
    Vec3f p;
    numbers >> p[0] >> p[1] >> p[2];
    out.push_back(p);
  }
  return out;
}

/// MPEG-4's control points from the 68 landmarks that faces-ict gives; those of the cheeks, which
/// it does not give, are vertices picked by hand.
inline std::vector<LabelledPoint> ictPoints(const std::string& landmarks, const TriMesh& mesh) {
  static const std::map<int, const char*> kLabels = {
      {36, "3.12"}, {39, "3.8"}, {37, "3.2"}, {41, "3.4"}, {42, "3.11"}, {45, "3.7"}, {44, "3.1"},
      {46, "3.3"},  {48, "8.4"}, {54, "8.3"}, {51, "8.1"}, {57, "8.2"},  {50, "8.6"}, {52, "8.5"},
      {58, "8.8"},  {56, "8.7"}, {8, "2.1"},  {30, "9.3"}, {31, "9.2"},  {35, "9.1"}, {17, "4.6"},
      {19, "4.4"},  {21, "4.2"}, {22, "4.1"}, {24, "4.3"}, {26, "4.5"}};
  const std::vector<SurfacePoint> corners = cornersOf(mesh);
  std::vector<LabelledPoint> out;
  std::ifstream file(landmarks);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    int landmark = 0;
    std::size_t vertex = 0;
    if (!(words >> landmark >> vertex)) continue;
    if (const auto label = kLabels.find(landmark); label != kLabels.end())
      out.push_back({label->second, corners[vertex]});
  }
  out.push_back({"5.1", corners[3418]});
  out.push_back({"5.2", corners[1200]});
  return out;
}

/// Control points of a head of faces-ict [m] from its 68 landmarks: one, or the middle between two.
inline std::vector<NamedPosition> controlPositions(const std::filesystem::path& landmarks68,
                                                   const TriMesh& mesh) {
  std::vector<std::uint32_t> landmarks(68);
  std::ifstream file(landmarks68);
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
  std::map<std::string, Vec3d> at;
  for (const auto& [label, numbers] : from) {
    Vec3d sum = Vec3d::Zero();
    for (const std::size_t n : numbers) sum += mesh.positions[landmarks[n]].cast<double>();
    at[label] = sum / double(numbers.size());
  }
  // No landmark is on a cheek: between the eye's outer corner and the mouth's.
  at["5.1"] = 0.4 * at["3.7"] + 0.6 * at["8.3"] + Vec3d(0.003, 0, 0.01);
  at["5.2"] = 0.4 * at["3.12"] + 0.6 * at["8.4"] + Vec3d(-0.003, 0, 0.01);
  std::vector<NamedPosition> out;
  for (const auto& [label, position] : at) out.push_back({label, {}, position});
  return out;
}

}  // namespace derm::testing_support
