#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/math/vec.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// A tangent-space normal map over a material's own: wrinkles that come and go, pores. With n the
/// normals of the maps below and m those of this one, mixed with the flat map by its weight, the
/// sum is normalise(n.xy + m.xy, n.z m.z) (Dutreve 2011, eq. 5.13 and 5.14): what is below stays.
struct DrawDetailMap {
  std::shared_ptr<const Rgba8Image> image;
  Vec2f uv_scale = Vec2f::Ones();  ///< its uv is scale * uv + offset
  Vec2f uv_offset = Vec2f::Zero();
  float strength = 1.0f;           ///< >= 0 of its slopes
  std::span<const float> weights;  ///< [0,1] one per position of the surface; none = 1 everywhere
};

/// Of one material: what every OpenGL 4.5 has texture units for.
inline constexpr std::size_t kMaxDetailMaps = 8;

/// What a surface is made of. Colours are linear RGBA. Pictures are shared, and recognised from
/// frame to frame by their address, so a film uploads them once.
struct DrawMaterial {
  Vec4f base_colour = Vec4f(0.62f, 0.565f, 0.52f, 1.0f);  ///< default: light, slightly warm clay
  std::shared_ptr<const Rgba8Image> base_colour_image;    ///< multiplies base_colour; needs uvs
  std::shared_ptr<const Rgba8Image> normal_image;  ///< tangent space, +Y up (glTF's); needs uvs
  std::vector<DrawDetailMap> detail_maps;          ///< at most kMaxDetailMaps, in order
  float metallic = 0.0f;                           ///< [0,1]
  float roughness = 0.62f;                         ///< [0,1]
  float self_lit = 0.0f;     ///< [0,1] share of the colour shown as it is, without light: heat-maps
  bool double_sided = true;  ///< false: back faces are not drawn
  bool cut_out = false;      ///< alpha of picture and colour makes holes (hair, lashes)
};

/// A run of triangles with one material.
struct DrawPart {
  std::uint32_t first_triangle = 0;
  std::uint32_t triangle_count = 0;
  DrawMaterial material;
};

/// A triangle surface. The spans point into the caller's data, which must live until draw() has
/// returned (DrawList::keep holds what has no other home).
struct DrawSurface {
  std::span<const Vec3f> positions;  ///< [m]
  std::span<const Vec3f> normals;    ///< one per position
  std::span<const Vec2f> uvs;        ///< one per position, or none
  std::span<const Vec4f> colours;    ///< linear RGBA per position, multiply the material's; or none
  std::span<const Triangle> triangles;
  std::vector<DrawPart> parts;  ///< in any order; none = everything in clay
  float opacity = 1.0f;  ///< [0,1] below 1 the nearest layer is blended over what is behind it
  bool casts_shadow = true;
  bool on_top = false;  ///< drawn after all else, not hidden by it; keeps its own depth order
};

/// Straight strokes of constant width on the screen, antialiased.
struct DrawLines {
  std::vector<Vec3f> points;   ///< [m] two per stroke
  std::vector<Vec4f> colours;  ///< linear RGBA, shown as they are: one per point, or one for all
  float width_px = 1.5f;       ///< [px] > 0; below 1 strokes get fainter instead of thinner
  bool on_top = false;         ///< not hidden by surfaces
  /// [0,0.1] share of its distance a stroke is moved to the eye, so that strokes on a surface win
  /// against it; 0.001 is usual.
  float towards_eye = 0.0f;
};

/// Round dots of constant size on the screen.
struct DrawPoints {
  std::vector<Vec3f> positions;  ///< [m]
  std::vector<Vec4f> colours;    ///< linear RGBA: one per dot, or one for all
  float diameter_px = 6.0f;      ///< [px] > 0
  float outline_px = 0.0f;       ///< [px] dark rim inside the dot
  bool on_top = false;
};

/// The floor: invisible but for the shadow on it, which fades out with distance.
struct GroundDesc {
  bool on = true;
  std::optional<float> height_m = {};  ///< [m] default: the stage's lowest point
  float strength = 1.0f;               ///< [0,1] how dark the shadow may get
};

/// A vertical gradient with a faint pool of light behind the stage.
struct BackgroundDesc {
  Rgba8 top = {226, 230, 235, 255};
  Rgba8 bottom = {201, 206, 213, 255};
  float glow = 0.6f;   ///< [0,1] strength of the pool of light
  bool clear = false;  ///< transparent background (straight alpha) instead; the shadow stays
};

/// One picture's content: plain data, no OpenGL. Move-only, since surfaces may point into it.
struct DrawList {
  std::vector<DrawSurface> surfaces;
  std::vector<DrawLines> lines;
  std::vector<DrawPoints> points;
  GroundDesc ground;
  BackgroundDesc background;
  /// What lights, shadows and floor are fitted to; default: the bounds of the shadow-casting
  /// surfaces. A film passes the union over all frames, so that nothing swims.
  std::optional<Bounds> stage;

  DrawList() = default;
  DrawList(DrawList&&) = default;
  DrawList& operator=(DrawList&&) = default;
  DrawList(const DrawList&) = delete;
  DrawList& operator=(const DrawList&) = delete;

  /// Keeps data alive with the list; the reference stays valid when the list is moved.
  const TriMesh& keep(TriMesh mesh);
  std::span<const Vec4f> keep(std::vector<Vec4f> colours);
  std::span<const float> keep(std::vector<float> weights);

  /// The stage, or what stands for it.
  Bounds stageBounds() const;

 private:
  std::deque<TriMesh> meshes_;
  std::deque<std::vector<Vec4f>> colours_;
  std::deque<std::vector<float>> weights_;
};

/// The whole of a mesh as one surface in one material. Requires normals.
DrawSurface drawSurfaceOf(const TriMesh& mesh, const DrawMaterial& material = {});

/// Array lengths agree, triangles and parts are in range, sizes are positive. O(triangles). Errors
/// name surface, part or line set and index. Positions that are not finite are errors too.
Result<void> validate(const DrawList& list);

}  // namespace derm
