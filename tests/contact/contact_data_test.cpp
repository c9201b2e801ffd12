// Real bodies in artists' poses: what is left of skin inside skin.
#include <cmath>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

#include "derm/contact/contact_layer.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/io/character_file.h"
#include "derm/mesh/winding_columns.h"
#include "derm/volume/volume_layer.h"

#include "support/unpacked.h"

namespace derm {
namespace {

/// [cm^2] of triangles just before which the surface goes around more often than at rest.
class InsideArea {
 public:
  explicit InsideArea(const TriMesh& mesh)
      : mesh_(mesh), columns_(mesh.triangles.size()), rest_(windings(mesh.positions)) {}
  double operator()(std::span<const Vec3f> positions) {
    const std::vector<std::int32_t> now = windings(positions);
    double area = 0;
    for (std::size_t t = 0; t < now.size(); ++t)
      if (now[t] >= 1 && rest_[t] < 1) area += double{areaVector(t, positions).norm()} / 2;
    return 1e4 * area;
  }

 private:
  Vec3f areaVector(std::size_t t, std::span<const Vec3f> x) const {
    const Triangle& c = mesh_.triangles[t];
    return Vec3f(x[c[1]] - x[c[0]]).cross(Vec3f(x[c[2]] - x[c[0]]));
  }
  std::vector<std::int32_t> windings(std::span<const Vec3f> x) {
    columns_.clear();
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const Triangle& c = mesh_.triangles[t];
      columns_.add((x[c[0]] + x[c[1]] + x[c[2]]) / 3 + 2e-4f * areaVector(t, x).normalized());
    }
    const auto out = columns_.evaluate(x, mesh_.triangles);
    return {out.begin(), out.end()};
  }

  const TriMesh& mesh_;
  WindingColumns columns_;
  std::vector<std::int32_t> rest_;
};

int turned(const TriMesh& mesh, std::span<const Vec3f> a, std::span<const Vec3f> b) {
  int count = 0;
  for (const Triangle& t : mesh.triangles) {
    const auto area = [&](std::span<const Vec3f> x) {
      return Vec3f(Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]])));
    };
    count += area(a).dot(area(b)) < 0;
  }
  return count;
}

class ContactData : public testing::TestWithParam<const char*> {};

TEST_P(ContactData, LittleIsLeftOfSkinInsideSkinAndVolumeStaysExact) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  Diagnostics notes;
  const auto c =
      std::make_shared<const Character>(loadCharacter(bodies / GetParam(), {}, notes).value());
  std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre})};
  StackRunner without(Stack::bind(c, layers, notes).value());
  layers.push_back(contactLayer("contact", {}));
  StackRunner with(Stack::bind(c, layers, notes).value());
  layers.push_back(volumeLayer("volume", {}));
  StackRunner exact(Stack::bind(c, layers, notes).value());
  with.evaluate();
  EXPECT_EQ(with.find<ContactLayer>("contact")->report().moved, 0u);

  InsideArea area(c->mesh);
  double before = 0, after = 0;
  int new_turned = 0, frames = 0;
  for (const Clip& clip : c->clips) {
    double clip_before = 0, clip_after = 0;
    for (const double t : {0.4, 0.7, 1.0}) {
      Pose pose = c->restPose();
      sampleClip(clip, static_cast<float>(t), pose);
      for (StackRunner* runner : {&without, &with, &exact}) runner->setPose(pose, t);
      const auto x = std::as_const(without.evaluate()).positions();
      const auto y = std::as_const(with.evaluate()).positions();
      exact.evaluate();
      EXPECT_LE(exact.find<VolumeLayer>("volume")->report().largestError(), 1e-6) << clip.name;
      clip_before += area(x);
      clip_after += area(y);
      new_turned += turned(c->mesh, x, y);
      ++frames;
    }
    std::printf("%-10s inside %.1f -> %.1f cm2 a frame\n", clip.name.c_str(), clip_before / 3,
                clip_after / 3);
    EXPECT_LE(clip_after, clip_before) << clip.name;
    before += clip_before;
    after += clip_after;
  }
  EXPECT_LE(after, 0.30 * before);
  EXPECT_LE(new_turned, 0.5 * frames);
}

INSTANTIATE_TEST_SUITE_P(Bodies, ContactData,
                         testing::Values("mh_A_caucasian_male_young_rig163.glb",
                                         "mh_B_african_female_young_rig163.glb",
                                         "mh_C_asian_male_old_heavy_rig163.glb",
                                         "mh_D_caucasian_female_young_heavy_rig163.glb"),
                         [](const auto& body) { return std::string(body.param).substr(3, 1); });

}  // namespace
}  // namespace derm
