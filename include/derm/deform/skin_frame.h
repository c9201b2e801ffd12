#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/deform/surface_streams.h"
#include "derm/mesh/normal_update.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The surface that one layer hands to the next: positions, normals and tangents of one instant.
///
/// A frame starts as the rest surface without copying it, so that skinning can read its own bound
/// copy; materialise() makes it real for layers that change it in place. Normals are kept in step
/// lazily: a layer that moves vertices calls beforeMoving(), one that needs right normals calls
/// updateNormals(). Buffers are made once, for the largest topology of the stack; nothing here
/// allocates afterwards.
class SkinFrame {
 public:
  struct Size {
    std::size_t max_vertices = 0;
    std::size_t max_triangles = 0;
    bool with_normals = true;
    bool with_tangents = false;
    std::size_t shape_vertices = 0;  ///< of shapedRest(); 0 = nobody reads it
    std::vector<std::string> channels = {};
  };
  /// Room for surfaces of up to this many vertices and triangles.
  explicit SkinFrame(const Size& size);

  /// Begins an instant: the content is `rest`, its normals are right, nothing is copied.
  void begin(const TriMesh& rest, const NormalUpdate& normals);
  bool isRest() const { return is_rest_; }
  /// Copies the rest surface into the buffers, if that has not happened.
  void materialise();

  /// The shape at rest of this instant, in the bind pose: what morphs and other layers before
  /// skinning make of the rest surface. One position [m] per vertex of the surface that skinning is
  /// given, whatever layers have refined since. Empty where it is the rest surface itself, and
  /// where no layer reads it (LayerBinding::readsShapedRest).
  std::span<const Vec3f> shapedRest() const {
    return std::span(shaped_rest_).first(is_shaped_ ? shaped_rest_.size() : 0);
  }
  /// For the stack: the content is that shape now.
  void keepShape();

  /// Named scalars per vertex, that layers write for other layers, pictures and files: a mask, the
  /// weight of a map. 0 at the beginning of each instant; a vertex that a layer adds gets the mean
  /// of what it lies between, but in channels that this layer writes itself.
  std::span<const std::string> channelNames() const { return channel_names_; }
  /// Empty where no layer writes a channel of that name (LayerBinding::channels), or where it is a
  /// mask that the run does not keep (LayerBinding::masks).
  std::span<float> channel(std::string_view name);
  std::span<const float> channel(std::string_view name) const;

  std::size_t vertexCount() const { return rest_ == nullptr ? 0 : vertex_count_; }
  std::span<const Triangle> triangles() const { return triangles_; }
  /// Changes whenever triangles() does: a viewer draws from new indices then. 0 = those the stack
  /// announced.
  std::uint64_t topology() const { return topology_; }
  /// With topology() != 0: for each triangle the one of the character's mesh that it is a piece of.
  /// Vertices have the numbers they have in the announced surface; those no triangle uses have
  /// finite positions.
  std::span<const std::uint32_t> sourceTriangles() const { return source_triangles_; }

  /// Require !isRest(). What positions() gives may be written after beforeMoving().
  std::span<Vec3f> positions() { return std::span(front_.positions).first(vertex_count_); }
  std::span<Vec3f> normals() { return used(front_.normals); }
  std::span<Vec4f> tangents() { return used(front_.tangents); }
  std::span<const Vec3f> positions() const {
    return std::span(front_.positions).first(vertex_count_);
  }
  std::span<const Vec3f> normals() const { return used(front_.normals); }
  std::span<const Vec4f> tangents() const { return used(front_.tangents); }
  SurfaceStreams streams() const { return {positions(), normals(), tangents()}; }

  /// Remembers the positions that the normals belong to; then positions() may be moved.
  void beforeMoving();
  /// Makes the normals fit the positions again, where a layer has moved them; tangents follow them.
  void updateNormals();
  /// Smooth normals as the triangles are now, whatever those handed on are; see
  /// NormalUpdate::evaluateSmooth(). Requires !isRest().
  void takeSurfaceNormals();

  /// For layers that cannot work in place: write all streams to back(), then present() makes them
  /// the content, with right normals. The two-argument form goes on to another topology.
  SurfaceOutput back() { return outputOfBuffer(back_, vertex_count_); }
  void present();
  SurfaceOutput back(std::size_t vertex_count) { return outputOfBuffer(back_, vertex_count); }
  void present(const TriMesh& rest, const NormalUpdate& normals);

  /// Goes on to a finer surface in place: the vertices so far keep their numbers and values, the
  /// caller writes those that follow, with right normals. Requires right normals.
  void refine(const TriMesh& rest, const NormalUpdate& normals);
  /// The same for triangles other than the announced ones (see FrameInput::adaptive_topology).
  /// Nothing may move the surface afterwards. `topology` != 0 names the triangles.
  struct AdaptiveSurface {
    std::size_t vertex_count = 0;
    std::span<const Triangle> triangles;
    std::span<const std::uint32_t> source_triangles;
    std::uint64_t topology = 0;
  };
  void refine(const AdaptiveSurface& surface);

 private:
  struct Buffer {
    std::vector<Vec3f> positions;
    std::vector<Vec3f> normals;
    std::vector<Vec4f> tangents;
  };
  template <class T>
  std::span<T> used(std::vector<T>& stream) {
    return std::span(stream).first(stream.empty() ? 0 : vertex_count_);
  }
  template <class T>
  std::span<const T> used(const std::vector<T>& stream) const {
    return std::span(stream).first(stream.empty() ? 0 : vertex_count_);
  }
  static SurfaceOutput outputOfBuffer(Buffer& buffer, std::size_t count);

  Buffer front_;
  Buffer back_;
  std::vector<Vec3f> shaped_rest_;
  std::vector<std::string> channel_names_;
  std::vector<std::vector<float>> channels_;
  std::vector<Vec3f> normals_belong_to_;
  std::vector<Vec3f> triangle_areas_;
  bool normals_stale_ = false;
  bool is_rest_ = true;
  bool is_shaped_ = false;
  std::size_t vertex_count_ = 0;
  const TriMesh* rest_ = nullptr;
  const NormalUpdate* normal_update_ = nullptr;
  std::span<const Triangle> triangles_;
  std::uint64_t topology_ = 0;
  std::span<const std::uint32_t> source_triangles_;
};

}  // namespace derm
