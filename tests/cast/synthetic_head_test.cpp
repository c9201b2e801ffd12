#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/cast/heads.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

namespace derm::synthetic_head_test {
namespace {

std::vector<SyntheticHeadDesc> presets() {
  return {syntheticHeadA(), syntheticHeadB(), syntheticHeadC()};
}

Vec3d pointOf(const Character& c, std::string_view label) {
  return positionAt(*c.findPoint(label), c.mesh.triangles, c.mesh.positions).cast<double>();
}

SyntheticHeadPoint feature(const SyntheticHeadShape& shape, std::string_view label) {
  for (const SyntheticHeadPoint& p : syntheticHeadPoints(shape))
    if (p.label == label) return p;
  return {};
}

/// Rim edges by their first vertex.
std::multimap<std::uint32_t, std::uint32_t> rimOf(const std::vector<Triangle>& triangles) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Triangle& t : triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const bool added = edges.emplace(t[i], t[(i + 1) % 3]).second;
      EXPECT_TRUE(added) << "an edge is used twice in one direction";
    }
  std::multimap<std::uint32_t, std::uint32_t> rim;
  for (const auto& [a, b] : edges)
    if (!edges.count({b, a})) rim.emplace(a, b);
  return rim;
}

TEST(SyntheticHead, SurfaceHasTheKnownPoints) {
  const struct {
    SyntheticHeadDesc desc;
    Vec3d nose, lid;
  } known[] = {{syntheticHeadA(), {0, -1.8, 11.791922}, {3.2, 1.75, 7.701443}},
               {syntheticHeadB(), {0, -2.4, 13.201557}, {2.9, 2.05, 8.236857}},
               {syntheticHeadC(), {0, -2.1, 9.912973}, {3.9, 1.9, 7.251451}}};
  for (const auto& k : known) {
    SCOPED_TRACE(k.desc.name);
    const SyntheticHeadSurface surface(k.desc.shape);
    for (const auto& [label, want] : {std::pair{"9.3", k.nose}, {"3.1", k.lid}}) {
      const SyntheticHeadPoint p = feature(k.desc.shape, label);
      EXPECT_LT((surface.frontPoint(p.x, p.y) - want).norm(), 1e-6) << label;
    }
  }
}

TEST(SyntheticHead, HasTheKnownSizesOnTheOctahedron) {
  const double diagonals[] = {33.799, 35.615, 33.779};
  for (std::size_t i = 0; i < 3; ++i) {
    SyntheticHeadDesc desc = presets()[i];
    desc.mesh = SyntheticHeadDesc::Mesh::Octahedron;
    desc.mouth_slit = false;
    const Character c = makeSyntheticHead(desc).value();
    EXPECT_NEAR(100 * bounds(c.mesh.positions).diagonal(), diagonals[i], 5e-4) << desc.name;
    EXPECT_EQ(c.mesh.vertexCount(), 5186u);
    EXPECT_EQ(c.mesh.triangles.size(), 10368u);
    EXPECT_TRUE(checkClosed(c.mesh.triangles).closed());
    EXPECT_GT(volume(c.mesh.positions, c.mesh.triangles), 0);
  }
}

TEST(SyntheticHead, PointsMeasureTheFaceAsTheyShould) {
  // Distances that facial animation is scaled by: between eyes, eye to nose, nose to mouth, width
  // of the mouth, height of the iris. [cm]
  const double wanted[3][5] = {{6.40, 3.00, 3.10, 5.20, 1.10},
                               {5.80, 4.00, 3.30, 4.40, 0.90},
                               {7.80, 2.70, 2.50, 8.40, 2.60}};
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(presets()[i].name);
    const Character c = makeCastMember(presets()[i].name).value();
    EXPECT_TRUE(validate(c).ok());
    ASSERT_EQ(c.points.size(), 28u);
    const auto p = [&](const char* label) -> Vec3d { return 100 * pointOf(c, label); };
    const Vec3d left = (p("3.1") + p("3.3")) / 2, right = (p("3.2") + p("3.4")) / 2;
    const double measured[] = {(left - right).norm(), left.y() - p("9.3").y(),
                               p("9.3").y() - p("8.3").y(), (p("8.3") - p("8.4")).norm(),
                               p("3.1").y() - p("3.3").y()};
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(measured[k], wanted[i][k], 1e-4) << k;
    const SyntheticHeadSurface surface(presets()[i].shape);
    double worst = 0;
    for (const SyntheticHeadPoint& f : syntheticHeadPoints(presets()[i].shape))
      worst =
          std::max(worst, (p(std::string(f.label).c_str()) - surface.frontPoint(f.x, f.y)).norm());
    std::printf("%s: points at most %.3f cm off the surface\n", c.name.c_str(), worst);
    EXPECT_LT(worst, 0.2);  // triangles are 0.4 cm wide, the line between the lips 0.3 cm
  }
}

/// The rim is one simple loop on the ellipse, and at most so many triangles are turned over.
void expectCleanSlit(const SyntheticHeadDesc& desc, const Character& c, std::size_t max_turned) {
  const auto rim = rimOf(c.mesh.triangles);
  ASSERT_GE(rim.size(), 8u);
  std::uint32_t v = rim.begin()->first;
  for (std::size_t n = 0; n < rim.size(); ++n) {
    ASSERT_EQ(rim.count(v), 1u) << "the rim is pinched";
    const Vec3d p = 100 * c.mesh.positions[v].cast<double>();
    const double x = p.x() / (0.85 * desc.shape.mouth_half_width);
    const double y = (p.y() - desc.shape.mouth_y) / (0.35 * desc.shape.lip_height);
    EXPECT_NEAR(x * x + y * y, 1, 1e-4);
    v = rim.find(v)->second;
    if (v == rim.begin()->first) {
      EXPECT_EQ(n + 1, rim.size()) << "several holes";
      break;
    }
  }
  std::size_t turned = 0;
  for (const Triangle& t : c.mesh.triangles) {
    Vec3d q[3];
    for (std::size_t i = 0; i < 3; ++i) q[i] = 100 * c.mesh.positions[t[i]].cast<double>();
    const Vec3d middle = (q[0] + q[1] + q[2]) / 3;
    if (middle.z() < 0 || std::abs(middle.x()) > desc.shape.mouth_half_width ||
        std::abs(middle.y() - desc.shape.mouth_y) > 1)
      continue;
    const double area = (q[1].x() - q[0].x()) * (q[2].y() - q[0].y()) -
                        (q[2].x() - q[0].x()) * (q[1].y() - q[0].y());
    turned += area <= 0;
  }
  EXPECT_LE(turned, max_turned);
}

TEST(SyntheticHead, LipsPartAlongOneSimpleLoop) {
  for (SyntheticHeadDesc desc : presets())
    for (const auto mesh :
         {SyntheticHeadDesc::Mesh::Octahedron, SyntheticHeadDesc::Mesh::LatLong}) {
      desc.mesh = mesh;
      SCOPED_TRACE(desc.name + (mesh == SyntheticHeadDesc::Mesh::LatLong ? " lat-long" : ""));
      const Character c = makeSyntheticHead(desc).value();
      expectCleanSlit(desc, c, 0);
      EXPECT_NEAR(static_cast<double>(c.mesh.triangles.size()), 10400, 150);
      EXPECT_NEAR(static_cast<double>(c.mesh.vertexCount()), 5220, 50);
    }
}

TEST(SyntheticHead, OtherPeopleAreHeadsTooOrSayWhyNot) {
  Rng rng(17);
  std::size_t made = 0;
  for (int n = 0; n < 60; ++n) {
    SyntheticHeadDesc desc = presets()[n % 2];
    desc.name = "person " + std::to_string(n);
    desc.shape = variedHead(desc.shape, 0.15, rng);
    desc.mesh = n % 4 < 2 ? SyntheticHeadDesc::Mesh::Octahedron : SyntheticHeadDesc::Mesh::LatLong;
    SCOPED_TRACE(desc.name);
    const Result<Character> c = makeSyntheticHead(desc);
    if (!c) {
      EXPECT_EQ(c.error().code, ErrorCode::BadArgument) << c.error().text();
      continue;
    }
    ++made;
    EXPECT_TRUE(validate(*c).ok());
    expectCleanSlit(desc, *c, 4);  // none in 46 of 51; the slit is thinner than a triangle
  }
  std::printf("%zu of 60 morphologies are possible heads\n", made);
  EXPECT_GE(made, 40u);
}

TEST(SyntheticHead, AsymmetryIsSmallAndNowhereEven) {
  SyntheticHeadDesc desc = syntheticHeadA();
  const SyntheticHeadSurface even(desc.shape), odd(desc.shape, 0.03);
  double worst = 0, difference = 0;
  for (double x = 0.25; x < 4; x += 0.25)
    for (double y = -8; y < 5; y += 0.25) {
      EXPECT_EQ(even.frontPoint(x, y).z(), even.frontPoint(-x, y).z());
      worst = std::max(worst, std::abs(odd.frontPoint(x, y).z() - even.frontPoint(x, y).z()));
      difference =
          std::max(difference, std::abs(odd.frontPoint(x, y).z() - odd.frontPoint(-x, y).z()));
    }
  EXPECT_LE(worst, 6 * 0.03);
  EXPECT_GT(difference, 0.05);
  desc.asymmetry_cm = 0.03;
  EXPECT_TRUE(makeSyntheticHead(desc).ok());
}

TEST(SyntheticHead, ImpossibleShapesAreErrors) {
  const auto broken = [](auto change) {
    SyntheticHeadDesc desc = syntheticHeadA();
    change(desc);
    const Result<Character> c = makeSyntheticHead(desc);
    EXPECT_FALSE(c.ok());
    return c.ok() ? std::string() : c.error().text();
  };
  EXPECT_NE(broken([](auto& d) { d.shape.eye_x = 1; }).find("eyes overlap"), std::string::npos);
  EXPECT_NE(broken([](auto& d) { d.shape.chin_y = -10.9; }).find("2.1"), std::string::npos);
  broken([](auto& d) { d.shape.half_width = std::numeric_limits<double>::quiet_NaN(); });
  broken([](auto& d) { d.shape.lip_height = 0; });
  broken([](auto& d) { d.subdivisions = 1; });
  broken([](auto& d) { d.subdivisions = 3; });  // no triangle inside the mouth
  broken([](auto& d) {
    d.mesh = SyntheticHeadDesc::Mesh::LatLong;
    d.rows = 0;
  });
}

}  // namespace
}  // namespace derm::synthetic_head_test
