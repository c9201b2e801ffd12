#include "derm/character/character.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "derm/base/nearest_name.h"

namespace derm {
namespace {

Error bad(const Character& c, const char* element, std::size_t index, std::string message) {
  return Error{
      ErrorCode::BadData, std::move(message), {.file = c.name, .element = element, .index = index}};
}

Result<void> validateParts(const Character& c) {
  std::size_t triangle = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const MeshPart& p = c.parts[i];
    if (p.first_triangle != triangle) return bad(c, "parts", i, "triangles not covered in order");
    triangle += p.triangle_count;
    if (p.material >= static_cast<int>(c.materials.size()) || p.material < -1)
      return bad(c, "parts", i, "no such material");
    if (triangle > c.mesh.triangles.size())
      return bad(c, "parts", i, "more triangles than there are");
    for (std::size_t t = p.first_triangle; t < triangle; ++t)
      for (const std::uint32_t v : c.mesh.triangles[t])
        if (v < p.first_vertex || v - p.first_vertex >= p.vertex_count)
          return bad(c, "parts", i,
                     "triangle " + std::to_string(t) + " leaves the part's vertices");
  }
  if (triangle != c.mesh.triangles.size())
    return bad(c, "parts", c.parts.size(), "not all triangles belong to a part");
  return {};
}

Result<void> validateInstances(const Character& c) {
  std::uint64_t vertex = 0, part = 0, morph = 0;
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    const MeshInstance& m = c.instances[i];
    if (m.first_vertex != vertex || m.first_part != part || m.first_morph != morph)
      return bad(c, "instances", i, "not in order");
    vertex += m.vertex_count;
    part += m.part_count;
    morph += m.morph_count;
    if (vertex > c.mesh.vertexCount() || part > c.parts.size() || morph > c.morphs.size())
      return bad(c, "instances", i, "reaches beyond the mesh");
    if (m.joint.valid() && m.joint.index() >= c.skeleton.size())
      return bad(c, "instances", i, "no such joint");
    for (std::size_t p = m.first_part; p < part; ++p)
      if (c.parts[p].first_vertex < m.first_vertex ||
          c.parts[p].first_vertex + std::uint64_t{c.parts[p].vertex_count} > vertex)
        return bad(c, "instances", i,
                   "part " + std::to_string(p) + " leaves the instance's vertices");
    for (std::size_t k = m.first_morph; k < morph; ++k) {
      const std::vector<std::uint32_t>& moved = c.morphs[k].vertices;
      if (!moved.empty() && (moved.front() < m.first_vertex || moved.back() >= vertex))
        return bad(c, "instances", i,
                   "morph " + std::to_string(k) + " leaves the instance's vertices");
    }
  }
  if (vertex != c.mesh.vertexCount() || part != c.parts.size() || morph != c.morphs.size())
    return bad(c, "instances", c.instances.size(), "not everything belongs to an instance");
  return {};
}

Result<void> validateControls(const Character& c) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < c.controls.size(); ++i) {
    const Control& control = c.controls[i];
    if (control.name.empty() || !names.insert(control.name).second)
      return bad(c, "controls", i, "needs a name of its own");
    // False where one is not a number.
    if (!(control.low <= control.preset && control.preset <= control.high) ||
        !std::isfinite(control.low) || !std::isfinite(control.high))
      return bad(c, "controls", i, "its value at rest must lie in its range");
  }
  return {};
}

Result<void> validateMaterial(const Character& c, std::size_t index) {
  const Material& m = c.materials[index];
  const auto known = [&](int image) { return image < static_cast<int>(c.images.size()); };
  for (const int image : {m.base_colour_image, m.normal_image})
    if (image < -1 || !known(image)) return bad(c, "materials", index, "no such image");
  for (std::size_t i = 0; i < m.detail_maps.size(); ++i) {
    const DetailMap& map = m.detail_maps[i];
    const std::string which = "detail map " + std::to_string(i);
    if (map.image < 0 || !known(map.image))
      return bad(c, "materials", index, which + ": no such image");
    if (map.uv_set < 0 || map.uv_set > 7)
      return bad(c, "materials", index, which + ": texture coordinates are sets 0 to 7");
    if (!map.uv_scale.allFinite() || !map.uv_offset.allFinite())
      return bad(c, "materials", index, which + ": scale or offset is not finite");
    if (!(map.strength >= 0 && map.strength <= 16))
      return bad(c, "materials", index, which + ": strength must be 0 to 16");
  }
  return {};
}

/// By label: their order says nothing.
std::vector<const LabelledPoint*> sortedPoints(const Character& c) {
  std::vector<const LabelledPoint*> out;
  for (const LabelledPoint& p : c.points) out.push_back(&p);
  std::sort(out.begin(), out.end(),
            [](const LabelledPoint* a, const LabelledPoint* b) { return a->label < b->label; });
  return out;
}

Result<void> validatePoints(const Character& c) {
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    if (c.points[i].label.empty()) return bad(c, "points", i, "has no label");
    const Result<void> on_mesh = validate(c.points[i].point, c.mesh.triangles.size(), c.name);
    if (!on_mesh)
      return bad(c, "points", i, "\"" + c.points[i].label + "\": " + on_mesh.error().message);
  }
  const std::vector<const LabelledPoint*> sorted = sortedPoints(c);
  const auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const LabelledPoint* a, const LabelledPoint* b) { return a->label == b->label; });
  if (twice != sorted.end())
    return bad(c, "points",
               static_cast<std::size_t>(std::max(*twice, *(twice + 1)) - c.points.data()),
               "the label \"" + (*twice)->label + "\" is used twice");
  return {};
}

}  // namespace

std::vector<bool> Character::bones() const {
  // A slot that a rigid prop follows is its node, not a bone; every other slot came from a skin.
  std::vector<bool> prop(skin.slots.size(), false);
  for (const MeshInstance& m : instances) {
    if (!m.rigid || skin.empty()) continue;
    for (std::size_t v = m.first_vertex; v < m.first_vertex + std::size_t{m.vertex_count}; ++v)
      for (const Influence& i : skin[v]) prop[i.slot] = true;
  }
  std::vector<bool> bone(skeleton.size(), false);
  for (std::size_t s = 0; s < skin.slots.size(); ++s)
    if (!prop[s]) bone[skin.slots[s].joint.index()] = true;
  return bone;
}

std::size_t Character::boneCount() const {
  const std::vector<bool> bone = bones();
  return static_cast<std::size_t>(std::count(bone.begin(), bone.end(), true));
}

std::vector<std::string> Character::clipNames() const {
  std::vector<std::string> out;
  out.reserve(clips.size());
  for (const Clip& c : clips) out.push_back(c.name);
  return out;
}

Result<std::size_t> Character::findClip(std::string_view name_or_number) const {
  for (std::size_t i = 0; i < clips.size(); ++i)
    if (clips[i].name == name_or_number) return i;
  std::size_t number = 0;
  const char* end = name_or_number.data() + name_or_number.size();
  const auto [stop, failure] = std::from_chars(name_or_number.data(), end, number);
  if (failure == std::errc{} && stop == end && number < clips.size()) return number;
  return Error{
      ErrorCode::BadArgument,
      "no clip \"" + std::string(name_or_number) + "\"" + didYouMean(name_or_number, clipNames()),
      {.file = name}};
}

Result<std::size_t> Character::findControl(std::string_view wanted) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < controls.size(); ++i) {
    if (controls[i].name == wanted) return i;
    names.push_back(controls[i].name);
  }
  return Error{ErrorCode::BadArgument,
               "no control \"" + std::string(wanted) + "\"" + didYouMean(wanted, names),
               {.file = name}};
}

const SurfacePoint* Character::findPoint(std::string_view label) const {
  const auto it = std::find_if(points.begin(), points.end(),
                               [&](const LabelledPoint& p) { return p.label == label; });
  return it == points.end() ? nullptr : &it->point;
}

Pose Character::restPose() const {
  Pose pose;
  pose.local = restTransforms(skeleton);
  for (const MorphTarget& m : morphs) pose.morph_weights.push_back(m.default_weight);
  for (const Control& c : controls) pose.controls.push_back(c.preset);
  return pose;
}

Pose Character::bindPose() const {
  Pose pose{bindTransforms(skeleton, skin), std::vector<float>(morphs.size(), 0.0f)};
  for (const Control& c : controls) pose.controls.push_back(c.preset);
  return pose;
}

ClipTargets clipTargets(const Character& character) {
  return {.joints = character.skeleton.size(),
          .morphs = character.morphs.size(),
          .controls = character.controls.size()};
}

Result<void> validate(const Character& c) {
  DERM_CHECK(validate(c.mesh, c.name));
  DERM_CHECK(validateParts(c));
  DERM_CHECK(validateInstances(c));
  DERM_CHECK(validate(c.skeleton, c.name));
  if (c.hasSkin()) DERM_CHECK(validate(c.skin, c.mesh.vertexCount(), c.skeleton.size(), c.name));
  for (const MorphTarget& m : c.morphs) DERM_CHECK(validate(m, c.mesh.vertexCount(), c.name));
  DERM_CHECK(validateControls(c));
  for (const Clip& clip : c.clips) DERM_CHECK(validate(clip, clipTargets(c), c.name));
  for (std::size_t i = 0; i < c.materials.size(); ++i) DERM_CHECK(validateMaterial(c, i));
  DERM_CHECK(validatePoints(c));
  if (!c.joint_source.empty() && c.joint_source.size() != c.skeleton.size())
    return bad(c, "joint_source", 0, "one entry per joint is needed");
  return {};
}

bool sameContent(const Character& a, const Character& b) {
  // Where things are in a source document is no content: a character made here has none.
  const auto instance = [](MeshInstance i, MeshInstance j) {
    i.source_mesh = j.source_mesh;
    i.source_skin = j.source_skin;
    return i == j;
  };
  const auto part = [](MeshPart i, MeshPart j) {
    i.source_primitive = j.source_primitive;
    return i == j;
  };
  const auto material = [](Material i, Material j) {
    i.source_index = j.source_index;
    return i == j;
  };
  const auto point = [](const LabelledPoint* i, const LabelledPoint* j) { return *i == *j; };
  const auto same = [](const auto& x, const auto& y, const auto& equal) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return a.mesh == b.mesh && a.morphs == b.morphs && a.skeleton == b.skeleton && a.skin == b.skin &&
         a.controls == b.controls && a.clips == b.clips && a.images == b.images &&
         same(a.instances, b.instances, instance) && same(a.parts, b.parts, part) &&
         same(sortedPoints(a), sortedPoints(b), point) && same(a.materials, b.materials, material);
}

void addDefaultParts(Character& c) {
  DERM_REQUIRE(c.instances.empty());
  const auto vertices = static_cast<std::uint32_t>(c.mesh.vertexCount());
  if (c.parts.empty())
    c.parts.push_back({.name = c.name,
                       .triangle_count = static_cast<std::uint32_t>(c.mesh.triangles.size()),
                       .vertex_count = vertices,
                       .material = c.materials.empty() ? -1 : 0});
  c.instances.push_back({.name = c.name,
                         .part_count = static_cast<std::uint32_t>(c.parts.size()),
                         .vertex_count = vertices,
                         .morph_count = static_cast<std::uint32_t>(c.morphs.size())});
}

Character frozen(const Character& character, TriMesh mesh) {
  DERM_REQUIRE(mesh.vertexCount() == character.mesh.vertexCount());
  Character still;
  still.name = character.name;
  still.mesh = std::move(mesh);
  still.instances = character.instances;
  still.parts = character.parts;
  still.points = character.points;
  still.materials = character.materials;
  still.images = character.images;
  still.import = character.import;
  still.source = character.source;
  for (MeshInstance& m : still.instances) {
    m.joint = JointId();
    m.rigid = false;
    m.first_morph = m.morph_count = 0;
    // What the document says of its mesh beyond derm's own (second texture coordinates) stays true.
    m.source_skin = -1;
  }
  return still;
}

void scaleLengths(Character& c, double factor) {
  DERM_REQUIRE(factor > 0);
  const auto f = static_cast<float>(factor);
  for (Vec3f& p : c.mesh.positions) p *= f;
  for (MorphTarget& m : c.morphs)
    for (Vec3f& p : m.positions) p *= f;
  for (Joint& j : c.skeleton.joints) j.rest.translation *= f;
  for (SkinSlot& s : c.skin.slots) s.inverse_bind.translation() *= f;
  for (Clip& clip : c.clips)
    for (Track& t : clip.tracks)
      if (t.channel == Channel::Translation)
        for (float& v : t.values) v *= f;
}

void rotateAxes(Character& c, const Quatd& rotation) {
  const Mat3f r = rotation.toRotationMatrix().cast<float>();
  const Quatf q = rotation.cast<float>();
  for (Vec3f& p : c.mesh.positions) p = r * p;
  for (Vec3f& n : c.mesh.normals) n = r * n;
  for (Vec4f& t : c.mesh.tangents) t.head<3>() = r * t.head<3>().eval();
  for (MorphTarget& m : c.morphs) {
    for (Vec3f& p : m.positions) p = r * p;
    for (Vec3f& n : m.normals) n = r * n;
    for (Vec3f& t : m.tangents) t = r * t;
  }
  for (Joint& j : c.skeleton.joints) {
    if (j.parent.valid()) continue;
    j.rest.translation = r * j.rest.translation;
    j.rest.rotation = (q * j.rest.rotation).normalized();
  }
  Affine3d back = Affine3d::Identity();
  back.linear() = rotation.toRotationMatrix().transpose();
  for (SkinSlot& s : c.skin.slots)
    s.inverse_bind = (s.inverse_bind.cast<double>() * back).cast<float>();
  for (Clip& clip : c.clips)
    for (Track& t : clip.tracks) {
      if (!t.ofJoint() || c.skeleton[t.joint].parent.valid()) continue;
      // Values and tangents alike turn with the root's parent space.
      if (t.channel == Channel::Translation)
        for (std::size_t i = 0; i + 2 < t.values.size(); i += 3) {
          const Vec3f v = r * Vec3f(t.values[i], t.values[i + 1], t.values[i + 2]);
          std::copy_n(v.data(), 3, t.values.begin() + static_cast<std::ptrdiff_t>(i));
        }
      else if (t.channel == Channel::Rotation)
        for (std::size_t i = 0; i + 3 < t.values.size(); i += 4) {
          const Quatf v = q * Quatf(t.values[i + 3], t.values[i], t.values[i + 1], t.values[i + 2]);
          std::copy_n(v.coeffs().data(), 4, t.values.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

}  // namespace derm
