#include "derm/mesh/local_refinement.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "derm/base/assert.h"
#include "derm/mesh/adjacency.h"

#include "mesh/refinement_rules.h"

namespace derm {
namespace {

using detail::kNone;
using detail::Net;

/// One level of a refinement at work. Level 0 is the surface itself.
struct LevelNet {
  Net net;
  std::vector<std::uint32_t> base;  ///< per triangle the surface's
  std::vector<Triangle> corners;    ///< as vertices
  /// Per edge the welded vertex of its middle; kNone = not cut.
  std::vector<std::uint32_t> middles;
};

class Refiner {
 public:
  Refiner(LevelNet surface, std::size_t vertex_count, std::span<const std::uint32_t> weld,
          std::span<const std::uint8_t> levels, std::vector<std::vector<std::uint8_t>> regions)
      : vertex_count_(static_cast<std::uint32_t>(vertex_count)),
        welded_count_(vertex_count),
        weld_(weld),
        levels_(levels),
        regions_(std::move(regions)) {
    nets_.push_back(std::move(surface));
  }

  LocalRefinement run(std::span<const std::uint8_t> touched) {
    for (std::size_t depth = 0; depth <= regions_.size(); ++depth) {
      markDeepEdges(depth);
      emitLeaves(depth, touched);
      if (depth < regions_.size()) cut(depth);
    }
    keepUsedVertices();
    makeStencils();
    for (std::uint32_t t = 0; t < touched.size(); ++t)
      if (touched[t] != 0) out_.replaced.push_back(t);
    return std::move(out_);
  }

 private:
  /// An edge is cut once more where a triangle on it goes deeper than this level.
  void markDeepEdges(std::size_t depth) {
    LevelNet& level = nets_[depth];
    level.middles.assign(level.net.edge.size(), kNone);
    deep_.assign(level.net.edge.size(), 0);
    middle_vertices_.clear();
    for (std::size_t t = 0; t < level.base.size(); ++t)
      for (const std::uint32_t e : level.net.edges[t])
        if (e != kNone && levels_[level.base[t]] > depth) deep_[e] = 1;
  }

  std::uint32_t middleOfEdge(LevelNet& level, std::uint32_t edge) {
    std::uint32_t& welded = level.middles[edge];
    if (welded == kNone) {
      welded = static_cast<std::uint32_t>(welded_count_++);
      edge_of_welded_.push_back(edge);
      depth_of_welded_.push_back(static_cast<std::uint8_t>(&level - nets_.data()));
    }
    return welded;
  }

  /// The vertex in the middle of side i of a triangle; both sides of a seam have one each.
  std::uint32_t middleVertex(LevelNet& level, std::size_t triangle, int i) {
    const std::uint32_t a = level.corners[triangle][i];
    const std::uint32_t b = level.corners[triangle][(i + 1) % 3];
    const std::uint32_t welded = middleOfEdge(level, level.net.edges[triangle][i]);
    const auto next = static_cast<std::uint32_t>(vertex_count_ + out_.vertices.size());
    const auto [at, added] = middle_vertices_.try_emplace(detail::edgeKey(a, b), next);
    if (added) out_.vertices.push_back({std::min(a, b), std::max(a, b), welded});
    return at->second;
  }

  void emit(std::uint32_t source, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    out_.triangles.push_back({a, b, c});
    out_.sources.push_back(source);
  }

  void emitLeaves(std::size_t depth, std::span<const std::uint8_t> touched) {
    LevelNet& level = nets_[depth];
    for (std::size_t t = 0; t < level.base.size(); ++t) {
      const std::uint32_t source = level.base[t];
      if (levels_[source] != depth || touched[source] == 0) continue;
      if (detail::degenerate(level.net.welded[t])) continue;  // no area: its sides already meet
      std::array<std::uint32_t, 3> middle = {kNone, kNone, kNone};
      int cuts = 0;
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t e = level.net.edges[t][i];
        if (e == kNone || deep_[e] == 0) continue;
        middle[i] = middleVertex(level, t, i);
        ++cuts;
      }
      emitCut(source, level.corners[t], middle, cuts);
    }
  }

  void emitCut(std::uint32_t source, const Triangle& v, const std::array<std::uint32_t, 3>& m,
               int cuts) {
    if (cuts == 0) {
      emit(source, v[0], v[1], v[2]);
    } else if (cuts == 1) {
      const int i = m[0] != kNone ? 0 : m[1] != kNone ? 1 : 2;
      emit(source, v[i], m[i], v[(i + 2) % 3]);
      emit(source, m[i], v[(i + 1) % 3], v[(i + 2) % 3]);
    } else if (cuts == 2) {
      const int whole = m[0] == kNone ? 0 : m[1] == kNone ? 1 : 2;
      const int next = (whole + 1) % 3;
      const int last = (whole + 2) % 3;
      emit(source, m[next], v[last], m[last]);
      emit(source, v[whole], v[next], m[next]);
      emit(source, v[whole], m[next], m[last]);
    } else {
      for (int i = 0; i < 3; ++i) emit(source, v[i], m[i], m[(i + 2) % 3]);
      emit(source, m[0], m[1], m[2]);
    }
  }

  /// The next level: every triangle of the region in four.
  void cut(std::size_t depth) {
    LevelNet& level = nets_[depth];
    LevelNet finer;
    std::vector<Triangle> welded;
    std::vector<std::uint64_t> creases;
    for (std::size_t t = 0; t < level.base.size(); ++t) {
      const Triangle& p = level.net.welded[t];
      if (regions_[depth][level.base[t]] == 0 || detail::degenerate(p)) continue;
      Triangle m_welded, m;
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t e = level.net.edges[t][i];
        m_welded[i] = middleOfEdge(level, e);
        m[i] = middleVertex(level, t, i);
        if (!level.net.edge[e].sharp) continue;
        creases.push_back(detail::edgeKey(p[i], m_welded[i]));
        creases.push_back(detail::edgeKey(m_welded[i], p[(i + 1) % 3]));
      }
      const Triangle& v = level.corners[t];
      for (int i = 0; i < 3; ++i) {
        welded.push_back({p[i], m_welded[i], m_welded[(i + 2) % 3]});
        finer.corners.push_back({v[i], m[i], m[(i + 2) % 3]});
      }
      welded.push_back(m_welded);
      finer.corners.push_back(m);
      finer.base.insert(finer.base.end(), 4, level.base[t]);
    }
    std::sort(creases.begin(), creases.end());
    finer.net = detail::makeNet(std::move(welded), creases);
    nets_.push_back(std::move(finer));
  }

  /// Drops vertices that only the surroundings needed.
  void keepUsedVertices() {
    std::vector<std::uint8_t> used(out_.vertices.size(), 0);
    const auto use = [&](std::uint32_t v) {
      if (v >= vertex_count_) used[v - vertex_count_] = 1;
    };
    for (const Triangle& t : out_.triangles) std::for_each(t.begin(), t.end(), use);
    for (std::size_t i = out_.vertices.size(); i-- > 0;)
      if (used[i] != 0) {
        use(out_.vertices[i].a);
        use(out_.vertices[i].b);
      }
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; i < out_.vertices.size(); ++i)
      if (used[i] != 0) kept.push_back(i);
    renumber(kept);
  }

  /// Keeps these vertices, in this order.
  void renumber(std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> renumbered(out_.vertices.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      renumbered[order[i]] = static_cast<std::uint32_t>(vertex_count_ + i);
    const auto number = [&](std::uint32_t& v) {
      if (v >= vertex_count_) v = renumbered[v - vertex_count_];
    };
    std::vector<MiddleVertex> kept;
    for (const std::uint32_t i : order) {
      kept.push_back(out_.vertices[i]);
      number(kept.back().a);
      number(kept.back().b);
    }
    for (Triangle& t : out_.triangles) std::for_each(t.begin(), t.end(), number);
    out_.vertices = std::move(kept);
  }

  /// Vertices in the order of their slots: whoever copies them out reads memory in one go.
  void sortBySlot() {
    std::vector<std::uint32_t> order(out_.vertices.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return out_.vertices[a].slot < out_.vertices[b].slot;
    });
    renumber(order);
  }

  std::uint32_t weldedOfVertex(std::uint32_t v) const { return weld_.empty() ? v : weld_[v]; }

  /// Rules of all welded vertices that are used, finest first since they ask for coarser ones.
  void collectRules(std::vector<std::uint8_t>& wanted) {
    rules_.resize(welded_count_ - vertex_count_);
    for (std::size_t depth = regions_.size(); depth-- > 0;) {
      const detail::RefinementRules rules(nets_[depth].net, welded_count_);
      for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (depth_of_welded_[i] != depth || wanted[vertex_count_ + i] == 0) continue;
        rules_[i] = rules.middleOf(edge_of_welded_[i]);
        wanted[rules_[i].a] = wanted[rules_[i].b] = 1;
        for (const auto& [welded, weight] : rules_[i].entries) wanted[welded] = 1;
      }
    }
  }

  void makeStencils() {
    std::vector<std::uint8_t> wanted(welded_count_, 0);
    for (const MiddleVertex& v : out_.vertices) wanted[v.slot] = 1;
    for (const Triangle& t : out_.triangles)
      for (const std::uint32_t v : t)
        if (v < vertex_count_) {
          wanted[weldedOfVertex(v)] = 1;
          out_.corners.push_back({v, weldedOfVertex(v)});
        }
    collectRules(wanted);
    std::sort(out_.corners.begin(), out_.corners.end());
    out_.corners.erase(std::unique(out_.corners.begin(), out_.corners.end()), out_.corners.end());

    std::vector<std::uint32_t> slot(welded_count_, kNone);
    std::vector<std::uint32_t> sources;
    for (std::uint32_t welded = 0; welded < vertex_count_; ++welded)
      if (wanted[welded] != 0) {
        slot[welded] = static_cast<std::uint32_t>(sources.size());
        sources.push_back(welded);
      }
    std::vector<ButterflyStencils::Level> levels;
    std::vector<ButterflyStencils::Regular> regular;
    std::vector<ButterflyStencils::General> general;
    std::vector<StencilEntry> entries;
    auto next = static_cast<std::uint32_t>(sources.size());
    for (std::size_t depth = 0; depth < regions_.size(); ++depth) {
      ButterflyStencils::Level level{.first_slot = next,
                                     .first_regular = static_cast<std::uint32_t>(regular.size()),
                                     .first_general = static_cast<std::uint32_t>(general.size())};
      for (const bool regular_ones : {true, false})
        for (std::size_t i = 0; i < rules_.size(); ++i) {
          const detail::MiddleRule& r = rules_[i];
          if (depth_of_welded_[i] != depth || wanted[vertex_count_ + i] == 0) continue;
          if (r.regular != regular_ones) continue;
          slot[vertex_count_ + i] = next++;
          if (r.regular) {
            const auto at = [&](std::size_t k) { return slot[r.around[k]]; };
            regular.push_back({slot[r.a], slot[r.b], at(0), at(1), at(2), at(3), at(4), at(5)});
            continue;
          }
          general.push_back({slot[r.a], slot[r.b], static_cast<std::uint32_t>(entries.size()),
                             static_cast<std::uint32_t>(r.entries.size())});
          for (const auto& [welded, weight] : r.entries)
            entries.push_back({slot[welded], static_cast<float>(weight)});
        }
      level.regular_count = static_cast<std::uint32_t>(regular.size()) - level.first_regular;
      level.general_count = static_cast<std::uint32_t>(general.size()) - level.first_general;
      levels.push_back(level);
    }
    for (MiddleVertex& v : out_.vertices) v.slot = slot[v.slot];
    for (auto& corner : out_.corners) corner[1] = slot[corner[1]];
    sortBySlot();
    out_.stencils = ButterflyStencils(std::move(sources), std::move(levels), std::move(regular),
                                      std::move(general), std::move(entries));
  }

  std::uint32_t vertex_count_;
  std::size_t welded_count_;
  std::span<const std::uint32_t> weld_;
  std::span<const std::uint8_t> levels_;
  /// Per level which triangles are cut to make it.
  std::vector<std::vector<std::uint8_t>> regions_;
  std::vector<LevelNet> nets_;
  std::vector<std::uint8_t> deep_;
  std::unordered_map<std::uint64_t, std::uint32_t> middle_vertices_;  ///< looked up, never walked
  std::vector<std::uint32_t> edge_of_welded_;                         ///< new welded vertices only
  std::vector<std::uint8_t> depth_of_welded_;
  std::vector<detail::MiddleRule> rules_;
  LocalRefinement out_;
};

/// Those triangles of a surface that are in, with what is known of their edges: what the rules say
/// of edges whose ends have all their triangles in is what they say on the whole surface.
LevelNet partOf(const Net& net, std::span<const Triangle> corners,
                std::span<const std::uint8_t> in) {
  LevelNet out;
  std::vector<std::uint32_t> triangle_number(net.welded.size(), kNone);
  for (std::uint32_t t = 0; t < in.size(); ++t) {
    if (in[t] == 0) continue;
    triangle_number[t] = static_cast<std::uint32_t>(out.base.size());
    out.base.push_back(t);
    out.corners.push_back(corners[t]);
    out.net.welded.push_back(net.welded[t]);
    out.net.edges.push_back(net.edges[t]);
  }
  std::vector<std::uint8_t> used(net.edge.size(), 0);
  for (const Triangle& edges : out.net.edges)
    for (const std::uint32_t e : edges)
      if (e != kNone) used[e] = 1;
  std::vector<std::uint32_t> edge_number(net.edge.size(), kNone);
  for (std::uint32_t e = 0; e < used.size(); ++e) {
    if (used[e] == 0) continue;
    edge_number[e] = static_cast<std::uint32_t>(out.net.edge.size());
    out.net.edge.push_back(net.edge[e]);
    for (std::uint32_t& t : out.net.edge.back().triangles)
      if (t != kNone) t = triangle_number[t];
  }
  for (Triangle& edges : out.net.edges)
    for (std::uint32_t& e : edges)
      if (e != kNone) e = edge_number[e];
  return out;
}

/// Adds all triangles that share a welded vertex with one that is in.
void growByARing(const Net& net, std::size_t welded_count, std::vector<std::uint8_t>& in) {
  std::vector<std::uint8_t> welded(welded_count, 0);
  for (std::size_t t = 0; t < in.size(); ++t)
    if (in[t] != 0)
      for (const std::uint32_t p : net.welded[t]) welded[p] = 1;
  for (std::size_t t = 0; t < in.size(); ++t)
    for (const std::uint32_t p : net.welded[t])
      if (welded[p] != 0) in[t] = 1;
}

}  // namespace

RefinableSurface::RefinableSurface(std::span<const Triangle> triangles, std::size_t vertex_count,
                                   std::span<const std::uint32_t> weld,
                                   std::span<const std::array<std::uint32_t, 2>> creases)
    : corners_(triangles.begin(), triangles.end()),
      weld_(weld.begin(), weld.end()),
      vertex_count_(vertex_count) {
  DERM_REQUIRE(weld.empty() || weld.size() == vertex_count);
  const auto welded = [&](std::uint32_t v) { return weld.empty() ? v : weld[v]; };
  std::vector<std::uint64_t> keys;
  for (const auto& [a, b] : creases) keys.push_back(detail::edgeKey(welded(a), welded(b)));
  std::sort(keys.begin(), keys.end());
  net_ = detail::makeNet(weld.empty() ? corners_ : mapped(triangles, weld), keys);
}

std::vector<std::uint8_t> RefinableSurface::balanced(std::span<const std::uint8_t> levels) const {
  DERM_REQUIRE(levels.size() == corners_.size());
  std::vector<std::uint8_t> out(levels.begin(), levels.end());
  const auto refinable = [&](std::size_t t) { return !detail::degenerate(net_.welded[t]); };
  for (std::size_t t = 0; t < out.size(); ++t)
    if (!refinable(t)) out[t] = 0;
  std::vector<std::uint8_t> edge_level(net_.edge.size());
  for (bool changed = true; changed;) {
    changed = false;
    std::fill(edge_level.begin(), edge_level.end(), std::uint8_t{0});
    for (std::size_t t = 0; t < out.size(); ++t)
      for (const std::uint32_t e : net_.edges[t])
        if (e != kNone) edge_level[e] = std::max(edge_level[e], out[t]);
    for (std::size_t t = 0; t < out.size(); ++t)
      for (const std::uint32_t e : net_.edges[t])
        if (e != kNone && refinable(t) && edge_level[e] > out[t] + 1) {
          out[t] = static_cast<std::uint8_t>(edge_level[e] - 1);
          changed = true;
        }
  }
  return out;
}

std::vector<std::uint8_t> RefinableSurface::touched(std::span<const std::uint8_t> levels) const {
  DERM_REQUIRE(levels.size() == corners_.size());
  std::vector<std::uint8_t> edge_cut(net_.edge.size(), 0);
  for (std::size_t t = 0; t < levels.size(); ++t)
    for (const std::uint32_t e : net_.edges[t])
      if (e != kNone && levels[t] > 0) edge_cut[e] = 1;
  std::vector<std::uint8_t> out(levels.size(), 0);
  for (std::size_t t = 0; t < levels.size(); ++t)
    for (const std::uint32_t e : net_.edges[t])
      if (levels[t] > 0 || (e != kNone && edge_cut[e] != 0)) out[t] = 1;
  return out;
}

LocalRefinement RefinableSurface::refine(std::span<const std::uint8_t> levels) const {
  DERM_REQUIRE(levels.size() == corners_.size());
  const int deepest = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  DERM_REQUIRE(deepest <= kMaxLevels);
  // A level's points need the level before all round: its region is a ring wider.
  std::vector<std::vector<std::uint8_t>> regions(static_cast<std::size_t>(deepest));
  for (int k = deepest; k >= 1; --k) {
    std::vector<std::uint8_t> region(levels.size(), 0);
    if (k < deepest) {
      region = regions[static_cast<std::size_t>(k)];
      growByARing(net_, vertex_count_, region);
    }
    for (std::size_t t = 0; t < levels.size(); ++t)
      if (levels[t] >= k) region[t] = 1;
    regions[static_cast<std::size_t>(k - 1)] = std::move(region);
  }
  const std::vector<std::uint8_t> replaced = touched(levels);
  std::vector<std::uint8_t> part = replaced;
  if (!regions.empty())
    for (std::size_t t = 0; t < part.size(); ++t) part[t] |= regions.front()[t];
  growByARing(net_, vertex_count_, part);
  return Refiner(partOf(net_, corners_, part), vertex_count_, weld_, levels, std::move(regions))
      .run(replaced);
}

}  // namespace derm
