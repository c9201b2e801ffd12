#include "view/layer_diagram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "derm/mesh/measures.h"
#include "derm/volume/volume_layer.h"

namespace derm::detail {
namespace {

/// Told apart by colour-blind eyes too, neighbours in the list most of all; light enough for dark
/// edges on them. Further ones begin anew.
constexpr std::array<Rgba8, 10> kPalette = {{{86, 148, 214, 255},
                                             {240, 164, 64, 255},
                                             {78, 178, 134, 255},
                                             {206, 104, 152, 255},
                                             {226, 206, 92, 255},
                                             {140, 122, 204, 255},
                                             {214, 100, 78, 255},
                                             {112, 196, 214, 255},
                                             {156, 170, 74, 255},
                                             {168, 132, 108, 255}}};
/// Uncut triangles, then cut once, twice, ...
constexpr std::array<Rgba8, 5> kLevelPalette = {{{214, 208, 200, 255},
                                                 {124, 186, 214, 255},
                                                 {242, 178, 92, 255},
                                                 {214, 104, 98, 255},
                                                 {142, 92, 168, 255}}};
/// So many prisms are shown: all of them would fill the body, and none could be told apart.
constexpr std::size_t kPrismsShown = 260;
constexpr float kSkinOpacity = 0.22f;  ///< of the skin around its prisms
constexpr float kAnchorDots_px = 9.0f;

DrawMaterial flatMaterial(const Vec4f& colour) {
  DrawMaterial out;
  out.base_colour = colour;
  out.roughness = 0.75f;
  out.self_lit = 0.35f;  // colours stay those of the legend, the shape stays visible
  return out;
}

/// Adds a triangle with vertices and a normal of its own.
void addFacet(TriMesh& mesh, const std::array<Vec3f, 3>& corners, const Vec4f& colour) {
  const Vec3f across = Vec3f(corners[1] - corners[0]).cross(Vec3f(corners[2] - corners[0]));
  if (!(across.norm() > 0)) return;
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p : corners) {
    mesh.positions.push_back(p);
    mesh.normals.push_back(across.normalized());
    mesh.colours.push_back(colour);
  }
  mesh.triangles.push_back({first, first + 1, first + 2});
}

/// The body between a triangle and its anchors. Walls between different anchors are not plane: they
/// are drawn by their middle, which lies on what the volume's formula takes the mean of.
void addPrism(TriMesh& mesh, DrawLines& edges, const std::array<Vec3f, 3>& x,
              const std::array<Vec3f, 3>& anchors, const Vec4f& colour) {
  addFacet(mesh, x, colour);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t n = (k + 1) % 3;
    const Vec3f wall = (x[k] + x[n] + anchors[k] + anchors[n]) / 4;
    for (const Vec3f& end : {x[k], x[n], x[k], anchors[k]}) edges.points.push_back(end);
    if (anchors[k] == anchors[n]) {
      addFacet(mesh, {x[n], x[k], anchors[k]}, colour);
      continue;
    }
    addFacet(mesh, {x[n], x[k], wall}, colour);
    addFacet(mesh, {x[k], anchors[k], wall}, colour);
    addFacet(mesh, {anchors[k], anchors[n], wall}, colour);
    addFacet(mesh, {anchors[n], x[n], wall}, colour);
  }
  addFacet(mesh, {anchors[2], anchors[1], anchors[0]}, colour);
}

/// How often a triangle was cut in four, from the number of its pieces. Triangles that are only cut
/// to meet finer neighbours count as what they would be without them.
std::size_t levelOf(std::size_t pieces) {
  std::size_t level = 0;
  for (; pieces >= 4 && level + 1 < kLevelPalette.size(); pieces /= 4) ++level;
  return level;
}

std::string cutName(std::size_t level) {
  constexpr std::array<const char*, kLevelPalette.size()> kNames = {
      "not cut", "cut in 4", "cut in 16", "cut in 64", "cut in 256"};
  return kNames[level];
}

}  // namespace

Result<LayerDiagram> LayerDiagram::make(const Scene& scene, Diagram kind) {
  LayerDiagram out(scene, kind);
  if (kind == Diagram::Levels) {
    DERM_CHECK(out.countPieces(scene));
  } else {
    DERM_CHECK(out.divide(scene));
  }
  return out;
}

Result<void> LayerDiagram::divide(const Scene& scene) {
  const VolumeLayerBinding* layer = nullptr;
  for (const std::shared_ptr<const LayerBinding>& binding : scene.stack().layers())
    if (layer == nullptr) layer = dynamic_cast<const VolumeLayerBinding*>(binding.get());
  if (layer == nullptr)
    return Error{ErrorCode::BadArgument,
                 "regions and prisms are a volume layer's: there is none",
                 {.element = scene.character()->name}};
  Diagnostics said_already;  // by the layer
  const TriMesh& rest = input_->rest;
  measured_ = makeMeasuredSurface(rest.positions, rest.triangles, "mesh", said_already);
  DERM_TRY(regions_, VolumeRegions::bind(measured_, rest, scene.character()->skeleton, input_->skin,
                                         layer->regionsDesc()));
  if (kind_ == Diagram::Regions) {
    for (const VolumeRegion& region : regions_.regions)
      keys_.push_back({region.name, kPalette[keys_.size() % kPalette.size()]});
    return {};
  }
  constexpr std::uint32_t kUnused = RegionJoint::kNone;
  key_of_joint_.assign(regions_.jointCount(), kUnused);
  for (const std::uint32_t anchor : regions_.anchor) key_of_joint_[anchor] = 0;
  for (std::size_t j = 0; j < key_of_joint_.size(); ++j) {
    if (key_of_joint_[j] == kUnused) continue;
    key_of_joint_[j] = static_cast<std::uint32_t>(keys_.size());
    const JointId joint = regions_.joints[j].joint;
    keys_.push_back({joint.valid() ? scene.character()->skeleton[joint].name : "middle",
                     kPalette[keys_.size() % kPalette.size()]});
  }
  return {};
}

Result<void> LayerDiagram::countPieces(const Scene& scene) {
  const BoundSurface& output = scene.stack().output();
  if (output.source_triangles.empty())
    return Error{ErrorCode::BadArgument,
                 "no layer refines the surface: there are no levels",
                 {.element = scene.character()->name}};
  source_count_ = scene.character()->mesh.triangles.size();
  levels_ = levelsOf(output.rest.triangles, output.source_triangles);
  for (std::size_t l = 0; l < kLevelPalette.size(); ++l)
    if (levels_.begin[l] < levels_.begin[l + 1]) keys_.push_back({cutName(l), kLevelPalette[l]});
  return {};
}

LayerDiagram::Levels LayerDiagram::levelsOf(std::span<const Triangle> triangles,
                                            std::span<const std::uint32_t> sources) const {
  std::vector<std::size_t> pieces(source_count_, sources.empty() ? 1 : 0);
  for (const std::uint32_t source : sources) ++pieces[source];
  std::array<std::vector<Triangle>, kLevelPalette.size()> sorted;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    sorted[levelOf(pieces[sources.empty() ? t : sources[t]])].push_back(triangles[t]);
  Levels out;
  for (const std::vector<Triangle>& level : sorted) {
    out.begin.push_back(static_cast<std::uint32_t>(out.triangles.size()));
    out.triangles.insert(out.triangles.end(), level.begin(), level.end());
  }
  out.begin.push_back(static_cast<std::uint32_t>(out.triangles.size()));
  return out;
}

void LayerDiagram::add(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                       const Scene& scene) const {
  switch (kind_) {
    case Diagram::None:
      list.surfaces.push_back(std::move(surface));
      return;
    case Diagram::Regions:
      return addRegions(list, std::move(surface));
    case Diagram::Prisms:
      return addPrisms(list, std::move(surface), scene);
    case Diagram::Levels:
      return addLevels(list, std::move(surface), frame);
  }
}

/// Colours mixed by membership: borders are as soft as they are.
void LayerDiagram::addRegions(DrawList& list, DrawSurface surface) const {
  const std::size_t n = input_->rest.vertexCount();
  std::vector<Vec4f> colours(n, Vec4f::Zero());
  for (std::size_t v = 0; v < n; ++v) {
    const std::uint32_t point = measured_.welded_of_vertex[v];
    const auto regions = regions_.membership.columnsOf(point);
    const auto shares = regions_.membership.sharesOf(point);
    for (std::size_t k = 0; k < regions.size(); ++k)
      colours[v] += static_cast<float>(shares[k]) * colourOf(regions[k]);
  }
  surface.positions = surface.positions.first(n);
  surface.normals = surface.normals.first(n);
  surface.uvs = {};
  surface.colours = list.keep(std::move(colours));
  surface.triangles = input_->rest.triangles;
  surface.parts = {
      {0, static_cast<std::uint32_t>(surface.triangles.size()), flatMaterial(Vec4f::Ones())}};
  addWireframe(list, surface.positions, surface.triangles,
               {.colour = Vec4f(0.03f, 0.05f, 0.09f, 0.22f), .width_px = 0.8f});
  list.surfaces.push_back(std::move(surface));
}

void LayerDiagram::addPrisms(DrawList& list, DrawSurface surface, const Scene& scene) const {
  surface.positions = surface.positions.first(input_->rest.vertexCount());
  surface.normals = surface.normals.first(surface.positions.size());
  std::vector<Vec3d> points(measured_.pointCount()), anchors(regions_.jointCount());
  measurePoints(measured_, surface.positions, Vec3d::Zero(), points);
  regions_.jointPositions(scene.playback().model(), anchors);
  TriMesh prisms;
  DrawLines edges;
  edges.width_px = 0.8f;
  edges.colours = {Vec4f(0.03f, 0.05f, 0.09f, 0.55f)};
  edges.towards_eye = 0.001f;
  const std::size_t stride = (measured_.triangles.size() + kPrismsShown - 1) / kPrismsShown;
  for (std::size_t i = 0; i < measured_.triangles.size(); i += stride) {
    const Triangle& t = measured_.triangles[i];
    std::array<Vec3f, 3> x, below;
    Vec4f colour = Vec4f::Zero();
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t joint = regions_.anchor[t[k]];
      x[k] = points[t[k]].cast<float>();
      below[k] = anchors[joint].cast<float>();
      colour += colourOf(key_of_joint_[joint]) / 3;
    }
    addPrism(prisms, edges, x, below, colour);
  }
  list.lines.push_back(std::move(edges));
  list.surfaces.push_back(drawSurfaceOf(list.keep(std::move(prisms)), flatMaterial(Vec4f::Ones())));
  DrawPoints dots;
  dots.diameter_px = kAnchorDots_px;
  dots.outline_px = 1.5f;
  dots.on_top = true;
  for (std::size_t j = 0; j < anchors.size(); ++j) {
    if (key_of_joint_[j] == RegionJoint::kNone) continue;
    dots.positions.push_back(anchors[j].cast<float>());
    dots.colours.push_back(colourOf(key_of_joint_[j]));
  }
  list.points.push_back(std::move(dots));
  surface.triangles = input_->rest.triangles;
  surface.uvs = {};
  showInOneColour(surface, Vec4f(0.85f, 0.87f, 0.9f, 1.0f));
  surface.opacity = kSkinOpacity;
  surface.casts_shadow = false;  // on what is inside it
  list.surfaces.push_back(std::move(surface));
}

void LayerDiagram::addLevels(DrawList& list, DrawSurface surface, const SkinFrame& frame) const {
  std::vector<std::uint32_t> begin = levels_.begin;
  surface.triangles = levels_.triangles;
  if (frame.topology() != 0) {
    Levels now = levelsOf(frame.triangles(), frame.sourceTriangles());
    begin = std::move(now.begin);
    TriMesh home;
    home.triangles = std::move(now.triangles);
    surface.triangles = list.keep(std::move(home)).triangles;
  }
  surface.uvs = {};
  surface.colours = {};
  surface.parts.clear();
  for (std::size_t l = 0; l < kLevelPalette.size(); ++l)
    if (begin[l] < begin[l + 1])
      surface.parts.push_back(
          {begin[l], begin[l + 1] - begin[l], flatMaterial(linearColour(kLevelPalette[l]))});
  addWireframe(list, surface.positions, surface.triangles);
  list.surfaces.push_back(std::move(surface));
}

Rgba8Image LayerDiagram::legend() const {
  constexpr float kText_px = 15, kPad_px = 10, kSwatch_px = 14, kLine_px = 21;
  float text = 0;
  for (const Key& key : keys_) text = std::max(text, textWidth(key.name, kText_px));
  const float width = 3 * kPad_px + kSwatch_px + text;
  const float height = 2 * kPad_px + kLine_px * static_cast<float>(keys_.size()) - 5;
  Rgba8Image out(static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height)),
                 {0, 0, 0, 0});
  fillRoundRect(out, {0, 0, width, height}, 8, {255, 255, 255, 205});
  float top = kPad_px;
  for (const Key& key : keys_) {
    fillRoundRect(out, {kPad_px, top, kPad_px + kSwatch_px, top + kSwatch_px}, 3, key.colour);
    drawText(out, Vec2f(2 * kPad_px + kSwatch_px, top + kSwatch_px / 2 + 0.35f * kText_px),
             key.name, {.size_px = kText_px});
    top += kLine_px;
  }
  return out;
}

}  // namespace derm::detail
