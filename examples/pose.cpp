// Loads a character, poses its first clip half-way and tells what linear skinning did to its
// volume. usage: derm_example_pose CHARACTER.glb
#include <cstdio>

#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CHARACTER\n", argv[0]), 2;
  derm::Diagnostics notes;
  const derm::Result<derm::Character> character = derm::loadCharacter(argv[1], {}, notes);
  if (!character) return std::fprintf(stderr, "%s\n", character.error().text().c_str()), 1;

  derm::Pose pose = character->restPose();
  if (!character->clips.empty())
    derm::sampleClip(character->clips[0], character->clips[0].duration_s() / 2, pose);
  const derm::Result<derm::TriMesh> posed =
      derm::poseCharacter(*character, pose, derm::SkinningMethod::Linear);
  if (!posed) return std::fprintf(stderr, "%s\n", posed.error().text().c_str()), 1;

  std::printf("%s: volume %.6f m3 in the bind pose, %.6f m3 posed\n", character->name.c_str(),
              derm::volume(character->mesh.positions, character->mesh.triangles),
              derm::volume(posed->positions, posed->triangles));
  return 0;
}
