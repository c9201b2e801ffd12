#include <algorithm>
#include <iterator>
#include <span>

#include "derm/base/number_text.h"
#include "derm/image/srgb.h"
#include "derm/io/obj.h"

#include "io/obj_faces.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

void append(std::string& out, float value) { out += exactNumber(value); }
void append(std::string& out, std::uint64_t value) { out += std::to_string(value); }

/// OBJ's v of glTF's: the shortest number from which the reader's 1 - v gives the same float.
void appendTurned(std::string& out, float v) {
  const double exact = 1.0 - static_cast<double>(v);
  const std::string short_text = exactNumber(static_cast<float>(exact));
  double read = 0;
  detail::text::parseNumber(short_text, read);
  out += static_cast<float>(1.0 - read) == v ? short_text : exactNumber(exact);
}

/// A name the reader takes back as one: no line ends, no blanks at its ends.
std::string lineName(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '\n', '_');
  if (!out.empty() && detail::text::isBlank(out.front())) out.front() = '_';
  if (!out.empty() && detail::text::isBlank(out.back())) out.back() = '_';
  return out;
}

/// The same as one word.
std::string wordName(std::string_view name) { return detail::obj::groupName(lineName(name)); }

/// Ends a line of names. A '\' as its last byte would join the next one.
void endNames(std::string& out) { out += out.back() == '\\' ? " \n" : "\n"; }

void appendVertices(std::string& out, const TriMesh& mesh) {
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    out += "v";
    for (int i = 0; i < 3; ++i) append(out += ' ', mesh.positions[v][i]);
    if (!mesh.colours.empty())
      for (int i = 0; i < 3; ++i) append(out += ' ', srgbFromLinear(mesh.colours[v][i]));
    out += '\n';
  }
  for (const Vec2f& uv : mesh.uvs) {
    append(out += "vt ", uv.x());
    appendTurned(out += ' ', uv.y());
    out += '\n';
  }
  for (const Vec3f& n : mesh.normals) {
    out += "vn";
    for (int i = 0; i < 3; ++i) append(out += ' ', n[i]);
    out += '\n';
  }
}

void appendFace(std::string& out, const Triangle& triangle, const TriMesh& mesh) {
  out += "f";
  for (const std::uint32_t v : triangle) {
    const std::uint64_t index = std::uint64_t{v} + 1;
    append(out += ' ', index);
    if (!mesh.uvs.empty()) append(out += '/', index);
    if (!mesh.normals.empty()) {
      out += mesh.uvs.empty() ? "//" : "/";
      append(out, index);
    }
  }
  out += '\n';
}

/// Which groups each triangle lies in with all three corners.
class GroupsOfTriangles {
 public:
  explicit GroupsOfTriangles(const TriMesh& mesh) : of_vertex_(mesh.vertexCount()) {
    for (std::uint32_t g = 0; g < mesh.groups.size(); ++g)
      for (const std::uint32_t v : mesh.groups[g].vertices) of_vertex_[v].push_back(g);
  }
  void find(const Triangle& t, std::vector<std::uint32_t>& groups) {
    const std::vector<std::uint32_t>& a = of_vertex_[t[0]];
    const std::vector<std::uint32_t>& b = of_vertex_[t[1]];
    const std::vector<std::uint32_t>& c = of_vertex_[t[2]];
    groups.clear();
    both_.clear();
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both_));
    std::set_intersection(both_.begin(), both_.end(), c.begin(), c.end(),
                          std::back_inserter(groups));
  }

 private:
  /// Sorted, since groups are visited in order.
  std::vector<std::vector<std::uint32_t>> of_vertex_;
  std::vector<std::uint32_t> both_;
};

void appendGroups(std::string& out, std::span<const std::uint32_t> groups, const TriMesh& mesh) {
  out += 'g';
  for (const std::uint32_t g : groups) out += ' ' + wordName(mesh.groups[g].name);
  endNames(out);
}

/// An `o` brings a group of its name with it, so it is written only where the character has that
/// group already, or where it takes several to tell the objects apart. (The first one needs none if
/// it has the name that the reader would give it.)
bool writesObject(const Character& c, const MeshInstance& instance) {
  const VertexGroup* group =
      instance.name.empty() ? nullptr : c.mesh.findGroup(wordName(instance.name));
  if (group == nullptr) {
    const bool unnamed = instance.name.empty() || instance.name == c.name;
    return c.instances.size() > 1 && !(&instance == &c.instances.front() && unnamed);
  }
  for (std::size_t p = instance.first_part;
       p < instance.first_part + std::size_t{instance.part_count}; ++p)
    for (std::size_t t = c.parts[p].first_triangle;
         t < c.parts[p].first_triangle + std::size_t{c.parts[p].triangle_count}; ++t)
      for (const std::uint32_t v : c.mesh.triangles[t])
        if (!std::binary_search(group->vertices.begin(), group->vertices.end(), v)) return false;
  return true;
}

/// The reader numbers groups as it meets their names. Where the faces and objects would bring them
/// in another order, a statement before the first face says the right one.
void appendGroupOrder(std::string& out, const Character& c, GroupsOfTriangles& groups_of) {
  std::vector<bool> met(c.mesh.groups.size(), false);
  std::vector<std::uint32_t> order, here;
  for (const Triangle& t : c.mesh.triangles) {
    groups_of.find(t, here);
    for (const std::uint32_t g : here) {
      if (met[g]) continue;
      met[g] = true;
      order.push_back(g);
    }
  }
  const bool objects = std::any_of(c.instances.begin(), c.instances.end(),
                                   [&](const MeshInstance& i) { return writesObject(c, i); });
  if (order.size() < 2 || (!objects && std::is_sorted(order.begin(), order.end()))) return;
  std::sort(order.begin(), order.end());
  appendGroups(out, order, c.mesh);
  out += "g\n";  // faces start in no group again
}

void appendFaces(std::string& out, const Character& c) {
  GroupsOfTriangles groups_of(c.mesh);
  appendGroupOrder(out, c, groups_of);
  std::vector<std::uint32_t> here, written;
  std::string material;
  for (const MeshInstance& instance : c.instances) {
    if (writesObject(c, instance)) endNames(out += "o " + lineName(instance.name));
    for (std::size_t p = instance.first_part;
         p < instance.first_part + std::size_t{instance.part_count}; ++p) {
      const MeshPart& part = c.parts[p];
      const std::string wanted = part.material < 0 ? "" : lineName(c.materials[part.material].name);
      if (wanted != material) endNames(out += "usemtl " + wanted);
      material = wanted;
      for (std::size_t t = part.first_triangle;
           t < part.first_triangle + std::size_t{part.triangle_count}; ++t) {
        groups_of.find(c.mesh.triangles[t], here);
        if (here != written) appendGroups(out, here, c.mesh);
        written = here;
        appendFace(out, c.mesh.triangles[t], c.mesh);
      }
    }
  }
}

void noteLosses(const Character& c, const std::string& file, Diagnostics& notes) {
  if (c.skeleton.size() > 0)
    notes.info("skeleton-not-in-obj", file, "OBJ cannot hold a skeleton, its skin and clips");
  if (!c.morphs.empty()) notes.info("morphs-not-in-obj", file, "OBJ cannot hold morph targets");
  if (!c.points.empty()) notes.info("points-not-in-obj", file, "OBJ cannot hold labelled points");
  if (!c.materials.empty())
    notes.info("materials-not-in-obj", file, "only the names of materials are written");
  for (std::size_t g = 0; g < c.mesh.groups.size(); ++g) {
    const std::vector<float>& strengths = c.mesh.groups[g].strengths;
    if (std::any_of(strengths.begin(), strengths.end(), [](float s) { return s != 1.0f; }))
      notes.warn("strengths-not-in-obj", file, "OBJ groups have no strengths", g);
  }
  if (std::any_of(c.mesh.colours.begin(), c.mesh.colours.end(),
                  [](const Vec4f& colour) { return colour[3] != 1.0f; }))
    notes.warn("alpha-not-in-obj", file, "OBJ vertex colours have no alpha");
}

}  // namespace

std::string encodeObj(const Character& character) {
  std::string out = "# derm\n";
  out.reserve(out.size() + 100 * character.mesh.vertexCount() +
              40 * character.mesh.triangles.size());
  appendVertices(out, character.mesh);
  appendFaces(out, character);
  return out;
}

Result<void> saveObj(const std::filesystem::path& file, const Character& character,
                     Diagnostics& notes, OutputFiles& files) {
  if (character.mesh.vertexCount() == 0)
    return Error{ErrorCode::BadArgument,
                 "the character has no mesh to write as OBJ",
                 {.file = file.string()}};
  DERM_CHECK(validate(character));
  DERM_CHECK(files.write(file, encodeObj(character)));
  noteLosses(character, file.string(), notes);
  return {};
}

}  // namespace derm
