#include "cast/head/head_skin.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

#include "cast/head/falloff.h"
#include "cast/head/hair.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

constexpr double kLidClearance = 0.02;  // [cm] between lids and ball

/// The mean of both sides: what is left of rounding in blends and relaxation goes.
void makeSymmetric(std::vector<Vec3d>& p, const std::vector<std::uint32_t>& mirror) {
  for (std::size_t v = 0; v < p.size(); ++v) {
    const std::size_t m = mirror[v];
    if (m < v) continue;
    const Vec3d other(-p[m].x(), p[m].y(), p[m].z());
    p[v] = (p[v] + other) / 2;
    if (m == v)
      p[v].x() = 0;
    else
      p[m] = Vec3d(-p[v].x(), p[v].y(), p[v].z());
  }
}

/// Ends of the tuck at the corners lie in the ball on purpose: the caruncle.
bool inCaruncle(const SkinLabels& l) {
  return l.eye_ring > 4.2 && l.eye_ring < 5.6 && std::abs(l.eye_s) > .8;
}

void projectOntoClay(QuadSkin& skin, const HeadClay& clay) {
  parallelFor(skin.positions.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const SkinLabels& l = skin.labels[v];
      Vec3d& p = skin.positions[v];
      if (l.clay > .05) p += l.clay * (clay.projected(p, 8, l.rim > .99) - p);
    }
  });
}

void keepLidsOffTheBall(QuadSkin& skin, const HeadDesign& design) {
  for (std::size_t v = 0; v < skin.positions.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    if (l.eye_ring <= 2.2 || inCaruncle(l)) continue;
    const Vec3d centre = eyeCentre(design, skin.positions[v].x() > 0 ? 1 : -1);
    const Vec3d d = skin.positions[v] - centre;
    const double r = d.norm();
    skin.positions[v] = centre + d * (std::max(r, design.eye.radius + kLidClearance) / r);
  }
}

/// [0,1] where the clay's blends make ripples that columns of quads cannot follow: beside the eye,
/// and where jaw and neck meet.
double rippled(const HeadDesign& design, const SkinLabels& l, const Vec3d& p, double floor) {
  const double x = std::abs(p.x()), chin = design.marks.chin.y();
  const Vec2d& brow = design.marks.brow_points[2];
  const double off_brow = 1 - bell(std::hypot(x - brow.x(), p.y() - brow.y()), .9);
  const double temple = off_brow * smoothStep(4.6, 5.4, x) * (1 - smoothStep(2.5, 4.5, p.y())) *
                        smoothStep(-3.2, -2, p.y()) * smoothStep(1.5, 3, p.z()) *
                        (1 - smoothStep(5.7, 6.6, p.z()));
  const double throat = (1 - smoothStep(chin - .3, chin + .7, p.y())) *
                        smoothStep(floor, floor + 1.2, p.y()) * (1 - smoothStep(4, 6, p.z()));
  const double rings = 1 - smoothStep(-.8, .3, std::max(l.eye_ring, l.mouth_ring));
  return std::max(temple, throat) * rings * (l.ear > 0 || l.rim > 0 ? 0 : 1);
}

void smoothRipples(QuadSkin& skin, const HeadDesign& design) {
  double floor = 0;
  for (const Vec3d& p : skin.positions) floor = std::min(floor, p.y());
  std::vector<double> strength;
  for (std::size_t v = 0; v < skin.positions.size(); ++v)
    strength.push_back(rippled(design, skin.labels[v], skin.positions[v], floor));
  std::vector<std::vector<std::uint32_t>> around(skin.positions.size());
  for (const Quad& q : skin.quads)
    for (std::size_t i = 0; i < 4; ++i) around[q[i]].push_back(q[(i + 1) % 4]);
  for (int round = 0; round < 15; ++round) {
    std::vector<Vec3d> next = skin.positions;
    for (std::size_t v = 0; v < next.size(); ++v) {
      if (strength[v] <= 0) continue;
      Vec3d mean = Vec3d::Zero();
      for (const std::uint32_t o : around[v]) mean += skin.positions[o];
      mean /= static_cast<double>(around[v].size());
      next[v] += .6 * strength[v] * (mean - next[v]);
    }
    skin.positions = std::move(next);
  }
}

/// What is finer than the clay, along the normal. [cm]
double detailHeight(const HeadDesign& design, const SkinLabels& l, const Vec3d& p) {
  const MouthDesign& m = design.mouth;
  const double x = std::abs(p.x()), front = smoothStep(3, 6, p.z());
  double d = 0;
  // The groove between nose and upper lip, and its ridges.
  if (l.mouth_ring < 3.2)
    d += (1 - smoothStep(m.nose_base_y - .15, m.nose_base_y + .25, p.y())) *
         smoothStep(m.y + .35, m.y + m.upper, p.y()) * front *
         (-0.10 * bell(x, .22) + 0.055 * bell(x - .48, .2));
  // The fold above the lid.
  d -= design.eye.crease_depth * bell(l.eye_ring - 1.35, .42) * std::clamp(l.eye_u, 0.0, 1.0) *
       (1 - std::pow(std::abs(l.eye_s), 3));
  // A dimple beside the corners of the mouth.
  d -= 0.07 * bell(x - m.half_width - .22, .32) * bell(p.y() - m.y - m.corner, .45) * front;
  return d;
}

std::uint32_t nearestVertex(const HeadSkin& skin, const Vec3d& q) {
  std::uint32_t best = 0;
  double least = 1e9;
  for (std::uint32_t v = 0; v < skin.bare.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    if (l.clay <= .9 || l.ear >= .01) continue;
    const double d = (skin.bare[v] - q).squaredNorm();
    if (d < least) std::tie(best, least) = std::pair(v, d);
  }
  return best;
}

void addPoints(HeadSkin& skin, const HeadDesign& design, const HeadClay& clay,
               const HeadCage& cage) {
  const auto pair = [&](const char* left, const char* right, std::uint32_t v) {
    skin.points.emplace_back(left, v);
    skin.points.emplace_back(right, skin.mirror[v]);
  };
  const auto ringVertex = [](const auto& rings, const auto& places, std::size_t ring, double s,
                             double u) {
    for (std::size_t k = 0; k < places.size(); ++k)
      if (std::abs(places[k][0] - s) < 1e-6 && places[k][1] == u) return rings[ring][k];
    DERM_REQUIRE(!"a vertex at that place of the ring");
    return std::uint32_t{0};
  };
  const auto eye = [&](double s, double u) {
    return ringVertex(cage.eye_rings, cage.eye_places, 3, s, u);
  };
  const auto lip = [&](double s, double u) {
    return ringVertex(cage.mouth_rings, cage.mouth_places, 2, s, u);
  };
  const auto brow = [&](std::size_t k) {
    const Vec2d& at = design.marks.brow_points[k];
    return nearestVertex(skin, {at.x(), at.y(), clay.frontZ(at.x(), at.y())});
  };
  pair("4.1", "4.2", brow(0));
  pair("4.3", "4.4", brow(1));
  pair("4.5", "4.6", brow(2));
  pair("3.1", "3.2", eye(0, 1));
  pair("3.3", "3.4", eye(0, -1));
  pair("3.7", "3.12", eye(1, 0));
  pair("3.11", "3.8", eye(-1, 0));
  pair("5.1", "5.2", nearestVertex(skin, design.marks.cheek));
  const auto [wing, radii] = clay.ellipsoidOf("ala");
  pair("9.1", "9.2", nearestVertex(skin, wing + Vec3d(radii.x(), 0, .1 * radii.z())));
  std::uint32_t tip = 0;
  for (std::uint32_t v = 0; v < skin.positions.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    if (skin.mirror[v] == v && l.clay > .9 && l.ear < .01 &&
        skin.positions[v].z() > skin.positions[tip].z())
      tip = v;
  }
  skin.points.emplace_back("9.3", tip);
  skin.points.emplace_back("2.1", cage.chin);
  skin.points.emplace_back("8.1", lip(0, 1));
  skin.points.emplace_back("8.2", lip(0, -1));
  pair("8.3", "8.4", lip(1, 0));
  pair("8.5", "8.6", lip(.5, 1));
  pair("8.7", "8.8", lip(.5, -1));
}

}  // namespace

std::vector<Vec3d> vertexNormals(const std::vector<Vec3d>& positions,
                                 const std::vector<Triangle>& triangles) {
  std::vector<Vec3d> normals(positions.size(), Vec3d::Zero());
  for (const Triangle& t : triangles) {
    const Vec3d n = (positions[t[1]] - positions[t[0]]).cross(positions[t[2]] - positions[t[0]]);
    for (const std::uint32_t v : t) normals[v] += n;
  }
  for (Vec3d& n : normals) n /= std::max(n.norm(), 1e-12);
  return normals;
}

HeadSkin makeHeadSkin(const HeadDesign& design) {
  const HeadClay clay(design);
  const HeadCage cage = makeHeadCage(design, clay);
  QuadSkin quads = subdivided(cage);
  projectOntoClay(quads, clay);
  smoothRipples(quads, design);
  keepLidsOffTheBall(quads, design);
  makeSymmetric(quads.positions, quads.mirror);

  HeadSkin skin;
  skin.mirror = std::move(quads.mirror);
  skin.labels = std::move(quads.labels);
  for (const int half : {0, 1})
    for (std::size_t q = 0; q < quads.quads.size(); ++q) {
      const Quad& c = quads.quads[q];
      skin.triangles.push_back(half == 0 ? Triangle{c[0], c[1], c[2]} : Triangle{c[0], c[2], c[3]});
      skin.parts.push_back(quads.parts[q]);
    }
  const std::vector<Vec3d> normals = vertexNormals(quads.positions, skin.triangles);
  for (std::size_t v = 0; v < quads.positions.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    const Vec3d& p = quads.positions[v];
    skin.bare.push_back(p + detailHeight(design, l, p) * normals[v]);
    const bool hairy = l.ear < .3 && l.eye_ring < -.5;
    skin.positions.push_back(skin.bare.back() + (hairy ? hairOffset(design, p) : Vec3d::Zero()));
  }
  makeSymmetric(skin.bare, skin.mirror);
  makeSymmetric(skin.positions, skin.mirror);
  skin.crown = cage.crown;
  addPoints(skin, design, clay, cage);
  return skin;
}

}  // namespace derm::detail::cast
