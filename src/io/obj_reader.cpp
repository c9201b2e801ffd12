#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "derm/image/srgb.h"
#include "derm/io/file_bytes.h"
#include "derm/io/obj.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "io/external_images.h"
#include "io/import_units.h"
#include "io/obj_faces.h"
#include "io/obj_materials.h"
#include "io/polygon_triangles.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::kMaxCorners;
using detail::obj::Corner;
using detail::obj::Faces;
using detail::obj::kNone;
using detail::text::LineScanner;
using detail::text::nextWord;

constexpr std::size_t kMaxGroups = 65536;
constexpr std::size_t kMaxLibraries = 64;
constexpr std::size_t kMaxVertices = kNone - 2;
constexpr std::uint64_t kLargestLibrary = 16 << 20;  // [bytes]

/// Reads the text in two passes: first the vertex data, then what refers to it, so that a face may
/// come before its vertices and every index can be checked where it stands.
class ObjParser {
 public:
  ObjParser(std::string_view text, std::string_view name, Diagnostics& notes)
      : text_(text), name_(name), notes_(notes), lines_(newScanner()) {}

  Result<void> readVertexData();
  Result<Faces> readFaces();
  /// Moves the vertices into a mesh with one entry per vertex of the corner table; its triangles
  /// stay in `faces`.
  TriMesh takeVertices(const Faces& faces);

 private:
  LineScanner newScanner() const {
    return LineScanner(text_, LineScanner::Continuation::Backslash);
  }
  Error bad(std::string_view element, std::string message,
            std::optional<std::uint64_t> index = std::nullopt) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_),
                  .element = std::string(element),
                  .line = lines_.lineIfAny(),
                  .index = index}};
  }
  /// Reads up to N numbers and tells how many there were.
  template <class T, std::size_t N>
  Result<std::size_t> readNumbers(const char* keyword, std::string_view rest,
                                  std::array<T, N>& values);
  Result<void> readPosition(std::string_view rest);
  Result<void> readUv(std::string_view rest);
  Result<void> readNormal(std::string_view rest);
  void countFace(std::string_view rest);

  Result<void> readFace(std::string_view rest, Faces& faces);
  Result<Corner> readCorner(std::string_view word);
  Result<std::uint32_t> readIndex(std::string_view word, const char* what, std::size_t seen,
                                  std::size_t total) const;
  void readGroups(std::string_view rest, Faces& faces);
  void readObject(std::string_view rest, Faces& faces);
  void readState(std::string_view keyword, std::string_view rest, Faces& faces);
  void addNormals(const Faces& faces, TriMesh& mesh);

  std::string_view text_;
  std::string_view name_;
  Diagnostics& notes_;
  LineScanner lines_;

  std::vector<Vec3f> positions_;
  std::vector<Vec4f> colours_;  ///< empty, or one per position read so far
  std::vector<Vec2f> uvs_;
  std::vector<Vec3f> normals_;
  std::size_t triangle_count_ = 0;

  // While faces are read: how many of each have come, for indices that count backwards.
  std::size_t positions_seen_ = 0;
  std::size_t uvs_seen_ = 0;
  std::size_t normals_seen_ = 0;
  detail::obj::Run state_;
  std::vector<Corner> polygon_;
  std::vector<std::uint32_t> polygon_vertices_;
  std::vector<Vec3f> polygon_positions_;
  std::vector<Triangle> polygon_triangles_;
  detail::PolygonTriangulator triangulator_;
};

template <class T, std::size_t N>
Result<std::size_t> ObjParser::readNumbers(const char* keyword, std::string_view rest,
                                           std::array<T, N>& values) {
  std::size_t count = 0;
  for (std::string_view word = nextWord(rest); count < N && !word.empty() && word.front() != '#';
       word = nextWord(rest)) {
    const detail::text::NumberKind kind = detail::text::parseNumber(word, values[count]);
    if (kind == detail::text::NumberKind::NotANumber)
      return bad(keyword, detail::text::quoted(word) + " is not a number", count);
    // Programs write normals of triangles without area so; they are computed from the others.
    if (kind == detail::text::NumberKind::NotFinite && std::string_view(keyword) == "vn")
      values[count] = std::numeric_limits<T>::quiet_NaN();
    else if (kind == detail::text::NumberKind::NotFinite)
      return bad(keyword, detail::text::quoted(word) + " is not a finite number", count);
    ++count;
  }
  return count;
}

Result<void> ObjParser::readPosition(std::string_view rest) {
  std::array<float, 7> v{};
  DERM_TRY(const std::size_t count, readNumbers("v", rest, v));
  if (count < 3)
    return bad("v", std::to_string(count) + " coordinates, but a vertex needs 3",
               positions_.size());
  if (positions_.size() >= kMaxVertices) return bad("v", "more than 2^32 - 3 vertices");
  const std::size_t vertex = positions_.size();
  positions_.emplace_back(v[0], v[1], v[2]);
  if (count >= 6) {
    if (colours_.empty()) colours_.assign(vertex, Vec4f::Ones());
    const Vec4f encoded(v[3], v[4], v[5], count == 7 ? v[6] : 1.0f);
    if ((encoded.array() < 0.0f).any() || (encoded.array() > 1.0f).any())
      notes_.warn("colour-out-of-range", name_, "vertex colour outside [0,1] clamped", vertex);
    colours_.push_back(linearFromSrgb(encoded));
  } else {
    if (!colours_.empty()) colours_.push_back(Vec4f::Ones());
    if (count == 4 && v[3] != 1.0f)
      notes_.info("vertex-w-ignored", name_, "the w of vertices means nothing for faces; ignored",
                  vertex);
  }
  return {};
}

Result<void> ObjParser::readUv(std::string_view rest) {
  std::array<double, 2> uv{};  // in double, so that turning v twice gives the same float back
  DERM_TRY(const std::size_t count, readNumbers("vt", rest, uv));
  if (count < 1) return bad("vt", "no coordinates", uvs_.size());
  const Vec2f turned(static_cast<float>(uv[0]), static_cast<float>(1.0 - uv[1]));
  if (!turned.allFinite()) return bad("vt", "not a finite number", uvs_.size());
  uvs_.push_back(turned);
  return {};
}

Result<void> ObjParser::readNormal(std::string_view rest) {
  std::array<float, 3> n{};
  DERM_TRY(const std::size_t count, readNumbers("vn", rest, n));
  if (count < 3)
    return bad("vn", std::to_string(count) + " coordinates, but a normal needs 3", normals_.size());
  Vec3d normal(n[0], n[1], n[2]);
  const double length = normal.norm();
  // What is a unit vector already, as floats go, stays as it is: reading what we wrote is exact.
  if (!(length > 1e-30))
    normal.setZero();
  else if (std::abs(length - 1.0) > 1e-6)
    normal /= length;
  normals_.push_back(normal.cast<float>());
  return {};
}

void ObjParser::countFace(std::string_view rest) {
  std::size_t corners = 0;
  for (std::string_view word = nextWord(rest); !word.empty() && word.front() != '#';
       word = nextWord(rest))
    ++corners;
  if (corners > 2) triangle_count_ += corners - 2;
}

Result<void> ObjParser::readVertexData() {
  lines_ = newScanner();
  std::string_view line;
  while (lines_.next(line)) {
    const std::string_view keyword = nextWord(line);
    if (keyword == "v")
      DERM_CHECK(readPosition(line));
    else if (keyword == "vt")
      DERM_CHECK(readUv(line));
    else if (keyword == "vn")
      DERM_CHECK(readNormal(line));
    else if (keyword == "f" || keyword == "fo")
      countFace(line);
  }
  if (positions_.empty())
    return Error{
        ErrorCode::BadData, "no vertices (\"v\" lines) in the file", {.file = std::string(name_)}};
  return {};
}

Result<std::uint32_t> ObjParser::readIndex(std::string_view word, const char* what,
                                           std::size_t seen, std::size_t total) const {
  std::int64_t index = 0;
  if (!detail::text::parseInteger(word, index))
    return bad("f", detail::text::quoted(word) + " is not a " + what + " index");
  const auto count = static_cast<std::int64_t>(total);
  const std::int64_t resolved = index > 0 ? index - 1 : static_cast<std::int64_t>(seen) + index;
  if (index == 0 || resolved < 0 || resolved >= count)
    return bad("f", std::string(what) + " index " + std::to_string(index) + ", but there are " +
                        std::to_string(index < 0 ? seen : total) +
                        (index < 0 ? " before it" : ", counted from 1"));
  return static_cast<std::uint32_t>(resolved);
}

Result<Corner> ObjParser::readCorner(std::string_view word) {
  const std::size_t first_slash = std::min(word.find('/'), word.size());
  const std::size_t second_slash = std::min(word.find('/', first_slash + 1), word.size());
  const std::string_view position = word.substr(0, first_slash);
  Corner corner;
  DERM_TRY(corner.position, readIndex(position, "vertex", positions_seen_, positions_.size()));
  if (first_slash + 1 < second_slash) {
    const std::string_view uv = word.substr(first_slash + 1, second_slash - first_slash - 1);
    if (uvs_.empty()) {  // taken out by some program; the faces are still good
      notes_.warn("texture-coordinates-absent", name_,
                  "faces refer to texture coordinates, but the file has none; ignored",
                  lines_.lineNumber());
    } else {
      DERM_TRY(corner.uv, readIndex(uv, "texture", uvs_seen_, uvs_.size()));
    }
  }
  if (second_slash + 1 < word.size()) {
    const std::string_view normal = word.substr(second_slash + 1);
    if (normals_.empty()) {
      notes_.warn("normals-absent", name_, "faces refer to normals, but the file has none; ignored",
                  lines_.lineNumber());
    } else {
      DERM_TRY(corner.normal, readIndex(normal, "normal", normals_seen_, normals_.size()));
    }
  }
  return corner;
}

Result<void> ObjParser::readFace(std::string_view rest, Faces& faces) {
  polygon_.clear();
  polygon_positions_.clear();
  for (std::string_view word = nextWord(rest); !word.empty() && word.front() != '#';
       word = nextWord(rest)) {
    DERM_TRY(const Corner corner, readCorner(word));
    if (polygon_.size() == kMaxCorners)
      return bad("f", "more than " + std::to_string(kMaxCorners) + " corners");
    polygon_.push_back(corner);
    polygon_positions_.push_back(positions_[corner.position]);
  }
  if (polygon_.size() < 3) {
    notes_.warn("face-too-small", name_, "face with fewer than 3 corners skipped",
                lines_.lineNumber());
    return {};
  }
  if (faces.corners.vertexCount() + polygon_.size() > kMaxVertices)
    return bad("f", "more than 2^32 - 3 vertices");
  polygon_vertices_.clear();
  for (const Corner& corner : polygon_) polygon_vertices_.push_back(faces.corners.vertexOf(corner));
  state_.first_triangle = static_cast<std::uint32_t>(faces.triangles.size());
  if (faces.runs.empty() || !faces.runs.back().sameState(state_)) faces.runs.push_back(state_);
  polygon_triangles_.clear();
  triangulator_.triangulate(polygon_positions_, polygon_triangles_);
  for (const Triangle& t : polygon_triangles_)
    faces.triangles.push_back(
        {polygon_vertices_[t[0]], polygon_vertices_[t[1]], polygon_vertices_[t[2]]});
  return {};
}

void ObjParser::readGroups(std::string_view rest, Faces& faces) {
  const auto set = static_cast<std::uint32_t>(faces.set_offsets.size() - 1);
  for (std::string_view word = nextWord(rest); !word.empty() && word.front() != '#';
       word = nextWord(rest)) {
    const std::optional<std::uint32_t> group = faces.groups.number(word, kMaxGroups);
    if (group)
      faces.set_groups.push_back(*group);
    else
      notes_.warn("groups-left-out", name_, "too many different groups; some left out");
  }
  faces.set_offsets.push_back(static_cast<std::uint32_t>(faces.set_groups.size()));
  state_.group_set = set;
}

void ObjParser::readObject(std::string_view rest, Faces& faces) {
  const std::string_view object = detail::text::trimmed(rest);
  state_.object = static_cast<std::uint32_t>(faces.objects.size());
  faces.objects.push_back(object);
  std::uint32_t group = kNone;
  if (!object.empty()) {
    std::string made = detail::obj::groupName(object);
    const std::string_view group_name =
        made == object ? object : faces.made_names.emplace_back(std::move(made));
    group = faces.groups.number(group_name, kMaxGroups).value_or(kNone);
  }
  faces.object_groups.push_back(group);
}

void ObjParser::readState(std::string_view keyword, std::string_view rest, Faces& faces) {
  if (keyword == "g") {
    readGroups(rest, faces);
  } else if (keyword == "o") {
    readObject(rest, faces);
  } else if (keyword == "usemtl") {
    const std::string_view material = detail::text::trimmed(rest);
    state_.material = material.empty() ? kNone : faces.materials.number(material).value_or(kNone);
  } else if (keyword == "mtllib") {
    if (faces.libraries.size() < kMaxLibraries)
      faces.libraries.push_back(detail::text::trimmed(rest));
  } else if (keyword == "l" || keyword == "p") {
    notes_.info("not-a-face", name_, "lines and points are not read", lines_.lineNumber());
  } else if (keyword != "s") {  // smoothing groups only steer normals, which we compute smooth
    notes_.warn("statement-ignored", std::string(keyword.substr(0, 32)),
                "OBJ statement not understood or not about polygons; ignored", lines_.lineNumber());
  }
}

Result<Faces> ObjParser::readFaces() {
  Faces faces(positions_.size());
  if (triangle_count_ >= kNone) return bad("f", "more than 2^32 - 2 triangles");
  faces.triangles.reserve(triangle_count_);
  lines_ = newScanner();
  std::string_view line;
  while (lines_.next(line)) {
    const std::string_view keyword = nextWord(line);
    if (keyword.empty() || keyword.front() == '#') continue;
    if (keyword == "v")
      ++positions_seen_;
    else if (keyword == "vt")
      ++uvs_seen_;
    else if (keyword == "vn")
      ++normals_seen_;
    else if (keyword == "f" || keyword == "fo")
      DERM_CHECK(readFace(line, faces));
    else
      readState(keyword, line, faces);
  }
  if (triangulator_.blindlyCut() > 0)
    notes_.warn("polygons-too-large", name_,
                std::to_string(triangulator_.blindlyCut()) +
                    " large concave polygons were cut without checking the outline");
  return faces;
}

void ObjParser::addNormals(const Faces& faces, TriMesh& mesh) {
  const auto count = static_cast<std::uint32_t>(mesh.vertexCount());
  const auto given = [&](std::uint32_t v) {
    const std::uint32_t normal = faces.corners.corner(v).normal;
    return normal != kNone && !normals_[normal].isZero(0);
  };
  std::size_t missing = 0;
  for (std::uint32_t v = 0; v < count; ++v) missing += faces.corners.used(v) && !given(v);
  if (missing > 0) {
    notes_.info("normals-computed", name_,
                std::to_string(missing) + " vertices had no normal; computed from the faces");
    mesh.normals = areaWeightedNormals(mesh.positions, faces.triangles,
                                       weldMap(mesh.positions, faces.triangles));
  } else {
    mesh.normals.resize(count);
  }
  for (std::uint32_t v = 0; v < count; ++v) {
    if (!faces.corners.used(v))
      mesh.normals[v] = Vec3f(0, 1, 0);
    else if (given(v))
      mesh.normals[v] = normals_[faces.corners.corner(v).normal];
  }
}

TriMesh ObjParser::takeVertices(const Faces& faces) {
  const auto count = static_cast<std::uint32_t>(faces.corners.vertexCount());
  const auto first_doubled = static_cast<std::uint32_t>(positions_.size());
  TriMesh mesh;
  positions_.reserve(count);
  if (!colours_.empty()) colours_.reserve(count);
  bool has_uvs = false;
  for (std::uint32_t v = 0; v < count; ++v) {
    const Corner corner = faces.corners.corner(v);
    has_uvs = has_uvs || corner.uv != kNone;
    if (v < first_doubled) continue;
    const Vec3f position = positions_[corner.position];
    positions_.push_back(position);
    if (colours_.empty()) continue;
    const Vec4f colour = colours_[corner.position];
    colours_.push_back(colour);
  }
  mesh.positions = std::move(positions_);
  mesh.colours = std::move(colours_);
  if (has_uvs) {
    mesh.uvs.assign(count, Vec2f::Zero());
    for (std::uint32_t v = 0; v < count; ++v)
      if (const Corner corner = faces.corners.corner(v); corner.uv != kNone)
        mesh.uvs[v] = uvs_[corner.uv];
  }
  addNormals(faces, mesh);
  return mesh;
}

/// A `mtllib` line names one file, which may hold blanks, or several.
void readLibrary(std::string_view names, std::string_view file, const SideFileReader& read,
                 Character& character, Diagnostics& notes) {
  const auto tryOne = [&](std::string_view name) {
    if (!read) return false;
    std::string path(name);
    std::replace(path.begin(), path.end(), '\\', '/');
    const Result<std::vector<std::uint8_t>> bytes = read(path);
    if (!bytes.ok() || bytes->size() > kLargestLibrary) return false;
    const std::string_view mtl(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    detail::obj::parseMaterials(mtl, path, folder, character, notes);
    return true;
  };
  if (tryOne(names)) return;
  const std::string_view whole = names;
  bool found = false;
  for (std::size_t tries = 0; tries < kMaxLibraries; ++tries) {
    const std::string_view word = nextWord(names);
    if (word.empty()) break;
    found = (word != whole && tryOne(word)) || found;
  }
  if (!found)
    notes.info("material-library-missing", file,
               "material library " + detail::text::quoted(whole) +
                   " not found; materials keep their names");
}

}  // namespace

Result<Character> parseObj(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes,
                           const SideFileReader& read_side_file) {
  DERM_TRY(const double unit_m, detail::assumedMetresPerUnit(options, name, "OBJ", notes));
  ObjParser parser(text, name, notes);
  DERM_CHECK(parser.readVertexData());
  DERM_TRY(Faces faces, parser.readFaces());
  Character character;
  character.name = detail::fileStem(name);
  character.import.format = "OBJ";
  character.import.metres_per_unit = unit_m;
  character.mesh = parser.takeVertices(faces);
  detail::obj::addParts(faces, character);
  detail::obj::addGroups(faces, name, text.size(), character, notes);
  character.mesh.triangles = std::move(faces.triangles);
  for (const std::string_view library : faces.libraries)
    readLibrary(library, name, read_side_file, character, notes);
  if (read_side_file) detail::fetchExternalImages(name, read_side_file, character, notes);
  if (unit_m != 1.0) scaleLengths(character, unit_m);
  DERM_CHECK(validate(character));
  return character;
}

Result<Character> loadObj(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseObj({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                  options, notes, sideFilesOf(file));
}

}  // namespace derm
