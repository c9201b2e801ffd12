#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/normal_map.h"
#include "derm/mesh/uv_raster.h"
#include "derm/scene/scene.h"

namespace derm {

struct DetailBakeDesc {
  int width = 1024;   ///< [px] 16 to 16384
  int height = 1024;  ///< [px]
  NormalBlend blend = NormalBlend::Whiteout;
  NormalGreen green = NormalGreen::Up;
  int padding = 4;  ///< [px] [0,256] rings around charts, against bleeding
};

/// The normal map of a face at an instant, with its wrinkle maps blended in: for engines that have
/// no shader for them. Made once per scene: maps are decoded and brought to the size asked for,
/// texels know their triangles. A map then costs the frame, the influences of its texels, and the
/// blend (see blendNormals()).
class DetailBaker {
 public:
  /// `scene` must outlive it. Errors: no detail maps that layers drive, a character without texture
  /// coordinates, maps that cannot be decoded, sizes out of range.
  static Result<DetailBaker> make(Scene& scene, const DetailBakeDesc& desc, Diagnostics& notes);

  /// 8 bits; valid until the next call.
  const Rgba8Image& map8(double time_s);
  /// 16 bits of the same, from maps as they are (8-bit maps have no more to give).
  UInt16Image map16(double time_s);

  /// [s] where the scene's clip has keys, from its first frame to its last; both of them too.
  std::vector<double> keyTimes() const;

 private:
  struct Map {
    Rgba8Image bytes;
    FloatImage normals;
    std::string channel;
    FloatImage strengths;
  };
  DetailBaker() = default;
  void updateStrengths(double time_s);

  Scene* scene_ = nullptr;
  DetailBakeDesc desc_;
  UvRaster raster_;
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> covered_;  ///< texels with surface
  Rgba8Image base_;
  FloatImage base_normals_;
  std::vector<Map> maps_;
  Rgba8Image out_;
};

}  // namespace derm
