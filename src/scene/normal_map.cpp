#include "derm/scene/normal_map.h"

#include <algorithm>
#include <cmath>

#include "derm/mesh/normals.h"
#include "derm/scene/linear_reference.h"

namespace derm {
namespace {

constexpr int kMostPixels = 16384;

/// What a pixel shows: a normal in tangent space; all zero where nothing was drawn.
using Pixels = std::vector<Vec3f>;

struct Surfaces {
  std::span<const Triangle> triangles;
  std::span<const Vec2f> uvs;
  std::span<const Vec3f> fine;      ///< normals with the layers
  std::span<const Vec3f> plain;     ///< without
  std::span<const Vec4f> tangents;  ///< without
};

template <class T>
T mixed(std::span<const T> values, const Triangle& t, const Vec3f& share) {
  return share[0] * values[t[0]] + share[1] * values[t[1]] + share[2] * values[t[2]];
}

Vec3f inTangentSpace(const Surfaces& s, const Triangle& t, const Vec3f& share) {
  const Vec3f normal = mixed(s.plain, t, share).normalized();
  const Vec3f slanted = mixed(s.tangents, t, share).head<3>();
  const Vec3f tangent = (slanted - normal * normal.dot(slanted)).normalized();
  const Vec3f bitangent = s.tangents[t[0]].w() * normal.cross(tangent);
  const Vec3f fine = mixed(s.fine, t, share);
  const Vec3f out(fine.dot(tangent), fine.dot(bitangent), fine.dot(normal));
  const float length = out.norm();
  return length > 1e-6f && out.allFinite() ? Vec3f(out / length) : Vec3f(0, 0, 1);
}

void draw(const Surfaces& s, const Triangle& t, const NormalMapDesc& desc, Pixels& pixels) {
  Vec2f p[3];
  for (int c = 0; c < 3; ++c)
    p[c] = s.uvs[t[c]].cwiseProduct(Vec2f(float(desc.width), float(desc.height)));
  const auto twice = [](const Vec2f& a, const Vec2f& b) { return a.x() * b.y() - a.y() * b.x(); };
  const float area = twice(p[1] - p[0], p[2] - p[0]);
  if (!(std::abs(area) > 1e-12f)) return;
  const auto range = [](float low, float high, int size) {
    return std::pair{std::clamp(int(std::floor(low)), 0, size - 1),
                     std::clamp(int(std::ceil(high)), 0, size - 1)};
  };
  const auto [x0, x1] = range(std::min({p[0].x(), p[1].x(), p[2].x()}),
                              std::max({p[0].x(), p[1].x(), p[2].x()}), desc.width);
  const auto [y0, y1] = range(std::min({p[0].y(), p[1].y(), p[2].y()}),
                              std::max({p[0].y(), p[1].y(), p[2].y()}), desc.height);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const Vec2f q(float(x) + 0.5f, float(y) + 0.5f);
      const float b = twice(q - p[0], p[2] - p[0]) / area;
      const float c = twice(p[1] - p[0], q - p[0]) / area;
      if (b < 0 || c < 0 || b + c > 1) continue;
      pixels[std::size_t(y) * std::size_t(desc.width) + std::size_t(x)] =
          inTangentSpace(s, t, Vec3f(1 - b - c, b, c));
    }
}

/// Gives empty pixels beside drawn ones their mean, ring after ring.
void widen(const NormalMapDesc& desc, Pixels& pixels) {
  for (int ring = 0; ring < desc.padding; ++ring) {
    const Pixels before = pixels;
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x) {
        const std::size_t at = std::size_t(y) * std::size_t(desc.width) + std::size_t(x);
        if (!before[at].isZero()) continue;
        Vec3f sum = Vec3f::Zero();
        for (int j = std::max(y - 1, 0); j <= std::min(y + 1, desc.height - 1); ++j)
          for (int i = std::max(x - 1, 0); i <= std::min(x + 1, desc.width - 1); ++i)
            sum += before[std::size_t(j) * std::size_t(desc.width) + std::size_t(i)];
        if (sum.norm() > 1e-6f) pixels[at] = sum.normalized();
      }
  }
}

std::uint8_t encoded(float component) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(127.5f * component + 127.5f), 0l, 255l));
}

}  // namespace

Result<Rgba8Image> foldNormalMap(Scene& scene, double time_s, const NormalMapDesc& desc,
                                 Diagnostics& notes) {
  for (const auto& [key, size] : {std::pair{"width", desc.width}, {"height", desc.height}})
    if (size < 1 || size > kMostPixels)
      return Error{ErrorCode::BadArgument, "must be 1 to 16384 pixels", {.element = key}};
  const TriMesh& rest = scene.stack().output().rest;
  if (rest.uvs.empty())
    return Error{ErrorCode::BadData,
                 "has no texture coordinates to draw a map in",
                 {.file = scene.character()->name}};
  DERM_TRY(const std::shared_ptr<const Stack> plain_stack, scene.linearReferenceStack());
  const SkinFrame& fine = scene.playback().frameAt(time_s);
  LinearReference plain(plain_stack);
  const SkinFrame& flat = plain.evaluate(scene.playback().pose(), time_s);
  std::vector<Vec4f> tangents(flat.tangents().begin(), flat.tangents().end());
  if (tangents.empty()) {
    TriMesh posed = rest;
    posed.positions.assign(flat.positions().begin(), flat.positions().end());
    posed.normals.assign(flat.normals().begin(), flat.normals().end());
    tangents = uvTangents(posed);
  }
  const Surfaces surfaces{rest.triangles, rest.uvs, fine.normals(), flat.normals(), tangents};
  Pixels pixels(std::size_t(desc.width) * std::size_t(desc.height), Vec3f::Zero());
  std::size_t outside = 0;
  for (const Triangle& t : rest.triangles) {
    for (const std::uint32_t v : t) {
      const Vec2f& uv = rest.uvs[v];
      outside += !(uv.minCoeff() >= 0 && uv.maxCoeff() <= 1);
    }
    draw(surfaces, t, desc, pixels);
  }
  if (outside > 0)
    notes.warn("uv-outside-map", scene.character()->name,
               "texture coordinates outside 0 to 1 are not drawn");
  widen(desc, pixels);
  Rgba8Image out(desc.width, desc.height);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const Vec3f n = pixels[i].isZero() ? Vec3f(0, 0, 1) : pixels[i];
    out.pixels[i] = {encoded(n.x()), encoded(desc.y_up ? n.y() : -n.y()), encoded(n.z()), 255};
  }
  return out;
}

}  // namespace derm
