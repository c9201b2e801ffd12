#include "weights/welded_surface.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm::detail {

WeldedSurface weldedSurface(const TriMesh& mesh, std::span<const BoneSegment> bones,
                            std::size_t slot_count, bool weld) {
  WeldedSurface out;
  out.slot_count = slot_count;
  std::vector<std::uint32_t> map(mesh.vertexCount());
  std::iota(map.begin(), map.end(), 0u);
  if (weld) map = weldMap(mesh.positions);

  const Bounds box = bounds(mesh.positions);
  const Vec3d centre = box.centre().cast<double>();
  double size = box.diagonal();
  for (const BoneSegment& b :
       bones)  // one vertex, or all at one position: measure the bones instead
    if (box.diagonal() == 0) size = std::max(size, (b.to - centre).norm() + (b.from - b.to).norm());
  const double scale = size > 0 ? 1 / size : 1.0;
  double farthest = 0;
  out.welded_of_vertex.resize(map.size());
  for (std::uint32_t v = 0; v < map.size(); ++v) {
    if (map[v] != v) {  // the one that stands for it came before
      out.welded_of_vertex[v] = out.welded_of_vertex[map[v]];
      continue;
    }
    out.welded_of_vertex[v] = static_cast<std::uint32_t>(out.positions.size());
    out.first_vertex.push_back(v);
    out.positions.push_back((mesh.positions[v].cast<double>() - centre) * scale);
    farthest = std::max<double>(farthest, mesh.positions[v].cwiseAbs().maxCoeff());
  }
  out.rounding = farthest * scale * std::numeric_limits<float>::epsilon();
  out.triangles.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    const Triangle p = {out.welded_of_vertex[t[0]], out.welded_of_vertex[t[1]],
                        out.welded_of_vertex[t[2]]};
    if (p[0] != p[1] && p[1] != p[2] && p[2] != p[0]) out.triangles.push_back(p);
  }
  out.bones.assign(bones.begin(), bones.end());
  for (BoneSegment& b : out.bones) {
    b.from = (b.from - centre) * scale;
    b.to = (b.to - centre) * scale;
  }
  return out;
}

}  // namespace derm::detail
