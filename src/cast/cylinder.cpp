#include "derm/cast/cylinder.h"

#include <numbers>
#include <string>
#include <utility>

#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "cast/members.h"
#include "cast/rig.h"

namespace derm {
namespace {

void addRing(CylinderModel& model, double radius, double z) {
  for (std::size_t i = 0; i < model.sectors; ++i) {
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(model.sectors);
    model.positions.push_back(Vec3d(radius * std::cos(angle), radius * std::sin(angle), z));
  }
}

void addSide(CylinderModel& model) {
  const auto ns = static_cast<std::uint32_t>(model.sectors);
  for (std::uint32_t k = 0; k + 1 < model.rings; ++k) {
    for (std::uint32_t i = 0; i < ns; ++i) {
      const std::uint32_t a = k * ns + i, b = k * ns + (i + 1) % ns, c = a + ns, d = b + ns;
      model.triangles.push_back({a, b, d});
      model.triangles.push_back({a, d, c});
    }
  }
}

void addCaps(CylinderModel& model, double length) {
  const auto ns = static_cast<std::uint32_t>(model.sectors);
  const auto bottom = static_cast<std::uint32_t>(model.positions.size()), top = bottom + 1;
  const std::uint32_t last_ring = bottom - ns;
  model.positions.push_back(Vec3d(0, 0, 0));
  model.positions.push_back(Vec3d(0, 0, length));
  for (std::uint32_t i = 0; i < ns; ++i) {
    const std::uint32_t next = (i + 1) % ns;
    model.triangles.push_back({bottom, next, i});
    model.triangles.push_back({top, last_ring + i, last_ring + next});
  }
}

void addWeights(CylinderModel& model, double length, CylinderWeights weights) {
  const Vec3d end(0, 0, length);
  for (const Vec3d& p : model.positions) {
    const double to_start = p.squaredNorm(), to_end = (p - end).squaredNorm();
    double w0 = to_end / (to_start + to_end);
    if (weights == CylinderWeights::Axis) w0 = 1 - p.z() / length;
    if (weights == CylinderWeights::Halves) w0 = p.z() < length / 2 ? 1 : 0;
    model.weights.push_back({w0, 1.0 - w0});
  }
}

CylinderModel makeModel(const CylinderDesc& desc) {
  CylinderModel model;
  model.rings = static_cast<std::size_t>(desc.rings);
  model.sectors = static_cast<std::size_t>(desc.sectors);
  for (std::size_t k = 0; k < model.rings; ++k)
    addRing(model, desc.radius_m,
            desc.length_m * static_cast<double>(k) / static_cast<double>(model.rings - 1));
  addSide(model);
  addCaps(model, desc.length_m);
  addWeights(model, desc.length_m, desc.weights);
  return model;
}

}  // namespace

CylinderModel makeCylinderModel(CylinderKind kind) {
  if (kind == CylinderKind::M258) return makeModel({.rings = 16, .sectors = 16});
  if (kind == CylinderKind::M627) return makeModel({});
  CylinderModel model;
  model.rings = model.sectors = 25;
  const std::size_t last = model.rings - 1;
  addRing(model, 0.0, 0.0);
  for (std::size_t k = 1; k < last; ++k)
    addRing(model, kCylinderRadius,
            kCylinderLength * static_cast<double>(k - 1) / static_cast<double>(last - 2));
  addRing(model, 0.0, kCylinderLength);
  addSide(model);
  addWeights(model, kCylinderLength, CylinderWeights::Distance);
  return model;
}

namespace detail::cast {
namespace {

/// There and back through `top_degrees`, a key every 30 degrees, 30 degrees each second.
Clip thereAndBack(std::string name, JointId joint, int top_degrees, Quatd (*turn)(double)) {
  ClipSketch clip(std::move(name));
  double time_s = 0;
  for (int angle = 0; angle <= top_degrees; angle += 30)
    clip.rotation(joint, time_s++, turn(angle));
  for (int angle = top_degrees - 30; angle >= 0; angle -= 30)
    clip.rotation(joint, time_s++, turn(angle));
  return std::move(clip).finish();
}

VertexGroup capsGroup(const CylinderModel& model, double length) {
  VertexGroup caps;
  caps.name = "caps";
  for (std::size_t v = 0; v < model.positions.size(); ++v) {
    const double z = model.positions[v].z();
    if (z != 0.0 && z != length) continue;
    caps.vertices.push_back(static_cast<std::uint32_t>(v));
    caps.strengths.push_back(1.0f);
  }
  return caps;
}

Character characterOf(const CylinderModel& model, double length, std::string name) {
  Character c;
  c.name = std::move(name);
  for (const Vec3d& p : model.positions) c.mesh.positions.push_back(p.cast<float>());
  c.mesh.triangles = model.triangles;
  c.mesh.normals =
      areaWeightedNormals(c.mesh.positions, c.mesh.triangles, weldMap(c.mesh.positions));
  c.mesh.groups.push_back(capsGroup(model, length));

  Rig rig;
  rig.add("j0", "", Vec3d(0, 0, 0));
  const JointId middle = rig.add("j1", "j0", Vec3d(0, 0, 0.5 * length));
  rig.add("j2", "j1", Vec3d(0, 0, length));
  c.skeleton = rig.skeleton();

  SkinBuilder skin(rig.slots(), model.positions.size());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const std::array<double, 2>& w : model.weights) {
    row = {{0, static_cast<float>(w[0])}, {1, static_cast<float>(w[1])}};
    skin.addVertex(row, 0, "skin", notes);
  }
  c.skin = std::move(skin).finish();
  c.clips.push_back(thereAndBack("bend", middle, 90, aboutY));
  c.clips.push_back(thereAndBack("twist", middle, 180, aboutZ));

  mouldOfClay(c, Vec4f(0.80f, 0.36f, 0.20f, 1.0f));
  c.import.format = "cast";
  return c;
}

}  // namespace

Character makeCylinder(CylinderKind kind) {
  return characterOf(makeCylinderModel(kind), kCylinderLength,
                     kind == CylinderKind::M627   ? "cylinder"
                     : kind == CylinderKind::M625 ? "cylinder-m625"
                                                  : "cylinder-m258");
}

}  // namespace detail::cast

Result<Character> makeCylinder(const CylinderDesc& desc) {
  const auto bad = [](const char* field, const char* what) {
    return Error{ErrorCode::BadArgument, what, {.element = field}};
  };
  if (desc.rings < 2 || desc.rings > 1000) return bad("rings", "must be 2 to 1000");
  if (desc.sectors < 3 || desc.sectors > 1000) return bad("sectors", "must be 3 to 1000");
  if (!(desc.length_m > 0 && desc.length_m <= 1e6)) return bad("length", "must be above 0");
  if (!(desc.radius_m > 0 && desc.radius_m <= 1e6)) return bad("radius", "must be above 0");
  return detail::cast::characterOf(makeModel(desc), desc.length_m, "cylinder");
}

}  // namespace derm
