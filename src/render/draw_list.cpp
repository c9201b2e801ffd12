#include "derm/render/draw_list.h"

#include <cmath>
#include <string>

namespace derm {
namespace {

Error bad(std::string element, std::string message,
          std::optional<std::uint64_t> index = std::nullopt) {
  return Error{
      ErrorCode::BadArgument, std::move(message), {.element = std::move(element), .index = index}};
}

bool inUnit(float v) { return v >= 0 && v <= 1; }

Result<void> checkFinite(std::span<const Vec3f> values, const std::string& element) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].allFinite()) return bad(element, "a number is not finite", i);
  return {};
}

Result<void> checkSurface(const DrawSurface& s, const std::string& element) {
  const std::size_t n = s.positions.size();
  if (s.normals.size() != n)
    return bad(element, std::to_string(s.normals.size()) + " normals for " + std::to_string(n) +
                            " positions");
  if (!s.uvs.empty() && s.uvs.size() != n) return bad(element, "uvs do not fit the positions");
  if (!s.colours.empty() && s.colours.size() != n)
    return bad(element, "colours do not fit the positions");
  if (!inUnit(s.opacity)) return bad(element, "opacity must be 0 to 1");
  DERM_CHECK(checkFinite(s.positions, element + ".positions"));
  for (std::size_t i = 0; i < s.triangles.size(); ++i)
    for (const std::uint32_t corner : s.triangles[i])
      if (corner >= n) return bad(element + ".triangles", "index out of range", i);
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    const DrawPart& part = s.parts[i];
    if (part.first_triangle > s.triangles.size() ||
        part.triangle_count > s.triangles.size() - part.first_triangle)
      return bad(element + ".parts", "more triangles than there are", i);
    const DrawMaterial& m = part.material;
    if (!inUnit(m.metallic) || !inUnit(m.roughness) || !inUnit(m.self_lit))
      return bad(element + ".parts", "metallic, roughness and self_lit must be 0 to 1", i);
    if (m.detail_maps.size() > kMaxDetailMaps)
      return bad(element + ".parts",
                 std::to_string(m.detail_maps.size()) + " detail maps, but at most " +
                     std::to_string(kMaxDetailMaps) + " can be drawn",
                 i);
    for (const DrawDetailMap& map : m.detail_maps) {
      if (!map.weights.empty() && map.weights.size() != n)
        return bad(element + ".parts", "weights of a detail map do not fit the positions", i);
      if (!(map.strength >= 0 && std::isfinite(map.strength)) || !map.uv_scale.allFinite() ||
          !map.uv_offset.allFinite())
        return bad(element + ".parts", "a detail map's numbers are not finite", i);
    }
  }
  return {};
}

Result<void> checkColours(std::size_t colours, std::size_t points, const std::string& element) {
  if (points == 0 || colours == 1 || colours == points) return {};
  return bad(element, std::to_string(colours) + " colours for " + std::to_string(points) +
                          " points; give one, or one each");
}

Result<void> checkLines(const DrawLines& l, const std::string& element) {
  if (l.points.size() % 2 != 0) return bad(element, "a stroke needs two points");
  if (!(l.width_px > 0 && l.width_px < 1e4f)) return bad(element, "width must be above 0");
  if (!(l.towards_eye >= 0 && l.towards_eye <= 0.1f))
    return bad(element, "towards_eye must be 0 to 0.1");
  DERM_CHECK(checkColours(l.colours.size(), l.points.size(), element));
  return checkFinite(l.points, element);
}

Result<void> checkPoints(const DrawPoints& p, const std::string& element) {
  if (!(p.diameter_px > 0 && p.diameter_px < 1e4f)) return bad(element, "size must be above 0");
  DERM_CHECK(checkColours(p.colours.size(), p.positions.size(), element));
  return checkFinite(p.positions, element);
}

std::string numbered(const char* name, std::size_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

}  // namespace

const TriMesh& DrawList::keep(TriMesh mesh) { return meshes_.emplace_back(std::move(mesh)); }

std::span<const Vec4f> DrawList::keep(std::vector<Vec4f> colours) {
  return colours_.emplace_back(std::move(colours));
}

std::span<const float> DrawList::keep(std::vector<float> weights) {
  return weights_.emplace_back(std::move(weights));
}

Bounds DrawList::stageBounds() const {
  if (stage && !stage->empty()) return *stage;
  Bounds casting, all;
  const auto grow = [](Bounds& box, std::span<const Vec3f> positions) {
    const Bounds more = bounds(positions);
    if (more.empty()) return;
    box.low = box.low.cwiseMin(more.low);
    box.high = box.high.cwiseMax(more.high);
  };
  for (const DrawSurface& s : surfaces) {
    grow(all, s.positions);
    if (s.casts_shadow && !s.on_top) grow(casting, s.positions);
  }
  for (const DrawLines& l : lines) grow(all, l.points);
  for (const DrawPoints& p : points) grow(all, p.positions);
  return casting.empty() ? all : casting;
}

DrawSurface drawSurfaceOf(const TriMesh& mesh, const DrawMaterial& material) {
  DrawSurface out;
  out.positions = mesh.positions;
  out.normals = mesh.normals;
  out.uvs = mesh.uvs;
  out.colours = mesh.colours;
  out.triangles = mesh.triangles;
  out.parts.push_back({0, static_cast<std::uint32_t>(mesh.triangles.size()), material});
  return out;
}

Result<void> validate(const DrawList& list) {
  for (std::size_t i = 0; i < list.surfaces.size(); ++i)
    DERM_CHECK(checkSurface(list.surfaces[i], numbered("surfaces", i)));
  for (std::size_t i = 0; i < list.lines.size(); ++i)
    DERM_CHECK(checkLines(list.lines[i], numbered("lines", i)));
  for (std::size_t i = 0; i < list.points.size(); ++i)
    DERM_CHECK(checkPoints(list.points[i], numbered("points", i)));
  if (list.ground.height_m && !std::isfinite(*list.ground.height_m))
    return bad("ground", "height is not finite");
  return {};
}

}  // namespace derm
