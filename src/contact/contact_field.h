#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

#include "contact/contact_body.h"
#include "contact/point_set.h"

/// Private to room contact: what some points should do, as a smooth displacement of the skin.
namespace derm::detail {

/// The displacement d of points that minimises
///     sum m_i (c_i |d_i - t_i|^2 + |d_i|^2) + sum_edges k reach_i reach_j |d_i - d_j|^2
/// with areas m, reaches that are shorter where flesh is thin, k = 1/sqrt(3) (the cotangent weight
/// of equal triangles; always positive, whatever the mesh), wanted displacements t and how sure
/// they are, c. Where nothing is wanted (c = 0) skin follows its neighbours and comes to rest
/// within some times its reach; where wishes disagree they are averaged over reach / sqrt(1 + c).
/// By conjugate gradients from zero.
class ContactField {
 public:
  explicit ContactField(const ContactBody& body);

  void clear();
  /// Adds a wish for a point: the step it should go, how sure that is [0,1], and a weight against
  /// other wishes of the same point.
  void want(std::uint32_t p, const Vec3f& step, float sure, float weight);
  bool empty() const { return wanted_.empty(); }
  std::span<const std::uint32_t> wanted() const { return wanted_.list(); }
  float sureOf(std::uint32_t p) const { return sure_[p]; }

  void solve();
  /// Points that may have moved: all wanted ones and those around them.
  std::span<const std::uint32_t> points() const { return points_.list(); }
  Vec3f at(std::uint32_t p) const {
    return points_.has(p) ? Vec3f(d_[local_[p]].head<3>()) : Vec3f(Vec3f::Zero());
  }
  void set(std::uint32_t p, const Vec3f& d) { d_[local_[p]].head<3>() = d; }
  bool has(std::uint32_t p) const { return points_.has(p); }

 private:
  void gatherRows();
  /// A vector in a register; its fourth number is 0.
  using Row = Eigen::Vector4f;
  double multiply(const std::vector<Row>& from, std::vector<Row>& to) const;

  const ContactBody& body_;
  PointSet wanted_, points_;
  std::vector<Vec3f> step_;           ///< per point: sum of wishes
  std::vector<float> weight_, sure_;  ///< per point
  std::vector<std::uint32_t> local_;  ///< per point of points_: its row
  // Rows, in the order of points_.
  std::size_t count_ = 0;
  std::vector<std::uint32_t> first_, columns_;
  std::vector<float> diagonal_, inverse_, stiffness_;  ///< per row, per row, per entry
  std::vector<Row> d_, residual_, way_, image_;
  std::vector<float> reach_;  ///< per point [m]
  int rings_ = 0;
};

}  // namespace derm::detail
