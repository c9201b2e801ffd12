#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"

#include "io/obj_tables.h"

namespace derm::detail::obj {

/// Triangles that share object, groups and material, one after the other.
struct Run {
  std::uint32_t first_triangle = 0;
  std::uint32_t object = kNone;     ///< into Faces::objects
  std::uint32_t group_set = kNone;  ///< into Faces::set_offsets
  std::uint32_t material = kNone;   ///< into Faces::materials

  bool sameState(const Run& other) const {
    return object == other.object && group_set == other.group_set && material == other.material;
  }
};

/// The connectivity of an OBJ text: triangles over CornerTable's vertices, and what the statements
/// between them said. Names are views into the text.
struct Faces {
  explicit Faces(std::size_t position_count) : corners(position_count) {}

  CornerTable corners;
  std::vector<Triangle> triangles;
  std::vector<Run> runs;
  std::vector<std::string_view> objects;     ///< one per `o` statement
  std::vector<std::uint32_t> object_groups;  ///< its number in `groups`, or kNone
  NameTable groups;
  std::deque<std::string> made_names;  ///< owns group names that are not in the text as they are
  std::vector<std::uint32_t> set_offsets = {
      0};                                 ///< group set s: [set_offsets[s], set_offsets[s+1])
  std::vector<std::uint32_t> set_groups;  ///< numbers in `groups`
  NameTable materials;
  std::vector<std::string_view> libraries;  ///< names in `mtllib` statements, whole lines
};

/// Instances, parts and materials (names only) of `character`, whose vertices are in place.
void addParts(const Faces& faces, Character& character);

/// Vertex groups for `g` and `o` names that have triangles. What would take more room than the file
/// justifies (hundreds of names on every face) is left out and noted.
void addGroups(const Faces& faces, std::string_view file, std::size_t text_size,
               Character& character, Diagnostics& notes);

/// `o` names as group names: groups are told apart by blanks.
std::string groupName(std::string_view object);

}  // namespace derm::detail::obj
