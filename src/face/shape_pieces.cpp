#include "face/shape_pieces.h"

#include <algorithm>
#include <cmath>

#include "derm/math/decompositions.h"
#include "derm/math/polar.h"

namespace derm::detail {
namespace {

// In eye distances.
constexpr double kChin = 0.6;     ///< skin within this of the chin's point tells the jaw's motion
constexpr double kOnSkin = 0.12;  ///< a piece whose points are no farther lies on the skin
/// A jaw turns and shifts: what the chin does beyond is skin alone, and the teeth do not follow.
constexpr double kRigid = 0.35;

Vec3d meanOf(const WeldedMesh& mesh, std::span<const std::uint32_t> points) {
  Vec3d sum = Vec3d::Zero();
  for (const std::uint32_t p : points) sum += mesh.positions[p];
  return sum / static_cast<double>(points.size());
}

Vec3d middleOf(const WeldedMesh& mesh, const FaceSlit& slit) {
  Vec3d sum = Vec3d::Zero();
  for (const auto* chain : {&slit.upper, &slit.lower})
    for (const std::uint32_t v : *chain) sum += mesh.positions[mesh.of_vertex[v]];
  return sum / static_cast<double>(slit.upper.size() + slit.lower.size());
}

/// The ball nearest to the points, if they lie on one: |x|^2 = 2 c x + (r^2 - |c|^2), least
/// squares.
std::optional<Eyeball> ballThrough(const WeldedMesh& mesh, std::span<const std::uint32_t> points) {
  if (points.size() < 12) return {};
  const Vec3d origin = meanOf(mesh, points);
  Eigen::Matrix4d normal = Eigen::Matrix4d::Zero();
  Eigen::Vector4d right = Eigen::Vector4d::Zero();
  for (const std::uint32_t p : points) {
    const Vec3d x = mesh.positions[p] - origin;
    const Eigen::Vector4d row(2 * x[0], 2 * x[1], 2 * x[2], 1);
    normal += row * row.transpose();
    right += row * x.squaredNorm();
  }
  const Eigen::Vector4d found = solveSymmetric(normal, right);
  const Vec3d centre = found.head<3>();
  const double squared = found[3] + centre.squaredNorm();
  if (!(squared > 0)) return {};
  const double radius = std::sqrt(squared);
  double misfit = 0;
  for (const std::uint32_t p : points)
    misfit += std::pow((mesh.positions[p] - origin - centre).norm() - radius, 2);
  misfit = std::sqrt(misfit / static_cast<double>(points.size()));
  // A strip of lashes lies on a ball, too, but around nothing of it.
  if (!(misfit < 0.12 * radius) || centre.norm() > 0.65 * radius) return {};
  double farthest = 0;
  for (const std::uint32_t p : points)
    farthest = std::max(farthest, (mesh.positions[p] - origin - centre).norm());
  return Eyeball{origin + centre, radius, farthest};
}

bool isEyeballOf(const WeldedMesh& mesh, const FaceSlit& slit, const Eyeball& ball) {
  const Vec3d offset = ball.centre - middleOf(mesh, slit);
  const double w = slit.width_m;
  return std::abs(offset.dot(slit.along)) < 0.5 * w && std::abs(offset.dot(slit.up)) < 0.5 * w &&
         offset.dot(slit.outward) < 0 && offset.norm() < 1.2 * w && ball.radius_m > 0.25 * w &&
         ball.radius_m < 1.2 * w;
}

}  // namespace

FacePieces::FacePieces(const WeldedMesh& mesh, std::uint32_t skin, const FaceSlits& slits,
                       const std::optional<Vec3d>& chin, double eye_distance_m)
    : mesh_(mesh) {
  std::vector<Triangle> skin_triangles;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (!mesh.flat[t] && mesh.pieces.of_vertex[mesh.triangles[t][0]] == skin)
      skin_triangles.push_back(mesh.triangles[t]);
  const TriangleTree tree(mesh.positions, skin_triangles);
  std::vector<std::vector<std::uint32_t>> members(mesh.pieces.count);
  for (std::uint32_t p = 0; p < mesh.pointCount(); ++p)
    members[mesh.pieces.of_vertex[p]].push_back(p);

  std::vector<std::pair<double, std::uint32_t>> in_mouth;  // height, piece
  for (std::uint32_t piece = 0; piece < members.size(); ++piece) {
    const std::vector<std::uint32_t>& points = members[piece];
    if (piece == skin || points.empty()) continue;
    if (const std::optional<Eyeball> ball = ballThrough(mesh, points)) {
      bool eye = false;
      for (const bool left : {true, false}) {
        const std::optional<FaceSlit>& slit = left ? slits.left_eye : slits.right_eye;
        std::optional<Eyeball>& found = left ? left_ : right_;
        if (!slit || !isEyeballOf(mesh, *slit, *ball)) continue;
        // Of a shell of several balls the largest is what lids lie on.
        if (!found || ball->radius_m > found->radius_m) found = ball;
        std::vector<std::uint32_t>& of_eye = left ? left_points_ : right_points_;
        of_eye.insert(of_eye.end(), points.begin(), points.end());
        eye = true;
      }
      if (eye) continue;
    }
    const Vec3d centre = meanOf(mesh, points);
    if (slits.mouth) {
      const Vec3d offset = centre - middleOf(mesh, *slits.mouth);
      const double w = slits.mouth->width_m;
      if (std::abs(offset.dot(slits.mouth->along)) < 0.6 * w &&
          std::abs(offset.dot(slits.mouth->up)) < 0.8 * w &&
          offset.dot(slits.mouth->outward) < 0.05 * w &&
          offset.dot(slits.mouth->outward) > -1.6 * w) {
        in_mouth.push_back({offset.dot(slits.mouth->up), piece});
        continue;
      }
    }
    std::vector<Follower> followers;
    for (const std::uint32_t p : points) {
      const auto nearest = tree.closestPoint(mesh.positions[p], kOnSkin * eye_distance_m);
      if (!nearest) break;
      followers.push_back({p, skin_triangles[nearest->triangle], nearest->barycentric});
    }
    if (followers.size() == points.size())
      followers_.insert(followers_.end(), followers.begin(), followers.end());
  }
  follows_.assign(mesh.pointCount(), false);
  for (const Follower& f : followers_) follows_[f.point] = true;
  if (!in_mouth.empty()) {
    // Teeth may lie lower or higher than the lips meet: of several pieces the lower half counts.
    const auto [lowest, highest] = std::minmax_element(in_mouth.begin(), in_mouth.end());
    const bool several = highest->first - lowest->first > 0.05 * slits.mouth->width_m;
    const double middle = several ? (lowest->first + highest->first) / 2 : 0.0;
    for (const auto& [height, piece] : in_mouth)
      if (height < middle)
        with_jaw_.insert(with_jaw_.end(), members[piece].begin(), members[piece].end());
  }
  if (chin)
    for (const std::uint32_t p : members[skin])
      if ((mesh.positions[p] - *chin).norm() < kChin * eye_distance_m) jaw_skin_.push_back(p);
}

void FacePieces::turnEyeball(bool left, const Mat3d& turn, std::span<Vec3d> shape) const {
  const std::optional<Eyeball>& ball = left ? left_ : right_;
  if (!ball) return;
  for (const std::uint32_t p : left ? left_points_ : right_points_) {
    const Vec3d offset = mesh_.positions[p] - ball->centre;
    shape[p] = turn * offset - offset;
  }
}

void FacePieces::follow(std::span<Vec3d> shape) const {
  for (const Follower& f : followers_)
    shape[f.point] = f.shares[0] * shape[f.skin[0]] + f.shares[1] * shape[f.skin[1]] +
                     f.shares[2] * shape[f.skin[2]];
  if (with_jaw_.empty() || jaw_skin_.size() < 3) return;
  const double n = static_cast<double>(jaw_skin_.size());
  Vec3d rest = Vec3d::Zero(), now = Vec3d::Zero();
  for (const std::uint32_t p : jaw_skin_) {
    rest += mesh_.positions[p] / n;
    now += (mesh_.positions[p] + shape[p]) / n;
  }
  Mat3d turn = Mat3d::Zero();
  double moved = 0;
  for (const std::uint32_t p : jaw_skin_) {
    turn += (mesh_.positions[p] + shape[p] - now) * (mesh_.positions[p] - rest).transpose();
    moved += shape[p].squaredNorm();
  }
  if (!(moved > 0)) return;
  const Mat3d rotation = polarDecomposition(turn).rotation;
  double misfit = 0;
  for (const std::uint32_t p : jaw_skin_)
    misfit += (rotation * (mesh_.positions[p] - rest) + now - mesh_.positions[p] - shape[p])
                  .squaredNorm();
  if (misfit > kRigid * kRigid * moved) return;
  for (const std::uint32_t p : with_jaw_)
    shape[p] = rotation * (mesh_.positions[p] - rest) + now - mesh_.positions[p];
}

}  // namespace derm::detail
