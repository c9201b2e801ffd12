#include "deform/skinning_scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/base/rng.h"
#include "derm/io/character_file.h"
#include "derm/mesh/normals.h"

namespace derm::skinning_bench {
namespace {

Vec3f randomVector(Rng& rng, double size) {
  return Vec3d(rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-size, size))
      .cast<float>();
}

std::vector<Affine3f> randomMotions(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Affine3f> out;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3f axis = (randomVector(rng, 1) + Vec3f(0, 0, 1e-3f)).normalized();
    Affine3f m;
    m.linear() = Eigen::AngleAxisf(static_cast<float>(rng.uniform(0, 2)), axis).toRotationMatrix();
    m.translation() = randomVector(rng, 0.1);
    out.push_back(m);
  }
  return out;
}

void addStretched(Scene& scene) {
  scene.stretched = scene.palette;
  for (Affine3f& m : scene.stretched)
    m.linear() = Mat3f(m.linear() * Vec3f(1.2f, 0.9f, 1.1f).asDiagonal());
}

/// The `max_influences` nearest joints, by inverse distance to the power 4.
void weighByDistance(Scene& scene, const std::vector<Vec3f>& joints, std::size_t max_influences) {
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    SkinSlot slot{.joint = JointId(j)};
    slot.inverse_bind.translation() = -joints[j];
    slots.push_back(slot);
  }
  SkinBuilder builder(slots, scene.vertices());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : scene.positions) {
    row.clear();
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const float square = (p - joints[j]).squaredNorm() + 1e-4f;
      row.push_back({static_cast<std::uint32_t>(j), 1 / (square * square)});
    }
    std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(max_influences),
                      row.end(),
                      [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
    row.resize(max_influences);
    builder.addVertex(row, 0, scene.name, notes);
  }
  scene.skin = std::move(builder).finish();
  scene.palette = randomMotions(joints.size(), 1);
  addStretched(scene);
}

}  // namespace

Scene limbs(std::size_t vertices) {
  Scene scene;
  scene.name = "limbs-" + std::to_string(vertices / 1000) + "k";
  const std::size_t sectors = vertices > 50000 ? 100 : 50;
  const std::size_t rings = vertices / 4 / sectors;
  std::vector<Vec3f> joints;
  for (int limb = 0; limb < 4; ++limb) {
    const float x = 0.5f * static_cast<float>(limb);
    for (int j = 0; j < 16; ++j) joints.emplace_back(x, static_cast<float>(j) / 15, 0.0f);
    for (std::size_t r = 0; r < rings; ++r)
      for (std::size_t k = 0; k < sectors; ++k) {
        const double angle = 2 * std::numbers::pi * double(k) / double(sectors);
        const Vec3f out(float(std::cos(angle)), 0, float(std::sin(angle)));
        scene.positions.push_back(Vec3f(x, float(r) / float(rings), 0) + 0.08f * out);
        scene.normals.push_back(out);
      }
  }
  weighByDistance(scene, joints, 4);
  return scene;
}

Scene scattered(std::size_t vertices) {
  Scene scene;
  scene.name = "scattered-" + std::to_string(vertices / 1000) + "k";
  Rng rng(5);
  std::vector<Vec3f> joints;
  while (joints.size() < 64)
    if (const Vec3f j = randomVector(rng, 1); j.norm() < 1) joints.push_back(j);
  const auto sectors = static_cast<std::size_t>(std::sqrt(2.0 * double(vertices)));
  const std::size_t rings = vertices / sectors;
  for (std::size_t r = 0; r < rings; ++r)
    for (std::size_t k = 0; k < sectors; ++k) {
      const double polar = std::numbers::pi * (double(r) + 0.5) / double(rings);
      const double around = 2 * std::numbers::pi * double(k) / double(sectors);
      scene.positions.emplace_back(float(std::sin(polar) * std::cos(around)),
                                   float(std::cos(polar)),
                                   float(std::sin(polar) * std::sin(around)));
      scene.normals.push_back(scene.positions.back());
    }
  weighByDistance(scene, joints, 4);
  return scene;
}

Scene crowdedBody() {
  constexpr std::size_t kVertices = 13380, kJoints = 163;
  Scene scene;
  scene.name = "crowded-13k";
  Rng rng(11);
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < kJoints; ++j) slots.push_back({.joint = JointId(j)});
  SkinBuilder builder(slots, kVertices);
  Diagnostics notes;
  std::vector<Influence> row, chosen;
  std::size_t left = 0;
  for (std::size_t v = 0; v < kVertices; ++v) {
    scene.positions.push_back(randomVector(rng, 1));
    scene.normals.push_back((randomVector(rng, 1) + Vec3f(0, 0, 1e-3f)).normalized());
    if (left == 0) {
      // Joints that are neighbours in number are neighbours on the body.
      const std::size_t count = 1 + std::min<std::size_t>(rng.below(4) + rng.below(4) / 2, 7);
      const std::size_t centre = rng.below(kJoints / 3) * 3;
      chosen.clear();
      for (std::size_t k = 0; k < count; ++k)
        chosen.push_back({static_cast<std::uint32_t>((centre + rng.below(6)) % kJoints), 1});
      left = rng.below(3) == 0 ? 1 + rng.below(2) : 8 + rng.below(20);
    }
    --left;
    row = chosen;
    for (Influence& i : row)
      i.weight = static_cast<float>(rng.uniform(0.05, 1) / double(row.size()));
    builder.addVertex(row, 0, scene.name, notes);
  }
  scene.skin = std::move(builder).finish();
  scene.palette = randomMotions(kJoints, 2);
  addStretched(scene);
  return scene;
}

Result<Scene> fromFile(const std::filesystem::path& file) {
  Diagnostics notes;
  DERM_TRY(Character c, loadCharacter(file, {}, notes));
  if (!c.hasSkin()) return Error{ErrorCode::BadData, "has no skin", {.file = file.string()}};
  Scene scene;
  scene.name = file.stem().string();
  Pose pose = c.restPose();
  if (!c.clips.empty()) sampleClip(c.clips[0], c.clips[0].duration_s() / 2, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  scene.palette.resize(c.skin.slots.size());
  skinningMatrices(c.skin, model, scene.palette);
  scene.positions = c.mesh.positions;
  scene.normals = c.mesh.normals;
  if (scene.normals.empty())
    scene.normals = areaWeightedNormals(c.mesh.positions, c.mesh.triangles);
  scene.skin = std::move(c.skin);
  addStretched(scene);
  return scene;
}

}  // namespace derm::skinning_bench
