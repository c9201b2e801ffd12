#pragma once

#include <array>
#include <vector>

#include "derm/render/camera.h"
#include "derm/render/draw_list.h"

namespace derm::detail {

/// Side of one tile and tiles per row in the sky's shadow atlas.
inline constexpr int kSkyTile_px = 256;
inline constexpr int kSkyTilesPerRow = 8;
inline constexpr int kMaxSkyDirections = 64;

/// What shaders know of a frame; the same layout as `Frame` in shaders.cpp (std140).
struct FrameUniforms {
  Mat4f view;
  Mat4f projection;
  Mat4f key_matrix;  ///< world to shadow map, [0,1]
  Vec4f eye;
  Vec4f key_direction;  ///< to the light
  Vec4f key_right;      ///< light axes in world space
  Vec4f key_up;
  Vec4f key_colour;
  Vec4f fill_direction;
  Vec4f fill_colour;
  Vec4f rim_direction;
  Vec4f rim_colour;
  Vec4f sky_colour;
  Vec4f bounce_colour;
  Vec4f picture;  ///< width, height [px], tan of half the field of view in x and y
  /// World size of the map [m], texel [m], tan of the light's half angle, depth range [m].
  Vec4f key_shadow;
  Vec4f sky_shadow;      ///< directions, texel [m], size of a tile in the atlas (u, v)
  Vec4f ground;          ///< height [m], fade start [m], fade end [m], strength
  Vec4f stage;           ///< centre [m], radius [m]
  Vec4f background_top;  ///< linear RGBA
  Vec4f background_bottom;
  Vec4f background_extra;  ///< glow, whether there is no background
};
static_assert(sizeof(FrameUniforms) == 3 * 64 + 19 * 16);

/// A direction light comes from, and the matrix from world into its tile, [0,1].
struct SkyUniforms {
  std::array<Mat4f, kMaxSkyDirections> matrix;
  std::array<Vec4f, kMaxSkyDirections> direction;
};

/// Lights, shadow cameras and floor for one picture; plain arithmetic.
struct LightRig {
  FrameUniforms frame;
  SkyUniforms sky;
  Mat4f key_clip;               ///< world to clip space of the key light's map
  Mat4f flat_clip;              ///< world along the key light onto the floor, then to clip space
  std::vector<Mat4f> sky_clip;  ///< world to clip space of each tile's viewport
  bool ground_visible = false;
};

struct LightRigDesc {
  int width = 0;
  int height = 0;
  int shadow_map_px = 0;
  int sky_directions = 0;
};

LightRig makeLightRig(const DrawList& list, const Camera& camera, const LightRigDesc& desc);

}  // namespace derm::detail
