#include "derm/io/shape_tracks_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "derm/base/number_text.h"
#include "derm/io/file_bytes.h"

#include "io/json_value.h"
#include "io/shape_tracks_forms.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

constexpr std::uint64_t kLargestShapesFile = std::uint64_t{1} << 30;
/// [s] No take lasts a day: such times are of another unit or clock.
constexpr double kLongestTake_s = 24 * 60 * 60;
/// [s] Longer than this, a face that nobody saw move is worth a word.
constexpr double kLongGap_s = 10;

/// The columns of Live Link Face, in its order.
constexpr std::array<std::string_view, 52> kLiveLinkShapes{"EyeBlinkLeft",
                                                           "EyeLookDownLeft",
                                                           "EyeLookInLeft",
                                                           "EyeLookOutLeft",
                                                           "EyeLookUpLeft",
                                                           "EyeSquintLeft",
                                                           "EyeWideLeft",
                                                           "EyeBlinkRight",
                                                           "EyeLookDownRight",
                                                           "EyeLookInRight",
                                                           "EyeLookOutRight",
                                                           "EyeLookUpRight",
                                                           "EyeSquintRight",
                                                           "EyeWideRight",
                                                           "JawForward",
                                                           "JawRight",
                                                           "JawLeft",
                                                           "JawOpen",
                                                           "MouthClose",
                                                           "MouthFunnel",
                                                           "MouthPucker",
                                                           "MouthRight",
                                                           "MouthLeft",
                                                           "MouthSmileLeft",
                                                           "MouthSmileRight",
                                                           "MouthFrownLeft",
                                                           "MouthFrownRight",
                                                           "MouthDimpleLeft",
                                                           "MouthDimpleRight",
                                                           "MouthStretchLeft",
                                                           "MouthStretchRight",
                                                           "MouthRollLower",
                                                           "MouthRollUpper",
                                                           "MouthShrugLower",
                                                           "MouthShrugUpper",
                                                           "MouthPressLeft",
                                                           "MouthPressRight",
                                                           "MouthLowerDownLeft",
                                                           "MouthLowerDownRight",
                                                           "MouthUpperUpLeft",
                                                           "MouthUpperUpRight",
                                                           "BrowDownLeft",
                                                           "BrowDownRight",
                                                           "BrowInnerUp",
                                                           "BrowOuterUpLeft",
                                                           "BrowOuterUpRight",
                                                           "CheekPuff",
                                                           "CheekSquintLeft",
                                                           "CheekSquintRight",
                                                           "NoseSneerLeft",
                                                           "NoseSneerRight",
                                                           "TongueOut"};
constexpr std::string_view kAngles =
    "HeadYaw,HeadPitch,HeadRoll,LeftEyeYaw,LeftEyePitch,LeftEyeRoll,RightEyeYaw,RightEyePitch,"
    "RightEyeRoll";

std::optional<std::size_t> shapeNamed(const ShapeTracks& tracks, std::string_view name) {
  for (std::size_t s = 0; s < tracks.names.size(); ++s)
    if (detail::text::equalIgnoringCase(tracks.names[s], name)) return s;
  return {};
}

std::string twoDigits(std::uint64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

std::string timecodeOf(double time_s) {
  constexpr std::uint64_t kRate = 60, kPerSecond = kRate * 1000;
  const auto thousandths =
      static_cast<std::uint64_t>(std::llround(std::min(time_s, 3e8) * double(kPerSecond)));
  const std::uint64_t seconds = thousandths / kPerSecond, rest = thousandths % kPerSecond;
  std::string fraction = std::to_string(rest % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return twoDigits(seconds / 3600 % 24) + ":" + twoDigits(seconds / 60 % 60) + ":" +
         twoDigits(seconds % 60) + ":" + twoDigits(rest / 1000) + "." + fraction;
}

/// How far an eye turns [rad] at 1 of the shapes of looking; what recordings have.
constexpr double kEyeSide = 0.6, kEyeDown = 0.6, kEyeUp = 0.45;

std::string liveLinkText(const ShapeTracks& tracks, Diagnostics& notes) {
  std::array<std::optional<std::size_t>, kLiveLinkShapes.size()> from;
  std::vector<bool> used(tracks.names.size(), false);
  std::string out = "Timecode,BlendShapeCount";
  for (std::size_t s = 0; s < from.size(); ++s) {
    from[s] = shapeNamed(tracks, kLiveLinkShapes[s]);
    if (from[s]) used[*from[s]] = true;
    out += "," + std::string(kLiveLinkShapes[s]);
  }
  out += "," + std::string(kAngles) + "\n";
  for (std::size_t s = 0; s < used.size(); ++s)
    if (!used[s])
      notes.warn("shape-not-in-form", detail::text::quoted(tracks.names[s]),
                 "is none of the shapes that Live Link Face has; left out");
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    const std::span<const float> row = tracks.frame(f);
    const auto value = [&](std::size_t s) { return from[s] ? double(row[*from[s]]) : 0.0; };
    const auto add = [&](double number) { out += "," + fixedNumber(number, 10); };
    out += timecodeOf(tracks.times_s[f]) + ",61";
    for (std::size_t s = 0; s < from.size(); ++s) add(value(s));
    const detail::HeadAngles head =
        tracks.head.empty() ? detail::HeadAngles{} : detail::headAngles(tracks.head[f]);
    add(head.yaw);
    add(head.pitch);
    add(head.roll);
    // Down, in, out, up of the left eye are columns 1 to 4, of the right one 8 to 11.
    for (const std::size_t eye : {std::size_t{0}, std::size_t{7}}) {
      const double inward = value(eye + 2) - value(eye + 3);
      add(kEyeSide * (eye == 0 ? inward : -inward));
      add(kEyeDown * value(eye + 1) - kEyeUp * value(eye + 4));
      add(0);
    }
    out += "\n";
  }
  return out;
}

/// A name as a cell: what would end it is replaced.
std::string cellOf(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '"') c = '_';
  return name.find(',') != std::string::npos ? "\"" + name + "\"" : name;
}

std::string csvText(const ShapeTracks& tracks) {
  std::string out = "time";
  for (const std::string& name : tracks.names) out += "," + cellOf(name);
  if (!tracks.head.empty()) out += ",HeadYaw,HeadPitch,HeadRoll";
  out += "\n";
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    out += exactNumber(tracks.times_s[f]);
    for (const float value : tracks.frame(f)) out += "," + exactNumber(value);
    if (!tracks.head.empty()) {
      const detail::HeadAngles head = detail::headAngles(tracks.head[f]);
      for (const double angle : {head.yaw, head.pitch, head.roll}) out += "," + exactNumber(angle);
    }
    out += "\n";
  }
  return out;
}

std::string jsonText(const ShapeTracks& tracks) {
  std::string out = "{\"names\": " + detail::dumpText(tracks.names) + ",\n\"times\": [";
  for (std::size_t f = 0; f < tracks.frames(); ++f)
    out += (f > 0 ? ", " : "") + exactNumber(tracks.times_s[f]);
  out += "],\n\"frames\": [";
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    out += f > 0 ? ",\n[" : "\n[";
    const std::span<const float> row = tracks.frame(f);
    for (std::size_t s = 0; s < row.size(); ++s) out += (s > 0 ? "," : "") + exactNumber(row[s]);
    out += "]";
  }
  out += "]";
  if (!tracks.head.empty()) {
    out += ",\n\"head\": [";
    for (std::size_t f = 0; f < tracks.frames(); ++f) {
      const Quatd& q = tracks.head[f];
      out += std::string(f > 0 ? ",\n[" : "\n[") + exactNumber(q.x()) + "," + exactNumber(q.y()) +
             "," + exactNumber(q.z()) + "," + exactNumber(q.w()) + "]";
    }
    out += "]";
  }
  return out + "}\n";
}

}  // namespace

namespace detail {

// The angles are those of a face seen in a mirror: yaw and roll turn the other way.
Quatd headTurn(double yaw, double pitch, double roll) {
  return Quatd(Eigen::AngleAxisd(-yaw, Eigen::Vector3d::UnitY()) *
               Eigen::AngleAxisd(pitch, Eigen::Vector3d::UnitX()) *
               Eigen::AngleAxisd(-roll, Eigen::Vector3d::UnitZ()));
}

HeadAngles headAngles(const Quatd& turn) {
  // Ry(a) Rx(b) Rz(c): its third column is (sin a cos b, -sin b, cos a cos b), its second row
  // (cos b sin c, cos b cos c, -sin b).
  const Eigen::Matrix3d m = turn.normalized().toRotationMatrix();
  const double pitch = std::asin(std::clamp(-m(1, 2), -1.0, 1.0));
  if (std::abs(m(1, 2)) > 1 - 1e-12) return {-std::atan2(-m(2, 0), m(0, 0)), pitch, 0};
  return {-std::atan2(m(0, 2), m(2, 2)), pitch, -std::atan2(m(1, 0), m(1, 1))};
}

Result<ShapeTracks> settledTracks(ShapeTracks tracks, const TimeColumn& column,
                                  std::string_view name, Diagnostics& notes) {
  const auto badTime = [&](std::size_t frame, std::string message) {
    Error error{ErrorCode::BadData, std::move(message), {.file = std::string(name)}};
    if (tracks.lines.empty()) {
      error.where.element = "frames";
      error.where.index = frame;
    } else {
      error.where.element = "column " + text::quoted(column.name);
      error.where.line = tracks.lines[frame];
      error.where.column = column.starts[frame];
    }
    return error;
  };
  const std::size_t shapes = tracks.names.size();
  ShapeTracks out;
  out.names = std::move(tracks.names);
  std::vector<double> steps;
  for (std::size_t f = 0; f < tracks.times_s.size(); ++f) {
    const double time = tracks.times_s[f] - tracks.times_s[0];
    if (time > kLongestTake_s)
      return badTime(f, "is " + shortNumber(time, 6) +
                            " s after the first frame; times are in seconds, and 24 h is the "
                            "longest take");
    if (!out.times_s.empty()) {
      if (time < out.times_s.back()) return badTime(f, "is before the frame above it");
      if (!(time > out.times_s.back())) {
        notes.warn("times-repeat", name, "comes no later than the frame before; left out", f);
        continue;
      }
      steps.push_back(time - out.times_s.back());
      if (steps.back() > kLongGap_s)
        notes.warn("times-gap", name, "no frame for " + shortNumber(steps.back(), 6) + " s", f);
    }
    out.times_s.push_back(time);
    const auto row = tracks.values.begin() + static_cast<std::ptrdiff_t>(f * shapes);
    out.values.insert(out.values.end(), row, row + static_cast<std::ptrdiff_t>(shapes));
    if (!tracks.head.empty()) out.head.push_back(tracks.head[f]);
    if (!tracks.lines.empty()) out.lines.push_back(tracks.lines[f]);
  }
  if (!steps.empty()) {
    std::vector<double> sorted = steps;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i] > 1.5 * *middle)
        notes.info("times-skip", name, "frames are missing before this one", i + 1);
  }
  for (std::size_t i = 0; i < out.values.size(); ++i)
    if (!(out.values[i] >= -1e-3f && out.values[i] <= 1.001f))
      notes.info("shape-values-outside", name, "values outside [0,1]", i / shapes);
  if (std::all_of(out.head.begin(), out.head.end(),
                  [](const Quatd& q) { return q.vec().norm() == 0; }))
    out.head.clear();
  DERM_CHECK(validate(out, name));
  return out;
}

}  // namespace detail

Result<ShapeTracks> parseShapeTracks(std::span<const std::uint8_t> bytes, std::string_view name,
                                     Diagnostics& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '['))
    return detail::parseShapeJson(bytes, name, notes);
  return detail::parseShapeCsv(text, name, notes);
}

Result<ShapeTracks> loadShapeTracks(const std::filesystem::path& file, Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestShapesFile));
  return parseShapeTracks(bytes, file.string(), notes);
}

std::string shapeTracksText(const ShapeTracks& tracks, ShapeTracksForm form, Diagnostics& notes) {
  switch (form) {
    case ShapeTracksForm::LiveLink:
      return liveLinkText(tracks, notes);
    case ShapeTracksForm::Csv:
      return csvText(tracks);
    case ShapeTracksForm::Json:
      break;
  }
  return jsonText(tracks);
}

Result<void> saveShapeTracks(const std::filesystem::path& file, const ShapeTracks& tracks,
                             ShapeTracksForm form, Diagnostics& notes) {
  return writeFileWhole(file, shapeTracksText(tracks, form, notes));
}

bool looksLikeShapeTracks(std::string_view beginning) {
  beginning.remove_prefix(
      std::min(beginning.find_first_not_of("\xEF\xBB\xBF \t\r\n"), beginning.size()));
  if (beginning.starts_with('{') || beginning.starts_with('['))
    return beginning.find("\"labels\"") == std::string_view::npos &&
           beginning.find("\"positions\"") == std::string_view::npos;
  std::string_view first_line = beginning.substr(0, beginning.find_first_of("\r\n"));
  const auto unquoted = [](std::string_view cell) {
    cell = detail::text::trimmed(cell);
    const bool quotes = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
    return quotes ? cell.substr(1, cell.size() - 2) : cell;
  };
  // Also where the separator is wrong, so that the error is about coefficients.
  if (detail::text::equalIgnoringCase(
          first_line.substr(first_line.starts_with('"') ? 1 : 0).substr(0, 8), "timecode"))
    return true;
  bool time = false, shape = false;
  while (!first_line.empty()) {
    const std::size_t end = first_line.find(',');
    const std::string_view cell = unquoted(first_line.substr(0, end));
    first_line = end == std::string_view::npos ? "" : first_line.substr(end + 1);
    if (detail::text::equalIgnoringCase(cell, "timecode")) return true;
    time = time || detail::text::equalIgnoringCase(cell, "time");
    shape = shape || std::any_of(kLiveLinkShapes.begin(), kLiveLinkShapes.end(),
                                 [&](std::string_view known) {
                                   return detail::text::equalIgnoringCase(cell, known);
                                 });
  }
  return time && shape;
}

bool looksLikeShapeTracksFile(const std::filesystem::path& file) {
  constexpr std::size_t kBeginning = 1 << 16;
  const std::vector<std::uint8_t> start = firstBytes(file, kBeginning);
  return looksLikeShapeTracks({reinterpret_cast<const char*>(start.data()), start.size()});
}

}  // namespace derm
