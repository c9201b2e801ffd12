#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "derm/image/srgb.h"
#include "derm/io/file_bytes.h"
#include "derm/io/stl.h"

#include "io/equal_rows.h"
#include "io/import_units.h"
#include "io/mesh_assembly.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::text::LineScanner;
using detail::text::nextWord;
using detail::text::NumberKind;
using detail::text::quoted;

constexpr std::size_t kHeaderBytes = 84;
constexpr std::size_t kFacetBytes = 50;
constexpr std::size_t kMaxSolids = 65536;

struct Solid {
  std::string name;
  std::size_t first_facet = 0;
};

/// A triangle list as the file has it: three corners and a normal each.
struct Facets {
  std::vector<Vec3f> corners;  ///< three per facet
  std::vector<Vec3f> normals;  ///< unit length, or zero where the file has none
  std::vector<Vec4f> colours;  ///< empty, or one per facet
  std::vector<Solid> solids;

  std::size_t size() const { return normals.size(); }
};

Vec3f unitOrZero(const Vec3f& normal) {
  const double length = normal.cast<double>().norm();
  if (!(length > 1e-30) || !std::isfinite(length)) return Vec3f::Zero();
  return (normal.cast<double>() / length).cast<float>();
}

std::uint32_t wordAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

float floatAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  const std::uint32_t bits = wordAt(bytes, at);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Vec3f vectorAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  return {floatAt(bytes, at), floatAt(bytes, at + 4), floatAt(bytes, at + 8)};
}

/// Sixteen bits of a facet as a colour, where the program that wrote it meant one.
class FacetColours {
 public:
  explicit FacetColours(std::span<const std::uint8_t> header) {
    constexpr std::string_view kKey = "COLOR=";
    const std::string_view text(reinterpret_cast<const char*>(header.data()), 80);
    const std::size_t at = text.find(kKey);
    if (at == std::string_view::npos || at + kKey.size() + 4 > text.size()) return;
    magics_ = true;
    for (std::size_t i = 0; i < 4; ++i)
      otherwise_[static_cast<Eigen::Index>(i)] =
          static_cast<float>(header[at + kKey.size() + i]) / 255.0f;
  }
  /// Magics marks facets that have the object's colour by the highest bit, others those with their
  /// own.
  bool own(unsigned bits) const { return ((bits >> 15) != 0) != magics_; }
  Vec4f colour(unsigned bits) const {
    if (!own(bits)) return linearFromSrgb(otherwise_);
    const auto five = [&](unsigned shift) { return static_cast<float>(bits >> shift & 31) / 31; };
    return linearFromSrgb(magics_ ? Vec4f(five(0), five(5), five(10), 1)
                                  : Vec4f(five(10), five(5), five(0), 1));
  }

 private:
  bool magics_ = false;
  Vec4f otherwise_ = Vec4f::Ones();
};

Result<Facets> readBinary(std::span<const std::uint8_t> bytes, std::string_view name) {
  const std::size_t count = wordAt(bytes, 80);
  Facets facets;
  facets.solids.push_back({detail::fileStem(name), 0});
  facets.corners.reserve(3 * count);
  facets.normals.reserve(count);
  const FacetColours colours(bytes.first(80));
  bool coloured = false;
  const auto bitsOf = [&](std::size_t f) {
    const std::size_t at = kHeaderBytes + kFacetBytes * f + 48;
    return static_cast<unsigned>(bytes[at] | bytes[at + 1] << 8);
  };
  for (std::size_t f = 0; f < count; ++f) {
    const std::size_t at = kHeaderBytes + kFacetBytes * f;
    facets.normals.push_back(unitOrZero(vectorAt(bytes, at)));
    for (std::size_t c = 0; c < 3; ++c) {
      const Vec3f corner = vectorAt(bytes, at + 12 * (c + 1));
      if (!corner.allFinite())
        return Error{
            ErrorCode::BadData,
            "position is not a finite number",
            {.file = std::string(name), .element = "facet", .byte = at + 12 * (c + 1), .index = f}};
      facets.corners.push_back(corner);
    }
    coloured = coloured || (bitsOf(f) != 0 && colours.own(bitsOf(f)));
  }
  if (coloured)
    for (std::size_t f = 0; f < count; ++f) facets.colours.push_back(colours.colour(bitsOf(f)));
  return facets;
}

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view name) : name_(name), lines_(text) {}
  Result<Facets> read();

 private:
  Error bad(std::string message) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_), .element = "facet", .line = lines_.lineIfAny()}};
  }
  Result<Vec3f> vector(std::string_view rest) const;

  std::string_view name_;
  LineScanner lines_;
};

Result<Vec3f> TextReader::vector(std::string_view rest) const {
  Vec3f out;
  for (int i = 0; i < 3; ++i) {
    const std::string_view word = nextWord(rest);
    switch (detail::text::parseNumber(word, out[i])) {
      case NumberKind::Finite:
        continue;
      case NumberKind::NotFinite:
        return bad(quoted(word) + " is not a finite number");
      case NumberKind::NotANumber:
        return bad(word.empty() ? "three numbers expected"
                                : "number expected, not " + quoted(word));
    }
  }
  return out;
}

Result<Facets> TextReader::read() {
  Facets facets;
  std::string_view line;
  std::size_t corners = 0;
  bool in_facet = false;
  while (lines_.next(line)) {
    std::string_view rest = line;
    const std::string word = detail::text::lowerCase(nextWord(rest).substr(0, 16));
    if (word == "vertex") {
      if (!in_facet || corners == 3) return bad("a corner that belongs to no triangle");
      DERM_TRY(const Vec3f corner, vector(rest));
      facets.corners.push_back(corner);
      ++corners;
    } else if (word == "facet") {
      if (in_facet) return bad("a facet inside another");
      if (facets.solids.empty()) facets.solids.push_back({detail::fileStem(name_), 0});
      std::string_view normal_text = rest;
      nextWord(normal_text);  // "normal"
      Vec3f normal = Vec3f::Zero();
      // Normals are often rubbish, and follow from the corners: one that is none counts as missing.
      if (const Result<Vec3f> given = vector(normal_text)) normal = *given;
      facets.normals.push_back(unitOrZero(normal));
      in_facet = true;
      corners = 0;
    } else if (word == "endfacet") {
      if (!in_facet || corners != 3) return bad(std::to_string(corners) + " corners in a triangle");
      in_facet = false;
    } else if (word == "solid" && facets.solids.size() < kMaxSolids) {
      if (in_facet) return bad("a facet that does not end");
      const std::string_view given = detail::text::trimmed(rest);
      facets.solids.push_back(
          {given.empty() ? detail::fileStem(name_) : std::string(given), facets.size()});
    }
  }
  if (in_facet) return bad("the file ends inside a facet");
  return facets;
}

/// Joins equal corners, solid by solid.
Character joined(Facets facets, std::string_view name) {
  Character character;
  character.name = detail::fileStem(name);
  TriMesh& mesh = character.mesh;
  std::vector<std::uint32_t> kept;
  for (std::size_t s = 0; s < facets.solids.size(); ++s) {
    const std::size_t first = facets.solids[s].first_facet;
    const std::size_t end =
        s + 1 < facets.solids.size() ? facets.solids[s + 1].first_facet : facets.size();
    if (end == first) continue;
    const std::vector<std::uint32_t> numbers = detail::joinedNumbers(
        detail::firstEqual(3 * (end - first),
                           [&](std::uint32_t a, std::uint32_t b) {
                             const std::size_t ca = 3 * first + a, cb = 3 * first + b;
                             const auto three = [](const Vec3f& x, const Vec3f& y) {
                               return std::memcmp(x.data(), y.data(), 3 * sizeof(float));
                             };
                             int d = three(facets.corners[ca], facets.corners[cb]);
                             if (d == 0) d = three(facets.normals[ca / 3], facets.normals[cb / 3]);
                             if (d == 0 && !facets.colours.empty())
                               d = std::memcmp(facets.colours[ca / 3].data(),
                                               facets.colours[cb / 3].data(), 4 * sizeof(float));
                             return d;
                           }),
        kept);
    const auto first_vertex = static_cast<std::uint32_t>(mesh.vertexCount());
    character.parts.push_back({.name = std::move(facets.solids[s].name),
                               .first_triangle = static_cast<std::uint32_t>(mesh.triangles.size()),
                               .triangle_count = static_cast<std::uint32_t>(end - first),
                               .first_vertex = first_vertex,
                               .vertex_count = static_cast<std::uint32_t>(kept.size())});
    for (const std::uint32_t corner : kept) {
      mesh.positions.push_back(facets.corners[3 * first + corner]);
      mesh.normals.push_back(facets.normals[first + corner / 3]);
      if (!facets.colours.empty()) mesh.colours.push_back(facets.colours[first + corner / 3]);
    }
    for (std::size_t f = 0; f < end - first; ++f)
      mesh.triangles.push_back({first_vertex + numbers[3 * f], first_vertex + numbers[3 * f + 1],
                                first_vertex + numbers[3 * f + 2]});
  }
  addDefaultParts(character);
  return character;
}

Result<Facets> readFacets(std::span<const std::uint8_t> bytes, std::string_view name,
                          Diagnostics& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::uint64_t announced = bytes.size() >= kHeaderBytes ? wordAt(bytes, 80) : 0;
  const std::uint64_t needed = kHeaderBytes + kFacetBytes * announced;
  // Many binary files start with "solid", too: their size tells them first.
  if (bytes.size() >= kHeaderBytes && needed == bytes.size()) return readBinary(bytes, name);
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line) && detail::text::trimmed(line).empty()) {
  }
  std::string_view rest = line;
  if (detail::text::equalIgnoringCase(nextWord(rest), "solid"))
    return TextReader(text, name).read();
  if (bytes.size() >= kHeaderBytes && announced > 0 && needed < bytes.size()) {
    notes.warn("bytes-left-over", name,
               std::to_string(bytes.size() - needed) + " bytes behind the last triangle ignored");
    return readBinary(bytes, name);
  }
  return Error{ErrorCode::BadData,
               bytes.size() < kHeaderBytes
                   ? "neither a text STL (no \"solid\") nor a binary one (too short)"
                   : std::to_string(announced) + " triangles announced, which take " +
                         std::to_string(needed) + " bytes; the file has " +
                         std::to_string(bytes.size()),
               {.file = std::string(name)}};
}

}  // namespace

Result<Character> parseStl(std::span<const std::uint8_t> bytes, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY(const double unit_m, detail::assumedMetresPerUnit(options, name, "STL", notes));
  DERM_TRY(Facets facets, readFacets(bytes, name, notes));
  if (facets.size() == 0)
    return Error{ErrorCode::BadData, "no triangles in the file", {.file = std::string(name)}};
  Character character = joined(std::move(facets), name);
  detail::addMissingNormals(character.mesh, name, notes);
  character.import.format = "STL";
  character.import.metres_per_unit = unit_m;
  if (unit_m != 1.0) scaleLengths(character, unit_m);
  DERM_CHECK(validate(character));
  return character;
}

Result<Character> loadStl(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseStl(bytes, file.string(), options, notes);
}

}  // namespace derm
