#include "derm/base/assert.h"
#include "derm/render/offscreen_renderer.h"

/// Stands in where derm is built without OpenGL, so that callers need no #if.
namespace derm {

struct OffscreenRenderer::Impl {};

OffscreenRenderer::OffscreenRenderer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OffscreenRenderer::~OffscreenRenderer() = default;
OffscreenRenderer::OffscreenRenderer(OffscreenRenderer&&) noexcept = default;
OffscreenRenderer& OffscreenRenderer::operator=(OffscreenRenderer&&) noexcept = default;

Result<OffscreenRenderer> OffscreenRenderer::create(const RendererDesc&) {
  return Error{ErrorCode::Unsupported,
               "no pictures can be drawn here: derm was built with DERM_WITH_RENDER=OFF",
               {}};
}

Result<Rgba8Image> OffscreenRenderer::draw(const DrawList&, const Camera&, const PictureSize&) {
  DERM_REQUIRE(false && "create() never succeeds in this build");
  return Rgba8Image();
}

std::string OffscreenRenderer::driver() const { return {}; }

}  // namespace derm
