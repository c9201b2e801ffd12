#include "io/obj_faces.h"

#include <algorithm>
#include <utility>

#include "io/text_scanner.h"

namespace derm::detail::obj {
namespace {

std::uint32_t runEnd(const Faces& faces, std::size_t run) {
  return run + 1 < faces.runs.size() ? faces.runs[run + 1].first_triangle
                                     : static_cast<std::uint32_t>(faces.triangles.size());
}

/// Where each object's instance begins, if every object's vertices follow the ones before.
struct ObjectStart {
  std::uint32_t run = 0;
  std::uint32_t first_vertex = 0;
};

std::vector<ObjectStart> objectStarts(const Faces& faces) {
  const std::vector<ObjectStart> whole = {{0, 0}};
  if (faces.corners.vertexCount() != faces.corners.positionCount()) return whole;
  std::vector<ObjectStart> starts;
  std::uint32_t before = 0;  // one past the highest vertex of the objects before
  for (std::size_t run = 0; run < faces.runs.size();) {
    const std::size_t first_run = run;
    std::uint32_t lowest = kNone;
    std::uint32_t end = before;
    for (; run < faces.runs.size() && faces.runs[run].object == faces.runs[first_run].object; ++run)
      for (std::size_t t = faces.runs[run].first_triangle; t < runEnd(faces, run); ++t)
        for (const std::uint32_t v : faces.triangles[t]) {
          lowest = std::min(lowest, v);
          end = std::max(end, v + 1);
        }
    if (lowest < before) return whole;
    // Loose vertices between two objects stay with the first; those before all, too.
    starts.push_back({static_cast<std::uint32_t>(first_run), starts.empty() ? 0 : lowest});
    before = end;
  }
  return starts.empty() ? whole : starts;
}

/// The runs each group has; `complete` turns false where there are more than `max_runs` in all.
std::vector<std::vector<std::uint32_t>> runsOfGroups(const Faces& faces, std::uint64_t max_runs,
                                                     bool& complete) {
  std::vector<std::vector<std::uint32_t>> runs_of(faces.groups.names().size());
  const auto add = [&](std::uint32_t group, std::uint32_t run) {
    std::vector<std::uint32_t>& runs = runs_of[group];
    if (!runs.empty() && runs.back() == run) return;  // named twice: `g a a`, or by `o` and `g`
    if (max_runs == 0)
      complete = false;
    else
      runs.push_back(run);
    max_runs -= max_runs > 0;
  };
  for (std::uint32_t r = 0; r < faces.runs.size(); ++r) {
    const Run& run = faces.runs[r];
    if (run.object != kNone && faces.object_groups[run.object] != kNone)
      add(faces.object_groups[run.object], r);
    if (run.group_set == kNone) continue;
    const std::uint32_t end = faces.set_offsets[run.group_set + 1];
    for (std::uint32_t g = faces.set_offsets[run.group_set]; g < end && complete; ++g)
      add(faces.set_groups[g], r);
  }
  return runs_of;
}

}  // namespace

std::string groupName(std::string_view object) {
  std::string name(object);
  std::replace_if(name.begin(), name.end(), text::isBlank, '_');
  if (name.starts_with('#')) name.front() = '_';  // would begin a comment
  return name;
}

void addParts(const Faces& faces, Character& character) {
  for (const std::string_view name : faces.materials.names()) {
    Material material;
    material.name = name;
    material.metallic = 0.0f;
    character.materials.push_back(std::move(material));
  }
  const auto vertex_count = static_cast<std::uint32_t>(character.mesh.vertexCount());
  const std::vector<ObjectStart> starts = objectStarts(faces);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool last = i + 1 == starts.size();
    const std::size_t end_run = last ? faces.runs.size() : starts[i + 1].run;
    const std::uint32_t object = faces.runs.empty() ? kNone : faces.runs[starts[i].run].object;
    const bool same_object = std::all_of(faces.runs.begin() + starts[i].run,
                                         faces.runs.begin() + static_cast<std::ptrdiff_t>(end_run),
                                         [&](const Run& r) { return r.object == object; });
    MeshInstance instance;
    instance.name = object == kNone || !same_object ? character.name : faces.objects[object];
    instance.first_part = static_cast<std::uint32_t>(character.parts.size());
    instance.first_vertex = starts[i].first_vertex;
    instance.vertex_count =
        (last ? vertex_count : starts[i + 1].first_vertex) - instance.first_vertex;
    for (std::size_t r = starts[i].run; r < end_run; ++r) {
      const std::uint32_t count = runEnd(faces, r) - faces.runs[r].first_triangle;
      const int material =
          faces.runs[r].material == kNone ? -1 : static_cast<int>(faces.runs[r].material);
      if (r > starts[i].run && character.parts.back().material == material) {
        character.parts.back().triangle_count += count;
        continue;
      }
      character.parts.push_back({.name = instance.name,
                                 .first_triangle = faces.runs[r].first_triangle,
                                 .triangle_count = count,
                                 .first_vertex = instance.first_vertex,
                                 .vertex_count = instance.vertex_count,
                                 .material = material});
    }
    if (faces.runs.empty())
      character.parts.push_back({.name = instance.name, .vertex_count = vertex_count});
    instance.part_count = static_cast<std::uint32_t>(character.parts.size()) - instance.first_part;
    character.instances.push_back(std::move(instance));
  }
}

void addGroups(const Faces& faces, std::string_view file, std::size_t text_size,
               Character& character, Diagnostics& notes) {
  bool complete = true;
  const std::vector<std::vector<std::uint32_t>> runs_of =
      runsOfGroups(faces, 4'000'000 + std::uint64_t{text_size}, complete);
  std::uint64_t corners_left = 16'000'000 + 8 * std::uint64_t{text_size};
  std::uint64_t members_left = 2'000'000 + std::uint64_t{text_size} / 2;
  std::vector<std::uint32_t> member_of(character.mesh.vertexCount(), kNone);
  for (std::uint32_t g = 0; g < runs_of.size(); ++g) {
    std::uint64_t corners = 0;
    for (const std::uint32_t r : runs_of[g])
      corners += 3 * std::uint64_t{runEnd(faces, r) - faces.runs[r].first_triangle};
    if (corners == 0) continue;
    VertexGroup group;
    group.name = faces.groups.names()[g];
    if (corners <= corners_left) {
      corners_left -= corners;
      for (const std::uint32_t r : runs_of[g])
        for (std::size_t t = faces.runs[r].first_triangle; t < runEnd(faces, r); ++t)
          for (const std::uint32_t v : faces.triangles[t])
            if (std::exchange(member_of[v], g) != g) group.vertices.push_back(v);
    }
    if (group.vertices.empty() || group.vertices.size() > members_left) {
      complete = false;
      continue;
    }
    members_left -= group.vertices.size();
    std::sort(group.vertices.begin(), group.vertices.end());
    group.vertices.shrink_to_fit();
    group.strengths.assign(group.vertices.size(), 1.0f);
    character.mesh.groups.push_back(std::move(group));
  }
  if (!complete)
    notes.warn("groups-left-out", file, "more group names than the faces justify; some left out");
}

}  // namespace derm::detail::obj
