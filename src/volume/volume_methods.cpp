#include "derm/volume/volume_methods.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volume/volume_solver.h"

namespace derm {
namespace {

/// Solved for together, with matrices of that squared and steps of that cubed.
constexpr std::size_t kMaxRegions = 4096;

Error badMethod(std::string message, std::string element,
                std::optional<std::uint64_t> index = std::nullopt) {
  Where where;
  where.element = std::move(element);
  where.index = index;
  return Error{ErrorCode::BadArgument, std::move(message), std::move(where)};
}

Result<void> checkDesc(const VolumeMethodDesc& desc) {
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(desc.split[a] >= 0) || !std::isfinite(desc.split[a]))
      return badMethod("shares of the axes must be finite and not negative", "split", a);
    sum += desc.split[a];
  }
  if (!(sum > 0)) return badMethod("shares of the axes must not all be zero", "split");
  std::array<std::uint8_t, 3> order = desc.axis_order;
  std::sort(order.begin(), order.end());
  if (order != std::array<std::uint8_t, 3>{0, 1, 2})
    return badMethod("the order of the axes must name x, y and z once each", "axis_order");
  if (!(desc.kappa >= 0) || !std::isfinite(desc.kappa))
    return badMethod("kappa must be a finite number, not negative", "kappa");
  if (!(desc.max_change > 0 && desc.max_change < 1))
    return badMethod("max_change must lie between 0 and 1", "max_change");
  return {};
}

Result<void> checkNumbers(const MeasuredSurface& surface, const RegionVolumes& volumes,
                          std::span<const double> gamma, std::span<const double> rest_volumes) {
  if (volumes.regionCount() > kMaxRegions)
    return badMethod(std::to_string(volumes.regionCount()) +
                         " regions are more than this method can solve for together (" +
                         std::to_string(kMaxRegions) + "); \"section\" takes any number",
                     "regions");
  if (gamma.size() != surface.weldedCount())
    return badMethod("there must be a gamma for each of " + std::to_string(surface.weldedCount()) +
                         " welded vertices, not " + std::to_string(gamma.size()),
                     "gamma");
  if (rest_volumes.size() != volumes.regionCount())
    return badMethod("there must be a rest volume for each of " +
                         std::to_string(volumes.regionCount()) + " regions, not " +
                         std::to_string(rest_volumes.size()),
                     "rest_volumes");
  bool any = false;
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    if (!(gamma[i] >= 0 && gamma[i] <= 1)) return badMethod("gamma must lie in 0 to 1", "gamma", i);
    any |= gamma[i] > 0;
  }
  if (!any && !gamma.empty())
    return badMethod("no vertex may move: gamma is zero everywhere", "gamma");
  for (std::size_t l = 0; l < rest_volumes.size(); ++l)
    if (!std::isfinite(rest_volumes[l]))
      return badMethod("a region's rest volume is not finite", "rest_volumes", l);
  return {};
}

/// Regions with a volume to keep and something to move.
std::vector<std::uint8_t> usableRegions(const detail::VolumeFields& fields,
                                        const MeasuredSurface& surface,
                                        const VolumeRegions& regions,
                                        std::span<const double> rest_volumes, Diagnostics& notes) {
  std::vector<std::uint8_t> moves(rest_volumes.size(), 0), usable(rest_volumes.size(), 0);
  for (std::size_t i = 0; i < surface.weldedCount(); ++i)
    if (fields.moves(i))
      for (const std::uint32_t l : fields.rings().regionsOf(i)) moves[l] = 1;
  double size = 0;  // a length cubed to measure volumes by
  for (const double area : surface.piece_areas) size += area;
  size = std::pow(size, 1.5);
  for (std::size_t l = 0; l < rest_volumes.size(); ++l) {
    const bool has_volume = std::abs(rest_volumes[l]) > 1e-9 * size;
    const std::string name =
        l < regions.regions.size() ? regions.regions[l].name : std::to_string(l);
    if (!has_volume)
      notes.warn("volume-region-empty", "region " + name,
                 "a region without volume at rest is left alone", l);
    else if (moves[l] == 0)
      notes.warn("volume-region-fixed", "region " + name,
                 "no vertex of a region may move; it is left alone", l);
    usable[l] = has_volume && moves[l] != 0;
  }
  return usable;
}

}  // namespace

VolumeMethodBinding::Scratch::Scratch(std::unique_ptr<detail::VolumeMethodBuffers> buffers)
    : buffers_(std::move(buffers)) {}
VolumeMethodBinding::Scratch::Scratch(Scratch&&) noexcept = default;
VolumeMethodBinding::Scratch& VolumeMethodBinding::Scratch::operator=(Scratch&&) noexcept = default;
VolumeMethodBinding::Scratch::~Scratch() = default;

detail::VolumeMethodBuffers::VolumeMethodBuffers(const detail::VolumeMethodParts& parts)
    : sums(parts.fields->makeSums()) {
  const detail::RegionRings& rings = parts.fields->rings();
  const std::size_t regions = rings.regionCount();
  const std::size_t points = parts.fields->surface().pointCount();
  const std::size_t welded_count = parts.fields->surface().weldedCount();
  matrix = detail::RegionMatrix(regions);
  work.resize(regions * (regions + 1));
  for (std::vector<double>* v : {&volumes, &wanted, &residual, &lambda, &step, &change})
    v->resize(regions);
  active.resize(regions);
  axis_active.resize(regions);
  const VolumeMethod method = parts.desc.method;
  // Fields of points that are not odd are all that most methods need of their gradients.
  const bool minimises = parts.desc.solve == VolumeSolve::Minimiser;
  const bool keeps_gradients = method == VolumeMethod::Laplacian || minimises;
  gradients.resize(keeps_gradients ? rings.entryCount() : rings.oddEntryCount());
  field.resize(rings.entryCount());
  const bool axes = method == VolumeMethod::AxesLinear || method == VolumeMethod::AxesExact;
  if (axes) {
    by_axis.assign(3, detail::RegionMatrix(regions));
    axis_shares.resize(3 * regions);
    axis_lambda.resize(3 * regions);
    return;
  }
  const bool along_a_line = parts.line && parts.desc.solve != VolumeSolve::Minimiser;
  if (!along_a_line && parts.desc.solve != VolumeSolve::Linearised) trial.resize(points);
  if (minimises) moved.resize(points);
  const bool kept = parts.desc.solve == VolumeSolve::Minimiser && method == VolumeMethod::Normal;
  if (kept || method == VolumeMethod::Laplacian) normals.resize(welded_count);
  if (parts.line) line.emplace(parts.line->makeScratch());
  if (parts.laplacian) laplacian.emplace(parts.laplacian->makeScratch());
  if (parts.laplacian && !parts.fields->independent()) dense.resize(regions * welded_count);
}

VolumeMethodBinding::VolumeMethodBinding(std::shared_ptr<const detail::VolumeMethodParts> parts)
    : parts_(std::move(parts)) {}

Result<VolumeMethodBinding> VolumeMethodBinding::bind(
    std::shared_ptr<const MeasuredSurface> surface, std::shared_ptr<const VolumeRegions> regions,
    std::shared_ptr<const RegionVolumes> volumes, std::span<const double> gamma,
    std::span<const double> rest_volumes, const VolumeMethodDesc& desc, Diagnostics& notes) {
  DERM_REQUIRE(surface != nullptr && regions != nullptr && volumes != nullptr);
  DERM_CHECK(checkDesc(desc));
  DERM_CHECK(checkNumbers(*surface, *volumes, gamma, rest_volumes));
  auto parts = std::make_shared<detail::VolumeMethodParts>();
  parts->desc = desc;
  parts->fields = std::make_shared<const detail::VolumeFields>(*surface, *regions, gamma);
  parts->rest_volumes.assign(rest_volumes.begin(), rest_volumes.end());
  parts->usable = usableRegions(*parts->fields, *surface, *regions, rest_volumes, notes);
  const bool axes =
      desc.method == VolumeMethod::AxesLinear || desc.method == VolumeMethod::AxesExact;
  // Touching regions: the gradient is followed anew at each step, Laplacian fields have no rows.
  const bool fixed_rows = desc.method == VolumeMethod::Normal || parts->fields->independent();
  if (!axes && desc.solve != VolumeSolve::Linearised && fixed_rows)
    parts->line.emplace(parts->fields, *surface, *regions);
  if (desc.method == VolumeMethod::Laplacian)
    parts->laplacian.emplace(parts->fields, *surface, desc.energy, desc.kappa);
  return VolumeMethodBinding(std::move(parts));
}

std::size_t VolumeMethodBinding::regionCount() const {
  return parts_->fields->rings().regionCount();
}
std::size_t VolumeMethodBinding::pointCount() const {
  return parts_->fields->surface().pointCount();
}
std::span<const double> VolumeMethodBinding::gamma() const { return parts_->fields->gamma(); }
VolumeMethodBinding::Scratch VolumeMethodBinding::makeScratch() const {
  return Scratch(std::make_unique<detail::VolumeMethodBuffers>(*parts_));
}
std::vector<double> VolumeMethodBinding::volumes(std::span<const Vec3d> points,
                                                 std::span<const Vec3d> anchors) const {
  DERM_REQUIRE(points.size() == pointCount());
  const detail::RegionRings& rings = parts_->fields->rings();
  detail::RegionRings::Sums sums = rings.makeSums();
  std::vector<Vec3d> gradients(rings.oddEntryCount());
  std::vector<double> out(regionCount());
  rings.measure(points, anchors, {}, sums, gradients, {}, out);
  return out;
}
std::span<const std::uint32_t> VolumeMethodBinding::anchorsOfPoints() const {
  return parts_->fields->rings().anchorsOfPoints();
}
int VolumeMethodBinding::iterations(const Scratch& scratch) { return scratch.buffers_->iterations; }

void VolumeMethodBinding::solve(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
                                std::span<const double> targets, Scratch& scratch,
                                std::span<Vec3d> displacement, std::span<RegionOutcome> outcomes,
                                std::span<const double> rest_volumes) const noexcept {
  DERM_REQUIRE(points.size() == pointCount() && displacement.size() == pointCount());
  DERM_REQUIRE(targets.size() == regionCount() && outcomes.size() == regionCount());
  if (rest_volumes.empty()) rest_volumes = parts_->rest_volumes;
  DERM_REQUIRE(rest_volumes.size() == regionCount());
  detail::VolumeSolver(*parts_, *scratch.buffers_, points, anchors, rest_volumes, displacement,
                       outcomes)
      .run(targets);
}

}  // namespace derm
