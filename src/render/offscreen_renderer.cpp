#include "derm/render/offscreen_renderer.h"

#include <optional>
#include <utility>

#include "render/egl_context.h"
#include "render/scene_renderer.h"

namespace derm {
namespace {

/// More would take over a gigabyte with four samples each.
constexpr long long kMaxDrawnPixels = 1LL << 26;

Error badArgument(std::string element, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
}

Result<void> validate(const RendererDesc& desc) {
  if (desc.samples < 1 || desc.samples > 8)
    return badArgument("samples", "1 to 8, not " + std::to_string(desc.samples));
  if (desc.shadow_map_px < 256 || desc.shadow_map_px > 8192)
    return badArgument("shadow_map_px", "256 to 8192, not " + std::to_string(desc.shadow_map_px));
  if (desc.sky_directions < 8 || desc.sky_directions > detail::kMaxSkyDirections)
    return badArgument("sky_directions", "8 to 64, not " + std::to_string(desc.sky_directions));
  return {};
}

Result<void> validate(const PictureSize& size) {
  const auto fits = [](int v) { return v >= 1 && v <= 16384; };
  if (!fits(size.width) || !fits(size.height))
    return badArgument("size", "a picture is 1 to 16384 pixels wide and high, not " +
                                   std::to_string(size.width) + "x" + std::to_string(size.height));
  if (size.supersample < 1 || size.supersample > 4)
    return badArgument("supersample", "1 to 4, not " + std::to_string(size.supersample));
  const long long factor = size.supersample;
  if (size.width * factor * size.height * factor > kMaxDrawnPixels ||
      std::max(size.width, size.height) * factor > 16384)
    return badArgument("size", "too large to draw at once");
  return {};
}

bool finite(const Camera& c) {
  return c.eye.allFinite() && c.target.allFinite() && c.near_m > 0 && c.far_m > c.near_m &&
         c.fov_y_rad > 0 && c.fov_y_rad < 3.14;
}

}  // namespace

struct OffscreenRenderer::Impl {
  detail::EglContext context;
  std::optional<detail::SceneRenderer> scene;
  std::string driver;

  ~Impl() {
    const detail::EglContext::Current current(context);
    scene.reset();
  }
};

OffscreenRenderer::OffscreenRenderer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OffscreenRenderer::~OffscreenRenderer() = default;
OffscreenRenderer::OffscreenRenderer(OffscreenRenderer&&) noexcept = default;
OffscreenRenderer& OffscreenRenderer::operator=(OffscreenRenderer&&) noexcept = default;

Result<OffscreenRenderer> OffscreenRenderer::create(const RendererDesc& desc) {
  DERM_CHECK(validate(desc));
  DERM_TRY(detail::EglContext context, detail::EglContext::create());
  auto impl = std::unique_ptr<Impl>(new Impl{std::move(context), std::nullopt, {}});
  const detail::EglContext::Current current(impl->context);
  if (!current.ok())
    return Error{ErrorCode::Unsupported, "no pictures can be drawn here: EGL gives no context", {}};
  const auto word = [](GLenum name) {
    const GLubyte* text = glGetString(name);
    return text ? std::string(reinterpret_cast<const char*>(text)) : std::string("unknown");
  };
  impl->driver = word(GL_RENDERER) + ", " + word(GL_VERSION);
  DERM_TRY(detail::SceneRenderer scene, detail::SceneRenderer::create(desc));
  impl->scene.emplace(std::move(scene));
  return OffscreenRenderer(std::move(impl));
}

Result<Rgba8Image> OffscreenRenderer::draw(const DrawList& list, const Camera& camera,
                                           const PictureSize& size) {
  DERM_CHECK(validate(size));
  DERM_CHECK(validate(list));
  if (!finite(camera)) return badArgument("camera", "its numbers are out of range");
  const detail::EglContext::Current current(impl_->context);
  if (!current.ok()) return Error{ErrorCode::Unsupported, "the OpenGL context is lost", {}};
  DERM_TRY(Rgba8Image picture,
           impl_->scene->draw(list, camera, size.width * size.supersample,
                              size.height * size.supersample, float(size.supersample)));
  return boxDownscaled(picture, size.supersample);
}

std::string OffscreenRenderer::driver() const { return impl_->driver; }

}  // namespace derm
