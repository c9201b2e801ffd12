#include "derm/deform/wrinkle_proposal.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

#include "deform/skin_squeeze.h"

namespace derm {
namespace {

using detail::RestTriangle;
using detail::Squeeze;

constexpr std::size_t kMaxSamples = 2000;
/// A region goes on down to this share of the squeeze in its middle: the crease, not the limb.
constexpr double kRegionEdge = 0.5;
/// Cosine between directions of one region, and between its normals and the middle's.
constexpr double kSameDirection = 0.75;
constexpr double kSameSide = 0.4;
/// Of the best proposal's lost area: what loses less is not worth a tool.
constexpr double kMinArea = 0.05;
/// Of a region's lost area, left out at either end of its length and width: a few triangles far out
/// do not stretch the tool over half of the body.
constexpr double kOutliers = 0.05;
/// Bumps of a tool: soft rolls, not pleats.
constexpr int kMinBumps = 2, kMaxBumps = 6;
/// A bump is full at this share of a segment: beyond it folds are steep.
constexpr double kFullBump = 0.6;
/// Of its rest length, what a tool's full bumps may fail to hold where a crease closes; else its
/// stroke is made longer, this much and so often.
constexpr double kMaxRefused = 0.01;
constexpr double kLonger = 1.4;
constexpr int kLengthenings = 4;
/// Candidates that are tried out, per tool that is wanted: some will lie over a better one.
constexpr std::size_t kTried = 3;
/// Of the skin's area: what follows a joint and all below it by this much is a limb.
constexpr double kLimb = 0.015;
/// Cuts that long triangles may ask for beyond a tool's own.
constexpr int kMoreCuts = 2;
/// The mirror image of a seed is a triangle within so many of its edges that faces its way.
constexpr double kMirrorReach = 1.5, kMirrorFaces = 0.7;
/// Two tools share at most this much of the smaller one's skin: both would give back the same
/// length, one fold on top of the other.
constexpr double kMaxShared = 0.25;

/// A rectangle on the skin: what a region of squeezed triangles asks for.
struct Strip {
  std::uint32_t seed = 0;
  Vec3d middle = Vec3d::Zero();
  Vec3d along, across;  ///< unit vectors
  double half_length = 0, half_width = 0;
  double edge = 0;  ///< [m] of the region's triangles
};

struct Candidate {
  WrinkleProposal proposal;
  Strip strip;
  std::uint32_t from = 0, to = 0;   ///< vertices
  std::vector<std::uint32_t> skin;  ///< triangles under the tool
};

class WrinkleProposer {
 public:
  WrinkleProposer(const Character& character, const Clip& clip, const WrinkleProposalDesc& desc)
      : character_(character),
        clip_(clip),
        desc_(desc),
        rest_(detail::restTriangles(character.mesh)),
        welded_(mapped(character.mesh.triangles, weldMap(character.mesh.positions))),
        around_(vertexTriangles(welded_, character.mesh.vertexCount())),
        pieces_(connectedPieces(welded_, character.mesh.vertexCount())),
        squeeze_(rest_.size()) {
    findLimbs();
    Vec3d sum = Vec3d::Zero();
    double area = 0;
    for (const RestTriangle& t : rest_) {
      sum += t.area * t.centre;
      area += t.area;
    }
    if (area > 0) mirror_x_ = sum.x() / area;
  }

  Result<void> measure(const Progress& progress) {
    Diagnostics said_already;
    const std::shared_ptr<const Character> shared(&character_, [](const Character*) {});
    DERM_TRY(const std::shared_ptr<const Stack> stack,
             Stack::bind(shared, std::array{morphLayer(), skinningLayer({})}, said_already));
    StackRunner runner(stack);
    DERM_CHECK(play(runner, progress, "measuring", [&](double time, const SkinFrame& frame) {
      const std::span<const Vec3f> positions = frame.positions();
      parallelFor(rest_.size(), 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
          detail::compare(rest_[t], character_.mesh.triangles[t], positions, time, squeeze_[t]);
      });
    }));
    average();
    return {};
  }

  Result<std::vector<WrinkleProposal>> propose(const Progress& progress) {
    std::vector<Candidate> candidates;
    std::vector<std::uint32_t> order(rest_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return mean_[a] > mean_[b]; });
    std::vector<std::uint8_t> taken(rest_.size(), 0);
    for (const std::uint32_t seed : order) {
      if (mean_[seed] < desc_.min_squeeze) break;
      if (taken[seed] != 0 || rest_[seed].area == 0) continue;
      const std::vector<std::uint32_t> region = regionOf(seed, taken);
      for (const std::uint32_t t : region) taken[t] = 1;
      if (region.size() < 4) continue;
      Candidate candidate = toolAt(straightened(stripOver(seed, region)));
      if (candidate.proposal.squeeze >= desc_.min_squeeze && staysOnOneLimb(candidate))
        candidates.push_back(std::move(candidate));
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.proposal.lost_area_m2 > b.proposal.lost_area_m2;
    });
    if (candidates.size() > kTried * desc_.max_tools) candidates.resize(kTried * desc_.max_tools);
    DERM_CHECK(makeRoom(candidates, progress));
    std::erase_if(candidates,
                  [&](const Candidate& c) { return c.proposal.squeeze > desc_.max_squeeze; });
    std::vector<WrinkleProposal> out;
    for (Candidate& c : bestApart(std::move(candidates))) out.push_back(std::move(c.proposal));
    name(out);
    return out;
  }

 private:
  /// Goes through the clip: look(time, frame).
  template <class Look>
  Result<void> play(StackRunner& runner, const Progress& progress, std::string_view stage,
                    const Look& look) const {
    const double length = clip_.duration_s();
    // Clamped before they are whole numbers: what does not fit into one is undefined.
    const auto samples = static_cast<std::size_t>(
        std::clamp(std::ceil(length * desc_.samples_per_s), 1.0, static_cast<double>(kMaxSamples)));
    Pose pose = character_.restPose();
    for (std::size_t i = 0; i <= samples; ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(samples);
      if (!keepGoing(progress, done, stage))
        return Error{ErrorCode::Cancelled, "cancelled", {.element = clip_.name}};
      const double time = length * done;
      sampleClip(clip_, static_cast<float>(time), pose);
      runner.setPose(pose, time);
      look(time, runner.evaluate());
    }
    return {};
  }

  /// Squeeze of each triangle with its neighbours', by area: single bad triangles count little.
  void average() {
    mean_.assign(rest_.size(), 0);
    for (std::size_t t = 0; t < rest_.size(); ++t) {
      double sum = 0, area = 0;
      for (const std::uint32_t p : welded_[t])
        for (const std::uint32_t n : around_[p]) {
          sum += rest_[n].area * (1 - squeeze_[n].min_stretch);
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
      for (const std::uint32_t p : welded_[t])
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

  std::uint32_t pieceOf(std::size_t triangle) const {
    return pieces_.of_vertex[welded_[triangle][0]];
  }

  /// Of the vertices of triangles that face the seed's way and hang together with it: not one of
  /// the back, nor of the clothes over it.
  std::uint32_t nearestVertex(const Vec3d& point, std::uint32_t seed) const {
    std::uint32_t best = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < rest_.size(); ++t) {
      if (rest_[t].area == 0 || rest_[t].normal.dot(rest_[seed].normal) < kSameSide) continue;
      if (pieceOf(t) != pieceOf(seed)) continue;
      for (const std::uint32_t v : character_.mesh.triangles[t]) {
        const double d = (position(v) - point).squaredNorm();
        if (d > distance || (d == distance && v >= best)) continue;
        distance = d;
        best = v;
      }
    }
    return best;
  }

  /// The region's extent along an axis through the origin, without its outliers: from and to.
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

  Strip stripOver(std::uint32_t seed, std::span<const std::uint32_t> region) const {
    const Vec3d along = squeeze_[seed].direction;
    const Vec3d across = along.cross(rest_[seed].normal).normalized();
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
    return {seed, middle, along, across, half_length, half_width, edge};
  }

  Candidate toolAt(const Strip& strip) const {
    Candidate found;
    found.strip = strip;
    WrinkleProposal& out = found.proposal;
    const Vec3d reach = strip.half_length * strip.along;
    const std::uint32_t a = nearestVertex(strip.middle - reach, strip.seed);
    const std::uint32_t b = nearestVertex(strip.middle + reach, strip.seed);
    out.time_s = squeeze_[strip.seed].time_s;
    const double length = (position(a) - position(b)).norm();
    if (!(length > 0)) return found;
    out.squeeze = 1 - lengthAt(a, b, out.time_s) / length;
    out.tool.path = {{.vertex = std::nullopt, .position = position(a)},
                     {.vertex = std::nullopt, .position = position(b)}};
    out.tool.width_m = 2 * strip.half_width;
    found.from = a;
    found.to = b;
    found.skin = skinUnder(strip.seed, strip.middle, reach, strip.half_width * strip.across);
    // Rolls side by side, each over two of the surface's own triangles, where the skin is lost.
    FoldCurveDesc& curve = out.tool.curve;
    const auto bumps = static_cast<int>(
        std::lround(std::clamp(length / (3 * strip.edge), double{kMinBumps}, double{kMaxBumps})));
    curve.propagation = FoldPropagation::Squeezed;
    curve.profile = FoldProfile::Round;
    curve.spacing = 0;
    curve.points = 2 * bumps + 1;
    showable(found.skin, (position(b) - position(a)) / length, length, out.tool);
    curve.h_max = kFullBump * length / (curve.points - 1);
    out.lost_area_m2 = std::max(0.0, out.squeeze) * length * out.tool.width_m;
    out.joint = jointUnder(found.skin);
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
    const auto max_points = [&] {  // a cut triangle is at most two segments long
      const double segments = 2 * length / std::ldexp(longest, -tool.subdivide);
      return 1 + static_cast<int>(std::min(segments, double{FoldCurveDesc::kMaxPoints}));
    };
    if (!(longest > 0)) return;
    for (int more = 0; more < kMoreCuts && tool.curve.points > max_points(); ++more)
      ++tool.subdivide;
    if (tool.curve.points <= max_points()) return;
    tool.curve.points = std::clamp(max_points(), 5, tool.curve.points);
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

  double areaOf(std::span<const std::uint32_t> skin) const {
    double area = 0;
    for (const std::uint32_t t : skin) area += rest_[t].area;
    return area;
  }

  /// Whether two tools have little skin in common.
  bool apart(const Candidate& a, const Candidate& b) const {
    std::vector<std::uint32_t> first = a.skin, second = b.skin, both;
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                          std::back_inserter(both));
    return areaOf(both) <= kMaxShared * std::min(areaOf(first), areaOf(second));
  }

  /// The best first and in mirrored pairs, without those that lose little and those that lie over a
  /// better one.
  std::vector<Candidate> bestApart(std::vector<Candidate> candidates) const {
    std::vector<Candidate> out;
    if (candidates.empty()) return out;
    const double min_area = kMinArea * candidates.front().proposal.lost_area_m2;
    const auto is_free = [&](const Candidate& c) {
      return std::all_of(out.begin(), out.end(), [&](const Candidate& o) { return apart(c, o); });
    };
    for (Candidate& c : candidates) {
      if (out.size() == desc_.max_tools || c.proposal.lost_area_m2 < min_area) break;
      if (!is_free(c)) continue;
      std::optional<Candidate> twin = twinOf(c);
      if (twin && !is_free(*twin)) continue;  // half of a pair beside another tool
      if (twin && out.size() + 2 > desc_.max_tools && desc_.max_tools > 1) continue;
      out.push_back(std::move(c));
      if (twin && out.size() < desc_.max_tools) out.push_back(std::move(*twin));
    }
    return out;
  }

  /// Plays the clip with these tools; per tool the share of its rest length that full bumps could
  /// not hold while crests met.
  Result<std::vector<double>> refused(std::span<const Candidate> tools,
                                      const Progress& progress) const {
    std::vector<double> worst(tools.size(), 0);
    WrinklesDesc layer;
    for (const Candidate& c : tools) {
      WrinkleToolDesc& tool = layer.tools.emplace_back(c.proposal.tool);
      tool.curve.saturation = FoldSaturation::Clamp;
      tool.subdivide = 0;  // lengths are those of the surface before it is cut
    }
    Diagnostics said_later;
    const std::shared_ptr<const Character> shared(&character_, [](const Character*) {});
    DERM_TRY(const std::shared_ptr<const Stack> stack,
             Stack::bind(shared, std::array{morphLayer(), skinningLayer({}), wrinklesLayer(layer)},
                         said_later));
    StackRunner runner(stack);
    const WrinklesLayer& folds = *runner.find<WrinklesLayer>(layer.name);
    DERM_CHECK(play(runner, progress, "making room", [&](double, const SkinFrame&) {
      for (std::size_t i = 0; i < worst.size(); ++i) {
        const WrinkleToolState& state = folds.tool(i);
        if (state.held_back > 0)
          worst[i] = std::max(worst[i], state.fold.missing / state.rest_length_m);
      }
    }));
    return worst;
  }

  /// Lengthens strokes whose crests meet, and keeps the length that holds most: skin beside a
  /// crease has room to rise.
  Result<void> makeRoom(std::vector<Candidate>& best, const Progress& progress) const {
    if (best.empty()) return {};
    DERM_TRY(std::vector<double> smallest, refused(best, progress));
    std::vector<Candidate> longer = best;
    for (int round = 0; round < kLengthenings; ++round) {
      bool any = false;
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (smallest[i] <= kMaxRefused) continue;
        Strip strip = longer[i].strip;
        strip.half_length *= kLonger;
        Candidate trial = toolAt(strip);
        if (trial.proposal.squeeze < desc_.min_squeeze) continue;
        trial.proposal.lost_area_m2 = best[i].proposal.lost_area_m2;  // no more skin is squeezed
        longer[i] = std::move(trial);
        any = true;
      }
      if (!any) break;
      DERM_TRY(const std::vector<double> now, refused(longer, progress));
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (!(now[i] < smallest[i])) continue;
        best[i] = longer[i];
        smallest[i] = now[i];
      }
    }
    return {};
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
      const Vec3d rest = position(v) + morphed(v, pose.morph_weights);
      Vec3d sum = Vec3d::Zero();
      for (const Influence& i : character_.skin[v])
        sum += static_cast<double>(i.weight) * (palette[i.slot].cast<double>() * rest);
      return sum;
    };
    return (at(a) - at(b)).norm();
  }

  /// By how much morph targets move a vertex.
  Vec3d morphed(std::uint32_t v, std::span<const float> weights) const {
    Vec3d sum = Vec3d::Zero();
    for (std::size_t m = 0; m < character_.morphs.size(); ++m) {
      const MorphTarget& target = character_.morphs[m];
      const auto found = std::lower_bound(target.vertices.begin(), target.vertices.end(), v);
      if (weights[m] == 0 || found == target.vertices.end() || *found != v) continue;
      const auto i = static_cast<std::size_t>(found - target.vertices.begin());
      sum += static_cast<double>(weights[m]) * target.positions[i].cast<double>();
    }
    return sum;
  }

  /// The joint that most of the skin under a tool follows: not that of a weapon held before it.
  std::string jointUnder(std::span<const std::uint32_t> skin) const {
    std::map<std::uint32_t, double> shares;
    for (const std::uint32_t t : skin)
      for (const std::uint32_t v : character_.mesh.triangles[t])
        for (const Influence& i : character_.skin[v])
          shares[character_.skin.slots[i.slot].joint.index()] += rest_[t].area * double{i.weight};
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](auto& x, auto& y) { return x.second < y.second; });
    return most == shares.end() ? std::string() : character_.skeleton.joints[most->first].name;
  }

  /// Per joint whether enough skin follows it, or a joint below it, to call it a limb.
  void findLimbs() {
    std::vector<double> areas(character_.skeleton.size(), 0.0);
    double all = 0;
    for (std::size_t t = 0; t < rest_.size(); ++t)
      for (const std::uint32_t v : character_.mesh.triangles[t]) {
        all += rest_[t].area / 3;
        for (const Influence& i : character_.skin[v])
          areas[character_.skin.slots[i.slot].joint.index()] +=
              rest_[t].area / 3 * double{i.weight};
      }
    for (std::size_t j = areas.size(); j-- > 0;)  // children come after their parents
      if (const JointId up = character_.skeleton.joints[j].parent; up.valid())
        areas[up.index()] += areas[j];
    is_limb_.resize(areas.size());
    for (std::size_t j = 0; j < areas.size(); ++j) is_limb_[j] = areas[j] >= kLimb * all;
  }

  /// The joints from the one that a vertex follows most up to the root.
  std::vector<std::uint32_t> ancestry(std::uint32_t vertex) const {
    std::vector<std::uint32_t> out;
    const auto row = character_.skin[vertex];
    if (row.empty()) return out;
    for (JointId j = character_.skin.slots[row.front().slot].joint; j.valid();
         j = character_.skeleton[j].parent)
      out.push_back(j.index());
    std::reverse(out.begin(), out.end());
    return out;
  }

  /// False where the stroke begins on one limb and ends on another that does not hang on it: from
  /// thigh to thigh, from neck to shoulder.
  bool staysOnOneLimb(const Candidate& c) const {
    const std::vector<std::uint32_t> a = ancestry(c.from), b = ancestry(c.to);
    std::size_t k = 0;
    while (k < a.size() && k < b.size() && a[k] == b[k]) ++k;
    return k == 0 || k == a.size() || k == b.size() || !is_limb_[a[k]] || !is_limb_[b[k]];
  }

  Vec3d mirrored(Vec3d p) const {
    p.x() = 2 * mirror_x_ - p.x();
    return p;
  }

  /// Folds that cross the middle of the body lie straight over it.
  Strip straightened(Strip strip) const {
    const double off = std::abs(strip.middle.x() - mirror_x_);
    const double reach = strip.half_length * std::abs(strip.along.x()) +
                         strip.half_width * std::abs(strip.across.x());
    if (off > 0.5 * reach || !mirrorOf(strip)) return strip;
    const Vec3d normal = rest_[strip.seed].normal;
    Vec3d along = strip.along;
    if (std::abs(along.x()) < 0.7)
      along.x() = 0;
    else
      along = Vec3d::UnitX();
    const Vec3d across = along.cross(normal);
    if (!(along.norm() > 0.1 && across.norm() > 0.1)) return strip;
    strip.along = along.normalized();
    strip.across = across.normalized();
    strip.middle.x() = mirror_x_;
    return strip;
  }

  /// The same strip on the other side, where the skin has one.
  std::optional<Strip> mirrorOf(const Strip& strip) const {
    const Vec3d centre = mirrored(rest_[strip.seed].centre);
    Vec3d normal = rest_[strip.seed].normal;
    normal.x() = -normal.x();
    double best = kMirrorReach * strip.edge;
    std::optional<std::uint32_t> seed;
    for (std::uint32_t t = 0; t < rest_.size(); ++t) {
      const double d = (rest_[t].centre - centre).norm();
      if (!(d < best) || rest_[t].area == 0 || rest_[t].normal.dot(normal) < kMirrorFaces) continue;
      best = d;
      seed = t;
    }
    if (!seed) return std::nullopt;
    Strip out = strip;
    out.seed = *seed;
    out.middle = mirrored(strip.middle);
    out.along.x() = -strip.along.x();
    out.across.x() = -strip.across.x();
    return out;
  }

  /// The tool's mirror image; nothing where the skin has no other side, or it is the tool itself.
  /// It folds when its own skin is squeezed, in this clip or in another.
  std::optional<Candidate> twinOf(const Candidate& c) const {
    const std::optional<Strip> strip = mirrorOf(c.strip);
    if (!strip) return std::nullopt;
    Candidate twin = toolAt(*strip);
    if (twin.skin.empty() || !apart(c, twin)) return std::nullopt;
    twin.proposal.tool.curve = c.proposal.tool.curve;
    twin.proposal.tool.subdivide = c.proposal.tool.subdivide;
    twin.proposal.squeeze = std::max(0.0, twin.proposal.squeeze);
    if (twin.proposal.squeeze < desc_.min_squeeze) twin.proposal.time_s = c.proposal.time_s;
    return twin;
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
  std::vector<Triangle> welded_;
  IndexLists around_;
  Pieces pieces_;
  std::vector<Squeeze> squeeze_;
  std::vector<double> mean_;
  std::vector<std::uint8_t> is_limb_;  ///< per joint
  double mirror_x_ = 0;                ///< [m] of the plane between left and right
};

}  // namespace

Result<std::vector<WrinkleProposal>> proposeWrinkles(const Character& character, const Clip& clip,
                                                     const WrinkleProposalDesc& desc,
                                                     const Progress& progress) {
  const auto bad = [](const char* key, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = key}};
  };
  if (!(desc.min_squeeze > 0 && desc.min_squeeze < 1))
    return bad("min_squeeze", "must be between 0 and 1");
  if (!(desc.max_squeeze > desc.min_squeeze && desc.max_squeeze <= 1))
    return bad("max_squeeze", "must be above min_squeeze, at most 1");
  if (desc.max_tools < 1 || desc.max_tools > 64) return bad("max_tools", "must be 1 to 64");
  if (!(desc.samples_per_s > 0 && desc.samples_per_s <= 1000))
    return bad("samples_per_s", "must be above 0, at most 1000");
  DERM_CHECK(validate(character));
  if (character.skin.empty())
    return Error{ErrorCode::BadData, "has no skin: nothing is squeezed", {.file = character.name}};
  WrinkleProposer proposer(character, clip, desc);
  DERM_CHECK(proposer.measure(progress));
  return proposer.propose(progress);
}

}  // namespace derm
