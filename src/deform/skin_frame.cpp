#include "derm/deform/skin_frame.h"

#include <algorithm>
#include <utility>

#include "derm/base/parallel.h"

namespace derm {
namespace {

/// Makes tangents orthogonal to their normals again, keeping their direction along the surface.
void straightenTangents(std::span<const Vec3f> normals, std::span<Vec4f> tangents) {
  parallelFor(tangents.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3f t = tangents[v].head<3>();
      const Vec3f flat = t - normals[v] * normals[v].dot(t);
      const float length = flat.norm();
      if (length > 1e-6f) tangents[v].head<3>() = flat / length;
    }
  });
}

}  // namespace

SkinFrame::SkinFrame(std::size_t most_vertices, std::size_t most_triangles, bool with_normals,
                     bool with_tangents, std::size_t morphed_vertices)
    : morphed_rest_(morphed_vertices, Vec3f::Zero()) {
  for (Buffer* buffer : {&front_, &back_}) {
    buffer->positions.assign(most_vertices, Vec3f::Zero());
    if (with_normals) buffer->normals.assign(most_vertices, Vec3f::Zero());
    if (with_tangents) buffer->tangents.assign(most_vertices, Vec4f::Zero());
  }
  if (!with_normals) return;
  normals_belong_to_.resize(most_vertices);
  triangle_areas_.resize(most_triangles);
}

void SkinFrame::begin(const TriMesh& rest, const NormalUpdate& normals) {
  DERM_REQUIRE(rest.vertexCount() <= front_.positions.size());
  DERM_REQUIRE(morphed_rest_.empty() || rest.vertexCount() == morphed_rest_.size());
  first_rest_ = rest_ = &rest;
  normal_update_ = &normals;
  vertex_count_ = rest.vertexCount();
  triangles_ = rest.triangles;
  topology_ = 0;
  source_triangles_ = {};
  is_rest_ = true;
  is_morphed_ = false;
  normals_stale_ = false;
}

void SkinFrame::materialise() {
  if (!is_rest_) return;
  std::copy(rest_->positions.begin(), rest_->positions.end(), front_.positions.begin());
  if (!front_.normals.empty())
    std::copy(rest_->normals.begin(), rest_->normals.end(), front_.normals.begin());
  if (!front_.tangents.empty())
    std::copy(rest_->tangents.begin(), rest_->tangents.end(), front_.tangents.begin());
  is_rest_ = false;
}

std::span<Vec3f> SkinFrame::beginMorphedRest() {
  if (morphed_rest_.empty()) return {};
  std::copy(first_rest_->positions.begin(), first_rest_->positions.end(), morphed_rest_.begin());
  is_morphed_ = true;
  return morphed_rest_;
}

void SkinFrame::beforeMoving() {
  DERM_REQUIRE(!is_rest_ && topology_ == 0);
  if (normals_stale_ || front_.normals.empty()) return;
  if (normal_update_->readsBefore())
    std::copy_n(front_.positions.begin(), vertex_count_, normals_belong_to_.begin());
  normals_stale_ = true;
}

void SkinFrame::updateNormals() {
  if (!normals_stale_) return;
  normal_update_->evaluate(std::span(normals_belong_to_).first(vertex_count_), positions(),
                           triangle_areas_, normals());
  straightenTangents(normals(), tangents());
  normals_stale_ = false;
}

SurfaceOutput SkinFrame::outputOfBuffer(Buffer& buffer, std::size_t count) {
  DERM_REQUIRE(count <= buffer.positions.size());
  const auto used_of = [&](auto& stream) {
    return std::span(stream).first(stream.empty() ? 0 : count);
  };
  return {std::span(buffer.positions).first(count), used_of(buffer.normals),
          used_of(buffer.tangents)};
}

void SkinFrame::present() {
  std::swap(front_, back_);
  is_rest_ = false;
  normals_stale_ = false;
}

void SkinFrame::present(const TriMesh& rest, const NormalUpdate& normals) {
  present();
  rest_ = &rest;
  normal_update_ = &normals;
  vertex_count_ = rest.vertexCount();
  triangles_ = rest.triangles;
}

void SkinFrame::refine(const TriMesh& rest, const NormalUpdate& normals) {
  DERM_REQUIRE(!is_rest_ && !normals_stale_ && rest.vertexCount() >= vertex_count_);
  DERM_REQUIRE(rest.vertexCount() <= front_.positions.size());
  rest_ = &rest;
  normal_update_ = &normals;
  vertex_count_ = rest.vertexCount();
  triangles_ = rest.triangles;
}

void SkinFrame::refine(const AdaptiveSurface& surface) {
  DERM_REQUIRE(surface.vertex_count >= vertex_count_ && surface.topology != 0);
  DERM_REQUIRE(surface.vertex_count <= front_.positions.size());
  DERM_REQUIRE(surface.vertex_count == vertex_count_ || (!is_rest_ && !normals_stale_));
  vertex_count_ = surface.vertex_count;
  triangles_ = surface.triangles;
  source_triangles_ = surface.source_triangles;
  topology_ = surface.topology;
}

}  // namespace derm
