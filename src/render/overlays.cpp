#include "derm/render/overlays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "derm/base/assert.h"
#include "derm/image/colour_map.h"

namespace derm {
namespace {

/// Adds a flat-shaded triangle: its own three vertices with its own normal.
void addFacet(TriMesh& mesh, const Vec3f& a, const Vec3f& b, const Vec3f& c, const Vec4f& colour) {
  const Vec3f normal = Vec3f(b - a).cross(Vec3f(c - a));
  const float length = normal.norm();
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p : {a, b, c}) {
    mesh.positions.push_back(p);
    mesh.normals.push_back(length > 0 ? Vec3f(normal / length) : Vec3f(Vec3f::UnitY()));
    mesh.colours.push_back(colour);
  }
  mesh.triangles.push_back({first, first + 1, first + 2});
}

/// Any two directions across an axis.
std::array<Vec3f, 2> acrossAxis(const Vec3f& axis) {
  const Vec3f helper = std::abs(axis.y()) < 0.9f ? Vec3f(Vec3f::UnitY()) : Vec3f(Vec3f::UnitX());
  const Vec3f side = axis.cross(helper).normalized();
  return {side, axis.cross(side)};
}

void addBone(TriMesh& mesh, const Vec3f& from, const Vec3f& to, const SkeletonStyle& style) {
  const Vec3f along = to - from;
  const float length = along.norm();
  if (!(length > 0)) return;
  const auto [side, other] = acrossAxis(Vec3f(along / length));
  const float half = 0.5f * style.thickness * length;
  const Vec3f middle = from + 0.16f * along;
  const std::array<Vec3f, 4> belt = {Vec3f(middle + half * side), Vec3f(middle + half * other),
                                     Vec3f(middle - half * side), Vec3f(middle - half * other)};
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3f& a = belt[i];
    const Vec3f& b = belt[(i + 1) % 4];
    addFacet(mesh, from, b, a, style.bone);
    addFacet(mesh, a, b, to, style.bone);
  }
}

void addBall(TriMesh& mesh, const Vec3f& centre, float radius, const Vec4f& colour) {
  constexpr int kRings = 8, kSectors = 12;
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (int r = 0; r <= kRings; ++r)
    for (int s = 0; s < kSectors; ++s) {
      const float polar = 3.14159265f * float(r) / kRings;
      const float around = 6.28318531f * float(s) / kSectors;
      const Vec3f n(std::sin(polar) * std::sin(around), std::cos(polar),
                    std::sin(polar) * std::cos(around));
      mesh.positions.push_back(Vec3f(centre + radius * n));
      mesh.normals.push_back(n);
      mesh.colours.push_back(colour);
    }
  const auto at = [&](int r, int s) {
    return first + static_cast<std::uint32_t>(r * kSectors + s % kSectors);
  };
  for (int r = 0; r < kRings; ++r)
    for (int s = 0; s < kSectors; ++s) {
      if (r > 0) mesh.triangles.push_back({at(r, s), at(r + 1, s), at(r, s + 1)});
      if (r + 1 < kRings) mesh.triangles.push_back({at(r, s + 1), at(r + 1, s), at(r + 1, s + 1)});
    }
}

/// The shortest bone at each joint, so that balls never swallow one; 0 where there is none.
std::vector<float> shortestBones(std::span<const SkeletonJoint> joints) {
  std::vector<float> out(joints.size(), 0.0f);
  const auto lower = [](float& value, float length) {
    if (length > 0) value = value > 0 ? std::min(value, length) : length;
  };
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const int parent = joints[i].parent;
    if (parent < 0 || static_cast<std::size_t>(parent) >= i) continue;
    const auto p = static_cast<std::size_t>(parent);
    const float length = Vec3f(joints[i].position - joints[p].position).norm();
    lower(out[i], length);
    lower(out[p], length);
  }
  return out;
}

/// The middle one of the lengths above 0; 10 cm where there is none.
float usualLength(std::vector<float> lengths) {
  std::erase_if(lengths, [](float length) { return !(length > 0); });
  if (lengths.empty()) return 0.1f;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

void addSkeleton(DrawList& list, std::span<const SkeletonJoint> joints,
                 const SkeletonStyle& style) {
  if (joints.empty()) return;
  TriMesh mesh;
  const std::vector<float> shortest = shortestBones(joints);
  const float usual = usualLength(shortest);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const int parent = joints[i].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < i)
      addBone(mesh, joints[static_cast<std::size_t>(parent)].position, joints[i].position, style);
    const float bone = shortest[i] > 0 ? std::clamp(shortest[i], 0.4f * usual, usual) : usual;
    addBall(mesh, joints[i].position, 0.6f * style.thickness * bone, style.joint);
  }
  DrawMaterial material;
  material.base_colour = Vec4f::Ones();
  material.roughness = 0.5f;
  material.self_lit = 0.25f;
  DrawSurface surface = drawSurfaceOf(list.keep(std::move(mesh)), material);
  surface.casts_shadow = false;
  surface.on_top = style.on_top;
  surface.opacity = style.opacity;
  list.surfaces.push_back(std::move(surface));
}

void addWireframe(DrawList& list, std::span<const Vec3f> positions,
                  std::span<const Triangle> triangles, const WireStyle& style) {
  std::vector<std::array<std::uint32_t, 2>> edges;
  edges.reserve(3 * triangles.size());
  for (const Triangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3];
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b)});
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  DrawLines lines;
  lines.width_px = style.width_px;
  lines.colours = {style.colour};
  lines.towards_eye = 0.001f;
  lines.points.reserve(2 * edges.size());
  for (const auto& [a, b] : edges) {
    DERM_REQUIRE(b < positions.size());
    lines.points.push_back(positions[a]);
    lines.points.push_back(positions[b]);
  }
  list.lines.push_back(std::move(lines));
}

std::size_t addDisplacementField(DrawList& list, std::span<const Vec3f> before,
                                 std::span<const Vec3f> after, const FieldStyle& style) {
  DERM_REQUIRE(before.size() == after.size() && style.stride >= 1);
  DrawLines lines;
  lines.width_px = style.width_px;
  lines.colours = {style.colour};
  lines.on_top = style.on_top;
  lines.towards_eye = 0.001f;
  for (std::size_t i = 0; i < before.size(); i += style.stride) {
    const Vec3f move = after[i] - before[i];
    const float length = move.norm();
    if (!(length > 0) || length < style.min_m) continue;
    lines.points.push_back(before[i]);
    lines.points.push_back(Vec3f(before[i] + style.scale * move));
  }
  const std::size_t strokes = lines.points.size() / 2;
  if (strokes > 0) list.lines.push_back(std::move(lines));
  return strokes;
}

void showHeatMap(DrawList& list, DrawSurface& surface, std::span<const float> values, float full) {
  DERM_REQUIRE(values.size() == surface.positions.size());
  surface.colours = list.keep(heatColours(values, full));
  DrawMaterial material;
  material.base_colour = Vec4f::Ones();
  material.roughness = 0.8f;
  material.self_lit = 0.4f;  // colours stay readable against the legend, shape stays visible
  surface.parts = {{0, static_cast<std::uint32_t>(surface.triangles.size()), material}};
}

void showInOneColour(DrawSurface& surface, const Vec4f& colour) {
  DrawMaterial material;
  material.base_colour = colour;
  material.roughness = 0.55f;
  surface.parts = {{0, static_cast<std::uint32_t>(surface.triangles.size()), material}};
  surface.colours = {};
}

void showDepth(DrawList& list, DrawSurface& surface, const Camera& camera) {
  const Vec3d forward = Vec3d(camera.target - camera.eye).normalized();
  std::vector<double> depths;
  double nearest = std::numeric_limits<double>::infinity(), farthest = -nearest;
  for (const Vec3f& p : surface.positions) {
    const double depth = forward.dot(Vec3d(p.cast<double>() - camera.eye));
    depths.push_back(depth);
    nearest = std::min(nearest, depth);
    farthest = std::max(farthest, depth);
  }
  const double span = farthest > nearest ? farthest - nearest : 1.0;
  std::vector<Vec4f> greys;
  for (const double depth : depths) {
    const auto grey = static_cast<float>((depth - nearest) / span);
    greys.emplace_back(grey, grey, grey, 1.0f);
  }
  DrawMaterial material;
  material.base_colour = Vec4f::Ones();
  material.self_lit = 1.0f;
  surface.parts = {{0, static_cast<std::uint32_t>(surface.triangles.size()), material}};
  surface.colours = list.keep(std::move(greys));
}

}  // namespace derm
