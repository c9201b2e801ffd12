#include "deform/wrinkle_tool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/assert.h"
#include "derm/base/nearest_name.h"
#include "derm/deform/skinning.h"

namespace derm::detail {
namespace {

/// Steps between two picked points of a path of several.
constexpr int kStepsPerSpan = 8;
/// Samples per triangle side by which a rectangle's cover is found.
constexpr int kSamples = 8;
/// Scalar product of normals below which elevation fades out: the last 12 degrees or so.
constexpr double kFadeFacing = 0.2;

Error bad(const WrinkleToolDesc& desc, std::string_view key, std::string message,
          std::optional<std::uint64_t> index = std::nullopt) {
  const std::string element =
      desc.name.empty() ? std::string(key) : "tool \"" + desc.name + "\" " + std::string(key);
  return Error{ErrorCode::BadArgument, std::move(message), {.element = element, .index = index}};
}

Vec3d unitOr(const Vec3d& v, const Vec3d& otherwise) {
  const double length = v.norm();
  return length > 1e-12 ? Vec3d(v / length) : otherwise;
}

Vec3d anyOrthogonal(const Vec3d& n) {
  const Vec3d axis = std::abs(n.x()) < 0.7 ? Vec3d(1, 0, 0) : Vec3d(0, 1, 0);
  return (axis - n.dot(axis) * n).normalized();
}

Result<std::vector<std::uint32_t>> snapped(const WrinkleToolDesc& desc,
                                           const ToolSurface& surface) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < desc.path.size(); ++i) {
    const PickedPoint& pick = desc.path[i];
    if (pick.vertex) {
      if (*pick.vertex >= surface.positions.size())
        return bad(desc, "path",
                   "there is no vertex " + std::to_string(*pick.vertex) + "; the surface has " +
                       std::to_string(surface.positions.size()),
                   i);
      out.push_back(*pick.vertex);
      continue;
    }
    if (!pick.position.allFinite()) return bad(desc, "path", "a place must be finite", i);
    std::uint32_t best = 0;
    for (std::uint32_t v = 1; v < surface.positions.size(); ++v)
      if ((surface.positions[v] - pick.position).squaredNorm() <
          (surface.positions[best] - pick.position).squaredNorm())
        best = v;
    out.push_back(best);
  }
  for (std::size_t i = 1; i < out.size(); ++i) {
    if ((surface.positions[out[i]] - surface.positions[out[i - 1]]).norm() == 0)
      return bad(desc, "path",
                 "two points in a row are at one place (vertices " + std::to_string(out[i - 1]) +
                     " and " + std::to_string(out[i]) + "): A and B must differ",
                 i);
    if (surface.pieces.of_vertex[surface.weld[out[i]]] !=
        surface.pieces.of_vertex[surface.weld[out[0]]])
      return bad(desc, "path",
                 "vertices " + std::to_string(out[0]) + " and " + std::to_string(out[i]) +
                     " are on different pieces of the surface: no skin joins them",
                 i);
  }
  return out;
}

Vec3d catmullRom(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, double t) {
  return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t +
                (3 * b - a - 3 * c + d) * t * t * t);
}

}  // namespace

Result<PosedSurface> posedSurface(const WrinkleToolDesc& desc, const Character& character,
                                  const BoundSurface& bound) {
  PosedSurface out;
  out.frame_positions = bound.rest.positions;
  std::vector<Vec3f> normals = bound.rest.normals;
  if (desc.defined_at) {
    const auto at = std::find_if(character.clips.begin(), character.clips.end(),
                                 [&](const Clip& c) { return c.name == desc.defined_at->clip; });
    if (at == character.clips.end())
      return bad(desc, "define_clip",
                 "no clip \"" + desc.defined_at->clip + "\"" +
                     didYouMean(desc.defined_at->clip, character.clipNames()));
    if (!bound.skin.empty()) {
      Pose pose = character.restPose();
      sampleClip(*at, static_cast<float>(desc.defined_at->time_s), pose);
      std::vector<Affine3d> model(character.skeleton.size());
      std::vector<Affine3f> palette(bound.skin.slots.size());
      localToModel(character.skeleton, pose.local, model);
      skinningMatrices(bound.skin, model, palette);
      Diagnostics said_already;
      DERM_TRY(const SkinningBinding skinning,
               SkinningBinding::bind(surfaceOf(bound.rest), bound.skin, {}, said_already));
      SkinningScratch scratch = skinning.makeScratch();
      skinning.evaluate(palette, scratch, {out.frame_positions, normals, {}});
    }
  }
  out.positions.reserve(out.frame_positions.size());
  for (const Vec3f& p : out.frame_positions) out.positions.push_back(p.cast<double>());
  out.normals.reserve(normals.size());
  for (const Vec3f& n : normals) out.normals.push_back(n.cast<double>());
  return out;
}

Result<void> checkRestLength(const WrinkleToolDesc& desc) {
  const auto fault = [&](const char* message) { return bad(desc, "rest_length_m", message); };
  const auto is_length = [](double l) { return l > 0 && std::isfinite(l); };
  if (desc.rest_length_m && !is_length(*desc.rest_length_m)) return fault("must be above 0");
  const std::vector<WrinkleLengthKey>& keys = desc.rest_length_keys;
  if (!keys.empty() && desc.rest_length_m) return fault("is given both as a number and as keys");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_length(keys[i].length_m)) return fault("all keys must have a length above 0");
    if (!std::isfinite(keys[i].time_s) || (i > 0 && !(keys[i].time_s > keys[i - 1].time_s)))
      return fault("the times of its keys must ascend");
  }
  return {};
}

double restLengthAt(const WrinkleToolDesc& desc, double defined, double time_s) {
  const std::vector<WrinkleLengthKey>& keys = desc.rest_length_keys;
  if (keys.empty()) return desc.rest_length_m.value_or(defined);
  const auto after = std::partition_point(
      keys.begin(), keys.end(), [&](const WrinkleLengthKey& key) { return key.time_s <= time_s; });
  if (after == keys.begin()) return keys.front().length_m;
  if (after == keys.end()) return keys.back().length_m;
  const auto before = after - 1;
  const double share = (time_s - before->time_s) / (after->time_s - before->time_s);
  return std::lerp(before->length_m, after->length_m, share);
}

Result<void> checkNumbers(const WrinkleToolDesc& desc) {
  if (desc.path.size() < 2 || desc.path.size() > WrinkleToolDesc::kMaxPicked)
    return bad(desc, "path",
               "a curve needs 2 to " + std::to_string(WrinkleToolDesc::kMaxPicked) +
                   " points, has " + std::to_string(desc.path.size()));
  if (!(desc.width_m > 0) || !std::isfinite(desc.width_m))
    return bad(desc, "width_m", "must be above 0: folds of no length do not show");
  if (desc.subdivide < 0 || desc.subdivide > 4) return bad(desc, "subdivide", "must be 0 to 4");
  return checkRestLength(desc);
}

Result<PlacedTool> PlacedTool::place(const WrinkleToolDesc& desc, const ToolSurface& surface,
                                     Diagnostics& notes) {
  if (surface.positions.empty()) return bad(desc, "path", "the surface has no vertices");
  DERM_TRY(const std::vector<std::uint32_t> vertices, snapped(desc, surface));
  PlacedTool tool;
  tool.half_width_ = desc.width_m / 2;
  const auto at_vertex = [](std::uint32_t v) {
    return RidingPoint{.corners = {v, v, v}, .share = Vec3f(1, 0, 0)};
  };
  tool.a_ = at_vertex(vertices.front());
  tool.b_ = at_vertex(vertices.back());
  std::vector<Vec3d> points, normals;
  if (vertices.size() == 2) {
    for (const std::uint32_t v : vertices) {
      points.push_back(surface.positions[v]);
      normals.push_back(surface.normals[v]);
    }
    // One rectangle: both ends see the mean of their normals.
    normals[0] = normals[1] = unitOr(normals[0] + normals[1], normals[0]);
  } else {
    DERM_REQUIRE(surface.tree != nullptr);
    const TriangleTree& tree = *surface.tree;
    const auto at = [&](std::ptrdiff_t i) {
      const auto last = static_cast<std::ptrdiff_t>(vertices.size()) - 1;
      return surface
          .positions[vertices[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last))]];
    };
    for (std::ptrdiff_t span = 0; span + 1 < static_cast<std::ptrdiff_t>(vertices.size()); ++span)
      for (int step = 0; step <= kStepsPerSpan; ++step) {
        if (step == 0 && span > 0) continue;
        const Vec3d wanted = catmullRom(at(span - 1), at(span), at(span + 1), at(span + 2),
                                        static_cast<double>(step) / kStepsPerSpan);
        const auto near = tree.closestPoint(wanted);
        if (!near) return bad(desc, "path", "the surface has no triangles");
        const Triangle& t = surface.bound.rest.triangles[near->triangle];
        points.push_back(near->point);
        Vec3d normal = Vec3d::Zero();
        for (int c = 0; c < 3; ++c) normal += near->barycentric[c] * surface.normals[t[c]];
        normals.push_back(unitOr(normal, Vec3d::UnitY()));
      }
  }
  tool.makeSegments(points, normals);
  tool.collectTriangles(vertices[0], surface);
  if (tool.triangles_.empty())
    notes.warn("wrinkles-no-surface", desc.name,
               "no triangle lies under the tool and faces it; it will not fold anything");
  return tool;
}

void PlacedTool::makeSegments(std::span<const Vec3d> points, std::span<const Vec3d> normals) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Vec3d step = points[i] - points[i - 1];
    const double length = step.norm();
    if (!(length > 0)) continue;
    Segment s;
    s.from = points[i - 1];
    s.along = step / length;
    const Vec3d mean = normals[i - 1] + normals[i];
    s.up = unitOr(mean - mean.dot(s.along) * s.along, anyOrthogonal(s.along));
    s.across = s.along.cross(s.up);
    s.start = defined_length_;
    s.length = length;
    segments_.push_back(s);
    defined_length_ += length;
  }
}

PlacedTool::Projection PlacedTool::nearest(const Vec3d& position) const {
  Projection best;
  double best_distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    const Vec3d d = position - s.from;
    const double x = d.dot(s.along);
    const double kept = std::clamp(x, 0.0, s.length);
    // One rectangle looks through the surface; of several the nearest in space counts.
    const double distance = (d - kept * s.along).squaredNorm();
    if (segments_.size() > 1 && !(distance < best_distance)) continue;
    best_distance = distance;
    const double z = d.dot(s.across);
    const bool last = i + 1 == segments_.size();
    best.segment = i;
    best.along_m = s.start + (segments_.size() > 1 ? kept : x);
    best.across_m = std::copysign(std::hypot(z, segments_.size() > 1 ? x - kept : 0.0), z);
    best.inside = (i > 0 || x > 0) && (!last || x < s.length);
  }
  return best;
}

std::optional<ToolCoordinates> PlacedTool::project(const Vec3d& position,
                                                   const Vec3d& normal) const {
  const Projection p = nearest(position);
  const double facing = normal.dot(segments_[p.segment].up);
  if (!p.inside || !(std::abs(p.across_m) < half_width_) || !(facing > 0)) return std::nullopt;
  const double t = std::min(facing / kFadeFacing, 1.0);
  return ToolCoordinates{std::clamp(p.along_m / defined_length_, 0.0, 1.0),
                         p.across_m / half_width_, t * t * (3 - 2 * t)};
}

double PlacedTool::extentAlong(const Triangle& t, std::span<const Vec3d> positions) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::uint32_t v : t) {
    const double x = nearest(positions[v]).along_m;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  return high - low;
}

bool PlacedTool::covers(const Triangle& t, const ToolSurface& surface) const {
  for (int i = 0; i <= kSamples; ++i)
    for (int j = 0; i + j <= kSamples; ++j) {
      const Vec3d share = Vec3d(i, j, kSamples - i - j) / kSamples;
      Vec3d position = Vec3d::Zero(), normal = Vec3d::Zero();
      for (int c = 0; c < 3; ++c) {
        position += share[c] * surface.positions[t[c]];
        normal += share[c] * surface.normals[t[c]];
      }
      if (project(position, unitOr(normal, Vec3d::UnitY()))) return true;
    }
  return false;
}

/// Goes from the curve's start over neighbouring triangles as long as the rectangle covers them.
void PlacedTool::collectTriangles(std::uint32_t start, const ToolSurface& surface) {
  const std::vector<Triangle>& triangles = surface.bound.rest.triangles;
  const IndexLists& around = surface.around;
  std::vector<std::uint8_t> seen(triangles.size(), 0);
  std::vector<std::uint32_t> open(around[surface.weld[start]].begin(),
                                  around[surface.weld[start]].end());
  while (!open.empty()) {
    const std::uint32_t t = open.back();
    open.pop_back();
    if (seen[t] != 0) continue;
    seen[t] = 1;
    if (!covers(triangles[t], surface)) continue;
    triangles_.push_back(t);
    for (const std::uint32_t p : surface.welded[t])
      open.insert(open.end(), around[p].begin(), around[p].end());
  }
  std::sort(triangles_.begin(), triangles_.end());
}

std::vector<RidingPoint> PlacedTool::pointsOnCurve(std::size_t count,
                                                   const ToolSurface& surface) const {
  std::vector<RidingPoint> out(count);
  out.front() = a_;
  out.back() = b_;
  for (const std::uint32_t t : triangles_) {
    const Triangle& corners = surface.bound.rest.triangles[t];
    Eigen::Vector2d p[3];
    for (int c = 0; c < 3; ++c) {
      const Projection at = nearest(surface.positions[corners[c]]);
      p[c] = {at.along_m / defined_length_, at.across_m / defined_length_};
    }
    const auto twice = [](const Eigen::Vector2d& u, const Eigen::Vector2d& v) {
      return u.x() * v.y() - u.y() * v.x();
    };
    const double area = twice(p[1] - p[0], p[2] - p[0]);
    if (!(std::abs(area) > 1e-14)) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const Eigen::Vector2d q(static_cast<double>(i) / static_cast<double>(count - 1), 0);
      const double b1 = twice(q - p[0], p[2] - p[0]) / area;
      const double b2 = twice(p[1] - p[0], q - p[0]) / area;
      if (b1 < -1e-9 || b2 < -1e-9 || b1 + b2 > 1 + 1e-9 || !out[i].share.isZero()) continue;
      out[i] = {corners, Vec3d(1 - b1 - b2, b1, b2).cast<float>()};
    }
  }
  return out;
}

}  // namespace derm::detail
