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

SkinFrame::SkinFrame(const Size& size)
    : shaped_rest_(size.shape_vertices, Vec3f::Zero()),
      channel_names_(size.channels),
      channels_(size.channels.size(), std::vector<float>(size.max_vertices, 0.0f)) {
  for (Buffer* buffer : {&front_, &back_}) {
    buffer->positions.assign(size.max_vertices, Vec3f::Zero());
    if (size.with_normals) buffer->normals.assign(size.max_vertices, Vec3f::Zero());
    if (size.with_tangents) buffer->tangents.assign(size.max_vertices, Vec4f::Zero());
  }
  if (!size.with_normals) return;
  normals_belong_to_.resize(size.max_vertices);
  triangle_areas_.resize(size.max_triangles);
}

void SkinFrame::begin(const TriMesh& rest, const NormalUpdate& normals) {
  DERM_REQUIRE(rest.vertexCount() <= front_.positions.size());
  rest_ = &rest;
  normal_update_ = &normals;
  vertex_count_ = rest.vertexCount();
  triangles_ = rest.triangles;
  topology_ = 0;
  source_triangles_ = {};
  is_rest_ = true;
  is_shaped_ = false;
  normals_stale_ = false;
  for (std::vector<float>& channel : channels_) std::fill(channel.begin(), channel.end(), 0.0f);
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

void SkinFrame::keepShape() {
  if (shaped_rest_.empty() || is_rest_) return;
  DERM_REQUIRE(vertex_count_ == shaped_rest_.size());
  std::copy_n(front_.positions.begin(), vertex_count_, shaped_rest_.begin());
  is_shaped_ = true;
}

std::span<float> SkinFrame::channel(std::string_view name) {
  for (std::size_t i = 0; i < channels_.size(); ++i)
    if (channel_names_[i] == name) return std::span(channels_[i]).first(vertexCount());
  return {};
}

std::span<const float> SkinFrame::channel(std::string_view name) const {
  for (std::size_t i = 0; i < channels_.size(); ++i)
    if (channel_names_[i] == name) return std::span(channels_[i]).first(vertexCount());
  return {};
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

void SkinFrame::takeSurfaceNormals() {
  DERM_REQUIRE(!is_rest_ && topology_ == 0);
  if (front_.normals.empty()) return;
  normal_update_->evaluateSmooth(positions(), triangle_areas_, normals());
  straightenTangents(normals(), tangents());
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
