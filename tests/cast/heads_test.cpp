#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/mesh/uv_raster.h"

#include "cast/head/expressions.h"
#include "cast/head/unwrap.h"

namespace derm::heads_test {
namespace {

using namespace detail::cast;

struct Head {
  HeadDesign design;
  HeadSkin skin;
  UnwrappedSkin unwrapped;
};

const Head& headOf(const std::string& name) {
  static std::map<std::string, Head> made;
  const auto found = made.find(name);
  if (found != made.end()) return found->second;
  Head head;
  head.design = name == "woman" ? womanDesign() : name == "man" ? manDesign() : toonDesign();
  head.skin = makeHeadSkin(head.design);
  head.unwrapped = unwrapped(head.skin, head.design);
  return made.emplace(name, std::move(head)).first->second;
}

class PaintedHead : public testing::TestWithParam<std::string> {
 protected:
  const Head& head_ = headOf(GetParam());
  const HeadSkin& skin_ = head_.skin;
};
INSTANTIATE_TEST_SUITE_P(Cast, PaintedHead, testing::Values("woman", "man", "toon"),
                         [](const auto& member) { return member.param; });

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

using Label = double SkinLabels::*;

/// Vertices of a ring above and below that belong together.
std::vector<std::array<std::uint32_t, 2>> pairsOf(const HeadSkin& skin, Label ring, Label s,
                                                  Label u, double number) {
  std::map<std::pair<long, bool>, std::array<std::uint32_t, 2>> found;
  std::map<std::pair<long, bool>, int> count;
  for (std::uint32_t v = 0; v < skin.labels.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    if (std::abs(l.*ring - number) > 1e-6 || std::abs(l.*u) < .1) continue;
    const bool left = ring == &SkinLabels::mouth_ring || skin.positions[v].x() > 0;
    const auto key = std::pair(std::lround(1e4 * l.*s), left);
    found[key][l.*u > 0 ? 0 : 1] = v;
    ++count[key];
  }
  std::vector<std::array<std::uint32_t, 2>> pairs;
  for (const auto& [key, pair] : found)
    if (count[key] == 2) pairs.push_back(pair);
  return pairs;
}

/// Distance between the ball and the lids and socket, the caruncle left out. [cm]
double lidClearance(const Head& head, const std::vector<Vec3d>& positions) {
  double least = 1e9;
  for (std::size_t v = 0; v < positions.size(); ++v) {
    const SkinLabels& l = head.skin.labels[v];
    const bool caruncle = l.eye_ring > 4.2 && l.eye_ring < 5.8 && std::abs(l.eye_s) > .6;
    if (l.eye_ring <= 2 || caruncle) continue;
    const Vec3d centre = eyeCentre(head.design, positions[v].x() > 0 ? 1 : -1);
    least = std::min(least, (positions[v] - centre).norm() - head.design.eye.radius);
  }
  return least;
}

TEST_P(PaintedHead, IsADiscWhoseRimIsTheFlatCutOfTheNeck) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Triangle& t : skin_.triangles)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_TRUE(edges.emplace(t[i], t[(i + 1) % 3]).second) << "used twice in one direction";
  std::size_t rim = 0, undirected = 0;
  double low = 1e9, high = -1e9;
  for (const auto& [a, b] : edges) {
    const bool open = !edges.count({b, a});
    undirected += open || a < b;
    if (!open) continue;
    ++rim;
    low = std::min(low, skin_.positions[a].y());
    high = std::max(high, skin_.positions[a].y());
  }
  EXPECT_EQ(rim, 80u);
  EXPECT_LT(high - low, 1e-9);
  EXPECT_EQ(skin_.positions.size() + skin_.triangles.size(), undirected + 1);  // V - E + F = 1
  EXPECT_GE(skin_.triangles.size(), 10000u);
  EXPECT_LE(skin_.triangles.size(), 13000u);
}

TEST_P(PaintedHead, IsItsOwnMirrorImage) {
  for (std::uint32_t v = 0; v < skin_.positions.size(); ++v) {
    const std::uint32_t m = skin_.mirror[v];
    ASSERT_EQ(skin_.mirror[m], v);
    const Vec3d &p = skin_.positions[v], &q = skin_.positions[m];
    ASSERT_LT((p - Vec3d(-q.x(), q.y(), q.z())).norm(), 1e-12);
    const SkinLabels &a = skin_.labels[v], &b = skin_.labels[m];
    ASSERT_NEAR(a.eye_ring, b.eye_ring, 1e-12);
    ASSERT_NEAR(a.eye_s, b.eye_s, 1e-12);
    ASSERT_NEAR(a.eye_u, b.eye_u, 1e-12);
    ASSERT_NEAR(a.mouth_ring, b.mouth_ring, 1e-12);
    ASSERT_NEAR(a.mouth_s, -b.mouth_s, 1e-12);
    ASSERT_NEAR(a.mouth_u, b.mouth_u, 1e-12);
    ASSERT_NEAR(a.ear, b.ear, 1e-12);
  }
}

TEST_P(PaintedHead, ClosedLipsTouchAndPartFromCornerToCorner) {
  const auto pairs =
      pairsOf(skin_, &SkinLabels::mouth_ring, &SkinLabels::mouth_s, &SkinLabels::mouth_u, 5);
  ASSERT_EQ(pairs.size(), 23u);
  const std::vector<Vec3d> open = FacePoser(skin_, head_.design).posed({.jaw = .34});
  double least = 1e9, most = 0, widest = 0;
  for (const auto& [up, low] : pairs) {
    const double gap = skin_.positions[up].y() - skin_.positions[low].y();
    least = std::min(least, gap);
    most = std::max(most, gap);
    EXPECT_GT(open[up].y() - open[low].y(), gap);
    widest = std::max(widest, open[up].y() - open[low].y());
  }
  std::printf("%s: lips %.3f to %.3f cm apart, jaw open %.2f\n", GetParam().c_str(), least, most,
              widest);
  EXPECT_GT(least, 0);
  EXPECT_LT(most, .04);
  EXPECT_GT(widest, 1.5);
}

TEST_P(PaintedHead, LidsShutAndNeverEnterTheBall) {
  const FacePoser poser(skin_, head_.design);
  const auto pairs =
      pairsOf(skin_, &SkinLabels::eye_ring, &SkinLabels::eye_s, &SkinLabels::eye_u, 4);
  ASSERT_EQ(pairs.size(), 30u);
  const std::vector<Vec3d> shut = poser.posed({.close = {1, 1}});
  double widest = 0;
  for (const auto& [up, low] : pairs) widest = std::max(widest, (shut[up] - shut[low]).norm());
  EXPECT_LT(widest, .04);
  double least = 1e9;
  for (const double close : {0.0, .25, .5, .75, 1.0, -.3})
    least = std::min(least, lidClearance(head_, poser.posed({.close = {close, close}})));
  EXPECT_GE(least, 0);
  // One eye at a time.
  const std::vector<Vec3d> left = poser.posed({.close = {1, 0}});
  for (std::size_t v = 0; v < left.size(); ++v)
    if (skin_.positions[v].x() < 0) {
      ASSERT_EQ(left[v], skin_.positions[v]);
    }
  std::printf("%s: shut lids %.3f cm apart, clear of the ball by %.3f\n", GetParam().c_str(),
              widest, least);
}

TEST_P(PaintedHead, NoExpressionPushesLidsIntoTheBallOrLipsThroughEachOther) {
  const FacePoser poser(skin_, head_.design);
  for (const Expression& e : expressions(head_.design)) {
    SCOPED_TRACE(e.name);
    const std::vector<Vec3d> posed = poser.posed(e.pose);
    EXPECT_GE(lidClearance(head_, posed), 0);
    double lips = 1e9, lids = 1e9;
    for (const double ring : {3.0, 4.0, 5.0})
      for (const auto& [up, low] : pairsOf(skin_, &SkinLabels::mouth_ring, &SkinLabels::mouth_s,
                                           &SkinLabels::mouth_u, ring))
        lips = std::min(lips, posed[up].y() - posed[low].y());
    for (const auto& [up, low] :
         pairsOf(skin_, &SkinLabels::eye_ring, &SkinLabels::eye_s, &SkinLabels::eye_u, 4))
      lids = std::min(lids, posed[up].y() - posed[low].y());
    EXPECT_GT(lips, 0);
    EXPECT_GT(lids, -.001);  // shut ones meet
    // Morph targets go straight where lids turn: the outside of the lids must not sink half-way.
    for (const double share : {.25, .5, .75}) {
      double least = 1e9;
      for (std::size_t v = 0; v < posed.size(); ++v) {
        const SkinLabels& l = skin_.labels[v];
        if (l.eye_ring < 1.9 || l.eye_ring > 3.1) continue;
        const Vec3d p = (1 - share) * skin_.positions[v] + share * posed[v];
        const Vec3d centre = eyeCentre(head_.design, p.x() > 0 ? 1 : -1);
        least = std::min(least, (p - centre).norm() - head_.design.eye.radius);
      }
      EXPECT_GT(least, .01) << share;
    }
  }
}

TEST_P(PaintedHead, TextureIsNeitherFoldedNorUsedTwiceAndLittleStretched) {
  const UnwrappedSkin& u = head_.unwrapped;
  std::vector<Vec2f> uvs;
  for (const Vec2d& uv : u.uvs) uvs.push_back(uv.cast<float>());
  const UvRaster raster = rasteriseUvs(uvs, u.triangles, {2048, 2048, 0});
  EXPECT_EQ(raster.overlapping_texels, 0u);
  EXPECT_EQ(raster.outside_corners, 0u);
  const double use = static_cast<double>(raster.covered_texels) / (2048.0 * 2048.0);
  EXPECT_GT(use, .65);
  std::vector<double> ratios, scales;
  for (std::size_t t = 0; t < u.triangles.size(); ++t) {
    const Triangle& c = u.triangles[t];
    const Vec2d f1 = u.uvs[c[1]] - u.uvs[c[0]], f2 = u.uvs[c[2]] - u.uvs[c[0]];
    ASSERT_GT(f1.x() * f2.y() - f1.y() * f2.x(), 0) << t;
    const Triangle& s = skin_.triangles[t];
    Vec3d middle = Vec3d::Zero();
    double ring = -1;
    for (const std::uint32_t v : s) {
      middle += skin_.positions[v] / 3;
      ring = std::max({ring, skin_.labels[v].eye_ring, skin_.labels[v].mouth_ring});
    }
    if (middle.z() <= 5 || middle.y() <= -10 || middle.y() >= 6 || ring >= 2.1) continue;
    // Singular values of the map from the surface to the texture.
    const Vec3d e1 = skin_.positions[s[1]] - skin_.positions[s[0]];
    const Vec3d e2 = skin_.positions[s[2]] - skin_.positions[s[0]];
    const Vec3d x = e1.normalized(), y = e1.cross(e2).cross(x).normalized();
    const double a = e1.dot(x), b = e2.dot(x), d = e2.dot(y);
    const Vec2d gx = f1 / a, gy = (f2 - b * gx) / d;
    const double sum = gx.squaredNorm() + gy.squaredNorm();
    const double det = std::abs(gx.x() * gy.y() - gx.y() * gy.x());
    const double root = std::sqrt(std::max(sum * sum / 4 - det * det, 0.0));
    const double large = std::sqrt(sum / 2 + root), small = det / large;
    ratios.push_back(large / small);
    scales.push_back(std::sqrt(det));
  }
  const double median = percentile(scales, .5);
  std::printf("%s: texture %.2f used; stretch %.2f, 95 %% %.2f; scale %.2f to %.2f\n",
              GetParam().c_str(), use, percentile(ratios, .5), percentile(ratios, .95),
              percentile(scales, .05) / median, percentile(scales, .95) / median);
  EXPECT_LE(percentile(ratios, .5), 1.6);
  EXPECT_LE(percentile(ratios, .95), 2.5);
  EXPECT_GE(percentile(scales, .05) / median, .7);
  EXPECT_LE(percentile(scales, .95) / median, 1.5);
}

TEST_P(PaintedHead, HasFewSlivers) {
  std::size_t thin = 0;
  double least = 180;
  for (const Triangle& t : skin_.triangles) {
    double angle = 180;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3d a = (skin_.positions[t[(i + 1) % 3]] - skin_.positions[t[i]]).normalized();
      const Vec3d b = (skin_.positions[t[(i + 2) % 3]] - skin_.positions[t[i]]).normalized();
      angle = std::min(angle, std::acos(std::clamp(a.dot(b), -1.0, 1.0)) * 180 / std::numbers::pi);
    }
    thin += angle < 10;
    least = std::min(least, angle);
  }
  const double share = static_cast<double>(thin) / static_cast<double>(skin_.triangles.size());
  std::printf("%s: least angle %.1f, below 10 degrees %.1f %%\n", GetParam().c_str(), least,
              100 * share);
  EXPECT_GE(least, 1);
  EXPECT_LE(share, .06);
}

TEST_P(PaintedHead, HasItsControlPointsWhereTheyBelong) {
  // [cm] left side and middle.
  const std::map<std::string, std::vector<std::pair<std::string, Vec3d>>> known = {
      {"woman",
       {{"4.1", {1.2837, 1.6445, 8.8907}},
        {"4.3", {3.3839, 2.1767, 7.9976}},
        {"4.5", {5.0339, 1.9707, 6.881}},
        {"3.1", {3.12, 0.7364, 7.7401}},
        {"3.3", {3.12, -0.5153, 7.8256}},
        {"3.7", {4.6448, 0.0984, 7.0458}},
        {"3.11", {1.5975, -0.0647, 7.0503}},
        {"5.1", {5.0224, -3.2434, 7.5905}},
        {"9.1", {1.4794, -3.3668, 9.8966}},
        {"9.3", {0, -2.5695, 11.2561}},
        {"2.1", {0, -10.9185, 7.4432}},
        {"8.1", {0, -5.8732, 10.0249}},
        {"8.2", {0, -7.3376, 9.935}},
        {"8.3", {2.418, -6.323, 9.2508}},
        {"8.5", {1.4813, -5.987, 9.833}},
        {"8.7", {1.4817, -6.9993, 9.8248}}}},
      {"man",
       {{"4.1", {1.3304, 1.6531, 8.9092}},
        {"4.3", {3.4119, 2.1432, 7.9631}},
        {"4.5", {4.8953, 1.3441, 6.969}},
        {"3.1", {3.22, 0.6034, 7.7971}},
        {"3.3", {3.22, -0.4763, 7.8376}},
        {"3.7", {4.7066, 0.0384, 7.115}},
        {"3.11", {1.7357, -0.0179, 7.1185}},
        {"5.1", {5.1889, -3.3899, 7.5658}},
        {"9.1", {1.8788, -3.4528, 9.5888}},
        {"9.3", {0, -3.048, 11.4417}},
        {"2.1", {0, -11.4864, 7.9523}},
        {"8.1", {0, -6.0116, 10.0709}},
        {"8.2", {0, -7.7904, 10.0151}},
        {"8.3", {2.6518, -6.7155, 9.2872}},
        {"8.5", {1.62, -6.1985, 9.8882}},
        {"8.7", {1.6208, -7.4297, 9.8891}}}},
      {"toon",
       {{"4.1", {1.6268, 3.1918, 8.4161}},
        {"4.3", {4.1168, 3.592, 7.4956}},
        {"4.5", {5.8971, 2.6261, 5.4301}},
        {"3.1", {3.55, 1.511, 7.7567}},
        {"3.3", {3.55, -0.7942, 7.9664}},
        {"3.7", {5.5422, 0.2716, 7.1983}},
        {"3.11", {1.56, 0.0902, 7.1992}},
        {"5.1", {6.182, -3.4249, 6.5974}},
        {"9.1", {1.3041, -2.945, 8.9656}},
        {"9.3", {0, -3.1604, 10.4489}},
        {"2.1", {0, -9.4308, 6.9859}},
        {"8.1", {0, -5.0739, 9.7462}},
        {"8.2", {0, -6.0974, 9.61}},
        {"8.3", {2.7787, -5.1993, 8.7183}},
        {"8.5", {1.7013, -5.1006, 9.432}},
        {"8.7", {1.6998, -5.8028, 9.3891}}}}};
  std::map<std::string, std::uint32_t> vertex;
  std::set<std::uint32_t> distinct;
  for (const auto& [label, v] : skin_.points) {
    vertex[label] = v;
    distinct.insert(v);
  }
  EXPECT_EQ(vertex.size(), 28u);
  EXPECT_EQ(distinct.size(), 28u);
  for (const auto& [label, p] : known.at(GetParam()))
    EXPECT_LT((skin_.positions[vertex.at(label)] - p).norm(), .05) << label;
}

TEST_P(PaintedHead, IsACharacterWithExpressionsAndEyesOfItsOwn) {
  const Character c = makeCastMember(GetParam()).value();
  const Result<void> valid = validate(c);
  ASSERT_TRUE(valid.ok()) << valid.error().text();
  ASSERT_EQ(c.instances.size(), 3u);
  for (const char* joint : {"head", "eye_left", "eye_right"})
    EXPECT_TRUE(c.skeleton.find(joint).valid()) << joint;
  std::vector<std::string> morphs;
  for (const MorphTarget& m : c.morphs) morphs.push_back(m.name);
  EXPECT_EQ(morphs,
            (std::vector<std::string>{"joy", "sadness", "disgust", "surprise", "fear", "anger",
                                      "eyeBlinkLeft", "eyeBlinkRight", "jawOpen"}));
  for (const MorphTarget& m : c.morphs) {
    float most = 0;
    for (const Vec3f& d : m.positions) most = std::max(most, d.norm());
    EXPECT_GT(most, .002f) << m.name;  // [m]
    EXPECT_LT(most, .06f) << m.name;
  }
  ASSERT_TRUE(c.findClip("expressions").ok());
  EXPECT_EQ(c.points.size(), 28u);
  // The part that is painted without textures.
  EXPECT_EQ(c.mesh.colours.size(), c.mesh.vertexCount());
  EXPECT_TRUE(c.images.empty());
}

TEST(PaintedHeads, GetTexturesFromWhoeverCanWriteThem) {
  std::vector<int> sizes;
  const PictureEncoder encode = [&](const Rgba8Image& picture) {
    sizes.push_back(picture.width);
    return std::vector<std::uint8_t>{1, 2, 3};
  };
  const Character c = makeCastMember("woman", encode).value();
  EXPECT_EQ(sizes, (std::vector<int>{2048, 512}));
  ASSERT_EQ(c.images.size(), 2u);
  EXPECT_EQ(c.images[0].mime_type, "image/png");
  EXPECT_TRUE(c.mesh.colours.empty());
  EXPECT_EQ(c.mesh.uvs.size(), c.mesh.vertexCount());
  const Character plain = makeCastMember("woman", [](const Rgba8Image&) {
                            return std::vector<std::uint8_t>();
                          }).value();
  EXPECT_TRUE(plain.images.empty());
  EXPECT_FALSE(plain.mesh.colours.empty());
}

}  // namespace
}  // namespace derm::heads_test
