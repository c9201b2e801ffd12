#include "derm/volume/volume_swell.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/base/nearest_name.h"
#include "derm/volume/volume_methods.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

Error badSwell(std::size_t index, std::string message) {
  Where where;
  where.element = "swell";
  where.index = index;
  return Error{ErrorCode::BadArgument, std::move(message), std::move(where)};
}

Result<void> checkNumbers(const SwellDesc& desc, std::size_t index) {
  if (!std::isfinite(desc.from_deg) || !std::isfinite(desc.to_deg) || desc.from_deg == desc.to_deg)
    return badSwell(index, "from_deg and to_deg must be two different angles");
  if (!(desc.percent > -100) || !(desc.percent <= 1000))
    return badSwell(index,
                    "percent must lie above -100 (nothing would be left) and at most at 1000");
  return {};
}

/// Strength of each welded vertex: the largest of its vertices'. Apexes move with their borders
/// only.
std::vector<double> strengthsOf(const MeasuredSurface& surface, const VertexGroup& group) {
  std::vector<double> out(surface.pointCount(), 0.0);
  for (std::size_t n = 0; n < group.vertices.size(); ++n) {
    double& strength = out[surface.welded_of_vertex[group.vertices[n]]];
    strength = std::max<double>(strength, group.strengths[n]);
  }
  return out;
}

/// Volume between a triangle and its anchors at rest.
double prism(const Triangle& t, std::span<const Vec3d> x, std::span<const Vec3d> anchors,
             std::span<const std::uint32_t> anchor) {
  const Vec3d &f1 = anchors[anchor[t[0]]], &f2 = anchors[anchor[t[1]]], &f3 = anchors[anchor[t[2]]];
  const Vec3d &a = x[t[0]], &b = x[t[1]], &c = x[t[2]];
  return (a.dot(b.cross(c)) - f1.dot(f2.cross(f3))) / 6 + prismWall(a, b, f1, f2) +
         prismWall(b, c, f2, f3) + prismWall(c, a, f3, f1);
}

}  // namespace

Result<VolumeSwell> VolumeSwell::bind(std::shared_ptr<const MeasuredSurface> surface,
                                      const VolumeRegions& regions, const TriMesh& mesh,
                                      const Skeleton& skeleton, std::span<const SwellDesc> swells) {
  VolumeSwell out;
  out.surface_ = surface;
  std::vector<Vec3d> rest(surface->pointCount());
  measurePoints(*surface, mesh.positions, Vec3d::Zero(), rest);
  const std::vector<Vec3d> anchors = regions.bindPositions();
  for (std::size_t n = 0; n < swells.size(); ++n) {
    DERM_CHECK(checkNumbers(swells[n], n));
    Muscle muscle;
    muscle.desc = swells[n];
    const VertexGroup* group = mesh.findGroup(swells[n].group);
    if (group == nullptr) {
      std::vector<std::string> names;
      for (const VertexGroup& g : mesh.groups) names.push_back(g.name);
      return badSwell(n, "there is no vertex group \"" + swells[n].group + "\"" +
                             didYouMean(swells[n].group, names));
    }
    DERM_TRY(muscle.joint, skeleton.named(swells[n].joint));
    muscle.rest_rotation = skeleton[muscle.joint].rest.rotation.cast<double>().normalized();
    muscle.build(*surface, regions, strengthsOf(*surface, *group), rest, anchors);
    if (muscle.strengths.empty())
      return badSwell(n, "no vertex of the group \"" + group->name + "\" belongs to a triangle");
    if (!(std::abs(muscle.rest_m3) > 0) || !std::isfinite(muscle.rest_m3))
      return badSwell(n, "the group \"" + group->name + "\" has no volume that could grow");
    out.muscles_.push_back(std::move(muscle));
  }
  return out;
}

void VolumeSwell::Muscle::build(const MeasuredSurface& surface, const VolumeRegions& regions,
                                std::span<const double> strength, std::span<const Vec3d> rest,
                                std::span<const Vec3d> anchors) {
  std::vector<std::uint32_t> number(rest.size(), kNone);
  std::vector<double> by_region(regions.regionCount(), 0.0);
  std::vector<Triangle> changing;
  for (const Triangle& t : surface.triangles) {
    const double mean = (strength[t[0]] + strength[t[1]] + strength[t[2]]) / 3;
    if (mean == 0) continue;
    changing.push_back(t);
    const double part = mean * prism(t, rest, anchors, regions.anchor);
    rest_m3 += part;
    for (const std::uint32_t corner : t) {
      const std::span<const std::uint32_t> columns = regions.membership.columnsOf(corner);
      for (std::size_t k = 0; k < columns.size(); ++k)
        by_region[columns[k]] += part / 3 * regions.membership.sharesOf(corner)[k];
      if (strength[corner] == 0 || number[corner] != kNone) continue;
      number[corner] = static_cast<std::uint32_t>(around.size());
      around.push_back(corner);
      strengths.push_back(strength[corner]);
    }
  }
  for (const Triangle& t : changing) {
    Triangle local{};
    for (std::size_t c = 0; c < 3; ++c) {
      if (number[t[c]] == kNone) {
        number[t[c]] = static_cast<std::uint32_t>(around.size());
        around.push_back(t[c]);
      }
      local[c] = number[t[c]];
    }
    triangles.push_back(local);
  }
  for (std::uint32_t l = 0; l < by_region.size(); ++l)
    if (by_region[l] != 0) shares.push_back({l, by_region[l] / rest_m3});
}

VolumeSwell::Scratch VolumeSwell::makeScratch() const {
  std::size_t max = 0;
  for (const Muscle& m : muscles_) max = std::max(max, m.around.size());
  return {std::vector<Vec3d>(max)};
}

double VolumeSwell::growth(std::size_t swell, std::span<const Transform> local) const noexcept {
  const Muscle& muscle = muscles_[swell];
  const Quatd now = local[muscle.joint.index()].rotation.cast<double>().normalized();
  const double w = std::min(1.0, std::abs((muscle.rest_rotation.conjugate() * now).w()));
  const double degrees = 2 * std::acos(w) * 180 / std::numbers::pi;
  const double drive =
      (degrees - muscle.desc.from_deg) / (muscle.desc.to_deg - muscle.desc.from_deg);
  if (!(drive > 0)) return 0;  // also where the pose is not finite
  return std::min(drive, 1.0) * muscle.desc.percent / 100 * muscle.rest_m3;
}

void VolumeSwell::move(const Muscle& muscle, double growth, Scratch& scratch,
                       std::span<Vec3d> points) const noexcept {
  const std::span<Vec3d> d = std::span(scratch.directions).first(muscle.around.size());
  const Vec3d origin = points[muscle.around[0]];
  const auto at = [&](std::uint32_t n) { return Vec3d(points[muscle.around[n]] - origin); };
  std::fill(d.begin(), d.end(), Vec3d(Vec3d::Zero()));
  for (const Triangle& t : muscle.triangles) {
    const Vec3d a = at(t[0]), b = at(t[1]), c = at(t[2]);
    const Vec3d area = Vec3d(b - a).cross(Vec3d(c - a));
    for (const std::uint32_t corner : t)
      if (corner < muscle.strengths.size()) d[corner] += area;
  }
  for (std::size_t n = 0; n < muscle.strengths.size(); ++n) {
    const double length = d[n].norm();
    d[n] = length > 0 ? Vec3d(d[n] * (muscle.strengths[n] / length)) : Vec3d(Vec3d::Zero());
  }
  double c1 = 0, c2 = 0, c3 = 0;
  for (const Triangle& t : muscle.triangles) {
    const Vec3d a = at(t[0]), b = at(t[1]), c = at(t[2]);
    const Vec3d &da = d[t[0]], &db = d[t[1]], &dc = d[t[2]];
    c1 += da.dot(b.cross(c)) + db.dot(c.cross(a)) + dc.dot(a.cross(b));
    c2 += a.dot(db.cross(dc)) + b.dot(dc.cross(da)) + c.dot(da.cross(db));
    c3 += da.dot(db.cross(dc));
  }
  if (!(std::abs(c1) > 0) || !std::isfinite(c1 + c2 + c3)) return;
  const double s = firstCubicRoot(c1 / 6, c2 / 6, c3 / 6, growth).s;
  for (std::size_t n = 0; n < muscle.strengths.size(); ++n) points[muscle.around[n]] += s * d[n];
}

void VolumeSwell::apply(std::span<const Transform> local, Scratch& scratch, std::span<Vec3d> points,
                        std::span<double> targets) const noexcept {
  bool moved = false;
  for (std::size_t n = 0; n < muscles_.size(); ++n) {
    const double more = growth(n, local);
    if (more == 0) continue;
    for (const RegionVolumes::Share& share : muscles_[n].shares)
      targets[share.region] += share.share * more;
    move(muscles_[n], more, scratch, points);
    moved = true;
  }
  if (moved) completeApexes(*surface_, points);
}

}  // namespace derm
