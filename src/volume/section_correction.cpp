#include "derm/volume/section_correction.h"

#include <cmath>

#include "derm/base/assert.h"
#include "derm/math/polar.h"

#include "volume/section_plan.h"
#include "volume/section_solver.h"

namespace derm {
namespace {

Error bad(const char* key, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = key}};
}

Result<void> check(const SectionDesc& desc) {
  if (!(desc.epsilon > 0 && desc.epsilon <= 1))
    return bad("epsilon", "expected a number above 0, up to 1");
  if (!(desc.sigma > 0 && desc.sigma <= 1))
    return bad("sigma", "expected a number above 0, up to 1");
  if (!(desc.bound >= 0 && desc.bound <= 1)) return bad("bound", "expected a number, 0 to 1");
  if (!(desc.max_change > 0 && desc.max_change < 1))
    return bad("max_change", "expected a number between 0 and 1");
  if (!(desc.tolerance > 0 && desc.tolerance < 1))
    return bad("tolerance", "expected a number between 0 and 1");
  return {};
}

}  // namespace

struct SectionBinding::Parts {
  detail::SectionPlan plan;
};

struct SectionBinding::Scratch::Buffers {
  detail::SectionBuffers buffers;
};

SectionBinding::Scratch::Scratch(std::unique_ptr<Buffers> buffers) : buffers_(std::move(buffers)) {}
SectionBinding::Scratch::Scratch(Scratch&&) noexcept = default;
SectionBinding::Scratch& SectionBinding::Scratch::operator=(Scratch&&) noexcept = default;
SectionBinding::Scratch::~Scratch() = default;

SectionBinding::SectionBinding(std::shared_ptr<const Parts> parts, const SectionDesc& desc)
    : parts_(std::move(parts)), desc_(desc) {}

Result<SectionBinding> SectionBinding::bind(const MeasuredSurface& surface,
                                            const VolumeRegions& regions,
                                            std::span<const Vec3d> rest_points,
                                            std::span<const float> mask, const SectionDesc& desc,
                                            Diagnostics& notes) {
  DERM_CHECK(check(desc));
  if (rest_points.size() != surface.pointCount() ||
      regions.membership.rowCount() != surface.pointCount())
    return bad("regions", "made for another surface");
  if (!mask.empty() && mask.size() != surface.pointCount())
    return bad("mask", std::to_string(mask.size()) + " entries for " +
                           std::to_string(surface.pointCount()) + " points");
  for (std::size_t p = 0; p < mask.size(); ++p)
    if (!(mask[p] >= 0 && mask[p] <= 1))
      return Error{ErrorCode::BadArgument, "not in [0,1]", {.element = "mask", .index = p}};
  auto parts = std::make_shared<Parts>();
  parts->plan = detail::makeSectionPlan(surface, regions, rest_points, mask);
  std::vector<char> moves(regions.regionCount(), 0);
  const detail::SectionPlan& plan = parts->plan;
  for (std::size_t a = 0; a < plan.active_count; ++a) {
    if (!plan.mask.empty() && plan.mask[a] <= 0) continue;
    const detail::SectionShares::Row row = plan.members[a];
    for (std::uint32_t k = 0; k < row.count; ++k) moves[row.columns[k]] = 1;
  }
  for (std::size_t l = 0; l < regions.regionCount(); ++l)
    if (!moves[l])
      notes.info("volume-region-fixed", "volume",
                 "nothing bends in region \"" + regions.regions[l].name +
                     "\", or it has no volume; it is left as it is",
                 l);
  return SectionBinding(std::move(parts), desc);
}

Result<SectionBinding> SectionBinding::with(const SectionDesc& desc) const {
  DERM_CHECK(check(desc));
  return SectionBinding(parts_, desc);
}

std::size_t SectionBinding::regionCount() const { return parts_->plan.region_count; }
std::size_t SectionBinding::pointCount() const { return parts_->plan.point_count; }
std::span<const double> SectionBinding::restVolumes() const { return parts_->plan.rest_volumes; }

float SectionBinding::maskOf(std::size_t point) const {
  const detail::SectionPlan& plan = parts_->plan;
  const std::uint32_t row = plan.row_of_point[point];
  if (!plan.moves(row)) return 0.0f;
  return plan.bending[row] * (plan.mask.empty() ? 1.0f : plan.mask[row]);
}

SectionBinding::Scratch SectionBinding::makeScratch() const {
  return Scratch(std::make_unique<Scratch::Buffers>(
      Scratch::Buffers{detail::SectionBuffers(parts_->plan, desc_)}));
}

SectionReport SectionBinding::solve(const Frame& frame, Scratch& scratch,
                                    std::span<Vec3d> displacement,
                                    std::span<RegionOutcome> outcomes,
                                    std::span<double> after_m3) const noexcept {
  const detail::SectionPlan& plan = parts_->plan;
  DERM_REQUIRE(frame.points.size() == plan.point_count && frame.centres.size() == plan.point_count);
  DERM_REQUIRE(frame.anchors.size() == plan.joint_count);
  DERM_REQUIRE(frame.activities.size() == plan.joint_count);
  DERM_REQUIRE(frame.targets.size() == plan.region_count && outcomes.size() == plan.region_count);
  DERM_REQUIRE(displacement.size() == plan.point_count);
  DERM_REQUIRE(scratch.buffers_ && scratch.buffers_->buffers.rows.size() == plan.point_count);
  DERM_REQUIRE(after_m3.size() == plan.region_count);
  return detail::solveSections(plan, frame, scratch.buffers_->buffers, displacement, outcomes,
                               after_m3);
}

SectionReport SectionBinding::solve(const Frame& frame, const Vertices& vertices, Scratch& scratch,
                                    std::span<RegionOutcome> outcomes,
                                    std::span<double> after_m3) const noexcept {
  const detail::SectionPlan& plan = parts_->plan;
  DERM_REQUIRE(vertices.surface != nullptr && vertices.surface->pointCount() == plan.point_count);
  DERM_REQUIRE(vertices.surface->weldedCount() == plan.welded_count);
  DERM_REQUIRE(vertices.positions.size() == vertices.surface->vertexCount());
  DERM_REQUIRE(vertices.centres.size() == vertices.positions.size());
  DERM_REQUIRE(frame.anchors.size() == plan.joint_count);
  DERM_REQUIRE(frame.activities.size() == plan.joint_count);
  DERM_REQUIRE(frame.targets.size() == plan.region_count && outcomes.size() == plan.region_count);
  DERM_REQUIRE(scratch.buffers_ && scratch.buffers_->buffers.rows.size() == plan.point_count);
  DERM_REQUIRE(after_m3.size() == plan.region_count);
  return detail::solveSections(plan, frame, vertices, scratch.buffers_->buffers, outcomes,
                               after_m3);
}

void SectionBinding::apply(const MeasuredSurface& surface, const Scratch& scratch,
                           std::span<Vec3f> positions) const noexcept {
  DERM_REQUIRE(surface.weldedCount() == parts_->plan.welded_count);
  DERM_REQUIRE(positions.size() == surface.vertexCount());
  DERM_REQUIRE(scratch.buffers_ &&
               scratch.buffers_->buffers.rows.size() == parts_->plan.point_count);
  detail::moveVertices(parts_->plan, surface, scratch.buffers_->buffers, positions);
}

JointActivities::JointActivities(const Skeleton& skeleton, const Skin& skin,
                                 const VolumeRegions& regions) {
  std::vector<Affine3d> bind(skeleton.size());
  localToModel(skeleton, bindTransforms(skeleton, skin), bind);
  for (const RegionJoint& j : regions.joints) {
    Entry entry{j.joint, j.parent == RegionJoint::kNone ? 0 : j.parent};
    if (j.joint.valid())
      entry.bind_inverse = Quatd(polarDecomposition(bind[j.joint.index()].linear()).rotation)
                               .normalized()
                               .conjugate();
    joints_.push_back(entry);
  }
}

void JointActivities::evaluate(std::span<const Affine3d> model, std::span<Quatd> rotations,
                               std::span<double> out) const noexcept {
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Entry& entry = joints_[j];
    rotations[j] = Quatd::Identity();
    if (entry.joint.valid() && model[entry.joint.index()].matrix().allFinite())
      rotations[j] =
          Quatd(polarDecomposition(model[entry.joint.index()].linear()).rotation).normalized() *
          entry.bind_inverse;
    const double turned = 1 - std::min(1.0, std::abs(rotations[j].dot(rotations[entry.parent])));
    out[j] = turned < 1e-10 ? 0 : turned;
  }
}

}  // namespace derm
