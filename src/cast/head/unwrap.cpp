#include "cast/head/unwrap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>

#include "derm/base/assert.h"

#include "cast/head/flatten.h"
#include "cast/head/tables.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

/// Islands of the texture, and where the discs lie: centre and radius.
enum Island { kFace, kBag, kLeftSocket, kRightSocket, kLeftEar, kRightEar, kIslands };
struct Disc {
  double x, y, radius;
};
constexpr Disc kDiscs[kIslands] = {{},
                                   {.50, .928, .060},
                                   {.61, .928, .040},
                                   {.39, .928, .040},
                                   {.905, .905, .086},
                                   {.095, .905, .086}};

int islandOf(SkinPart part, bool left) {
  switch (part) {
    case SkinPart::Bag:
      return kBag;
    case SkinPart::Socket:
      return left ? kLeftSocket : kRightSocket;
    case SkinPart::Ear:
      return left ? kLeftEar : kRightEar;
    case SkinPart::Face:
      break;
  }
  return kFace;
}

/// A rough map of the head for borders: a cylinder that closes above the ears, with more room for
/// the front of the face and for the underside of the jaw.
Vec2d chart(const Vec3d& p) {
  constexpr double kFront = 0.9;  // [rad] half width of what gets more room
  const double angle = std::atan2(p.x(), p.z() + 1), r = std::hypot(p.x(), p.z() + 1);
  const double elevation = std::atan2(std::max(p.y() - 4, 0.0), r);
  const double u =
      (6 * angle + 5 * kFront * std::sqrt(std::numbers::pi) / 2 * std::erf(angle / kFront)) *
      std::pow(std::cos(elevation), 0.55);
  const double v = p.y() < 4 ? p.y() - 4 * (1 - smoothStep(-12.5, -8, p.y())) : 4 + 9 * elevation;
  return {u, v};
}

/// A place of a lid or lip on an ellipse.
Vec2d onOval(double s, double u, double half_width, double half_height, double tilt) {
  const double angle = std::acos(std::clamp(s, -1.0, 1.0)) * (std::abs(s) > .999 || u > 0 ? 1 : -1);
  return {half_width * std::cos(angle), half_height * std::sin(angle) + tilt * s};
}

/// How far a ring lies on the straight line from the outermost ring to the oval.
struct RingShare {
  double ring, share;
};

struct RingRule {
  double SkinLabels::*ring;
  double SkinLabels::*s;
  double SkinLabels::*u;
  std::vector<RingShare> shares;  ///< up to the ring that is the island's border
  Vec2d centre = Vec2d::Zero();
  double half_width = 0, half_height = 0, tilt = 0;
  int side = 0;  ///< 1 left, -1 right, 0 both
};

class Unwrapper {
 public:
  Unwrapper(const HeadSkin& skin, const HeadDesign& design) : skin_(skin), design_(design) {
    split();
    out_.uvs.assign(out_.vertex_of.size(), Vec2d::Zero());
    flattenFace();
    for (int island = kBag; island < kIslands; ++island) flattenDisc(island);
    pack();
  }
  UnwrappedSkin finish() && { return std::move(out_); }

 private:
  const Vec3d& position(std::uint32_t texture_vertex) const {
    return skin_.positions[out_.vertex_of[texture_vertex]];
  }
  const SkinLabels& labels(std::uint32_t texture_vertex) const {
    return skin_.labels[out_.vertex_of[texture_vertex]];
  }

  /// Vertices of the skin become one per island, and two along the cut at the back.
  void split() {
    const double cut_z = skin_.positions[skin_.crown].z() - 1e-9;
    std::map<std::tuple<std::uint32_t, int, bool>, std::uint32_t> ids;
    islands_.resize(kIslands);
    for (std::size_t t = 0; t < skin_.triangles.size(); ++t) {
      double x = 0;
      for (const std::uint32_t v : skin_.triangles[t]) x += skin_.positions[v].x();
      const int island = islandOf(skin_.parts[t], x > 0);
      Triangle corners{};
      for (std::size_t i = 0; i < 3; ++i) {
        const std::uint32_t v = skin_.triangles[t][i];
        const bool on_cut =
            skin_.mirror[v] == v && skin_.labels[v].clay > .9 && skin_.positions[v].z() < cut_z;
        const auto [found, added] = ids.emplace(std::tuple(v, island, on_cut && x < 0),
                                                static_cast<std::uint32_t>(out_.vertex_of.size()));
        if (added) {
          out_.vertex_of.push_back(v);
          right_of_cut_.push_back(on_cut && x < 0);
        }
        corners[i] = found->second;
      }
      out_.triangles.push_back(corners);
      islands_[static_cast<std::size_t>(island)].push_back(corners);
    }
  }

  void flattenFace() {
    const std::vector<Triangle>& triangles = islands_[kFace];
    std::vector<bool> fixed(out_.uvs.size(), false);
    for (const auto& [a, b] : rimOf(triangles)) {
      Vec2d at = chart(position(a));
      if (right_of_cut_[a]) at.x() = -std::abs(at.x());
      out_.uvs[a] = at;
      fixed[a] = true;
    }
    const EyeDesign& e = design_.eye;
    const MouthDesign& m = design_.mouth;
    for (const int side : {1, -1}) {
      RingRule rule{&SkinLabels::eye_ring,
                    &SkinLabels::eye_s,
                    &SkinLabels::eye_u,
                    {{0, 0}, {1, .42}, {2, .70}, {3, .90}, {4, 1}}};
      rule.centre = chart(eyeCentre(design_, side) + Vec3d(0, 0, .8 * e.radius));
      rule.half_width = .66 * e.half_width;
      rule.half_height = .55 * (e.upper + e.lower) / 2;
      rule.tilt = e.tilt * side;
      rule.side = side;
      placeRings(rule, fixed);
    }
    RingRule rule{&SkinLabels::mouth_ring,
                  &SkinLabels::mouth_s,
                  &SkinLabels::mouth_u,
                  {{0, 0}, {1, .32}, {2, .54}, {3, .74}, {4, .9}, {5, 1}}};
    rule.centre = {0, m.y};
    rule.half_width = .74 * m.half_width;
    rule.half_height = .20;
    placeRings(rule, fixed);
    flatten(triangles, positions(), fixed, 1, out_.uvs);
  }

  void placeRings(const RingRule& rule, std::vector<bool>& fixed) {
    std::map<std::array<long, 2>, std::vector<std::uint32_t>> rays;
    std::set<std::uint32_t> used;
    for (const Triangle& t : islands_[kFace]) used.insert(t.begin(), t.end());
    for (const std::uint32_t v : used) {
      const SkinLabels& l = labels(v);
      if (l.*rule.ring < -.01 || l.*rule.ring > rule.shares.back().ring + .01) continue;
      if (rule.side != 0 && position(v).x() * rule.side <= 0) continue;
      rays[{std::lround(1e4 * l.*rule.s), std::lround(1e4 * l.*rule.u)}].push_back(v);
    }
    for (const auto& [place, ray] : rays) {
      const std::uint32_t outer =
          *std::min_element(ray.begin(), ray.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::abs(labels(a).*rule.ring) < std::abs(labels(b).*rule.ring);
          });
      const SkinLabels& l = labels(outer);
      const double s = l.*rule.s * (rule.side < 0 ? -1 : 1);
      const Vec2d from = chart(position(outer));
      const Vec2d to =
          rule.centre + onOval(s, l.*rule.u, rule.half_width, rule.half_height, rule.tilt);
      for (const std::uint32_t v : ray) {
        const double share =
            interpolated(rule.shares, labels(v).*rule.ring, &RingShare::ring, &RingShare::share);
        out_.uvs[v] = (1 - share) * from + share * to;
        fixed[v] = true;
      }
    }
  }

  /// Its border goes on the unit circle by length, the highest point upwards.
  void flattenDisc(int island) {
    const std::vector<Triangle>& triangles = islands_[static_cast<std::size_t>(island)];
    const std::map<std::uint32_t, std::uint32_t> rim = rimOf(triangles);
    std::vector<std::uint32_t> loop = {rim.begin()->first};
    while (rim.at(loop.back()) != loop.front()) loop.push_back(rim.at(loop.back()));
    DERM_REQUIRE(loop.size() == rim.size());  // one border: a disc
    std::vector<double> along = {0};
    std::size_t top = 0;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      along.push_back(along.back() +
                      (position(loop[(k + 1) % loop.size()]) - position(loop[k])).norm());
      if (position(loop[k]).y() > position(loop[top]).y()) top = k;
    }
    std::vector<bool> fixed(out_.uvs.size(), false);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const double angle =
          std::numbers::pi / 2 + 2 * std::numbers::pi * (along[k] - along[top]) / along.back();
      out_.uvs[loop[k]] = {std::cos(angle), std::sin(angle)};
      fixed[loop[k]] = true;
    }
    flatten(triangles, positions(), fixed, 6, out_.uvs);
  }

  void pack() {
    double half_width = 0, low = 1e9, high = -1e9;
    std::vector<int> island_of(out_.uvs.size(), 0);
    for (int island = 0; island < kIslands; ++island)
      for (const Triangle& t : islands_[static_cast<std::size_t>(island)])
        for (const std::uint32_t v : t) island_of[v] = island;
    for (std::size_t v = 0; v < out_.uvs.size(); ++v) {
      if (island_of[v] != kFace) continue;
      half_width = std::max(half_width, std::abs(out_.uvs[v].x()));
      low = std::min(low, out_.uvs[v].y());
      high = std::max(high, out_.uvs[v].y());
    }
    const double scale = std::min(.485 / half_width, .835 / (high - low));
    for (std::size_t v = 0; v < out_.uvs.size(); ++v) {
      const Disc& disc = kDiscs[island_of[v]];
      out_.uvs[v] = island_of[v] == kFace
                        ? Vec2d(scale * out_.uvs[v] + Vec2d(.5, .012 - low * scale))
                        : Vec2d(disc.radius * out_.uvs[v] + Vec2d(disc.x, disc.y));
    }
  }

  std::vector<Vec3d> positions() const {
    std::vector<Vec3d> p;
    for (const std::uint32_t v : out_.vertex_of) p.push_back(skin_.positions[v]);
    return p;
  }

  const HeadSkin& skin_;
  const HeadDesign& design_;
  UnwrappedSkin out_;
  std::vector<bool> right_of_cut_;
  std::vector<std::vector<Triangle>> islands_;
};

}  // namespace

UnwrappedSkin unwrapped(const HeadSkin& skin, const HeadDesign& design) {
  return Unwrapper(skin, design).finish();
}

}  // namespace derm::detail::cast
