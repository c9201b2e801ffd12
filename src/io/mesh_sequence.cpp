#include "derm/io/mesh_sequence.h"

#include <cstring>
#include <string>

#include "derm/base/assert.h"

namespace derm {
namespace {

Material skinMaterial() {
  Material m;
  m.name = "skin";
  m.base_colour = Vec4f(0.35f, 0.55f, 0.75f, 1.0f);
  m.metallic = 0;
  m.roughness = 0.35f;
  return m;
}

void append(std::vector<std::uint8_t>& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

}  // namespace

std::vector<std::uint8_t> encodePly(const TriMesh& mesh, std::span<const Vec3f> velocities) {
  const bool normals = mesh.normals.size() == mesh.vertexCount() && !mesh.normals.empty();
  const bool moving = velocities.size() == mesh.vertexCount() && !velocities.empty();
  std::string head = "ply\nformat binary_little_endian 1.0\nelement vertex " +
                     std::to_string(mesh.vertexCount()) +
                     "\nproperty float x\nproperty float y\nproperty float z\n";
  if (normals) head += "property float nx\nproperty float ny\nproperty float nz\n";
  if (moving) head += "property float vx\nproperty float vy\nproperty float vz\n";
  head += "element face " + std::to_string(mesh.triangles.size()) +
          "\nproperty list uchar uint vertex_indices\nend_header\n";
  std::vector<std::uint8_t> out(head.begin(), head.end());
  out.reserve(out.size() + 36 * mesh.vertexCount() + 13 * mesh.triangles.size());
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    append(out, mesh.positions[v].data(), 12);
    if (normals) append(out, mesh.normals[v].data(), 12);
    if (moving) append(out, velocities[v].data(), 12);
  }
  for (const Triangle& t : mesh.triangles) {
    out.push_back(3);
    append(out, t.data(), 12);
  }
  return out;
}

Character stillCharacter(TriMesh mesh, std::string_view name) {
  Character c;
  c.name = name;
  c.mesh = std::move(mesh);
  c.materials.push_back(skinMaterial());
  addDefaultParts(c);
  for (MeshPart& part : c.parts) part.material = 0;
  return c;
}

Character sequenceCharacter(std::span<const TriMesh> frames, double fps, std::string_view name) {
  DERM_REQUIRE(fps > 0);
  Character c;
  c.name = name;
  c.materials.push_back(skinMaterial());
  c.skeleton.joints.push_back({.name = std::string(name)});
  Clip clip{.name = "play"};
  std::vector<SkinSlot> slots;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const TriMesh& mesh = frames[f];
    if (mesh.triangles.empty()) continue;
    const JointId joint(c.skeleton.size());
    const std::string label = "frame_" + std::to_string(f);
    c.skeleton.joints.push_back({.name = label, .parent = JointId(std::size_t{0})});
    const auto first_vertex = static_cast<std::uint32_t>(c.mesh.vertexCount());
    const auto first_triangle = static_cast<std::uint32_t>(c.mesh.triangles.size());
    c.mesh.positions.insert(c.mesh.positions.end(), mesh.positions.begin(), mesh.positions.end());
    c.mesh.normals.insert(c.mesh.normals.end(), mesh.normals.begin(), mesh.normals.end());
    for (const Triangle& t : mesh.triangles)
      c.mesh.triangles.push_back({t[0] + first_vertex, t[1] + first_vertex, t[2] + first_vertex});
    slots.push_back({joint, Affine3f::Identity()});
    MeshPart part{.name = label, .first_triangle = first_triangle, .first_vertex = first_vertex};
    part.triangle_count = static_cast<std::uint32_t>(mesh.triangles.size());
    part.vertex_count = static_cast<std::uint32_t>(mesh.vertexCount());
    part.material = 0;
    MeshInstance instance{.name = label, .joint = joint, .rigid = true};
    instance.first_part = static_cast<std::uint32_t>(c.parts.size());
    instance.part_count = 1;
    instance.first_vertex = first_vertex;
    instance.vertex_count = part.vertex_count;
    c.parts.push_back(part);
    c.instances.push_back(instance);
    Track track{.channel = Channel::Scale, .interpolation = Interpolation::Step, .joint = joint};
    const auto key = [&](double frame, float size) {
      track.times_s.push_back(static_cast<float>(frame / fps));
      track.values.insert(track.values.end(), {size, size, size});
    };
    if (f > 0) key(0, 0);
    key(static_cast<double>(f), 1);
    if (f + 1 < frames.size()) key(static_cast<double>(f + 1), 0);
    clip.tracks.push_back(std::move(track));
  }
  const std::size_t frames_shown = slots.size();
  SkinBuilder builder(std::move(slots), c.mesh.vertexCount());
  for (std::size_t i = 0; i < frames_shown; ++i)
    builder.addRigidVertices(c.instances[i].vertex_count, static_cast<std::uint32_t>(i));
  c.skin = std::move(builder).finish();
  if (!clip.tracks.empty()) c.clips.push_back(std::move(clip));
  return c;
}

}  // namespace derm
