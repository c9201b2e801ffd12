// What getting the volume back costs beside the skinning it follows: both are timed in turn in one
// run, on one thread, on a tube of 100k vertices with 20 joint regions. "ratio" is against linear
// skinning and area-weighted normals of the moved mesh, which every layer that moves vertices
// needs; "ratio_skinning" against skinning alone (normals skinned along).
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/deform/skinning.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/normal_update.h"
#include "derm/volume/volume_mask.h"
#include "derm/volume/volume_methods.h"

#include "support/rigged_tube.h"
#include "support/timing.h"

namespace derm::volume_bench {
namespace {

using bench_support::Clock;
using bench_support::secondsSince;

/// A posed tube, skinned, and its regions.
struct Scene {
  Character character;
  std::shared_ptr<const MeasuredSurface> surface;
  std::shared_ptr<const VolumeRegions> regions;
  std::shared_ptr<const RegionVolumes> volumes;
  std::vector<double> gamma, rest_m3;
  std::vector<Affine3d> model;
  std::vector<Affine3f> palette;
  TriMesh posed;

  Scene(int rings, int sectors, int joints)
      : character(bench_support::riggedTube(rings, sectors, joints, 1)) {
    Diagnostics notes;
    const TriMesh& mesh = character.mesh;
    surface = std::make_shared<const MeasuredSurface>(
        makeMeasuredSurface(mesh.positions, mesh.triangles, "tube", notes));
    RegionsDesc desc{.beta = 1.0, .min_area_share = 0, .min_limb_ratio = 0};
    desc.min_volume_share = 0;
    regions = std::make_shared<const VolumeRegions>(
        VolumeRegions::bind(*surface, mesh, character.skeleton, character.skin, desc).value());
    volumes = std::make_shared<const RegionVolumes>(*surface, *regions, RegionTables::Rows);
    gamma = volumeGamma(*surface, mesh, character.skeleton, character.skin,
                        {.terms = {{MaskRule::SmoothWeights, {}}}}, notes)
                .value();
    std::vector<Vec3d> rest(surface->pointCount());
    measurePoints(*surface, mesh.positions, Vec3d::Zero(), rest);
    rest_m3 = volumes->volumes(rest, regions->bindPositions());
    Pose pose = character.restPose();
    sampleClip(character.clips[0], 0.4f, pose);
    model.resize(character.skeleton.size());
    palette.resize(character.skin.slots.size());
    localToModel(character.skeleton, pose.local, model);
    skinningMatrices(character.skin, model, palette);
    posed = mesh;
  }
};

/// One frame of a method, as a layer does it.
class Frame {
 public:
  Frame(const Scene& scene, const VolumeMethodDesc& desc)
      : scene_(scene),
        binding_(bind(scene, desc)),
        scratch_(binding_.makeScratch()),
        points_(scene.surface->pointCount()),
        moves_(scene.surface->pointCount()),
        anchors_(scene.regions->jointCount()),
        outcomes_(scene.regions->regionCount()),
        after_(scene.posed.positions) {}

  void run(std::span<const Vec3f> skinned) {
    const Vec3d origin = skinned[0].cast<double>();
    measurePoints(*scene_.surface, skinned, origin, points_);
    scene_.regions->jointPositions(scene_.model, anchors_);
    for (Vec3d& f : anchors_) f -= origin;
    binding_.solve(points_, anchors_, scene_.rest_m3, scratch_, moves_, outcomes_);
    std::copy(skinned.begin(), skinned.end(), after_.begin());
    addToVertices(*scene_.surface, moves_, after_);
  }
  std::uint64_t hash() const {
    Hash64 h;
    h.addSpan(std::span<const Vec3f>(after_));
    return h.value();
  }
  /// Largest relative error of a region, from the float positions.
  double worstError() {
    measurePoints(*scene_.surface, std::span<const Vec3f>(after_), Vec3d::Zero(), points_);
    scene_.regions->jointPositions(scene_.model, anchors_);
    const std::vector<double> volumes = scene_.volumes->volumes(points_, anchors_);
    double worst = 0;
    for (std::size_t l = 0; l < volumes.size(); ++l)
      worst = std::max(worst, std::abs(volumes[l] / scene_.rest_m3[l] - 1));
    return worst;
  }

 private:
  static VolumeMethodBinding bind(const Scene& scene, const VolumeMethodDesc& desc) {
    Diagnostics notes;
    return VolumeMethodBinding::bind(scene.surface, scene.regions, scene.volumes, scene.gamma,
                                     scene.rest_m3, desc, notes)
        .value();
  }
  const Scene& scene_;
  VolumeMethodBinding binding_;
  VolumeMethodBinding::Scratch scratch_;
  std::vector<Vec3d> points_, moves_, anchors_;
  std::vector<RegionOutcome> outcomes_;
  std::vector<Vec3f> after_;
};

void volumeMethod(benchmark::State& state, int rings, int joints, const VolumeMethodDesc& desc) {
  Scene scene(rings, 50, joints);
  Diagnostics notes;
  const SkinningBinding skinning =
      SkinningBinding::bind(surfaceOf(scene.character.mesh), scene.character.skin, {}, notes)
          .value();
  SkinningScratch scratch = skinning.makeScratch();
  const NormalUpdate normals(scene.character.mesh);
  std::vector<Vec3f> areas(normals.triangleCount());
  Frame frame(scene, desc);
  double skin_s = 1e9, normals_s = 1e9, one_s = 1e9, two_s = 1e9;
  for (auto _ : state) {
    {
      const ThreadLimit one(1);
      const Clock::time_point a = Clock::now();
      skinning.evaluate(scene.palette, scratch, outputOf(scene.posed));
      skin_s = std::min(skin_s, secondsSince(a));
      const Clock::time_point b = Clock::now();
      normals.evaluate(scene.character.mesh.positions, scene.posed.positions, areas,
                       scene.posed.normals);
      normals_s = std::min(normals_s, secondsSince(b));
      const Clock::time_point c = Clock::now();
      frame.run(scene.posed.positions);
      one_s = std::min(one_s, secondsSince(c));
    }
    const ThreadLimit two(2);
    const Clock::time_point d = Clock::now();
    frame.run(scene.posed.positions);
    two_s = std::min(two_s, secondsSince(d));
  }
  state.SetLabel("hash " + std::to_string(frame.hash()));
  state.counters["regions"] = double(scene.regions->regionCount());
  state.counters["frame_us"] = 1e6 * one_s;
  state.counters["fps"] = 1 / one_s;
  state.counters["ratio"] = one_s / (skin_s + normals_s);
  state.counters["ratio_skinning"] = one_s / skin_s;
  state.counters["two_threads"] = one_s / two_s;
  state.counters["error"] = frame.worstError();
}

const VolumeMethodDesc kAxesLinear{.method = VolumeMethod::AxesLinear};
const VolumeMethodDesc kAxesExact{.method = VolumeMethod::AxesExact};
const VolumeMethodDesc kGradient{.method = VolumeMethod::Gradient};
const VolumeMethodDesc kNormal{.method = VolumeMethod::Normal};
const VolumeMethodDesc kLaplacian{.method = VolumeMethod::Laplacian};
const VolumeMethodDesc kStated{.method = VolumeMethod::Laplacian,
                               .energy = LaplacianEnergy::Stated};

BENCHMARK_CAPTURE(volumeMethod, axes - linear / 100k, 2000, 21, kAxesLinear)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(volumeMethod, axes - exact / 100k, 2000, 21, kAxesExact)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(volumeMethod, normal / 100k, 2000, 21, kNormal)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(volumeMethod, gradient / 100k, 2000, 21, kGradient)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(volumeMethod, laplacian / 10k, 200, 4, kLaplacian)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(volumeMethod, laplacian - stated / 10k, 200, 4, kStated)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace derm::volume_bench
