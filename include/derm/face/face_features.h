#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derm/base/result.h"

namespace derm {

/// Which half of the face something belongs to. Left and right are the subject's own.
enum class FaceSide { Middle, Left, Right };

/// One of MPEG-4's feature points (ISO/IEC 14496-2, annex C): a place that every face has, under
/// the number the standard gives it and a name that people can read.
struct FaceFeature {
  std::string_view number;  ///< "8.1"
  std::string_view name;    ///< "upper_lip_middle"; those of the sides end in _left and _right
  FaceSide side = FaceSide::Middle;
  std::string_view mirror;   ///< number of the point across the face; its own on the midline
  std::string_view meaning;  ///< one line
};

/// All 84, by number. The first of a pair is the left one in most groups, not in all: ask `side`.
std::span<const FaceFeature> faceFeatures();

/// The 28 that a face is animated by (brows, lids, cheeks, nose, lips, chin): numbers, by group.
/// Every one lies on the skin.
std::span<const std::string_view> controlPointNumbers();
bool isControlPoint(std::string_view number);

/// Null where nothing is called so. `label` is a number or a name; letter case does not count.
const FaceFeature* findFaceFeature(std::string_view label);
/// The same with an error that lists the nearest names.
Result<const FaceFeature*> faceFeatureNamed(std::string_view label);

/// The label of the point across the face, a number for a number and a name for a name; other words
/// are given back with left and right, or a trailing L and R, swapped ("eyeBlinkLeft", "brow_L").
std::string mirroredLabel(std::string_view label);

}  // namespace derm
