#include "render/gpu_scene.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace derm::detail {
namespace {

/// In GpuSurface::weights_of_part: 1 everywhere.
constexpr std::size_t kNoWeights = std::numeric_limits<std::size_t>::max();

template <class T>
void fill(gl::Buffer& buffer, std::span<const T> values) {
  if (!buffer) buffer = gl::makeBuffer();
  glNamedBufferData(buffer.get(), static_cast<GLsizeiptr>(values.size_bytes()), values.data(),
                    GL_STREAM_DRAW);
}

/// Floats from a buffer, `stride` bytes apart; divisor 1 = per instance.
void attribute(GLuint array, GLuint location, GLuint buffer, int components, int stride,
               int offset = 0, GLuint divisor = 0) {
  glVertexArrayVertexBuffer(array, location, buffer, offset, stride);
  glVertexArrayAttribFormat(array, location, components, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(array, location, location);
  glVertexArrayBindingDivisor(array, location, divisor);
  glEnableVertexArrayAttrib(array, location);
}

using ShownMaps = std::vector<const DrawDetailMap*>;

bool isWeighted(const ShownMaps& maps) {
  return std::any_of(maps.begin(), maps.end(),
                     [](const DrawDetailMap* map) { return !map->weights.empty(); });
}

bool sameWeights(const ShownMaps& a, const ShownMaps& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DrawDetailMap* one, const DrawDetailMap* other) {
                      return one->weights.data() == other->weights.data();
                    });
}

/// Kept per vertex rather than per map, so that a material needs one buffer.
void fillWeights(gl::Buffer& buffer, const ShownMaps& maps, std::size_t vertices) {
  std::vector<float> packed(vertices * kMaxDetailMaps, 1.0f);
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const std::span<const float> weights = maps[m]->weights;
    for (std::size_t v = 0; v < weights.size(); ++v)
      packed[v * kMaxDetailMaps + m] = std::clamp(weights[v], 0.0f, 1.0f);
  }
  fill(buffer, std::span<const float>(packed));
}

void uploadDetailWeights(GpuSurface& gpu, const DrawSurface& s) {
  std::vector<ShownMaps> different;
  gpu.weights_of_part.clear();
  for (const DrawPart& part : s.parts) {
    std::size_t& which = gpu.weights_of_part.emplace_back(kNoWeights);
    ShownMaps maps = shownDetailMaps(part.material);
    if (!isWeighted(maps)) continue;
    const auto same = std::find_if(different.begin(), different.end(),
                                   [&](const ShownMaps& m) { return sameWeights(m, maps); });
    which = static_cast<std::size_t>(same - different.begin());
    if (same == different.end()) different.push_back(std::move(maps));
  }
  gpu.detail_weights.resize(different.size());
  for (std::size_t i = 0; i < different.size(); ++i)
    fillWeights(gpu.detail_weights[i], different[i], s.positions.size());
}

void uploadSurface(GpuSurface& gpu, const DrawSurface& s) {
  if (!gpu.array) gpu.array = gl::makeVertexArray();
  const GLuint array = gpu.array.get();
  fill(gpu.positions, s.positions);
  fill(gpu.normals, s.normals);
  fill(gpu.indices, s.triangles);
  attribute(array, 0, gpu.positions.get(), 3, sizeof(Vec3f));
  attribute(array, 1, gpu.normals.get(), 3, sizeof(Vec3f));
  glDisableVertexArrayAttrib(array, 2);
  glDisableVertexArrayAttrib(array, 3);
  if (!s.uvs.empty()) {
    fill(gpu.uvs, s.uvs);
    attribute(array, 2, gpu.uvs.get(), 2, sizeof(Vec2f));
  }
  if (!s.colours.empty()) {
    fill(gpu.colours, s.colours);
    attribute(array, 3, gpu.colours.get(), 4, sizeof(Vec4f));
  }
  glVertexArrayElementBuffer(array, gpu.indices.get());
  uploadDetailWeights(gpu, s);
}

/// One colour for all becomes one each, so that the shader knows one case only.
std::vector<Vec4f> eachColour(const std::vector<Vec4f>& colours, std::size_t count) {
  return colours.size() == count ? colours : std::vector<Vec4f>(count, colours.front());
}

void uploadLines(GpuMarks& gpu, const DrawLines& lines) {
  gpu.count = static_cast<int>(lines.points.size() / 2);
  if (gpu.count == 0) return;
  if (!gpu.array) gpu.array = gl::makeVertexArray();
  fill(gpu.points, std::span<const Vec3f>(lines.points));
  const std::vector<Vec4f> colours = eachColour(lines.colours, lines.points.size());
  fill(gpu.colours, std::span<const Vec4f>(colours));
  const GLuint array = gpu.array.get();
  attribute(array, 0, gpu.points.get(), 3, 2 * sizeof(Vec3f), 0, 1);
  attribute(array, 1, gpu.points.get(), 3, 2 * sizeof(Vec3f), sizeof(Vec3f), 1);
  attribute(array, 2, gpu.colours.get(), 4, 2 * sizeof(Vec4f), 0, 1);
  attribute(array, 3, gpu.colours.get(), 4, 2 * sizeof(Vec4f), sizeof(Vec4f), 1);
}

void uploadPoints(GpuMarks& gpu, const DrawPoints& points) {
  gpu.count = static_cast<int>(points.positions.size());
  if (gpu.count == 0) return;
  if (!gpu.array) gpu.array = gl::makeVertexArray();
  fill(gpu.points, std::span<const Vec3f>(points.positions));
  const std::vector<Vec4f> colours = eachColour(points.colours, points.positions.size());
  fill(gpu.colours, std::span<const Vec4f>(colours));
  attribute(gpu.array.get(), 0, gpu.points.get(), 3, sizeof(Vec3f), 0, 1);
  attribute(gpu.array.get(), 1, gpu.colours.get(), 4, sizeof(Vec4f), 0, 1);
}

gl::Texture uploadImage(const Rgba8Image& image, bool colour) {
  GLint max_side = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &max_side);
  const int side = std::max(image.width, image.height);
  if (side > max_side)
    return uploadImage(boxDownscaled(image, (side + max_side - 1) / max_side), colour);
  const int levels = 1 + static_cast<int>(std::floor(std::log2(side)));
  GLuint name = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &name);
  gl::Texture texture(name);
  glTextureStorage2D(name, levels, colour ? GL_SRGB8_ALPHA8 : GL_RGBA8, image.width, image.height);
  glTextureSubImage2D(name, 0, 0, 0, image.width, image.height, GL_RGBA, GL_UNSIGNED_BYTE,
                      image.pixels.data());
  glGenerateTextureMipmap(name);
  glTextureParameteri(name, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTextureParameteri(name, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  return texture;
}

/// x and y of a map's normal, slopes scaled and made unit length, as bytes with 128 = 0: what is
/// flat stays flat.
struct PackedNormal {
  std::uint8_t x = 128, y = 128;
};
PackedNormal packedNormal(Rgba8 p, float strength) {
  const auto part = [](std::uint8_t c) { return c == 127 || c == 128 ? 0.0f : c / 127.5f - 1.0f; };
  const float x = strength * part(p.r), y = strength * part(p.g), z = std::max(part(p.b), 0.0f);
  const float length = std::sqrt(x * x + y * y + z * z);
  if (!(length > 0.0f)) return {};
  const auto byte = [&](float c) {
    return static_cast<std::uint8_t>(std::lround(128.0f + 127.0f * c / length));
  };
  return {byte(x), byte(y)};
}

Rgba8Image packedNormals(const DrawDetailMap& first, const DrawDetailMap* second) {
  Rgba8Image out(first.image->width, first.image->height);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const PackedNormal a = packedNormal(first.image->pixels[i], first.strength);
    const PackedNormal b =
        second ? packedNormal(second->image->pixels[i], second->strength) : PackedNormal();
    out.pixels[i] = {a.x, a.y, b.x, b.y};
  }
  return out;
}

}  // namespace

std::vector<const DrawDetailMap*> shownDetailMaps(const DrawMaterial& material) {
  ShownMaps out;
  bool any = false;
  for (const DrawDetailMap& map : material.detail_maps) {
    if (!map.image || map.image->empty() || !(map.strength > 0.0f)) continue;
    out.push_back(&map);
    any = any || map.weights.empty() ||
          std::any_of(map.weights.begin(), map.weights.end(), [](float w) { return w > 0.0f; });
  }
  return any ? out : ShownMaps();
}

GLuint TextureCache::findDetails(const DrawDetailMap& first, const DrawDetailMap* second) {
  const std::shared_ptr<const Rgba8Image> other = second ? second->image : nullptr;
  DetailsEntry& entry =
      details_[{first.image.get(), other.get(), first.strength, second ? second->strength : 0.0f}];
  if (!entry.texture || entry.first.lock() != first.image || entry.second.lock() != other)
    entry = {first.image, other, uploadImage(packedNormals(first, second), false)};
  return entry.texture.get();
}

GLuint TextureCache::find(const std::shared_ptr<const Rgba8Image>& image, bool colour) {
  if (!image || image->empty()) return 0;
  Entry& entry = entries_[{image.get(), colour}];
  if (!entry.texture || entry.image.lock() != image) entry = {image, uploadImage(*image, colour)};
  return entry.texture.get();
}

void GpuSurface::useDetailWeights(std::size_t part) const {
  const std::size_t which = part < weights_of_part.size() ? weights_of_part[part] : kNoWeights;
  const GLuint buffer = which < detail_weights.size() ? detail_weights[which].get() : 0;
  for (GLuint half = 0; half < 2; ++half) {
    const GLuint location = 4 + half;
    glDisableVertexArrayAttrib(array.get(), location);
    glVertexAttrib4f(location, 1, 1, 1, 1);
    if (buffer != 0)
      attribute(array.get(), location, buffer, 4, kMaxDetailMaps * sizeof(float),
                static_cast<int>(half * sizeof(Vec4f)));
  }
}

void TextureCache::dropUnused() {
  std::erase_if(entries_, [](const auto& item) { return item.second.image.expired(); });
  std::erase_if(details_, [](const auto& item) {
    return item.second.first.expired() || (std::get<1>(item.first) && item.second.second.expired());
  });
}

void GpuScene::upload(const DrawList& list) {
  if (surfaces_.size() < list.surfaces.size()) surfaces_.resize(list.surfaces.size());
  if (lines_.size() < list.lines.size()) lines_.resize(list.lines.size());
  if (points_.size() < list.points.size()) points_.resize(list.points.size());
  for (std::size_t i = 0; i < list.surfaces.size(); ++i)
    uploadSurface(surfaces_[i], list.surfaces[i]);
  for (std::size_t i = 0; i < list.lines.size(); ++i) uploadLines(lines_[i], list.lines[i]);
  for (std::size_t i = 0; i < list.points.size(); ++i) uploadPoints(points_[i], list.points[i]);
  textures_.dropUnused();
}

}  // namespace derm::detail
