#include "capi/scene_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "derm/base/nearest_name.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/face_features.h"
#include "derm/face/face_regions.h"
#include "derm/face/head_shapes.h"
#include "derm/io/file_ending.h"
#include "derm/mesh/surface_point.h"
#include "derm/scene/bake.h"
#include "derm/scene/recipe_text.h"

namespace derm::detail::capi {
namespace {

/// [s] An instant further ahead than this does not follow the one before.
constexpr double kFollows_s = 0.25;

double nowSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::string> textsOf(const Diagnostics& notes) {
  std::vector<std::string> out;
  for (const Diagnostics::Note& note : notes.notes()) out.push_back(note.text());
  return out;
}

/// Of the character's file the line of the recipe is the one to mend where nothing is there.
Error ofCharacterKey(const Recipe& recipe, Error error) {
  const bool nowhere = error.code == ErrorCode::CannotRead || error.code == ErrorCode::BadArgument;
  if (!nowhere) return error;
  return Error{ErrorCode::BadData, error.text(), recipe.where("character")};
}

Result<std::shared_ptr<const Character>> openOwn(const Recipe& recipe, Diagnostics& notes) {
  if (recipe.character.empty())
    return Error{ErrorCode::BadData, "missing: no character is named", recipe.where("character")};
  ImportOptions import;
  import.metres_per_unit = recipe.metres_per_unit;
  Result<Character> opened = openCharacter(
      recipe.character, std::filesystem::path(recipe.origin.file).parent_path(), import, notes);
  if (!opened) return ofCharacterKey(recipe, std::move(opened).error());
  return std::make_shared<const Character>(*std::move(opened));
}

/// Whether a layer brings something into the character.
bool brings(const RecipeLayer& layer) {
  const LayerType* type = builtInLayerTypes().find(layer.type);
  if (!layer.enabled || type == nullptr) return false;
  const std::unique_ptr<LayerParameters> parameters = type->make();
  const Result<void> read =
      readFields(layer.keys, "", layer.name, [&](RecipeFields& f) { parameters->fields(f); });
  return read.ok() && parameters->changesCharacter();
}

/// Whether layers bring the same into the character, in the same order.
bool bringTheSame(const Recipe& a, const Recipe& b) {
  // Most edits change one layer: what is the same at both ends need not be asked.
  const auto [first, first_b] =
      std::mismatch(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end());
  const auto rest_a = std::make_reverse_iterator(first),
             rest_b = std::make_reverse_iterator(first_b);
  const auto [last, last_b] = std::mismatch(a.layers.rbegin(), rest_a, b.layers.rbegin(), rest_b);
  std::vector<RecipeLayer> of_a, of_b;
  std::copy_if(first, last.base(), std::back_inserter(of_a), brings);
  std::copy_if(first_b, last_b.base(), std::back_inserter(of_b), brings);
  return of_a == of_b;
}

/// Whether Scene::change() takes the one for the other: the same character and motion.
bool samePlayers(const Recipe& a, const Recipe& b) {
  return a.character == b.character && a.metres_per_unit == b.metres_per_unit &&
         a.motion == b.motion && a.motion_map == b.motion_map && a.ground == b.ground &&
         a.arms_out == b.arms_out && a.face == b.face;
}

bool finite(const Pose& pose) {
  const auto good = [](float v) { return std::isfinite(v); };
  for (const Transform& t : pose.local)
    if (!t.translation.allFinite() || !t.rotation.coeffs().allFinite() || !t.scale.allFinite())
      return false;
  return std::all_of(pose.morph_weights.begin(), pose.morph_weights.end(), good) &&
         std::all_of(pose.controls.begin(), pose.controls.end(), good);
}

Error badArgument(std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {}};
}

Error severalFiles() { return badArgument("the bake makes several files: take glb, pc2 or mdd"); }

}  // namespace

Result<std::unique_ptr<Session>> Session::open(std::shared_ptr<const MemoryFiles> files,
                                               std::string text, std::string name) {
  std::unique_ptr<Session> session(new Session);
  session->files_ = files != nullptr ? std::move(files) : std::make_shared<const MemoryFiles>();
  session->name_ = std::move(name);
  const FileOverlay overlay(*session->files_);
  Diagnostics notes;
  DERM_TRY(const Recipe recipe, parseRecipe(text, session->name_));
  DERM_TRY(session->own_, openOwn(recipe, notes));
  DERM_TRY(Scene scene, session->opened(recipe, session->own_, notes));
  session->text_ = std::move(text);
  session->scene_ = std::move(scene);
  session->notes_ = textsOf(notes);
  session->seek(session->scene_->frameTimes().front());
  return session;
}

Result<Scene> Session::opened(const Recipe& recipe, std::shared_ptr<const Character> own,
                              Diagnostics& notes) const {
  return openScene(recipe, {.character = std::move(own)}, notes);
}

Result<std::shared_ptr<const Character>> Session::inUnitOf(const Recipe& recipe,
                                                           Diagnostics& notes) const {
  DERM_TRY(std::shared_ptr<const Character> fresh, openOwn(recipe, notes));
  if (fresh->mesh.vertexCount() != own_->mesh.vertexCount() ||
      fresh->mesh.triangles != own_->mesh.triangles)
    return fresh;
  // Groups and points have no lengths; shapes have, and brought what their clips and instances say.
  auto changed = std::make_shared<Character>(*fresh);
  changed->mesh.groups = own_->mesh.groups;
  changed->points = own_->points;
  if (made_shapes_) {
    const double before = scene_->recipe().metres_per_unit.value_or(own_->import.metres_per_unit);
    const double after = recipe.metres_per_unit.value_or(fresh->import.metres_per_unit);
    Character scaled = *own_;
    scaleLengths(scaled, after / before);
    changed->morphs = std::move(scaled.morphs);
    changed->instances = std::move(scaled.instances);
    changed->parts = std::move(scaled.parts);
    changed->clips = std::move(scaled.clips);
    DERM_CHECK(validate(*changed));  // a wild unit makes numbers that are no floats
  }
  return std::shared_ptr<const Character>(std::move(changed));
}

// ----------------------------------------------------------------------------------------- edits

Result<EditReport> Session::setText(std::string text) {
  DERM_TRY(const Recipe recipe, parseRecipe(text, name_));
  return apply(recipe, std::move(text));
}

Result<EditReport> Session::setRecipe(const Recipe& recipe) {
  // Read anew: what edits of the text have moved has new lines and columns.
  DERM_TRY(EditedRecipe edited, editRecipe(text_, scene_->recipe(), recipe));
  return apply(edited.recipe, std::move(edited.text));
}

Result<EditReport> Session::apply(const Recipe& recipe, std::string text) {
  const double start_s = nowSeconds();
  const FileOverlay overlay(*files_);
  const Recipe& now = scene_->recipe();
  const std::shared_ptr<const Stack> before = scene_->sharedStack();
  EditReport report;
  Diagnostics notes;
  if (samePlayers(recipe, now) && bringTheSame(recipe, now)) {
    DERM_CHECK(scene_->change(recipe, notes));
  } else {
    std::shared_ptr<const Character> own = own_;
    const bool same_character = recipe.character == now.character;
    if (!same_character) {
      DERM_TRY(own, openOwn(recipe, notes));
    } else if (recipe.metres_per_unit != now.metres_per_unit) {
      DERM_TRY(own, inUnitOf(recipe, notes));
    }
    DERM_TRY(Scene scene, opened(recipe, own, notes));
    own_ = std::move(own);
    made_shapes_ = made_shapes_ && same_character;
    face_weights_.reset();
    scene_ = std::move(scene);
    live_.reset();
    live_playing_ = false;
    report.reopened = true;
  }
  text_ = std::move(text);
  const auto& old = before->layers();
  for (const auto& layer : scene_->stack().layers())
    if (std::find(old.begin(), old.end(), layer) == old.end())
      report.rebound.push_back(layer->name());
  goOn();
  report.ms = 1000 * (nowSeconds() - start_s);
  report.notes = textsOf(notes);
  return report;
}

Result<EditReport> Session::changeCharacter(std::shared_ptr<const Character> character) {
  const double start_s = nowSeconds();
  const FileOverlay overlay(*files_);
  EditReport report{.reopened = true};
  Diagnostics notes;
  DERM_TRY(Scene scene, opened(scene_->recipe(), character, notes));
  own_ = std::move(character);
  face_weights_.reset();
  scene_ = std::move(scene);
  live_.reset();
  live_playing_ = false;
  for (const auto& layer : scene_->stack().layers()) report.rebound.push_back(layer->name());
  goOn();
  report.ms = 1000 * (nowSeconds() - start_s);
  report.notes = textsOf(notes);
  return report;
}

Result<EditReport> Session::setGroup(std::string_view name, std::span<const float> strengths) {
  if (name.empty()) return badArgument("a vertex group needs a name");
  if (strengths.size() != own_->mesh.vertexCount())
    return badArgument(std::to_string(strengths.size()) + " strengths for " +
                       std::to_string(own_->mesh.vertexCount()) + " vertices");
  VertexGroup group{.name = std::string(name)};
  for (std::size_t v = 0; v < strengths.size(); ++v) {
    if (!(strengths[v] >= 0 && strengths[v] <= 1))
      return badArgument("strength of vertex " + std::to_string(v) + " is not in [0,1]");
    if (strengths[v] == 0) continue;
    group.vertices.push_back(static_cast<std::uint32_t>(v));
    group.strengths.push_back(strengths[v]);
  }
  auto changed = std::make_shared<Character>(*own_);
  std::vector<VertexGroup>& groups = changed->mesh.groups;
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const VertexGroup& g) { return g.name == name; });
  if (group.vertices.empty()) {
    if (at != groups.end()) groups.erase(at);
  } else if (at != groups.end()) {
    *at = std::move(group);
  } else {
    groups.push_back(std::move(group));
  }
  return changeCharacter(std::move(changed));
}

Result<EditReport> Session::setPoints(std::span<const PlacedPoint> points) {
  auto changed = std::make_shared<Character>(*own_);
  std::vector<LabelledPoint>& there = changed->points;
  for (const PlacedPoint& point : points) {
    if (point.label.empty()) return badArgument("a point needs a label");
    const auto at = std::find_if(there.begin(), there.end(),
                                 [&](const LabelledPoint& p) { return p.label == point.label; });
    if (point.triangle < 0) {
      if (at != there.end()) there.erase(at);
      continue;
    }
    const LabelledPoint placed{point.label,
                               {static_cast<std::uint32_t>(point.triangle), point.barycentric}};
    DERM_CHECK(validate(placed.point, changed->mesh.triangles.size(), point.label));
    if (at != there.end())
      *at = placed;
    else
      there.push_back(placed);
  }
  return changeCharacter(std::move(changed));
}

Result<EditReport> Session::addFaceShapes() {
  Diagnostics notes;
  auto changed = std::make_shared<Character>(*own_);
  DERM_TRY(const std::vector<MorphTarget> shapes, arkitShapes(*changed, notes));
  setShapes(*changed, shapes, notes);
  Result<EditReport> report = changeCharacter(std::move(changed));
  made_shapes_ = made_shapes_ || report.ok();
  return report;
}

void Session::goOn() {
  const std::shared_ptr<const Stack>& stack = scene_->sharedStack();
  const bool same_surface = linear_of_ != nullptr && &linear_of_->output() == &stack->output() &&
                            &linear_of_->input() == &stack->input();
  if (!same_surface) {
    linear_.reset();
    linear_of_.reset();  // it holds a whole stack, and a character
  }
  const std::vector<std::string> masks = scene_->stack().masks();
  std::erase_if(kept_channels_, [&](const std::string& name) {
    return std::find(masks.begin(), masks.end(), name) == masks.end();
  });
  if (!scene_->keepChannels(kept_channels_).ok()) kept_channels_.clear();
  if (live_ && live_rate_hz_ != scene_->recipe().inner_rate_hz) {
    makeLive();  // another clock: motion starts anew, as that of the clip does
  } else if (live_) {
    live_->change(scene_->sharedStack());
    live_->keepChannels(kept_channels_);
  }
  edited_ = true;
  unsettle();
}

void Session::makeLive() {
  live_rate_hz_ = scene_->recipe().inner_rate_hz;
  live_.emplace(scene_->sharedStack(), LiveDesc{.inner_rate_hz = live_rate_hz_});
  live_->keepChannels(kept_channels_);
  live_->reset(finitePose());
}

const Pose& Session::finitePose() {
  if (finite(pose_)) copyPose(pose_, finite_pose_);
  return finite_pose_;
}

void Session::unsettle() {
  if (!live_playing_) pose_ = scene_->playback().poseOf(time_s_);
  stale_ = true;
}

void Session::evaluateAgain() {
  if (live_playing_)
    took(live_->advance(0, finitePose()));
  else
    show(time_s_);
}

// --------------------------------------------------------------------------------------- playing

void Session::took(const SkinFrame& frame) {
  frame_ = &frame;
  stale_ = false;
  const std::shared_ptr<const Stack>& stack = scene_->sharedStack();
  if (sorted_stack_ == stack) return;
  const bool same = sorted_stack_ != nullptr && &sorted_stack_->output() == &stack->output();
  sorted_stack_ = stack;
  if (!same) sortTriangles();
}

void Session::seek(double time_s) {
  // An edit lets motion go on, for one who plays on. Who asks for the same instant again, or for
  // one that does not follow, gets the frame that playing straight through with the edit gives.
  if (edited_ && !(time_s > time_s_ && time_s - time_s_ <= kFollows_s)) {
    edited_ = false;
    scene_->playback().startAnew();
  }
  show(time_s);
}

void Session::show(double time_s) {
  layer_seconds_.assign(scene_->stack().layers().size(), 0.0);
  live_playing_ = false;
  took(scene_->playback().frameAt(time_s, layer_seconds_));
  time_s_ = time_s;
  copyPose(scene_->playback().pose(), pose_);
}

Result<void> Session::step(double dt_s) {
  if (!(dt_s >= 0) || !std::isfinite(dt_s)) return badArgument("a step of time is not negative");
  if (!finite(pose_)) return badArgument("the pose has a number that is not finite");
  if (!live_) {
    makeLive();
  } else if (!live_playing_) {
    live_->reset(pose_);  // the clip was played meanwhile: a cut
  }
  live_playing_ = true;
  layer_seconds_.assign(scene_->stack().layers().size(), 0.0);
  took(live_->advance(dt_s, finitePose()));
  return {};
}

Result<void> Session::reset() {
  if (!finite(pose_)) return badArgument("the pose has a number that is not finite");
  if (live_) live_->reset(pose_);
  return step(0);
}

Result<void> Session::sample(int clip, double time_s) {
  if (clip >= 0 && static_cast<std::size_t>(clip) >= character().clips.size())
    return badArgument("no clip " + std::to_string(clip) + "; there are " +
                       std::to_string(character().clips.size()));
  if (!std::isfinite(time_s)) return badArgument("the time is not finite");
  pose_ = character().restPose();
  if (clip >= 0)
    sampleClip(character().clips[static_cast<std::size_t>(clip)], static_cast<float>(time_s),
               pose_);
  return {};
}

Result<void> Session::holdControl(int control, double value) {
  if (control < 0 || static_cast<std::size_t>(control) >= character().controls.size())
    return badArgument("no control " + std::to_string(control) + "; there are " +
                       std::to_string(character().controls.size()));
  std::optional<float> held;
  if (std::isfinite(static_cast<float>(value))) held = static_cast<float>(value);
  scene_->playback().setControl(static_cast<std::size_t>(control), held);
  unsettle();
  return {};
}

// ------------------------------------------------------------------------------------- the frame

/// Viewers draw part by part; layers that refine give the pieces of one part anywhere.
void Session::sortTriangles() {
  ++topology_;
  const std::vector<Triangle>& all = surface().rest.triangles;
  const std::vector<std::uint32_t>& from = surface().source_triangles;
  const std::vector<MeshPart>& parts = character().parts;
  std::vector<std::uint32_t> part_of(character().mesh.triangles.size(), 0);
  for (std::size_t p = 0; p < parts.size(); ++p)
    std::fill_n(part_of.begin() + static_cast<std::ptrdiff_t>(parts[p].first_triangle),
                parts[p].triangle_count, static_cast<std::uint32_t>(p));
  const auto source = [&](std::size_t t) {
    return from.empty() ? static_cast<std::uint32_t>(t) : from[t];
  };
  std::vector<std::uint32_t> next(parts.size() + 1, 0);  // place of a part's next triangle
  for (std::size_t t = 0; t < all.size(); ++t) ++next[part_of[source(t)] + 1];
  part_ranges_.assign(2 * parts.size(), 0);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (next[p + 1] > 0) part_ranges_[2 * p] = next[p];
    part_ranges_[2 * p + 1] = next[p + 1];
    next[p + 1] += next[p];
  }
  triangles_.resize(all.size());
  sources_.resize(all.size());
  for (std::size_t t = 0; t < all.size(); ++t) {
    const std::uint32_t at = next[part_of[source(t)]]++;
    triangles_[at] = all[t];
    sources_[at] = source(t);
  }
}

Result<std::span<const Vec3f>> Session::linearPositions() {
  if (!linear_) {
    DERM_TRY(std::shared_ptr<const Stack> plain, scene_->linearReferenceStack());
    linear_.emplace(std::move(plain));
    linear_of_ = scene_->sharedStack();
  }
  return linear_->evaluate(pose_, time_s_).positions();
}

std::span<const float> Session::jointMatrices() {
  const Skeleton& skeleton = character().skeleton;
  std::vector<Affine3d> model(skeleton.size());
  localToModel(skeleton, pose_.local, model);
  matrices_.resize(16 * model.size());
  for (std::size_t j = 0; j < model.size(); ++j) {
    Eigen::Map<Eigen::Matrix4f> out(matrices_.data() + 16 * j);
    out.setIdentity();
    out.topRows<3>() = model[j].matrix().topRows<3>().cast<float>();
  }
  return matrices_;
}

std::span<const float> Session::pointPositions() {
  const std::vector<LabelledPoint>& points = character().points;
  points_.resize(3 * points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    // Vertices of the character keep their numbers in every surface.
    const Vec3f p = positionAt(points[i].point, character().mesh.triangles, frame().positions());
    std::copy_n(p.data(), 3, points_.data() + 3 * i);
  }
  return points_;
}

Result<void> Session::fillChannel(std::string_view name) {
  const std::size_t count = frame().vertexCount();
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
  channel_.assign(count, 0.0f);
  if (kind == "weight") {
    DERM_TRY(const JointId joint, character().skeleton.named(rest));
    const Skin& skin = surface().skin;
    for (std::size_t v = 0; v < std::min(count, skin.vertexCount()); ++v)
      for (const Influence& influence : skin[v])
        if (skin.slots[influence.slot].joint == joint) channel_[v] += influence.weight;
    return {};
  }
  if (kind == "group") {
    DERM_TRY(const VertexGroup* group,
             findGroup(surface().rest, {.text = std::string(rest), .where = {}}));
    for (std::size_t i = 0; i < group->vertices.size(); ++i)
      if (group->vertices[i] < count) channel_[group->vertices[i]] = group->strengths[i];
    return {};
  }
  if (kind == "mask") return fillMask(std::string(rest));
  if (kind == "region") return fillRegion(rest);
  if (name == "displacement") {
    DERM_TRY(const std::span<const Vec3f> plain, linearPositions());
    for (std::size_t v = 0; v < std::min(count, plain.size()); ++v)
      channel_[v] = (frame().positions()[v] - plain[v]).norm();
    return {};
  }
  if (name == "compression") return fillCompression(), Result<void>();
  return badArgument(
      "no channel \"" + std::string(name) +
      "\"; there are weight:JOINT, mask:NAME, group:NAME, region:NAMES, displacement and "
      "compression");
}

Result<void> Session::fillMask(const std::string& name) {
  if (frame().channel(name).empty()) {
    DERM_CHECK(scene_->keepChannels(std::vector{name}));
    kept_channels_.push_back(name);
    if (live_) live_->keepChannels(kept_channels_);
    evaluateAgain();
  }
  const std::span<const float> values = frame().channel(name);
  std::copy_n(values.begin(), std::min(values.size(), channel_.size()), channel_.begin());
  return {};
}

/// A vertex belongs to a region as much as it follows the region's control points.
Result<void> Session::fillRegion(std::string_view names) {
  const auto numbers = controlPointNumbers();
  const std::vector<std::string> labels(numbers.begin(), numbers.end());
  DERM_TRY(const std::vector<double> shares, faceRegionWeights(names, labels));
  if (!face_weights_) {
    Diagnostics notes;
    DERM_TRY(const FacePoints points, facePoints(own_->points, own_->mesh));
    DERM_TRY(face_weights_, faceWeights(own_->mesh, points, {}, notes));
  }
  for (std::size_t v = 0; v < std::min(channel_.size(), face_weights_->vertexCount()); ++v)
    for (const FaceWeights::Share& share : (*face_weights_)[v])
      if (share.point != FaceWeights::kHead)
        channel_[v] += static_cast<float>(share.weight * shares[share.point]);
  return {};
}

void Session::fillCompression() {
  std::vector<double> now(channel_.size()), before(channel_.size());
  const auto area = [](std::span<const Vec3f> p, const Triangle& t) {
    const Vec3d a = p[t[0]].cast<double>();
    return (p[t[1]].cast<double>() - a).cross(p[t[2]].cast<double>() - a).norm();
  };
  for (const Triangle& t : triangles_) {
    const double area_now = area(frame().positions(), t);
    const double area_before = area(surface().rest.positions, t);
    for (const std::uint32_t v : t) {
      now[v] += area_now;
      before[v] += area_before;
    }
  }
  for (std::size_t v = 0; v < channel_.size(); ++v)
    if (before[v] > 0) channel_[v] = static_cast<float>(1 - now[v] / before[v]);
}

Result<std::span<const float>> Session::channel(std::string_view name) {
  DERM_CHECK(fillChannel(name));
  return std::span<const float>(channel_);
}

std::optional<SurfaceHit> Session::pick(const Vec3d& origin, const Vec3d& direction) {
  const double length = direction.norm();
  if (!origin.allFinite() || !std::isfinite(length) || length == 0) return {};
  const Vec3d d = direction / length;
  std::optional<SurfaceHit> nearest;
  const std::span<const Vec3f> p = frame().positions();
  for (std::size_t i = 0; i < triangles_.size(); ++i) {
    const Triangle& t = triangles_[i];
    const Vec3d a = p[t[0]].cast<double>();
    const Vec3d ab = p[t[1]].cast<double>() - a, ac = p[t[2]].cast<double>() - a;
    const Vec3d across = d.cross(ac);
    const double determinant = ab.dot(across);
    if (determinant == 0) continue;
    const Vec3d ao = origin - a;
    const double u = ao.dot(across) / determinant;
    const Vec3d along = ao.cross(ab);
    const double v = d.dot(along) / determinant;
    if (!(u >= 0 && v >= 0 && u + v <= 1)) continue;
    const double distance = ac.dot(along) / determinant;
    if (!(distance >= 0) || (nearest && distance >= nearest->distance)) continue;
    nearest = {static_cast<std::uint32_t>(i), Vec3d(1 - u - v, u, v), distance};
  }
  return nearest;
}

// ------------------------------------------------------------------------------------------ bake

Result<std::vector<std::uint8_t>> Session::bake(const BakeOptions& options) {
  if (options.as != "cache" && options.as != "correctives")
    return badArgument("bake as \"cache\" or \"correctives\"");
  const FileOverlay overlay(*files_);
  const std::string name = "baked." + options.format;
  if (fileEnding(name) == ".gltf") return severalFiles();  // its numbers are in a file beside it
  MemoryFiles out;
  BakeDesc desc;
  desc.recipe = scene_->recipe();
  desc.scene.character = own_;
  desc.output = name;
  if (options.as == "correctives") desc.as = BakeAs::Correctives;
  desc.correctives = {.shapes = options.shapes, .error_m = options.error_m};
  desc.measure = options.measure;
  desc.files = &out;
  Diagnostics notes;
  DERM_TRY(const BakeReport report, derm::bake(desc, notes));
  bake_report_ = toJson(report);
  const MemoryFiles::Bytes* bytes = out.find(name);
  if (bytes == nullptr) return severalFiles();
  return *bytes;
}

}  // namespace derm::detail::capi
