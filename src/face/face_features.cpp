#include "derm/face/face_features.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "derm/base/nearest_name.h"

#include "face/side_names.h"

namespace derm {
namespace {

using detail::kLeft;
using detail::kMiddle;
using detail::kRight;

// Odd numbers are the subject's left in groups 2 to 6 and 10 but for the eye corners; the standard
// counts Cupid's bow, the nose's edges and the hair line from the right.
constexpr std::array kFeatures = {
    FaceFeature{"2.1", "chin_bottom", kMiddle, "2.1", "bottom of the chin"},
    FaceFeature{"2.2", "inner_upper_lip_middle", kMiddle, "2.2", "middle of the inner upper lip"},
    FaceFeature{"2.3", "inner_lower_lip_middle", kMiddle, "2.3", "middle of the inner lower lip"},
    FaceFeature{"2.4", "inner_mouth_corner_left", kLeft, "2.5", "left corner of the inner lips"},
    FaceFeature{"2.5", "inner_mouth_corner_right", kRight, "2.4", "right corner of the inner lips"},
    FaceFeature{"2.6", "inner_upper_lip_left", kLeft, "2.7",
                "half way from 2.2 to 2.4 on the inner upper lip"},
    FaceFeature{"2.7", "inner_upper_lip_right", kRight, "2.6",
                "half way from 2.2 to 2.5 on the inner upper lip"},
    FaceFeature{"2.8", "inner_lower_lip_left", kLeft, "2.9",
                "half way from 2.3 to 2.4 on the inner lower lip"},
    FaceFeature{"2.9", "inner_lower_lip_right", kRight, "2.8",
                "half way from 2.3 to 2.5 on the inner lower lip"},
    FaceFeature{"2.10", "chin_front", kMiddle, "2.10", "foremost point of the chin"},
    FaceFeature{"2.11", "chin_corner_left", kLeft, "2.12", "left corner of the chin"},
    FaceFeature{"2.12", "chin_corner_right", kRight, "2.11", "right corner of the chin"},
    FaceFeature{"2.13", "jaw_corner_left", kLeft, "2.14", "left corner of the jaw bone"},
    FaceFeature{"2.14", "jaw_corner_right", kRight, "2.13", "right corner of the jaw bone"},
    FaceFeature{"3.1", "upper_lid_left", kLeft, "3.2", "middle of the left upper lid's margin"},
    FaceFeature{"3.2", "upper_lid_right", kRight, "3.1", "middle of the right upper lid's margin"},
    FaceFeature{"3.3", "lower_lid_left", kLeft, "3.4", "middle of the left lower lid's margin"},
    FaceFeature{"3.4", "lower_lid_right", kRight, "3.3", "middle of the right lower lid's margin"},
    FaceFeature{"3.5", "pupil_left", kLeft, "3.6", "centre of the left pupil"},
    FaceFeature{"3.6", "pupil_right", kRight, "3.5", "centre of the right pupil"},
    FaceFeature{"3.7", "outer_eye_corner_left", kLeft, "3.12", "left corner of the left eye"},
    FaceFeature{"3.8", "inner_eye_corner_right", kRight, "3.11", "left corner of the right eye"},
    FaceFeature{"3.9", "lower_lid_fold_left", kLeft, "3.10",
                "middle of the left lower lid's outer end"},
    FaceFeature{"3.10", "lower_lid_fold_right", kRight, "3.9",
                "middle of the right lower lid's outer end"},
    FaceFeature{"3.11", "inner_eye_corner_left", kLeft, "3.8", "right corner of the left eye"},
    FaceFeature{"3.12", "outer_eye_corner_right", kRight, "3.7", "right corner of the right eye"},
    FaceFeature{"3.13", "upper_lid_fold_left", kLeft, "3.14",
                "middle of the left upper lid's outer end"},
    FaceFeature{"3.14", "upper_lid_fold_right", kRight, "3.13",
                "middle of the right upper lid's outer end"},
    FaceFeature{"4.1", "inner_brow_left", kLeft, "4.2", "inner end of the left brow"},
    FaceFeature{"4.2", "inner_brow_right", kRight, "4.1", "inner end of the right brow"},
    FaceFeature{"4.3", "brow_middle_left", kLeft, "4.4", "highest point of the left brow"},
    FaceFeature{"4.4", "brow_middle_right", kRight, "4.3", "highest point of the right brow"},
    FaceFeature{"4.5", "outer_brow_left", kLeft, "4.6", "outer end of the left brow"},
    FaceFeature{"4.6", "outer_brow_right", kRight, "4.5", "outer end of the right brow"},
    FaceFeature{"5.1", "cheek_left", kLeft, "5.2", "centre of the left cheek"},
    FaceFeature{"5.2", "cheek_right", kRight, "5.1", "centre of the right cheek"},
    FaceFeature{"5.3", "cheekbone_left", kLeft, "5.4", "left cheek bone"},
    FaceFeature{"5.4", "cheekbone_right", kRight, "5.3", "right cheek bone"},
    FaceFeature{"6.1", "tongue_tip", kMiddle, "6.1", "tip of the tongue"},
    FaceFeature{"6.2", "tongue_middle", kMiddle, "6.2", "centre of the tongue's body"},
    FaceFeature{"6.3", "tongue_left", kLeft, "6.4", "left border of the tongue"},
    FaceFeature{"6.4", "tongue_right", kRight, "6.3", "right border of the tongue"},
    FaceFeature{"7.1", "head_pivot", kMiddle, "7.1", "top of the spine: the head turns about it"},
    FaceFeature{"8.1", "upper_lip_middle", kMiddle, "8.1", "middle of the outer upper lip"},
    FaceFeature{"8.2", "lower_lip_middle", kMiddle, "8.2", "middle of the outer lower lip"},
    FaceFeature{"8.3", "mouth_corner_left", kLeft, "8.4", "left corner of the outer lips"},
    FaceFeature{"8.4", "mouth_corner_right", kRight, "8.3", "right corner of the outer lips"},
    FaceFeature{"8.5", "upper_lip_left", kLeft, "8.6",
                "half way from 8.1 to 8.3 on the outer upper lip"},
    FaceFeature{"8.6", "upper_lip_right", kRight, "8.5",
                "half way from 8.1 to 8.4 on the outer upper lip"},
    FaceFeature{"8.7", "lower_lip_left", kLeft, "8.8",
                "half way from 8.2 to 8.3 on the outer lower lip"},
    FaceFeature{"8.8", "lower_lip_right", kRight, "8.7",
                "half way from 8.2 to 8.4 on the outer lower lip"},
    FaceFeature{"8.9", "cupids_bow_right", kRight, "8.10", "right high point of Cupid's bow"},
    FaceFeature{"8.10", "cupids_bow_left", kLeft, "8.9", "left high point of Cupid's bow"},
    FaceFeature{"9.1", "nostril_left", kLeft, "9.2", "outer border of the left nostril"},
    FaceFeature{"9.2", "nostril_right", kRight, "9.1", "outer border of the right nostril"},
    FaceFeature{"9.3", "nose_tip", kMiddle, "9.3", "tip of the nose"},
    FaceFeature{"9.4", "nose_base_right", kRight, "9.5", "bottom right edge of the nose"},
    FaceFeature{"9.5", "nose_base_left", kLeft, "9.4", "bottom left edge of the nose"},
    FaceFeature{"9.6", "nose_bone_top_right", kRight, "9.7", "right upper edge of the nose bone"},
    FaceFeature{"9.7", "nose_bone_top_left", kLeft, "9.6", "left upper edge of the nose bone"},
    FaceFeature{"9.8", "upper_teeth_top", kMiddle, "9.8", "top of the upper teeth"},
    FaceFeature{"9.9", "lower_teeth_bottom", kMiddle, "9.9", "bottom of the lower teeth"},
    FaceFeature{"9.10", "upper_teeth_bottom", kMiddle, "9.10", "bottom of the upper teeth"},
    FaceFeature{"9.11", "lower_teeth_top", kMiddle, "9.11", "top of the lower teeth"},
    FaceFeature{"9.12", "nose_bridge", kMiddle, "9.12", "middle lower edge of the nose bone"},
    FaceFeature{"9.13", "nose_bone_right", kRight, "9.14", "right lower edge of the nose bone"},
    FaceFeature{"9.14", "nose_bone_left", kLeft, "9.13", "left lower edge of the nose bone"},
    FaceFeature{"9.15", "nose_base_middle", kMiddle, "9.15", "middle of the nose's lower edge"},
    FaceFeature{"10.1", "ear_top_left", kLeft, "10.2", "top of the left ear"},
    FaceFeature{"10.2", "ear_top_right", kRight, "10.1", "top of the right ear"},
    FaceFeature{"10.3", "ear_back_left", kLeft, "10.4", "back of the left ear"},
    FaceFeature{"10.4", "ear_back_right", kRight, "10.3", "back of the right ear"},
    FaceFeature{"10.5", "ear_lobe_left", kLeft, "10.6", "bottom of the left ear lobe"},
    FaceFeature{"10.6", "ear_lobe_right", kRight, "10.5", "bottom of the right ear lobe"},
    FaceFeature{"10.7", "ear_root_low_left", kLeft, "10.8",
                "lower point where the left ear meets the face"},
    FaceFeature{"10.8", "ear_root_low_right", kRight, "10.7",
                "lower point where the right ear meets the face"},
    FaceFeature{"10.9", "ear_root_high_left", kLeft, "10.10",
                "upper point where the left ear meets the face"},
    FaceFeature{"10.10", "ear_root_high_right", kRight, "10.9",
                "upper point where the right ear meets the face"},
    FaceFeature{"11.1", "hair_line_middle", kMiddle, "11.1", "middle border of hair and forehead"},
    FaceFeature{"11.2", "hair_line_right", kRight, "11.3", "right border of hair and forehead"},
    FaceFeature{"11.3", "hair_line_left", kLeft, "11.2", "left border of hair and forehead"},
    FaceFeature{"11.4", "skull_top", kMiddle, "11.4", "top of the skull"},
    FaceFeature{"11.5", "hair_top", kMiddle, "11.5", "top of the hair over 11.4"},
    FaceFeature{"11.6", "skull_back", kMiddle, "11.6", "back of the skull"},
};
static_assert(kFeatures.size() == 84);

constexpr std::array<std::string_view, 28> kControlPoints = {
    "2.1", "3.1", "3.2", "3.3", "3.4", "3.7", "3.8", "3.11", "3.12", "4.1",
    "4.2", "4.3", "4.4", "4.5", "4.6", "5.1", "5.2", "8.1",  "8.2",  "8.3",
    "8.4", "8.5", "8.6", "8.7", "8.8", "9.1", "9.2", "9.3"};

bool sameLetters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// "Left" for "Right" in the case it was written in; empty where `label` does not have it.
std::string swappedWord(std::string_view label, std::string_view word, std::string_view other) {
  for (std::size_t at = 0; at + word.size() <= label.size(); ++at) {
    if (!sameLetters(label.substr(at, word.size()), word)) continue;
    std::string put(other);
    const auto upper = [&](std::size_t i) {
      return std::isupper(static_cast<unsigned char>(label[at + i])) != 0;
    };
    for (std::size_t i = 0; i < put.size(); ++i)
      if (i == 0 ? upper(0) : upper(1))
        put[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(put[i])));
    return std::string(label.substr(0, at)) + put + std::string(label.substr(at + word.size()));
  }
  return {};
}

}  // namespace

std::span<const FaceFeature> faceFeatures() { return kFeatures; }

std::span<const std::string_view> controlPointNumbers() { return kControlPoints; }

bool isControlPoint(std::string_view number) {
  return std::find(kControlPoints.begin(), kControlPoints.end(), number) != kControlPoints.end();
}

const FaceFeature* findFaceFeature(std::string_view label) {
  for (const FaceFeature& p : kFeatures)
    if (p.number == label || sameLetters(p.name, label)) return &p;
  return nullptr;
}

Result<const FaceFeature*> faceFeatureNamed(std::string_view label) {
  if (const FaceFeature* found = findFaceFeature(label)) return found;
  // Of numbers any two are alike; only a word is worth a guess among the names.
  const bool is_number = !label.empty() && label.find_first_not_of("0123456789.") == label.npos;
  std::vector<std::string> names;
  for (const FaceFeature& p : kFeatures) names.emplace_back(is_number ? p.number : p.name);
  return Error{
      ErrorCode::BadArgument,
      "no feature point is called \"" + std::string(label) + "\"" + didYouMean(label, names),
      {}};
}

std::string mirroredLabel(std::string_view label) {
  if (const FaceFeature* point = findFaceFeature(label)) {
    const FaceFeature* mirror = findFaceFeature(point->mirror);
    return std::string(point->number == label ? mirror->number : mirror->name);
  }
  if (std::string swapped = swappedWord(label, "left", "right"); !swapped.empty()) return swapped;
  if (std::string swapped = swappedWord(label, "right", "left"); !swapped.empty()) return swapped;
  std::string out(label);
  const std::size_t n = out.size();
  if (n > 1 && (out[n - 2] == '_' || out[n - 2] == '.' || out[n - 2] == '-')) {
    constexpr std::string_view kFrom = "LRlr", kTo = "RLrl";
    if (const std::size_t i = kFrom.find(out[n - 1]); i != kFrom.npos) out[n - 1] = kTo[i];
  }
  return out;
}

}  // namespace derm
