// One frame of a borrowed expression: map 28 points, pose the rig, skin a head of 10 k triangles.
// One thread. The ratio that counts is over skinning alone, which every animated head pays.
#include <optional>
#include <string>

#include <benchmark/benchmark.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/cast/heads.h"
#include "derm/deform/skinning.h"
#include "derm/deform/surface_streams.h"
#include "derm/face/expressions.h"
#include "derm/face/face_retarget.h"
#include "derm/face/face_rig.h"

namespace derm::retarget_bench {
namespace {

/// Head A plays on head C.
class BorrowedFace {
 public:
  BorrowedFace() {
    Diagnostics notes;
    Result<Character> from = makeSyntheticHead(syntheticHeadA());
    Result<Character> to = makeSyntheticHead(syntheticHeadC());
    DERM_REQUIRE(from.ok() && to.ok());
    head_ = *std::move(to);
    Result<FaceRig> rig = addFaceRig(head_, {.clips = false}, notes);
    DERM_REQUIRE(rig.ok());
    Result<FacePoser> poser = FacePoser::make(head_, *rig);
    DERM_REQUIRE(poser.ok());
    poser_.emplace(*std::move(poser));
    const FacePoints points = facePoints(from->points, from->mesh).value();
    const FacePoints targets = facePoints(head_.points, head_.mesh).value();
    NeutralFace source, target;
    for (const std::string_view number : controlPointNumbers()) {
      source.labels.emplace_back(number);
      source.positions.push_back(points.at(number));
      target.labels.emplace_back(number);
      target.positions.push_back(targets.at(number));
    }
    Result<FaceRetargeter> retargeter = FaceRetargeter::bind(source, target, {}, notes);
    DERM_REQUIRE(retargeter.ok());
    retargeter_.emplace(*std::move(retargeter));
    joy_ = source.positions;
    const auto moves = expressionDisplacements("joy", points).value();
    for (const PointDisplacement& d : moves)
      for (std::size_t i = 0; i < joy_.size(); ++i)
        if (source.labels[i] == d.point) joy_[i] += d.displacement_m;
    mapped_.resize(target.positions.size());

    bind_ = head_.bindPose();
    pose_ = bind_;
    model_.resize(head_.skeleton.size());
    palette_.resize(head_.skin.slots.size());
    mesh_ = head_.mesh;
    Result<SkinningBinding> binding =
        SkinningBinding::bind(surfaceOf(head_.mesh), head_.skin, {}, notes);
    DERM_REQUIRE(binding.ok());
    skinning_.emplace(*std::move(binding));
    scratch_.emplace(skinning_->makeScratch());
  }

  void map() {
    retargeter_->map(joy_, mapped_);
    for (std::size_t i = 0; i < mapped_.size(); ++i) mapped_[i] -= retargeter_->neutral()[i];
  }
  void pose() {
    pose_.local = bind_.local;
    poser_->pose(std::span<const Vec3d>(mapped_), pose_);
  }
  void skin() {
    localToModel(head_.skeleton, pose_.local, model_);
    skinningMatrices(head_.skin, model_, palette_);
    skinning_->evaluate(palette_, *scratch_, outputOf(mesh_));
  }
  std::string hash() const {
    Hash64 hash;
    for (const Vec3f& p : mesh_.positions) hash.addSpan(std::span<const float>(p.data(), 3));
    return "hash " + std::to_string(hash.value());
  }

 private:
  Character head_;
  std::optional<FaceRetargeter> retargeter_;
  std::optional<FacePoser> poser_;
  std::optional<SkinningBinding> skinning_;
  std::optional<SkinningScratch> scratch_;
  std::vector<Vec3d> joy_, mapped_;
  Pose bind_, pose_;
  std::vector<Affine3d> model_;
  std::vector<Affine3f> palette_;
  TriMesh mesh_;
};

void faceFrame(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  BorrowedFace face;
  for (auto _ : state) {
    face.map();
    face.pose();
    face.skin();
  }
  state.SetLabel(face.hash());
}
BENCHMARK(faceFrame)->Unit(benchmark::kMicrosecond);

void faceFrameMapAlone(benchmark::State& state) {
  BorrowedFace face;
  for (auto _ : state) face.map();
}
BENCHMARK(faceFrameMapAlone)->Unit(benchmark::kMicrosecond);

void faceFrameMapAndPose(benchmark::State& state) {
  BorrowedFace face;
  for (auto _ : state) {
    face.map();
    face.pose();
  }
}
BENCHMARK(faceFrameMapAndPose)->Unit(benchmark::kMicrosecond);

void faceFrameSkinAlone(benchmark::State& state) {
  const ThreadLimit one_thread(1);
  BorrowedFace face;
  face.map();
  face.pose();
  for (auto _ : state) face.skin();
}
BENCHMARK(faceFrameSkinAlone)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace derm::retarget_bench
