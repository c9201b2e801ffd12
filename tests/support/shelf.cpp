#include "support/shelf.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/mesh/measures.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

namespace derm::shelf {
namespace {

void addQuad(TriMesh& m, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  m.triangles.push_back({a, b, c});
  m.triangles.push_back({a, c, d});
}

TriMesh withNormals(TriMesh m) {
  m.normals = areaWeightedNormals(m.positions, m.triangles, weldMap(m.positions));
  return m;
}

TriMesh joined(const TriMesh& a, const TriMesh& b) {
  TriMesh out = a;
  const auto shift = static_cast<std::uint32_t>(a.vertexCount());
  out.positions.insert(out.positions.end(), b.positions.begin(), b.positions.end());
  for (const Triangle& t : b.triangles)
    out.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  return withNormals(std::move(out));
}

}  // namespace

TriMesh cube(float size) {
  TriMesh m;
  for (int i = 0; i < 8; ++i)
    m.positions.push_back(size *
                          Vec3f((i & 1) - 0.5f, ((i >> 1) & 1) - 0.5f, ((i >> 2) & 1) - 0.5f));
  addQuad(m, 0, 2, 3, 1);
  addQuad(m, 4, 5, 7, 6);
  addQuad(m, 0, 1, 5, 4);
  addQuad(m, 2, 6, 7, 3);
  addQuad(m, 0, 4, 6, 2);
  addQuad(m, 1, 3, 7, 5);
  return withNormals(std::move(m));
}

TriMesh cubeWithSplitFaces(float size) {
  const TriMesh shared = cube(size);
  TriMesh m;
  for (std::size_t f = 0; f < shared.triangles.size(); f += 2) {
    const auto base = static_cast<std::uint32_t>(m.positions.size());
    const Triangle& first = shared.triangles[f];
    for (const std::uint32_t v : {first[0], first[1], first[2], shared.triangles[f + 1][2]})
      m.positions.push_back(shared.positions[v]);
    addQuad(m, base, base + 1, base + 2, base + 3);
  }
  m.normals = areaWeightedNormals(m.positions, m.triangles);
  return m;
}

TriMesh sphere(int rings, int sectors, float radius, Vec3f centre) {
  TriMesh m;
  m.positions.push_back(centre + Vec3f(0, radius, 0));
  for (int r = 1; r < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      const double polar = std::numbers::pi * r / rings;
      const double around = 2 * std::numbers::pi * s / sectors;
      m.positions.push_back(centre + radius * Vec3f(float(std::sin(polar) * std::sin(around)),
                                                    float(std::cos(polar)),
                                                    float(std::sin(polar) * std::cos(around))));
    }
  m.positions.push_back(centre - Vec3f(0, radius, 0));
  const auto at = [&](int r, int s) { return std::uint32_t(1 + (r - 1) * sectors + s % sectors); };
  const auto south = static_cast<std::uint32_t>(m.positions.size() - 1);
  for (int s = 0; s < sectors; ++s) {
    m.triangles.push_back({0, at(1, s), at(1, s + 1)});
    for (int r = 1; r + 1 < rings; ++r)
      addQuad(m, at(r, s), at(r + 1, s), at(r + 1, s + 1), at(r, s + 1));
    m.triangles.push_back({south, at(rings - 1, s + 1), at(rings - 1, s)});
  }
  return withNormals(std::move(m));
}

TriMesh tube(int rings, int sectors, float radius, float length) {
  TriMesh m;
  for (int r = 0; r < rings; ++r)
    for (int s = 0; s < sectors; ++s) {
      const double around = 2 * std::numbers::pi * s / sectors;
      m.positions.emplace_back(float(radius * std::cos(around)), float(radius * std::sin(around)),
                               length * float(r) / float(rings - 1));
    }
  const auto at = [&](int r, int s) { return std::uint32_t(r * sectors + s % sectors); };
  for (int r = 0; r + 1 < rings; ++r)
    for (int s = 0; s < sectors; ++s)
      addQuad(m, at(r, s), at(r, s + 1), at(r + 1, s + 1), at(r + 1, s));
  return withNormals(std::move(m));
}

std::vector<ShelfMesh> all() {
  std::vector<ShelfMesh> out;
  out.push_back({"empty", {}, false});
  TriMesh triangle;
  triangle.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  triangle.triangles = {{0, 1, 2}};
  out.push_back({"one triangle", withNormals(triangle), false});
  out.push_back({"open tube", tube(9, 12, 0.5f, 4.0f), false});
  out.push_back({"cube", cube(), true});
  out.push_back({"cube with split faces", cubeWithSplitFaces(), true});
  out.push_back({"sphere", sphere(16, 24, 0.7f), true});
  out.push_back({"sphere far away", sphere(16, 24, 0.7f, {100, -200, 50}), true});
  TriMesh three_on_an_edge;
  three_on_an_edge.positions = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}};
  three_on_an_edge.triangles = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};
  out.push_back({"non-manifold edge", withNormals(three_on_an_edge), false});
  TriMesh zero_area = cube();
  zero_area.triangles.push_back({0, 0, 1});
  zero_area.triangles.push_back({2, 2, 2});
  out.push_back({"zero-area faces", withNormals(zero_area), true});
  out.push_back({"two pieces", joined(sphere(8, 10, 0.4f), sphere(8, 10, 0.3f, {0, 2, 0})), true});
  out.push_back({"huge", sphere(12, 16, 3e6f), true});
  out.push_back({"tiny", sphere(12, 16, 2e-6f), true});
  TriMesh loose = cube();
  loose.positions.push_back({0.2f, 3, 0.1f});
  out.push_back({"unreferenced vertex", withNormals(loose), true});
  TriMesh inside_out = sphere(8, 12, 0.5f);
  for (Triangle& t : inside_out.triangles) std::swap(t[1], t[2]);
  out.push_back({"inside-out", withNormals(inside_out), true});
  return out;
}

std::vector<ShelfMesh> closedOnes() {
  std::vector<ShelfMesh> out = all();
  std::erase_if(out, [](const ShelfMesh& m) { return !m.closed; });
  return out;
}

Character rigged(const ShelfMesh& shelf_mesh) {
  Character c;
  c.name = shelf_mesh.name;
  c.mesh = shelf_mesh.mesh;
  addDefaultParts(c);
  const Bounds box = bounds(c.mesh.positions);
  int axis = 0;
  const Vec3f size = box.size();
  size.maxCoeff(&axis);
  const float length = std::max(size[axis], 1e-9f);
  Vec3f start = box.centre();
  start[axis] -= length / 2;
  const Vec3f step = Vec3f::Unit(axis) * (length / 3);
  Affine3d model = Affine3d::Identity();
  std::vector<SkinSlot> slots;
  for (int j = 0; j < 3; ++j) {
    Joint joint;
    joint.name = "joint" + std::to_string(j);
    if (j > 0) joint.parent = JointId(static_cast<std::size_t>(j - 1));
    joint.rest.translation = j == 0 ? start : step;
    joint.rest.rotation = Quatf(Eigen::AngleAxisf(0.3f * float(j), Vec3f(1, 2, 3).normalized()));
    model = model * joint.rest.matrixd();
    slots.push_back({JointId(static_cast<std::size_t>(j)), model.inverse().cast<float>()});
    c.skeleton.joints.push_back(joint);
  }
  Diagnostics notes;
  SkinBuilder builder(slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    const float u = std::clamp((p[axis] - start[axis]) / length, 0.0f, 1.0f);
    row = {{0, (1 - u) * (1 - u)}, {1, 2 * u * (1 - u)}, {2, u * u}};
    builder.addVertex(row, 0, c.name, notes);
  }
  c.skin = std::move(builder).finish();
  const Quatf turned = c.skeleton.joints[1].rest.rotation *
                       Quatf(Eigen::AngleAxisf(1.4f, Vec3f(0.3f, 1, 0.2f).normalized()));
  Track rotation{.channel = Channel::Rotation, .joint = JointId(1), .times_s = {0, 1}};
  for (const Quatf& q : {c.skeleton.joints[1].rest.rotation, turned})
    rotation.values.insert(rotation.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  c.clips.push_back({"bend", {rotation}});
  Track scale{.channel = Channel::Scale,
              .joint = JointId(2),
              .times_s = {0, 1},
              .values = {1, 1, 1, 1.5f, 0.7f, 1.2f}};
  Track slide{.channel = Channel::Translation, .joint = JointId(1), .times_s = {0, 1}};
  for (const Vec3f& t : {step, Vec3f(1.3f * step)})
    slide.values.insert(slide.values.end(), t.data(), t.data() + 3);
  c.clips.push_back({"stretch", {scale, slide}});
  return c;
}

}  // namespace derm::shelf
