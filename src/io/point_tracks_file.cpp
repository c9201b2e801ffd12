#include "derm/io/point_tracks_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"

#include "io/json_dom.h"
#include "io/table_cells.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::cutCells;
using detail::findMember;
using detail::Json;
namespace text = detail::text;
using text::trimmed;

constexpr std::uint64_t kLargestTracksFile = std::uint64_t{1} << 30;
/// What a float cannot hold is no place on a character.
constexpr double kLargestNumber = 1e30;
constexpr std::array<std::string_view, 7> kHeadColumns = {"x", "y", "z", "qx", "qy", "qz", "qw"};

bool holdsControls(std::string_view label) {
  return std::any_of(label.begin(), label.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool isUnitLength(const Quatf& q) { return std::abs(q.norm() - 1) <= 1e-2f; }

// --- tables

/// Which of a point's numbers a column holds.
enum Part : std::size_t { ColumnX, ColumnY, ColumnZ, Confidence, kParts };
constexpr std::array<std::string_view, kParts> kPartNames = {"x", "y", "z", "confidence"};

/// The columns of one point; 0, which is the time's, where there is none.
using PointColumns = std::array<std::size_t, kParts>;

class TableReader {
 public:
  TableReader(std::string_view table, std::string_view name) : lines_(table), name_(name) {}

  Result<PointTracks> read() {
    DERM_CHECK(readHeader());
    std::string_view line;
    while (lines_.next(line)) {
      if (trimmed(line).empty()) continue;
      cutCells(line, cells_);
      if (cells_.size() != names_.size())
        return bad(std::to_string(cells_.size()) + " values, but the first line names " +
                       std::to_string(names_.size()) + " columns",
                   std::min(cells_.size(), names_.size()) - 1);
      if (cells_[0].text == "neutral") {
        DERM_CHECK(readNeutral());
      } else {
        DERM_CHECK(readFrame());
      }
    }
    if (tracks_.frames() == 0) return bad("no frames", {});
    if (tracks_.neutral.empty())
      tracks_.neutral.assign(tracks_.frame(0).begin(), tracks_.frame(0).end());
    if (!has_confidence_) tracks_.confidence.clear();
    DERM_CHECK(validate(tracks_, name_));
    return std::move(tracks_);
  }

 private:
  Error bad(std::string message, std::optional<std::size_t> cell) const {
    Error error{ErrorCode::BadData,
                std::move(message),
                {.file = std::string(name_), .line = lines_.lineIfAny()}};
    if (cell && *cell < cells_.size()) {
      error.where.column = cells_[*cell].column;
      if (*cell < names_.size()) error.where.element = names_[*cell];
    }
    return error;
  }

  Result<void> readHeader() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return bad("nothing in it", {});
    } while (trimmed(line).empty());
    cutCells(line, cells_);
    if (const auto other = detail::otherSeparator(line); other && cells_.size() == 1) {
      cells_[0].column = other->column;
      return bad(other->message, 0);
    }
    if (!text::equalIgnoringCase(cells_[0].text, "time"))
      return bad("the first column is " + text::quoted(cells_[0].text) + "; wanted \"time\"", 0);

    std::unordered_map<std::string, std::size_t> found;  // labels
    std::array<std::size_t, 7> head{};
    for (std::size_t i = 1; i < cells_.size(); ++i) {
      const std::string_view cell = cells_[i].text;
      const std::size_t dot = cell.rfind('.');
      const std::string_view part = dot == std::string_view::npos ? "" : cell.substr(dot + 1);
      const std::string_view label = trimmed(cell.substr(0, std::min(dot, cell.size())));
      std::size_t* column = nullptr;
      if (label == "head") {
        const auto* which = std::find(kHeadColumns.begin(), kHeadColumns.end(), part);
        if (which != kHeadColumns.end()) column = &head[std::size_t(which - kHeadColumns.begin())];
      } else if (const auto* which = std::find(kPartNames.begin(), kPartNames.end(), part);
                 which != kPartNames.end() && !label.empty()) {
        if (holdsControls(label) || label.find('"') != std::string_view::npos)
          return bad("a label holds quotes or control characters", i);
        const auto [point, is_new] = found.try_emplace(std::string(label), columns_.size());
        if (is_new) {
          columns_.push_back({});
          tracks_.labels.emplace_back(label);
        }
        column = &columns_[point->second][std::size_t(which - kPartNames.begin())];
      }
      if (column == nullptr)
        return bad(text::quoted(cell) +
                       " is no column of a point; wanted LABEL.x, LABEL.y, LABEL.z, "
                       "LABEL.confidence or head.x to head.qw",
                   i);
      if (*column != 0) return bad(text::quoted(cell) + " is there twice", i);
      *column = i;
    }
    if (columns_.empty()) return bad("no points: wanted columns like 8.1.x, 8.1.y, 8.1.z", 0);

    const auto has = [](Part part) {
      return [part](const PointColumns& columns) { return columns[part] != 0; };
    };
    const bool flat = std::none_of(columns_.begin(), columns_.end(), has(ColumnZ));
    has_confidence_ = std::any_of(columns_.begin(), columns_.end(), has(Confidence));
    tracks_.space = flat ? TrackSpace::Picture : TrackSpace::Model;
    for (std::size_t p = 0; p < columns_.size(); ++p)
      for (const Part part : {ColumnX, ColumnY, ColumnZ}) {
        if (columns_[p][part] != 0 || (part == ColumnZ && flat)) continue;
        const std::size_t given = *std::max_element(columns_[p].begin(), columns_[p].end());
        return bad("column " +
                       text::quoted(tracks_.labels[p] + "." + std::string(kPartNames[part])) +
                       " is missing",
                   given);
      }
    const auto given = std::find_if(head.begin(), head.end(), [](std::size_t c) { return c != 0; });
    const auto missing = std::find(head.begin(), head.end(), 0u);
    if (given != head.end() && missing != head.end())
      return bad("column \"head." + std::string(kHeadColumns[std::size_t(missing - head.begin())]) +
                     "\" is missing",
                 *given);
    if (given != head.end()) head_ = head;
    for (const detail::TableCell& cell : cells_) names_.emplace_back(cell.text);
    return {};
  }

  template <class T>
  Result<T> number(std::size_t cell) const {
    T value{};
    switch (text::parseNumber(cells_[cell].text, value)) {
      case text::NumberKind::NotANumber:
        return bad(cells_[cell].text.empty() ? std::string("empty; wanted a number")
                                             : text::quoted(cells_[cell].text) + " is not a number",
                   cell);
      case text::NumberKind::NotFinite:
        return bad(text::quoted(cells_[cell].text) + " is not a finite number", cell);
      case text::NumberKind::Finite:
        break;
    }
    if (!(std::abs(double(value)) <= kLargestNumber))
      return bad(text::quoted(cells_[cell].text) + " is too large", cell);
    return value;
  }

  Result<Vec3d> position(const PointColumns& columns) const {
    Vec3d out = Vec3d::Zero();
    for (const Part part : {ColumnX, ColumnY, ColumnZ}) {
      if (columns[part] == 0) continue;
      DERM_TRY(const double value, number<double>(columns[part]));
      out[part] = value;
    }
    return out;
  }

  bool isEmpty(const PointColumns& columns) const {
    return std::all_of(columns.begin(), columns.begin() + Confidence,
                       [this](std::size_t c) { return c == 0 || cells_[c].text.empty(); });
  }

  Result<void> readNeutral() {
    if (!tracks_.neutral.empty() || tracks_.frames() > 0)
      return bad("the neutral face must be the first row", 0);
    for (const PointColumns& columns : columns_) {
      DERM_TRY(const Vec3d point, position(columns));
      tracks_.neutral.push_back(point);
    }
    return {};
  }

  Result<void> readFrame() {
    DERM_TRY(const double time_s, number<double>(0));
    if (tracks_.frames() > 0 && !(time_s > tracks_.times_s.back()))
      return bad("not later than the row before", 0);
    for (std::size_t p = 0; p < columns_.size(); ++p) {
      const PointColumns& columns = columns_[p];
      float confidence = 1;
      if (isEmpty(columns)) {
        if (tracks_.frames() == 0 && tracks_.neutral.empty())
          return bad("not seen in the first row, which is the neutral face", columns[ColumnX]);
        // A copy, as the place that it is taken from is in the list that grows.
        const Vec3d last = tracks_.frames() == 0
                               ? tracks_.neutral[p]
                               : tracks_.positions[tracks_.positions.size() - columns_.size()];
        tracks_.positions.push_back(last);
        confidence = 0;
        has_confidence_ = true;
      } else {
        DERM_TRY(const Vec3d point, position(columns));
        tracks_.positions.push_back(point);
        if (columns[Confidence] != 0) {
          DERM_TRY(confidence, number<float>(columns[Confidence]));
          if (!(confidence >= 0 && confidence <= 1))
            return bad("a confidence is from 0 to 1", columns[Confidence]);
        }
      }
      tracks_.confidence.push_back(confidence);
    }
    if (head_) DERM_CHECK(readHead(*head_));
    tracks_.times_s.push_back(time_s);
    return {};
  }

  Result<void> readHead(const std::array<std::size_t, 7>& columns) {
    std::array<float, 7> v{};
    for (std::size_t i = 0; i < 7; ++i) {
      DERM_TRY(v[i], number<float>(columns[i]));
    }
    const Transform head{Vec3f(v[0], v[1], v[2]), Quatf(v[6], v[3], v[4], v[5])};
    if (!isUnitLength(head.rotation))
      return bad("the head's turn is no quaternion of length 1", columns[3]);
    tracks_.head.push_back(head);
    return {};
  }

  text::LineScanner lines_;
  std::string_view name_;
  std::vector<detail::TableCell> cells_;  ///< of the line at hand
  std::vector<std::string_view> names_;   ///< of the columns
  std::vector<PointColumns> columns_;     ///< per label
  std::optional<std::array<std::size_t, 7>> head_;
  bool has_confidence_ = false;
  PointTracks tracks_;
};

Result<void> checkTableLabels(const PointTracks& tracks) {
  for (std::size_t i = 0; i < tracks.labels.size(); ++i) {
    const std::string& label = tracks.labels[i];
    if (label.empty() || label == "head" || label != trimmed(label) || holdsControls(label) ||
        label.find_first_of(",\"") != std::string::npos)
      return Error{ErrorCode::BadArgument,
                   "a table has no column for " + text::quoted(label),
                   {.element = "labels", .index = i}};
  }
  return {};
}

// --- JSON

class DocumentReader {
 public:
  explicit DocumentReader(std::string_view name) : name_(name) {}

  Result<PointTracks> read(const Json& root) {
    if (!root.is_object()) return bad("must be {\"labels\": […], \"frames\": […]}", "");
    if (const Json* space = findMember(root, "space")) {
      if (*space == "picture") {
        tracks_.space = TrackSpace::Picture;
      } else if (*space != "model") {
        return bad("must be \"model\" or \"picture\"", "space");
      }
    }
    const Json* labels = findMember(root, "labels");
    if (labels == nullptr || !labels->is_array()) return bad("must be a list of words", "labels");
    for (const Json& label : *labels) {
      if (!label.is_string() || label.get_ref<const std::string&>().empty())
        return bad("must be a word", "labels", tracks_.labels.size());
      if (holdsControls(label.get_ref<const std::string&>()))
        return bad("holds control characters", "labels", tracks_.labels.size());
      tracks_.labels.push_back(label.get<std::string>());
    }
    const Json* frames = findMember(root, "frames");
    if (frames == nullptr || !frames->is_array()) return bad("must be a list", "frames");
    for (const Json& frame : *frames) DERM_CHECK(readFrame(frame));
    if (tracks_.frames() == 0) return bad("no frames", "frames");
    if (const Json* neutral = findMember(root, "neutral")) {
      DERM_CHECK(readPoints(*neutral, "neutral", {}, tracks_.neutral));
    } else {
      tracks_.neutral.assign(tracks_.frame(0).begin(), tracks_.frame(0).end());
    }
    if (!has_confidence_) tracks_.confidence.clear();
    DERM_CHECK(validate(tracks_, name_));
    return std::move(tracks_);
  }

 private:
  Error bad(std::string message, std::string_view element,
            std::optional<std::uint64_t> index = {}) const {
    return {ErrorCode::BadData,
            std::move(message),
            {.file = std::string(name_), .element = std::string(element), .index = index}};
  }

  template <class T>
  static std::optional<T> number(const Json& json) {
    if (!json.is_number() || !(std::abs(json.get<double>()) <= kLargestNumber)) return {};
    return json.get<T>();
  }

  Result<void> readPoints(const Json& json, std::string_view element,
                          std::optional<std::uint64_t> index, std::vector<Vec3d>& out) const {
    if (!json.is_array() || json.size() != tracks_.labels.size())
      return bad("must have a position for each of the " + std::to_string(tracks_.labels.size()) +
                     " labels",
                 element, index);
    const std::size_t dimensions = tracks_.space == TrackSpace::Picture ? 2 : 3;
    for (std::size_t p = 0; p < json.size(); ++p) {
      Vec3d point = Vec3d::Zero();
      bool right = json[p].is_array() && json[p].size() == dimensions;
      for (std::size_t c = 0; right && c < dimensions; ++c) {
        const std::optional<double> value = number<double>(json[p][c]);
        right = value.has_value();
        if (right) point[static_cast<Eigen::Index>(c)] = *value;
      }
      if (!right)
        return bad("the position of " + text::quoted(tracks_.labels[p]) + " must be " +
                       (dimensions == 2 ? "two" : "three") + " numbers",
                   element, index);
      out.push_back(point);
    }
    return {};
  }

  Result<void> readFrame(const Json& json) {
    const std::uint64_t index = tracks_.frames();
    const Json* time = findMember(json, "time");
    const std::optional<double> time_s = time != nullptr ? number<double>(*time) : std::nullopt;
    if (!time_s) return bad("no time", "frames", index);
    if (index > 0 && !(*time_s > tracks_.times_s.back()))
      return bad("not later than the frame before", "frames", index);
    const Json* positions = findMember(json, "positions");
    if (positions == nullptr) return bad("no positions", "frames", index);
    DERM_CHECK(readPoints(*positions, "frames", index, tracks_.positions));
    if (const Json* confidence = findMember(json, "confidence")) {
      has_confidence_ = true;
      if (!confidence->is_array() || confidence->size() != tracks_.labels.size())
        return bad("must have a confidence for each label", "frames", index);
      for (const Json& one : *confidence) {
        const std::optional<float> value = number<float>(one);
        if (!value || !(*value >= 0 && *value <= 1))
          return bad("a confidence is a number from 0 to 1", "frames", index);
        tracks_.confidence.push_back(*value);
      }
    } else {
      tracks_.confidence.resize(tracks_.positions.size(), 1.0f);
    }
    const Json* head = findMember(json, "head");
    if (index > 0 && (head != nullptr) != !tracks_.head.empty())
      return bad("the head's motion must be in all frames or in none", "frames", index);
    if (head != nullptr) DERM_CHECK(readHead(*head, index));
    tracks_.times_s.push_back(*time_s);
    return {};
  }

  Result<void> readHead(const Json& json, std::uint64_t index) {
    std::array<float, 7> v{};
    bool right = json.is_array() && json.size() == 7;
    for (std::size_t i = 0; right && i < 7; ++i) {
      const std::optional<float> value = number<float>(json[i]);
      right = value.has_value();
      if (right) v[i] = *value;
    }
    const Transform head{Vec3f(v[0], v[1], v[2]), Quatf(v[6], v[3], v[4], v[5])};
    if (!right || !isUnitLength(head.rotation))
      return bad("the head's motion must be x, y, z and a quaternion of length 1", "frames", index);
    tracks_.head.push_back(head);
    return {};
  }

  std::string_view name_;
  bool has_confidence_ = false;
  PointTracks tracks_;
};

std::array<float, 7> headNumbers(const Transform& head) {
  return {head.translation.x(), head.translation.y(), head.translation.z(), head.rotation.x(),
          head.rotation.y(),    head.rotation.z(),    head.rotation.w()};
}

Error unknownEnding(const std::filesystem::path& file) {
  return {ErrorCode::Unsupported, "points over time are .csv or .json", {.file = file.string()}};
}

}  // namespace

Result<PointTracks> parsePointTracksCsv(std::string_view text, std::string_view name) {
  return TableReader(text, name).read();
}

Result<PointTracks> parsePointTracksJson(std::span<const std::uint8_t> bytes, std::string_view name,
                                         Diagnostics& notes) {
  constexpr detail::JsonLimits kLimits{.depth = 32, .memory = std::uint64_t{1} << 33};
  DERM_TRY(detail::ParsedJson parsed, detail::parseJson(bytes, name, kLimits, 0, notes));
  Result<PointTracks> tracks = DocumentReader(name).read(parsed.root);
  detail::dismantle(parsed.root);
  return tracks;
}

Result<PointTracks> loadPointTracks(const std::filesystem::path& file, Diagnostics& notes) {
  const std::string ending = fileEnding(file);
  if (ending != ".csv" && ending != ".json") return unknownEnding(file);
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestTracksFile));
  if (ending == ".json") return parsePointTracksJson(bytes, file.string(), notes);
  return parsePointTracksCsv({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                             file.string());
}

Result<std::string> pointTracksCsv(const PointTracks& tracks) {
  DERM_CHECK(checkTableLabels(tracks));
  const bool flat = tracks.space == TrackSpace::Picture;
  const bool confident = !tracks.confidence.empty();
  const bool moving = !tracks.head.empty();
  std::string out = "time";
  for (const std::string& label : tracks.labels) {
    out += "," + label + ".x," + label + ".y";
    if (!flat) out += "," + label + ".z";
    if (confident) out += "," + label + ".confidence";
  }
  if (moving)
    for (const std::string_view column : kHeadColumns) out.append(",head.").append(column);
  const auto addPoint = [&](const Vec3d& point) {
    out += "," + exactNumber(point.x()) + "," + exactNumber(point.y());
    if (!flat) out += "," + exactNumber(point.z());
  };
  out += "\nneutral";
  for (const Vec3d& point : tracks.neutral) {
    addPoint(point);
    if (confident) out += ",";
  }
  if (moving) out.append(kHeadColumns.size(), ',');
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    out += "\n" + exactNumber(tracks.times_s[f]);
    for (std::size_t p = 0; p < tracks.labels.size(); ++p) {
      addPoint(tracks.frame(f)[p]);
      if (confident) out += "," + exactNumber(tracks.confidence[f * tracks.labels.size() + p]);
    }
    if (moving)
      for (const float number : headNumbers(tracks.head[f])) out += "," + exactNumber(number);
  }
  return out + "\n";
}

std::string pointTracksJson(const PointTracks& tracks) {
  const bool flat = tracks.space == TrackSpace::Picture;
  const auto listOf = [&](std::span<const Vec3d> points) {
    std::string list = "[";
    for (const Vec3d& point : points) {
      list +=
          (list.size() > 1 ? ", [" : "[") + exactNumber(point.x()) + ", " + exactNumber(point.y());
      list += flat ? "]" : ", " + exactNumber(point.z()) + "]";
    }
    return list + "]";
  };
  const auto numbers = [](std::span<const float> values) {
    std::string list = "[";
    for (const float value : values) list += (list.size() > 1 ? ", " : "") + exactNumber(value);
    return list + "]";
  };
  const std::string labels = detail::dumpText(tracks.labels);
  std::string out = std::string("{\"space\": \"") + (flat ? "picture" : "model") +
                    "\",\n \"labels\": " + labels + ",\n \"neutral\": " + listOf(tracks.neutral) +
                    ",\n \"frames\": [";
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    out += (f == 0 ? "\n  {\"time\": " : ",\n  {\"time\": ") + exactNumber(tracks.times_s[f]) +
           ", \"positions\": " + listOf(tracks.frame(f));
    if (!tracks.confidence.empty())
      out +=
          ", \"confidence\": " +
          numbers(
              std::span(tracks.confidence).subspan(f * tracks.labels.size(), tracks.labels.size()));
    if (!tracks.head.empty()) out += ", \"head\": " + numbers(headNumbers(tracks.head[f]));
    out += "}";
  }
  return out + "\n]}\n";
}

Result<void> savePointTracks(const std::filesystem::path& file, const PointTracks& tracks) {
  const std::string ending = fileEnding(file);
  if (ending == ".json") return writeFileWhole(file, pointTracksJson(tracks));
  if (ending != ".csv") return unknownEnding(file);
  DERM_TRY(const std::string text, pointTracksCsv(tracks));
  return writeFileWhole(file, text);
}

}  // namespace derm
