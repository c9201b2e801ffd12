#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "derm/face/head_correspondence.h"
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

}  // namespace derm::testing_support
