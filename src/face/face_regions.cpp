#include "derm/face/face_regions.h"

#include <algorithm>
#include <array>

#include "derm/base/nearest_name.h"
#include "derm/face/face_features.h"

namespace derm {
namespace {

constexpr std::array<std::string_view, 6> kRegions = {"brows",  "eyes",  "nose",
                                                      "cheeks", "mouth", "jaw"};

/// A point that lies at the border of a region which is not its own.
struct Border {
  std::string_view region;
  std::string_view point;
  double share;
};
/// Points that can meet (lids, lips) are never at a border one without the other, so that half a
/// region does not pull them apart.
constexpr std::array kBorders = {
    Border{"mouth", "5.1", 0.25},  Border{"mouth", "5.2", 0.25},  Border{"mouth", "9.1", 0.15},
    Border{"mouth", "9.2", 0.15},  Border{"mouth", "2.1", 0.25},  Border{"nose", "5.1", 0.15},
    Border{"nose", "5.2", 0.15},   Border{"eyes", "5.1", 0.15},   Border{"eyes", "5.2", 0.15},
    Border{"eyes", "4.3", 0.15},   Border{"eyes", "4.4", 0.15},   Border{"eyes", "4.5", 0.15},
    Border{"eyes", "4.6", 0.15},   Border{"eyes", "4.1", 0.15},   Border{"eyes", "4.2", 0.15},
    Border{"cheeks", "9.1", 0.25}, Border{"cheeks", "9.2", 0.25}, Border{"cheeks", "8.3", 0.25},
    Border{"cheeks", "8.4", 0.25}};

std::string_view ownRegion(std::string_view number) {
  if (number.starts_with("4.")) return "brows";
  if (number.starts_with("3.")) return "eyes";
  if (number.starts_with("9.")) return "nose";
  if (number.starts_with("5.")) return "cheeks";
  if (number.starts_with("8.")) return "mouth";
  // 2.2 to 2.9 are the inner lips.
  if (number.starts_with("2.") && number.size() == 3 && number != "2.1") return "mouth";
  if (number.starts_with("2.")) return "jaw";
  return {};
}

double shareOf(std::string_view region, const FaceFeature& feature) {
  if (ownRegion(feature.number) == region) return 1;
  for (const Border& border : kBorders)
    if (border.region == region && border.point == feature.number) return border.share;
  return 0;
}

double shareOfSide(std::string_view side, const FaceFeature& feature) {
  if (feature.side == FaceSide::Middle) return 0.5;
  return (feature.side == FaceSide::Left) == (side == "left") ? 1 : 0;
}

bool isSide(std::string_view word) { return word == "left" || word == "right"; }
bool isRegion(std::string_view word) {
  return std::find(kRegions.begin(), kRegions.end(), word) != kRegions.end();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// One item of a list: what it says of every feature point, and of one marker by its label.
struct Item {
  std::string_view word, region, side;  ///< empty = any
  const FaceFeature* point = nullptr;
  bool all = false;

  double share(std::string_view label, const FaceFeature* feature) const {
    if (all || label == word) return 1;
    if (feature == nullptr) return 0;
    if (point != nullptr) return feature == point ? 1 : 0;
    if (region.empty() && side.empty()) return 0;
    return (region.empty() ? 1 : shareOf(region, *feature)) *
           (side.empty() ? 1 : shareOfSide(side, *feature));
  }
};

Result<Item> readItem(std::string_view word, std::span<const std::string> labels) {
  Item item;
  item.word = word;
  item.all = word == "all";
  if (item.all) return item;
  item.point = findFaceFeature(word);
  if (item.point != nullptr || std::find(labels.begin(), labels.end(), word) != labels.end())
    return item;
  const std::size_t dot = word.find('.');
  const std::string_view first = word.substr(0, dot);
  const std::string_view second = dot == std::string_view::npos ? "" : word.substr(dot + 1);
  if (isRegion(first) && (second.empty() ? dot == std::string_view::npos : isSide(second))) {
    item.region = first;
    item.side = second;
    return item;
  }
  if (isSide(word)) {
    item.side = word;
    return item;
  }
  std::vector<std::string> known(kRegions.begin(), kRegions.end());
  known.insert(known.end(), {"left", "right", "all"});
  known.insert(known.end(), labels.begin(), labels.end());
  return Error{ErrorCode::BadArgument, "\"" + std::string(word) +
                                           "\" is no region of a face and no point" +
                                           didYouMean(word, known)};
}

}  // namespace

std::span<const std::string_view> faceRegionNames() { return kRegions; }

Result<std::vector<double>> faceRegionWeights(std::string_view regions,
                                              std::span<const std::string> labels) {
  std::vector<double> out(labels.size(), trimmed(regions).empty() ? 1.0 : 0.0);
  while (!regions.empty()) {
    const std::size_t comma = std::min(regions.find(','), regions.size());
    const std::string_view word = trimmed(regions.substr(0, comma));
    regions.remove_prefix(std::min(comma + 1, regions.size()));
    if (word.empty()) continue;
    DERM_TRY(const Item item, readItem(word, labels));
    for (std::size_t i = 0; i < labels.size(); ++i)
      out[i] = std::max(out[i], item.share(labels[i], findFaceFeature(labels[i])));
  }
  return out;
}

}  // namespace derm
