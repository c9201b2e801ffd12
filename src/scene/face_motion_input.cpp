#include "derm/scene/face_motion_input.h"

#include <algorithm>

#include "derm/face/face_motion.h"
#include "derm/face/face_rig.h"
#include "derm/face/shape_motion.h"
#include "derm/io/bvh.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/name_table.h"
#include "derm/io/point_tracks_file.h"
#include "derm/io/shape_tracks_file.h"
#include "derm/scene/scene.h"

namespace derm {
namespace {

constexpr double kSampleRate_hz = 60;
constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 30;

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

Result<FaceMotion> loadMarkers(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                               Diagnostics& notes) {
  DERM_TRY(const BvhMotion bvh, loadBvh(folder / choice.source, {}, notes));
  NamePairs names;
  if (!choice.map.empty()) {
    DERM_TRY(names, loadNameTable(folder / choice.map));
  }
  DERM_TRY(FaceMotion out, markersOf(bvh, names));
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

/// Whether a file holds coefficients of face shapes, and not points: told by its beginning.
bool holdsShapes(std::string_view text, bool json) {
  if (json) return text.find("\"labels\"") == std::string_view::npos;
  return looksLikeShapeTracks(text.substr(0, text.find_first_of("\r\n")));
}

/// Coefficients as points of the face that plays them. The head turns about its joint.
Result<FaceMotion> shapesOnTarget(ShapeTracks shapes, const Character& target, const FaceRig& rig,
                                  Diagnostics& notes) {
  FaceMotion out;
  DERM_TRY(out.shapes, arkitTracks(shapes, notes));
  DERM_TRY(const ShapeMotion motion, ShapeMotion::bind(target, rig, notes));
  out.points = shapePoints(motion, *out.shapes);
  std::vector<Affine3d> model(target.skeleton.size());
  localToModel(target.skeleton, target.bindPose().local, model);
  const Vec3d pivot = model[rig.head.index()].translation();
  out.points.head.clear();
  for (const Quatd& turn : out.shapes->head) {
    Transform moved;
    moved.rotation = turn.cast<float>();
    moved.translation = (pivot - turn * pivot).cast<float>();
    out.points.head.push_back(moved);
  }
  return out;
}

Result<FaceMotion> loadTable(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                             const Character& target, const FaceRig& rig, Diagnostics& notes) {
  const std::filesystem::path file = folder / choice.source;
  const bool json = fileEnding(file) == ".json";
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestTable));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  FaceMotion out;
  if (holdsShapes(text, json)) {
    DERM_TRY(ShapeTracks shapes, parseShapeTracks(bytes, file.string(), notes));
    DERM_TRY(out, shapesOnTarget(std::move(shapes), target, rig, notes));
  } else if (json) {
    DERM_TRY(out.points, parsePointTracksJson(bytes, file.string(), notes));
  } else {
    DERM_TRY(out.points, parsePointTracksCsv(text, file.string()));
  }
  out.name = file.stem().string();
  if (choice.fit_head && !out.shapes) {
    DERM_TRY(out.points, withHeadApart(std::move(out.points)));
  }
  return out;
}

Result<FaceMotion> loadAny(const FaceMotionChoice& choice, const std::filesystem::path& folder,
                           const Character& target, const FaceRig& rig, Diagnostics& notes) {
  const std::string ending = choice.source.starts_with("cast:") ? "" : fileEnding(choice.source);
  if (ending == ".csv" || ending == ".json") return loadTable(choice, folder, target, rig, notes);
  if (ending == ".bvh") return loadMarkers(choice, folder, notes);
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

Result<PointTracks> addFaceMotion(std::span<const FaceMotionChoice> motions,
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
  return tracks;
}

}  // namespace derm
