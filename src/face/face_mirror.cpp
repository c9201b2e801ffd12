#include "face/face_mirror.h"

#include <algorithm>
#include <cmath>

#include "derm/math/decompositions.h"

namespace derm::detail {

FaceMirror findFaceMirror(const MatchPoints& face) {
  constexpr int kRounds = 12;
  constexpr double kFacing = 0.5;  ///< cosine of normals that may belong to each other
  const Tree3 tree = treeOf(face.positions);
  struct Pair {
    double squared;
    std::uint32_t from, to;
  };
  std::vector<Pair> pairs;
  FaceMirror mirror;
  for (int round = 0; round <= kRounds; ++round) {
    pairs.clear();
    for (std::uint32_t i = 0; i < face.size(); ++i) {
      const Tree3::Near near = tree.nearest(treePoint(mirror(face.positions[i])));
      const Vec3d turned = face.normals[i] - 2 * mirror.normal.dot(face.normals[i]) * mirror.normal;
      if (turned.dot(face.normals[near.index]) > kFacing)
        pairs.push_back({near.squared, i, near.index});
    }
    if (pairs.size() < 8) break;
    // What has no counterpart, at the borders above all, is not asked.
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return a.squared != b.squared ? a.squared < b.squared : a.from < b.from;
    });
    pairs.resize(pairs.size() * 3 / 4);
    if (round == kRounds) break;
    // Distances along the normals, linear in small turns of the plane and in its offset: nearest
    // points alone would hold each other where they are.
    Vec3d t1, t2;
    tangents(mirror.normal, Vec3d::UnitY(), t1, t2);
    Mat3d matrix = Mat3d::Zero();
    Vec3d right = Vec3d::Zero();
    for (const Pair& pair : pairs) {
      const Vec3d &p = face.positions[pair.from], &n = face.normals[pair.to];
      const double height = mirror.normal.dot(p) - mirror.offset;
      const Vec3d turn = -2 * (mirror.normal.dot(n) * p + height * n);
      const Vec3d row(turn.dot(t1), turn.dot(t2), 2 * mirror.normal.dot(n));
      matrix += row * row.transpose();
      right -= (mirror(p) - face.positions[pair.to]).dot(n) * row;
    }
    matrix.diagonal().array() += 1e-9 * matrix.trace();
    const Vec3d step = solveSymmetric(matrix, right);
    mirror.normal = (mirror.normal + step.x() * t1 + step.y() * t2).normalized();
    mirror.offset += step.z();
  }
  std::vector<double> off;
  for (const Pair& pair : pairs)
    off.push_back(std::abs(
        (mirror(face.positions[pair.from]) - face.positions[pair.to]).dot(face.normals[pair.to])));
  if (off.empty()) {
    mirror.misfit = 1;
    return mirror;
  }
  const auto middle = off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2);
  std::nth_element(off.begin(), middle, off.end());
  mirror.misfit = *middle;
  return mirror;
}

}  // namespace derm::detail
