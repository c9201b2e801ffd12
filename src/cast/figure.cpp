#include "cast/figure.h"

#include <algorithm>

#include "derm/mesh/normals.h"

namespace derm::detail::cast {
namespace {

/// One part per material, triangles in order of material; parts share the vertices.
void addParts(Character& c, const Surface& surface) {
  MeshInstance instance;
  instance.name = c.name;
  instance.vertex_count = static_cast<std::uint32_t>(c.mesh.vertexCount());
  for (std::size_t m = 0; m < c.materials.size(); ++m) {
    MeshPart part;
    part.name = c.materials[m].name;
    part.material = static_cast<int>(m);
    part.first_triangle = static_cast<std::uint32_t>(c.mesh.triangles.size());
    part.vertex_count = instance.vertex_count;
    for (std::size_t t = 0; t < surface.triangles.size(); ++t)
      if (surface.materials[t] == static_cast<int>(m))
        c.mesh.triangles.push_back(surface.triangles[t]);
    part.triangle_count = static_cast<std::uint32_t>(c.mesh.triangles.size()) - part.first_triangle;
    c.parts.push_back(std::move(part));
  }
  instance.part_count = static_cast<std::uint32_t>(c.parts.size());
  c.instances.push_back(std::move(instance));
}

void addGroups(Character& c, const std::vector<Figure::Group>& groups) {
  for (const Figure::Group& g : groups) {
    VertexGroup out;
    out.name = g.name;
    for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
      const double s = std::clamp(g.strength(c.mesh.positions[v].cast<double>()), 0.0, 1.0);
      if (s < 1e-3) continue;
      out.vertices.push_back(static_cast<std::uint32_t>(v));
      out.strengths.push_back(static_cast<float>(s));
    }
    c.mesh.groups.push_back(std::move(out));
  }
}

}  // namespace

Material paint(std::string name, const Vec3d& colour, double roughness) {
  Material m;
  m.name = std::move(name);
  m.base_colour << colour.cast<float>(), 1.0f;
  m.metallic = 0.0f;
  m.roughness = static_cast<float>(roughness);
  return m;
}

Character built(const Figure& figure) {
  RemeshDesc remesh = figure.remesh;
  remesh.half = figure.grid.half;
  if (remesh.half) remesh.triangles /= 2;
  Surface surface = polygonised(figure.body, figure.grid);
  for (const Region& r : figure.regions) cutRegion(surface, r);
  surface = remeshed(surface, figure.body, figure.regions, remesh);
  if (figure.finish)
    for (Vec3d& p : surface.positions) p = figure.finish(p);
  std::vector<std::uint32_t> mirror_of;
  if (remesh.half) surface = mirrored(surface, mirror_of);

  Character c;
  c.name = figure.name;
  c.materials = figure.materials;
  c.import.format = "cast";
  for (const Vec3d& p : surface.positions) c.mesh.positions.push_back(p.cast<float>());
  addParts(c, surface);
  c.mesh.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  if (figure.colour) {
    for (const Vec3d& p : surface.positions) {
      Vec4f tint;
      tint << figure.colour(p).cast<float>(), 1.0f;
      c.mesh.colours.push_back(tint);
    }
  }
  addGroups(c, figure.groups);
  c.skeleton = figure.rig.skeleton();
  c.skin = diffusedWeights(c.mesh, figure.rig, figure.bones, figure.weights, mirror_of);
  return c;
}

}  // namespace derm::detail::cast
