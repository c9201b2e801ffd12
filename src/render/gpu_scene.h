#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "derm/render/draw_list.h"

#include "render/gl_objects.h"

namespace derm::detail {

/// The detail maps of a material: those with a picture and slopes, none where all weights are 0 (a
/// face at rest). Weights are in their order.
std::vector<const DrawDetailMap*> shownDetailMaps(const DrawMaterial& material);

/// Buffers of one surface, reused from picture to picture.
struct GpuSurface {
  gl::VertexArray array;
  gl::Buffer positions, normals, uvs, colours, indices;
  /// Weights of detail maps, kMaxDetailMaps per vertex: one buffer for all parts that have the
  /// same, as a refined surface has thousands of them.
  std::vector<gl::Buffer> detail_weights;
  std::vector<std::size_t> weights_of_part;  ///< into detail_weights; beyond them, 1 everywhere

  /// Makes those of a part the ones that are drawn with. Requires that `array` is bound.
  void useDetailWeights(std::size_t part) const;
};

/// One instance per stroke or dot; the corners come from the vertex number.
struct GpuMarks {
  gl::VertexArray array;
  gl::Buffer points, colours;
  int count = 0;
};

/// Decoded pictures on the graphics card, kept as long as somebody else holds them too.
class TextureCache {
 public:
  /// `colour` pictures are sRGB, others plain numbers.
  GLuint find(const std::shared_ptr<const Rgba8Image>& image, bool colour);
  /// Detail maps with their strengths, x and y of the first as red and green, of the second, if any
  /// and as large, as blue and alpha: reading a texture costs a software driver more than all else
  /// about a map.
  GLuint findDetails(const DrawDetailMap& first, const DrawDetailMap* second);
  /// Forgets pictures that no list uses any more.
  void dropUnused();

 private:
  struct Entry {
    std::weak_ptr<const Rgba8Image> image;
    gl::Texture texture;
  };
  struct DetailsEntry {
    std::weak_ptr<const Rgba8Image> first, second;
    gl::Texture texture;
  };
  std::map<std::pair<const Rgba8Image*, bool>, Entry> entries_;
  /// By both pictures and strengths.
  using DetailsKey = std::tuple<const Rgba8Image*, const Rgba8Image*, float, float>;
  std::map<DetailsKey, DetailsEntry> details_;
};

/// A DrawList's numbers on the graphics card, entry for entry.
class GpuScene {
 public:
  void upload(const DrawList& list);
  const GpuSurface& surface(std::size_t i) const { return surfaces_[i]; }
  const GpuMarks& lines(std::size_t i) const { return lines_[i]; }
  const GpuMarks& points(std::size_t i) const { return points_[i]; }
  TextureCache& textures() { return textures_; }

 private:
  std::vector<GpuSurface> surfaces_;
  std::vector<GpuMarks> lines_;
  std::vector<GpuMarks> points_;
  TextureCache textures_;
};

}  // namespace derm::detail
