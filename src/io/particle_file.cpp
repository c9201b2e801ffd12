#include "derm/io/particle_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/io/file_bytes.h"

#include "io/ply_cursor.h"
#include "io/text_scanner.h"
#include "io/vtk_particles.h"

namespace derm {
namespace {

constexpr std::string_view kFrame = "{frame}";

Error badLine(std::string_view name, std::uint64_t line, std::string message) {
  return Error{ErrorCode::BadData, std::move(message), {.file = std::string(name), .line = line}};
}

// ------------------------------------------------------------------------------------------- XYZ

/// The numbers of a line, at most eight; an error names the word.
Result<std::vector<float>> numbersOf(std::string_view line, std::string_view name,
                                     std::uint64_t number) {
  std::vector<float> values;
  for (std::string_view word; !(word = detail::text::nextWord(line)).empty();) {
    float value = 0;
    switch (detail::text::parseNumber(word, value)) {
      case detail::text::NumberKind::Finite:
        break;
      case detail::text::NumberKind::NotFinite:
        return badLine(name, number, detail::text::quoted(word) + " is not a finite number");
      case detail::text::NumberKind::NotANumber:
        return badLine(name, number, detail::text::quoted(word) + " is not a number");
    }
    if (values.size() == 8) break;
    values.push_back(value);
  }
  return values;
}

Result<Particles> parseXyz(std::string_view text, std::string_view name) {
  Particles out;
  detail::text::LineScanner lines(text);
  std::size_t width = 0;
  bool counted = false;
  for (std::string_view line; lines.next(line);) {
    line = detail::text::trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    std::int64_t count = 0;
    // A leading count, and the comment line that then follows it.
    if (width == 0 && !counted && detail::text::parseInteger(line, count)) {
      counted = true;
      if (!lines.next(line)) break;
      continue;
    }
    DERM_TRY(const std::vector<float> v, numbersOf(line, name, lines.lineNumber()));
    if (width == 0) width = v.size();
    if (v.size() != width || (width != 3 && width != 4 && width != 7))
      return badLine(name, lines.lineNumber(),
                     std::to_string(v.size()) +
                         " numbers; 3, 4 (with radius) or 7 (with radius "
                         "and velocity) are expected, alike on all lines");
    out.positions.emplace_back(v[0], v[1], v[2]);
    if (width >= 4) out.radii.push_back(v[3]);
    if (width == 7) out.velocities.emplace_back(v[4], v[5], v[6]);
  }
  return out;
}

// ------------------------------------------------------------------------------------------- PLY

enum ParticleSlot : int {
  PositionX,
  PositionY,
  PositionZ,
  VelocityX,
  VelocityY,
  VelocityZ,
  Radius,
  Mass,
  Number,
  kParticleSlots,
  kNoParticleSlot = -1
};

ParticleSlot particleSlotNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, ParticleSlot>, 14> kNames = {
      {{"x", PositionX},
       {"y", PositionY},
       {"z", PositionZ},
       {"vx", VelocityX},
       {"vy", VelocityY},
       {"vz", VelocityZ},
       {"velocity_x", VelocityX},
       {"velocity_y", VelocityY},
       {"velocity_z", VelocityZ},
       {"radius", Radius},
       {"pscale", Radius},
       {"mass", Mass},
       {"id", Number},
       {"index", Number}}};
  for (const auto& [known, slot] : kNames)
    if (known == name) return slot;
  return kNoParticleSlot;
}

Error badVertex(std::string_view name, std::uint64_t index, std::size_t byte, std::string message) {
  return Error{ErrorCode::BadData,
               std::move(message),
               {.file = std::string(name), .element = "vertex", .byte = byte, .index = index}};
}

/// Steps over one element's values up to `count` of them.
Result<void> readVertices(detail::ply::Cursor& cursor, const detail::ply::Element& element,
                          std::string_view name, Particles& out) {
  if (!cursor.hasRoomFor(element) || element.count >= 0xFFFFFFFFu)
    return badVertex(name, 0, cursor.byte(),
                     std::to_string(element.count) + " announced, but the data is too short");
  bool has[kParticleSlots] = {};
  for (const detail::ply::Property& p : element.properties)
    if (const ParticleSlot slot = particleSlotNamed(p.name);
        slot != kNoParticleSlot && !p.count_type)
      has[slot] = true;
  if (!has[PositionX] || !has[PositionY] || !has[PositionZ])
    return badVertex(name, 0, cursor.byte(), "no properties x, y and z");
  for (std::uint64_t i = 0; i < element.count; ++i) {
    std::array<double, kParticleSlots> v{};
    for (const detail::ply::Property& p : element.properties) {
      double length = 1, value = 0;
      if (p.count_type && (!cursor.next(*p.count_type, length) || !(length >= 0 && length < 4e9)))
        return badVertex(name, i, cursor.byte(), "the data ends here");
      for (double k = 0; k < length; ++k)
        if (!cursor.next(p.type, value))
          return badVertex(name, i, cursor.byte(), "the data ends here, or is not a number");
      const ParticleSlot slot = p.count_type ? kNoParticleSlot : particleSlotNamed(p.name);
      if (slot != kNoParticleSlot) v[slot] = value;
    }
    out.positions.push_back(Vec3d(v[PositionX], v[PositionY], v[PositionZ]).cast<float>());
    if (has[VelocityX] && has[VelocityY] && has[VelocityZ])
      out.velocities.push_back(Vec3d(v[VelocityX], v[VelocityY], v[VelocityZ]).cast<float>());
    if (has[Radius]) out.radii.push_back(static_cast<float>(v[Radius]));
    if (has[Mass]) out.masses.push_back(static_cast<float>(v[Mass]));
    const bool counts = v[Number] >= 0 && v[Number] < 1.8e19;
    if (has[Number]) out.ids.push_back(counts ? static_cast<std::uint64_t>(v[Number]) : 0);
  }
  return {};
}

Result<Particles> parsePly(std::string_view text, std::string_view name) {
  DERM_TRY(const detail::ply::Header header, detail::ply::parseHeader(text, name));
  detail::ply::Cursor cursor(header.format, header.body, header.body_start);
  Particles out;
  for (const detail::ply::Element& element : header.elements) {
    if (element.name != "vertex") {
      if (element.count == 0) continue;
      return badVertex(name, 0, cursor.byte(),
                       "element \"" + element.name.substr(0, 32) + "\" before the particles");
    }
    DERM_CHECK(readVertices(cursor, element, name, out));
    return out;
  }
  return badVertex(name, 0, cursor.byte(), "no element \"vertex\"");
}

}  // namespace

Result<Particles> parseParticles(std::span<const std::uint8_t> bytes, std::string_view name,
                                 Diagnostics& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Result<Particles> read = text.starts_with("ply") ? parsePly(text, name)
                           : text.starts_with("# vtk DataFile")
                               ? detail::vtk::parseParticles(text, name, notes)
                               : parseXyz(text, name);
  if (!read) return read;
  DERM_CHECK(validate(*read, name));
  return read;
}

Result<Particles> loadParticles(const std::filesystem::path& file, Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseParticles(bytes, file.string(), notes);
}

bool isNumbered(std::string_view pattern) { return pattern.find(kFrame) != std::string_view::npos; }

Result<std::vector<NumberedFile>> numberedFiles(const std::string& pattern) {
  if (!isNumbered(pattern)) {
    std::error_code failure;
    if (!std::filesystem::exists(pattern, failure))
      return Error{ErrorCode::CannotRead, "no such file", {.file = pattern}};
    return std::vector<NumberedFile>{{.path = pattern}};
  }
  const std::filesystem::path whole(pattern);
  const std::filesystem::path folder =
      whole.parent_path().empty() ? std::filesystem::path(".") : whole.parent_path();
  const std::string file = whole.filename().string();
  const std::size_t mark = file.find(kFrame);
  if (mark == std::string::npos)
    return Error{ErrorCode::BadArgument,
                 "{frame} must be in the file's name, not its folder",
                 {.file = pattern}};
  const std::string before = file.substr(0, mark), after = file.substr(mark + kFrame.size());
  std::vector<std::pair<std::uint64_t, NumberedFile>> found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string n = entry.path().filename().string();
    if (n.size() <= before.size() + after.size() || !n.starts_with(before) || !n.ends_with(after))
      continue;
    const std::string digits = n.substr(before.size(), n.size() - before.size() - after.size());
    if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    found.push_back({std::stoull(digits), {entry.path(), digits}});
  }
  if (found.empty())
    return Error{ErrorCode::CannotRead, "no file fits the pattern", {.file = pattern}};
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.digits < b.second.digits;
  });
  std::vector<NumberedFile> files;
  for (auto& [number, one] : found) files.push_back(std::move(one));
  return files;
}

std::string numberedName(const std::string& pattern, std::string_view digits) {
  const std::size_t at = pattern.find(kFrame);
  if (at == std::string::npos) return pattern;
  return pattern.substr(0, at) + std::string(digits) + pattern.substr(at + kFrame.size());
}

std::string numberedName(const std::string& pattern, std::size_t frame) {
  std::string digits = std::to_string(frame);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return numberedName(pattern, digits);
}

}  // namespace derm
