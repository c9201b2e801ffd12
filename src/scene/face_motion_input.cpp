#include "derm/scene/face_motion_input.h"

#include <algorithm>
#include <cmath>

#include "derm/base/deferred.h"
#include "derm/face/face_motion.h"
#include "derm/face/face_rig.h"
#include "derm/face/shape_fit.h"
#include "derm/face/shape_motion.h"
#include "derm/io/bvh.h"
#include "derm/io/file_ending.h"
#include "derm/io/name_table.h"
#include "derm/io/point_tracks_file.h"
#include "derm/io/shape_tracks_file.h"
#include "derm/scene/scene.h"

namespace derm {
namespace {

constexpr double kSampleRate_hz = 60;
constexpr double kMaxOffset_s = 24 * 60 * 60;

Error inFile(Error error, const std::string& file) {
  if (error.where.file.empty()) error.where.file = file;
  return error;
}

/// What a marker is called: a feature point by number, name or its joint's name, or its own label.
std::string markerLabel(const std::string& name) {
  if (const FaceFeature* feature = findFaceFeature(name)) return std::string(feature->number);
  for (const FaceFeature& feature : faceFeatures())
    if (controlJointName(feature.number) == name) return std::string(feature.number);
  return name;
}

bool isPoint(const std::string& label, const Character& target) {
  return findFaceFeature(label) != nullptr ||
         std::any_of(target.points.begin(), target.points.end(),
                     [&](const LabelledPoint& p) { return p.label == label; });
}

/// Joints of a motion as markers: where each is, frame by frame. At rest is the first frame:
/// markers often have no offsets.
Result<FaceMotion> markersOf(const BvhMotion& bvh, const NamePairs& names) {
  FaceMotion out;
  out.name = bvh.clip.name;
  PointTracks& tracks = out.points;
  std::vector<std::size_t> joints;
  for (std::size_t j = 0; j < bvh.skeleton.size(); ++j) {
    const std::string& name = bvh.skeleton.joints[j].name;
    const auto pair =
        std::find_if(names.begin(), names.end(), [&](const auto& p) { return p.first == name; });
    // With a table, what it does not name is no marker.
    if (!names.empty() && pair == names.end()) continue;
    const std::string label = markerLabel(names.empty() ? name : pair->second);
    if (std::find(tracks.labels.begin(), tracks.labels.end(), label) != tracks.labels.end())
      continue;
    tracks.labels.push_back(label);
    joints.push_back(j);
  }
  std::vector<Affine3d> model(bvh.skeleton.size());
  for (std::size_t f = 0; f < bvh.frame_count; ++f) {
    Pose pose{restTransforms(bvh.skeleton), {}};
    const double time_s = double(f) * double(bvh.frame_time_s);
    sampleClip(bvh.clip, static_cast<float>(time_s), pose);
    localToModel(bvh.skeleton, pose.local, model);
    tracks.times_s.push_back(time_s);
    for (const std::size_t j : joints) tracks.positions.emplace_back(model[j].translation());
  }
  if (tracks.frames() > 0) tracks.neutral.assign(tracks.frame(0).begin(), tracks.frame(0).end());
  DERM_CHECK(validate(tracks, ""));
  return out;
}

Error badLine(const std::string& file, const NamePairs::value_type& line, std::string message) {
  return {ErrorCode::BadData,
          "\"" + line.first + " = " + line.second + "\": " + std::move(message),
          {.file = file}};
}

/// That a table names points, and so many joints of the motion that a face can follow them. A table
/// for several takes may name joints that one of them lacks.
Result<void> checkMarkerNames(const NamePairs& names, const std::string& file,
                              const Skeleton& skeleton, const Character& target,
                              Diagnostics& notes) {
  constexpr std::size_t kFewest = 4;
  const std::vector<std::string> joints = skeleton.names();
  std::vector<const NamePairs::value_type*> absent;
  for (const NamePairs::value_type& line : names) {
    if (!isPoint(markerLabel(line.second), target))
      return badLine(file, line, "no point of a face is called \"" + line.second + "\"");
    if (std::find(joints.begin(), joints.end(), line.first) == joints.end())
      absent.push_back(&line);
  }
  if (absent.empty()) return {};
  const Error error =
      badLine(file, *absent[0], "the motion has no joint \"" + absent[0]->first + "\"");
  if (names.size() - absent.size() < kFewest) return error;
  for (std::size_t i = 0; i < absent.size(); ++i) notes.warn("marker-absent", file, error.message);
  return {};
}

Error noMarkers(const Skeleton& skeleton) {
  constexpr std::size_t kListed = 6;
  std::string list;
  for (std::size_t j = 0; j < std::min(kListed, skeleton.size()); ++j)
    list += (j == 0 ? "\"" : ", \"") + skeleton.joints[j].name + "\"";
  if (skeleton.size() > kListed) list += " and others";
  return {ErrorCode::BadData,
          "no joint is named like a point of a face; there are " + list +
              "; a table (map) can say which is which",
          {}};
}

Result<FaceMotion> loadMarkers(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                               const Character& target, Diagnostics& notes) {
  DERM_TRY(const BvhMotion bvh, loadBvh(folder / choice.source, {}, notes));
  NamePairs names;
  if (!choice.map.empty()) {
    DERM_TRY(names, loadNameTable(folder / choice.map));
    DERM_CHECK(checkMarkerNames(names, choice.map, bvh.skeleton, target, notes));
  }
  DERM_TRY(FaceMotion out, markersOf(bvh, names));
  if (std::none_of(out.points.labels.begin(), out.points.labels.end(),
                   [&](const std::string& label) { return isPoint(label, target); }))
    return noMarkers(bvh.skeleton);
  DERM_TRY(out.points, withHeadApart(std::move(out.points)));
  return out;
}

Result<FaceMotion> loadClip(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                            Diagnostics& notes) {
  DERM_TRY(Character character, openCharacter(choice.source, folder, {}, notes));
  const std::string wanted = choice.clip.empty() ? "0" : choice.clip;
  Result<std::size_t> clip = character.findClip(wanted);
  // A head with control points has derm's own expressions to give, too.
  if (!clip && !character.points.empty() && !findFaceRig(character)) {
    DERM_TRY(const FaceRig rig, addFaceRig(character, {}, notes));
    static_cast<void>(rig);
    clip = character.findClip(wanted);
  }
  if (!clip) return clip.error();
  FaceMotion out;
  out.name = character.clips[*clip].name;
  DERM_TRY(out.points, faceMotion(character, character.clips[*clip], kSampleRate_hz));
  return out;
}

Result<FaceMotion> loadTracks(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                              Diagnostics& notes) {
  const std::filesystem::path file = folder / choice.source;
  FaceMotion out;
  out.name = file.stem().string();
  DERM_TRY(out.points, loadPointTracks(file, notes));
  if (choice.fit_head) {
    DERM_TRY(out.points, withHeadApart(std::move(out.points)));
  }
  return out;
}

bool isCoefficients(const FaceMotionChoice& choice, const std::filesystem::path& folder) {
  if (choice.source.starts_with("cast:")) return false;
  const std::string ending = fileEnding(choice.source);
  return (ending == ".csv" || ending == ".json") &&
         looksLikeShapeTracksFile(folder / choice.source);
}

/// Under ARKit's names.
Result<ShapeTracks> loadCoefficients(const FaceMotionChoice& choice,
                                     const std::filesystem::path& folder, Diagnostics& notes) {
  DERM_TRY(const ShapeTracks tracks, loadShapeTracks(folder / choice.source, notes));
  Result<ShapeTracks> named = arkitTracks(tracks, notes, (folder / choice.source).string());
  if (!named) return inFile(named.error(), choice.source);
  return named;
}

/// Coefficients that no other motion is mixed with.
bool isCoefficientsAlone(std::span<const FaceMotionChoice> motions,
                         const std::filesystem::path& folder) {
  return motions.size() == 1 && motions[0].regions.empty() && motions[0].gains.empty() &&
         isCoefficients(motions[0], folder);
}

/// Later by so much; what would be before the beginning is left out.
Result<ShapeTracks> later(const ShapeTracks& tracks, double offset_s) {
  if (!(std::abs(offset_s) <= kMaxOffset_s))
    return Error{ErrorCode::BadArgument, "must be within 24 h", {.element = "offset"}};
  ShapeTracks out;
  out.names = tracks.names;
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    if (tracks.times_s[f] + offset_s < 0) continue;
    out.times_s.push_back(tracks.times_s[f] + offset_s);
    out.values.insert(out.values.end(), tracks.frame(f).begin(), tracks.frame(f).end());
    if (!tracks.head.empty()) out.head.push_back(tracks.head[f]);
  }
  if (out.times_s.empty())
    return Error{ErrorCode::BadArgument, "nothing is left of the motion", {.element = "offset"}};
  return out;
}

Result<FaceMotion> playCoefficients(const FaceMotionChoice& choice,
                                    const std::filesystem::path& folder,
                                    const FaceMotionOptions& options, Character& character,
                                    Diagnostics& notes) {
  DERM_TRY(const ShapeTracks given, loadCoefficients(choice, folder, notes));
  DERM_TRY(ShapeTracks tracks, later(given, choice.offset_s));
  ShapeClipDesc desc;
  desc.name = options.clip_name.empty() ? std::filesystem::path(choice.source).stem().string()
                                        : options.clip_name;
  desc.turn_head = options.head;
  if (!options.rig && arkitShapeCount(character) >= kEnoughShapes) {
    DERM_TRY(Clip clip, morphShapeClip(character, tracks, desc, notes));
    PointTracks out;
    out.times_s = tracks.times_s;
    if (!character.points.empty()) {
      DERM_TRY(out, faceMotion(character, clip, kSampleRate_hz));
    }
    character.clips.push_back(std::move(clip));
    return FaceMotion{desc.name, std::move(out), std::move(tracks)};
  }
  std::optional<FaceRig> rig = findFaceRig(character);
  if (!rig) {
    DERM_TRY(rig, addFaceRig(character, {.clips = false}, notes));
  }
  DERM_TRY(Clip clip, rigShapeClip(character, *rig, tracks, desc, notes));
  Diagnostics said_already;  // by rigShapeClip(), which binds the same
  DERM_TRY(const ShapeMotion motion, ShapeMotion::bind(character, *rig, said_already));
  PointTracks out = shapePoints(motion, tracks);
  if (!options.head) out.head.clear();
  character.clips.push_back(std::move(clip));
  return FaceMotion{desc.name, std::move(out), std::move(tracks)};
}

/// Coefficients as points of the face that plays them. The head turns about its joint.
Result<FaceMotion> coefficientsOnTarget(const FaceMotionChoice& choice,
                                        const std::filesystem::path& folder,
                                        const Character& target, const FaceRig& rig,
                                        Diagnostics& notes) {
  FaceMotion out;
  out.name = std::filesystem::path(choice.source).stem().string();
  DERM_TRY(out.shapes, loadCoefficients(choice, folder, notes));
  DERM_TRY(const ShapeMotion motion, ShapeMotion::bind(target, rig, notes));
  out.points = shapePoints(motion, *out.shapes);
  std::vector<Affine3d> model(target.skeleton.size());
  localToModel(target.skeleton, target.bindPose().local, model);
  const Vec3d pivot = model[rig.head.index()].translation();
  for (Transform& moved : out.points.head) {
    const Quatd turn = moved.rotation.cast<double>().normalized();
    moved.translation = (pivot - turn * pivot).cast<float>();
  }
  return out;
}

Result<FaceMotion> loadAny(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                           const Character& target, const FaceRig& rig, Diagnostics& notes) {
  if (isCoefficients(choice, folder))
    return coefficientsOnTarget(choice, folder, target, rig, notes);
  const std::string ending = choice.source.starts_with("cast:") ? "" : fileEnding(choice.source);
  if (ending == ".csv" || ending == ".json") return loadTracks(choice, folder, notes);
  if (ending == ".bvh") return loadMarkers(choice, folder, target, notes);
  if (ending == ".c3d")
    return Error{ErrorCode::Unsupported,
                 "C3D is not read; save the markers as BVH or as a table (.csv)",
                 {}};
  return loadClip(choice, folder, notes);
}

}  // namespace

Result<FaceMotion> loadFaceMotion(const FaceMotionChoice& choice,
                                  const std::filesystem::path& folder, const Character& target,
                                  const FaceRig& rig, Diagnostics& notes) {
  Result<FaceMotion> motion = loadAny(choice, folder, target, rig, notes);
  if (!motion) return inFile(motion.error(), choice.source);
  return motion;
}

namespace {

/// By the control points of both faces. (Deferred: see needDeferred().)
Result<FaceMotion> playRetargeted(std::span<const FaceMotionChoice> motions,
                                  const std::filesystem::path& folder,
                                  const FaceMotionOptions& options, Character& character,
                                  Diagnostics& notes) {
  std::optional<FaceRig> rig = findFaceRig(character);
  if (!rig) {
    DERM_TRY(rig, addFaceRig(character, {.clips = false}, notes));
  }
  DERM_TRY(const FacePoints points, facePoints(character.points, character.mesh));
  std::vector<FaceSource> sources;
  std::string clip_name = options.clip_name;
  for (const FaceMotionChoice& choice : motions) {
    DERM_TRY(FaceMotion motion, loadFaceMotion(choice, folder, character, *rig, notes));
    if (clip_name.empty()) clip_name = motion.name;
    if (!options.head) motion.points.head.clear();
    sources.push_back(
        {choice.source, std::move(motion.points), choice.regions, choice.gains, choice.offset_s});
  }
  DERM_TRY(PointTracks tracks, retargetFace(sources, neutralFace(points), options.retarget, notes));
  DERM_TRY(Clip clip, faceClip(character, *rig, tracks, clip_name));
  character.clips.push_back(std::move(clip));
  return FaceMotion{clip_name, std::move(tracks), {}};
}

}  // namespace

Result<FaceMotion> addFaceMotion(std::span<const FaceMotionChoice> motions,
                                 const std::filesystem::path& folder,
                                 const FaceMotionOptions& options, Character& character,
                                 Diagnostics& notes) {
  if (isCoefficientsAlone(motions, folder))
    return playCoefficients(motions[0], folder, options, character, notes);
  DERM_CHECK(needDeferred("retargeting from other faces"));
  return deferred(playRetargeted)(motions, folder, options, character, notes);
}

Result<ShapeTracks> faceCoefficients(const FaceMotion& played, Diagnostics& notes) {
  if (played.shapes) return *played.shapes;
  return fitShapes(played.points, {}, notes);
}

}  // namespace derm
