#include "scene/detail_parameters.h"

#include <algorithm>
#include <array>

#include "derm/face/drawn_wrinkles.h"
#include "derm/face/face_features.h"
#include "derm/io/file_bytes.h"
#include "derm/io/image_file.h"
#include "derm/io/png.h"

namespace derm::detail {
namespace {

constexpr std::uint64_t kMaxMapBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxCurveKeys = 64;

constexpr std::array<std::pair<WrinkleInfluence, std::string_view>, 3> kInfluences = {
    {{WrinkleInfluence::Weighted, "weighted"},
     {WrinkleInfluence::Printed, "printed"},
     {WrinkleInfluence::Spread, "spread"}}};
constexpr std::array<std::pair<NormalGreen, std::string_view>, 2> kGreens = {
    {{NormalGreen::Up, "up"}, {NormalGreen::Down, "down"}}};

/// The material that most control points lie on; -1 where their parts have none.
int materialOfFace(const Character& character) {
  std::vector<std::size_t> points(character.parts.size(), 0);
  for (const LabelledPoint& p : character.points)
    if (findFaceFeature(p.label) != nullptr)
      for (std::size_t i = 0; i < character.parts.size(); ++i) {
        const MeshPart& part = character.parts[i];
        if (p.point.triangle >= part.first_triangle &&
            p.point.triangle - part.first_triangle < part.triangle_count)
          ++points[i];
      }
  const auto most = std::max_element(points.begin(), points.end());
  if (most == points.end() || *most == 0) return -1;
  return character.parts[static_cast<std::size_t>(most - points.begin())].material;
}

constexpr std::string_view kDrawn = "drawn:";

Result<Image> drawMap(const std::string& map, const Character& character) {
  Diagnostics notes;
  DERM_TRY(const FloatImage normals,
           drawWrinkles(character.mesh, character.points,
                        std::string_view(map).substr(kDrawn.size()), {}, notes));
  Image out{.name = map.substr(kDrawn.size()), .mime_type = "image/png", .uri = {}, .bytes = {}};
  out.bytes = encodePng(encodeNormals8(normals, NormalGreen::Up));
  return out;
}

/// Errors of what is drawn name no file: then the layer.
Error named(Error error, std::string_view layer) {
  if (error.where.file.empty())
    error.where.element = "layer \"" + std::string(layer) + "\"" +
                          (error.where.element.empty() ? "" : ": " + error.where.element);
  return error;
}

/// As glTF has normal maps, with green up.
Result<Image> loadMap(const std::filesystem::path& file, NormalGreen green) {
  Image out;
  out.name = file.stem().string();
  out.mime_type = "image/png";
  DERM_TRY(out.bytes, readFile(file, kMaxMapBytes));
  const bool png = out.bytes.size() > 1 && out.bytes[0] == 0x89 && out.bytes[1] == 'P';
  if (!hasImageFiles() && green == NormalGreen::Up) {  // a page decodes its pictures itself
    if (!png) out.mime_type = "image/jpeg";
    return out;
  }
  DERM_TRY(const Rgba8Image map, decodeImage(out.bytes, file.string()));
  if (green == NormalGreen::Down)
    out.bytes = encodePng(encodeNormals8(decodeNormals(map, green), NormalGreen::Up));
  else if (!png)
    out.mime_type = "image/jpeg";
  return out;
}

}  // namespace

void DetailParameters::PoseKeys::fields(RecipeFields& f) {
  f.text("name", name, "of the pose; its channel is LAYER.NAME");
  f.text("expression", expression,
         "what the face does there: an expression or ARKit shape, several joined by +");
  f.text("clip", clip, "of the character, instead: the face at an instant of it");
  f.number("at_s", at_s, {0, 1e6, "s"}, "that instant");
  f.text("map", map,
         "normal map that shows there (.png, .jpg), or drawn:SETS; empty = only the channel");
  f.number("strength", strength, {0, 16}, "of the map's slopes");
  f.numbers("curve", curve, {0, 2 * kMaxCurveKeys, {0, 1}},
            "how far the face has come and how much shows, pair after pair; empty = sin^4");
}

void DetailParameters::fields(RecipeFields& f) {
  f.tables(
      "poses", poses_, [](PoseKeys& pose, RecipeFields& keys) { pose.fields(keys); },
      "poses of the face and their maps: { name = \"frown\", expression = \"anger\", map = "
      "\"frown.png\" }");
  f.text("groups", groups_,
         "points that wrinkle together, groups apart by semicolons: \"brows.left; brows.right\"");
  f.choice("influence", influence_, kInfluences,
           "sum of the points' weights, any point that has one (as first published), or the sum "
           "spread as far as the points pull");
  f.choice("green", green_, kGreens, "what a bright green channel of the maps means");
  for (const PoseKeys& pose : poses_) {
    f.require(!pose.name.empty(), "poses", "a pose has no name");
    f.require(pose.expression.empty() != pose.clip.empty(), "poses",
              "a pose needs an expression, or a clip");
    f.require(pose.curve.size() % 2 == 0 && pose.curve.size() != 2, "poses",
              "a curve needs pairs of numbers, two or more");
  }
}

DetailDesc DetailParameters::desc() const {
  DetailDesc out;
  out.influence = influence_;
  for (const PoseKeys& pose : poses_) {
    ModulationCurve curve;
    for (std::size_t i = 0; i + 1 < pose.curve.size(); i += 2)
      curve.keys.emplace_back(static_cast<float>(pose.curve[i]),
                              static_cast<float>(pose.curve[i + 1]));
    out.poses.push_back({.name = pose.name,
                         .expression = pose.expression,
                         .clip = pose.clip,
                         .at_s = pose.at_s,
                         .curve = std::move(curve)});
  }
  std::string_view rest = groups_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    out.groups.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

LayerFactory DetailParameters::factory(std::string name) const {
  return detailLayer(std::move(name), desc());
}

std::vector<std::string> DetailParameters::files() const {
  std::vector<std::string> out;
  for (const PoseKeys& pose : poses_)
    if (!pose.map.empty() && !pose.map.starts_with(kDrawn)) out.push_back(pose.map);
  return out;
}

bool DetailParameters::changesCharacter() const {
  return std::any_of(poses_.begin(), poses_.end(),
                     [](const PoseKeys& pose) { return !pose.map.empty(); });
}

Result<void> DetailParameters::changeCharacter(std::string_view name,
                                               const std::filesystem::path& folder,
                                               Character& character) const {
  if (character.mesh.uvs.empty())
    return Error{ErrorCode::BadData,
                 "the character has no texture coordinates for wrinkle maps; unwrap it first (in "
                 "Blender: UV > Smart UV Project)",
                 {.element = "layer \"" + std::string(name) + "\""}};
  const int material = materialOfFace(character);
  if (material < 0)
    return Error{ErrorCode::BadData,
                 "no control point lies on a part with a material, so the maps have no place",
                 {.element = "layer \"" + std::string(name) + "\""}};
  for (const PoseKeys& pose : poses_) {
    if (pose.map.empty()) continue;
    Result<Image> image = pose.map.starts_with(kDrawn) ? drawMap(pose.map, character)
                                                       : loadMap(folder / pose.map, green_);
    if (!image) return named(image.error(), name);
    character.materials[static_cast<std::size_t>(material)].detail_maps.push_back(
        {.image = static_cast<int>(character.images.size()),
         .strength = static_cast<float>(pose.strength),
         .channel = detailChannel(name, pose.name)});
    character.images.push_back(*std::move(image));
  }
  return {};
}

}  // namespace derm::detail
