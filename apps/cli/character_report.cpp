#include "character_report.h"

#include <cmath>

#include <fmt/format.h>

#include "derm/face/face_features.h"
#include "derm/face/face_rig.h"
#include "derm/face/shape_motion.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/weld.h"

#include "terminal.h"

namespace derm::cli {
namespace {

/// Sizes outside this are rarely meant: a character of 170 units is one in centimetres. [m]
constexpr double kSmallest = 0.01;
constexpr double kLargest = 20.0;

void noteSize(const Bounds& box, const ImportInfo& import, Diagnostics& problems) {
  const double size = box.diagonal();
  if (box.empty() || (size >= kSmallest && size <= kLargest)) return;
  problems.info("unusual-size", "mesh",
                fmt::format("{:.4g} m across; if the file is not in {}, give --unit", size,
                            import.declared_unit.empty() ? "metres" : import.declared_unit));
}

void noteSurface(const Character& c, const Closedness& closedness, Diagnostics& problems) {
  if (closedness.boundary_edges > 0)
    problems.info("open-surface", "mesh",
                  fmt::format("{} boundary edges: the surface is open, it has no volume",
                              closedness.boundary_edges));
  if (closedness.repeated_edges > 0)
    problems.warn("non-manifold", "mesh",
                  fmt::format("{} edges are used twice in one direction (non-manifold or flipped "
                              "triangles), first between vertices {} and {}",
                              closedness.repeated_edges, (*closedness.first_bad_edge)[0],
                              (*closedness.first_bad_edge)[1]));
  for (std::size_t t = 0; t < c.mesh.triangles.size(); ++t) {
    const Triangle& corner = c.mesh.triangles[t];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
      problems.info("degenerate-triangle", "mesh", "triangle with two equal corners", t);
  }
}

/// Names come from files and may hold what would command a terminal; as errors do.
std::string oneLine(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

nlohmann::json array(const Vec3f& v) { return {v.x(), v.y(), v.z()}; }

/// Control points of a face are known by number or name, shapes by ARKit's names.
std::string faceWords(const Character& c) {
  std::size_t control = 0, features = 0;
  for (const LabelledPoint& p : c.points)
    if (const FaceFeature* feature = findFaceFeature(p.label)) {
      ++features;
      control += isControlPoint(feature->number);
    }
  const std::size_t shapes = arkitShapeCount(c);
  std::vector<std::string> words;
  if (features > 0)
    words.push_back(fmt::format(
        "{} of 28 control points (MPEG-4){}", control,
        features > control ? fmt::format(", {} more feature points", features - control) : ""));
  if (shapes > 0) words.push_back(fmt::format("{} of 52 shapes (ARKit)", shapes));
  if (findFaceRig(c)) words.push_back("a control rig");
  return fmt::format("{}", fmt::join(words, "; "));
}

/// 3: "brow", "chin", "nose"
std::string pointLabels(const Character& c) {
  std::string out = fmt::format("{}:", c.points.size());
  for (std::size_t i = 0; i < c.points.size(); ++i)
    out += fmt::format("{} \"{}\"", i == 0 ? "" : ",", c.points[i].label);
  return out;
}

std::string detailText(const Character& c, const Material& material, const DetailMap& map) {
  const Image& image = c.images[static_cast<std::size_t>(map.image)];
  std::string out =
      fmt::format("\"{}\" on material \"{}\", strength {:g}",
                  image.name.empty() ? image.uri : image.name, material.name, map.strength);
  if (!map.vertex_group.empty()) out += fmt::format(", in group \"{}\"", map.vertex_group);
  if (!map.control.empty()) out += fmt::format(", by control \"{}\"", map.control);
  return out;
}

}  // namespace

CharacterReport measure(const std::string& source, const Character& c, const Diagnostics& notes) {
  CharacterReport r;
  r.source = source;
  r.character = &c;
  r.problems = notes;
  r.box = bounds(c.mesh.positions);
  const std::vector<Triangle> welded = mapped(c.mesh.triangles, weldMap(c.mesh.positions));
  r.closedness = checkClosed(welded);
  r.area_m2 = area(c.mesh.positions, c.mesh.triangles);
  if (r.closedness.closed()) {
    r.volume_m3 = volume(c.mesh.positions, c.mesh.triangles);
    if (*r.volume_m3 < 0)
      r.problems.warn("inside-out", "mesh", "triangles face inwards: the volume is negative");
  }
  noteSize(r.box, c.import, r.problems);
  noteSurface(c, r.closedness, r.problems);
  return r;
}

nlohmann::json toJson(const CharacterReport& r) {
  const Character& c = *r.character;
  nlohmann::json clips = nlohmann::json::array();
  for (const Clip& clip : c.clips)
    clips.push_back(
        {{"name", clip.name}, {"duration_s", clip.duration_s()}, {"tracks", clip.tracks.size()}});
  nlohmann::json skeleton = nlohmann::json::array();
  const std::vector<std::string> names = c.skeleton.names();
  for (std::size_t j = 0; j < names.size(); ++j) {
    const JointId parent = c.skeleton.joints[j].parent;
    skeleton.push_back(
        {{"name", names[j]},
         {"parent", parent.valid() ? nlohmann::json(parent.index()) : nlohmann::json()}});
  }
  nlohmann::json morphs = nlohmann::json::array();
  for (const MorphTarget& m : c.morphs) morphs.push_back(m.name);
  nlohmann::json controls = nlohmann::json::array();
  for (const Control& control : c.controls)
    controls.push_back({{"name", control.name},
                        {"preset", control.preset},
                        {"low", control.low},
                        {"high", control.high}});
  nlohmann::json groups = nlohmann::json::array();
  for (const VertexGroup& g : c.mesh.groups)
    groups.push_back({{"name", g.name}, {"vertices", g.vertices.size()}});
  nlohmann::json points = nlohmann::json::array();
  for (const LabelledPoint& p : c.points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    points.push_back(
        {{"label", p.label},
         {"feature", feature != nullptr ? nlohmann::json(feature->name) : nlohmann::json()},
         {"triangle", p.point.triangle},
         {"barycentric", array(p.point.barycentric)},
         {"position_m", array(positionAt(p.point, c.mesh.triangles, c.mesh.positions))}});
  }
  nlohmann::json detail_maps = nlohmann::json::array();
  for (std::size_t i = 0; i < c.materials.size(); ++i)
    for (const DetailMap& d : c.materials[i].detail_maps)
      detail_maps.push_back({{"material", i},
                             {"image", d.image},
                             {"uv_set", d.uv_set},
                             {"scale", {d.uv_scale.x(), d.uv_scale.y()}},
                             {"offset", {d.uv_offset.x(), d.uv_offset.y()}},
                             {"strength", d.strength},
                             {"vertex_group", d.vertex_group},
                             {"control", d.control}});
  nlohmann::json out = {
      {"file", r.source},
      {"format", c.import.format},
      {"generator", c.import.generator},
      {"vertices", c.mesh.vertexCount()},
      {"triangles", c.mesh.triangles.size()},
      {"meshes", c.instances.size()},
      {"parts", c.parts.size()},
      {"materials", c.materials.size()},
      {"images", c.images.size()},
      {"joints", c.boneCount()},
      {"nodes", c.skeleton.size()},
      {"skeleton", skeleton},
      {"influences_max", c.skin.maxInfluences()},
      {"clips", clips},
      {"morph_targets", c.morphs.size()},
      {"morph_names", morphs},
      {"controls", controls},
      {"groups", groups},
      {"points", points},
      {"face", faceWords(c)},
      {"detail_maps", detail_maps},
      {"closed", r.closedness.closed()},
      {"area_m2", r.area_m2},
      {"unit", c.import.declared_unit.empty() ? "m" : c.import.declared_unit},
      {"unit_assumed", c.import.declared_unit.empty()},
      {"metres_per_unit", c.import.metres_per_unit},
      {"up_axis", c.import.up_axis},
      {"problems", toJson(r.problems)},
  };
  out["volume_m3"] = r.volume_m3 ? nlohmann::json(*r.volume_m3) : nlohmann::json();
  out["bounds_m"] = r.box.empty()
                        ? nlohmann::json()
                        : nlohmann::json{{"min", array(r.box.low)}, {"max", array(r.box.high)}};
  return out;
}

std::string toText(const CharacterReport& r) {
  const Character& c = *r.character;
  std::string out;
  const auto line = [&](std::string_view label, const std::string& value) {
    out += fmt::format("{:<12} {}\n", label, oneLine(value));
  };
  line("file", fmt::format("{} ({}{})", r.source, c.import.format,
                           c.import.generator.empty() ? "" : ", by " + c.import.generator));
  line("unit", c.import.declared_unit.empty()
                   ? fmt::format("none declared; 1 unit = {:g} m assumed, {} up",
                                 c.import.metres_per_unit, c.import.up_axis)
                   : fmt::format("{} declared; 1 unit = {:g} m used, {} up", c.import.declared_unit,
                                 c.import.metres_per_unit, c.import.up_axis));
  if (!r.box.empty()) {
    const Vec3f size = r.box.size();
    line("size", fmt::format("{:.4g} x {:.4g} x {:.4g} m", size.x(), size.y(), size.z()));
  }
  line("mesh",
       fmt::format("{} vertices, {} triangles, {} meshes, {} materials", c.mesh.vertexCount(),
                   c.mesh.triangles.size(), c.instances.size(), c.materials.size()));
  line("surface", r.volume_m3 ? fmt::format("closed, {:.6g} m3, {:.6g} m2", *r.volume_m3, r.area_m2)
                              : fmt::format("open, {:.6g} m2", r.area_m2));
  line("skeleton", fmt::format("{} joints in the skin, {} nodes, up to {} influences",
                               c.boneCount(), c.skeleton.size(), c.skin.maxInfluences()));
  if (!c.morphs.empty()) line("morphs", fmt::format("{} targets", c.morphs.size()));
  for (std::size_t i = 0; i < c.controls.size(); ++i)
    line(i == 0 ? "controls" : "",
         fmt::format("\"{}\", {:g} at rest, {:g} to {:g}", c.controls[i].name, c.controls[i].preset,
                     c.controls[i].low, c.controls[i].high));
  for (std::size_t i = 0; i < c.clips.size(); ++i)
    line(i == 0 ? "clips" : "",
         fmt::format("{} \"{}\", {:.3f} s", i, c.clips[i].name, c.clips[i].duration_s()));
  for (std::size_t i = 0; i < c.mesh.groups.size(); ++i)
    line(i == 0 ? "groups" : "", fmt::format("\"{}\", {} vertices", c.mesh.groups[i].name,
                                             c.mesh.groups[i].vertices.size()));
  if (!c.points.empty()) line("points", pointLabels(c));
  if (const std::string words = faceWords(c); !words.empty()) line("face", words);
  bool first_map = true;
  for (const Material& m : c.materials)
    for (const DetailMap& d : m.detail_maps) {
      line(first_map ? "detail maps" : "", detailText(c, m, d));
      first_map = false;
    }
  bool first = true;
  for (const Diagnostics::Note& n : r.problems.notes()) {
    line(first ? "notes" : "", (n.severity == Severity::Warning ? "warning: " : "") + n.text());
    first = false;
  }
  return out;
}

std::string jointTree(const Skeleton& skeleton) {
  std::string out;
  const std::vector<std::string> names = skeleton.names();
  std::vector<std::size_t> depth(skeleton.size(), 0);
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    const JointId parent = skeleton.joints[j].parent;
    if (parent.valid()) depth[j] = depth[parent.index()] + 1;
    out += fmt::format("{:{}}\"{}\"\n", "", 2 * depth[j], oneLine(names[j]));
  }
  return out;
}

}  // namespace derm::cli
