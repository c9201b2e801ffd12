#include "derm/scene/detail_bake.h"

#include <algorithm>
#include <set>

#include "derm/base/parallel.h"
#include "derm/io/image_file.h"

namespace derm {
namespace {

/// A normal map at another size, by slopes, which is what may be averaged; times `strength`.
FloatImage resized(const Rgba8Image& image, const DetailBakeDesc& desc, float strength) {
  const FloatImage normals = decodeNormals(image, NormalGreen::Up);
  FloatImage slopes(image.width, image.height, 2);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const float z = std::max(normals.values[3 * i + 2], 1e-3f);
    slopes.values[2 * i] = strength * normals.values[3 * i] / z;
    slopes.values[2 * i + 1] = strength * normals.values[3 * i + 1] / z;
  }
  // Each texel is the mean of what it covers, of four by four samples at most.
  const float sx = static_cast<float>(image.width) / static_cast<float>(desc.width);
  const float sy = static_cast<float>(image.height) / static_cast<float>(desc.height);
  const int n = std::clamp(static_cast<int>(std::ceil(std::max(sx, sy))), 1, 4);
  FloatImage out(desc.width, desc.height, 3);
  parallelFor(static_cast<std::size_t>(desc.height), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y)
      for (int x = 0; x < desc.width; ++x) {
        float p = 0, q = 0;
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i) {
            const float fx =
                (static_cast<float>(x) + (static_cast<float>(i) + 0.5f) / static_cast<float>(n)) *
                sx;
            const float fy =
                (static_cast<float>(y) + (static_cast<float>(j) + 0.5f) / static_cast<float>(n)) *
                sy;
            p += sampleBilinear(slopes, fx, fy, 0);
            q += sampleBilinear(slopes, fx, fy, 1);
          }
        const float share = 1.0f / static_cast<float>(n * n);
        const Vec3f normal = Vec3f(p * share, q * share, 1).normalized();
        std::copy_n(normal.data(), 3,
                    out.values.data() + 3 * (y * static_cast<std::size_t>(desc.width) +
                                             static_cast<std::size_t>(x)));
      }
  });
  return out;
}

/// Texture coordinates with the square between 0 and 1 that wrinkles are drawn in: that of the
/// face's points on the material, or, where it has none, of most of its triangles.
std::vector<Vec2f> uvsOf(const Character& character, int material,
                         std::span<const Triangle> triangles) {
  const TriMesh& mesh = character.mesh;
  std::vector<Vec2f> places;
  for (const MeshPart& part : character.parts)
    for (const LabelledPoint& p : character.points)
      if (part.material == material && p.point.triangle >= part.first_triangle &&
          p.point.triangle - part.first_triangle < part.triangle_count)
        places.push_back(
            valueAt<Vec2f>(p.point, std::span<const Triangle>(mesh.triangles), mesh.uvs));
  return uvsInSquare(mesh.uvs,
                     places.empty() ? squareOfMost(mesh.uvs, triangles) : squareOfMost(places));
}

Error fails(const Scene& scene, const char* message) {
  return {ErrorCode::BadData, message, {.file = scene.character()->name}};
}

}  // namespace

Result<DetailBaker> DetailBaker::make(Scene& scene, const DetailBakeDesc& desc,
                                      Diagnostics& notes) {
  if (desc.width < 16 || desc.height < 16 || desc.width > 16384 || desc.height > 16384)
    return Error{ErrorCode::BadArgument, "must be 16 to 16384 pixels", {.element = "size"}};
  if (desc.padding < 0 || desc.padding > 256)
    return Error{ErrorCode::BadArgument, "must lie in [0,256]", {.element = "padding"}};
  const Character& character = *scene.character();
  if (character.mesh.uvs.empty())
    return fails(scene,
                 "has no texture coordinates; unwrap it first (in Blender: UV > Smart UV "
                 "Project)");
  const auto driven = [](const Material& m) {
    return std::any_of(m.detail_maps.begin(), m.detail_maps.end(),
                       [](const DetailMap& map) { return !map.channel.empty(); });
  };
  const auto& all = character.materials;
  const auto found = std::find_if(all.begin(), all.end(), driven);
  if (found == all.end())
    return fails(scene,
                 "has no wrinkle maps: the recipe needs a detail layer whose poses have maps");
  const int material = static_cast<int>(found - all.begin());
  const auto decoded = [&](int image) -> Result<Rgba8Image> {
    const Image& i = character.images[static_cast<std::size_t>(image)];
    return decodeImage(i.bytes, i.name);
  };

  DetailBaker out;
  out.scene_ = &scene;
  out.desc_ = desc;
  for (const MeshPart& part : character.parts)
    if (part.material == material)
      out.triangles_.insert(
          out.triangles_.end(), character.mesh.triangles.begin() + part.first_triangle,
          character.mesh.triangles.begin() + part.first_triangle + part.triangle_count);
  out.raster_ = rasteriseUvs(uvsOf(character, material, out.triangles_), out.triangles_,
                             {.width = desc.width, .height = desc.height, .padding = desc.padding});
  if (out.raster_.overlapping_texels > 0)
    notes.warn("map-overlap", "mesh",
               "charts lie on each other: " + std::to_string(out.raster_.overlapping_texels) +
                   " texels show the wrinkles of one of them only");
  for (std::uint32_t i = 0; i < out.raster_.points.size(); ++i)
    if (out.raster_.hasSurface(i)) out.covered_.push_back(i);
  if (found->normal_image >= 0) {
    DERM_TRY(const Rgba8Image own, decoded(found->normal_image));
    out.base_normals_ = resized(own, desc, 1);
  } else {
    out.base_normals_ = resized(Rgba8Image(1, 1, Rgba8{128, 128, 255, 255}), desc, 1);
  }
  out.base_ = encodeNormals8(out.base_normals_, desc.green);
  for (const DetailMap& map : found->detail_maps) {
    if (map.channel.empty()) continue;
    DERM_TRY(const Rgba8Image picture, decoded(map.image));
    Map made{.bytes = {},
             .normals = resized(picture, desc, map.strength),
             .channel = map.channel,
             .strengths = FloatImage(desc.width, desc.height, 1)};
    made.bytes = encodeNormals8(made.normals, desc.green);
    out.maps_.push_back(std::move(made));
  }
  return out;
}

void DetailBaker::updateStrengths(double time_s) {
  const SkinFrame& frame = scene_->playback().frameAt(time_s);
  for (Map& map : maps_) {
    const std::span<const float> weights = frame.channel(map.channel);
    float* const to = map.strengths.values.data();
    parallelFor(covered_.size(), 1 << 15, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const SurfacePoint& p = raster_.points[covered_[i]];
        const Triangle& t = triangles_[p.triangle];
        to[covered_[i]] = weights.empty() ? 0.0f
                                          : p.barycentric[0] * weights[t[0]] +
                                                p.barycentric[1] * weights[t[1]] +
                                                p.barycentric[2] * weights[t[2]];
      }
    });
  }
}

const Rgba8Image& DetailBaker::map8(double time_s) {
  updateStrengths(time_s);
  std::vector<NormalLayer8> layers;
  for (const Map& map : maps_) layers.push_back({&map.bytes, 1, &map.strengths});
  blendNormals(base_, layers, desc_.blend, desc_.green, out_);
  return out_;
}

UInt16Image DetailBaker::map16(double time_s) {
  updateStrengths(time_s);
  std::vector<NormalLayer> layers;
  for (const Map& map : maps_) layers.push_back({&map.normals, 1, &map.strengths});
  FloatImage blended;
  blendNormals(base_normals_, layers, desc_.blend, blended);
  return encodeNormals16(blended, desc_.green);
}

std::vector<double> DetailBaker::keyTimes() const {
  const double first = scene_->frameTimes().front(), last = scene_->frameTimes().back();
  std::set<double> out = {first, last};
  if (const Clip* clip = scene_->clip())
    for (const Track& track : clip->tracks)
      for (const float t : track.times_s)
        if (static_cast<double>(t) > first && static_cast<double>(t) < last)
          out.insert(static_cast<double>(t));
  return {out.begin(), out.end()};
}

}  // namespace derm
