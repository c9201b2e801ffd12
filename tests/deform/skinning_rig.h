#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/diagnostics.h"
#include "derm/base/rng.h"
#include "derm/deform/skinning.h"

#include "deform/skinning_reference.h"

/// Surfaces, skins and poses for the skinning suites.
namespace derm::skinning_test {

inline constexpr SkinningMethod kAllMethods[] = {SkinningMethod::Rigid, SkinningMethod::Linear,
                                                 SkinningMethod::DualQuaternion};

struct Surface {
  std::vector<Vec3f> positions, normals;
  std::vector<Vec4f> tangents;

  SurfaceStreams streams() const { return {positions, normals, tangents}; }
  SurfaceOutput output() { return {positions, normals, tangents}; }
  bool operator==(const Surface&) const = default;
};

inline Surface emptySurface(std::size_t vertices) {
  return {std::vector<Vec3f>(vertices), std::vector<Vec3f>(vertices), std::vector<Vec4f>(vertices)};
}

inline Vec3f randomVector(Rng& rng, double size) {
  return Vec3d(rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-size, size))
      .cast<float>();
}

inline Vec3f randomDirection(Rng& rng) {
  Vec3f v = randomVector(rng, 1);
  while (v.norm() < 0.1f) v = randomVector(rng, 1);
  return v.normalized();
}

inline Surface randomSurface(Rng& rng, std::size_t vertices) {
  Surface out;
  for (std::size_t v = 0; v < vertices; ++v) {
    out.positions.push_back(randomVector(rng, 1));
    out.normals.push_back(randomDirection(rng));
    const Vec3f t = randomDirection(rng);
    out.tangents.emplace_back(t.x(), t.y(), t.z(), rng.below(2) == 0 ? 1.0f : -1.0f);
  }
  return out;
}

/// 1 to `max_influences` influences per vertex. Neighbours often share their slots, as on a
/// character.
inline Skin randomSkin(Rng& rng, std::size_t vertices, std::size_t slots,
                       std::size_t max_influences) {
  std::vector<SkinSlot> frames;
  for (std::size_t s = 0; s < slots; ++s) {
    SkinSlot slot{.joint = JointId(s)};
    slot.inverse_bind.translation() = randomVector(rng, 1);
    frames.push_back(slot);
  }
  SkinBuilder builder(frames, vertices);
  Diagnostics notes;
  std::vector<Influence> row, chosen;
  for (std::size_t v = 0; v < vertices; ++v) {
    if (v == 0 || rng.below(4) == 0) {
      chosen.clear();
      const std::size_t count = 1 + rng.below(max_influences);
      for (std::size_t k = 0; k < count; ++k)
        chosen.push_back({static_cast<std::uint32_t>(rng.below(slots)), 1.0f});
    }
    row = chosen;
    double sum = 0;
    for (Influence& i : row) sum += i.weight = static_cast<float>(rng.uniform(0.05, 1));
    for (Influence& i : row) i.weight = static_cast<float>(i.weight / sum);
    builder.addVertex(row, 0, "random", notes);
  }
  return std::move(builder).finish();
}

enum class Motion { Rigid, UniformScale, Stretch, Mirror };

/// Any rotation, a shift of up to a metre, and what `motion` adds.
inline std::vector<Affine3f> randomPalette(Rng& rng, std::size_t slots, Motion motion) {
  std::vector<Affine3f> palette;
  for (std::size_t s = 0; s < slots; ++s) {
    const float angle = static_cast<float>(rng.uniform(0, 2 * std::numbers::pi));
    Mat3f linear = Eigen::AngleAxisf(angle, randomDirection(rng)).toRotationMatrix();
    if (motion == Motion::UniformScale) linear *= static_cast<float>(rng.uniform(0.5, 2));
    if (motion == Motion::Stretch || motion == Motion::Mirror) {
      const Mat3f turn = Eigen::AngleAxisf(angle, randomDirection(rng)).toRotationMatrix();
      Vec3f scale(static_cast<float>(rng.uniform(0.6, 1.6)),
                  static_cast<float>(rng.uniform(0.6, 1.6)),
                  static_cast<float>(rng.uniform(0.6, 1.6)));
      if (motion == Motion::Mirror && s % 2 == 0) scale.x() = -scale.x();
      linear = linear * turn * scale.asDiagonal() * turn.transpose();
    }
    Affine3f matrix;
    matrix.linear() = linear;
    matrix.translation() = randomVector(rng, 1);
    palette.push_back(matrix);
  }
  return palette;
}

inline SkinningBinding bound(const SurfaceStreams& rest, const Skin& skin,
                             const SkinningDesc& desc) {
  Diagnostics notes;
  Result<SkinningBinding> binding = SkinningBinding::bind(rest, skin, desc, notes);
  if (!binding.ok()) ADD_FAILURE() << binding.error().text();
  return *binding;
}

inline Surface skinned(const Surface& rest, const Skin& skin, const SkinningDesc& desc,
                       std::span<const Affine3f> palette) {
  const SkinningBinding binding = bound(rest.streams(), skin, desc);
  SkinningScratch scratch = binding.makeScratch();
  Surface out = rest;
  binding.evaluate(palette, scratch, out.output());
  return out;
}

inline SkinningReference referenceOf(const Skin& skin, std::span<const Affine3f> palette) {
  std::vector<Affine3d> precise;
  for (const Affine3f& m : palette) precise.push_back(m.cast<double>());
  return SkinningReference(skin.slots, precise);
}

inline SkinnedVertex vertexOf(const Surface& surface, std::size_t v) {
  return {surface.positions[v].cast<double>(), surface.normals[v].cast<double>(),
          Vec3f(surface.tangents[v].head<3>()).cast<double>(), surface.tangents[v].w()};
}

/// Largest differences between a surface and the reference's vertices.
struct Differences {
  double position = 0, normal = 0, tangent = 0;
  std::size_t flipped_w = 0;

  void take(const SkinnedVertex& wanted, const SkinnedVertex& got) {
    position = std::max(position, (wanted.position - got.position).norm());
    normal = std::max(normal, (wanted.normal - got.normal).norm());
    tangent = std::max(tangent, (wanted.tangent - got.tangent).norm());
    flipped_w += wanted.tangent_w != got.tangent_w;
  }
};

}  // namespace derm::skinning_test
