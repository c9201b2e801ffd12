#include "derm/face/head_registration.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/cast/heads.h"
#include "derm/face/face_features.h"
#include "derm/mesh/measures.h"

#include "ict_heads.h"
#include "support/compare.h"

namespace derm::head_registration_test {
namespace {

Character head(SyntheticHeadDesc desc) {
  desc.asymmetry_cm = 0.03;
  Result<Character> made = makeSyntheticHead(desc);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return *std::move(made);
}

const Character& headA() {
  static const Character a = head(syntheticHeadA());
  return a;
}
const Character& headB() {
  static const Character b = head(syntheticHeadB());
  return b;
}

/// Another place, size and order of everything.
TriMesh moved(const TriMesh& mesh, const Mat3d& rotation, double scale, const Vec3d& shift,
              bool shuffled) {
  TriMesh out;
  out.triangles = mesh.triangles;
  out.positions.resize(mesh.vertexCount());
  std::vector<std::uint32_t> order(mesh.vertexCount());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  Rng rng(5);
  if (shuffled)
    for (std::size_t v = order.size(); v > 1; --v) std::swap(order[v - 1], order[rng.below(v)]);
  for (std::size_t v = 0; v < order.size(); ++v)
    out.positions[order[v]] =
        (scale * (rotation * mesh.positions[v].cast<double>()) + shift).cast<float>();
  for (Triangle& t : out.triangles)
    for (std::uint32_t& corner : t) corner = order[corner];
  if (shuffled)
    for (std::size_t t = out.triangles.size(); t > 1; --t)
      std::swap(out.triangles[t - 1], out.triangles[rng.below(t)]);
  return out;
}

Mat3d turn(double angle, const Vec3d& axis) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

Vec3d pointOf(const Character& c, std::string_view label) {
  for (const LabelledPoint& p : c.points)
    if (p.label == label)
      return positionAt(p.point, c.mesh.triangles, c.mesh.positions).cast<double>();
  ADD_FAILURE() << label;
  return Vec3d::Zero();
}

/// Mean distance of the found points to the true ones, % of the target's diagonal. `truth` is
/// where a point of the unmoved target lies now.
template <class Truth>
double meanError(const HeadRegistration& found, const TriMesh& target, const Character& original,
                 const Truth& truth) {
  double sum = 0;
  for (const LandmarkMatch& m : found.landmarks)
    sum += (positionAt(m.point, target.triangles, target.positions).cast<double>() -
            truth(pointOf(original, m.label)))
               .norm();
  const double scale = (truth(Vec3d::UnitX()) - truth(Vec3d::Zero())).norm();
  return 100 * sum / static_cast<double>(found.landmarks.size()) /
         (scale * bounds(original.mesh.positions).diagonal());
}

Result<HeadRegistration> registered(const Character& source, const TriMesh& target,
                                    const RegistrationDesc& desc = {}) {
  Diagnostics notes;
  return registerHeads(source.mesh, source.points, target, desc, notes);
}

const RegistrationDesc kUpright = {.pose = HeadPose::Upright};

TEST(HeadRegistration, FindsThePointsOfAnotherHead) {
  const Mat3d rotation = turn(0.2, Vec3d::UnitX());
  for (const auto& [from, to] : {std::pair{&headA(), &headB()}, {&headB(), &headA()}}) {
    const TriMesh target = moved(to->mesh, rotation, 1000, Vec3d(10, -20, 30), true);
    const auto r = registered(*from, target, kUpright);
    ASSERT_TRUE(r.ok()) << r.error().text();
    EXPECT_EQ(r->verdict, RegistrationVerdict::Good);
    EXPECT_LT(r->residual, 0.2);
    ASSERT_EQ(r->landmarks.size(), from->points.size());
    const auto truth = [&](const Vec3d& p) -> Vec3d {
      return 1000 * (rotation * p) + Vec3d(10, -20, 30);
    };
    EXPECT_LT(meanError(*r, target, *to, truth), 0.9);
    for (const LandmarkMatch& m : r->landmarks) {
      EXPECT_TRUE(validate(m.point, target.triangles.size(), m.label).ok());
      EXPECT_GT(m.confidence, 0);
      EXPECT_LE(m.confidence, 1);
    }
    // The map and its inverse, and the slope by differences.
    const Vec3d p = pointOf(*from, "8.3");
    EXPECT_LT((r->map.inverse(r->map(p)) - p).norm(), 1e-9);
    const double step = 1e-5;
    const Vec3d along = (r->map(p + step * Vec3d::UnitY()) - r->map(p)) / step;
    EXPECT_LT((r->map.slope(p).col(1) - along).norm(), 0.02 * along.norm());
  }
}

TEST(HeadRegistration, OrderScaleAndPlaceDoNotMatter) {
  const TriMesh plain = moved(headB().mesh, Mat3d::Identity(), 1, Vec3d::Zero(), false);
  const TriMesh large = moved(headB().mesh, Mat3d::Identity(), 1000, Vec3d::Zero(), true);
  const auto a = registered(headA(), plain, kUpright);
  const auto b = registered(headA(), large, kUpright);
  ASSERT_TRUE(a.ok() && b.ok());
  const double unit = a->map.targetFrame().unit;
  for (std::size_t i = 0; i < a->landmarks.size(); ++i) {
    const Vec3d p =
        positionAt(a->landmarks[i].point, plain.triangles, plain.positions).cast<double>();
    const Vec3d q =
        positionAt(b->landmarks[i].point, large.triangles, large.positions).cast<double>() / 1000;
    EXPECT_LT((p - q).norm() / unit, 1e-6) << a->landmarks[i].label;
  }
}

TEST(HeadRegistration, AnyPoseIsFound) {
  // The same head in another tessellation: what is tested is the pose.
  SyntheticHeadDesc desc = syntheticHeadA();
  desc.mesh = SyntheticHeadDesc::Mesh::LatLong;
  const Character other = head(desc);
  for (const auto& [angle, axis] : {std::pair{std::acos(-1.0), Vec3d(1, 0, 0)},
                                    {0.52, Vec3d(0, 0, 1)},
                                    {2.0, Vec3d(1, 2, -0.5)}}) {
    const Mat3d rotation = turn(angle, axis);
    const TriMesh target = moved(other.mesh, rotation, 0.01, Vec3d(1, 2, 3), true);
    const auto r = registered(headA(), target);
    ASSERT_TRUE(r.ok()) << r.error().text();
    EXPECT_GT((r->map.targetFrame().axes.transpose() * rotation).trace(), 1 + 2 * 0.98);
    const auto truth = [&](const Vec3d& p) -> Vec3d {
      return 0.01 * (rotation * p) + Vec3d(1, 2, 3);
    };
    EXPECT_LT(meanError(*r, target, other, truth), 0.5);
  }
}

TEST(HeadRegistration, MirroredAndInsideOut) {
  TriMesh mirrored = headB().mesh;
  for (Vec3f& p : mirrored.positions) p.x() = -p.x();
  // Positions alone are mirrored, so the triangles now face inwards.
  const auto r = registered(headA(), mirrored, kUpright);
  ASSERT_TRUE(r.ok()) << r.error().text();
  // The subject's left is where it is seen, not where it was before.
  for (const LandmarkMatch& m : r->landmarks) {
    if (m.label != "8.3") continue;
    EXPECT_GT(positionAt(m.point, mirrored.triangles, mirrored.positions).x(), 0.01f);
  }
  EXPECT_LT(r->residual, 0.2);
}

/// A mesh that was modelled by halves gets points that are each other's mirror images.
TEST(HeadRegistration, PointsOfASymmetricHeadAreSymmetric) {
  const Character target = *makeSyntheticHead(syntheticHeadA());
  const auto r = registered(headB(), target.mesh, kUpright);
  ASSERT_TRUE(r.ok()) << r.error().text();
  const auto place = [&](std::string_view label) {
    for (const LandmarkMatch& m : r->landmarks)
      if (m.label == label)
        return Vec3d(
            positionAt(m.point, target.mesh.triangles, target.mesh.positions).cast<double>());
    return Vec3d(1, 1, 1);
  };
  const double unit = r->map.targetFrame().unit;
  for (const LandmarkMatch& m : r->landmarks) {
    const Vec3d p = place(m.label), q = place(mirroredLabel(m.label));
    EXPECT_LT((p - Vec3d(-q.x(), q.y(), q.z())).norm(), 0.06 * unit) << m.label;
  }
}

/// A face without the back of its head is found; half a face has no mirror image to stand by, and
/// nothing is made up for it.
TEST(HeadRegistration, HalfAHeadIsFoundOrRefused) {
  const auto cut = [&](auto keep) {
    TriMesh mesh = headB().mesh;
    std::erase_if(mesh.triangles, [&](const Triangle& t) {
      return !keep(mesh.positions[t[0]]) || !keep(mesh.positions[t[1]]) ||
             !keep(mesh.positions[t[2]]);
    });
    return mesh;
  };
  const TriMesh mask = cut([](const Vec3f& p) { return p.z() > 0; });
  const auto front = registered(headA(), mask, kUpright);
  ASSERT_TRUE(front.ok()) << front.error().text();
  EXPECT_LT(meanError(*front, mask, headB(), [](const Vec3d& p) { return p; }), 0.9);
  const TriMesh half = cut([](const Vec3f& p) { return p.x() > 0; });
  const auto refused = registered(headA(), half);
  ASSERT_FALSE(refused.ok()) << refused->residual;
  EXPECT_NE(refused.error().message.find("cannot find a face"), std::string::npos);
  // Told that it is upright it may be taken for one, but not without a word.
  if (const auto upright = registered(headA(), half, kUpright); upright.ok()) {
    EXPECT_EQ(upright->verdict, RegistrationVerdict::Doubtful) << upright->residual;
  }
}

TEST(HeadRegistration, SameBitsForAnyThreadCount) {
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    return registered(headA(), headB().mesh, kUpright);
  };
  const auto one = run(1);
  const auto four = run(4);
  ASSERT_TRUE(one.ok() && four.ok());
  EXPECT_EQ(one->residual, four->residual);
  EXPECT_EQ(one->landmarks, four->landmarks);
}

TEST(HeadRegistration, KnownPointsAreHonoured) {
  RegistrationDesc desc = kUpright;
  // A mouth corner said to be elsewhere, 6 mm out.
  const Vec3d wanted = pointOf(headB(), "8.3") + Vec3d(0.006, 0, 0);
  const std::optional<SurfacePoint> at = nearestSurfacePoint(headB().mesh, wanted);
  ASSERT_TRUE(at);
  desc.target_points.push_back({"8.3", *at});
  const auto plain = registered(headA(), headB().mesh, kUpright);
  const auto r = registered(headA(), headB().mesh, desc);
  ASSERT_TRUE(plain.ok() && r.ok());
  const auto place = [&](const HeadRegistration& found, std::string_view label) -> Vec3d {
    for (const LandmarkMatch& m : found.landmarks)
      if (m.label == label)
        return positionAt(m.point, headB().mesh.triangles, headB().mesh.positions).cast<double>();
    return Vec3d::Zero();
  };
  const Vec3d given =
      positionAt(*at, headB().mesh.triangles, headB().mesh.positions).cast<double>();
  EXPECT_EQ(place(*r, "8.3"), given);
  EXPECT_LT((r->map(pointOf(headA(), "8.3")) - given).norm(), 0.001);
  // Its neighbour follows, the other eye stays.
  EXPECT_GT((place(*r, "8.5") - place(*plain, "8.5")).norm(), 0.0003);
  EXPECT_LT((place(*r, "3.2") - place(*plain, "3.2")).norm(), 0.0005);
}

TEST(HeadRegistration, WhatItRefuses) {
  Diagnostics notes;
  const auto few =
      registerHeads(headA().mesh, std::span(headA().points).first(3), headB().mesh, {}, notes);
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().code, ErrorCode::BadArgument);
  EXPECT_NE(few.error().message.find("at least 4"), std::string::npos);

  const auto empty = registered(headA(), TriMesh{});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message, "cannot find a face: the target has no surface");

  RegistrationDesc desc;
  desc.sites = 10;
  EXPECT_FALSE(registered(headA(), headB().mesh, desc).ok());

  int asked = 0;
  const auto stopped = registerHeads(headA().mesh, headA().points, headB().mesh, kUpright, notes,
                                     [&](double, std::string_view) { return ++asked < 3; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

/// Two heads in one file: it must not take either, unless it is told which.
TEST(HeadRegistration, TwoHeadsAreNamed) {
  TriMesh two = headA().mesh;
  const TriMesh other = moved(headA().mesh, Mat3d::Identity(), 1, Vec3d(0.3, 0, 0), false);
  const auto first = static_cast<std::uint32_t>(two.positions.size());
  two.normals.clear();
  two.uvs.clear();
  two.colours.clear();
  two.tangents.clear();
  two.groups.clear();
  two.positions.insert(two.positions.end(), other.positions.begin(), other.positions.end());
  for (const Triangle& t : other.triangles)
    two.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  Diagnostics notes;
  RegistrationDesc desc;
  desc.pose = HeadPose::Upright;
  const auto refused = registerHeads(headB().mesh, headB().points, two, desc, notes);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.rfind("has two heads", 0), 0u) << refused.error().text();
  EXPECT_EQ(refused.error().where.element, "target");
  // The first head's triangles come first, so its points are those of the head alone.
  desc.target_points = headA().points;
  EXPECT_TRUE(registerHeads(headB().mesh, headB().points, two, desc, notes).ok());
}

TEST(HeadRegistration, FrameOfTheSource) {
  const auto upright = faceFrame(headA().mesh, headA().points);
  ASSERT_TRUE(upright.ok());
  EXPECT_EQ(upright->axes, Mat3d(Mat3d::Identity()));
  // A source that lies on its back: labels tell how it stands, and the result stays.
  const Mat3d rotation = turn(-std::acos(-1.0) / 2, Vec3d::UnitX());
  Character lying = headA();
  for (Vec3f& p : lying.mesh.positions) p = (rotation * p.cast<double>()).cast<float>();
  const auto frame = faceFrame(lying.mesh, lying.points);
  ASSERT_TRUE(frame.ok());
  EXPECT_GT((frame->axes.transpose() * rotation).trace(), 1 + 2 * 0.95);
  const auto r = registered(lying, headB().mesh, kUpright);
  ASSERT_TRUE(r.ok()) << r.error().text();
  EXPECT_LT(meanError(*r, headB().mesh, headB(), [](const Vec3d& p) { return p; }), 1.2);
}

TEST(HeadRegistration, APairOfRealHeads) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  using namespace testing_support;
  const IctHead source = ictHead(folder, "id_C");
  const IctHead target = ictHead(folder, "id_sample");
  Rng rng(8);
  const Disguise disguise{randomRotation(rng)};
  const TriMesh mesh = disguised(target.mesh, disguise, rng);
  Diagnostics notes;
  const auto r = registerHeads(source.mesh, source.points, mesh, {}, notes);
  ASSERT_TRUE(r.ok()) << r.error().text();
  double sum = 0;
  for (std::size_t k = 0; k < r->landmarks.size(); ++k)
    sum += (positionAt(r->landmarks[k].point, mesh.triangles, mesh.positions).cast<double>() -
            disguise(target.mesh.positions[target.landmarks[k]]))
               .norm();
  EXPECT_LT(100 * sum / 68 / (disguise.scale * bounds(target.mesh.positions).diagonal()), 0.6);
}

TEST(DenseCorrespondence, LipsStayOnTheirSide) {
  const auto r = registered(headA(), headB().mesh, kUpright);
  ASSERT_TRUE(r.ok());
  const auto dense = denseCorrespondence(headA().mesh, headB().mesh, *r);
  ASSERT_TRUE(dense.ok()) << dense.error().text();
  ASSERT_TRUE(validate(*dense, headA().mesh.triangles.size(), headB().mesh.vertexCount()).ok());
  const double mouth_a = pointOf(headA(), "8.3").y();
  const double mouth_b = pointOf(headB(), "8.3").y();
  const double half_width = pointOf(headB(), "8.3").x();
  std::size_t lips = 0, wrong = 0, none_behind = 0, behind = 0;
  for (std::size_t v = 0; v < headB().mesh.vertexCount(); ++v) {
    const Vec3d p = headB().mesh.positions[v].cast<double>();
    if (p.z() < -0.06) {
      ++behind;
      none_behind += dense->confidence[v] == 0;
    }
    const double above = p.y() - mouth_b;
    if (p.z() < 0.05 || std::abs(p.x()) > 0.7 * half_width || std::abs(above) > 0.006 ||
        std::abs(above) < 0.001)
      continue;
    ++lips;
    ASSERT_TRUE(dense->has(v)) << v;
    const Vec3f q =
        positionAt(dense->source_points[v], headA().mesh.triangles, headA().mesh.positions);
    wrong += (q.y() - mouth_a) * above < 0;
  }
  EXPECT_GT(lips, 20u);
  EXPECT_LE(wrong, lips / 50);
  EXPECT_EQ(none_behind, behind);
}

}  // namespace
}  // namespace derm::head_registration_test
