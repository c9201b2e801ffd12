#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/face_points.h"
#include "derm/math/rbf.h"

namespace derm {

/// A head that expressions are carried from or to.
struct EvaluatedFace {
  FacePoints points;      ///< all 28 control points
  double diagonal_m = 0;  ///< of the head's bounds; > 0
};

struct RetargetEvaluationDesc {
  /// Nothing: derm's own maps, which go through the targets. Else the thesis's solver with this
  /// lambda >= 0: (M^T M + lambda I)^-1 M^T on the bordered system, the unit of length
  /// being the source's diagonal.
  std::optional<double> thesis_lambda;
};

/// "neutral", then the six expressions that the thesis measures; see expressions.h.
std::span<const std::string_view> evaluatedExpressions();
inline constexpr std::size_t kEvaluatedExpressions = 7;
/// The five kernels, the default first.
inline constexpr std::array<RbfKernel, 5> kEvaluatedKernels = {
    RbfKernel::Biharmonic, RbfKernel::Multiquadric, RbfKernel::Gaussian, RbfKernel::ThinPlate,
    RbfKernel::Triharmonic};
std::string_view nameOf(RbfKernel kernel);  ///< "r", "multiquadric", "gaussian", "r2 ln r", "r3"

/// How well one kernel carries expressions.
struct KernelEvaluation {
  RbfKernel kernel = RbfKernel::Biharmonic;
  /// Dutreve 2011, eq. 4.1: carried to the target and back, the sum over the control points of how
  /// far each is from where it was, over the source's diagonal. Per expression.
  std::array<double, kEvaluatedExpressions> round_trip{};
  double mean_of_six = 0;  ///< of round_trip, without neutral
  double mean = 0;         ///< of all seven, as the thesis prints it ("Moy.")
  /// What a blink of the source leaves of the target's lid opening: 0 = lids meet, < 0 = they
  /// cross. The worse of both eyes.
  double blink_opening = 0;
  /// Mean over the six expressions of how long the motions are, over those of the same expression
  /// in the target's own units (FAPU), and of their distance from these in % of its diagonal.
  double amplitude = 0;
  double distance_percent = 0;
};

struct RetargetEvaluation {
  std::array<KernelEvaluation, 5> kernels;  ///< in the order of kEvaluatedKernels
  /// The same for displacements that are only scaled by the diagonals; their round trip is 0, which
  /// is why a round trip alone says little.
  KernelEvaluation direct;
};

/// Carries seven expressions there and back with five kernels, as Dutreve 2011 compares them in
/// tables 4.6 and 4.7, and measures what a round trip does not see: whether a blink shuts the
/// target's eyes, and amplitudes against expressions made for the target. Errors: control points
/// that validateControlPoints() rejects, a diagonal that is not > 0, a kernel matrix without an
/// inverse.
Result<RetargetEvaluation> evaluateRetargeting(const EvaluatedFace& source,
                                               const EvaluatedFace& target,
                                               const RetargetEvaluationDesc& desc,
                                               Diagnostics& notes);

}  // namespace derm
