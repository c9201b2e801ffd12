#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/cast/heads.h"
#include "derm/face/retarget_evaluation.h"
#include "derm/mesh/measures.h"

#include "character_input.h"
#include "face_verbs.h"

namespace derm::cli {
namespace {

struct EvaluateOptions {
  std::vector<std::string> heads;
  std::optional<double> lambda;
};

/// Heads that are formulas have their points exactly; on their meshes these lie in triangles.
std::optional<EvaluatedFace> formulaFace(const std::string& source) {
  for (const SyntheticHeadDesc& desc : {syntheticHeadA(), syntheticHeadB(), syntheticHeadC()}) {
    if (source != "cast:" + desc.name) continue;
    EvaluatedFace out;
    const SyntheticHeadSurface surface(desc.shape);
    for (const SyntheticHeadPoint& p : syntheticHeadPoints(desc.shape))
      out.points.set(p.label, 0.01 * surface.frontPoint(p.x, p.y));
    SyntheticHeadDesc measured = desc;
    measured.mesh = SyntheticHeadDesc::Mesh::Octahedron;
    const Result<Character> head = makeSyntheticHead(measured);
    DERM_REQUIRE(head.ok());
    out.diagonal_m = double(bounds(head->mesh.positions).diagonal());
    return out;
  }
  return {};
}

Result<EvaluatedFace> faceOf(const std::string& source, Diagnostics& notes) {
  if (std::optional<EvaluatedFace> formula = formulaFace(source)) return *std::move(formula);
  CharacterInput input;
  input.source = source;
  DERM_TRY(const Character head, input.load(notes));
  EvaluatedFace out;
  DERM_TRY(out.points, facePoints(head.points, head.mesh));
  if (const Result<void> valid = validateControlPoints(out.points); !valid) {
    Error e = valid.error();
    e.where.file = source;
    return e;
  }
  out.diagonal_m = double(bounds(head.mesh.positions).diagonal());
  return out;
}

nlohmann::json asJson(const std::string& source, const std::string& target,
                      const RetargetEvaluation& e) {
  nlohmann::json kernels = nlohmann::json::object();
  for (const KernelEvaluation& k : e.kernels) {
    nlohmann::json errors = nlohmann::json::object();
    for (std::size_t i = 0; i < kEvaluatedExpressions; ++i)
      errors[std::string(evaluatedExpressions()[i])] = k.round_trip[i];
    kernels[std::string(nameOf(k.kernel))] = {
        {"round_trip", errors},     {"mean_of_six", k.mean_of_six},
        {"mean", k.mean},           {"blink_opening", k.blink_opening},
        {"amplitude", k.amplitude}, {"distance_percent", k.distance_percent}};
  }
  return {{"source", source},
          {"target", target},
          {"kernels", kernels},
          {"direct",
           {{"blink_opening", e.direct.blink_opening},
            {"amplitude", e.direct.amplitude},
            {"distance_percent", e.direct.distance_percent}}}};
}

void print(const std::string& source, const std::string& target, const RetargetEvaluation& e) {
  fmt::print("{} to {} and back: sum over the control points / the source's diagonal\n", source,
             target);
  fmt::print("{:<13}", "");
  for (const std::string_view name : evaluatedExpressions()) fmt::print("{:>9}", name);
  fmt::print("{:>9}{:>9} | {:>7}{:>10}{:>9}\n", "six", "all", "blink", "amplitude", "off");
  const auto fidelity = [](const KernelEvaluation& k) {
    // Numbers that are 0 but for rounding have no sign.
    const double open = std::abs(k.blink_opening) < 5e-3 ? 0 : 100 * k.blink_opening;
    fmt::print(" | {:>6.0f}%{:>10.2f}{:>8.3f}%\n", open, k.amplitude, k.distance_percent);
  };
  for (const KernelEvaluation& k : e.kernels) {
    fmt::print("{:<13}", nameOf(k.kernel));
    for (const double error : k.round_trip) fmt::print("{:>9.4f}", error);
    fmt::print("{:>9.4f}{:>9.4f}", k.mean_of_six, k.mean);
    fidelity(k);
  }
  fmt::print("{:<13}{:>81}", "scaled only", "");
  fidelity(e.direct);
}

Result<void> evaluate(const EvaluateOptions& options, Diagnostics& notes) {
  std::vector<std::string> heads = options.heads;
  if (heads.empty())
    for (const std::string_view pair : {"ab", "cb", "ca", "ac"})
      for (const char letter : pair) heads.push_back(std::string("cast:head-") + letter);
  if (heads.size() % 2 != 0)
    return Error{
        ErrorCode::BadArgument, "heads come in pairs: SOURCE TARGET", {.element = heads.back()}};
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < heads.size(); i += 2) {
    DERM_TRY(const EvaluatedFace source, faceOf(heads[i], notes));
    DERM_TRY(const EvaluatedFace target, faceOf(heads[i + 1], notes));
    DERM_TRY(const RetargetEvaluation result,
             evaluateRetargeting(source, target, {.thesis_lambda = options.lambda}, notes));
    if (commonOptions().json) {
      all.push_back(asJson(heads[i], heads[i + 1], result));
      continue;
    }
    if (i > 0) fmt::print("\n");
    print(heads[i], heads[i + 1], result);
  }
  if (commonOptions().json) {
    jsonAnswer() = std::move(all);
    return {};
  }
  fmt::print(
      "\nblink: what a blink of the source leaves of the target's lid opening. amplitude: of the "
      "motions, over\nthose of the same expression in the target's own units. off: mean distance "
      "from these, % of its diagonal.\n");
  return {};
}

}  // namespace

void addFaceEvaluate(CLI::App& face, Run& run) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* verb = face.add_subcommand(
      "evaluate", "how well expressions go from face to face: five kernels, there and back");
  verb->add_option("HEADS", options->heads,
                   "SOURCE TARGET pairs: files with control points, or cast:NAME; default four "
                   "pairs of heads A, B, C");
  verb->add_option(
          "--lambda", options->lambda,
          "the thesis's solver with this lambda (1e-5 comes nearest to its tables) instead "
          "of derm's")
      ->check(within(0, 1e6));
  verb->footer(
      "example:\n"
      "  derm face evaluate\n"
      "  derm face evaluate cast:woman cast:toon --json");
  setWork(*verb, run, options, evaluate);
}

}  // namespace derm::cli
