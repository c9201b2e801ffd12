#include "derm/deform/wrinkles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "derm/base/number_text.h"

#include "deform/wrinkle_surface.h"

namespace derm {
namespace {

using detail::PatchInput;
using detail::PatchScratch;
using detail::WrinklePatch;
using detail::WrinkleSurface;

/// Share of the rest length by which a tool must be squeezed for its surface to be all smooth.
constexpr double kSmoothAt = 0.02;
/// Share of the rest length that may be missing before this is a warning.
constexpr double kShortOfLength = 0.01;
/// The frame's own triangles, uncut; other topologies count on from here.
constexpr std::uint64_t kUncut = 1;

/// All that can change while playing.
struct ToolTables {
  FoldCurve curve;
  std::vector<float> falloffs;  ///< one per influence of the tool
};

ToolTables makeTables(const WrinkleToolDesc& desc, FoldCurve curve, const WrinkleSurface& surface,
                      std::size_t tool) {
  ToolTables out{std::move(curve), std::vector<float>(surface.influence_counts[tool])};
  for (const WrinklePatch& patch : surface.patches) {
    if (std::find(patch.tools().begin(), patch.tools().end(), tool) == patch.tools().end())
      continue;
    for (const WrinklePatch::Influence& in : patch.influences())
      if (in.tool == tool)
        out.falloffs[in.ordinal] = in.facing * static_cast<float>(foldFalloff(
                                                   desc.falloff, static_cast<double>(in.across)));
  }
  return out;
}

Result<FoldCurve> curveOf(const WrinkleToolDesc& desc) {
  Result<FoldCurve> curve = FoldCurve::make(desc.curve);
  if (curve || desc.name.empty()) return curve;
  Error error = std::move(curve).error();
  error.where.element = "tool \"" + desc.name + "\" " + error.where.element;
  return error;
}

/// Same triangles, same influences: everything but the tables of ToolTables.
bool samePlacement(const WrinkleToolDesc& a, const WrinkleToolDesc& b) {
  return a.path == b.path && a.width_m == b.width_m && a.subdivide == b.subdivide &&
         a.defined_at == b.defined_at && a.curve.points == b.curve.points && a.length == b.length &&
         a.projection == b.projection;
}

bool samePlacement(const WrinklesDesc& a, const WrinklesDesc& b) {
  return std::equal(
      a.tools.begin(), a.tools.end(), b.tools.begin(), b.tools.end(),
      [](const WrinkleToolDesc& x, const WrinkleToolDesc& y) { return samePlacement(x, y); });
}

class WrinklesBinding final : public LayerBinding,
                              public std::enable_shared_from_this<WrinklesBinding> {
 public:
  WrinklesBinding(WrinklesDesc desc, std::shared_ptr<const WrinkleSurface> surface,
                  std::vector<ToolTables> tables)
      : LayerBinding(desc.name, "wrinkles"),
        desc_(std::move(desc)),
        surface_(std::move(surface)),
        tables_(std::move(tables)) {}

  std::shared_ptr<const BoundSurface> output() const override { return surface_->refined; }
  std::unique_ptr<Layer> makeLayer() const override;
  std::vector<std::string> masks() const override {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < tables_.size(); ++k) out.push_back(mask(k));
    return out;
  }
  /// The channel of a tool.
  const std::string& mask(std::size_t tool) const {
    const std::string& own = desc_.tools[tool].name;
    return own.empty() ? name() : own;
  }

  const WrinklesDesc& desc() const { return desc_; }
  const WrinkleSurface& surface() const { return *surface_; }
  const std::shared_ptr<const WrinkleSurface>& sharedSurface() const { return surface_; }
  const std::vector<ToolTables>& tables() const { return tables_; }

 private:
  WrinklesDesc desc_;
  std::shared_ptr<const WrinkleSurface> surface_;
  std::vector<ToolTables> tables_;
};

class FoldingLayer final : public WrinklesLayer {
 public:
  explicit FoldingLayer(std::shared_ptr<const WrinklesBinding> binding);

  std::size_t toolCount() const override { return tools_.size(); }
  const WrinkleToolState& tool(std::size_t index) const override { return tools_[index].state; }
  bool takeOver(const Layer& replaced) override;
  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override;
  void report(Diagnostics& notes) const override;

 private:
  /// A tool at work.
  struct Tool {
    WrinkleToolDesc desc;
    WrinkleToolState state;
    FoldCurve::Scratch scratch;
    std::vector<double> heights;
    std::vector<float> float_heights;
    double skin_length_m = 0;                    ///< along the skin, in the pose it was drawn in
    double drawn_length_m = 0;                   ///< the same, as the tool takes lengths
    std::vector<double> segments, lost, limits;  ///< [m] per coarsest segment
    // What was odd in all frames so far.
    std::size_t frames_saturated = 0, frames_held_back = 0;
    double max_missing_m = 0, max_held_back_m = 0;
    double max_held_back_share = 0;  ///< of the rest length
  };
  void setUp(std::size_t index);
  bool measureTools(std::span<const Vec3f> positions, double time_s) noexcept;
  void fold(std::size_t index, std::span<const Vec3f> positions,
            std::span<const Vec3f> normals) noexcept;
  void layRectangle(std::size_t index, std::span<const Vec3f> positions,
                    std::span<const Vec3f> normals) noexcept;
  float smoothingOf(const WrinklePatch& patch) const noexcept;
  bool active(const WrinklePatch& patch) const noexcept;
  void grow(bool adaptive, SkinFrame& skin) noexcept;
  void writeMasks(SkinFrame& skin) const noexcept;
  void chooseTriangles() noexcept;

  std::shared_ptr<const WrinklesBinding> binding_;
  std::vector<ToolTables> tables_;
  std::vector<std::vector<float>> falloffs_;  ///< of the tables, as patches read them
  std::vector<Tool> tools_;
  std::vector<std::span<const float>> curves_;  ///< per tool; empty where it does not fold
  std::vector<std::uint8_t> round_;             ///< per tool: FoldProfile::Round
  std::vector<detail::ToolRectangle> rectangles_;
  PatchScratch scratch_;
  // Adaptive topology: triangles outside, then each patch cut or whole.
  std::vector<std::uint8_t> cut_;
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> sources_;
  std::size_t triangle_count_ = 0;
  std::uint64_t topology_ = kUncut;
  bool listed_ = false;  ///< whether triangles_ belong to cut_
};

FoldingLayer::FoldingLayer(std::shared_ptr<const WrinklesBinding> binding)
    : binding_(std::move(binding)), tables_(binding_->tables()) {
  const WrinkleSurface& surface = binding_->surface();
  tools_.resize(tables_.size());
  curves_.resize(tables_.size());
  falloffs_.resize(tables_.size());
  round_.resize(tables_.size());
  rectangles_.resize(tables_.size());
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    tools_[k].desc = binding_->desc().tools[k];
    setUp(k);
  }
  for (const WrinklePatch& patch : surface.patches) patch.growScratch(scratch_);
  cut_.assign(surface.patches.size(), 0);
  if (surface.refined == nullptr) return;
  triangles_.resize(surface.refined->rest.triangles.size());
  sources_.resize(triangles_.size());
}

void FoldingLayer::setUp(std::size_t index) {
  Tool& tool = tools_[index];
  const FoldCurve& curve = tables_[index].curve;
  tool.scratch = curve.makeScratch();
  tool.heights.assign(curve.pointCount(), 0.0);
  tool.float_heights.assign(curve.pointCount(), 0.0f);
  const std::vector<double>& rest = binding_->surface().rest_segments[index];
  tool.skin_length_m = std::accumulate(rest.begin(), rest.end(), 0.0);
  tool.drawn_length_m = tool.desc.length == FoldLength::Chord
                            ? binding_->surface().rest_chords[index]
                            : tool.skin_length_m;
  for (std::vector<double>* values : {&tool.segments, &tool.lost, &tool.limits})
    values->assign(rest.size(), 0.0);
  round_[index] = curve.desc().profile == FoldProfile::Round ? 1 : 0;
  falloffs_[index] = tables_[index].falloffs;
}

bool FoldingLayer::takeOver(const Layer& replaced) {
  const auto* other = dynamic_cast<const FoldingLayer*>(&replaced);
  // Names of topologies are never used twice for one viewer.
  if (other != nullptr) topology_ = std::max(topology_, other->topology_);
  return other != nullptr;
}

/// Lengths of this instant; false where no tool folds.
bool FoldingLayer::measureTools(std::span<const Vec3f> positions, double time_s) noexcept {
  bool any = false;
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    Tool& tool = tools_[k];
    WrinkleToolState& state = tool.state;
    state = {.length_m = binding_->surface().lines[k].measure(positions, tool.segments)};
    if (tool.desc.length == FoldLength::Chord && state.length_m > 0) {
      const double chord = binding_->surface().lines[k].chord(positions);
      for (double& segment : tool.segments) segment *= chord / state.length_m;
      state.length_m = chord;
    }
    state.rest_length_m = detail::restLengthAt(tool.desc, tool.drawn_length_m, time_s);
    state.fold.spare = state.rest_length_m - state.length_m;
    curves_[k] = {};
    if (!(state.fold.spare > 0)) continue;
    curves_[k] = tool.float_heights;
    any = true;
  }
  return any;
}

/// The control curve of a tool for this instant.
void FoldingLayer::fold(std::size_t index, std::span<const Vec3f> positions,
                        std::span<const Vec3f> normals) noexcept {
  Tool& tool = tools_[index];
  WrinkleToolState& state = tool.state;
  const WrinkleSurface& surface = binding_->surface();
  const double grown = state.rest_length_m / tool.skin_length_m;
  for (std::size_t i = 0; i < tool.lost.size(); ++i)
    tool.lost[i] = grown * surface.rest_segments[index][i] - tool.segments[i];
  surface.lines[index].findLimits(positions, normals, tool.limits);
  state.fold = tables_[index].curve.evaluate(
      state.length_m, state.rest_length_m,
      {.segments = tool.segments, .lost = tool.lost, .limits = tool.limits}, tool.scratch,
      tool.heights);
  for (std::size_t p = 0; p < tool.heights.size(); ++p) {
    state.highest_m = std::max(state.highest_m, tool.heights[p]);
    tool.float_heights[p] = static_cast<float>(tool.heights[p]);
  }
  state.held_back = state.fold.held;
  state.held_back_m = state.fold.refused;
  tool.frames_held_back += state.held_back > 0;
  tool.max_held_back_m = std::max(tool.max_held_back_m, state.held_back_m);
  tool.max_held_back_share =
      std::max(tool.max_held_back_share, state.held_back_m / state.rest_length_m);
  tool.frames_saturated += state.fold.saturated;
  tool.max_missing_m = std::max(tool.max_missing_m, state.fold.missing);
}

/// Where a tool that is projected anew lies in this frame.
void FoldingLayer::layRectangle(std::size_t index, std::span<const Vec3f> positions,
                                std::span<const Vec3f> normals) noexcept {
  detail::ToolRectangle& r = rectangles_[index];
  const WrinkleToolDesc& desc = tools_[index].desc;
  r.on = false;
  if (desc.projection == FoldProjection::Fixed || desc.path.size() != 2) return;
  const detail::PlacedTool& placed = binding_->surface().tools[index];
  r.from = placed.a().at(positions);
  const Vec3f way = placed.b().at(positions) - r.from;
  r.length_m = way.norm();
  if (!(r.length_m > 0)) return;
  r.along = way / r.length_m;
  const Vec3f mean = placed.a().at(normals) + placed.b().at(normals);
  const Vec3f up = mean - mean.dot(r.along) * r.along;
  if (!(up.norm() > 1e-6f)) return;
  r.up = up.normalized();
  r.across = r.along.cross(r.up);
  r.half_width_m = static_cast<float>(placed.halfWidth());
  r.falloff = desc.falloff;
  r.on = true;
}

bool FoldingLayer::active(const WrinklePatch& patch) const noexcept {
  return std::any_of(patch.tools().begin(), patch.tools().end(),
                     [&](std::uint32_t k) { return !curves_[k].empty(); });
}

float FoldingLayer::smoothingOf(const WrinklePatch& patch) const noexcept {
  double share = 0;
  for (const std::uint32_t k : patch.tools())
    share =
        std::max(share, tools_[k].state.fold.spare / (kSmoothAt * tools_[k].state.rest_length_m));
  share = std::clamp(share, 0.0, 1.0);
  return static_cast<float>(share * share * (3 - 2 * share));
}

/// Rewrites the list where other patches fold than in the frame before.
void FoldingLayer::chooseTriangles() noexcept {
  const WrinkleSurface& surface = binding_->surface();
  const std::vector<Triangle>& whole = surface.input->rest.triangles;
  const BoundSurface& refined = *surface.refined;
  bool same = listed_;
  for (std::size_t i = 0; i < cut_.size(); ++i) {
    const std::uint8_t now = active(surface.patches[i]) ? 1 : 0;
    same = same && cut_[i] == now;
    cut_[i] = now;
  }
  if (same) return;
  listed_ = true;
  ++topology_;
  std::size_t fine = surface.outside.size();
  std::copy_n(refined.rest.triangles.begin(), fine, triangles_.begin());
  std::copy_n(refined.source_triangles.begin(), fine, sources_.begin());
  triangle_count_ = fine;
  const std::vector<std::uint32_t>& sources = surface.input->source_triangles;
  for (std::size_t i = 0; i < cut_.size(); ++i) {
    const LocalRefinement& patch = surface.patches[i].refinement();
    if (cut_[i] != 0) {
      std::copy_n(refined.rest.triangles.begin() + static_cast<std::ptrdiff_t>(fine),
                  patch.triangles.size(),
                  triangles_.begin() + static_cast<std::ptrdiff_t>(triangle_count_));
      std::copy_n(refined.source_triangles.begin() + static_cast<std::ptrdiff_t>(fine),
                  patch.triangles.size(),
                  sources_.begin() + static_cast<std::ptrdiff_t>(triangle_count_));
      triangle_count_ += patch.triangles.size();
    } else {
      for (const std::uint32_t t : patch.replaced) {
        triangles_[triangle_count_] = whole[t];
        sources_[triangle_count_++] = sources.empty() ? t : sources[t];
      }
    }
    fine += patch.triangles.size();
  }
}

/// Goes on to the refined surface; added vertices are still to be written.
void FoldingLayer::grow(bool adaptive, SkinFrame& skin) noexcept {
  const WrinkleSurface& surface = binding_->surface();
  if (surface.refined == nullptr) return;
  if (!adaptive) {
    skin.refine(surface.refined->rest, surface.refined->normals);
    return;
  }
  chooseTriangles();
  std::size_t count = skin.vertexCount();
  for (std::size_t i = 0; i < cut_.size(); ++i)
    if (cut_[i] != 0) count = std::max<std::size_t>(count, surface.patches[i].endNew());
  skin.refine({.vertex_count = count,
               .triangles = std::span(triangles_).first(triangle_count_),
               .source_triangles = std::span(sources_).first(triangle_count_),
               .topology = topology_});
  // Vertices that no triangle uses must be somewhere.
  for (std::size_t i = 0; i < cut_.size(); ++i) {
    const WrinklePatch& patch = surface.patches[i];
    if (cut_[i] != 0 || patch.endNew() > count) continue;
    for (std::size_t v = patch.firstNew(); v < patch.endNew(); ++v) {
      skin.positions()[v] = skin.positions()[patch.anchor()];
      skin.normals()[v] = skin.normals()[patch.anchor()];
      if (!skin.tangents().empty()) skin.tangents()[v] = skin.tangents()[patch.anchor()];
    }
  }
}

/// What each vertex takes part in the folds, whether there are any or not.
void FoldingLayer::writeMasks(SkinFrame& skin) const noexcept {
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const std::span<float> channel = skin.channel(binding_->mask(k));
    if (channel.empty()) continue;
    for (const WrinklePatch& patch : binding_->surface().patches)
      patch.writeMask(static_cast<std::uint32_t>(k), tables_[k].falloffs, channel);
  }
}

void FoldingLayer::evaluate(const FrameInput& in, SkinFrame& skin) noexcept {
  const WrinkleSurface& surface = binding_->surface();
  const bool folds =
      measureTools(skin.isRest() ? std::span<const Vec3f>(surface.input->rest.positions)
                                 : std::span<const Vec3f>(skin.positions()),
                   in.time_s);
  const bool adaptive = in.adaptive_topology && surface.refined != nullptr;
  if (!folds && (adaptive || surface.refined == nullptr)) {
    if (adaptive)
      skin.refine({.vertex_count = skin.vertexCount(),
                   .triangles = surface.input->rest.triangles,
                   .source_triangles = surface.input->source_triangles,
                   .topology = kUncut});
    writeMasks(skin);
    return;
  }
  skin.materialise();
  skin.updateNormals();
  for (std::size_t k = 0; k < tools_.size(); ++k)
    if (!curves_[k].empty()) fold(k, skin.positions(), skin.normals());
  for (std::size_t k = 0; k < tools_.size(); ++k)
    if (!curves_[k].empty()) layRectangle(k, skin.positions(), skin.normals());
  grow(adaptive, skin);
  const SurfaceOutput streams{skin.positions(), skin.normals(), skin.tangents()};
  for (const WrinklePatch& patch : surface.patches) {
    PatchInput input{.smoothing = smoothingOf(patch),
                     .curves = {},
                     .round = round_,
                     .falloffs = falloffs_,
                     .rectangles = rectangles_};
    if (active(patch))
      input.curves = curves_;
    else if (adaptive || patch.refinement().vertices.empty())
      continue;
    patch.evaluate(input, scratch_, streams);
  }
  writeMasks(skin);
}

void FoldingLayer::report(Diagnostics& notes) const {
  const auto percent = [](double x) { return std::to_string(std::lround(100 * x)) + " %"; };
  for (const Tool& tool : tools_) {
    if (tool.frames_saturated > 0)
      notes.info("wrinkles-saturated", tool.desc.name,
                 "all bumps were at h_max_m in " + std::to_string(tool.frames_saturated) +
                     " frames" +
                     (tool.max_missing_m > 0
                          ? "; up to " + millimetres(tool.max_missing_m) + " of length are missing"
                          : "; they grew beyond it"));
    if (tool.frames_held_back == 0) continue;
    const std::string met = "crests met their neighbours in " +
                            std::to_string(tool.frames_held_back) + " frames and stopped; ";
    if (tool.max_held_back_share <= kShortOfLength)
      notes.info("wrinkles-contact", tool.desc.name,
                 met + (tool.max_held_back_m > 0
                            ? millimetres(tool.max_held_back_m) + " of length are missing at most"
                            : "others took up their length"));
    else
      notes.warn("wrinkles-contact", tool.desc.name,
                 met + "up to " + millimetres(tool.max_held_back_m) + " of length (" +
                     percent(tool.max_held_back_share) +
                     ") found no room: take a longer stroke, more points or a wider crease");
  }
}

std::unique_ptr<Layer> WrinklesBinding::makeLayer() const {
  return std::make_unique<FoldingLayer>(shared_from_this());
}

BindResult bindWrinkles(const std::string&, const WrinklesDesc& desc, const BindInput& input) {
  std::vector<FoldCurve> curves;
  for (const WrinkleToolDesc& tool : desc.tools) {
    DERM_TRY(FoldCurve curve, curveOf(tool));
    curves.push_back(std::move(curve));
  }
  std::shared_ptr<const WrinkleSurface> surface;
  const auto* before = dynamic_cast<const WrinklesBinding*>(input.previous.get());
  if (before != nullptr && samePlacement(before->desc(), desc)) {
    for (const WrinkleToolDesc& tool : desc.tools) DERM_CHECK(detail::checkRestLength(tool));
    surface = before->sharedSurface();
  } else {
    std::optional<detail::LaidTools> laid;
    if (before != nullptr) laid.emplace(detail::LaidTools{before->desc(), before->surface()});
    DERM_TRY(WrinkleSurface made,
             detail::makeWrinkleSurface(desc, curves, *input.character, input.surface,
                                        laid ? &*laid : nullptr, input.notes));
    surface = std::make_shared<const WrinkleSurface>(std::move(made));
  }
  std::vector<ToolTables> tables;
  for (std::size_t k = 0; k < curves.size(); ++k)
    tables.push_back(makeTables(desc.tools[k], std::move(curves[k]), *surface, k));
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<WrinklesBinding>(desc, std::move(surface), std::move(tables)));
}

}  // namespace

double foldFalloff(FoldFalloff falloff, double z) {
  const double z2 = z * z;
  if (!(z2 <= 1)) return 0;
  if (falloff == FoldFalloff::None) return 1;
  if (falloff == FoldFalloff::Linear) return 1 - std::abs(z);
  return std::clamp(1 + z2 * (-22 + z2 * (17 - 4 * z2)) / 9, 0.0, 1.0);
}

LayerFactory wrinklesLayer(WrinklesDesc desc) {
  std::string name = desc.name;
  return {std::move(name), std::move(desc), bindWrinkles};
}

}  // namespace derm
