#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "derm/base/rng.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/surface_point.h"

#include "support/unpacked.h"

/// The heads of the data set faces-ict: one topology, so that every vertex is known on all of them;
/// and what is done to a head so that nothing but its shape can be recognised.
namespace derm::testing_support {

struct IctHead {
  TriMesh mesh;
  std::vector<std::uint32_t> landmarks;  ///< vertices of the 68 landmarks of Multi-PIE
  std::vector<LabelledPoint> points;     ///< the same, labelled "1" to "68"
};

inline SurfacePoint pointAtVertex(const TriMesh& mesh, std::uint32_t vertex) {
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k)
      if (mesh.triangles[t][static_cast<std::size_t>(k)] == vertex) {
        SurfacePoint point{t, Vec3f::Zero()};
        point.barycentric[k] = 1;
        return point;
      }
  ADD_FAILURE() << "vertex " << vertex << " has no triangle";
  return {};
}

/// `name`: "generic", "id_A" ...
inline IctHead ictHead(const std::filesystem::path& folder, const std::string& name) {
  IctHead head;
  // Read by hand: vertices must keep their numbers, which texture seams would change.
  std::ifstream file(folder / (name + "_neutral.obj"));
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "v") {
      Vec3f p;
      words >> p[0] >> p[1] >> p[2];
      head.mesh.positions.push_back(p);
    } else if (word == "f") {
      std::vector<std::uint32_t> corners;
      while (words >> word) corners.push_back(static_cast<std::uint32_t>(std::stoul(word) - 1));
      for (std::size_t i = 2; i < corners.size(); ++i)
        head.mesh.triangles.push_back({corners[0], corners[i - 1], corners[i]});
    }
  }
  std::ifstream list(folder / "landmarks68.txt");
  while (std::getline(list, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint32_t number = 0, vertex = 0;
    words >> number >> vertex;
    head.landmarks.push_back(vertex);
    head.points.push_back({std::to_string(number + 1), pointAtVertex(head.mesh, vertex)});
  }
  return head;
}

/// A head in another pose, a thousand times larger, vertices and triangles in another order.
struct Disguise {
  Mat3d rotation;
  Vec3d shift = Vec3d(12345, -6789, 3333);
  double scale = 1000;

  Vec3d operator()(const Vec3f& p) const { return scale * (rotation * p.cast<double>()) + shift; }
};

inline TriMesh disguised(const TriMesh& mesh, const Disguise& disguise, Rng& rng) {
  std::vector<std::uint32_t> order(mesh.vertexCount());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  for (std::size_t v = order.size(); v > 1; --v) std::swap(order[v - 1], order[rng.below(v)]);
  TriMesh out;
  out.positions.resize(mesh.vertexCount());
  for (std::size_t v = 0; v < order.size(); ++v)
    out.positions[order[v]] = disguise(mesh.positions[v]).cast<float>();
  out.triangles = mesh.triangles;
  for (Triangle& t : out.triangles)
    for (std::uint32_t& corner : t) corner = order[corner];
  for (std::size_t t = out.triangles.size(); t > 1; --t)
    std::swap(out.triangles[t - 1], out.triangles[rng.below(t)]);
  return out;
}

inline Mat3d randomRotation(Rng& rng) {
  Quatd q(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
  return q.normalized().toRotationMatrix();
}

/// Mean error over landmarks 18 to 68 and over all, % of the diagonal of the bounds.
struct LandmarkErrors {
  double inner = 0;
  double all = 0;
};

}  // namespace derm::testing_support
