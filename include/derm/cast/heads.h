#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/base/rng.h"
#include "derm/character/character.h"

namespace derm {

/// Proportions of a head that is a formula: an ellipsoid with Gaussian bumps, so that tests of
/// faces know every point of it exactly. All lengths in centimetres, +x the subject's left, +y up,
/// +z gaze; the origin is the middle of the skull. Defaults are those of head A, an adult.
struct SyntheticHeadShape {
  double half_width = 7.5;  ///< [cm] of the ellipsoid, along x
  double half_height = 11;  ///< [cm] along y
  double half_depth = 9;    ///< [cm] along z
  double jaw_taper = 0.25;  ///< [0,1) how much narrower the lowest point is than the middle
  double eye_x = 3.2;       ///< [cm] of the eyes' middle
  double eye_y = 1.2;       ///< [cm]
  double eye_half_width = 1.5;
  double eye_half_height = 0.55;
  double brow_x = 3.2;  ///< [cm] of the brows' middle
  double brow_y = 3.2;
  double brow_half_width = 1.9;
  double nose_y = -1.8;  ///< [cm] of the tip
  double nose_half_width = 1.6;
  double nose_height = 2.2;    ///< [cm] of the tip's bump
  double bridge_height = 1.0;  ///< [cm]
  double mouth_y = -4.9;
  double mouth_half_width = 2.6;
  double lip_height = 0.55;
  double chin_y = -8.4;
  double cheek_x = 4.1;
  double cheek_y = -1.9;

  /// All of them, in the order above.
  std::array<double*, 21> parameters();

  bool operator==(const SyntheticHeadShape&) const = default;
};

/// A formula for a head, and how it is cut into triangles.
struct SyntheticHeadDesc {
  enum class Mesh {
    Octahedron,  ///< an octahedron's faces divided, 8 n^2 triangles
    LatLong,     ///< rows from pole to pole (+y, -y)
  };
  std::string name = "head-a";
  SyntheticHeadShape shape;
  Mesh mesh = Mesh::Octahedron;
  int subdivisions = 36;   ///< [2,200] of an octahedron's edges
  int rows = 72;           ///< [4,400] of the LatLong mesh, from pole to pole
  int columns = 74;        ///< [4,400] around
  bool mouth_slit = true;  ///< lips part: a hole in the mesh, an ellipse about the mouth's middle
  /// [cm] of each of six fixed waves added to z, so that nothing is a mirror image; 0 = none. What
  /// measures call "slightly asymmetric" has 0.03.
  double asymmetry_cm = 0;
};

/// The exact surface. [cm]
class SyntheticHeadSurface {
 public:
  explicit SyntheticHeadSurface(const SyntheticHeadShape& shape, double asymmetry_cm = 0);

  /// The point in a direction (of unit length) of the unit sphere that the head is made from.
  Vec3d point(const Vec3d& direction) const;
  /// The point of the front at (x, y). Requires onFront(x, y).
  Vec3d frontPoint(double x, double y) const;
  /// Whether (x, y) lies inside the outline seen from the front.
  bool onFront(double x, double y) const { return rimDistance(x, y) < 1; }
  /// How far out (x, y) lies: 0 the middle, 1 the outline, squared (u_x^2 + u_y^2).
  double rimDistance(double x, double y) const;

 private:
  struct Bump {  // on both sides where x is not 0
    double height, x, y, half_width, half_height;
  };
  double bumps(double x, double y) const;
  double waves(double x, double y) const;

  SyntheticHeadShape shape_;
  double asymmetry_;
  std::vector<Bump> bumps_;
};

/// A feature point of a face by its MPEG-4 number (odd of a pair = the subject's left), on the
/// front.
struct SyntheticHeadPoint {
  std::string_view label;  ///< "9.3"
  double x = 0, y = 0;     ///< [cm]
};

/// The 28 control points of face animation: brows, lids, cheeks, nose, lips, chin.
std::vector<SyntheticHeadPoint> syntheticHeadPoints(const SyntheticHeadShape& shape);

/// The three heads that faces are measured on: A and C on the octahedron, B on the LatLong mesh, so
/// that meshes do not agree where faces are compared.
SyntheticHeadDesc syntheticHeadA();  ///< an adult
SyntheticHeadDesc syntheticHeadB();  ///< a longer, narrower adult
SyntheticHeadDesc syntheticHeadC();  ///< a cartoon: wide, large eyes and mouth

/// Every parameter times a factor from [1 - share, 1 + share]: another person. Some are not
/// possible heads (features overlap or leave the front): makeSyntheticHead() says so.
SyntheticHeadShape variedHead(const SyntheticHeadShape& shape, double share, Rng& rng);

/// The head in metres, a bare mesh without joints, closed but for the mouth slit; the 28 feature
/// points are its labelled points, exact in x and y (z by the triangle). Numbers out of range,
/// features that overlap or lie within 8 % of the outline are BadArgument errors.
Result<Character> makeSyntheticHead(const SyntheticHeadDesc& desc);

}  // namespace derm
