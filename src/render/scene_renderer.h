#pragma once

#include <map>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/render/offscreen_renderer.h"

#include "render/gl_objects.h"
#include "render/gpu_scene.h"
#include "render/light_rig.h"
#include "render/shaders.h"

namespace derm::detail {

/// The passes of a picture, in whatever OpenGL context is current. Knows nothing of EGL, so that a
/// window can use it as well.
class SceneRenderer {
 public:
  static Result<SceneRenderer> create(const RendererDesc& desc);
  /// A validated list at the size given, not yet averaged down; straight alpha.
  Result<Rgba8Image> draw(const DrawList& list, const Camera& camera, int width, int height,
                          float stroke_scale);

 private:
  struct Programs {
    gl::Program flat_shadow;  ///< Lighting::Quick
    gl::Program depth, geometry, ground_geometry, occlusion, blur, background, ground, line, point;
    std::map<shaders::DetailLayout, gl::Program> surface;
  };
  /// What depends on the size of the picture.
  struct Targets {
    int width = 0, height = 0;
    gl::Renderbuffer colour, depth;
    gl::Framebuffer picture;
    gl::Renderbuffer resolved_colour;
    gl::Framebuffer resolved;
    int half_width = 0, half_height = 0;
    gl::Texture geometry_map, noisy_map, occlusion_map;
    gl::Renderbuffer half_depth;
    gl::Framebuffer geometry, noisy, occlusion;
  };

  SceneRenderer() = default;
  Result<void> makePrograms();
  /// Those of surfaces, for the detail maps that a list has.
  Result<void> makeSurfacePrograms(const DrawList& list);
  void makeShadowMaps();
  Result<void> fitTargets(int width, int height);
  void drawCasters(const DrawList& list, const Mat4f& clip);
  void drawShadowMaps(const DrawList& list, const LightRig& rig);
  void drawOcclusion(const DrawList& list, bool ground);
  void drawFlatShadow(const DrawList& list, const LightRig& rig);
  bool quick() const { return desc_.lighting == Lighting::Quick; }
  /// Makes the program for a material's maps current, with the maps.
  void useSurfaceProgram(const DrawMaterial& material, bool has_uvs);
  void drawSurface(const DrawSurface& surface, const GpuSurface& gpu, bool shadows);
  void drawSolids(const DrawList& list, bool on_top);
  /// True where there was any.
  bool drawGlass(const DrawList& list, bool on_top);
  void drawMarks(const DrawList& list, bool on_top, float stroke_scale);
  Result<Rgba8Image> readBack(bool straighten);

  RendererDesc desc_;
  Programs programs_;
  Targets targets_;
  GpuScene scene_;
  gl::Buffer frame_uniforms_, sky_uniforms_;
  gl::Texture key_map_, sky_map_;
  gl::Texture key_view_;  ///< the same depths read as numbers
  gl::Framebuffer key_target_, sky_target_;
  gl::VertexArray nothing_;
};

}  // namespace derm::detail
