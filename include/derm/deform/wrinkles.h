#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/deform/fold_curve.h"
#include "derm/deform/layer.h"

namespace derm {

/// How a fold's height falls off across the tool, from 1 in the middle to 0 at the sides.
enum class FoldFalloff {
  None,    ///< 1 up to the sides
  Linear,  ///< 1 - |z|
  Wyvill,  ///< 1 + (-4 z^6 + 17 z^4 - 22 z^2) / 9: smooth at the middle and at the sides
};

inline constexpr std::array<std::pair<FoldFalloff, std::string_view>, 3> kFoldFalloffs = {
    {{FoldFalloff::None, "none"},
     {FoldFalloff::Linear, "linear"},
     {FoldFalloff::Wyvill, "wyvill"}}};

/// [0,1] at z in [-1,1], 0 outside.
double foldFalloff(FoldFalloff falloff, double z);

/// A point that was picked on the surface: a vertex, or a position whose nearest vertex is taken.
struct PickedPoint {
  std::optional<std::uint32_t> vertex;
  Vec3d position = Vec3d::Zero();  ///< [m] on the surface in the pose the tool is defined in

  bool operator==(const PickedPoint&) const = default;
};

/// The pose a tool is drawn in: a clip and an instant; absent = the rest pose.
struct WrinklePose {
  std::string clip;
  double time_s = 0;  ///< [s]

  bool operator==(const WrinklePose&) const = default;
};

struct WrinkleLengthKey {
  double time_s = 0;    ///< [s]
  double length_m = 0;  ///< [m] > 0

  bool operator==(const WrinkleLengthKey&) const = default;
};

/// What a tool's length is.
enum class FoldLength {
  Skin,   ///< along the skin, segment by segment
  Chord,  ///< |AB| through the air, as in the paper: a closing crease claims skin that is still
          ///< there
};

inline constexpr std::array<std::pair<FoldLength, std::string_view>, 2> kFoldLengths = {
    {{FoldLength::Skin, "skin"}, {FoldLength::Chord, "chord"}}};

/// Where a tool's folds are on the skin.
enum class FoldProjection {
  Fixed,  ///< where they were drawn, for good
  Moved,  ///< projected anew in each frame, as in the paper: folds swim over the skin. Two points
          ///< only
};

inline constexpr std::array<std::pair<FoldProjection, std::string_view>, 2> kFoldProjections = {
    {{FoldProjection::Fixed, "fixed"}, {FoldProjection::Moved, "moved"}}};

/// One series of folds, drawn with a stroke on the surface.
struct WrinkleToolDesc {
  static constexpr std::size_t kMaxPicked = 64;

  std::string name = {};
  /// Where the control curve goes: A, B, or more for a curve that follows the surface.
  std::vector<PickedPoint> path = {};
  double width_m = 0.05;  ///< [m] > 0: length of the folds, across the curve
  FoldCurveDesc curve;    ///< lengths in metres
  FoldFalloff falloff = FoldFalloff::Wyvill;
  int subdivide = 3;  ///< [0,4] cut triangles into at most 4^this where needed
  std::optional<double> rest_length_m = {};  ///< [m] > 0 instead of the length when it was defined
  /// The rest length over time, instead of both: linear between keys, times ascending. Skin that
  /// folds without being squeezed, as a forehead does.
  std::vector<WrinkleLengthKey> rest_length_keys = {};
  std::optional<WrinklePose> defined_at = {};  ///< the pose of its greatest length
  FoldLength length = FoldLength::Skin;
  FoldProjection projection = FoldProjection::Fixed;

  bool operator==(const WrinkleToolDesc&) const = default;
};

struct WrinklesDesc {
  std::string name = "wrinkles";
  std::vector<WrinkleToolDesc> tools = {};

  bool operator==(const WrinklesDesc&) const = default;
};

/// What a tool came to in the last frame.
struct WrinkleToolState {
  double length_m = 0;       ///< [m] of the skin along the curve now, before folding
  double rest_length_m = 0;  ///< [m]
  FoldState fold;
  double highest_m = 0;       ///< [m] of the control curve
  std::size_t held_back = 0;  ///< bumps that met a neighbouring crest and stopped
  double held_back_m = 0;     ///< [m] of length for which no bump had room
};

/// Folds where the surface is squeezed. Method: Larboulette, Cani, Arnaldi 2006, section 3.
///
/// A tool is a rectangle on the surface around its control curve (see FoldCurve). Vertices that
/// project into it along its normal (the mean of the ends' normals, at right angles to the curve)
/// and face the same way (scalar product of normals > 0) rise by h(x) a(z) along their normals
/// before folding. Elevations of tools that overlap add up. The surface is cut finer by the
/// modified butterfly (RefinableSurface) so that there are two points per control segment.
///
/// Where we differ from the paper:
///  - length is that of the skin along the curve, segment by segment, not |AB| through the air
///    (FoldLength::Chord is that);
///  - (x, z) are those of the pose the tool was defined in, for good: folds stay on their piece of
///    skin instead of swimming over it (FoldProjection::Moved), and everything but the heights is
///    known at bind;
///  - only the surface that hangs together with A inside the rectangle is folded, not what lies
///    behind it; and elevation fades out over the last facing angles instead of stopping at 90°;
///  - the curve may follow a path of several points, with folds at right angles to it everywhere;
///  - crests that would cross where normals converge stop at each other (held_back) and hand what
///    they cannot take to others; report() warns where more than 1 % of a length finds no room;
///  - new points come in flat, and the surface grows smooth over the first 2 % of compression, so
///    nothing pops when the finer triangles appear.
///
/// The announced surface (LayerBinding::output) has all tools at their finest, always. Where a run
/// asks for Topology::Adaptive, a group of overlapping tools is cut only while one of them folds,
/// and with none folding the surface is handed on untouched. Base vertices keep their numbers.
/// A tool's mask (LayerBinding::masks) is its falloff a(z), named as the tool (the layer, where it
/// has no name).
/// Cost per frame: O(cut triangles of the active tools); idle tools a few nanoseconds.
/// Stateless. After an edit (Stack::rebind) of curves, fall-offs or rest lengths alone the
/// triangles and all layers above are kept; another path, width, subdivision, pose or number of
/// points is a new surface. Fails at bind on: fewer than two different points (A = B), points on
/// different pieces, width_m <= 0, everything validate(FoldCurveDesc) names, a vertex out of range,
/// a clip that does not exist, a surface without normals. Notes: control points closer than the
/// finest triangles can show; degenerate and non-manifold triangles under a tool.
LayerFactory wrinklesLayer(WrinklesDesc desc);

/// The layer at work, for those who look at it while it plays.
class WrinklesLayer : public Layer {
 public:
  virtual std::size_t toolCount() const = 0;
  virtual const WrinkleToolState& tool(std::size_t index) const = 0;
};

}  // namespace derm
