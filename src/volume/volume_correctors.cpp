#include "volume/volume_correctors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "derm/base/parallel.h"
#include "derm/deform/held_vertices.h"
#include "derm/deform/skinning.h"
#include "derm/volume/region_volumes.h"

namespace derm::detail {
namespace {

/// What float positions can tell of a volume.
constexpr double kFloatNoise = 2e-7;

std::vector<Vec3d> restPoints(const VolumeMaterial& m) {
  std::vector<Vec3d> out(m.surface->pointCount());
  measurePoints(*m.surface, m.bound.rest.positions, Vec3d::Zero(), out);
  return out;
}

/// The layer's frames are floats: what these cannot tell is no error.
SectionDesc sectionDesc(const VolumeDesc& desc) {
  SectionDesc out = desc.section;
  out.negligible = std::max(out.negligible, kFloatNoise);
  return out;
}

// --------------------------------------------------------------------------------------- section

class SectionCorrectorBinding final : public VolumeCorrectorBinding {
 public:
  SectionCorrectorBinding(SkinningBinding centres, SectionBinding section)
      : centres_(std::move(centres)), section_(std::move(section)) {}

  std::span<const double> restVolumes() const override { return section_.restVolumes(); }
  float maskOf(std::uint32_t welded) const override { return section_.maskOf(welded); }
  bool needsPoints() const override { return false; }
  std::unique_ptr<VolumeCorrector> makeCorrector(const VolumeFrameBinding&) const override;

  Result<std::shared_ptr<const VolumeCorrectorBinding>> with(
      const VolumeDesc& desc) const override {
    DERM_TRY(SectionBinding section, section_.with(sectionDesc(desc)));
    return std::shared_ptr<const VolumeCorrectorBinding>(
        std::make_shared<SectionCorrectorBinding>(centres_, std::move(section)));
  }
  const SkinningBinding& centres() const { return centres_; }
  const SectionBinding& section() const { return section_; }

 private:
  SkinningBinding centres_;
  SectionBinding section_;
};

class SectionCorrector final : public VolumeCorrector {
 public:
  explicit SectionCorrector(const SectionCorrectorBinding& binding)
      : centres_(binding.centres()),
        section_(binding.section()),
        centre_scratch_(centres_.makeScratch()),
        scratch_(section_.makeScratch()),
        held_(section_.pointCount()) {}

  void correct(const FrameInput& in, SkinFrame& skin, VolumeFrame& frame,
               VolumeReport& report) noexcept override {
    const std::span<Vec3f> centres = skin.back().positions;
    centres_.evaluate(in.palette, SurfaceStreams{.positions = centres_.centres()}, centre_scratch_,
                      {.positions = centres});
    SectionBinding::Frame input{.anchors = frame.anchors(),
                                .activities = frame.activities(),
                                .targets = frame.targets(),
                                .scale = frame.scale(),
                                .held = heldPoints(skin, frame.surface())};
    SectionReport done;
    if (frame.hasPoints()) {
      frame.toPoints(centres, frame.displacement());
      input.points = frame.points();
      input.centres = frame.displacement();
      done = section_.solve(input, scratch_, frame.displacement(), report.regions, report.after_m3);
    } else {
      done = section_.solve(input,
                            {.surface = &frame.surface(),
                             .positions = skin.positions(),
                             .centres = centres,
                             .origin = frame.origin()},
                            scratch_, report.regions, report.after_m3);
    }
    report.iterations = done.iterations;
    report.largest_move_m = done.largest_move_m;
    report.largest_change = done.largest_change;
    report.moved_vertex = frame.vertexOf(done.moved_point);
  }
  void apply(const VolumeFrame& frame, SkinFrame& skin) noexcept override {
    if (frame.hasPoints()) {
      frame.apply(skin);
      return;
    }
    skin.beforeMoving();
    section_.apply(frame.surface(), scratch_, skin.positions());
  }
  void finishReport(const VolumeFrame&, VolumeReport&) const override {}

 private:
  /// Nothing where no layer below holds a vertex.
  std::span<const float> heldPoints(const SkinFrame& skin, const MeasuredSurface& surface) {
    const std::span<const float> held = skin.channel(kHeldChannel);
    if (std::all_of(held.begin(), held.end(), [](float h) { return h == 0; })) return {};
    for (std::size_t p = 0; p < surface.weldedCount(); ++p)
      held_[p] = held[surface.vertices_of_welded[p].front()];
    return std::span<const float>(held_).first(surface.weldedCount());
  }

  SkinningBinding centres_;
  SectionBinding section_;
  SkinningScratch centre_scratch_;
  SectionBinding::Scratch scratch_;
  std::vector<float> held_;
};

std::unique_ptr<VolumeCorrector> SectionCorrectorBinding::makeCorrector(
    const VolumeFrameBinding&) const {
  return std::make_unique<SectionCorrector>(*this);
}

/// Per point how much it may move; empty = everywhere.
Result<std::vector<float>> maskOf(const VolumeMaterial& m, const VolumeDesc& desc,
                                  Diagnostics& notes) {
  VolumeMaskDesc mask = desc.mask;
  if (mask.terms.empty() && mask.fixed_group.empty()) return std::vector<float>();
  if (mask.terms.empty()) mask.terms = {{.rule = MaskRule::Everywhere}};
  DERM_TRY(const std::vector<double> gamma,
           volumeGamma(*m.surface, m.bound.rest, m.character.skeleton, m.bound.skin, mask, notes));
  std::vector<float> out(m.surface->pointCount(), 1.0f);
  for (std::size_t p = 0; p < gamma.size(); ++p) out[p] = static_cast<float>(gamma[p]);
  return out;
}

/// The vertices' centres, with the numbers of the skinning below: its own where it turns this very
/// surface about them.
Result<SkinningBinding> centresOf(const VolumeMaterial& m, Diagnostics& notes) {
  const SkinningInUse& below = m.skinning;
  if (below.desc.method == SkinningMethod::Centre && below.surface.get() == &m.bound &&
      below.binding)
    return *below.binding;
  TriMesh bare;  // only centres are asked for, not directions
  bare.positions = m.bound.rest.positions;
  bare.triangles = m.bound.rest.triangles;
  return SkinningBinding::bind(bare, m.character.skeleton, m.bound.skin,
                               {.method = SkinningMethod::Centre,
                                .alpha = below.desc.alpha,
                                .twist_spread = below.desc.twist_spread},
                               notes);
}

Result<std::unique_ptr<VolumeCorrectorBinding>> bindSection(const VolumeMaterial& m,
                                                            const VolumeDesc& desc,
                                                            Diagnostics& notes) {
  DERM_TRY(const std::vector<float> mask, maskOf(m, desc, notes));
  DERM_TRY(SectionBinding section, SectionBinding::bind(*m.surface, *m.regions, restPoints(m), mask,
                                                        sectionDesc(desc), notes));
  DERM_TRY(SkinningBinding centres, centresOf(m, notes));
  return std::unique_ptr<VolumeCorrectorBinding>(
      std::make_unique<SectionCorrectorBinding>(std::move(centres), std::move(section)));
}

// --------------------------------------------------------------------------- direction fields

class FieldCorrectorBinding final : public VolumeCorrectorBinding {
 public:
  FieldCorrectorBinding(VolumeMethodBinding method, std::vector<double> rest_volumes)
      : method_(std::move(method)), rest_volumes_(std::move(rest_volumes)) {}

  std::span<const double> restVolumes() const override { return rest_volumes_; }
  float maskOf(std::uint32_t welded) const override {
    return static_cast<float>(method_.gamma()[welded]);
  }
  bool needsPoints() const override { return true; }
  std::unique_ptr<VolumeCorrector> makeCorrector(const VolumeFrameBinding& frame) const override;

  const VolumeMethodBinding& method() const { return method_; }

 private:
  VolumeMethodBinding method_;
  std::vector<double> rest_volumes_;
};

/// The point that moves most; of equal ones the first.
struct Farthest {
  double square = 0;
  std::uint32_t point = 0;
  Farthest& operator+=(const Farthest& other) {
    if (other.square > square) *this = other;
    return *this;
  }
};

class FieldCorrector final : public VolumeCorrector {
 public:
  FieldCorrector(const FieldCorrectorBinding& binding, const VolumeFrameBinding& frame)
      : method_(binding.method()),
        welded_count_(frame.surface().weldedCount()),
        scratch_(method_.makeScratch()) {}

  void correct(const FrameInput&, SkinFrame&, VolumeFrame& frame,
               VolumeReport& report) noexcept override {
    method_.solve(frame.points(), frame.anchors(), frame.targets(), scratch_, frame.displacement(),
                  report.regions, frame.grownVolumes());
    report.iterations = VolumeMethodBinding::iterations(scratch_);
    const std::span<const Vec3d> moves = frame.displacement();
    const Farthest farthest =
        deterministicSum<Farthest>(welded_count_, [&](std::size_t begin, std::size_t end) {
          Farthest part;
          for (std::size_t p = begin; p < end; ++p)
            part += {moves[p].squaredNorm(), static_cast<std::uint32_t>(p)};
          return part;
        });
    report.largest_move_m = std::sqrt(farthest.square);
    report.moved_vertex = frame.vertexOf(farthest.point);
  }
  void finishReport(const VolumeFrame& frame, VolumeReport& report) const override {
    std::vector<Vec3d> moved(frame.points().begin(), frame.points().end());
    report.largest_change = 0;
    for (std::size_t p = 0; p < moved.size(); ++p) {
      const double radius = (moved[p] - frame.anchors()[method_.anchorsOfPoints()[p]]).norm();
      const double move = frame.displacement()[p].norm();
      if (move > report.largest_change * radius && radius > 0)
        report.largest_change = move / radius;
      moved[p] += frame.displacement()[p];
    }
    report.after_m3 = method_.volumes(moved, frame.anchors());
  }

 private:
  VolumeMethodBinding method_;
  std::size_t welded_count_;
  VolumeMethodBinding::Scratch scratch_;
};

std::unique_ptr<VolumeCorrector> FieldCorrectorBinding::makeCorrector(
    const VolumeFrameBinding& frame) const {
  return std::make_unique<FieldCorrector>(*this, frame);
}

Result<std::unique_ptr<VolumeCorrectorBinding>> bindField(const VolumeMaterial& m,
                                                          const VolumeDesc& desc,
                                                          Diagnostics& notes) {
  VolumeMaskDesc mask = desc.mask;
  if (mask.terms.empty()) mask.terms = VolumeMaskDesc().terms;
  DERM_TRY(const std::vector<double> gamma,
           volumeGamma(*m.surface, m.bound.rest, m.character.skeleton, m.bound.skin, mask, notes));
  const auto volumes =
      std::make_shared<const RegionVolumes>(*m.surface, *m.regions, RegionTables::Volumes);
  std::vector<double> rest = volumes->volumes(restPoints(m), m.regions->bindPositions());
  DERM_TRY(VolumeMethodBinding bound, VolumeMethodBinding::bind(m.surface, m.regions, volumes,
                                                                gamma, rest, desc.method, notes));
  return std::unique_ptr<VolumeCorrectorBinding>(
      std::make_unique<FieldCorrectorBinding>(std::move(bound), std::move(rest)));
}

}  // namespace

Result<std::unique_ptr<VolumeCorrectorBinding>> bindVolumeCorrector(const VolumeMaterial& material,
                                                                    const VolumeDesc& desc,
                                                                    Diagnostics& notes) {
  return desc.method.method == VolumeMethod::Section ? bindSection(material, desc, notes)
                                                     : bindField(material, desc, notes);
}

}  // namespace derm::detail
