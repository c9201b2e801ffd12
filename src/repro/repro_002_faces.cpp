#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/cast/cast.h"
#include "derm/cast/heads.h"
#include "derm/deform/pose_character.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/detail_acquisition.h"
#include "derm/face/expression_clip.h"
#include "derm/face/expressions.h"
#include "derm/face/face_features.h"
#include "derm/face/face_mix.h"
#include "derm/face/face_retarget.h"
#include "derm/face/face_rig.h"
#include "derm/face/face_weights.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/retarget_evaluation.h"
#include "derm/face/rig_transfer.h"
#include "derm/face/watershed_landmarks.h"
#include "derm/face/wrinkle_poses.h"
#include "derm/image/compose.h"
#include "derm/image/normal_map.h"
#include "derm/io/png.h"
#include "derm/mesh/measures.h"
#include "derm/view/detail_sheet.h"

#include "repro/documents.h"
#include "repro/example_recipes.h"
#include "repro/furrowed_skin.h"
#include "repro/measuring.h"

/// Dutreve 2011: control points, rigs from head to head, expressions from face to face, wrinkle
/// maps from photos and on faces that move.
namespace derm::detail::repro {
namespace {

constexpr std::array<std::string_view, 6> kSixExpressions = {"joy",      "sadness", "disgust",
                                                             "surprise", "fear",    "anger"};

// ------------------------------------------------------------------ chapter 3: rigs

constexpr std::string_view kRigSetup = "derm face rig cast:head-a -o head.glb";

std::array<SyntheticHeadDesc, 3> formulaHeads() {
  return {syntheticHeadA(), syntheticHeadB(), syntheticHeadC()};
}

/// Longest edge over its length at rest, of a head that is surprised.
Result<double> surprisedStretch(const Character& head, ZoneBlend blend, Diagnostics& notes) {
  DERM_TRY(const FacePoints points, facePoints(head.points, head.mesh));
  DERM_TRY(const FaceWeights weights, faceWeights(head.mesh, points,
                                                  {.blend = blend,
                                                   .lids_along_margins = false,
                                                   .lips_around_slit = false,
                                                   .with_jaw = false,
                                                   .smooth = false,
                                                   .separate_sides = false},
                                                  notes));
  std::vector<Vec3d> moved(29, Vec3d::Zero());
  DERM_TRY(const auto surprise, expressionDisplacements("surprise", points));
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (const PointDisplacement& d : surprise)
    moved[std::size_t(std::find(numbers.begin(), numbers.end(), d.point) - numbers.begin())] =
        d.displacement_m;
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < weights.vertexCount(); ++v) {
    Vec3d p = head.mesh.positions[v].cast<double>();
    for (const FaceWeights::Share& s : weights[v]) p += s.weight * moved[s.point];
    posed.push_back(p);
  }
  double most = 0;
  for (const Triangle& t : head.mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const double length = (head.mesh.positions[a] - head.mesh.positions[b]).cast<double>().norm();
      if (length > 1e-5) most = std::max(most, (posed[a] - posed[b]).norm() / length);
    }
  return most;
}

Result<void> measureZones(ReproResult& r, Diagnostics& notes) {
  const std::array<double, 3> torn = {19.9, 53.6, 8.4}, whole = {2.7, 4.8, 2.8};
  const std::array<SyntheticHeadDesc, 3> heads = formulaHeads();
  for (std::size_t i = 0; i < 3; ++i) {
    DERM_TRY(const Character head, makeSyntheticHead(heads[i]));
    DERM_TRY(const double literal, surprisedStretch(head, ZoneBlend::Normalised, notes));
    DERM_TRY(const double ours, surprisedStretch(head, ZoneBlend::Residual, notes));
    const std::string name = heads[i].name + ", surprised: longest edge over rest, ";
    r.numbers.push_back(
        near(unprinted(name + "eq. 3.19 as printed", "", literal), torn[i], 0.05 * torn[i]));
    r.numbers.push_back(
        near(unprinted(name + "with the head's share", "", ours), whole[i], 0.12 * whole[i]));
  }
  return {};
}

Result<void> drawZones(ReproResult& r, Diagnostics& notes) {
  Shot shot{.yaw_deg = 20, .pitch_deg = 4, .width = 420, .height = 460};
  shot.view.points = true;
  return addPicture(r, "A head with its control points (2.9, 3.3)", "character = \"cast:woman\"\n",
                    shot, notes);
}

constexpr std::string_view kLandmarkSetup =
    "derm face points cast:head-b --from cast:head-a --method watershed -o b.json --picture b.png";

/// Mean distance of the matches from the points that the formula gives, % of the diagonal.
Result<double> landmarkError(SyntheticHeadDesc from, SyntheticHeadDesc to, double& seconds,
                             Diagnostics& notes) {
  from.asymmetry_cm = to.asymmetry_cm = 0.03;
  DERM_TRY(const Character source, makeSyntheticHead(from));
  DERM_TRY(const Character target, makeSyntheticHead(to));
  const auto begin = std::chrono::steady_clock::now();
  DERM_TRY(const auto matches,
           matchByWatershed(source.mesh, source.points, target.mesh, {}, notes));
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const SyntheticHeadSurface surface(to.shape, to.asymmetry_cm);
  double sum = 0;
  for (const LandmarkMatch& match : matches)
    for (const SyntheticHeadPoint& feature : syntheticHeadPoints(to.shape))
      if (feature.label == match.label) {
        const Vec3d found =
            100 *
            positionAt(match.point, target.mesh.triangles, target.mesh.positions).cast<double>();
        sum += (found - surface.frontPoint(feature.x, feature.y)).norm();
      }
  return sum / double(matches.size()) / double(bounds(target.mesh.positions).diagonal());
}

Result<void> measureLandmarks(ReproResult& r, Diagnostics& notes) {
  const std::array<SyntheticHeadDesc, 3> heads = formulaHeads();
  struct Pair {
    std::size_t from, to;
    double most;
  };
  double slowest = 0;
  for (const Pair& pair : {Pair{0, 1, 0.8}, {1, 0, 0.8}, {0, 2, 1.8}, {2, 0, 1.8}}) {
    double seconds = 0;
    DERM_TRY(const double error, landmarkError(heads[pair.from], heads[pair.to], seconds, notes));
    slowest = std::max(slowest, seconds);
    r.numbers.push_back(within(unprinted(heads[pair.from].name + " to " + heads[pair.to].name +
                                             ": 28 points off by (mean)",
                                         "% of the diagonal", error),
                               0, pair.most));
  }
  r.numbers.push_back(within(unprinted("a pair takes", "s", slowest), 0, 20));
  return {};
}

/// Numbers as grey, darkest to lightest of those on the head.
Rgba8Image greyOf(const WatershedView& view, const std::vector<float>& values) {
  float low = 1e30f, high = -1e30f;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (view.basins[i] != 0xFFFFFFFFu) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
  Rgba8Image out(view.size_px, view.size_px, {255, 255, 255, 255});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (view.basins[i] == 0xFFFFFFFFu) continue;
    const float share = high > low ? (values[i] - low) / (high - low) : 0.0f;
    const auto grey = static_cast<std::uint8_t>(255 * std::clamp(share, 0.0f, 1.0f));
    const auto size = static_cast<std::size_t>(view.size_px);
    out.at(static_cast<int>(i % size), static_cast<int>(i / size)) = {grey, grey, grey, 255};
  }
  return out;
}

/// Basins' borders in blue, feet in yellow, those that became landmarks in red (fig. 3.8).
Rgba8Image basinsOf(const WatershedView& view) {
  Rgba8Image out = greyOf(view, view.descriptor);
  const int n = view.size_px;
  const auto basin = [&](int x, int y) { return view.basins[static_cast<std::size_t>(y * n + x)]; };
  for (int y = 0; y + 1 < n; ++y)
    for (int x = 0; x + 1 < n; ++x)
      if (basin(x, y) != basin(x + 1, y) || basin(x, y) != basin(x, y + 1))
        out.at(x, y) = {70, 110, 200, 255};
  const auto dots = [&](const std::vector<RbfPoint<2>>& at, Rgba8 colour) {
    for (const RbfPoint<2>& p : at) {
      const Vec2f spot = p.cast<float>();
      drawPolyline(out, std::span(&spot, 1), 11, colour);
    }
  };
  dots(view.seeds, {240, 200, 40, 255});
  dots(view.kept, {214, 40, 40, 255});
  return out;
}

/// A head as it is, from the front.
Result<Rgba8Image> headPicture(const Character& head, const Shot& shot, Diagnostics& notes) {
  DERM_TRY(Scene scene,
           sceneOf("character = \"head.glb\"\n", notes, std::make_shared<const Character>(head)));
  return pictureOf(scene, shot, notes);
}

Result<void> drawLandmarks(ReproResult& r, Diagnostics& notes) {
  const std::array<SyntheticHeadDesc, 3> heads = formulaHeads();
  DERM_TRY(const Character source, makeSyntheticHead(heads[0]));
  Shot shot{.yaw_deg = 0, .pitch_deg = 0, .width = 256, .height = 300};
  shot.view.points = true;
  std::vector<Rgba8Image> found;
  DERM_TRY(Rgba8Image first, headPicture(source, shot, notes));
  found.push_back(std::move(first));
  for (const std::size_t to : {1u, 2u}) {
    DERM_TRY(Character target, makeSyntheticHead(heads[to]));
    std::vector<WatershedView> seen;
    DERM_TRY(const auto matches,
             matchByWatershed(source.mesh, source.points, target.mesh, {}, notes, &seen));
    if (to == 1) {
      std::vector<Rgba8Image> maps = {boxDownscaled(greyOf(seen.front(), seen.front().depth), 2)};
      for (const WatershedView& view : seen)
        if (!view.maxima) maps.push_back(boxDownscaled(basinsOf(view), 2));
      r.pictures.push_back(
          {.caption = "A map of depth (3.4), and four rounds of basins, coarse to fine (3.5–3.8): "
                      "yellow feet found nothing on the other head, red ones became landmarks",
           .image = sideBySide(maps, 4)});
    }
    target.points.clear();
    for (const LandmarkMatch& m : matches) target.points.push_back({m.label, m.point});
    DERM_TRY(Rgba8Image image, headPicture(target, shot, notes));
    found.push_back(std::move(image));
  }
  r.pictures.push_back({.caption =
                            "Control points of head A, found on B (3.9) and on the cartoon C "
                            "(3.12)",
                        .image = sideBySide(found, 4)});
  return {};
}

constexpr std::string_view kTransferSetup =
    "derm face rig cast:head-a -o a.glb\nderm face transfer a.glb cast:head-b -o b.glb";

Result<void> rigged(Character& head, Diagnostics& notes) {
  DERM_TRY([[maybe_unused]] const FaceRig rig, addFaceRig(head, {}, notes));
  return {};
}

Result<void> measureTransfer(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Character source, makeSyntheticHead(syntheticHeadA()));
  DERM_TRY(Character target, makeSyntheticHead(syntheticHeadB()));
  DERM_TRY(Character own, makeSyntheticHead(syntheticHeadB()));
  DERM_CHECK(rigged(source, notes));
  DERM_TRY(const auto correspondence,
           landmarkCorrespondence(source.mesh, source.points, target.mesh, target.points, notes));
  DERM_TRY(const FaceRig carried, transferFaceRig(source, target, correspondence, {}, notes));
  DERM_CHECK(rigged(own, notes));
  double unassigned = 0, difference = 0;
  for (std::size_t v = 0; v < target.skin.vertexCount(); ++v) {
    if (target.skin[v].empty()) unassigned += 1;
    for (const Influence& a : target.skin[v]) {
      double other = 0;
      for (const Influence& b : own.skin[v])
        if (target.skeleton[target.skin.slots[a.slot].joint].name ==
            own.skeleton[own.skin.slots[b.slot].joint].name)
          other = double{b.weight};
      difference += std::max(0.0, double{a.weight} - other);
    }
  }
  r.numbers.push_back(near(
      unprinted("control joints that were carried", "", double(carried.joints.size())), 28, 0));
  r.numbers.push_back(near(unprinted("vertices without weights", "", unassigned), 0, 0));
  r.numbers.push_back(within(
      unprinted("weights carried from head A against a rig made on B, mean difference of a vertex",
                "", 2 * difference / double(target.skin.vertexCount())),
      0, 0.2));
  return {};
}

/// A pose of a head with its own expression, or its weights.
Result<Rgba8Image> posedHead(const Character& head, const FaceRig& rig, std::string_view expression,
                             const Shot& shot, Diagnostics& notes) {
  DERM_TRY(const FacePoints points, facePoints(head.points, head.mesh));
  DERM_TRY(const FacePoser poser, FacePoser::make(head, rig));
  Pose pose = head.restPose();
  std::vector<Vec3d> moved(rig.joints.size(), Vec3d::Zero());
  DERM_TRY(const auto moves, expressionDisplacements(expression, points));
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (const PointDisplacement& d : moves) {
    const auto at = std::find(numbers.begin(), numbers.end(), d.point);
    if (at != numbers.end()) moved[std::size_t(at - numbers.begin())] = d.displacement_m;
  }
  poser.pose(moved, pose);
  DERM_TRY(TriMesh mesh, poseCharacter(head, pose, SkinningMethod::Linear));
  return headPicture(frozen(head, std::move(mesh)), shot, notes);
}

/// Weights of a joint on both heads, and both with the same expression.
Result<void> drawTransfer(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Character source, makeSyntheticHead(syntheticHeadA()));
  DERM_TRY(Character target, makeSyntheticHead(syntheticHeadB()));
  DERM_TRY(const FaceRig rig, addFaceRig(source, {}, notes));
  DERM_TRY(const auto correspondence,
           landmarkCorrespondence(source.mesh, source.points, target.mesh, target.points, notes));
  DERM_TRY(const FaceRig carried, transferFaceRig(source, target, correspondence, {}, notes));
  std::vector<Rgba8Image> images;
  Shot shot{.yaw_deg = 12, .pitch_deg = 2, .width = 210, .height = 250};
  for (const std::string_view point : {"4.3", "8.1"})
    for (const Character* head : {&source, &target}) {
      Shot weights = shot;
      weights.width *= 2;  // halved again, so that the legend is small
      weights.height *= 2;
      weights.view.weights = controlJointName(point);
      DERM_TRY(const Rgba8Image image, headPicture(*head, weights, notes));
      images.push_back(boxDownscaled(image, 2));
    }
  for (const std::string_view expression : {"joy", "surprise"}) {
    DERM_TRY(Rgba8Image one, posedHead(source, rig, expression, shot, notes));
    DERM_TRY(Rgba8Image other, posedHead(target, carried, expression, shot, notes));
    images.push_back(std::move(one));
    images.push_back(std::move(other));
  }
  r.pictures.push_back({.caption =
                            "Weights of a brow and of the upper lip on head A and as carried "
                            "to head B (3.10, 3.11); joy and surprise on both (3.13)",
                        .image = gridOf(images, 4, 4)});
  return {};
}

// ------------------------------------------------------------------ chapter 4: expressions

EvaluatedFace evaluatedFace(const SyntheticHeadDesc& desc) {
  EvaluatedFace out;
  const SyntheticHeadSurface surface(desc.shape);
  for (const SyntheticHeadPoint& p : syntheticHeadPoints(desc.shape))
    out.points.set(p.label, 0.01 * surface.frontPoint(p.x, p.y));
  SyntheticHeadDesc measured = desc;  // diagonals of one kind of mesh for all three
  measured.mesh = SyntheticHeadDesc::Mesh::Octahedron;
  const Result<Character> head = makeSyntheticHead(measured);
  out.diagonal_m = head.ok() ? double(bounds(head->mesh.positions).diagonal()) : 0;
  return out;
}

const KernelEvaluation& of(const RetargetEvaluation& e, RbfKernel kernel) {
  return *std::find_if(e.kernels.begin(), e.kernels.end(),
                       [&](const KernelEvaluation& k) { return k.kernel == kernel; });
}

/// A printed table: kernels by expressions, neutral first; and what our own notes have for our
/// heads.
struct RoundTrips {
  RbfKernel kernel;
  const char* name;
  std::array<double, 7> printed;
  std::array<double, 6> known;  ///< ours, without neutral, which is 0
  double known_thesis_neutral;  ///< of the thesis's solver
};

Result<void> measureRoundTrips(ReproResult& r, const SyntheticHeadDesc& from,
                               const SyntheticHeadDesc& to, std::span<const RoundTrips> table,
                               Diagnostics& notes) {
  constexpr double kTolerance = 2e-4;
  const EvaluatedFace source = evaluatedFace(from), target = evaluatedFace(to);
  DERM_TRY(const RetargetEvaluation ours, evaluateRetargeting(source, target, {}, notes));
  DERM_TRY(const RetargetEvaluation literal,
           evaluateRetargeting(source, target, {.thesis_lambda = 1e-5}, notes));
  const char* const heads = "other heads: Simon, Barak and Proog are not ours to use";
  for (const RoundTrips& row : table) {
    const KernelEvaluation& k = of(ours, row.kernel);
    const std::string kernel = std::string(row.name) + ", ";
    r.numbers.push_back(
        better(within(printed(kernel + "neutral", "", row.printed[0], 0, k.round_trip[0]), 0, 1e-9),
               ReproSense::LessIsBetter));
    r.numbers.push_back(
        because(near(printed(kernel + "neutral, the thesis's solver (λ = 10⁻⁵, diagonal 1)", "",
                             row.printed[0], 5e-5, of(literal, row.kernel).round_trip[0]),
                     row.known_thesis_neutral, kTolerance),
                std::string(heads) + "; the thesis tells neither its λ nor its unit"));
    for (std::size_t i = 1; i < kEvaluatedExpressions; ++i)
      r.numbers.push_back(because(near(printed(kernel + std::string(evaluatedExpressions()[i]), "",
                                               row.printed[i], 5e-5, k.round_trip[i]),
                                       row.known[i - 1], kTolerance),
                                  heads));
  }
  const KernelEvaluation& best = of(ours, RbfKernel::Biharmonic);
  double worst_lead = kNoEnd;
  for (const KernelEvaluation& k : ours.kernels)
    for (std::size_t i = 1; i < kEvaluatedExpressions; ++i)
      if (k.kernel != RbfKernel::Biharmonic)
        worst_lead = std::min(worst_lead, k.round_trip[i] / best.round_trip[i]);
  r.numbers.push_back(
      within(unprinted("least that another kernel errs over R, all expressions; R is best", "",
                       worst_lead),
             1, kNoEnd));
  return {};
}

constexpr std::string_view kEvaluateSetup =
    "derm face evaluate cast:head-a cast:head-b cast:head-c cast:head-b\n"
    "derm face evaluate cast:head-a cast:head-b --lambda 1e-5   # the thesis's solver";

Result<void> measureTable46(ReproResult& r, Diagnostics& notes) {
  constexpr std::array<RoundTrips, 5> kTable = {{
      {RbfKernel::ThinPlate,
       "TPS",
       {.0085, .0095, .0084, .0082, .0098, .0090, .0083},
       {.0086, .0035, .0089, .0105, .0060, .0039},
       .0089},
      {RbfKernel::Multiquadric,
       "MQ",
       {.0034, .0063, .0038, .0044, .0059, .0049, .0044},
       {.0070, .0033, .0078, .0086, .0060, .0040},
       .0036},
      {RbfKernel::Biharmonic,
       "R",
       {.0007, .0045, .0023, .0031, .0043, .0034, .0025},
       {.0042, .0019, .0037, .0055, .0032, .0020},
       .0007},
      {RbfKernel::Triharmonic,
       "R³",
       {.0097, .0099, .0099, .0095, .0102, .0102, .0094},
       {.0119, .0061, .0136, .0214, .0119, .0059},
       .0139},
      {RbfKernel::Gaussian,
       "G",
       {.0001, .0237, .0060, .0112, .0218, .0129, .0111},
       {.0074, .0027, .0086, .0096, .0036, .0034},
       .0007},
  }};
  return measureRoundTrips(r, syntheticHeadA(), syntheticHeadB(), kTable, notes);
}

Result<void> measureTable47(ReproResult& r, Diagnostics& notes) {
  constexpr std::array<RoundTrips, 5> kTable = {{
      {RbfKernel::ThinPlate,
       "TPS",
       {.1430, .1556, .1391, .1421, .1439, .1439, .1409},
       {.1181, .0446, .1177, .0869, .0510, .0625},
       .1113},
      {RbfKernel::Multiquadric,
       "MQ",
       {.0546, .0935, .0673, .0932, .0797, .0748, .0639},
       {.1269, .0487, .1305, .0772, .0533, .0720},
       .0505},
      {RbfKernel::Biharmonic,
       "R",
       {.0060, .0344, .0212, .0386, .0232, .0178, .0233},
       {.0494, .0260, .0499, .0497, .0302, .0286},
       .0028},
      {RbfKernel::Triharmonic,
       "R³",
       {.1243, .1654, .1209, .1241, .1483, .1376, .1189},
       {.1626, .0624, .1724, .1112, .0695, .0845},
       .1191},
      {RbfKernel::Gaussian,
       "G",
       {.0004, .0826, .0479, .0842, .0586, .0514, .0499},
       {.1180, .0553, .1371, .1089, .0739, .0825},
       .0008},
  }};
  return measureRoundTrips(r, syntheticHeadC(), syntheticHeadB(), kTable, notes);
}

Result<void> measureDirect(ReproResult& r, Diagnostics& notes) {
  const std::array<SyntheticHeadDesc, 3> heads = formulaHeads();
  struct Pair {
    std::size_t from, to;
    double direct, mapped, blink;
  };
  for (const Pair& pair : {Pair{0, 1, .93, .90, -.29},
                           {0, 2, .93, 1.10, .58},
                           {2, 0, 1.09, .98, -1.37},
                           {1, 2, 1.00, 1.31, .67}}) {
    DERM_TRY(const RetargetEvaluation e,
             evaluateRetargeting(evaluatedFace(heads[pair.from]), evaluatedFace(heads[pair.to]), {},
                                 notes));
    const std::string name = heads[pair.from].name + " to " + heads[pair.to].name + ": ";
    r.numbers.push_back(
        near(unprinted(name + "amplitude over the target's own, scaled displacements", "",
                       e.direct.amplitude),
             pair.direct, 0.01));
    r.numbers.push_back(
        near(unprinted(name + "by the map", "", of(e, RbfKernel::Biharmonic).amplitude),
             pair.mapped, 0.01));
    r.numbers.push_back(near(unprinted(name + "what a blink leaves open, scaled displacements", "",
                                       e.direct.blink_opening),
                             pair.blink, 0.02));
    r.numbers.push_back(near(
        unprinted(name + "by the map", "", of(e, RbfKernel::Biharmonic).blink_opening), 0, 1e-9));
  }
  return {};
}

/// The control points of a head in an expression.
Result<std::vector<Vec3d>> withExpression(const FacePoints& points, const NeutralFace& neutral,
                                          std::string_view expression) {
  std::vector<Vec3d> out = neutral.positions;
  DERM_TRY(const auto moves, expressionDisplacements(expression, points));
  for (const PointDisplacement& d : moves)
    for (std::size_t i = 0; i < out.size(); ++i)
      if (neutral.labels[i] == d.point) out[i] += d.displacement_m;
  return out;
}

Result<void> measureParts(ReproResult& r, Diagnostics& notes) {
  const FacePoints a = evaluatedFace(syntheticHeadA()).points;
  const FacePoints c = evaluatedFace(syntheticHeadC()).points;
  const NeutralFace target = neutralFace(evaluatedFace(syntheticHeadB()).points);
  std::vector<FaceSource> sources;
  for (const auto& [points, expression, regions] :
       {std::tuple{&a, "surprise", "brows,eyes"}, {&c, "joy", "mouth,jaw"}}) {
    const NeutralFace neutral = neutralFace(*points);
    FaceSource source{.name = expression, .regions = regions};
    DERM_TRY(source.tracks.positions, withExpression(*points, neutral, expression));
    source.tracks.labels = neutral.labels;
    source.tracks.neutral = neutral.positions;
    source.tracks.times_s = {0};
    sources.push_back(std::move(source));
  }
  DERM_TRY(const PointTracks mixed, retargetFace(sources, target, {}, notes));
  DERM_TRY(const PointTracks upper, retargetFace(std::span(sources).first(1), target, {}, notes));
  DERM_TRY(const PointTracks lower, retargetFace(std::span(sources).subspan(1), target, {}, notes));
  const auto differ = [&](const PointTracks& alone, std::initializer_list<const char*> labels) {
    double most = 0;
    for (std::size_t i = 0; i < mixed.labels.size(); ++i)
      for (const char* label : labels)
        if (mixed.labels[i] == label)
          most = std::max(most, (mixed.positions[i] - alone.positions[i]).norm());
    return 1000 * most;
  };
  r.numbers.push_back(
      within(unprinted("brows and lids against the first face's motion alone", "mm",
                       differ(upper, {"4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "3.1", "3.2"})),
             0, 1e-6));
  r.numbers.push_back(within(unprinted("mouth and chin against the second face's alone", "mm",
                                       differ(lower, {"8.1", "8.2", "8.3", "8.4", "2.1"})),
                             0, 1e-6));
  return {};
}

Result<void> measurePicture(ReproResult& r, Diagnostics& notes) {
  // Seen from straight before; y of a picture goes down, a pixel is a millimetre.
  const auto seen = [](std::vector<Vec3d> points) {
    for (Vec3d& p : points) p = Vec3d(320 + 1000 * p.x(), 240 - 1000 * p.y(), 0);
    return points;
  };
  for (const SyntheticHeadDesc& desc : formulaHeads()) {
    const EvaluatedFace face = evaluatedFace(desc);
    const NeutralFace neutral = neutralFace(face.points);
    const NeutralFace picture{TrackSpace::Picture, neutral.labels, seen(neutral.positions)};
    const auto error = [&](FaceDepth depth, bool plane) -> Result<double> {
      DERM_TRY(const FaceRetargeter retargeter,
               FaceRetargeter::bind(picture, neutral, {.amplitude = 0, .depth = depth}, notes));
      double sum = 0;
      std::vector<Vec3d> got(neutral.positions.size());
      for (const std::string_view expression : kSixExpressions) {
        DERM_TRY(const std::vector<Vec3d> truth, withExpression(face.points, neutral, expression));
        retargeter.map(seen(truth), got);
        for (std::size_t i = 0; i < got.size(); ++i) {
          Vec3d off = got[i] - truth[i];
          if (plane) off.z() = 0;
          sum += off.norm();
        }
      }
      return 100 * sum / double(got.size()) / 6 / face.diagonal_m;
    };
    DERM_TRY(const double by_map, error(FaceDepth::Map, false));
    DERM_TRY(const double in_plane, error(FaceDepth::Map, true));
    DERM_TRY(const double by_expressions, error(FaceDepth::Expressions, false));
    r.numbers.push_back(within(unprinted(desc.name + ": six expressions from 2D markers, off by",
                                         "% of the diagonal", by_map),
                               0, 0.36));
    r.numbers.push_back(
        within(unprinted(desc.name + ": in the picture's plane", "% of the diagonal", in_plane), 0,
               by_map));
    r.numbers.push_back(
        within(unprinted(desc.name + ": with depth as the target's expressions go (ours)",
                         "% of the diagonal", by_expressions),
               0, 0.6 * by_map));
  }
  return {};
}

/// A head of the cast with its rig, and what moves it.
struct RiggedHead {
  Character character;
  FaceRig rig;
  FacePoints points;
};

Result<RiggedHead> riggedHead(std::string_view name, const PictureEncoder& encode,
                              Diagnostics& notes) {
  RiggedHead out;
  DERM_TRY(out.character, makeCastMember(name, encode));
  DERM_TRY(out.points, facePoints(out.character.points, out.character.mesh));
  if (const std::optional<FaceRig> rig = findFaceRig(out.character)) {
    out.rig = *rig;
    return out;
  }
  DERM_TRY(out.rig, addFaceRig(out.character, {}, notes));
  return out;
}

/// A still of the head with its control points displaced by so much.
Result<Rgba8Image> stillOf(const RiggedHead& head, std::span<const Vec3d> displacements,
                           Diagnostics& notes) {
  DERM_TRY(const FacePoser poser, FacePoser::make(head.character, head.rig));
  Pose pose = head.character.restPose();
  poser.pose(displacements, pose);
  DERM_TRY(TriMesh mesh, poseCharacter(head.character, pose, SkinningMethod::Linear));
  DERM_TRY(Scene scene,
           sceneOf("character = \"cast:woman\"\n", notes,
                   std::make_shared<const Character>(frozen(head.character, std::move(mesh)))));
  return pictureOf(
      scene, {.yaw_deg = 10, .pitch_deg = 2, .zoom = 1.25, .width = 150, .height = 180}, notes);
}

Result<void> drawExpressions(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const RiggedHead source, riggedHead("man", encodePng, notes));
  std::vector<Rgba8Image> cells;
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (const std::string_view name : {"man", "woman", "toon"}) {
    DERM_TRY(const RiggedHead target, riggedHead(name, encodePng, notes));
    const NeutralFace from = neutralFace(source.points), to = neutralFace(target.points);
    DERM_TRY(const FaceRetargeter retargeter, FaceRetargeter::bind(from, to, {}, notes));
    const auto indexIn = [](const std::vector<std::string>& labels, std::string_view number) {
      return std::size_t(std::find(labels.begin(), labels.end(), number) - labels.begin());
    };
    for (std::size_t e = 0; e <= kSixExpressions.size(); ++e) {
      std::vector<Vec3d> seen = from.positions, carried(to.positions.size());
      if (e > 0) {
        DERM_TRY(const auto moves, expressionDisplacements(kSixExpressions[e - 1], source.points));
        for (const PointDisplacement& d : moves)
          if (const std::size_t i = indexIn(from.labels, d.point); i < seen.size())
            seen[i] += d.displacement_m;
      }
      retargeter.map(seen, carried);
      std::vector<Vec3d> displacements(numbers.size(), Vec3d::Zero());
      for (std::size_t n = 0; n < numbers.size(); ++n)
        if (const std::size_t i = indexIn(to.labels, numbers[n]); i < carried.size())
          displacements[n] = carried[i] - to.positions[i];
      DERM_TRY(Rgba8Image cell, stillOf(target, displacements, notes));
      cells.push_back(std::move(cell));
    }
  }
  r.pictures.push_back(
      {.caption = "Neutral, joy, sadness, disgust, surprise, fear, anger: the man, and what the "
                  "woman and the cartoon make of his",
       .image = gridOf(cells, 7, 2)});
  return {};
}

/// Where the control points of a target are, as displacements in the order of the rig.
std::vector<Vec3d> inRigOrder(const NeutralFace& target, std::span<const Vec3d> positions) {
  const std::span<const std::string_view> numbers = controlPointNumbers();
  std::vector<Vec3d> out(numbers.size(), Vec3d::Zero());
  for (std::size_t n = 0; n < numbers.size(); ++n)
    for (std::size_t i = 0; i < target.labels.size(); ++i)
      if (target.labels[i] == numbers[n]) out[n] = positions[i] - target.positions[i];
  return out;
}

/// A head with an expression of its own.
Result<Rgba8Image> expressed(const RiggedHead& head, std::string_view expression,
                             Diagnostics& notes) {
  const NeutralFace neutral = neutralFace(head.points);
  DERM_TRY(const std::vector<Vec3d> moved, withExpression(head.points, neutral, expression));
  return stillOf(head, inRigOrder(neutral, moved), notes);
}

Result<void> drawParts(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const RiggedHead man, riggedHead("man", encodePng, notes));
  DERM_TRY(const RiggedHead woman, riggedHead("woman", encodePng, notes));
  DERM_TRY(const RiggedHead toon, riggedHead("toon", encodePng, notes));
  std::vector<Rgba8Image> cells;
  for (const auto& [upper, lower] : {std::pair{"surprise", "joy"}, {"anger", "surprise"}}) {
    std::vector<FaceSource> sources;
    for (const auto& [head, expression, regions] :
         {std::tuple{&man, upper, "brows,eyes"}, {&woman, lower, "mouth,jaw"}}) {
      const NeutralFace neutral = neutralFace(head->points);
      FaceSource source{.name = expression, .regions = regions};
      DERM_TRY(source.tracks.positions, withExpression(head->points, neutral, expression));
      source.tracks.labels = neutral.labels;
      source.tracks.neutral = neutral.positions;
      source.tracks.times_s = {0};
      sources.push_back(std::move(source));
      DERM_TRY(Rgba8Image cell, expressed(*head, expression, notes));
      cells.push_back(std::move(cell));
    }
    const NeutralFace target = neutralFace(toon.points);
    DERM_TRY(const PointTracks mixed, retargetFace(sources, target, {}, notes));
    NeutralFace in_order = target;
    std::vector<Vec3d> positions = target.positions;
    for (std::size_t i = 0; i < mixed.labels.size(); ++i)
      for (std::size_t k = 0; k < target.labels.size(); ++k)
        if (target.labels[k] == mixed.labels[i]) positions[k] = mixed.positions[i];
    DERM_TRY(Rgba8Image cell, stillOf(toon, inRigOrder(in_order, positions), notes));
    cells.push_back(std::move(cell));
  }
  r.pictures.push_back({.caption =
                            "Brows and eyes of the first face and mouth and jaw of the second, "
                            "on the third; twice",
                        .image = gridOf(cells, 6, 2)});
  return {};
}

Result<void> drawFromPicture(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const RiggedHead man, riggedHead("man", encodePng, notes));
  DERM_TRY(const RiggedHead toon, riggedHead("toon", encodePng, notes));
  const NeutralFace from = neutralFace(man.points), to = neutralFace(toon.points);
  const auto seen = [](std::vector<Vec3d> points) {
    for (Vec3d& p : points) p = Vec3d(320 + 1000 * p.x(), 240 - 1000 * p.y(), 0);
    return points;
  };
  const NeutralFace picture{TrackSpace::Picture, from.labels, seen(from.positions)};
  DERM_TRY(const FaceRetargeter retargeter,
           FaceRetargeter::bind(picture, to, {.depth = FaceDepth::Expressions}, notes));
  std::vector<Rgba8Image> cells, copies;
  for (const std::string_view expression : {"joy", "surprise", "anger", "disgust"}) {
    DERM_TRY(Rgba8Image cell, expressed(man, expression, notes));
    cells.push_back(std::move(cell));
    DERM_TRY(const std::vector<Vec3d> moved, withExpression(man.points, from, expression));
    std::vector<Vec3d> got(to.positions.size());
    retargeter.map(seen(moved), got);
    DERM_TRY(Rgba8Image copy, stillOf(toon, inRigOrder(to, got), notes));
    copies.push_back(std::move(copy));
  }
  cells.insert(cells.end(), copies.begin(), copies.end());
  r.pictures.push_back({.caption =
                            "A face whose markers are seen in two dimensions, and the one that "
                            "they move in three",
                        .image = gridOf(cells, 4, 2)});
  return {};
}

/// Three expressions: the source, by the map, and displacements scaled by the faces' sizes.
Result<void> drawDirect(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const RiggedHead man, riggedHead("man", encodePng, notes));
  DERM_TRY(const RiggedHead toon, riggedHead("toon", encodePng, notes));
  const NeutralFace from = neutralFace(man.points), to = neutralFace(toon.points);
  DERM_TRY(const FaceRetargeter retargeter, FaceRetargeter::bind(from, to, {}, notes));
  const double scale = double(bounds(toon.character.mesh.positions).diagonal()) /
                       double(bounds(man.character.mesh.positions).diagonal());
  std::vector<Rgba8Image> cells;
  for (const std::string_view expression : {"joy", "surprise", "anger"}) {
    DERM_TRY(Rgba8Image own, expressed(man, expression, notes));
    cells.push_back(std::move(own));
    DERM_TRY(const std::vector<Vec3d> moved, withExpression(man.points, from, expression));
    std::vector<Vec3d> got(to.positions.size());
    retargeter.map(moved, got);
    DERM_TRY(Rgba8Image mapped, stillOf(toon, inRigOrder(to, got), notes));
    cells.push_back(std::move(mapped));
    std::vector<Vec3d> direct = to.positions;
    for (std::size_t i = 0; i < direct.size(); ++i)
      for (std::size_t k = 0; k < from.labels.size(); ++k)
        if (from.labels[k] == to.labels[i]) direct[i] += scale * (moved[k] - from.positions[k]);
    DERM_TRY(Rgba8Image plain, stillOf(toon, inRigOrder(to, direct), notes));
    cells.push_back(std::move(plain));
  }
  r.pictures.push_back({.caption =
                            "Joy, surprise, anger: the source, by the map, and displacements "
                            "scaled by the faces' sizes alone",
                        .image = gridOf(cells, 9, 2)});
  return {};
}

// ------------------------------------------------------------------ chapter 5: wrinkle maps

constexpr std::string_view kAcquireSetup =
    "derm face detail acquire rest.png frown.png -o map.png\n"
    "derm face detail acquire rest.png frown.png --method thesis -o printed.png   # eq. 5.8";

AcquisitionDesc wholePicture(DetailMethod method) {
  AcquisitionDesc desc;
  desc.method = method;
  desc.align = false;
  desc.mask = FloatImage(512, 512, 1, 1.0f);
  return desc;
}

Result<void> measureAcquisition(ReproResult& r, Diagnostics& notes) {
  const FurrowedSkin skin = furrowedSkin();
  const auto error = [&](DetailMethod method) -> Result<double> {
    DERM_TRY(const SlopeMap map,
             acquireDetail(std::span(&skin.photos, 1), wholePicture(method), notes));
    return meanAngle(skin.slopes, map.slopes);
  };
  const double flat = meanAngle(skin.slopes, FloatImage(512, 512, 2));
  DERM_TRY(const double thesis, error(DetailMethod::Thesis));
  DERM_TRY(const double blurred, error(DetailMethod::BlurDirection));
  DERM_TRY(const double fitted, error(DetailMethod::HeightFit));
  r.numbers.push_back(near(unprinted("no map at all: mean angle off", "°", flat), 9.86, 0.25));
  r.numbers.push_back(within(
      unprinted("eq. 5.8 as printed (the literal form): worse than none", "°", thesis), flat, 14));
  r.numbers.push_back(within(unprinted("direction from a blurred ratio", "°", blurred), 0, 3.0));
  r.numbers.push_back(within(unprinted("height fit (ours)", "°", fitted), 0, 1.0));
  return {};
}

Result<void> drawAcquisition(ReproResult& r, Diagnostics& notes) {
  const FurrowedSkin skin = furrowedSkin();
  std::vector<Rgba8Image> panels;
  const auto normals = [](const FloatImage& slopes) {
    FloatImage out(slopes.width, slopes.height, 3);
    for (int y = 0; y < slopes.height; ++y)
      for (int x = 0; x < slopes.width; ++x) {
        const float p = slopes.at(x, y, 0), q = slopes.at(x, y, 1);
        const float l = std::sqrt(1 + p * p + q * q);
        out.at(x, y, 0) = -p / l;
        out.at(x, y, 1) = q / l;
        out.at(x, y, 2) = 1 / l;
      }
    return encodeNormals8(out, NormalGreen::Up);
  };
  panels.push_back(normals(skin.slopes));
  for (const DetailMethod method : {DetailMethod::Thesis, DetailMethod::HeightFit}) {
    DERM_TRY(const SlopeMap map,
             acquireDetail(std::span(&skin.photos, 1), wholePicture(method), notes));
    panels.push_back(encodeNormals8(normalsOf(map), NormalGreen::Up));
  }
  const std::array<const char*, 3> names = {"truth", "eq. 5.8", "height fit"};
  for (std::size_t i = 0; i < panels.size(); ++i) drawLabel(panels[i], names[i], Corner::TopLeft);
  // Photos and their ratio, brightest to white.
  const auto greyPicture = [](const FloatImage& image, float full) {
    Rgba8Image out(image.width, image.height);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const auto g =
            static_cast<std::uint8_t>(255 * std::clamp(image.at(x, y, 0) / full, 0.0f, 1.0f));
        out.at(x, y) = {g, g, g, 255};
      }
    return out;
  };
  FloatImage ratio(skin.photos.neutral.width, skin.photos.neutral.height, 1);
  for (int y = 0; y < ratio.height; ++y)
    for (int x = 0; x < ratio.width; ++x)
      ratio.at(x, y, 0) =
          skin.photos.expression.at(x, y, 0) / std::max(1e-4f, skin.photos.neutral.at(x, y, 0));
  const float brightest =
      *std::max_element(skin.photos.neutral.values.begin(), skin.photos.neutral.values.end());
  std::vector<Rgba8Image> photos = {greyPicture(skin.photos.neutral, brightest),
                                    greyPicture(skin.photos.expression, brightest),
                                    greyPicture(ratio, 1.2f)};
  const std::array<const char*, 3> seen = {"at rest", "expression", "ratio"};
  for (std::size_t i = 0; i < photos.size(); ++i) drawLabel(photos[i], seen[i], Corner::TopLeft);
  r.pictures.push_back(
      {.caption = "Two photos of skin and their ratio (5.1, 5.2)", .image = sideBySide(photos, 4)});
  r.pictures.push_back({.caption = "Normal maps of four furrows from two photos (5.3)",
                        .image = sideBySide(panels, 4)});
  return {};
}

constexpr std::string_view kPoseSetup =
    "#include \"derm/face/wrinkle_poses.h\"\n"
    "WrinklePoses poses = WrinklePoses::bind(desc, weights).value();";

/// Three points at the origin that a pose moves by 2 along x each; one vertex follows them by .2,
/// .3 and .5.
Result<WrinklePoses> threePoints(WrinkleInfluence influence) {
  WrinklePosesDesc desc;
  desc.neutral.assign(3, Vec3d::Zero());
  desc.poses = {{.name = "k", .points = std::vector<Vec3d>(3, Vec3d(2, 0, 0))}};
  desc.influence = influence;
  FaceWeights weights;
  weights.offsets = {0, 3};
  weights.shares = {{2, 0.5}, {1, 0.3}, {0, 0.2}};
  return WrinklePoses::bind(desc, weights);
}

/// Three control points in the plane: on their way from neutral to two references (fig. 5.6).
void addEvaluationPlot(ReproResult& r) {
  struct Point {
    double x0, y0, x1, y1, x2, y2, x, y;
  };
  std::vector<PlotSeries> series;
  const Point points[3] = {{0, 0, 0.5, 1.6, 1.4, -0.4, 0.55, 0.7},
                           {3, 0.2, 3.2, 1.9, 4.3, 0.1, 3.3, 1.5},
                           {6, 0, 5.6, 1.3, 7.2, -0.5, 6.6, 0.2}};
  for (int j = 0; j < 3; ++j) {
    const Point& p = points[j];
    const auto way = [&](const char* name, double x, double y) {
      const double dx = x - p.x0, dy = y - p.y0;
      const double alpha =
          std::clamp(((p.x - p.x0) * dx + (p.y - p.y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
      PlotSeries s{.name = std::string(name) + ", α = " + shortNumber(alpha, 2)};
      s.x = {p.x0, x};
      s.y = {p.y0, y};
      series.push_back(std::move(s));
      PlotSeries foot{.name = "", .dashed = true};
      foot.x = {p.x, p.x0 + alpha * dx};
      foot.y = {p.y, p.y0 + alpha * dy};
      series.push_back(std::move(foot));
    };
    const std::string number = std::to_string(j + 1);
    way(("point " + number + ", pose 1").c_str(), p.x1, p.y1);
    way(("point " + number + ", pose 2").c_str(), p.x2, p.y2);
  }
  r.pictures.push_back({.caption =
                            "Control points in the current pose (the dashed lines' far ends) "
                            "projected onto the ways from the neutral pose to two references",
                        .plot = PlotDesc{.x = {.label = "x"},
                                         .y = {.label = "y"},
                                         .series = std::move(series),
                                         .width = 760,
                                         .height = 340}});
}

Result<void> measureAlphas(ReproResult& r, Diagnostics&) {
  DERM_TRY(const WrinklePoses poses, threePoints(WrinkleInfluence::Weighted));
  struct Case {
    Vec3f at;
    double wanted;
    const char* name;
  };
  for (const Case& c : {Case{{1, 0, 0}, .5, "half way"},
                        {{0.5f, 0, 0}, .25, "a quarter"},
                        {{2, 0, 0}, 1, "there"},
                        {{3, 0, 0}, 1, "beyond"},
                        {{-1, 0, 0}, 0, "the other way"},
                        {{1, 5, 0}, .5, "aside"}}) {
    std::array<float, 3> alpha{};
    poses.alphas(std::array{c.at, c.at, c.at}, alpha);
    r.numbers.push_back(near(
        unprinted(std::string("α, point ") + c.name + ", |P_k − P_0| = 2", "", double{alpha[0]}),
        c.wanted, 1e-6));
  }
  addEvaluationPlot(r);
  return {};
}

Result<void> measureMasks57(ReproResult& r, Diagnostics&) {
  const std::array<float, 3> alpha = {0.25f, 0.5f, 1.0f};
  std::array<float, 1> beta{};
  DERM_TRY(const WrinklePoses weighted, threePoints(WrinkleInfluence::Weighted));
  weighted.betas(alpha, beta);
  r.numbers.push_back(
      near(unprinted("β of weights .2 .3 .5 and α .25 .5 1, weighted (ours)", "", double{beta[0]}),
           0.579289, 1e-5));
  DERM_TRY(const WrinklePoses literal, threePoints(WrinkleInfluence::Printed));
  literal.betas(alpha, beta);
  r.numbers.push_back(near(
      unprinted("eq. 5.11 as printed: the sum is 1.271, clamped", "", double{beta[0]}), 1, 1e-6));
  return {};
}

Result<void> measureTheta(ReproResult& r, Diagnostics&) {
  const ModulationCurve theta;
  PlotSeries curve{.name = "θ(x) = sin⁴(πx/2)"},
      printed_form{.name = "((cos(π(1+x))+1)/2)²", .dashed = true};
  double off = 0;
  for (int i = 0; i <= 50; ++i) {
    const double x = i / 50.0;
    const double literal = std::pow((std::cos(3.14159265358979 * (1 + x)) + 1) / 2, 2);
    curve.x.push_back(x);
    curve.y.push_back(double{theta(static_cast<float>(x))});
    printed_form.x.push_back(x);
    printed_form.y.push_back(literal);
    off = std::max(off, std::abs(curve.y.back() - literal));
  }
  for (const auto& [x, wanted] :
       {std::pair{0.25, .021447}, {0.5, .25}, {0.75, .728553}, {1.0, 1.0}})
    r.numbers.push_back(near(printed("θ(" + shortNumber(x) + ")", "",
                                     std::pow((std::cos(3.14159265358979 * (1 + x)) + 1) / 2, 2),
                                     1e-6, double{theta(static_cast<float>(x))}),
                             wanted, 1e-6));
  r.numbers.push_back(
      within(unprinted("largest difference from (5.12) as printed", "", off), 0, 1e-6));
  r.pictures.push_back({.caption = "How wrinkles come with a deformation",
                        .plot = PlotDesc{.x = {.label = "deformation"},
                                         .y = {.label = "depth of the wrinkles"},
                                         .series = {curve, printed_form},
                                         .width = 560,
                                         .height = 280}});
  return {};
}

Result<void> measureBlends(ReproResult& r, Diagnostics&) {
  const auto of_slopes = [](double p, double q) {
    FloatImage out(1, 1, 3);
    const double l = std::sqrt(1 + p * p + q * q);
    out.values = {static_cast<float>(-p / l), static_cast<float>(-q / l),
                  static_cast<float>(1 / l)};
    return out;
  };
  const FloatImage base = of_slopes(0.6, 0), other = of_slopes(0, 0.5);
  const auto blended = [&](const FloatImage& over, NormalBlend blend) {
    FloatImage out;
    const NormalLayer layer{.normals = &over};
    blendNormals(base, std::span(&layer, 1), blend, out);
    return out;
  };
  const FloatImage self = blended(base, NormalBlend::Whiteout);
  r.numbers.push_back(near(
      unprinted("(5.14), slope 0.6 with itself: n_x", "", double{self.values[0]}), -.813621, 1e-5));
  r.numbers.push_back(near(unprinted("n_z", "", double{self.values[2]}), .581395, 1e-5));
  const FloatImage cross = blended(other, NormalBlend::Whiteout);
  r.numbers.push_back(
      near(unprinted("slopes 0.6 across and 0.5 along: n_x", "", double{cross.values[0]}), -.501395,
           1e-5));
  r.numbers.push_back(near(unprinted("n_y", "", double{cross.values[1]}), -.435826, 1e-5));
  const FloatImage exact = blended(base, NormalBlend::PartialDerivative);
  r.numbers.push_back(near(unprinted("the same slopes added exactly (blend = \"slopes\"): n_x", "",
                                     double{exact.values[0]}),
                           -.768221, 1e-5));
  // Slope of the mean of two normals over the slope that one had: what plain averaging loses.
  const FloatImage flat = of_slopes(0, 0);
  const double nx = 0.5 * double{base.values[0] + flat.values[0]};
  const double nz = 0.5 * double{base.values[2] + flat.values[2]};
  r.numbers.push_back(within(
      unprinted("fig. 5.9's other method, the mean of both normals: slope kept over a flat map", "",
                -nx / nz / 0.6),
      0.4, 0.55));
  return {};
}

/// The recipe's lines on a head that plays the six expressions at 1, 2, … s.
Result<Scene> linesOn(std::string_view head, const PictureEncoder& encode, Diagnostics& notes) {
  DERM_TRY(Character character, makeCastMember(head, encode));
  DERM_TRY(const std::string clip, addExpressionClip(character, kSixExpressions, notes));
  DERM_TRY(Recipe recipe, parseRecipe(kWrinkleMaps, "wrinkle_maps.toml"));
  recipe.clip = clip;
  return openScene(recipe, {.character = std::make_shared<const Character>(std::move(character))},
                   notes);
}

/// The recipe's lines on the man, who raises his left brow in the middle of the clip.
Result<Scene> oneBrow(const PictureEncoder& encode, Diagnostics& notes, bool both = false) {
  DERM_TRY(RiggedHead head, riggedHead("man", encode, notes));
  DERM_TRY(const FacePoser poser, FacePoser::make(head.character, head.rig));
  DERM_TRY(auto raised, faceShapeDisplacements("browOuterUpLeft", head.points));
  if (both) {
    DERM_TRY(const auto right, faceShapeDisplacements("browOuterUpRight", head.points));
    raised.insert(raised.end(), right.begin(), right.end());
  }
  head.character.clips.push_back(poser.clip("one brow", raised));
  DERM_TRY(Recipe recipe, parseRecipe(kWrinkleMaps, "wrinkle_maps.toml"));
  recipe.clip = std::string("one brow");
  return openScene(
      recipe, {.character = std::make_shared<const Character>(std::move(head.character))}, notes);
}

/// Weights of two points of a brow, and the mask that they make when the brow is raised.
Result<void> drawMask57(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, oneBrow({}, notes));
  Shot shot{.yaw_deg = 5, .pitch_deg = 5, .zoom = 1.2, .width = 600, .height = 640};
  std::vector<Rgba8Image> images;  // halved, so that legends are small
  for (const std::string_view point : {"4.3", "4.5"}) {
    Shot weights = shot;
    weights.view.weights = controlJointName(point);
    DERM_TRY(const Rgba8Image image, pictureOf(scene, weights, notes));
    images.push_back(boxDownscaled(image, 2));
  }
  shot.time_s = 0.5 * double{scene.clip()->duration_s()};
  shot.view.channel = "lines.stretch";
  DERM_TRY(const Rgba8Image mask, pictureOf(scene, shot, notes));
  images.push_back(boxDownscaled(mask, 2));
  r.pictures.push_back({.caption =
                            "Weights of two points of a brow, and what shows of the lines when "
                            "the brow is raised",
                        .image = sideBySide(images, 4)});
  return {};
}

/// Two maps, their mean, and (5.14), lit from the side.
Result<void> drawBlends(ReproResult& r, Diagnostics&) {
  constexpr int kSize = 220;
  const auto waves = [](double period_x, double period_y, double depth) {
    FloatImage out(kSize, kSize, 3);
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        const double p = period_x > 0 ? depth * std::cos(6.2832 * x / period_x) : 0;
        const double q = period_y > 0 ? depth * std::cos(6.2832 * y / period_y) : 0;
        const double l = std::sqrt(1 + p * p + q * q);
        out.at(x, y, 0) = static_cast<float>(-p / l);
        out.at(x, y, 1) = static_cast<float>(-q / l);
        out.at(x, y, 2) = static_cast<float>(1 / l);
      }
    return out;
  };
  const FloatImage fine = waves(14, 0, 0.5), folds = waves(0, 73, 0.6);
  FloatImage mean = fine, whiteout;
  for (std::size_t i = 0; i < mean.values.size(); ++i)
    mean.values[i] = 0.5f * (fine.values[i] + folds.values[i]);
  const NormalLayer layer{.normals = &folds};
  blendNormals(fine, std::span(&layer, 1), NormalBlend::Whiteout, whiteout);
  const auto lit = [](const FloatImage& n, const char* label) {
    Rgba8Image out(kSize, kSize);
    const Vec3f light = Vec3f(-0.5f, 0.6f, 0.62f).normalized();
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        const Vec3f normal = Vec3f(n.at(x, y, 0), n.at(x, y, 1), n.at(x, y, 2)).normalized();
        const auto g = static_cast<std::uint8_t>(235 * std::max(0.0f, normal.dot(light)));
        out.at(x, y) = {g, g, g, 255};
      }
    drawLabel(out, label, Corner::TopLeft);
    return out;
  };
  const std::array images = {lit(fine, "one map"), lit(folds, "the other"), lit(mean, "their mean"),
                             lit(whiteout, "(5.14)")};
  r.pictures.push_back({.caption =
                            "Two maps lit from the side; their mean flattens both, (5.14) keeps "
                            "them",
                        .image = sideBySide(images, 4)});
  return {};
}

Result<void> measureOneBrow(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, oneBrow({}, notes));
  // Means over the forehead's halves of how much the map "stretch" shows.
  const auto halves = [&](double time_s) {
    const SkinFrame& frame = scene.playback().frameAt(time_s);
    const std::span<const float> shown = frame.channel("lines.stretch");
    std::array<double, 2> sum{};
    for (std::size_t v = 0; v < shown.size(); ++v)
      sum[frame.positions()[v].x() > 0 ? 0 : 1] += double{shown[v]};
    return sum;
  };
  const std::array<double, 2> rest = halves(0),
                              left = halves(0.5 * double{scene.clip()->duration_s()});
  r.numbers.push_back(
      near(unprinted("neutral: what shows of the lines", "", rest[0] + rest[1]), 0, 1e-3));
  r.numbers.push_back(within(unprinted("left brow raised: share of what shows that is on its side",
                                       "%", 100 * left[0] / std::max(1e-9, left[0] + left[1])),
                             80, 100));
  return {};
}

Result<void> drawOneBrow(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene one, oneBrow(encodePng, notes));
  DERM_TRY(Scene two, oneBrow(encodePng, notes, true));
  const double middle = 0.5 * double{one.clip()->duration_s()};
  std::vector<Rgba8Image> panels;
  for (const auto& [scene, time] : {std::pair{&one, 0.0}, {&one, middle}, {&two, middle}}) {
    DERM_TRY(Rgba8Image image, pictureOf(*scene,
                                         {.time_s = time,
                                          .yaw_deg = 5,
                                          .pitch_deg = 5,
                                          .zoom = 1.6,
                                          .width = 360,
                                          .height = 360},
                                         notes));
    panels.push_back(std::move(image));
  }
  r.pictures.push_back(
      {.caption = "Neutral; one brow is raised, and lines come above it alone; both",
       .image = sideBySide(panels, 4)});
  return {};
}

Result<void> drawSheet(ReproResult& r, std::string_view head, Diagnostics& notes) {
  DERM_TRY(Scene scene, linesOn(head, encodePng, notes));
  const std::array<double, 6> times = {1, 2, 3, 4, 5, 6};
  DetailSheetDesc desc{.cell = {.width = 160, .height = 190}};
  desc.orbit.zoom = 1.35;
  DERM_TRY(Rgba8Image sheet, drawDetailSheet(scene, times, kSixExpressions, desc, notes));
  r.pictures.push_back(
      {.caption = "Six expressions: without lines, with them, and where the two maps show",
       .image = std::move(sheet)});
  return {};
}

Result<void> measureLines(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(Scene scene, linesOn("woman", {}, notes));
  const auto largest = [&](double time_s, std::string_view channel) {
    const std::span<const float> shown = scene.playback().frameAt(time_s).channel(channel);
    return shown.empty() ? 0.0 : double{*std::max_element(shown.begin(), shown.end())};
  };
  r.numbers.push_back(within(unprinted("surprise: most of the raised brows' lines that shows", "",
                                       largest(4, "lines.stretch")),
                             0.3, 1));
  r.numbers.push_back(within(
      unprinted("anger: most of the frown's lines that shows", "", largest(6, "lines.compress")),
      0.3, 1));
  r.numbers.push_back(
      better(within(printed("frames, without drawing (theirs, drawn on an Athlon 64: over 100)",
                            "frames/s", 100, 0, framesPerSecond(scene)),
                    100, kNoEnd),
             ReproSense::MoreIsBetter));
  return {};
}

Result<void> drawWoman(ReproResult& r, Diagnostics& notes) { return drawSheet(r, "woman", notes); }
Result<void> drawMan(ReproResult& r, Diagnostics& notes) { return drawSheet(r, "man", notes); }

constexpr std::array<ReproExhibit, 17> kFaceExhibits = {{
    {"fig. 3.3", "zones of influence, eqs. 3.18 and 3.19", kRigSetup,
     "Normalising over control points alone (3.19) tears the mesh: a vertex just inside one zone "
     "follows it fully, its neighbour outside not at all. The head takes the rest. The thesis does "
     "not list its 28 points; ours are MPEG-4's, and of a pair the odd number is the subject's "
     "left.",
     measureZones, drawZones},
    {"figs. 3.4–3.9, 3.12", "landmarks from depth maps", kLandmarkSetup,
     "Heads are formulas whose points are known; the thesis shows its own without numbers. The "
     "symmetry of (3.21) is signed, so that 0 does not mean symmetric: magnitudes are summed. "
     "(3.22) has no test of distance; pairs over 25 px apart are not believed.",
     measureLandmarks, drawLandmarks},
    {"figs. 3.10, 3.11, 3.13", "weights from head to head", kTransferSetup,
     "Inverse distances in the triangle (3.23, 3.24) jump across edges: barycentric here. The "
     "lips' "
     "swap (3.25, 3.26) is printed as two assignments, which lose a value.",
     measureTransfer, drawTransfer},
    {"figs. 4.2, 4.8, 4.9", "expressions from face to face",
     "derm face retarget cast:man cast:woman --clip joy -o woman.glb", "", noNumbers,
     drawExpressions},
    {"fig. 4.3", "parts of two faces on a third",
     "derm face retarget cast:man cast:toon --clip surprise --regions brows,eyes \\\n"
     "    --also cast:woman:clip=joy:regions=mouth,jaw -o toon.glb",
     "", measureParts, drawParts},
    {"fig. 4.4", "a face in 3D from markers in 2D",
     "derm face track film.mp4 -o tracks.csv\nderm face retarget tracks.csv cast:toon -o toon.glb",
     "The thesis films a marked face; here the picture is computed, so that the truth is known.",
     measurePicture, drawFromPicture},
    {"fig. 4.5", "without a map", "derm face evaluate",
     "\"Direct transfer attenuates\" is not general: it depends on which face is the larger. What "
     "a "
     "map guarantees is contact: a blink shuts the eye.",
     measureDirect, drawDirect},
    {"fig. 4.6", "there and back, humans (the thesis's table)", kEvaluateSetup,
     "An exact interpolation cannot have an error on the neutral face: the printed table contains "
     "the regularisation of its solver. R is best for every expression, as the thesis finds; the "
     "order of the others is not reproduced.",
     measureTable46, nullptr},
    {"fig. 4.7", "there and back, a cartoon and a human", kEvaluateSetup,
     "As fig. 4.6. A round trip measures whether a map can be inverted, not whether it is right.",
     measureTable47, nullptr},
    {"figs. 5.1–5.3, 5.11", "normal maps from two photos", kAcquireSetup,
     "(5.8) has the wrong sign over much of every furrow, and frontal light cannot tell a furrow "
     "from a ridge. (5.5), (5.6): L must point to the light. Photos are synthetic, so that the "
     "truth is known.",
     measureAcquisition, drawAcquisition},
    {"fig. 5.6", "how far a point is on its way", kPoseSetup,
     "(5.9) needs the squared norm in its denominator; as printed it depends on the unit.",
     measureAlphas, nullptr},
    {"fig. 5.7", "masks", kPoseSetup,
     "(5.11) sums over the wrong index and exceeds 1; weighted by the skin's weights it stays in "
     "[0, 1] and is smooth. influence = \"printed\" is the literal form.",
     measureMasks57, drawMask57},
    {"fig. 5.8", "the modulation curve θ", kPoseSetup, "(5.12) is sin⁴(πx/2).", measureTheta,
     nullptr},
    {"fig. 5.9", "blending normal maps", "derm face detail bake look.toml --blend whiteout -o maps",
     "(5.14) is \"whiteout\" blending; its bars mean normalising. It steepens detail that agrees "
     "(0.6 + 0.6 becomes 1.40); adding slopes is exact for height fields.",
     measureBlends, drawBlends},
    {"fig. 5.10", "one brow", "derm render examples/recipes/one_brow.toml --time 1.5 -o brow.png",
     "", measureOneBrow, drawOneBrow},
    {"figs. 5.12–5.14", "two reference poses, six expressions", kWrinkleMaps,
     "Our maps are drawn by rule from the control points; the thesis's were photographed.",
     measureLines, drawWoman},
    {"fig. 5.15", "the same on another head", kWrinkleMaps, "", noNumbers, drawMan},
}};

}  // namespace

ReproDocument faceDocument() {
  return {"002", "faces",
          "Dutreve 2011: Paramétrisation et transfert d'animations faciales 3D à partir de "
          "séquences vidéo (PhD thesis)",
          kFaceExhibits};
}

}  // namespace derm::detail::repro
