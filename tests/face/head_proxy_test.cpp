#include "derm/face/head_proxy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/face_rig.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

#include "held_face.h"
#include "rigged_head.h"

namespace derm::head_proxy_test {
namespace {

using testing_support::gapOf;
using testing_support::held;

/// The bare head, every triangle cut in four as often.
Character divided(std::string_view member, int times) {
  const Character given = makeCastMember(member).value();
  Character head;
  head.name = given.name;
  head.points = given.points;
  TriMesh& mesh = head.mesh;
  mesh.positions = given.mesh.positions;
  mesh.triangles = mapped(given.mesh.triangles, weldMap(mesh.positions));
  const FacePoints points = facePoints(head.points, mesh).value();
  for (int pass = 0; pass < times; ++pass) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [at, fresh] = middles.try_emplace(
          {std::min(a, b), std::max(a, b)}, static_cast<std::uint32_t>(mesh.positions.size()));
      if (fresh) mesh.positions.push_back(0.5f * (mesh.positions[a] + mesh.positions[b]));
      return at->second;
    };
    std::vector<Triangle> next;
    for (const Triangle& t : mesh.triangles) {
      const std::uint32_t a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      next.insert(next.end(), {{t[0], a, c}, {a, t[1], b}, {c, b, t[2]}, {a, b, c}});
    }
    mesh.triangles = std::move(next);
  }
  const TriangleTree tree(mesh.positions, mesh.triangles);
  for (LabelledPoint& p : head.points)
    p.point = *nearestSurfacePoint(tree, points.at(findFaceFeature(p.label)->number));
  addDefaultParts(head);
  return head;
}

double diagonalOf(const Character& head) {
  Eigen::AlignedBox3f box;
  for (const Vec3f& p : head.mesh.positions) box.extend(p);
  return static_cast<double>(box.diagonal().norm());
}

double farthest(const std::vector<Vec3f>& a, const std::vector<Vec3f>& b) {
  double out = 0;
  for (std::size_t v = 0; v < a.size(); ++v)
    out = std::max(out, (a[v] - b[v]).cast<double>().norm());
  return out;
}

/// 53 k triangles by a proxy of 27 k.
class ALargeHead : public ::testing::Test {
 protected:
  static constexpr std::size_t kTriangles = 27000;

  Character byProxy() {
    Character out = head_;
    HeadProxy proxy = *HeadProxy::of(out, {}, kTriangles, kTriangles);
    EXPECT_TRUE(proxy.isCoarse());
    EXPECT_LE(proxy.head().mesh.triangles.size(), kTriangles);
    EXPECT_TRUE(validate(proxy.head()).ok());
    const Result<FaceRig> rig = addFaceRig(proxy.head(), {}, notes_);
    EXPECT_TRUE(rig.ok());
    EXPECT_TRUE(proxy.keepRig(*rig, 4, notes_).ok());
    EXPECT_TRUE(validate(out).ok());
    return out;
  }

  Character head_ = divided("woman", 1);
  Diagnostics notes_;
};

/// Weights of a finer mesh differ by themselves (what evens them out goes from edge to edge), so
/// the undivided head says what is right.
TEST_F(ALargeHead, MovesAsTheHeadThatItWasMadeOf) {
  Character undivided = divided("woman", 0), plain = head_;
  ASSERT_TRUE(addFaceRig(undivided, {}, notes_).ok());
  ASSERT_TRUE(addFaceRig(plain, {}, notes_).ok());
  const Character proxied = byProxy();
  ASSERT_EQ(proxied.clips.size(), plain.clips.size());
  const double diagonal = diagonalOf(head_);
  for (const Clip& clip : undivided.clips) {
    SCOPED_TRACE(clip.name);
    const std::vector<Vec3f> right = held(undivided, clip.name);
    const auto differs = [&](const Character& head) {
      const std::vector<Vec3f> at = held(head, clip.name);
      double most = 0, squares = 0;
      for (std::size_t v = 0; v < right.size(); ++v) {
        const double off = (right[v] - at[v]).cast<double>().norm();
        most = std::max(most, off);
        squares += off * off;
      }
      return std::pair{most / diagonal,
                       std::sqrt(squares / static_cast<double>(right.size())) / diagonal};
    };
    const auto [most, rms] = differs(proxied);
    const auto [plain_most, plain_rms] = differs(plain);
    std::printf("%s: by proxy off by %.5f of the diagonal, rms %.6f; as it is %.5f, %.6f\n",
                clip.name.c_str(), most, rms, plain_most, plain_rms);
    EXPECT_LT(most, 1.5e-2);
    EXPECT_LT(rms, 1e-3);
  }
}

TEST_F(ALargeHead, ShutsItsEyesAndPartsItsLips) {
  const Character head = byProxy();
  EXPECT_LT(gapOf(head, held(head, "blink")), 0.005);
  const std::vector<Vec3f> open = held(head, "jawOpen");
  Diagnostics notes;
  const std::optional<FaceSlit> mouth = findFaceSlits(head.mesh, head.points, notes).mouth;
  ASSERT_TRUE(mouth.has_value());
  const auto lowest = [&](const std::vector<std::uint32_t>& chain, std::size_t k) {
    return open[chain[k]].y() - head.mesh.positions[chain[k]].y();
  };
  EXPECT_LT(lowest(mouth->lower, mouth->lower.size() / 2), -0.01f);
  EXPECT_GT(lowest(mouth->upper, mouth->upper.size() / 2), -0.002f);
}

TEST_F(ALargeHead, GetsShapesWithNormalsOfItsOwn) {
  Character full = head_;
  HeadProxy proxy = *HeadProxy::of(full, {}, kTriangles, kTriangles);
  proxy.keepShapes(*arkitShapes(proxy.head(), notes_), notes_);
  ASSERT_EQ(full.morphs.size(), 52u);
  const std::vector<MorphTarget> plain = *arkitShapes(head_, notes_);
  const double diagonal = diagonalOf(head_);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    SCOPED_TRACE(plain[i].name);
    const auto moved = [&](const MorphTarget& m) {
      std::vector<Vec3f> out = head_.mesh.positions;
      for (std::size_t k = 0; k < m.vertices.size(); ++k) out[m.vertices[k]] += m.positions[k];
      return out;
    };
    EXPECT_EQ(full.morphs[i].name, plain[i].name);
    const std::vector<Vec3f> now = moved(full.morphs[i]);
    EXPECT_LT(farthest(now, moved(plain[i])), 2.5e-2 * diagonal);
    if (plain[i].name != "jawOpen") continue;
    const std::vector<std::uint32_t> weld = weldMap(head_.mesh.positions);
    const std::vector<Vec3f> rest =
        areaWeightedNormals(head_.mesh.positions, head_.mesh.triangles, weld);
    const std::vector<Vec3f> normals = areaWeightedNormals(now, head_.mesh.triangles, weld);
    const MorphTarget& m = full.morphs[i];
    for (std::size_t k = 0; k < m.vertices.size(); ++k)
      EXPECT_NEAR((rest[m.vertices[k]] + m.normals[k] - normals[m.vertices[k]]).norm(), 0, 1e-5);
  }
}

TEST_F(ALargeHead, PointsGoThereAndBack) {
  Character full = head_;
  HeadProxy proxy = *HeadProxy::of(full, {}, kTriangles, kTriangles);
  const std::vector<LabelledPoint> back = proxy.onFull(proxy.head().points);
  ASSERT_EQ(back.size(), head_.points.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    const auto at = [&](const SurfacePoint& p) {
      return positionAt(p, head_.mesh.triangles, head_.mesh.positions);
    };
    EXPECT_EQ(back[i].label, head_.points[i].label);
    EXPECT_LT((at(back[i].point) - at(head_.points[i].point)).norm(), 1e-3 * diagonalOf(head_));
  }
}

TEST(HeadProxy, ASmallHeadIsItsOwn) {
  Character head = makeCastMember("head-a").value();
  HeadProxy proxy = *HeadProxy::of(head);
  EXPECT_FALSE(proxy.isCoarse());
  EXPECT_EQ(&proxy.head(), &head);
}

/// What a body's vertices followed stays with them, but for what the face takes.
TEST(HeadProxy, ABodyKeepsWhatItHad) {
  Character body = divided("man", 1);
  const JointId root(0), head(1);
  body.skeleton.joints = {{"root", JointId(), {}}, {"Head", root, {}}};
  SkinBuilder builder({{root, Affine3f::Identity()}, {head, Affine3f::Identity()}},
                      body.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : body.mesh.positions) {
    const float share = std::clamp(10 * (p.y() - 0.02f), 0.0f, 1.0f);
    row = {{0, 1 - share}, {1, share}};
    builder.addVertex(row, 0, "test", notes);
  }
  body.skin = std::move(builder).finish();
  const Skin before = body.skin;
  HeadProxy proxy = *HeadProxy::of(body, {}, 27000, 27000);
  const FaceRig rig = *addFaceRig(proxy.head(), {}, notes);
  EXPECT_EQ(proxy.head().skeleton[rig.head].name, "Head");
  ASSERT_TRUE(proxy.keepRig(rig, 4, notes).ok());
  ASSERT_TRUE(validate(body).ok());
  EXPECT_EQ(body.skeleton.joints.size(), 30u);
  std::size_t same = 0, moved = 0;
  for (std::size_t v = 0; v < before.vertexCount(); ++v) {
    const auto ofRoot = [](std::span<const Influence> r) {
      double sum = 0;
      for (const Influence& i : r) sum += i.slot == 0 ? static_cast<double>(i.weight) : 0;
      return sum;
    };
    EXPECT_NEAR(ofRoot(body.skin[v]), ofRoot(before[v]), 1e-5);
    same += std::ranges::equal(body.skin[v], before[v]) ? 1 : 0;
    moved += body.skin[v].size() > 2 ? 1 : 0;
  }
  EXPECT_GT(same, before.vertexCount() / 4);
  EXPECT_GT(moved, before.vertexCount() / 10);
}

}  // namespace
}  // namespace derm::head_proxy_test
