#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "derm/image/srgb.h"
#include "derm/io/file_bytes.h"
#include "derm/io/ply.h"

#include "io/import_units.h"
#include "io/mesh_assembly.h"
#include "io/ply_cursor.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::kMaxCorners;
using detail::ply::Cursor;
using detail::ply::Element;
using detail::ply::Property;
using detail::ply::Scalar;

/// What a vertex property means to us.
enum Slot : int { X, Y, Z, NX, NY, NZ, U, V, Red, Green, Blue, Alpha, kSlotCount, kIgnored = -1 };

Slot slotNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Slot>, 23> kNames = {
      {{"x", X},     {"y", Y},         {"z", Z},         {"nx", NX},       {"ny", NY},
       {"nz", NZ},   {"normal_x", NX}, {"normal_y", NY}, {"normal_z", NZ}, {"s", U},
       {"t", V},     {"u", U},         {"v", V},         {"texture_u", U}, {"texture_v", V},
       {"red", Red}, {"green", Green}, {"blue", Blue},   {"alpha", Alpha}, {"r", Red},
       {"g", Green}, {"b", Blue},      {"a", Alpha}}};
  if (name.starts_with("diffuse_")) name.remove_prefix(8);
  for (const auto& [known, slot] : kNames)
    if (known == name) return slot;
  return kIgnored;
}

/// Integer colours count in steps of their type's largest value.
double colourScale(Scalar type) {
  switch (type) {
    case Scalar::Int8:
    case Scalar::UInt8:
      return 1.0 / 255;
    case Scalar::Int16:
    case Scalar::UInt16:
      return 1.0 / 65535;
    case Scalar::Int32:
    case Scalar::UInt32:
      return 1.0 / 4294967295.0;
    case Scalar::Float32:
    case Scalar::Float64:
      break;
  }
  return 1.0;
}

bool isIndexList(const Property& p) {
  return p.count_type && (p.name == "vertex_indices" || p.name == "vertex_index");
}

class PlyParser {
 public:
  PlyParser(const detail::ply::Header& header, std::string_view name, Diagnostics& notes)
      : header_(header),
        name_(name),
        notes_(notes),
        cursor_(header.format, header.body, header.body_start) {}
  Result<TriMesh> parse();

 private:
  Error bad(const Element& element, std::uint64_t index, std::string message) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_),
                  .element = element.name.substr(0, 64),
                  .byte = cursor_.byte(),
                  .index = index}};
  }
  Error endsEarly(const Element& element, std::uint64_t index) const {
    return bad(element, index,
               (cursor_.atEnd() ? "the data ends here" : "not a number") + std::string(", but ") +
                   std::to_string(element.count) + " are announced");
  }
  /// The length of the list that comes next.
  Result<std::uint64_t> listLength(const Element& element, std::uint64_t index, Scalar type);
  Result<void> readVertices(const Element& element);
  Result<void> storeVertex(const Element& element, std::uint64_t index,
                           const std::array<double, kSlotCount>& values);
  /// Steps over an element; tells how many triangles its polygons make, if it has any.
  Result<std::uint64_t> stepOver(const Element& element);
  Result<void> readFaces(const Element& element);
  Result<void> readPolygon(const Element& element, std::uint64_t index, std::uint64_t length,
                           Scalar type);

  const detail::ply::Header& header_;
  std::string_view name_;
  Diagnostics& notes_;
  Cursor cursor_;
  TriMesh mesh_;
  bool has_[kSlotCount] = {};
  detail::FaceAssembler faces_{mesh_};
};

Result<std::uint64_t> PlyParser::listLength(const Element& element, std::uint64_t index,
                                            Scalar type) {
  double length = 0;
  if (!cursor_.next(type, length)) return endsEarly(element, index);
  if (!(length >= 0 && length <= 4294967295.0) || length != std::floor(length))
    return bad(element, index, "impossible list length");
  return static_cast<std::uint64_t>(length);
}

Result<void> PlyParser::readVertices(const Element& element) {
  if (!cursor_.hasRoomFor(element) || element.count >= 0xFFFFFFFFu)
    return bad(element, 0, std::to_string(element.count) + " announced, but the data is too short");
  std::vector<Slot> slots;
  std::vector<double> scales;
  for (const Property& p : element.properties) {
    const Slot slot = p.count_type ? kIgnored : slotNamed(p.name);
    slots.push_back(slot);
    scales.push_back(slot >= Red ? colourScale(p.type) : 1.0);
    if (slot == kIgnored)
      notes_.info("property-ignored", "vertex", "property not used: " + p.name.substr(0, 64));
    else
      has_[slot] = true;
  }
  if (!has_[X] || !has_[Y] || !has_[Z]) return bad(element, 0, "no properties x, y and z");
  const std::size_t count = static_cast<std::size_t>(element.count);
  mesh_.positions.reserve(count);
  if (has_[NX] && has_[NY] && has_[NZ]) mesh_.normals.reserve(count);
  if (has_[U] && has_[V]) mesh_.uvs.reserve(count);
  if (has_[Red] && has_[Green] && has_[Blue]) mesh_.colours.reserve(count);
  for (std::uint64_t i = 0; i < element.count; ++i) {
    std::array<double, kSlotCount> values{};
    values[Alpha] = 1;
    for (std::size_t p = 0; p < slots.size(); ++p) {
      const Property& property = element.properties[p];
      std::uint64_t length = 1;
      if (property.count_type) {
        DERM_TRY(length, listLength(element, i, *property.count_type));
      }
      double value = 0;
      for (; length > 0; --length)
        if (!cursor_.next(property.type, value)) return endsEarly(element, i);
      if (slots[p] != kIgnored) values[slots[p]] = value * scales[p];
    }
    DERM_CHECK(storeVertex(element, i, values));
  }
  return {};
}

Result<void> PlyParser::storeVertex(const Element& element, std::uint64_t index,
                                    const std::array<double, kSlotCount>& v) {
  const Vec3f position = Vec3d(v[X], v[Y], v[Z]).cast<float>();
  if (!position.allFinite()) return bad(element, index, "position is not a finite number");
  mesh_.positions.push_back(position);
  if (has_[NX] && has_[NY] && has_[NZ]) {
    Vec3d normal(v[NX], v[NY], v[NZ]);
    const double length = normal.norm();
    if (!(length > 1e-30) || !std::isfinite(length))
      normal.setZero();
    else if (std::abs(length - 1.0) > 1e-6)
      normal /= length;
    mesh_.normals.push_back(normal.cast<float>());
  }
  if (has_[U] && has_[V]) {
    const Vec2f uv(static_cast<float>(v[U]), static_cast<float>(1.0 - v[V]));
    if (!uv.allFinite()) return bad(element, index, "texture coordinate is not a finite number");
    mesh_.uvs.push_back(uv);
  }
  if (has_[Red] && has_[Green] && has_[Blue]) {
    const Vec4f encoded = Eigen::Vector4d(v[Red], v[Green], v[Blue], v[Alpha]).cast<float>();
    if (!encoded.allFinite()) return bad(element, index, "colour is not a finite number");
    mesh_.colours.push_back(linearFromSrgb(encoded));
  }
  return {};
}

Result<std::uint64_t> PlyParser::stepOver(const Element& element) {
  std::uint64_t triangles = 0;
  if (element.properties.empty()) return triangles;
  if (!cursor_.hasRoomFor(element))
    return bad(element, 0, std::to_string(element.count) + " announced, but the data is too short");
  double ignored = 0;
  for (std::uint64_t i = 0; i < element.count; ++i)
    for (const Property& p : element.properties) {
      std::uint64_t length = 1;
      if (p.count_type) {
        DERM_TRY(length, listLength(element, i, *p.count_type));
      }
      if (isIndexList(p) && length > 2) triangles += length - 2;
      for (; length > 0; --length)
        if (!cursor_.next(p.type, ignored)) return endsEarly(element, i);
    }
  return triangles;
}

Result<void> PlyParser::readFaces(const Element& element) {
  for (std::uint64_t i = 0; i < element.count; ++i)
    for (const Property& p : element.properties) {
      std::uint64_t length = 1;
      if (p.count_type) {
        DERM_TRY(length, listLength(element, i, *p.count_type));
      }
      if (isIndexList(p)) {
        DERM_CHECK(readPolygon(element, i, length, p.type));
        continue;
      }
      double ignored = 0;
      for (; length > 0; --length)
        if (!cursor_.next(p.type, ignored)) return endsEarly(element, i);
    }
  return {};
}

Result<void> PlyParser::readPolygon(const Element& element, std::uint64_t index,
                                    std::uint64_t length, Scalar type) {
  faces_.begin();
  if (length > kMaxCorners)
    return bad(element, index, "more than " + std::to_string(kMaxCorners) + " corners");
  for (std::uint64_t c = 0; c < length; ++c) {
    double vertex = 0;
    if (!cursor_.next(type, vertex)) return endsEarly(element, index);
    if (!(vertex >= 0 && vertex < static_cast<double>(mesh_.vertexCount())) ||
        vertex != std::floor(vertex))
      return bad(element, index,
                 "corner " + std::to_string(c) + ": no such vertex; there are " +
                     std::to_string(mesh_.vertexCount()));
    faces_.add(static_cast<std::uint32_t>(vertex));
  }
  faces_.end(name_, index, notes_);
  return {};
}

Result<TriMesh> PlyParser::parse() {
  std::optional<Cursor> faces_at;
  const Element* faces = nullptr;
  bool has_vertices = false;
  std::uint64_t triangles = 0;
  for (const Element& element : header_.elements) {
    if (element.name == "vertex" && !has_vertices) {
      DERM_CHECK(readVertices(element));
      has_vertices = true;
      continue;
    }
    const bool polygons =
        element.name == "face" && faces == nullptr &&
        std::any_of(element.properties.begin(), element.properties.end(), isIndexList);
    // Faces may come before the vertices they need, so they are read last.
    const Cursor here = cursor_;
    DERM_TRY(const std::uint64_t count, stepOver(element));
    if (polygons) {
      faces = &element;
      faces_at = here;
      triangles = count;
    } else {
      notes_.info("element-ignored", name_, "element not used: " + element.name.substr(0, 64));
    }
  }
  if (mesh_.positions.empty())
    return Error{ErrorCode::BadData, "no vertices in the file", {.file = std::string(name_)}};
  if (faces != nullptr) {
    if (triangles >= 0xFFFFFFFFu) return bad(*faces, 0, "more than 2^32 - 2 triangles");
    mesh_.triangles.reserve(static_cast<std::size_t>(triangles));
    cursor_ = *faces_at;
    DERM_CHECK(readFaces(*faces));
  }
  faces_.reportCuts(name_, notes_);
  detail::addMissingNormals(mesh_, name_, notes_);
  return std::move(mesh_);
}

}  // namespace

Result<Character> parsePly(std::span<const std::uint8_t> bytes, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY(const double unit_m, detail::assumedMetresPerUnit(options, name, "PLY", notes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  DERM_TRY(const detail::ply::Header header, detail::ply::parseHeader(text, name));
  Character character;
  character.name = detail::fileStem(name);
  DERM_TRY(character.mesh, PlyParser(header, name, notes).parse());
  addDefaultParts(character);
  character.import.format = "PLY";
  character.import.metres_per_unit = unit_m;
  if (unit_m != 1.0) scaleLengths(character, unit_m);
  DERM_CHECK(validate(character));
  return character;
}

Result<Character> loadPly(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parsePly(bytes, file.string(), options, notes);
}

}  // namespace derm
