// Builds a cast member, poses it, writes it and reads it back: each room is linked and used.
#include <cstdio>
#include <vector>

#include "derm/cast/cast.h"
#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const derm::Result<derm::Character> cylinder = derm::makeCastMember("cylinder");
  if (!cylinder) return 1;
  derm::Diagnostics notes;
  if (!derm::saveCharacter(*cylinder, argv[1], notes)) return 1;
  const derm::Result<derm::Character> back = derm::loadCharacter(argv[1], {}, notes);
  if (!back) return 1;
  const double rest = derm::volume(back->mesh.positions, back->mesh.triangles);
  std::printf("%zu vertices, %.4f m3\n", back->mesh.vertexCount(), rest);
  return back->mesh.vertexCount() == 627 && rest > 62.17 && rest < 62.18 ? 0 : 1;
}
