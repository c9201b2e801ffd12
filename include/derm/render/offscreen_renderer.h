#pragma once

#include <memory>
#include <string>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/render/camera.h"
#include "derm/render/draw_list.h"

namespace derm {

enum class Lighting {
  Studio,  ///< key, fill and rim light, soft shadows, a sky with its ambient shadow
  Quick,   ///< the key light and an even sky; nothing shades but the floor's hard shadow
};

/// What a renderer is made for.
struct RendererDesc {
  Lighting lighting = Lighting::Studio;
  int samples = 4;  ///< 1, 2, 4, 8: samples per pixel at edges; fewer where the driver lacks them
  int shadow_map_px = 2048;  ///< [px] 256 to 8192, side of the key light's shadow map
  int sky_directions = 40;   ///< [8,64] how many directions the ambient shadow is made of
};

struct PictureSize {
  int width = 1280;  ///< [px] 1 to 16384
  int height = 720;  ///< [px] 1 to 16384
  /// [1,4] drawn so many times larger and averaged down: finer textures and thin strokes for
  /// stills, at its square in time.
  int supersample = 1;
};

/// Draws a DrawList into a picture, without a window or display: OpenGL 4.5 through EGL's
/// surfaceless platform, on a graphics card or, as well, on Mesa's llvmpipe.
///
/// The look is a photographer's studio: a large soft key light whose shadow softens with distance
/// (percentage-closer soft shadows, Fernando 2005), a fill and a rim light, and a bright sky whose
/// ambient shadow is the mean of many low shadow maps from all over the hemisphere; diffuse with a
/// little wrap and GGX highlights; a neutral tone curve that leaves colours below 0.8 as they are
/// (after Khronos' PBR Neutral, 2024); the floor shows only its shadow. The lights turn with the
/// camera, so every side of a character is well lit. Lighting::Quick is for looking at motion: one
/// pass over the surface, and one for its shadow, flattened onto the floor.
///
/// The same list gives the same picture on the same driver. Drivers differ in the last bits and in
/// where edges fall; image/difference.h compares with that in mind. Move-only; one thread at a
/// time; several renderers may live side by side. GPU memory grows with the largest list and
/// picture. Cost: see docs/render.md.
class OffscreenRenderer {
 public:
  /// Fails with Unsupported where EGL, its surfaceless platform or OpenGL 4.5 is missing, and says
  /// which.
  static Result<OffscreenRenderer> create(const RendererDesc& desc = {});
  ~OffscreenRenderer();
  OffscreenRenderer(OffscreenRenderer&&) noexcept;
  OffscreenRenderer& operator=(OffscreenRenderer&&) noexcept;

  /// Errors: what validate(DrawList) finds, a size out of range, the driver out of memory.
  Result<Rgba8Image> draw(const DrawList& list, const Camera& camera, const PictureSize& size);

  /// "llvmpipe (LLVM 15.0.6, 256 bits), 4.5 (Core Profile) Mesa 22.3.6"
  std::string driver() const;

 private:
  struct Impl;
  explicit OffscreenRenderer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace derm
