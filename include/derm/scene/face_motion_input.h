#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/anim/shape_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_mix.h"
#include "derm/face/face_rig.h"

namespace derm {

/// A motion of some face as people name it, and what of it is wanted.
struct FaceMotionChoice {
  /// "cast:NAME", a character with control points (.glb, …), points over time or coefficients of
  /// face shapes (.csv, .json), or markers (.bvh). A relative path starts at a folder.
  std::string source;
  std::string clip;     ///< of a character: name or number; empty = the first
  std::string map;      ///< file of marker names, lines "source = target"; empty = as they are
  std::string regions;  ///< as faceRegionWeights(); empty = all
  std::vector<FaceGain> gains;
  double offset_s = 0;    ///< [s] later on the target by so much
  bool fit_head = false;  ///< the head's motion is in the positions (of markers it always is)

  bool operator==(const FaceMotionChoice&) const = default;
};

/// What a source says about a face in motion.
struct FaceMotion {
  std::string name;  ///< of the motion: a clip's, or the file's
  PointTracks points;
  std::optional<ShapeTracks> shapes;  ///< where the source holds coefficients
};

/// Reads any source. Coefficients of ARKit's shapes say nothing of a face: their points are those
/// of the target, which has a face rig, moved as its shapes go (shape_motion.h); so they need no
/// map. C3D files are not read: no package of Debian does.
Result<FaceMotion> loadFaceMotion(const FaceMotionChoice& choice,
                                  const std::filesystem::path& folder, const Character& target,
                                  const FaceRig& rig, Diagnostics& notes);

/// What kernels are called in recipes and on the command line.
inline constexpr std::array<std::pair<RbfKernel, std::string_view>, 5> kFaceKernelNames = {
    {{RbfKernel::Biharmonic, "r"},
     {RbfKernel::Triharmonic, "r3"},
     {RbfKernel::ThinPlate, "tps"},
     {RbfKernel::Multiquadric, "mq"},
     {RbfKernel::Gaussian, "gauss"}}};

struct FaceMotionOptions {
  FaceRetargetDesc retarget{.slide_lids = true};
  bool head = true;       ///< the head moves too
  std::string clip_name;  ///< empty = that of the first motion
  bool rig = false;       ///< by joints, also where coefficients could drive the head's own shapes
};

/// Plays motions of other faces on a head with control points, as its last clip; one that has no
/// face rig yet gets it (face_rig.h). Coefficients alone, all of them, go to ARKit's shapes of a
/// head that has them (kEnoughShapes), else to its rig without a map between faces
/// (shape_motion.h); the former needs no control points. Returns the clip's name, what the control
/// points do (without any, no points), and the coefficients where these were played alone.
Result<FaceMotion> addFaceMotion(std::span<const FaceMotionChoice> motions,
                                 const std::filesystem::path& folder,
                                 const FaceMotionOptions& options, Character& character,
                                 Diagnostics& notes);

/// What addFaceMotion() returned as coefficients: those that were played, else those that fit its
/// points (fitShapes()).
Result<ShapeTracks> faceCoefficients(const FaceMotion& played, Diagnostics& notes);

}  // namespace derm
