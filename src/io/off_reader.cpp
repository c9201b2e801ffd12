#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "derm/image/srgb.h"
#include "derm/io/file_bytes.h"
#include "derm/io/off.h"

#include "io/import_units.h"
#include "io/mesh_assembly.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::text::LineScanner;
using detail::text::nextWord;
using detail::text::NumberKind;
using detail::text::quoted;

/// What the keyword announces: [ST][C][N][4]OFF.
struct Layout {
  bool uvs = false;
  bool colours = false;
  bool normals = false;
  bool homogeneous = false;
};

class OffParser {
 public:
  OffParser(std::string_view text, std::string_view name, Diagnostics& notes)
      : name_(name), notes_(notes), lines_(text) {}
  Result<TriMesh> parse();

 private:
  Error bad(std::string_view element, std::string message) const {
    return Error{
        ErrorCode::BadData,
        std::move(message),
        {.file = std::string(name_), .element = std::string(element), .line = lines_.lineIfAny()}};
  }
  /// The next line with something on it, without its comment.
  bool nextLine(std::string_view& line);
  Result<void> readHeader();
  Result<void> readKeyword(std::string_view& rest);
  Result<std::uint64_t> count(std::string_view& rest, const char* what) const;
  /// Next number of a vertex; an error where there is none.
  Result<double> number(std::string_view& rest) const;
  Result<void> readVertex(std::string_view rest);
  Result<void> readFace(std::string_view rest, std::uint64_t index);

  std::string_view name_;
  Diagnostics& notes_;
  LineScanner lines_;
  Layout layout_;
  std::uint64_t vertex_count_ = 0;
  std::uint64_t face_count_ = 0;
  TriMesh mesh_;
  detail::FaceAssembler faces_{mesh_};
};

bool OffParser::nextLine(std::string_view& line) {
  while (lines_.next(line)) {
    line = detail::text::trimmed(line.substr(0, std::min(line.find('#'), line.size())));
    if (!line.empty()) return true;
  }
  return false;
}

Result<void> OffParser::readKeyword(std::string_view& rest) {
  std::string_view word = rest;
  const auto take = [&](std::string_view prefix) {
    const bool there = word.starts_with(prefix);
    if (there) word.remove_prefix(prefix.size());
    return there;
  };
  layout_.uvs = take("ST");
  layout_.colours = take("C");
  layout_.normals = take("N");
  layout_.homogeneous = word.starts_with("4OFF") && take("4");
  const bool any_dimension = take("n");
  if (!take("OFF")) {
    layout_ = {};  // no keyword: the line has the counts
    return {};
  }
  if (any_dimension || detail::text::trimmed(word).starts_with("BINARY"))
    return Error{ErrorCode::Unsupported,
                 "OFF is read as text with three dimensions only",
                 {.file = std::string(name_), .line = lines_.lineIfAny()}};
  rest = detail::text::trimmed(word);  // the counts may follow at once
  return {};
}

Result<std::uint64_t> OffParser::count(std::string_view& rest, const char* what) const {
  const std::string_view word = nextWord(rest);
  std::int64_t value = 0;
  if (!detail::text::parseInteger(word, value) || value < 0)
    return bad("header", std::string("number of ") + what + " expected, not " + quoted(word));
  return static_cast<std::uint64_t>(value);
}

Result<void> OffParser::readHeader() {
  std::string_view line;
  if (!nextLine(line)) return bad("header", "no OFF file: it is empty");
  DERM_CHECK(readKeyword(line));
  if (line.empty() && !nextLine(line)) return bad("header", "the counts are missing");
  DERM_TRY(vertex_count_, count(line, "vertices"));
  DERM_TRY(face_count_, count(line, "faces"));
  // Before anything is allocated for them: "0 0 0" and "0" with their line ends are the shortest.
  const std::uint64_t left = lines_.rest().size() + 1;
  if (vertex_count_ > left / 6 || face_count_ > left / 2)
    return bad("header", std::to_string(vertex_count_) + " vertices and " +
                             std::to_string(face_count_) + " faces announced, but only " +
                             std::to_string(left - 1) + " bytes follow");
  return {};
}

Result<double> OffParser::number(std::string_view& rest) const {
  const std::string_view word = nextWord(rest);
  double value = 0;
  switch (detail::text::parseNumber(word, value)) {
    case NumberKind::Finite:
      return value;
    case NumberKind::NotFinite:
      return bad("vertex", quoted(word) + " is not a finite number");
    case NumberKind::NotANumber:
      break;
  }
  return bad("vertex", word.empty() ? "too few numbers" : "number expected, not " + quoted(word));
}

Result<void> OffParser::readVertex(std::string_view rest) {
  Vec3d position, normal(0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    DERM_TRY(position[i], number(rest));
  }
  if (layout_.homogeneous) {
    DERM_TRY(const double w, number(rest));
    position /= w;
  }
  mesh_.positions.push_back(position.cast<float>());
  if (!mesh_.positions.back().allFinite()) return bad("vertex", "position is not a finite number");
  if (layout_.normals) {
    for (int i = 0; i < 3; ++i) {
      DERM_TRY(normal[i], number(rest));
    }
    const double length = normal.norm();
    const bool usable = length > 1e-30 && std::isfinite(length);
    mesh_.normals.push_back(usable ? Vec3f((normal / length).cast<float>()) : Vec3f(Vec3f::Zero()));
  }
  if (!layout_.colours && !layout_.uvs) return {};
  // Colours have three numbers or four; what texture coordinates need stands behind them.
  std::vector<double> values;
  while (!detail::text::trimmed(rest).empty() && values.size() < 8) {
    DERM_TRY(const double value, number(rest));
    values.push_back(value);
  }
  const std::size_t uv_numbers = layout_.uvs ? 2 : 0;
  const std::size_t colour_numbers = values.size() - std::min(values.size(), uv_numbers);
  if (values.size() < uv_numbers + (layout_.colours ? 3 : 0))
    return bad("vertex", "too few numbers");
  if (layout_.colours) {
    Vec4f colour(0, 0, 0, 1);
    bool bytes = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, colour_numbers); ++i) {
      colour[static_cast<Eigen::Index>(i)] = static_cast<float>(values[i]);
      bytes = bytes || values[i] > 1;
    }
    if (bytes) colour.head<3>() /= 255.0f;
    if (bytes && colour_numbers > 3) colour[3] /= 255.0f;
    mesh_.colours.push_back(linearFromSrgb(Vec4f(colour.cwiseMax(0.0f).cwiseMin(1.0f))));
  }
  if (layout_.uvs) {
    const Vec2f uv(static_cast<float>(values[colour_numbers]),
                   static_cast<float>(1 - values[colour_numbers + 1]));
    if (!uv.allFinite()) return bad("vertex", "texture coordinate is not a finite number");
    mesh_.uvs.push_back(uv);
  }
  return {};
}

Result<void> OffParser::readFace(std::string_view rest, std::uint64_t index) {
  const std::string_view word = nextWord(rest);
  std::int64_t corners = 0;
  if (!detail::text::parseInteger(word, corners) || corners < 0)
    return bad("face", "number of corners expected, not " + quoted(word));
  if (corners > static_cast<std::int64_t>(detail::kMaxCorners))
    return bad("face", "more than " + std::to_string(detail::kMaxCorners) + " corners");
  faces_.begin();
  for (std::int64_t c = 0; c < corners; ++c) {
    const std::string_view corner = nextWord(rest);
    std::int64_t vertex = 0;
    if (!detail::text::parseInteger(corner, vertex) || vertex < 0 ||
        static_cast<std::uint64_t>(vertex) >= mesh_.vertexCount())
      return bad("face", "corner " + std::to_string(c) + " of " + std::to_string(corners) + ": " +
                             (corner.empty() ? "the line ends" : "no vertex " + quoted(corner)) +
                             "; there are " + std::to_string(mesh_.vertexCount()) + " vertices");
    faces_.add(static_cast<std::uint32_t>(vertex));
  }
  faces_.end(name_, index, notes_);
  return {};
}

Result<TriMesh> OffParser::parse() {
  DERM_CHECK(readHeader());
  mesh_.positions.reserve(static_cast<std::size_t>(vertex_count_));
  std::string_view line;
  for (std::uint64_t v = 0; v < vertex_count_; ++v) {
    if (!nextLine(line))
      return bad("vertex", "the file ends after " + std::to_string(v) + " of " +
                               std::to_string(vertex_count_) + " vertices");
    DERM_CHECK(readVertex(line));
  }
  for (std::uint64_t f = 0; f < face_count_; ++f) {
    if (!nextLine(line))
      return bad("face", "the file ends after " + std::to_string(f) + " of " +
                             std::to_string(face_count_) + " faces");
    DERM_CHECK(readFace(line, f));
  }
  if (mesh_.positions.empty()) return bad("header", "no vertices in the file");
  faces_.reportCuts(name_, notes_);
  detail::addMissingNormals(mesh_, name_, notes_);
  return std::move(mesh_);
}

}  // namespace

Result<Character> parseOff(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY(const double unit_m, detail::assumedMetresPerUnit(options, name, "OFF", notes));
  Character character;
  character.name = detail::fileStem(name);
  DERM_TRY(character.mesh, OffParser(text, name, notes).parse());
  addDefaultParts(character);
  character.import.format = "OFF";
  character.import.metres_per_unit = unit_m;
  if (unit_m != 1.0) scaleLengths(character, unit_m);
  DERM_CHECK(validate(character));
  return character;
}

Result<Character> loadOff(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseOff({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                  options, notes);
}

}  // namespace derm
