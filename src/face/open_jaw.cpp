#include "derm/face/open_jaw.h"

#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/face_slits.h"

#include "face/mouth_inside.h"
#include "face/shape_names.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

std::vector<Vec3f> jawMoves(const Character& head) {
  std::vector<Vec3f> out;
  const auto add = [&](const MorphTarget& shape) {
    out.resize(head.mesh.vertexCount(), Vec3f::Zero());
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      out[shape.vertices[i]] += shape.positions[i];
  };
  const std::size_t jaw = detail::shapeIndex("jawOpen");
  for (const MorphTarget& morph : head.morphs)
    if (const auto named = detail::shapeCalled(morph.name); named && named->shape == jaw)
      add(morph);
  if (!out.empty()) return out;
  Diagnostics ignored;  // a head that cannot open its mouth stays as it is
  if (const Result<MorphTarget> shape = arkitShape(head, "jawOpen", ignored)) add(*shape);
  return out;
}

}  // namespace

JawOpening jawOpening(const Character& head) {
  Diagnostics ignored;
  const std::optional<FaceSlit> mouth = findFaceSlits(head.mesh, head.points, ignored).mouth;
  const Result<FacePoints> points = facePoints(head.points, head.mesh);
  if (!mouth || !points || !validateControlPoints(*points)) return {};
  JawOpening out;
  out.moves = jawMoves(head);
  if (out.moves.empty()) return {};
  out.inside = detail::behindLips(detail::weldedMesh(head.mesh), *mouth, *points);
  out.mouth = *mouth;
  return out;
}

TriMesh withOpenJaw(const TriMesh& head, const JawOpening& jaw, double share) {
  TriMesh out = head;
  if (share == 0) return out;
  out.normals.clear();
  out.tangents.clear();
  for (std::size_t v = 0; v < jaw.moves.size() && v < out.positions.size(); ++v)
    out.positions[v] += static_cast<float>(share) * jaw.moves[v];
  return out;
}

}  // namespace derm
