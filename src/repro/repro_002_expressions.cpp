#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/cast/cast.h"
#include "derm/cast/heads.h"
#include "derm/deform/pose_character.h"
#include "derm/face/expressions.h"
#include "derm/face/face_mix.h"
#include "derm/face/face_retarget.h"
#include "derm/face/face_rig.h"
#include "derm/face/retarget_evaluation.h"
#include "derm/image/compose.h"
#include "derm/io/png.h"
#include "derm/mesh/measures.h"

#include "repro/documents.h"
#include "repro/measuring.h"
#include "repro/rigged_head.h"

/// Dutreve 2011, chapter 4: expressions from face to face, and from pictures.
namespace derm::detail::repro {
namespace {

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

constexpr std::array<ReproExhibit, 6> kExpressionExhibits = {{
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
}};

}  // namespace

std::span<const ReproExhibit> expressionExhibits() { return kExpressionExhibits; }

}  // namespace derm::detail::repro
