#include "face/maps/texel_frames.h"

#include "derm/base/parallel.h"
#include "derm/mesh/normals.h"

#include "face/maps/skin_piece.h"

namespace derm::detail::maps {

Result<TexelFrames> TexelFrames::make(const TriMesh& mesh, std::span<const LabelledPoint> points,
                                      int width, int height, int padding, Diagnostics& notes) {
  const auto fails = [](const char* element, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = element}};
  };
  if (width < 16 || height < 16 || width > 16384 || height > 16384)
    return fails("size", "a texture must have 16 to 16384 pixels each way");
  if (padding < 0 || padding > 256) return fails("padding", "must lie in [0,256]");
  if (mesh.uvs.empty())
    return Error{ErrorCode::BadData,
                 "has no texture coordinates; unwrap it first (in Blender: UV > Smart UV Project)",
                 {.element = "mesh"}};
  for (const LabelledPoint& p : points)
    DERM_CHECK(validate(p.point, mesh.triangles.size(), p.label));
  TexelFrames out;
  out.skin_ = mesh;
  if (!points.empty()) {
    out.skin_.triangles = skinTriangles(mesh, points);
    out.skin_.uvs = uvsAtPoints(mesh, points);
  }
  if (out.skin_.normals.empty())
    out.skin_.normals = areaWeightedNormals(out.skin_.positions, out.skin_.triangles);
  out.tangents_ = mesh.tangents.empty() ? uvTangents(out.skin_) : mesh.tangents;
  out.raster_ = rasteriseUvs(out.skin_.uvs, out.skin_.triangles,
                             {.width = width, .height = height, .padding = padding});
  if (out.raster_.covered_texels == 0)
    return Error{
        ErrorCode::BadData,
        "has texture coordinates that cover nothing of a texture: they lie outside 0 to 1, "
        "or in one place",
        {.element = "mesh"}};
  if (out.raster_.overlapping_texels > 0)
    notes.warn("map-overlap", "mesh",
               "charts lie on each other: " + std::to_string(out.raster_.overlapping_texels) +
                   " texels show the detail of one of them only");
  return out;
}

TexelFrame TexelFrames::at(std::size_t texel) const {
  const SurfacePoint& point = raster_.points[texel];
  const std::span<const Triangle> triangles = skin_.triangles;
  TexelFrame out;
  out.position = positionAt(point, triangles, skin_.positions).cast<double>();
  out.normal = normalAt(point, triangles, skin_.positions, skin_.normals).cast<double>();
  const Vec4f slanted = valueAt<Vec4f>(point, triangles, tangents_);
  const Vec3d tangent = slanted.head<3>().cast<double>();
  out.x = (tangent - out.normal * out.normal.dot(tangent)).normalized();
  out.y =
      static_cast<double>(tangents_[triangles[point.triangle][0]].w()) * out.normal.cross(out.x);
  return out;
}

void forTexelRows(int height, const std::function<void(int)>& row) {
  parallelFor(static_cast<std::size_t>(height), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) row(static_cast<int>(y));
  });
}

}  // namespace derm::detail::maps
