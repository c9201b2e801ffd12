#include "derm/deform/wrinkle_proposal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr std::size_t kMostSamples = 2000;
/// A region goes on down to this share of the squeeze in its middle: the crease, not the limb.
constexpr double kRegionEdge = 0.5;
/// Cosine between directions of one region, and between its normals and the middle's.
constexpr double kSameDirection = 0.75;
constexpr double kSameSide = 0.4;
/// Of the best proposal's lost area: what loses less is not worth a tool.
constexpr double kLeastArea = 0.05;
/// Of a region's lost area, left out at either end of its length and width: a few triangles far out
/// do not stretch the tool over half of the body.
constexpr double kOutliers = 0.05;
/// Two tools share at most this much of the smaller one's skin: both would give back the same
/// length, one fold on top of the other.
constexpr double kMostShared = 0.25;

/// A triangle at rest, ready to be compared with its deformed self.
struct RestTriangle {
  Eigen::Matrix2d inverse_edges = Eigen::Matrix2d::Zero();
  Vec3d u, v;  ///< the plane's axes
  Vec3d centre, normal;
  double area = 0;
};

struct Squeeze {
  double least_stretch = 1;
  Vec3d direction = Vec3d::Zero();  ///< at rest, unit length
  double time_s = 0;
};

std::vector<RestTriangle> restTriangles(const TriMesh& mesh) {
  std::vector<RestTriangle> out(mesh.triangles.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    Vec3d p[3];
    for (int c = 0; c < 3; ++c) p[c] = mesh.positions[mesh.triangles[t][c]].cast<double>();
    const Vec3d a = p[1] - p[0], b = p[2] - p[0];
    const Vec3d twice = a.cross(b);
    RestTriangle& r = out[t];
    r.centre = (p[0] + p[1] + p[2]) / 3;
    r.area = twice.norm() / 2;
    const double longest = std::max(a.squaredNorm(), b.squaredNorm());
    if (!(r.area > 1e-6 * longest)) {
      r.area = 0;  // a sliver: its stretch says nothing
      continue;
    }
    r.normal = twice.normalized();
    r.u = a.normalized();
    r.v = r.normal.cross(r.u);
    Eigen::Matrix2d edges;
    edges << a.dot(r.u), b.dot(r.u), a.dot(r.v), b.dot(r.v);
    r.inverse_edges = edges.inverse();
  }
  return out;
}

/// Lowers `out` where the triangle is squeezed more in these positions.
void compare(const RestTriangle& rest, const Triangle& t, std::span<const Vec3f> positions,
             double time_s, Squeeze& out) {
  if (rest.area == 0) return;
  const Vec3d p = positions[t[0]].cast<double>();
  Eigen::Matrix<double, 3, 2> edges;
  edges.col(0) = positions[t[1]].cast<double>() - p;
  edges.col(1) = positions[t[2]].cast<double>() - p;
  const Eigen::Matrix<double, 3, 2> f = edges * rest.inverse_edges;
  const double a = f.col(0).squaredNorm(), b = f.col(0).dot(f.col(1)), d = f.col(1).squaredNorm();
  const double middle = (a + d) / 2, half = std::hypot((a - d) / 2, b);
  // Skin that is pulled the other way gives its length there and lies flat.
  const double least =
      std::sqrt(std::max(0.0, middle - half)) * std::max(1.0, std::sqrt(middle + half));
  if (!(least < out.least_stretch)) return;
  const double angle =
      0.5 * std::atan2(2 * b, a - d) + std::acos(0.0);  // at right angles to the most
  out = {least, std::cos(angle) * rest.u + std::sin(angle) * rest.v, time_s};
}

struct Candidate {
  WrinkleProposal proposal;
  std::vector<std::uint32_t> skin;  ///< triangles under the tool
};

class Proposer {
 public:
  Proposer(const Character& character, const Clip& clip, const WrinkleProposalDesc& desc)
      : character_(character),
        clip_(clip),
        desc_(desc),
        rest_(restTriangles(character.mesh)),
        places_(mapped(character.mesh.triangles, weldMap(character.mesh.positions))),
        around_(vertexTriangles(places_, character.mesh.vertexCount())),
        squeeze_(rest_.size()) {}

  Result<void> measure(const Progress& progress) {
    Diagnostics said_already;
    const std::shared_ptr<const Character> shared(&character_, [](const Character*) {});
    DERM_TRY(const std::shared_ptr<const Stack> stack,
             Stack::bind(shared, std::array{morphLayer(), skinningLayer({})}, said_already));
    StackRunner runner(stack);
    const double length = clip_.duration_s();
    const auto samples = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(length * desc_.samples_per_s)), 1, kMostSamples);
    Pose pose = character_.restPose();
    for (std::size_t i = 0; i <= samples; ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(samples);
      if (!keepGoing(progress, done, "measuring"))
        return Error{ErrorCode::Cancelled, "cancelled", {.element = clip_.name}};
      const double time = length * done;
      sampleClip(clip_, static_cast<float>(time), pose);
      runner.setPose(pose, time);
      const std::span<const Vec3f> positions = runner.evaluate().positions();
      parallelFor(rest_.size(), 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
          compare(rest_[t], character_.mesh.triangles[t], positions, time, squeeze_[t]);
      });
    }
    average();
    return {};
  }

  std::vector<WrinkleProposal> propose() {
    std::vector<Candidate> candidates;
    std::vector<std::uint32_t> order(rest_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mean_[a] > mean_[b]; });
    std::vector<std::uint8_t> taken(rest_.size(), 0);
    for (const std::uint32_t seed : order) {
      if (mean_[seed] < desc_.least_squeeze) break;
      if (taken[seed] != 0 || rest_[seed].area == 0) continue;
      const std::vector<std::uint32_t> region = regionOf(seed, taken);
      for (const std::uint32_t t : region) taken[t] = 1;
      if (region.size() < 4) continue;
      Candidate candidate = toolFor(seed, region);
      if (candidate.proposal.squeeze > desc_.least_squeeze / 4)
        candidates.push_back(std::move(candidate));
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.proposal.lost_area_m2 > b.proposal.lost_area_m2;
    });
    std::vector<WrinkleProposal> out = bestApart(std::move(candidates));
    name(out);
    return out;
  }

 private:
  /// Squeeze of each triangle with its neighbours', by area: single bad triangles count little.
  void average() {
    mean_.assign(rest_.size(), 0);
    for (std::size_t t = 0; t < rest_.size(); ++t) {
      double sum = 0, area = 0;
      for (const std::uint32_t p : places_[t])
        for (const std::uint32_t n : around_[p]) {
          sum += rest_[n].area * (1 - squeeze_[n].least_stretch);
          area += rest_[n].area;
        }
      if (area > 0) mean_[t] = sum / area;
    }
  }

  /// The triangles that can be reached from `seed` over corners, through those that belong.
  template <class Belongs>
  std::vector<std::uint32_t> connected(std::uint32_t seed, const Belongs& belongs) const {
    std::vector<std::uint32_t> open = {seed}, out;
    std::vector<std::uint8_t> seen(rest_.size(), 0);
    seen[seed] = 1;
    while (!open.empty()) {
      const std::uint32_t t = open.back();
      open.pop_back();
      out.push_back(t);
      for (const std::uint32_t p : places_[t])
        for (const std::uint32_t n : around_[p]) {
          if (seen[n] != 0 || rest_[n].area == 0) continue;
          seen[n] = 1;
          if (belongs(n)) open.push_back(n);
        }
    }
    return out;
  }

  std::vector<std::uint32_t> regionOf(std::uint32_t seed,
                                      std::span<const std::uint8_t> taken) const {
    std::vector<std::uint32_t> out = connected(seed, [&](std::uint32_t t) {
      const bool same =
          std::abs(squeeze_[t].direction.dot(squeeze_[seed].direction)) > kSameDirection;
      const bool faces = rest_[t].normal.dot(rest_[seed].normal) > kSameSide;
      return taken[t] == 0 && mean_[t] > kRegionEdge * mean_[seed] && same && faces;
    });
    std::sort(out.begin(), out.end());
    return out;
  }

  /// Of the vertices of triangles that face the way of `normal`: not one of the back, nor of what
  /// hangs in front.
  std::uint32_t nearestVertex(const Vec3d& place, const Vec3d& normal) const {
    std::uint32_t best = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < rest_.size(); ++t) {
      if (rest_[t].area == 0 || rest_[t].normal.dot(normal) < kSameSide) continue;
      for (const std::uint32_t v : character_.mesh.triangles[t]) {
        const double d = (position(v) - place).squaredNorm();
        if (d > distance || (d == distance && v >= best)) continue;
        distance = d;
        best = v;
      }
    }
    return best;
  }

  /// The region's extent along an axis through the origin, less its outliers: from and to.
  std::pair<double, double> extent(std::span<const std::uint32_t> region, const Vec3d& axis) const {
    std::vector<std::pair<double, double>> lost;  // where, how much
    double total = 0;
    for (const std::uint32_t t : region) {
      lost.emplace_back(rest_[t].centre.dot(axis), rest_[t].area * mean_[t]);
      total += lost.back().second;
    }
    std::sort(lost.begin(), lost.end());
    const auto reach = [&](auto from, auto to) {
      double left_out = 0;
      for (; from + 1 != to; ++from)
        if ((left_out += from->second) > kOutliers * total) break;
      return from->first;
    };
    return {reach(lost.begin(), lost.end()), reach(lost.rbegin(), lost.rend())};
  }

  Candidate toolFor(std::uint32_t seed, std::span<const std::uint32_t> region) const {
    const Vec3d along = squeeze_[seed].direction;
    const Vec3d across = along.cross(rest_[seed].normal);
    // The middle: where most is lost.
    Vec3d middle = Vec3d::Zero();
    double weight = 0, edge = 0;
    for (const std::uint32_t t : region) {
      middle += rest_[t].area * mean_[t] * rest_[t].centre;
      weight += rest_[t].area * mean_[t];
      edge += std::sqrt(rest_[t].area) / static_cast<double>(region.size());
    }
    middle /= weight;
    const auto [back, front] = extent(region, along);
    const auto [left, right] = extent(region, across);
    middle += ((back + front) / 2 - middle.dot(along)) * along;
    middle += ((left + right) / 2 - middle.dot(across)) * across;
    // A triangle's centre lies some way inside of its border.
    const double half_length = std::max((front - back + edge) / 2, 2 * edge);
    const double half_width = std::max((right - left + edge) / 2, 2 * edge);
    Candidate found;
    WrinkleProposal& out = found.proposal;
    const std::uint32_t a = nearestVertex(middle - half_length * along, rest_[seed].normal);
    const std::uint32_t b = nearestVertex(middle + half_length * along, rest_[seed].normal);
    out.time_s = squeeze_[seed].time_s;
    const double length = (position(a) - position(b)).norm();
    if (!(length > 0)) return found;
    out.squeeze = 1 - lengthAt(a, b, out.time_s) / length;
    out.tool.path = {{.vertex = std::nullopt, .place = position(a)},
                     {.vertex = std::nullopt, .place = position(b)}};
    out.tool.width_m = 2 * half_width;
    found.skin = skinUnder(seed, middle, half_length * along, half_width * across.normalized());
    // About a bump per two edges once the surface is cut in two, with slopes of 45 degrees at most.
    const int bumps = std::clamp(static_cast<int>(std::lround(length / (1.5 * edge))), 1, 6);
    out.tool.curve.points = std::max(5, 3 * bumps);
    showable(found.skin, (position(b) - position(a)) / length, length, out.tool);
    out.tool.curve.h_max = 0.8 * length / (out.tool.curve.points - 1);
    out.lost_area_m2 = std::max(0.0, out.squeeze) * length * out.tool.width_m;
    out.joint = nearestJoint(middle);
    return found;
  }

  /// Cuts once more where long triangles would skip folds, or else takes fewer points.
  void showable(std::span<const std::uint32_t> skin, const Vec3d& along, double length,
                WrinkleToolDesc& tool) const {
    double longest = 0;
    for (const std::uint32_t t : skin) {
      const Triangle& corners = character_.mesh.triangles[t];
      const auto [low, high] =
          std::minmax({position(corners[0]).dot(along), position(corners[1]).dot(along),
                       position(corners[2]).dot(along)});
      longest = std::max(longest, high - low);
    }
    const auto most_points = [&] {  // a cut triangle is at most two segments long
      return 1 + static_cast<int>(2 * length / std::ldexp(longest, -tool.subdivide));
    };
    if (!(longest > 0) || tool.curve.points <= most_points()) return;
    ++tool.subdivide;
    tool.curve.points = std::clamp(most_points(), 5, tool.curve.points);
  }

  /// What the tool's rectangle touches: triangles that face the same way and hang together.
  std::vector<std::uint32_t> skinUnder(std::uint32_t seed, const Vec3d& middle, const Vec3d& along,
                                       const Vec3d& across) const {
    return connected(seed, [&](std::uint32_t t) {
      if (rest_[t].normal.dot(rest_[seed].normal) <= 0) return false;
      for (const std::uint32_t v : character_.mesh.triangles[t]) {
        const Vec3d d = position(v) - middle;
        if (std::abs(d.dot(along)) <= along.squaredNorm() &&
            std::abs(d.dot(across)) <= across.squaredNorm())
          return true;
      }
      return false;
    });
  }

  /// The best first, without those that lose little and those that lie over a better one.
  std::vector<WrinkleProposal> bestApart(std::vector<Candidate> candidates) const {
    std::vector<WrinkleProposal> out;
    std::vector<double> areas;
    std::vector<std::vector<std::size_t>> covered_by(rest_.size());
    for (Candidate& c : candidates) {
      if (out.size() == desc_.most) break;
      if (c.proposal.lost_area_m2 < kLeastArea * candidates.front().proposal.lost_area_m2) break;
      double area = 0;
      std::vector<double> shared(out.size(), 0);
      for (const std::uint32_t t : c.skin) {
        area += rest_[t].area;
        for (const std::size_t other : covered_by[t]) shared[other] += rest_[t].area;
      }
      bool apart = true;
      for (std::size_t i = 0; i < shared.size(); ++i)
        apart = apart && shared[i] <= kMostShared * std::min(area, areas[i]);
      if (!apart) continue;
      for (const std::uint32_t t : c.skin) covered_by[t].push_back(out.size());
      areas.push_back(area);
      out.push_back(std::move(c.proposal));
    }
    return out;
  }

  Vec3d position(std::uint32_t v) const { return character_.mesh.positions[v].cast<double>(); }

  double lengthAt(std::uint32_t a, std::uint32_t b, double time_s) const {
    Pose pose = character_.restPose();
    sampleClip(clip_, static_cast<float>(time_s), pose);
    std::vector<Affine3d> model(character_.skeleton.size());
    std::vector<Affine3f> palette(character_.skin.slots.size());
    localToModel(character_.skeleton, pose.local, model);
    skinningMatrices(character_.skin, model, palette);
    const auto at = [&](std::uint32_t v) {
      Vec3d sum = Vec3d::Zero();
      for (const Influence& i : character_.skin[v])
        sum += static_cast<double>(i.weight) * (palette[i.slot].cast<double>() * position(v));
      return sum;
    };
    return (at(a) - at(b)).norm();
  }

  std::string nearestJoint(const Vec3d& place) const {
    std::string out;
    double best = std::numeric_limits<double>::infinity();
    for (const SkinSlot& slot : character_.skin.slots) {
      const Vec3d joint = slot.inverse_bind.cast<double>().inverse().translation();
      if ((joint - place).norm() >= best) continue;
      best = (joint - place).norm();
      out = character_.skeleton[slot.joint].name;
    }
    return out;
  }

  static void name(std::vector<WrinkleProposal>& proposals) {
    std::map<std::string, int> used;
    for (WrinkleProposal& p : proposals) {
      // A recipe may hold flesh that is named after the same joint.
      const std::string base = p.joint.empty() ? "folds" : p.joint + " folds";
      const int n = ++used[base];
      p.tool.name = n == 1 ? base : base + " " + std::to_string(n);
    }
  }

  const Character& character_;
  const Clip& clip_;
  WrinkleProposalDesc desc_;
  std::vector<RestTriangle> rest_;
  std::vector<Triangle> places_;
  IndexLists around_;
  std::vector<Squeeze> squeeze_;
  std::vector<double> mean_;
};

}  // namespace

Result<std::vector<WrinkleProposal>> proposeWrinkles(const Character& character, const Clip& clip,
                                                     const WrinkleProposalDesc& desc,
                                                     const Progress& progress) {
  const auto bad = [](const char* key, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = key}};
  };
  if (!(desc.least_squeeze > 0 && desc.least_squeeze < 1))
    return bad("least_squeeze", "must be between 0 and 1");
  if (desc.most < 1 || desc.most > 64) return bad("most", "must be 1 to 64");
  if (!(desc.samples_per_s > 0 && desc.samples_per_s <= 1000))
    return bad("samples_per_s", "must be above 0, at most 1000");
  DERM_CHECK(validate(character));
  if (character.skin.empty())
    return Error{ErrorCode::BadData, "has no skin: nothing is squeezed", {.file = character.name}};
  Proposer proposer(character, clip, desc);
  DERM_CHECK(proposer.measure(progress));
  return proposer.propose();
}

}  // namespace derm
