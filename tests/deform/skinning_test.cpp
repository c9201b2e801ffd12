#include "derm/deform/skinning.h"

#include <limits>

#include "deform/skinning_rig.h"

namespace derm::skinning_test {
namespace {

using namespace skinning_test;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Small {
  Surface rest;
  Skin skin;
};

Small smallCase(std::size_t vertices = 12) {
  Rng rng(1);
  return {randomSurface(rng, vertices), randomSkin(rng, vertices, 4, 3)};
}

Error bindError(const Small& c, const SkinningDesc& desc = {}) {
  Diagnostics notes;
  Result<SkinningBinding> result = SkinningBinding::bind(c.rest.streams(), c.skin, desc, notes);
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

std::vector<Affine3f> identities(std::size_t count) {
  return std::vector<Affine3f>(count, Affine3f::Identity());
}

TEST(SkinningMethodNames, AreReadBackAsWritten) {
  for (const SkinningMethod method : kAllMethods) {
    const Result<SkinningMethod> back = parseSkinningMethod(name(method));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, method);
  }
}

TEST(SkinningMethodNames, UnknownOnesListTheNearest) {
  const Result<SkinningMethod> method = parseSkinningMethod("dual-quaternions");
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(method.error().code, ErrorCode::BadArgument);
  EXPECT_NE(method.error().text().find("did you mean \"dual-quaternion\""), std::string::npos)
      << method.error().text();
}

TEST(SkinningBind, NamesTheStreamAndVertexThatIsNotFinite) {
  Small c = smallCase();
  c.rest.positions[3].y() = kNan;
  EXPECT_EQ(bindError(c).text(), "positions[3]: not a finite number");
  c = smallCase();
  c.rest.normals[4].z() = kInfinity;
  EXPECT_EQ(bindError(c).text(), "normals[4]: not a finite number");
  c = smallCase();
  c.rest.tangents[5].w() = kNan;
  EXPECT_EQ(bindError(c).text(), "tangents[5]: not a finite number");
}

TEST(SkinningBind, RefusesStreamsOfTheWrongLength) {
  Small c = smallCase();
  c.rest.normals.pop_back();
  EXPECT_EQ(bindError(c).text(), "normals: 11 entries for 12 vertices");
  c = smallCase();
  c.rest.tangents.emplace_back(1, 0, 0, 1);
  EXPECT_EQ(bindError(c).text(), "tangents: 13 entries for 12 vertices");
}

TEST(SkinningBind, RefusesSkinsThatBreakTheirRules) {
  Small c = smallCase();
  c.skin.influences[2].slot = 4;
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.influences[2].weight = kNan;
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.influences[0].weight *= 0.5f;
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.offsets.pop_back();
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.offsets[1] = 1000;
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.offsets[2] = c.skin.offsets[1];
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
  c = smallCase();
  c.skin.slots[1].inverse_bind.translation().x() = kInfinity;
  EXPECT_EQ(bindError(c).code, ErrorCode::BadData);
}

TEST(SkinningBind, RefusesSharesThatMakeNoSense) {
  const Small c = smallCase();
  SkinningDesc desc{.dual_quaternion_share = std::vector<float>(11, 0.5f)};
  EXPECT_EQ(bindError(c, desc).text(), "dual_quaternion_share: 11 entries for 12 vertices");
  desc.dual_quaternion_share.assign(12, 0.5f);
  for (const float wrong : {-0.1f, 1.1f, kNan}) {
    desc.dual_quaternion_share[7] = wrong;
    EXPECT_EQ(bindError(c, desc).text(), "dual_quaternion_share[7]: not in [0,1]");
  }
  desc.dual_quaternion_share[7] = 1;
  desc.method = SkinningMethod::Rigid;
  EXPECT_EQ(bindError(c, desc).code, ErrorCode::BadArgument);
}

TEST(SkinningBind, NotesDirectionsWithoutLengthAndGivesThemOne) {
  Small c = smallCase();
  c.rest.normals[2].setZero();
  c.rest.tangents[9] = Vec4f(0, 0, 0, 1);
  Diagnostics notes;
  const Result<SkinningBinding> binding =
      SkinningBinding::bind(c.rest.streams(), c.skin, {}, notes);
  ASSERT_TRUE(binding.ok());
  EXPECT_EQ(notes.count("normal-without-length"), 1u);
  EXPECT_EQ(notes.count("tangent-without-length"), 1u);
  const Surface out = skinned(c.rest, c.skin, {}, identities(4));
  EXPECT_EQ(out.normals[2], Vec3f(0, 1, 0));
  EXPECT_EQ(out.tangents[9], Vec4f(1, 0, 0, 1));
}

TEST(Skinning, EmptySurfaceAndSurfaceWithoutDirectionsWork) {
  for (const SkinningMethod method : kAllMethods) {
    const Surface none = skinned({}, {}, {.method = method}, {});
    EXPECT_TRUE(none.positions.empty());
    Small c = smallCase();
    c.rest.normals.clear();
    c.rest.tangents.clear();
    const Surface out = skinned(c.rest, c.skin, {.method = method}, identities(4));
    for (std::size_t v = 0; v < 12; ++v)
      EXPECT_LT((out.positions[v] - c.rest.positions[v]).norm(), 1e-6f);
  }
}

TEST(Skinning, RigidFollowsTheLargestInfluenceAndOfEqualOnesTheLowestSlot) {
  Skin skin;
  skin.slots = {{.joint = JointId(0)}, {.joint = JointId(1)}, {.joint = JointId(2)}};
  skin.offsets = {0, 2, 4};
  skin.influences = {{2, 0.6f}, {0, 0.4f}, {1, 0.5f}, {2, 0.5f}};
  std::vector<Affine3f> palette = identities(3);
  for (int s = 0; s < 3; ++s) palette[static_cast<std::size_t>(s)].translation().x() = float(s);
  Surface rest;
  rest.positions = {{0, 1, 0}, {0, 2, 0}};
  const Surface out = skinned(rest, skin, {.method = SkinningMethod::Rigid}, palette);
  EXPECT_EQ(out.positions[0], Vec3f(2, 1, 0));
  EXPECT_EQ(out.positions[1], Vec3f(1, 2, 0));
}

TEST(Skinning, SharesZeroAndOneAreExactlyThePureMethods) {
  Rng rng(2);
  const Surface rest = randomSurface(rng, 500);
  const Skin skin = randomSkin(rng, 500, 10, 4);
  const std::vector<Affine3f> palette = randomPalette(rng, 10, Motion::Stretch);
  const Surface linear = skinned(rest, skin, {}, palette);
  const Surface dual = skinned(rest, skin, {.method = SkinningMethod::DualQuaternion}, palette);
  SkinningDesc desc;
  for (int v = 0; v < 500; ++v)
    desc.dual_quaternion_share.push_back(v % 3 == 0 ? 0.0f : v % 3 == 1 ? 1.0f : 0.4f);
  const Surface mixed = skinned(rest, skin, desc, palette);
  for (std::size_t v = 0; v < 500; ++v) {
    if (v % 3 == 2) continue;
    const Surface& wanted = v % 3 == 0 ? linear : dual;
    EXPECT_EQ(mixed.positions[v], wanted.positions[v]);
    EXPECT_EQ(mixed.normals[v], wanted.normals[v]);
    EXPECT_EQ(mixed.tangents[v], wanted.tangents[v]);
  }
}

TEST(Skinning, MatrixThatIsNotFiniteCountsAsTheIdentity) {
  const Small c = smallCase();
  Rng rng(3);
  std::vector<Affine3f> palette = randomPalette(rng, 4, Motion::Rigid);
  std::vector<Affine3f> broken = palette;
  palette[1] = palette[3] = Affine3f::Identity();
  broken[1].matrix()(2, 3) = kNan;
  broken[3].matrix()(0, 0) = -kInfinity;
  for (const SkinningMethod method : kAllMethods)
    EXPECT_EQ(skinned(c.rest, c.skin, {.method = method}, broken),
              skinned(c.rest, c.skin, {.method = method}, palette));
}

TEST(Skinning, DirectionsBlendedToNothingKeepTheirRestDirection) {
  const Small c = smallCase();
  std::vector<Affine3f> flat(4);
  for (Affine3f& m : flat) {
    m.linear().setZero();
    m.translation() = Vec3f(1, 2, 3);
  }
  for (const SkinningMethod method : kAllMethods) {
    SCOPED_TRACE(name(method));
    const Surface out = skinned(c.rest, c.skin, {.method = method}, flat);
    for (std::size_t v = 0; v < 12; ++v) {
      EXPECT_LT((out.positions[v] - Vec3f(1, 2, 3)).norm(), 1e-5f);
      EXPECT_LT((out.normals[v] - c.rest.normals[v]).norm(), 1e-6f);
      EXPECT_LT((out.tangents[v].head<3>() - c.rest.tangents[v].head<3>()).norm(), 1e-6f);
    }
  }
}

TEST(Skinning, DirectionsAreUnitAndFiniteUnderWildMatrices) {
  Rng rng(4);
  const Surface rest = randomSurface(rng, 400);
  const Skin skin = randomSkin(rng, 400, 16, 4);
  std::vector<Affine3f> palette = randomPalette(rng, 16, Motion::Mirror);
  palette[0].linear() *= 1e-20f;
  palette[1].linear() *= 1e18f;
  palette[2].linear().col(1).setZero();
  palette[3].linear().col(0) = palette[3].linear().col(1);
  palette[4].linear().setZero();
  palette[5].linear() = Vec3f(1, 2, 3) * Vec3f(-1, 1, 0.5f).transpose();
  for (const SkinningMethod method : kAllMethods) {
    SCOPED_TRACE(name(method));
    const Surface out = skinned(rest, skin, {.method = method}, palette);
    for (std::size_t v = 0; v < 400; ++v) {
      EXPECT_TRUE(out.positions[v].allFinite()) << v;
      EXPECT_NEAR(out.normals[v].norm(), 1, 1e-6) << v;
      EXPECT_NEAR(out.tangents[v].head<3>().norm(), 1, 1e-6) << v;
      EXPECT_EQ(std::abs(out.tangents[v].w()), 1) << v;
    }
  }
}

TEST(Skinning, NormalsStayPerpendicularUnderNonUniformScale) {
  Rng rng(5);
  Surface rest = randomSurface(rng, 60);
  for (std::size_t v = 0; v < 60; ++v) {  // tangents into the surface
    const Vec3f n = rest.normals[v];
    const Vec3f t = n.cross(randomDirection(rng)).normalized();
    rest.tangents[v].head<3>() = t;
  }
  const Skin skin = randomSkin(rng, 60, 6, 1);
  const std::vector<Affine3f> palette = randomPalette(rng, 6, Motion::Stretch);
  for (const SkinningMethod method : kAllMethods) {
    const Surface out = skinned(rest, skin, {.method = method}, palette);
    for (std::size_t v = 0; v < 60; ++v)
      EXPECT_NEAR(out.normals[v].dot(Vec3f(out.tangents[v].head<3>())), 0, 2e-6);
  }
}

TEST(Skinning, MirrorsKeepNormalsOutsideAndFlipTheTangentsSign) {
  const Small c = smallCase();
  Affine3f mirror = Affine3f::Identity();
  mirror.matrix()(0, 0) = -1;
  const std::vector<Affine3f> palette(4, mirror);
  for (const SkinningMethod method : kAllMethods) {
    SCOPED_TRACE(name(method));
    const Surface out = skinned(c.rest, c.skin, {.method = method}, palette);
    for (std::size_t v = 0; v < 12; ++v) {
      EXPECT_LT((out.normals[v] - mirror.linear() * c.rest.normals[v]).norm(), 1e-6f);
      EXPECT_EQ(out.tangents[v].w(), -c.rest.tangents[v].w());
    }
  }
}

TEST(SkinningDeathTest, BordersRefuseBuffersThatDoNotFit) {
  const Small c = smallCase();
  const SkinningBinding binding = bound(c.rest.streams(), c.skin, {});
  SkinningScratch scratch = binding.makeScratch();
  Surface out = emptySurface(12);
  EXPECT_DEATH(binding.evaluate(identities(3), scratch, out.output()), "palette");
  Surface in_place = c.rest;
  EXPECT_DEATH(binding.evaluate(identities(4), in_place.streams(), scratch, in_place.output()),
               "data");
  out.positions.pop_back();
  EXPECT_DEATH(binding.evaluate(identities(4), scratch, out.output()), "positions");
  SkinningScratch other =
      bound(c.rest.streams(), c.skin, {.method = SkinningMethod::DualQuaternion}).makeScratch();
  out = emptySurface(12);
  EXPECT_DEATH(binding.evaluate(identities(4), other, out.output()), "fits");
}

}  // namespace
}  // namespace derm::skinning_test
