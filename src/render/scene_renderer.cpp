#include "render/scene_renderer.h"

#include <algorithm>
#include <string>

#include "render/shaders.h"

namespace derm::detail {
namespace {

void compareDepths(GLuint texture) {
  glTextureParameteri(texture, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTextureParameteri(texture, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  glTextureParameteri(texture, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
  glTextureParameteri(texture, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
  const float far_away[] = {1, 1, 1, 1};
  glTextureParameterfv(texture, GL_TEXTURE_BORDER_COLOR, far_away);
}

void clearDepth(GLuint target) {
  const float far_away = 1.0f;
  glClearNamedFramebufferfv(target, GL_DEPTH, 0, &far_away);
}

bool opaque(const DrawSurface& s) { return s.opacity >= 1.0f; }

/// Maps in one texture: the second is null where the next one is of another size or elsewhere.
struct DetailTexture {
  const DrawDetailMap* first = nullptr;
  const DrawDetailMap* second = nullptr;
};

std::vector<DetailTexture> detailTextures(const DrawMaterial& material) {
  std::vector<DetailTexture> out;
  for (const DrawDetailMap* map : shownDetailMaps(material)) {
    const bool fits = !out.empty() && out.back().second == nullptr &&
                      out.back().first->image->width == map->image->width &&
                      out.back().first->image->height == map->image->height &&
                      out.back().first->uv_scale == map->uv_scale &&
                      out.back().first->uv_offset == map->uv_offset;
    if (fits)
      out.back().second = map;
    else
      out.push_back({map, nullptr});
  }
  return out;
}

shaders::DetailLayout detailLayout(const std::vector<DetailTexture>& textures) {
  shaders::DetailLayout out;
  for (const DetailTexture& t : textures)
    out.push_back({t.second != nullptr ? 2 : 1,
                   t.first->uv_scale != Vec2f(1, 1) || t.first->uv_offset != Vec2f(0, 0)});
  return out;
}

}  // namespace

Result<SceneRenderer> SceneRenderer::create(const RendererDesc& desc) {
  SceneRenderer out;
  out.desc_ = desc;
  GLint max_samples = 1;
  glGetIntegerv(GL_MAX_SAMPLES, &max_samples);
  out.desc_.samples = std::clamp(desc.samples, 1, std::max(1, max_samples));
  DERM_CHECK(out.makePrograms());
  out.frame_uniforms_ = gl::makeBuffer();
  out.sky_uniforms_ = gl::makeBuffer();
  out.nothing_ = gl::makeVertexArray();
  if (!out.quick()) out.makeShadowMaps();
  return out;
}

Result<void> SceneRenderer::makePrograms() {
  namespace s = shaders;
  const std::string surface = s::surfaceVertex(), screen = s::screenVertex();
  const auto make = [](gl::Program& into, const char* name, const std::string& vertex,
                       const std::string& fragment) -> Result<void> {
    DERM_TRY(into, gl::makeProgram(name, vertex, fragment));
    return {};
  };
  Programs& p = programs_;
  DERM_CHECK(make(p.background, "background", screen, s::backgroundFragment()));
  DERM_CHECK(make(p.line, "line", s::lineVertex(), s::lineFragment()));
  DERM_CHECK(make(p.point, "point", s::pointVertex(), s::pointFragment()));
  if (quick()) {
    DERM_CHECK(make(p.flat_shadow, "flat shadow", s::depthVertex(), s::flatShadowFragment()));
    return make(p.surface[{}], "surface", surface, s::quickSurfaceFragment({}));
  }
  DERM_CHECK(make(p.depth, "depth", s::depthVertex(), s::depthFragment()));
  DERM_CHECK(make(p.geometry, "geometry", surface, s::geometryFragment()));
  DERM_CHECK(
      make(p.ground_geometry, "ground geometry", s::groundVertex(), s::groundGeometryFragment()));
  DERM_CHECK(make(p.occlusion, "occlusion", screen, s::occlusionFragment()));
  DERM_CHECK(make(p.blur, "blur", screen, s::blurFragment()));
  DERM_CHECK(make(p.ground, "ground", s::groundVertex(), s::groundFragment()));
  return make(p.surface[{}], "surface", surface, s::surfaceFragment({}));
}

Result<void> SceneRenderer::makeSurfacePrograms(const DrawList& list) {
  for (const DrawSurface& surface : list.surfaces)
    for (const DrawPart& part : surface.parts) {
      const shaders::DetailLayout layout = detailLayout(detailTextures(part.material));
      if (programs_.surface.contains(layout)) continue;
      DERM_TRY(gl::Program program, gl::makeProgram("surface", shaders::surfaceVertex(),
                                                    quick() ? shaders::quickSurfaceFragment(layout)
                                                            : shaders::surfaceFragment(layout)));
      programs_.surface.emplace(layout, std::move(program));
    }
  return {};
}

void SceneRenderer::makeShadowMaps() {
  const int key = desc_.shadow_map_px;
  key_map_ = gl::makeTexture(GL_DEPTH_COMPONENT32F, key, key, GL_LINEAR);
  compareDepths(key_map_.get());
  GLuint view = 0;
  glGenTextures(1, &view);
  glTextureView(view, GL_TEXTURE_2D, key_map_.get(), GL_DEPTH_COMPONENT32F, 0, 1, 0, 1);
  key_view_ = gl::Texture(view);
  glTextureParameteri(view, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTextureParameteri(view, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTextureParameteri(view, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTextureParameteri(view, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  key_target_ = gl::makeFramebuffer();
  glNamedFramebufferTexture(key_target_.get(), GL_DEPTH_ATTACHMENT, key_map_.get(), 0);
  glNamedFramebufferDrawBuffer(key_target_.get(), GL_NONE);

  const int rows = (desc_.sky_directions + kSkyTilesPerRow - 1) / kSkyTilesPerRow;
  sky_map_ = gl::makeTexture(GL_DEPTH_COMPONENT32F, kSkyTile_px * kSkyTilesPerRow,
                             kSkyTile_px * rows, GL_LINEAR);
  compareDepths(sky_map_.get());
  sky_target_ = gl::makeFramebuffer();
  glNamedFramebufferTexture(sky_target_.get(), GL_DEPTH_ATTACHMENT, sky_map_.get(), 0);
  glNamedFramebufferDrawBuffer(sky_target_.get(), GL_NONE);
}

Result<void> SceneRenderer::fitTargets(int width, int height) {
  if (targets_.width == width && targets_.height == height) return {};
  targets_ = Targets();
  Targets& t = targets_;
  t.colour = gl::makeRenderbuffer(GL_SRGB8_ALPHA8, width, height, desc_.samples);
  t.depth = gl::makeRenderbuffer(GL_DEPTH_COMPONENT32F, width, height, desc_.samples);
  t.picture = gl::makeFramebuffer();
  glNamedFramebufferRenderbuffer(t.picture.get(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                 t.colour.get());
  glNamedFramebufferRenderbuffer(t.picture.get(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                                 t.depth.get());
  t.resolved_colour = gl::makeRenderbuffer(GL_SRGB8_ALPHA8, width, height, 1);
  t.resolved = gl::makeFramebuffer();
  glNamedFramebufferRenderbuffer(t.resolved.get(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                 t.resolved_colour.get());

  t.half_width = (width + 1) / 2;
  t.half_height = (height + 1) / 2;
  const auto map = [&](gl::Texture& texture, gl::Framebuffer& target, GLenum format) {
    texture = gl::makeTexture(format, t.half_width, t.half_height, GL_NEAREST);
    target = gl::makeFramebuffer();
    glNamedFramebufferTexture(target.get(), GL_COLOR_ATTACHMENT0, texture.get(), 0);
  };
  map(t.geometry_map, t.geometry, GL_RGBA32F);
  map(t.noisy_map, t.noisy, GL_RGBA32F);
  map(t.occlusion_map, t.occlusion, GL_RGBA32F);
  t.half_depth = gl::makeRenderbuffer(GL_DEPTH_COMPONENT32F, t.half_width, t.half_height, 1);
  glNamedFramebufferRenderbuffer(t.geometry.get(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                                 t.half_depth.get());
  const bool whole =
      glCheckNamedFramebufferStatus(t.picture.get(), GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE &&
      glCheckNamedFramebufferStatus(t.geometry.get(), GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  if (whole && glGetError() == GL_NO_ERROR) {
    t.width = width;
    t.height = height;
    return {};
  }
  targets_ = Targets();
  return Error{ErrorCode::Unsupported,
               "the driver has no memory for a picture of " + std::to_string(width) + "x" +
                   std::to_string(height) + " pixels",
               {}};
}

void SceneRenderer::drawCasters(const DrawList& list, const Mat4f& clip) {
  glUniformMatrix4fv(0, 1, GL_FALSE, clip.data());
  for (std::size_t i = 0; i < list.surfaces.size(); ++i) {
    const DrawSurface& s = list.surfaces[i];
    if (!s.casts_shadow || s.on_top || s.triangles.empty()) continue;
    glBindVertexArray(scene_.surface(i).array.get());
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * s.triangles.size()), GL_UNSIGNED_INT,
                   nullptr);
  }
}

void SceneRenderer::drawShadowMaps(const DrawList& list, const LightRig& rig) {
  glUseProgram(programs_.depth.get());
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LESS);
  glDisable(GL_BLEND);
  glDisable(GL_CULL_FACE);
  clearDepth(key_target_.get());
  glBindFramebuffer(GL_FRAMEBUFFER, key_target_.get());
  glViewport(0, 0, desc_.shadow_map_px, desc_.shadow_map_px);
  drawCasters(list, rig.key_clip);
  clearDepth(sky_target_.get());
  glBindFramebuffer(GL_FRAMEBUFFER, sky_target_.get());
  for (std::size_t i = 0; i < rig.sky_clip.size(); ++i) {
    const int tile = static_cast<int>(i);
    glViewport(kSkyTile_px * (tile % kSkyTilesPerRow), kSkyTile_px * (tile / kSkyTilesPerRow),
               kSkyTile_px, kSkyTile_px);
    drawCasters(list, rig.sky_clip[i]);
  }
}

void SceneRenderer::drawOcclusion(const DrawList& list, bool ground) {
  const Targets& t = targets_;
  const float nowhere[] = {0, 0, 0, 0};
  glClearNamedFramebufferfv(t.geometry.get(), GL_COLOR, 0, nowhere);
  clearDepth(t.geometry.get());
  glBindFramebuffer(GL_FRAMEBUFFER, t.geometry.get());
  glViewport(0, 0, t.half_width, t.half_height);
  if (ground) {
    glUseProgram(programs_.ground_geometry.get());
    glBindVertexArray(nothing_.get());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
  glUseProgram(programs_.geometry.get());
  for (std::size_t i = 0; i < list.surfaces.size(); ++i) {
    const DrawSurface& s = list.surfaces[i];
    if (s.on_top || !opaque(s) || s.triangles.empty()) continue;
    glBindVertexArray(scene_.surface(i).array.get());
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * s.triangles.size()), GL_UNSIGNED_INT,
                   nullptr);
  }
  glDisable(GL_DEPTH_TEST);
  glBindVertexArray(nothing_.get());
  glBindFramebuffer(GL_FRAMEBUFFER, t.noisy.get());
  glUseProgram(programs_.occlusion.get());
  glBindTextureUnit(0, t.geometry_map.get());
  glBindTextureUnit(1, sky_map_.get());
  glBindTextureUnit(2, key_map_.get());
  glBindTextureUnit(3, key_view_.get());
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindFramebuffer(GL_FRAMEBUFFER, t.occlusion.get());
  glUseProgram(programs_.blur.get());
  glBindTextureUnit(0, t.noisy_map.get());
  glBindTextureUnit(1, t.geometry_map.get());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

/// In front of the background, behind all else. Opaque: triangles lie over each other there.
void SceneRenderer::drawFlatShadow(const DrawList& list, const LightRig& rig) {
  glUseProgram(programs_.flat_shadow.get());
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_BLEND);
  drawCasters(list, rig.flat_clip);
}

void SceneRenderer::useSurfaceProgram(const DrawMaterial& material, bool has_uvs) {
  const std::vector<DetailTexture> textures =
      has_uvs ? detailTextures(material) : std::vector<DetailTexture>();
  const shaders::DetailLayout layout = detailLayout(textures);
  glUseProgram(programs_.surface.at(layout).get());
  for (std::size_t t = 0; t < textures.size(); ++t) {
    const DrawDetailMap& first = *textures[t].first;
    glBindTextureUnit(static_cast<GLuint>(shaders::kFirstDetailUnit) + static_cast<GLuint>(t),
                      scene_.textures().findDetails(first, textures[t].second));
    if (layout[t].moved)
      glUniform4f(shaders::kDetailUvs + static_cast<GLint>(t), first.uv_scale.x(),
                  first.uv_scale.y(), first.uv_offset.x(), first.uv_offset.y());
  }
}

void SceneRenderer::drawSurface(const DrawSurface& surface, const GpuSurface& gpu, bool shadows) {
  glBindVertexArray(gpu.array.get());
  // What a surface does not have is constant.
  glVertexAttrib2f(2, 0, 0);
  glVertexAttrib4f(3, 1, 1, 1, 1);
  std::vector<DrawPart> whole;
  if (surface.parts.empty())
    whole.push_back({0, static_cast<std::uint32_t>(surface.triangles.size()), DrawMaterial()});
  const std::vector<DrawPart>& parts = surface.parts.empty() ? whole : surface.parts;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const DrawPart& part = parts[p];
    if (part.triangle_count == 0) continue;
    const DrawMaterial& m = part.material;
    const GLuint colour =
        surface.uvs.empty() ? 0 : scene_.textures().find(m.base_colour_image, true);
    const GLuint normal = surface.uvs.empty() ? 0 : scene_.textures().find(m.normal_image, false);
    glBindTextureUnit(1, colour);
    glBindTextureUnit(2, normal);
    useSurfaceProgram(m, !surface.uvs.empty());
    glUniform4fv(0, 1, m.base_colour.data());
    glUniform4f(1, m.metallic, m.roughness, m.self_lit, surface.opacity);
    glUniform4i(2, colour != 0, normal != 0, m.cut_out, shadows);
    gpu.useDetailWeights(p);
    if (m.cut_out)
      glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    else
      glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    if (m.double_sided)
      glDisable(GL_CULL_FACE);
    else
      glEnable(GL_CULL_FACE);
    const std::size_t offset = std::size_t{part.first_triangle} * sizeof(Triangle);
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * part.triangle_count), GL_UNSIGNED_INT,
                   reinterpret_cast<const void*>(offset));
  }
  glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  glDisable(GL_CULL_FACE);
}

void SceneRenderer::drawSolids(const DrawList& list, bool on_top) {
  glBindTextureUnit(0, targets_.occlusion_map.get());
  for (std::size_t i = 0; i < list.surfaces.size(); ++i)
    if (list.surfaces[i].on_top == on_top && opaque(list.surfaces[i]))
      drawSurface(list.surfaces[i], scene_.surface(i), !on_top);
}

bool SceneRenderer::drawGlass(const DrawList& list, bool on_top) {
  glBindTextureUnit(0, targets_.occlusion_map.get());
  // A little towards the eye: where glass and what it covers coincide, the glass is in front, on
  // every driver.
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(-1.0f, -8.0f);
  bool any = false;
  for (std::size_t i = 0; i < list.surfaces.size(); ++i) {
    const DrawSurface& s = list.surfaces[i];
    if (s.on_top != on_top || opaque(s)) continue;
    any = true;
    // Depth first, colour second: only the layer nearest to the eye is seen, like glass without an
    // inside, and the order of triangles does not matter.
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    drawSurface(s, scene_.surface(i), false);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glEnable(GL_BLEND);
    glDepthFunc(GL_LEQUAL);
    drawSurface(s, scene_.surface(i), false);
    glDepthFunc(GL_LESS);
    glDisable(GL_BLEND);
  }
  glDisable(GL_POLYGON_OFFSET_FILL);
  return any;
}

void SceneRenderer::drawMarks(const DrawList& list, bool on_top, float stroke_scale) {
  glEnable(GL_BLEND);
  glDepthMask(GL_FALSE);
  glUseProgram(programs_.line.get());
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    const DrawLines& l = list.lines[i];
    if (l.on_top != on_top || l.points.empty()) continue;
    glUniform4f(0, l.width_px * stroke_scale, l.towards_eye, 0, 0);
    glBindVertexArray(scene_.lines(i).array.get());
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, scene_.lines(i).count);
  }
  glUseProgram(programs_.point.get());
  for (std::size_t i = 0; i < list.points.size(); ++i) {
    const DrawPoints& p = list.points[i];
    if (p.on_top != on_top || p.positions.empty()) continue;
    glUniform4f(0, p.diameter_px * stroke_scale, p.outline_px * stroke_scale, 0, 0);
    glBindVertexArray(scene_.points(i).array.get());
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, scene_.points(i).count);
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_BLEND);
}

Result<Rgba8Image> SceneRenderer::readBack(bool straighten) {
  const Targets& t = targets_;
  glBlitNamedFramebuffer(t.picture.get(), t.resolved.get(), 0, 0, t.width, t.height, 0, 0, t.width,
                         t.height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  Rgba8Image upside_down(t.width, t.height);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, t.resolved.get());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, t.width, t.height, GL_RGBA, GL_UNSIGNED_BYTE, upside_down.pixels.data());
  if (const GLenum error = glGetError(); error != GL_NO_ERROR)
    return Error{ErrorCode::Unsupported,
                 error == GL_OUT_OF_MEMORY ? "the driver is out of memory"
                                           : "OpenGL error " + std::to_string(error),
                 {.element = "picture"}};
  Rgba8Image out(t.width, t.height);
  for (int y = 0; y < t.height; ++y)
    std::copy_n(&upside_down.at(0, t.height - 1 - y), t.width, &out.at(0, y));
  for (Rgba8& p : out.pixels) {
    if (!straighten) {
      p.a = 255;
    } else if (p.a != 0 && p.a != 255) {  // blending left colour times alpha
      Vec4f c = linearColour(p);
      c.head<3>() /= c.w();
      p = encodedColour(c);
    }
  }
  return out;
}

Result<Rgba8Image> SceneRenderer::draw(const DrawList& list, const Camera& camera, int width,
                                       int height, float stroke_scale) {
  while (glGetError() != GL_NO_ERROR) {
  }
  DERM_CHECK(fitTargets(width, height));
  DERM_CHECK(makeSurfacePrograms(list));
  const LightRig rig =
      makeLightRig(list, camera, {width, height, desc_.shadow_map_px, desc_.sky_directions});
  glNamedBufferData(frame_uniforms_.get(), sizeof rig.frame, &rig.frame, GL_STREAM_DRAW);
  glNamedBufferData(sky_uniforms_.get(), sizeof rig.sky, &rig.sky, GL_STREAM_DRAW);
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_uniforms_.get());
  glBindBufferBase(GL_UNIFORM_BUFFER, 1, sky_uniforms_.get());
  scene_.upload(list);

  if (!quick()) {
    glDisable(GL_FRAMEBUFFER_SRGB);
    drawShadowMaps(list, rig);
    drawOcclusion(list, rig.ground_visible);
  }

  glEnable(GL_FRAMEBUFFER_SRGB);
  glEnable(GL_MULTISAMPLE);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  const float clear[] = {0, 0, 0, 0};
  glClearNamedFramebufferfv(targets_.picture.get(), GL_COLOR, 0, clear);
  clearDepth(targets_.picture.get());
  glBindFramebuffer(GL_FRAMEBUFFER, targets_.picture.get());
  glViewport(0, 0, width, height);
  glDisable(GL_DEPTH_TEST);
  glBindVertexArray(nothing_.get());
  if (!list.background.clear) {
    glUseProgram(programs_.background.get());
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  if (rig.ground_visible && quick()) drawFlatShadow(list, rig);
  if (rig.ground_visible && !quick()) {
    glEnable(GL_BLEND);
    glUseProgram(programs_.ground.get());
    glBindTextureUnit(0, targets_.occlusion_map.get());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LESS);
  glDisable(GL_BLEND);
  drawSolids(list, false);
  drawMarks(list, false, stroke_scale);
  // Strokes inside glass are seen through it; those in front of it are drawn again.
  if (drawGlass(list, false)) drawMarks(list, false, stroke_scale);
  clearDepth(targets_.picture.get());
  drawSolids(list, true);
  drawGlass(list, true);
  glDisable(GL_DEPTH_TEST);
  drawMarks(list, true, stroke_scale);
  return readBack(list.background.clear);
}

}  // namespace derm::detail
