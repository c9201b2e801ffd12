#include "derm/derm.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "derm/cast/cast.h"
#include "derm/cast/liquids.h"
#include "derm/io/gltf.h"
#include "derm/io/output_files.h"
#include "derm/mesh/measures.h"
#include "derm/scene/recipe_edit.h"

#include "capi/face_tools.h"
#include "capi/json_text.h"
#include "capi/liquid_session.h"
#include "capi/proposals.h"
#include "capi/scene_session.h"
#include "capi/shipped_recipes.h"

using derm::Error;
using derm::ErrorCode;
using derm::MemoryFiles;
using derm::Recipe;
using derm::RecipeLayer;
using derm::RecipeValue;
using derm::Result;
using namespace derm::detail::capi;

struct derm_files {
  std::shared_ptr<MemoryFiles> files = std::make_shared<MemoryFiles>();
};
struct derm_scene {
  std::unique_ptr<Session> session;
  std::vector<std::uint8_t> bytes;  // what was given out last
};
struct derm_liquid {
  std::unique_ptr<LiquidSession> session;
};

namespace {

[[maybe_unused]] constexpr const char* kNoMemory =
    R"({"code":"out_of_memory","text":"out of memory","message":"out of memory",)"
    R"("file":"","element":"","line":0,"column":0})";
[[maybe_unused]] constexpr const char* kUnforeseen =
    R"({"code":"internal","text":"an unforeseen failure","message":"an unforeseen failure",)"
    R"("file":"","element":"","line":0,"column":0})";
thread_local const char* fixed_error = nullptr;  // instead of the error below; needs no memory
thread_local std::string last_error = "{}";
thread_local std::string last_text;

const char* give(std::string text) {
  last_text = std::move(text);
  return last_text.c_str();
}
const char* give(const Json& json) { return give(textOf(json)); }

void fail(const Error& error) {
  fixed_error = nullptr;
  last_error = textOf(errorJson(error));
}

/// Nothing leaves here but a value. (The WebAssembly module has no exceptions: there, a page makes
/// a new module where memory is used up.)
template <class T, class Work>
T guarded([[maybe_unused]] T failed, const Work& work) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fixed_error = kNoMemory;
  } catch (const std::length_error&) {
    fixed_error = kNoMemory;
  } catch (...) {  // a library's own, a thread that cannot be started
    fixed_error = kUnforeseen;
  }
  return failed;
#else
  return work();
#endif
}

std::string_view viewOf(const char* text) { return text == nullptr ? "" : text; }

/// What work() lists, whatever is open.
template <class Work>
const char* listed(const Work& work) {
  return guarded(static_cast<const char*>(nullptr), [&] { return give(work()); });
}

Error noHandle() { return Error{ErrorCode::BadArgument, "a handle is NULL", {}}; }

/// Calls work(session) and gives its text, or NULL and the error.
template <class Work>
const char* textFrom(derm_scene* scene, const Work& work) {
  return guarded(static_cast<const char*>(nullptr), [&]() -> const char* {
    if (scene == nullptr) return fail(noHandle()), nullptr;
    Result<std::string> text = work(*scene->session);
    if (!text) return fail(text.error()), nullptr;
    return give(*std::move(text));
  });
}

/// An edit of the recipe: work(recipe) changes it.
template <class Work>
const char* edit(derm_scene* scene, const Work& work) {
  return textFrom(scene, [&](Session& session) -> Result<std::string> {
    Recipe recipe = session.scene().recipe();
    DERM_CHECK(work(recipe));
    DERM_TRY(const EditReport report, session.setRecipe(recipe));
    return textOf(editJson(report));
  });
}

template <class Work>
int done(derm_scene* scene, const Work& work) {
  return guarded(0, [&] {
    if (scene == nullptr) return fail(noHandle()), 0;
    const Result<void> result = work(*scene->session);
    if (!result) return fail(result.error()), 0;
    return 1;
  });
}

template <class Work>
const unsigned char* bytesFrom(derm_scene* scene, size_t* size, const Work& work) {
  if (size != nullptr) *size = 0;
  return guarded(static_cast<const unsigned char*>(nullptr), [&]() -> const unsigned char* {
    if (scene == nullptr) return fail(noHandle()), nullptr;
    if (size == nullptr) return fail(Error{ErrorCode::BadArgument, "size is NULL", {}}), nullptr;
    Result<std::vector<std::uint8_t>> bytes = work(*scene->session);
    if (!bytes) return fail(bytes.error()), nullptr;
    scene->bytes = *std::move(bytes);
    *size = scene->bytes.size();
    static constexpr unsigned char kNothing = 0;
    return scene->bytes.empty() ? &kNothing : scene->bytes.data();
  });
}

constexpr const float* kNoFloats = nullptr;
constexpr const uint32_t* kNoIndices = nullptr;

/// Something of the present frame, which may be still to be made.
template <class T, class Work>
T ofFrame(const derm_scene* scene, T nothing, const Work& work) {
  return guarded(nothing, [&] { return scene == nullptr ? nothing : work(*scene->session); });
}

template <class T>
const float* floatsOf(std::span<const T> values) {
  return values.empty() ? nullptr : reinterpret_cast<const float*>(values.data());
}

/// May throw: to be called in guarded().
derm_scene* opened(const derm_files* files, std::string text, std::string name) {
  // The table is shared: derm_files_add() copies it before it changes.
  Result<std::unique_ptr<Session>> session =
      Session::open(files == nullptr ? nullptr : files->files, std::move(text), std::move(name));
  if (!session) return fail(session.error()), nullptr;
  return new derm_scene{*std::move(session), {}};
}

RecipeValue::Table::iterator keyIn(RecipeValue::Table& table, std::string_view key) {
  return std::find_if(table.begin(), table.end(),
                      [&](const derm::RecipeEntry& e) { return e.key == key; });
}

Result<RecipeLayer> newLayer(const Recipe& recipe, std::string_view type, std::string_view name,
                             std::string_view keys) {
  RecipeLayer layer{.type = std::string(type), .name = std::string(name)};
  if (!keys.empty()) {
    DERM_TRY(RecipeValue value, parseJsonValue(keys));
    auto* table = std::get_if<RecipeValue::Table>(&value.content);
    if (table == nullptr)
      return Error{ErrorCode::BadArgument, "keys of a layer are a JSON object", {}};
    layer.keys = std::move(*table);
  }
  if (const auto before = keyIn(layer.keys, "before_skinning"); before != layer.keys.end()) {
    const bool* flag = std::get_if<bool>(&before->value.content);
    layer.before_skinning = flag != nullptr && *flag;
    layer.keys.erase(before);
  }
  if (name.empty()) layer.name = derm::freeLayerName(recipe, type);
  return layer;
}

std::size_t placeIn(const Recipe& recipe, int index) {
  return index < 0 ? recipe.layers.size()
                   : std::min(static_cast<std::size_t>(index), recipe.layers.size());
}

void fillHit(Session& session, const SurfaceHit& from, derm_hit& hit) {
  const derm::Triangle& corners = session.triangles()[from.triangle];
  Eigen::Index nearest = 0;
  from.barycentric.maxCoeff(&nearest);
  hit.triangle = from.triangle;
  hit.vertex = corners[static_cast<std::size_t>(nearest)];
  hit.joint = -1;
  const derm::Skin& skin = session.surface().skin;
  if (hit.vertex < skin.vertexCount() && !skin[hit.vertex].empty())
    hit.joint = static_cast<std::int32_t>(skin.slots[skin[hit.vertex].front().slot].joint.index());
  hit.part = 0;
  const std::span<const std::uint32_t> ranges = session.partRanges();
  for (std::size_t p = 0; 2 * p < ranges.size(); ++p)
    if (from.triangle >= ranges[2 * p] && from.triangle - ranges[2 * p] < ranges[2 * p + 1])
      hit.part = static_cast<std::uint32_t>(p);
  const derm::SkinFrame& frame = session.frame();
  const derm::SurfacePoint point{from.triangle, from.barycentric.cast<float>()};
  const derm::Vec3f position = derm::positionAt(point, session.triangles(), frame.positions());
  const derm::Vec3f normal =
      derm::normalAt(point, session.triangles(), frame.positions(), frame.normals());
  std::copy_n(point.barycentric.data(), 3, hit.barycentric);
  std::copy_n(position.data(), 3, hit.position);
  std::copy_n(normal.data(), 3, hit.normal);
  hit.distance = static_cast<float>(from.distance);
  hit.character_triangle = static_cast<std::int32_t>(session.sourceTriangles()[from.triangle]);
}

Result<Session::BakeOptions> bakeOptions(std::string_view text) {
  Session::BakeOptions out;
  if (text.empty()) return out;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    return Error{ErrorCode::BadArgument, "options of a bake are a JSON object", {}};
  for (const auto& [key, value] : json.items()) {
    const bool fits = key == "format" || key == "as"        ? value.is_string()
                      : key == "shapes" || key == "error_m" ? value.is_number()
                                                            : value.is_boolean();
    if (!fits ||
        (key != "format" && key != "as" && key != "shapes" && key != "error_m" && key != "measure"))
      return Error{ErrorCode::BadArgument, "is no option of a bake", {.element = key}};
    if (key == "format") out.format = value.get<std::string>();
    if (key == "as") out.as = value.get<std::string>();
    if (key == "measure") out.measure = value.get<bool>();
    if (key == "error_m") out.error_m = value.get<double>();
    if (key == "shapes") {
      const double count = value.get<double>();
      if (!(count >= 1 && count <= 100000))
        return Error{ErrorCode::BadArgument, "shapes are from 1 to 100000", {.element = key}};
      out.shapes = static_cast<std::size_t>(count);
    }
  }
  return out;
}

}  // namespace

// ---------------------------------------------------------------------------------- what there is

const char* derm_version(void) { return DERM_VERSION_TEXT; }
const char* derm_last_error(void) {
  return fixed_error != nullptr ? fixed_error : last_error.c_str();
}
const char* derm_cast(void) {
  return listed([] { return membersJson(derm::castMembers()); });
}
const char* derm_liquids(void) {
  return listed([] { return membersJson(derm::castLiquids()); });
}
const char* derm_recipe_fields(void) { return listed(recipeFieldsJson); }
const char* derm_face_names(void) { return listed(faceNamesJson); }

const char* derm_shipped_recipes(void) {
  return listed([] {
    Json out = Json::array();
    for (const ShippedRecipe& recipe : kShippedRecipes)
      out.push_back({{"name", recipe.name}, {"text", recipe.text}});
    return out;
  });
}

// ------------------------------------------------------------------------------------------ files

derm_files* derm_files_new(void) {
  return guarded(static_cast<derm_files*>(nullptr), [] { return new derm_files; });
}

unsigned char* derm_files_add(derm_files* files, const char* name, size_t size) {
  return guarded(static_cast<unsigned char*>(nullptr), [&]() -> unsigned char* {
    if (files == nullptr) return fail(noHandle()), nullptr;
    if (viewOf(name).empty())
      return fail(Error{ErrorCode::BadArgument, "a file needs a name", {}}), nullptr;
    // Scenes that were opened with the table so far keep it as it was.
    if (files->files.use_count() > 1) files->files = std::make_shared<MemoryFiles>(*files->files);
    files->files->put(name, MemoryFiles::Bytes(std::max<size_t>(size, 1)));
    const MemoryFiles::Bytes* bytes = files->files->find(name);
    auto& writable = const_cast<MemoryFiles::Bytes&>(*bytes);
    writable.resize(size);
    return writable.data();
  });
}

void derm_files_free(derm_files* files) { delete files; }

// ------------------------------------------------------------------------------------------ scene

derm_scene* derm_open(const derm_files* files, const char* recipe, const char* name) {
  return guarded(static_cast<derm_scene*>(nullptr), [&] {
    return opened(files, std::string(viewOf(recipe)), std::string(viewOf(name)));
  });
}

derm_scene* derm_open_character(const derm_files* files, const char* character) {
  return guarded(static_cast<derm_scene*>(nullptr), [&] {
    Recipe recipe;
    recipe.character = viewOf(character);
    return opened(files, derm::writeRecipe(recipe), "");
  });
}

void derm_close(derm_scene* scene) { delete scene; }

const char* derm_character(derm_scene* scene) {
  return textFrom(scene,
                  [](Session& s) -> Result<std::string> { return textOf(characterJson(s)); });
}
const char* derm_recipe(derm_scene* scene) {
  return textFrom(scene, [](Session& s) -> Result<std::string> { return textOf(recipeJson(s)); });
}
const char* derm_recipe_text(derm_scene* scene) {
  return textFrom(scene, [](Session& s) -> Result<std::string> { return s.text(); });
}

const char* derm_set_recipe_text(derm_scene* scene, const char* text) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    DERM_TRY(const EditReport report, s.setText(std::string(viewOf(text))));
    return textOf(editJson(report));
  });
}

const char* derm_set_key(derm_scene* scene, const char* layer, const char* key, const char* json) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    if (viewOf(json).empty())
      return derm::setRecipeKey(recipe, viewOf(layer), viewOf(key), nullptr);
    DERM_TRY(const RecipeValue value, parseJsonValue(json));
    return derm::setRecipeKey(recipe, viewOf(layer), viewOf(key), &value);
  });
}

const char* derm_add_layer(derm_scene* scene, const char* type, const char* name, int index,
                           const char* keys) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    DERM_TRY(RecipeLayer layer, newLayer(recipe, viewOf(type), viewOf(name), viewOf(keys)));
    const std::size_t at = placeIn(recipe, index);
    recipe.layers.insert(recipe.layers.begin() + static_cast<std::ptrdiff_t>(at), std::move(layer));
    return {};
  });
}

const char* derm_remove_layer(derm_scene* scene, const char* name) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    DERM_TRY(const std::size_t at, derm::findRecipeLayer(recipe, viewOf(name)));
    recipe.layers.erase(recipe.layers.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  });
}

const char* derm_move_layer(derm_scene* scene, const char* name, int index) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    DERM_TRY(const std::size_t from, derm::findRecipeLayer(recipe, viewOf(name)));
    RecipeLayer layer = std::move(recipe.layers[from]);
    recipe.layers.erase(recipe.layers.begin() + static_cast<std::ptrdiff_t>(from));
    const std::size_t at = placeIn(recipe, index);
    recipe.layers.insert(recipe.layers.begin() + static_cast<std::ptrdiff_t>(at), std::move(layer));
    return {};
  });
}

const char* derm_enable_layer(derm_scene* scene, const char* name, int enabled) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    DERM_TRY(const std::size_t at, derm::findRecipeLayer(recipe, viewOf(name)));
    recipe.layers[at].enabled = enabled != 0;
    return {};
  });
}

const char* derm_rename_layer(derm_scene* scene, const char* name, const char* to) {
  return edit(scene, [&](Recipe& recipe) -> Result<void> {
    DERM_TRY(const std::size_t at, derm::findRecipeLayer(recipe, viewOf(name)));
    recipe.layers[at].name = viewOf(to);
    return {};
  });
}

const char* derm_propose(derm_scene* scene, const char* what) {
  return textFrom(scene, [&](Session& s) { return proposeText(s, viewOf(what)); });
}

// ---------------------------------------------------------------------------------------- playing

int derm_seek(derm_scene* scene, double time_s) {
  return done(scene, [&](Session& s) -> Result<void> {
    s.seek(time_s);
    return {};
  });
}

float* derm_pose(derm_scene* scene) {
  static_assert(sizeof(derm::Transform) == 10 * sizeof(float));
  if (scene == nullptr || scene->session->pose().local.empty()) return nullptr;
  return reinterpret_cast<float*>(scene->session->pose().local.data());
}
float* derm_morph_weights(derm_scene* scene) {
  if (scene == nullptr || scene->session->pose().morph_weights.empty()) return nullptr;
  return scene->session->pose().morph_weights.data();
}
float* derm_controls(derm_scene* scene) {
  if (scene == nullptr || scene->session->pose().controls.empty()) return nullptr;
  return scene->session->pose().controls.data();
}

int derm_sample(derm_scene* scene, int clip, double time_s) {
  return done(scene, [&](Session& s) { return s.sample(clip, time_s); });
}
int derm_step(derm_scene* scene, double dt_s) {
  return done(scene, [&](Session& s) { return s.step(dt_s); });
}
int derm_reset(derm_scene* scene) {
  return done(scene, [&](Session& s) { return s.reset(); });
}
int derm_hold_control(derm_scene* scene, int control, double value) {
  return done(scene, [&](Session& s) { return s.holdControl(control, value); });
}

// -------------------------------------------------------------------------------------- the frame

size_t derm_vertex_count(const derm_scene* scene) {
  return ofFrame(scene, size_t{0}, [](Session& s) { return s.frame().vertexCount(); });
}
const float* derm_positions(const derm_scene* scene) {
  return ofFrame(scene, kNoFloats, [](Session& s) { return floatsOf(s.frame().positions()); });
}
const float* derm_normals(const derm_scene* scene) {
  return ofFrame(scene, kNoFloats, [](Session& s) { return floatsOf(s.frame().normals()); });
}
const float* derm_tangents(const derm_scene* scene) {
  return ofFrame(scene, kNoFloats, [](Session& s) { return floatsOf(s.frame().tangents()); });
}
const float* derm_uvs(const derm_scene* scene) {
  if (scene == nullptr) return nullptr;
  return floatsOf(std::span<const derm::Vec2f>(scene->session->surface().rest.uvs));
}
const float* derm_colours(const derm_scene* scene) {
  if (scene == nullptr) return nullptr;
  return floatsOf(std::span<const derm::Vec4f>(scene->session->surface().rest.colours));
}
size_t derm_triangle_count(const derm_scene* scene) {
  return ofFrame(scene, size_t{0}, [](Session& s) { return s.triangles().size(); });
}
const uint32_t* derm_triangles(const derm_scene* scene) {
  return ofFrame(scene, kNoIndices, [](Session& s) {
    return s.triangles().empty() ? kNoIndices : s.triangles().front().data();
  });
}
const uint32_t* derm_part_ranges(const derm_scene* scene) {
  return ofFrame(scene, kNoIndices, [](Session& s) {
    return s.partRanges().empty() ? kNoIndices : s.partRanges().data();
  });
}
uint32_t derm_topology(const derm_scene* scene) {
  return ofFrame(scene, uint32_t{0}, [](Session& s) { return s.topology(); });
}

const float* derm_linear_positions(derm_scene* scene) {
  return guarded(static_cast<const float*>(nullptr), [&]() -> const float* {
    if (scene == nullptr) return fail(noHandle()), nullptr;
    const Result<std::span<const derm::Vec3f>> plain = scene->session->linearPositions();
    if (!plain) return fail(plain.error()), nullptr;
    return floatsOf(*plain);
  });
}
const float* derm_joint_matrices(derm_scene* scene) {
  return guarded(static_cast<const float*>(nullptr), [&] {
    return scene == nullptr ? nullptr : floatsOf(scene->session->jointMatrices());
  });
}
const float* derm_point_positions(derm_scene* scene) {
  return guarded(static_cast<const float*>(nullptr), [&] {
    return scene == nullptr ? nullptr : floatsOf(scene->session->pointPositions());
  });
}

const float* derm_channel(derm_scene* scene, const char* name) {
  return guarded(static_cast<const float*>(nullptr), [&]() -> const float* {
    if (scene == nullptr) return fail(noHandle()), nullptr;
    const Result<std::span<const float>> values = scene->session->channel(viewOf(name));
    if (!values) return fail(values.error()), nullptr;
    return floatsOf(*values);
  });
}

const char* derm_frame_report(derm_scene* scene) {
  return textFrom(scene, [](Session& s) -> Result<std::string> { return textOf(frameJson(s)); });
}

int derm_pick(derm_scene* scene, const float origin[3], const float direction[3], derm_hit* hit) {
  if (origin == nullptr || direction == nullptr || hit == nullptr) return 0;
  return ofFrame(scene, 0, [&](Session& s) {
    const derm::Vec3d from(origin[0], origin[1], origin[2]);
    const derm::Vec3d along(direction[0], direction[1], direction[2]);
    const std::optional<SurfaceHit> found = s.pick(from, along);
    if (found) fillHit(s, *found, *hit);
    return found ? 1 : 0;
  });
}

const char* derm_set_group(derm_scene* scene, const char* name, const float* strengths,
                           size_t count) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    if (strengths == nullptr) count = 0;
    DERM_TRY(const EditReport report, s.setGroup(viewOf(name), {strengths, count}));
    return textOf(editJson(report));
  });
}

const char* derm_set_point(derm_scene* scene, const char* label, int triangle,
                           const float barycentric[3]) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    const derm::Vec3f shares = barycentric == nullptr
                                   ? derm::Vec3f(derm::Vec3f::UnitX())
                                   : derm::Vec3f(barycentric[0], barycentric[1], barycentric[2]);
    const std::vector<PlacedPoint> one = {{std::string(viewOf(label)), triangle, shares}};
    DERM_TRY(const EditReport report, s.setPoints(one));
    return textOf(editJson(report));
  });
}

const char* derm_set_points(derm_scene* scene, const char* json) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    DERM_TRY(const std::vector<PlacedPoint> points, parsePlacedPoints(viewOf(json)));
    DERM_TRY(const EditReport report, s.setPoints(points));
    return textOf(editJson(report));
  });
}

const char* derm_add_face_shapes(derm_scene* scene) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    DERM_TRY(const EditReport report, s.addFaceShapes());
    return textOf(editJson(report));
  });
}

const char* derm_find_points(derm_scene* scene, const char* source) {
  return textFrom(scene, [&](Session& s) -> Result<std::string> {
    DERM_TRY(const Json found, s.withFiles([&] { return findPoints(s, viewOf(source)); }));
    return textOf(found);
  });
}

// -------------------------------------------------------------------------------------- bytes out

const unsigned char* derm_bake(derm_scene* scene, const char* options, size_t* size) {
  return bytesFrom(scene, size, [&](Session& s) -> Result<std::vector<std::uint8_t>> {
    DERM_TRY(const Session::BakeOptions read, bakeOptions(viewOf(options)));
    return s.bake(read);
  });
}

const char* derm_bake_report(derm_scene* scene) {
  return textFrom(scene, [](Session& s) -> Result<std::string> { return s.bakeReport(); });
}

const unsigned char* derm_character_glb(derm_scene* scene, size_t* size) {
  return bytesFrom(scene, size, [](Session& s) {
    derm::Diagnostics notes;
    return derm::encodeGlb(s.character(), notes);
  });
}

const unsigned char* derm_image(derm_scene* scene, int image, size_t* size) {
  return bytesFrom(scene, size, [&](Session& s) -> Result<std::vector<std::uint8_t>> {
    const auto& images = s.character().images;
    if (image < 0 || static_cast<std::size_t>(image) >= images.size())
      return Error{ErrorCode::BadArgument, "there is no such image", {}};
    return images[static_cast<std::size_t>(image)].bytes;
  });
}

// ---------------------------------------------------------------------------------------- liquids

derm_liquid* derm_liquid_open(const char* name, double detail) {
  return guarded(static_cast<derm_liquid*>(nullptr), [&]() -> derm_liquid* {
    Result<std::unique_ptr<LiquidSession>> session = LiquidSession::open(viewOf(name), detail);
    if (!session) return fail(session.error()), nullptr;
    return new derm_liquid{*std::move(session)};
  });
}
void derm_liquid_close(derm_liquid* liquid) { delete liquid; }

int derm_liquid_step(derm_liquid* liquid, double dt_s) {
  return guarded(0, [&] {
    if (liquid == nullptr) return fail(noHandle()), 0;
    const Result<void> result = liquid->session->step(dt_s);
    if (!result) return fail(result.error()), 0;
    return 1;
  });
}
double derm_liquid_time(const derm_liquid* liquid) {
  return liquid == nullptr ? 0 : liquid->session->time_s();
}
double derm_liquid_volume(const derm_liquid* liquid) {
  if (liquid == nullptr) return 0;
  const derm::TriMesh& mesh = liquid->session->mesh();
  return derm::volume(mesh.positions, mesh.triangles);
}
size_t derm_liquid_vertex_count(const derm_liquid* liquid) {
  return liquid == nullptr ? 0 : liquid->session->mesh().vertexCount();
}
const float* derm_liquid_positions(const derm_liquid* liquid) {
  if (liquid == nullptr) return nullptr;
  return floatsOf(std::span<const derm::Vec3f>(liquid->session->mesh().positions));
}
const float* derm_liquid_normals(const derm_liquid* liquid) {
  if (liquid == nullptr) return nullptr;
  return floatsOf(std::span<const derm::Vec3f>(liquid->session->mesh().normals));
}
size_t derm_liquid_triangle_count(const derm_liquid* liquid) {
  return liquid == nullptr ? 0 : liquid->session->mesh().triangles.size();
}
const uint32_t* derm_liquid_triangles(const derm_liquid* liquid) {
  if (liquid == nullptr || liquid->session->mesh().triangles.empty()) return nullptr;
  return liquid->session->mesh().triangles.front().data();
}
