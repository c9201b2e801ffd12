#pragma once

#include <compare>
#include <string>
#include <vector>

/// GLSL 4.50 sources. Each is a whole program text: header, shared declarations, main.
namespace derm::detail::shaders {

/// A texture with one or two of a material's detail maps (gpu_scene.h).
struct DetailTextureLayout {
  int maps = 1;
  bool moved = false;  ///< its uv is not the surface's own
  auto operator<=>(const DetailTextureLayout&) const = default;
};
/// Every layout has a program of its own.
using DetailLayout = std::vector<DetailTextureLayout>;

/// Where the fragment shader of surfaces has them: a unit and a uv per texture.
inline constexpr int kFirstDetailUnit = 3;
inline constexpr int kDetailUvs = 3;

std::string header();  ///< what each starts with: version, uniforms of the frame

std::string depthVertex();  ///< positions through a given matrix: shadow maps
std::string depthFragment();
std::string surfaceVertex();     ///< positions, normals, uvs, colours of a surface
std::string geometryFragment();  ///< world normal and distance: what the shadow pass starts from
std::string groundVertex();      ///< the floor's square, made from the vertex number
std::string groundGeometryFragment();
std::string screenVertex();       ///< one triangle over the whole picture
std::string occlusionFragment();  ///< sky and key shadow of every pixel, noisy
std::string blurFragment();       ///< and without the noise
std::string backgroundFragment();
std::string groundFragment();
std::string surfaceFragment(const DetailLayout& layout);
std::string quickSurfaceFragment(
    const DetailLayout& layout);   ///< the same with one light, without shadows
std::string flatShadowFragment();  ///< the shadow on the floor, in one colour
std::string lineVertex();
std::string lineFragment();
std::string pointVertex();
std::string pointFragment();

}  // namespace derm::detail::shaders
