#include "view/layer_diagram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "derm/deform/flesh.h"
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
constexpr std::size_t kJointsNamed = 12;
constexpr float kCorrectionRounding = 2e-6f;
constexpr std::array<const char*, 3> kAxisNames = {"along x", "along y", "along z"};
constexpr std::array<Rgba8, 3> kAxisColours = {
    {{255, 40, 40, 255}, {40, 255, 40, 255}, {40, 40, 255, 255}}};
constexpr Rgba8 kNoFlesh = {206, 208, 212, 255}, kAllFlesh = {206, 62, 52, 255};
constexpr Rgba8 kRestFrame = {36, 84, 190, 255}, kSwingingFrame = {18, 138, 84, 255};

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

Result<LayerDiagram> LayerDiagram::make(Scene& scene, Diagram kind) {
  LayerDiagram out(scene, kind);
  switch (kind) {
    case Diagram::None:
    case Diagram::Gamma:  // a heat-map
      break;
    case Diagram::Regions:
    case Diagram::Prisms:
      DERM_CHECK(out.divide(scene));
      break;
    case Diagram::Levels:
      DERM_CHECK(out.countPieces(scene));
      break;
    case Diagram::Flesh:
      DERM_CHECK(out.findFlesh(scene));
      break;
    case Diagram::Weights:
      DERM_CHECK(out.colourJoints(scene));
      break;
    case Diagram::Correction:
      for (std::size_t axis = 0; axis < 3; ++axis)
        out.keys_.push_back({kAxisNames[axis], kAxisColours[axis]});
      break;
  }
  return out;
}

Result<void> LayerDiagram::findFlesh(Scene& scene) {
  for (const std::shared_ptr<const LayerBinding>& binding : scene.stack().layers())
    if (binding->type() == "flesh") elements_.push_back(binding->name());
  if (elements_.empty())
    return Error{ErrorCode::BadArgument,
                 "there is no flesh layer whose weights could be shown",
                 {.element = scene.character()->name}};
  DERM_CHECK(scene.keepChannels(elements_));
  keys_ = {{"weight 0", kNoFlesh},
           {"weight 1", kAllFlesh},
           {"frame at rest", kRestFrame},
           {"swinging frame", kSwingingFrame}};
  return {};
}

Result<void> LayerDiagram::colourJoints(const Scene& scene) {
  const Character& character = *scene.character();
  const Skin& skin = scene.stack().output().skin;
  if (!character.hasSkin() || skin.slots.empty())
    return Error{
        ErrorCode::BadArgument, "has no skin, so no weights to show", {.element = character.name}};
  // Joints that move something get a colour in the order of the skeleton, so that neighbours
  // differ.
  std::vector<double> share(skin.slots.size(), 0.0);
  for (std::size_t v = 0; v < skin.vertexCount(); ++v)
    for (const Influence& i : skin[v]) share[i.slot] += double{i.weight};
  std::vector<std::size_t> slots;
  for (std::size_t s = 0; s < share.size(); ++s)
    if (share[s] > 0) slots.push_back(s);
  std::sort(slots.begin(), slots.end(), [&](std::size_t a, std::size_t b) {
    return skin.slots[a].joint.index() < skin.slots[b].joint.index();
  });
  std::vector<Vec4f> of_slot(share.size(), Vec4f::Zero());
  for (std::size_t i = 0; i < slots.size(); ++i)
    of_slot[slots[i]] = linearColour(kPalette[i % kPalette.size()]);
  colours_.assign(skin.vertexCount(), Vec4f::Zero());
  for (std::size_t v = 0; v < skin.vertexCount(); ++v)
    for (const Influence& i : skin[v]) colours_[v] += i.weight * of_slot[i.slot];
  // The legend has room for those that move most.
  std::vector<std::size_t> named = slots;
  std::stable_sort(named.begin(), named.end(),
                   [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
  named.resize(std::min(named.size(), kJointsNamed));
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (std::find(named.begin(), named.end(), slots[i]) != named.end())
      keys_.push_back(
          {character.skeleton[skin.slots[slots[i]].joint].name, kPalette[i % kPalette.size()]});
  return {};
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
  for (const std::uint32_t source : sources)
    if (source < pieces.size()) ++pieces[source];
  std::array<std::vector<Triangle>, kLevelPalette.size()> sorted;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    // Triangles of a layer that does not say where they came from count as not cut.
    const std::size_t source = t < sources.size() ? sources[t] : t;
    const std::size_t level = source < pieces.size() ? levelOf(pieces[source]) : 0;
    sorted[level].push_back(triangles[t]);
  }
  Levels out;
  for (const std::vector<Triangle>& level : sorted) {
    out.begin.push_back(static_cast<std::uint32_t>(out.triangles.size()));
    out.triangles.insert(out.triangles.end(), level.begin(), level.end());
  }
  out.begin.push_back(static_cast<std::uint32_t>(out.triangles.size()));
  return out;
}

void LayerDiagram::add(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                       const SkinFrame* linear, const Scene& scene) const {
  switch (kind_) {
    case Diagram::None:
    case Diagram::Gamma:
      list.surfaces.push_back(std::move(surface));
      return;
    case Diagram::Flesh:
      return addFlesh(list, std::move(surface), frame, scene);
    case Diagram::Weights:
      return addWeights(list, std::move(surface));
    case Diagram::Correction:
      return addCorrection(list, std::move(surface), frame, linear == nullptr ? frame : *linear);
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

namespace {

/// Colours of its own on all of a surface.
void showColours(DrawList& list, DrawSurface& surface, std::vector<Vec4f> colours) {
  colours.resize(surface.positions.size(), Vec4f::Ones());
  surface.uvs = {};
  surface.colours = list.keep(std::move(colours));
  surface.parts = {
      {0, static_cast<std::uint32_t>(surface.triangles.size()), flatMaterial(Vec4f::Ones())}};
}

/// Three strokes from a frame's origin.
void addAxes(DrawList& list, const Affine3d& frame, double length_m, const Vec4f& colour) {
  DrawLines axes;
  axes.width_px = 3;
  axes.on_top = true;
  axes.colours = {colour};
  const Vec3d origin = frame.translation();
  for (int axis = 0; axis < 3; ++axis) {
    axes.points.push_back(origin.cast<float>());
    axes.points.push_back(Vec3d(origin + length_m * frame.linear().col(axis)).cast<float>());
  }
  list.lines.push_back(std::move(axes));
  DrawPoints dot;
  dot.diameter_px = kAnchorDots_px;
  dot.outline_px = 1.5f;
  dot.on_top = true;
  dot.positions = {origin.cast<float>()};
  dot.colours = {colour};
  list.points.push_back(std::move(dot));
}

}  // namespace

void LayerDiagram::addFlesh(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                            const Scene& scene) const {
  std::vector<float> alpha(surface.positions.size(), 0.0f);
  for (const std::string& element : elements_) {
    const std::span<const float> mask = frame.channel(element);
    for (std::size_t v = 0; v < std::min(mask.size(), alpha.size()); ++v)
      alpha[v] = std::max(alpha[v], mask[v]);
  }
  const Vec4f none = linearColour(kNoFlesh), all = linearColour(kAllFlesh);
  std::vector<Vec4f> colours;
  for (const float a : alpha) colours.emplace_back((1 - a) * none + a * all);
  showColours(list, surface, std::move(colours));
  list.surfaces.push_back(std::move(surface));
  for (const std::string& element : elements_) {
    const auto* layer = scene.playback().find<FleshLayer>(element);
    if (layer == nullptr) continue;
    const FleshFrames f = layer->frames();
    DrawLines bone;
    bone.width_px = 2;
    bone.on_top = true;
    bone.colours = {Vec4f(0.05f, 0.05f, 0.06f, 0.8f)};
    bone.points = {f.bone_from.cast<float>(), f.bone_to.cast<float>()};
    list.lines.push_back(std::move(bone));
    const double length = 0.25 * (f.bone_to - f.bone_from).norm();
    addAxes(list, f.at_rest, length, linearColour(kRestFrame));
    addAxes(list, f.swinging, length, linearColour(kSwingingFrame));
  }
}

void LayerDiagram::addWeights(DrawList& list, DrawSurface surface) const {
  showColours(list, surface, colours_);
  list.surfaces.push_back(std::move(surface));
}

void LayerDiagram::addCorrection(DrawList& list, DrawSurface surface, const SkinFrame& frame,
                                 const SkinFrame& linear) const {
  const std::size_t n = std::min(frame.positions().size(), linear.positions().size());
  std::vector<Vec3f> moved(surface.positions.size(), Vec3f::Zero());
  float most = 0;
  for (std::size_t v = 0; v < std::min(n, moved.size()); ++v) {
    moved[v] = (frame.positions()[v] - linear.positions()[v]).cwiseAbs();
    // Rounding is not drawn as a correction.
    if (moved[v].maxCoeff() < kCorrectionRounding * linear.positions()[v].cwiseAbs().maxCoeff())
      moved[v].setZero();
    most = std::max(most, moved[v].maxCoeff());
  }
  const float scale = most > 0 ? 1 / most : 0.0f;
  std::vector<Vec4f> colours;
  for (const Vec3f& m : moved) {
    constexpr float kDark = 0.03f;  // what stays is nearly black, as on a screen without light
    const Vec3f rgb = Vec3f::Constant(kDark) + (1 - kDark) * scale * m;
    colours.emplace_back(rgb.x(), rgb.y(), rgb.z(), 1.0f);
  }
  showColours(list, surface, std::move(colours));
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
