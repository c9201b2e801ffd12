#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derm/base/result.h"
#include "derm/face/face_features.h"

namespace derm {

/// An action unit of the Facial Action Coding System (Ekman, Friesen 1978): what one muscle, or a
/// few that act together, does.
struct ActionUnit {
  int number = 0;         ///< 12
  std::string_view name;  ///< "lip corner puller"
};
std::span<const ActionUnit> actionUnits();
/// Null where there is no such unit.
const ActionUnit* findActionUnit(int number);

/// One of the 52 face shapes that ARKit tracks, and what it is in the other vocabularies.
struct FaceShape {
  std::string_view name;  ///< ARKit's own spelling: "mouthSmileLeft"
  FaceSide side = FaceSide::Middle;
  std::string_view mirror;                   ///< "mouthSmileRight"; its own name in the middle
  int action_unit = 0;                       ///< the one nearest to it: 12; 0 where FACS has none
  std::span<const std::string_view> points;  ///< feature points that it moves, by number
};
/// All 52, in ARKit's order.
std::span<const FaceShape> faceShapes();
/// Null where nothing is called so. Letter case and separators do not count, and a trailing _L or
/// _R says the side ("eyeBlink_L" is "eyeBlinkLeft").
const FaceShape* findFaceShape(std::string_view name);
/// The same with an error that lists the nearest names.
Result<const FaceShape*> faceShapeNamed(std::string_view name);

/// A share of a face shape.
struct ShapeWeight {
  std::string_view shape;  ///< ARKit's name
  float weight = 0;        ///< (0,1]
};
/// An expression that VRM avatars have, as a mix of face shapes. The standard fixes the names
/// alone; the mixes are ours.
struct VrmPreset {
  std::string_view name;      ///< of VRM 1.0: "happy"
  std::string_view old_name;  ///< of VRM 0.x: "joy"; empty where it has none
  std::span<const ShapeWeight> shapes;
};
/// All 18.
std::span<const VrmPreset> vrmPresets();
/// By either name; letter case does not count. Null where nothing is called so.
const VrmPreset* findVrmPreset(std::string_view name);

}  // namespace derm
