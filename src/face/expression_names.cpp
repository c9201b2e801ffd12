#include "derm/face/expression_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "derm/base/nearest_name.h"

#include "face/side_names.h"

namespace derm {
namespace {

constexpr std::array kUnits = {
    ActionUnit{1, "inner brow raiser"},
    ActionUnit{2, "outer brow raiser"},
    ActionUnit{4, "brow lowerer"},
    ActionUnit{5, "upper lid raiser"},
    ActionUnit{6, "cheek raiser"},
    ActionUnit{7, "lid tightener"},
    ActionUnit{8, "lips toward each other"},
    ActionUnit{9, "nose wrinkler"},
    ActionUnit{10, "upper lip raiser"},
    ActionUnit{11, "nasolabial deepener"},
    ActionUnit{12, "lip corner puller"},
    ActionUnit{13, "sharp lip puller"},
    ActionUnit{14, "dimpler"},
    ActionUnit{15, "lip corner depressor"},
    ActionUnit{16, "lower lip depressor"},
    ActionUnit{17, "chin raiser"},
    ActionUnit{18, "lip pucker"},
    ActionUnit{19, "tongue show"},
    ActionUnit{20, "lip stretcher"},
    ActionUnit{21, "neck tightener"},
    ActionUnit{22, "lip funneler"},
    ActionUnit{23, "lip tightener"},
    ActionUnit{24, "lip pressor"},
    ActionUnit{25, "lips part"},
    ActionUnit{26, "jaw drop"},
    ActionUnit{27, "mouth stretch"},
    ActionUnit{28, "lip suck"},
    ActionUnit{29, "jaw thrust"},
    ActionUnit{30, "jaw sideways"},
    ActionUnit{31, "jaw clencher"},
    ActionUnit{32, "lip bite"},
    ActionUnit{33, "cheek blow"},
    ActionUnit{34, "cheek puff"},
    ActionUnit{35, "cheek suck"},
    ActionUnit{36, "tongue bulge"},
    ActionUnit{37, "lip wipe"},
    ActionUnit{38, "nostril dilator"},
    ActionUnit{39, "nostril compressor"},
    ActionUnit{43, "eyes closure"},
    ActionUnit{45, "blink"},
    ActionUnit{46, "wink"},
    ActionUnit{61, "eyes turn left"},
    ActionUnit{62, "eyes turn right"},
    ActionUnit{63, "eyes up"},
    ActionUnit{64, "eyes down"},
};

// A shape of the table, with room for the points of the largest.
struct Row {
  std::string_view name;
  FaceSide side;
  std::string_view mirror;
  int unit;
  std::array<std::string_view, 8> points;
};

using detail::kLeft;
using detail::kMiddle;
using detail::kRight;

constexpr std::array kRows = {
    Row{"eyeBlinkLeft", kLeft, "eyeBlinkRight", 45, {"3.1", "3.3"}},
    Row{"eyeLookDownLeft", kLeft, "eyeLookDownRight", 64, {"3.1", "3.3", "3.5"}},
    Row{"eyeLookInLeft", kLeft, "eyeLookInRight", 62, {"3.5"}},
    Row{"eyeLookOutLeft", kLeft, "eyeLookOutRight", 61, {"3.5"}},
    Row{"eyeLookUpLeft", kLeft, "eyeLookUpRight", 63, {"3.1", "3.3", "3.5"}},
    Row{"eyeSquintLeft", kLeft, "eyeSquintRight", 7, {"3.1", "3.3"}},
    Row{"eyeWideLeft", kLeft, "eyeWideRight", 5, {"3.1"}},
    Row{"eyeBlinkRight", kRight, "eyeBlinkLeft", 45, {"3.2", "3.4"}},
    Row{"eyeLookDownRight", kRight, "eyeLookDownLeft", 64, {"3.2", "3.4", "3.6"}},
    Row{"eyeLookInRight", kRight, "eyeLookInLeft", 61, {"3.6"}},
    Row{"eyeLookOutRight", kRight, "eyeLookOutLeft", 62, {"3.6"}},
    Row{"eyeLookUpRight", kRight, "eyeLookUpLeft", 63, {"3.2", "3.4", "3.6"}},
    Row{"eyeSquintRight", kRight, "eyeSquintLeft", 7, {"3.2", "3.4"}},
    Row{"eyeWideRight", kRight, "eyeWideLeft", 5, {"3.2"}},
    Row{"jawForward", kMiddle, "jawForward", 29, {"2.1", "8.2", "8.7", "8.8"}},
    Row{"jawLeft", kLeft, "jawRight", 30, {"2.1", "8.2", "8.7", "8.8"}},
    Row{"jawRight", kRight, "jawLeft", 30, {"2.1", "8.2", "8.7", "8.8"}},
    Row{"jawOpen", kMiddle, "jawOpen", 26, {"2.1", "8.2", "8.3", "8.4", "8.7", "8.8"}},
    Row{"mouthClose", kMiddle, "mouthClose", 8, {"8.1", "8.2", "8.5", "8.6", "8.7", "8.8"}},
    Row{"mouthFunnel",
        kMiddle,
        "mouthFunnel",
        22,
        {"8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8"}},
    Row{"mouthPucker",
        kMiddle,
        "mouthPucker",
        18,
        {"8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8"}},
    Row{"mouthLeft",
        kLeft,
        "mouthRight",
        0,
        {"8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8"}},
    Row{"mouthRight",
        kRight,
        "mouthLeft",
        0,
        {"8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8"}},
    Row{"mouthSmileLeft", kLeft, "mouthSmileRight", 12, {"5.1", "8.3", "8.5", "8.7"}},
    Row{"mouthSmileRight", kRight, "mouthSmileLeft", 12, {"5.2", "8.4", "8.6", "8.8"}},
    Row{"mouthFrownLeft", kLeft, "mouthFrownRight", 15, {"8.3", "8.7"}},
    Row{"mouthFrownRight", kRight, "mouthFrownLeft", 15, {"8.4", "8.8"}},
    Row{"mouthDimpleLeft", kLeft, "mouthDimpleRight", 14, {"8.3"}},
    Row{"mouthDimpleRight", kRight, "mouthDimpleLeft", 14, {"8.4"}},
    Row{"mouthStretchLeft", kLeft, "mouthStretchRight", 20, {"8.3", "8.7"}},
    Row{"mouthStretchRight", kRight, "mouthStretchLeft", 20, {"8.4", "8.8"}},
    Row{"mouthRollLower", kMiddle, "mouthRollLower", 28, {"8.2", "8.7", "8.8"}},
    Row{"mouthRollUpper", kMiddle, "mouthRollUpper", 28, {"8.1", "8.5", "8.6"}},
    Row{"mouthShrugLower", kMiddle, "mouthShrugLower", 17, {"2.1", "8.2", "8.7", "8.8"}},
    Row{"mouthShrugUpper", kMiddle, "mouthShrugUpper", 17, {"8.1", "8.5", "8.6"}},
    Row{"mouthPressLeft", kLeft, "mouthPressRight", 24, {"8.5", "8.7"}},
    Row{"mouthPressRight", kRight, "mouthPressLeft", 24, {"8.6", "8.8"}},
    Row{"mouthLowerDownLeft", kLeft, "mouthLowerDownRight", 16, {"8.2", "8.7"}},
    Row{"mouthLowerDownRight", kRight, "mouthLowerDownLeft", 16, {"8.2", "8.8"}},
    Row{"mouthUpperUpLeft", kLeft, "mouthUpperUpRight", 10, {"8.1", "8.5"}},
    Row{"mouthUpperUpRight", kRight, "mouthUpperUpLeft", 10, {"8.1", "8.6"}},
    Row{"browDownLeft", kLeft, "browDownRight", 4, {"4.1", "4.3", "4.5"}},
    Row{"browDownRight", kRight, "browDownLeft", 4, {"4.2", "4.4", "4.6"}},
    Row{"browInnerUp", kMiddle, "browInnerUp", 1, {"4.1", "4.2"}},
    Row{"browOuterUpLeft", kLeft, "browOuterUpRight", 2, {"4.3", "4.5"}},
    Row{"browOuterUpRight", kRight, "browOuterUpLeft", 2, {"4.4", "4.6"}},
    Row{"cheekPuff", kMiddle, "cheekPuff", 34, {"5.1", "5.2"}},
    Row{"cheekSquintLeft", kLeft, "cheekSquintRight", 6, {"3.3", "5.1"}},
    Row{"cheekSquintRight", kRight, "cheekSquintLeft", 6, {"3.4", "5.2"}},
    Row{"noseSneerLeft", kLeft, "noseSneerRight", 9, {"4.1", "8.5", "9.1"}},
    Row{"noseSneerRight", kRight, "noseSneerLeft", 9, {"4.2", "8.6", "9.2"}},
    Row{"tongueOut", kMiddle, "tongueOut", 19, {"6.1", "6.2", "6.3", "6.4"}},
};
static_assert(kRows.size() == 52);

constexpr std::array kHappy = {
    ShapeWeight{"mouthSmileLeft", 0.9f},  ShapeWeight{"mouthSmileRight", 0.9f},
    ShapeWeight{"cheekSquintLeft", 0.6f}, ShapeWeight{"cheekSquintRight", 0.6f},
    ShapeWeight{"eyeSquintLeft", 0.2f},   ShapeWeight{"eyeSquintRight", 0.2f}};
constexpr std::array kAngry = {
    ShapeWeight{"browDownLeft", 1.0f},   ShapeWeight{"browDownRight", 1.0f},
    ShapeWeight{"eyeSquintLeft", 0.3f},  ShapeWeight{"eyeSquintRight", 0.3f},
    ShapeWeight{"noseSneerLeft", 0.4f},  ShapeWeight{"noseSneerRight", 0.4f},
    ShapeWeight{"mouthFrownLeft", 0.3f}, ShapeWeight{"mouthFrownRight", 0.3f},
    ShapeWeight{"mouthPressLeft", 0.4f}, ShapeWeight{"mouthPressRight", 0.4f}};
constexpr std::array kSad = {
    ShapeWeight{"browInnerUp", 1.0f},     ShapeWeight{"mouthFrownLeft", 0.7f},
    ShapeWeight{"mouthFrownRight", 0.7f}, ShapeWeight{"eyeBlinkLeft", 0.15f},
    ShapeWeight{"eyeBlinkRight", 0.15f},  ShapeWeight{"mouthShrugLower", 0.3f}};
constexpr std::array kRelaxed = {
    ShapeWeight{"mouthSmileLeft", 0.4f}, ShapeWeight{"mouthSmileRight", 0.4f},
    ShapeWeight{"eyeBlinkLeft", 0.2f}, ShapeWeight{"eyeBlinkRight", 0.2f}};
constexpr std::array kSurprised = {
    ShapeWeight{"browInnerUp", 0.8f},      ShapeWeight{"browOuterUpLeft", 1.0f},
    ShapeWeight{"browOuterUpRight", 1.0f}, ShapeWeight{"eyeWideLeft", 0.8f},
    ShapeWeight{"eyeWideRight", 0.8f},     ShapeWeight{"jawOpen", 0.45f}};
constexpr std::array kAa = {ShapeWeight{"jawOpen", 0.6f}, ShapeWeight{"mouthLowerDownLeft", 0.2f},
                            ShapeWeight{"mouthLowerDownRight", 0.2f}};
constexpr std::array kIh = {
    ShapeWeight{"jawOpen", 0.15f},           ShapeWeight{"mouthStretchLeft", 0.4f},
    ShapeWeight{"mouthStretchRight", 0.4f},  ShapeWeight{"mouthUpperUpLeft", 0.2f},
    ShapeWeight{"mouthUpperUpRight", 0.2f},  ShapeWeight{"mouthLowerDownLeft", 0.3f},
    ShapeWeight{"mouthLowerDownRight", 0.3f}};
constexpr std::array kOu = {ShapeWeight{"jawOpen", 0.1f}, ShapeWeight{"mouthPucker", 0.8f}};
constexpr std::array kEe = {ShapeWeight{"jawOpen", 0.2f},
                            ShapeWeight{"mouthSmileLeft", 0.4f},
                            ShapeWeight{"mouthSmileRight", 0.4f},
                            ShapeWeight{"mouthStretchLeft", 0.3f},
                            ShapeWeight{"mouthStretchRight", 0.3f},
                            ShapeWeight{"mouthLowerDownLeft", 0.3f},
                            ShapeWeight{"mouthLowerDownRight", 0.3f}};
constexpr std::array kOh = {ShapeWeight{"jawOpen", 0.35f}, ShapeWeight{"mouthFunnel", 0.6f}};
constexpr std::array kBlink = {ShapeWeight{"eyeBlinkLeft", 1.0f},
                               ShapeWeight{"eyeBlinkRight", 1.0f}};
constexpr std::array kBlinkLeft = {ShapeWeight{"eyeBlinkLeft", 1.0f}};
constexpr std::array kBlinkRight = {ShapeWeight{"eyeBlinkRight", 1.0f}};
constexpr std::array kLookUp = {ShapeWeight{"eyeLookUpLeft", 1.0f},
                                ShapeWeight{"eyeLookUpRight", 1.0f}};
constexpr std::array kLookDown = {ShapeWeight{"eyeLookDownLeft", 1.0f},
                                  ShapeWeight{"eyeLookDownRight", 1.0f}};
constexpr std::array kLookLeft = {ShapeWeight{"eyeLookOutLeft", 1.0f},
                                  ShapeWeight{"eyeLookInRight", 1.0f}};
constexpr std::array kLookRight = {ShapeWeight{"eyeLookInLeft", 1.0f},
                                   ShapeWeight{"eyeLookOutRight", 1.0f}};

constexpr std::array kPresets = {
    VrmPreset{"happy", "joy", kHappy},
    VrmPreset{"angry", "angry", kAngry},
    VrmPreset{"sad", "sorrow", kSad},
    VrmPreset{"relaxed", "fun", kRelaxed},
    VrmPreset{"surprised", "", kSurprised},
    VrmPreset{"aa", "a", kAa},
    VrmPreset{"ih", "i", kIh},
    VrmPreset{"ou", "u", kOu},
    VrmPreset{"ee", "e", kEe},
    VrmPreset{"oh", "o", kOh},
    VrmPreset{"blink", "blink", kBlink},
    VrmPreset{"blinkLeft", "blink_l", kBlinkLeft},
    VrmPreset{"blinkRight", "blink_r", kBlinkRight},
    VrmPreset{"lookUp", "lookup", kLookUp},
    VrmPreset{"lookDown", "lookdown", kLookDown},
    VrmPreset{"lookLeft", "lookleft", kLookLeft},
    VrmPreset{"lookRight", "lookright", kLookRight},
    VrmPreset{"neutral", "neutral", {}},
};
static_assert(kPresets.size() == 18);

constexpr std::array<FaceShape, kRows.size()> shapesOfRows() {
  std::array<FaceShape, kRows.size()> out;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const Row& row = kRows[i];
    std::size_t points = 0;
    while (points < row.points.size() && !row.points[points].empty()) ++points;
    out[i] = {row.name, row.side, row.mirror, row.unit,
              std::span<const std::string_view>(row.points.data(), points)};
  }
  return out;
}
constexpr std::array<FaceShape, kRows.size()> kShapes = shapesOfRows();

/// Small letters without separators, "_L" and "_R" written out.
std::string plainName(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t n = name.size();
  if (!out.empty() && n > 2 &&
      std::string_view("_.- ").find(name[n - 2]) != std::string_view::npos) {
    if (out.back() == 'l') out += "eft";
    if (out.back() == 'r') out += "ight";
  }
  return out;
}

}  // namespace

std::span<const ActionUnit> actionUnits() { return kUnits; }

const ActionUnit* findActionUnit(int number) {
  for (const ActionUnit& unit : kUnits)
    if (unit.number == number) return &unit;
  return nullptr;
}

std::span<const FaceShape> faceShapes() { return kShapes; }

const FaceShape* findFaceShape(std::string_view name) {
  const std::string wanted = plainName(name);
  for (const FaceShape& shape : kShapes)
    if (plainName(shape.name) == wanted) return &shape;
  return nullptr;
}

Result<const FaceShape*> faceShapeNamed(std::string_view name) {
  if (const FaceShape* found = findFaceShape(name)) return found;
  std::vector<std::string> names;
  for (const FaceShape& shape : kShapes) names.emplace_back(shape.name);
  return Error{ErrorCode::BadArgument,
               "no face shape is called \"" + std::string(name) + "\"" + didYouMean(name, names),
               {}};
}

std::span<const VrmPreset> vrmPresets() { return kPresets; }

const VrmPreset* findVrmPreset(std::string_view name) {
  const std::string wanted = plainName(name);
  for (const VrmPreset& preset : kPresets)
    if (plainName(preset.name) == wanted ||
        (!preset.old_name.empty() && plainName(preset.old_name) == wanted))
      return &preset;
  return nullptr;
}

}  // namespace derm
