#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// How folds spread: in which order bumps take up the length that a squeezed curve has to spare.
enum class FoldPropagation {
  FromA,         ///< one after the other from A, each up to h_max
  Symmetric,     ///< in pairs from both ends, the middle last
  Simultaneous,  ///< all together
  Squeezed,      ///< each takes up what the skin around it has lost (FoldGround::lost)
};

inline constexpr std::array<std::pair<FoldPropagation, std::string_view>, 4> kFoldPropagations = {
    {{FoldPropagation::FromA, "from-a"},
     {FoldPropagation::Symmetric, "symmetric"},
     {FoldPropagation::Simultaneous, "simultaneous"},
     {FoldPropagation::Squeezed, "squeezed"}}};

/// What a bump does that would have to be higher than h_max when all others are full, too.
enum class FoldSaturation {
  Exceed,  ///< all bumps of the coarsest level grow on alike: the length stays exact
  Clamp,   ///< heights stop, the length that found no room is reported
};

inline constexpr std::array<std::pair<FoldSaturation, std::string_view>, 2> kFoldSaturations = {
    {{FoldSaturation::Exceed, "exceed"}, {FoldSaturation::Clamp, "clamp"}}};

/// How a bump goes up and down between control points.
enum class FoldProfile {
  Straight,  ///< a polyline, as in Larboulette, Cani, Arnaldi 2006, section 3.2
  Round,     ///< level at crests and at the ends: two parabolas to a flank
};

inline constexpr std::array<std::pair<FoldProfile, std::string_view>, 2> kFoldProfiles = {
    {{FoldProfile::Straight, "straight"}, {FoldProfile::Round, "round"}}};

/// The shape of a fold's control curve.
struct FoldCurveDesc {
  static constexpr int kMaxPoints = 1025;
  static constexpr int kMaxLevels = 6;

  int points = 11;   ///< [3, kMaxPoints] control points of the coarsest level, ends included
  int spacing = 1;   ///< [0, points) flat segments between bumps
  int crest = 1;     ///< [1, points - 2] raised points of a bump: its width
  double h_max = 0;  ///< [m] > 0: a bump of the coarsest level that is this high is full
  FoldPropagation propagation = FoldPropagation::Symmetric;
  FoldSaturation saturation = FoldSaturation::Exceed;
  /// [0,1] each, sum 1: share of the lost length taken up by each level of detail, coarsest first.
  /// Every level after the first has a point in the middle of each segment of the one before.
  std::vector<double> shares = {1.0};
  /// [m] > 0, one per level after the first: the height at which its points are full, above the
  /// segment they divide. Empty = h_max / 2^level, since the segments halve, too.
  std::vector<double> fine_h_max = {};
  /// [0, 0.5] Share of the rest length over which a bump starts gently, growing linearly instead of
  /// as a square root. 0 = never, which keeps the length exact; otherwise what is missing is
  /// reported.
  double soft_start = 0;
  FoldProfile profile = FoldProfile::Straight;  ///< Round has one level only

  bool operator==(const FoldCurveDesc&) const = default;
};

/// Every field in its range, shares summing to 1 within 1e-6, room for a bump.
Result<void> validate(const FoldCurveDesc& desc);

/// What a curve lies on, segment by segment of its coarsest level (points - 1 values each).
struct FoldGround {
  std::span<const double> segments;  ///< [m] >= 0, how long they are now; empty = all alike
  std::span<const double> lost;      ///< [m] what each is shorter by than at rest; empty = alike
  std::span<const double> limits;    ///< [m] >= 0, how high the curve may rise; empty = any height
};

/// What a curve came to.
struct FoldState {
  double spare = 0;         ///< [m] rest length - |AB|; <= 0: stretched, all heights are 0
  double missing = 0;       ///< [m] of `spare` that the heights do not take up (clamp, soft start)
  double refused = 0;       ///< [m] of `spare` for which FoldGround::limits left no room
  std::size_t held = 0;     ///< bumps that ended at a limit
  bool saturated = false;   ///< the thresholds left no room for all of `spare`
  std::uint32_t bumps = 0;  ///< bumps of the coarsest level that are raised
};

/// A polyline from A to B that keeps its length when A and B come nearer, by raising bumps.
///
///     y      P1                        n = 5 points A, P1, P2, P3, B; crest 1, spacing 1:
///     |     /  \ .                     one bump fits and rises from A itself.
///     |    /    \ .                    step = |AB| / (n - 1)
///     A---+------P2-----P3-----B  x    gain(h) = 2 (sqrt(step^2 + h^2) - step)
///
/// Points stay evenly spaced in x; only heights change; A and B never move. Method: Larboulette,
/// Cani, Arnaldi 2006 ("Ajout de détails dynamiques à une animation temps-réel de personnages"),
/// section 3.2, with these differences: d = rest - |AB| (printed with the other sign); finer levels
/// lift midpoints on the ellipse that gives exactly the wanted length also on sloped segments; what
/// happens when every bump is full is defined (FoldSaturation). Finer levels spread their share
/// evenly over all segments.
/// Beyond the paper: points may be unevenly spaced and limited in height (FoldGround). A bump
/// that meets its limit hands what it cannot take to finer levels and to the bumps that have room,
/// evenly; only what finds no room anywhere is refused.
/// The length equals the rest length to 1e-12 relative, unless FoldState::missing or refused
/// say otherwise.
/// Immutable; share freely. Cost: O(points of the finest level).
class FoldCurve {
 public:
  static Result<FoldCurve> make(const FoldCurveDesc& desc);

  const FoldCurveDesc& desc() const { return desc_; }
  /// How many bumps the coarsest level has.
  int bumpCount() const { return bump_count_; }
  /// Points of the finest level.
  std::size_t pointCount() const { return point_count_; }

  /// Work space; keep one per curve so that evaluate() does not allocate.
  struct Scratch {
    std::vector<double> gains;    ///< of all levels, one after the other
    std::vector<double> caps;     ///< per bump, of its threshold and limit
    std::vector<double> room;     ///< per bump, of its limit alone
    std::vector<double> heights;  ///< two levels in turn
  };
  Scratch makeScratch() const;

  /// Heights [m] of the finest level's points, x = i |AB| / (pointCount() - 1), for this distance
  /// `ab` >= 0 of the ends and this rest length > 0. Requires heights.size() == pointCount().
  /// Allocation-free. |AB| = 0 gives folds that stand upright, at finite height.
  FoldState evaluate(double ab, double rest_length, Scratch& scratch,
                     std::span<double> heights) const noexcept {
    return evaluate(ab, rest_length, {}, scratch, heights);
  }
  /// The same over uneven ground, x of a point being the sum of the segments before it. Requires
  /// spans of `points` - 1 values or none, and `ab` = sum of ground.segments where they are given.
  FoldState evaluate(double ab, double rest_length, const FoldGround& ground, Scratch& scratch,
                     std::span<double> heights) const noexcept;

 private:
  struct Ground;
  explicit FoldCurve(const FoldCurveDesc& desc);
  void setCaps(const Ground& ground, Scratch& scratch) const noexcept;
  double fillCoarse(double spare, const Ground& ground, std::span<const double> caps,
                    std::span<double> gains) const noexcept;
  double fillSqueezed(double spare, const Ground& ground, std::span<const double> caps,
                      std::span<double> gains) const noexcept;
  double fillFine(std::size_t level, double spare, const Ground& ground, std::span<double> gains,
                  std::span<const double> heights) const noexcept;
  void raiseCoarse(const Ground& ground, std::span<const double> gains,
                   std::span<double> heights) const noexcept;
  void raiseAll(const Ground& ground, Scratch& scratch, std::span<double> heights) const noexcept;
  std::size_t segmentsOf(std::size_t level) const {
    return (static_cast<std::size_t>(desc_.points) - 1) << level;
  }

  FoldCurveDesc desc_;
  int bump_count_ = 0;
  std::size_t point_count_ = 0;
  std::vector<int> bump_start_;  ///< first raised point of each bump
};

/// Length [m] of the polyline with these heights, evenly spaced over a base of length `ab`.
double foldLength(double ab, std::span<const double> heights);

/// Height [m] of a bump whose two flanks, each over `step`, are longer by `gain` together.
double foldHeight(double gain, double step);
/// The inverse.
double foldGain(double height, double step);

}  // namespace derm
