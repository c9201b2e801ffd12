#include "derm/io/point_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/number_text.h"
#include "derm/io/file_bytes.h"

#include "io/json_dom.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::asUint;
using detail::findMember;
using detail::Json;

constexpr std::size_t kMaxPoints = 65536;
constexpr std::uint64_t kLargestPointFile = 16 << 20;

Error bad(std::string_view file, std::string_view label, std::string message,
          std::optional<std::uint64_t> index = {}) {
  return Error{ErrorCode::BadData,
               std::move(message),
               {.file = std::string(file),
                .element = label.empty() ? "points" : "point " + detail::text::quoted(label),
                .index = index}};
}

/// Numbers of a position, as many as there are in the space.
Result<Vec3d> readNumbers(std::string_view file, const std::string& label, const Json& json,
                          std::size_t count) {
  if (!json.is_array() || json.size() != count)
    return bad(file, label,
               count == 3 ? "the position must be three numbers"
                          : "the position must be two numbers, in pixels");
  Vec3d out = Vec3d::Zero();
  for (std::size_t i = 0; i < count; ++i) {
    const Json& number = json[i];
    const double value = number.is_number() ? number.get<double>() : std::nan("");
    // What a float cannot hold is no place on a character.
    if (!(std::abs(value) <= 1e30)) return bad(file, label, "the position is not a number", i);
    out[static_cast<Eigen::Index>(i)] = value;
  }
  return out;
}

Result<NamedPosition> readPicturePoint(std::string_view file, const std::string& label,
                                       const Json& json) {
  if (label.empty()) return bad(file, {}, "a label is empty");
  const Json* position = json.is_object() ? findMember(json, "position") : &json;
  if (position == nullptr) return bad(file, label, "no position");
  NamedPosition out{label, {}, Vec3d::Zero()};
  DERM_TRY(out.position, readNumbers(file, label, *position, 2));
  return out;
}

Result<NamedPosition> readPoint(std::string_view file, const std::string& label, const Json& json) {
  if (label.empty()) return bad(file, {}, "a label is empty");
  if (!json.is_object())
    return bad(file, label, "must be {\"position\": [x, y, z]} or {\"vertex\": n}");
  const Json* position = findMember(json, "position");
  const Json* vertex = findMember(json, "vertex");
  if (position == nullptr && vertex == nullptr)
    return bad(file, label, "no position and no vertex");
  if (position != nullptr && vertex != nullptr)
    return bad(file, label, "both a position and a vertex; which one counts?");
  NamedPosition out{label, {}, Vec3d::Zero()};
  if (vertex != nullptr) {
    out.vertex = asUint(*vertex);
    if (!out.vertex) return bad(file, label, "the vertex must be a whole number from 0");
    return out;
  }
  DERM_TRY(out.position, readNumbers(file, label, *position, 3));
  return out;
}

using ReadPoint = Result<NamedPosition>(std::string_view file, const std::string& label,
                                        const Json& json);

Result<std::vector<NamedPosition>> readPoints(std::span<const std::uint8_t> bytes,
                                              std::string_view name, const char* example,
                                              ReadPoint* read, Diagnostics& notes) {
  constexpr detail::JsonLimits kLimits{.depth = 32, .memory = 1 << 28};
  DERM_TRY(detail::ParsedJson parsed, detail::parseJson(bytes, name, kLimits, 0, notes));
  const Json* list = &parsed.root;
  // A point may itself be called "points"; a list of points has no position.
  if (const Json* inner = findMember(parsed.root, "points");
      inner != nullptr && inner->is_object() && !inner->contains("position") &&
      !inner->contains("vertex"))
    list = inner;
  if (!list->is_object()) return bad(name, {}, example);
  if (list->size() > kMaxPoints)
    return bad(name, {}, "more than " + std::to_string(kMaxPoints) + " points");
  std::vector<NamedPosition> out;
  out.reserve(list->size());
  for (const auto& [label, json] : list->get_ref<const Json::object_t&>()) {
    DERM_TRY(NamedPosition point, read(name, label, json));
    out.push_back(std::move(point));
  }
  return out;
}

}  // namespace

Result<std::vector<NamedPosition>> parsePointFile(std::span<const std::uint8_t> bytes,
                                                  std::string_view name, Diagnostics& notes) {
  return readPoints(bytes, name, "must be {\"LABEL\": {\"position\": [x, y, z]}, …}", readPoint,
                    notes);
}

Result<std::vector<NamedPosition>> parsePicturePointFile(std::span<const std::uint8_t> bytes,
                                                         std::string_view name,
                                                         Diagnostics& notes) {
  return readPoints(bytes, name, "must be {\"LABEL\": [x, y], …}", readPicturePoint, notes);
}

Result<std::vector<NamedPosition>> loadPicturePointFile(const std::filesystem::path& file,
                                                        Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestPointFile));
  return parsePicturePointFile(bytes, file.string(), notes);
}

std::string picturePointFileText(std::span<const NamedPosition> points) {
  std::string out = "{\"points\": {";
  for (std::size_t i = 0; i < points.size(); ++i) {
    const NamedPosition& p = points[i];
    out += (i == 0 ? "\n  " : ",\n  ") + detail::dumpText(p.label) + ": {\"position\": [" +
           exactNumber(p.position.x()) + ", " + exactNumber(p.position.y()) + "]}";
  }
  return out + "\n}}\n";
}

Result<std::vector<NamedPosition>> loadPointFile(const std::filesystem::path& file,
                                                 Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestPointFile));
  return parsePointFile(bytes, file.string(), notes);
}

std::string pointFileText(std::span<const NamedPosition> points) {
  std::string out = "{\"points\": {";
  for (std::size_t i = 0; i < points.size(); ++i) {
    const NamedPosition& p = points[i];
    out += (i == 0 ? "\n  " : ",\n  ") + detail::dumpText(p.label) + ": ";
    if (p.vertex) {
      out += "{\"vertex\": " + std::to_string(*p.vertex) + "}";
      continue;
    }
    out += "{\"position\": [" + exactNumber(p.position.x()) + ", " + exactNumber(p.position.y()) +
           ", " + exactNumber(p.position.z()) + "]}";
  }
  return out + "\n}}\n";
}

Result<void> savePointFile(const std::filesystem::path& file,
                           std::span<const NamedPosition> points) {
  return writeFileWhole(file, pointFileText(points));
}

}  // namespace derm
