#include "derm/deform/props.h"

#include <algorithm>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// Nothing to tell where all or none are marked.
std::vector<std::uint8_t> unlessAllAlike(std::vector<std::uint8_t> marks) {
  const auto count = std::count(marks.begin(), marks.end(), 1);
  if (count == 0 || static_cast<std::size_t>(count) == marks.size()) marks.clear();
  return marks;
}

}  // namespace

std::vector<std::uint8_t> rigidMeshVertices(const Character& character, const Skin& skin) {
  const std::size_t own = character.mesh.vertexCount();
  std::vector<std::uint8_t> out(std::max(own, skin.vertexCount()), 0);
  for (const MeshInstance& m : character.instances)
    if (m.rigid && m.first_vertex + std::size_t{m.vertex_count} <= own)
      std::fill_n(out.begin() + m.first_vertex, m.vertex_count, std::uint8_t{1});
  // Slots that nothing but rigid meshes follow tell of vertices that were added.
  std::vector<std::uint8_t> of_props(character.skin.slots.size(), 0), of_skin = of_props;
  for (std::size_t v = 0; v < std::min(own, character.skin.vertexCount()); ++v)
    for (const Influence& i : character.skin[v]) (out[v] ? of_props : of_skin)[i.slot] = 1;
  for (std::size_t v = own; v < skin.vertexCount(); ++v)
    out[v] = std::all_of(skin[v].begin(), skin[v].end(), [&](const Influence& i) {
      return of_props[i.slot] != 0 && of_skin[i.slot] == 0;
    });
  return unlessAllAlike(std::move(out));
}

std::vector<std::uint8_t> propVertices(const Character& character, const TriMesh& rest,
                                       const Skin& skin) {
  std::vector<std::uint8_t> out = rigidMeshVertices(character, skin);
  if (skin.vertexCount() != rest.vertexCount()) return out;
  if (out.empty()) out.assign(rest.vertexCount(), 0);
  const std::vector<Triangle> welded = mapped(rest.triangles, weldMap(rest.positions));
  const Pieces pieces = connectedPieces(welded, rest.vertexCount());
  // Welded vertices stand in no triangle of `welded`: a piece's vertices are those of triangles.
  constexpr std::uint32_t kSeveral = kNone - 1;
  std::vector<std::uint32_t> joint_of_piece(pieces.count, kNone);
  const auto piece_of = [&](std::size_t triangle) { return pieces.of_vertex[welded[triangle][0]]; };
  for (std::size_t t = 0; t < rest.triangles.size(); ++t)
    for (const std::uint32_t v : rest.triangles[t]) {
      const auto row = skin[v];
      const std::uint32_t joint =
          row.size() == 1 ? skin.slots[row.front().slot].joint.value : kSeveral;
      std::uint32_t& of_piece = joint_of_piece[piece_of(t)];
      of_piece = of_piece == kNone || of_piece == joint ? joint : kSeveral;
    }
  std::vector<std::size_t> rigid(character.skeleton.size(), 0), bending = rigid;
  std::vector<std::uint32_t> piece_of_vertex(rest.vertexCount(), kNone);
  for (std::size_t t = 0; t < rest.triangles.size(); ++t)
    for (const std::uint32_t v : rest.triangles[t]) piece_of_vertex[v] = piece_of(t);
  const auto is_rigid = [&](std::size_t v) {
    return piece_of_vertex[v] != kNone && joint_of_piece[piece_of_vertex[v]] < kSeveral;
  };
  for (std::size_t v = 0; v < out.size(); ++v)
    if (piece_of_vertex[v] != kNone && out[v] == 0)
      ++(is_rigid(v) ? rigid : bending)[skin.slots[skin[v].front().slot].joint.index()];
  for (std::size_t v = 0; v < out.size(); ++v) {
    if (!is_rigid(v)) continue;
    const std::uint32_t joint = joint_of_piece[piece_of_vertex[v]];
    if (bending[joint] >= rigid[joint] && bending[joint] > 0) out[v] = 1;
  }
  return unlessAllAlike(std::move(out));
}

}  // namespace derm
