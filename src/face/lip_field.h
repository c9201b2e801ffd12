#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/geodesic.h"

#include "face/head_surface.h"
#include "face/slit_sides.h"

namespace derm::detail {

/// How the skin around a mouth follows the eight points of its lips.
///
///              8.1              Elliptic coordinates about the slit between the lips: angles run
///        8.6 .--'--. 8.5        around it, upper lip 0 to pi, lower lip pi to 2 pi; x = cos(angle)
///    8.4 <-----------> 8.3      on the slit itself. So next to a corner a share that is smooth in
///        8.8 '--.--' 8.7        the angle goes with the root of the distance, as the edges of a
///              8.2              crack part: corners of an open mouth are round, and both lips
///                               have the same shares where they meet.
///
/// Around the slit points share by periodic quadratic B-splines over their angles: at most three
/// at a time, and their motion has no kinks between them. Outwards this fades along the skin, from
/// the lips' own border on; inwards from where the lips turn into the mouth.
class LipField {
 public:
  static constexpr std::size_t kCount = 8;
  /// In the order of angles: 8.3 8.5 8.1 8.6 8.4 8.8 8.2 8.7.
  static std::span<const std::string_view, kCount> numbers();

  struct Desc {
    /// [1] per point, as numbers(): how far it reaches outwards over the rule
    std::array<double, kCount> scale = {1, 1, 1, 1, 1, 1, 1, 1};
    /// Each point has all at its own angle; motions then stop at every point.
    bool interpolating = false;
  };
  /// `slit` is the mouth's, where it has one; else the skin goes on from lip to lip, and `contours`
  /// through the points tell where they meet.
  LipField(const HeadSurface& head, const GeodesicSurface& ways, const FacePoints& points,
           const FaceAxes& axes, const std::optional<FaceSlit>& slit, const SlitContours& contours,
           const std::vector<bool>& face, const Desc& desc);

  /// What the lips' points have of a vertex, and what the rest of it follows.
  struct Shares {
    std::array<double, kCount> points{};
    double sum = 0;       ///< [0,1]
    bool inside = false;  ///< the mouth: the rest is jaw below and head above
    double jaw = 0;       ///< [0,1] of an inside vertex's rest
  };
  const Shares& at(std::uint32_t vertex) const { return shares_[vertex]; }

 private:
  using Vec2d = Eigen::Vector2d;
  /// Height of a chain over the way along the mouth, by straight lines between.
  struct Chain {
    std::vector<Vec2d> points;  ///< (along, height), along increasing
    double at(double along) const;
  };
  Chain chainOf(const HeadSurface& head, std::span<const std::uint32_t> vertices) const;
  Vec2d inFrame(const Vec3d& p) const { return {along_.dot(p), up_.dot(p)}; }
  /// [0, 2 pi) of a point; `side` above 0: it belongs to the upper lip, below 0 to the lower one.
  double angleAt(const Vec3d& p, double side) const;
  std::array<double, kCount> splines(double angle) const;
  /// The points' parts around the slit, before they fade; sum 1, inside the mouth at most 1.
  std::array<double, kCount> aroundAt(std::uint32_t vertex) const;
  /// What is left of them away from the lips.
  void fade(std::uint32_t vertex, Shares& out) const;
  bool isInside(std::uint32_t vertex) const { return !inside_.empty() && inside_[vertex]; }
  void evenOutAt(std::uint32_t corner, double radius, std::vector<Shares>& shares) const;
  void findInside(const HeadSurface& head, const FacePoints& points, const FaceSlit& slit,
                  const std::vector<bool>& face);

  const HeadSurface* head_;
  Desc desc_;
  Vec3d along_, up_;
  Vec2d centre_ = Vec2d::Zero();
  double half_ = 0;  ///< [m] of the slit's width
  Chain upper_, lower_;
  std::vector<double> side_;             ///< per vertex, see slitSides()
  std::vector<double> way_;              ///< [m] per vertex along the skin from the slit
  std::vector<bool> inside_;             ///< per vertex; empty where nothing is
  std::array<double, kCount> angles_{};  ///< increasing, from 0
  std::array<double, kCount> border_{};  ///< [m] way of the lip's border, at each point
  std::array<double, kCount> reach_{};   ///< [m] beyond the border
  double depth_ = 0;                     ///< [m] how far lips lead into the mouth
  std::vector<Shares> shares_;           ///< per vertex
};

}  // namespace derm::detail
