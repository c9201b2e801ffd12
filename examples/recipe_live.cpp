// A recipe in an engine's own loop: the artist's file says which layers a character has, the engine
// has the poses. derm reads the recipe once and gives back a surface for every pose.
// usage: derm_example_recipe_live RECIPE.toml
#include <cmath>
#include <cstdio>

#include "derm/deform/stack.h"
#include "derm/mesh/measures.h"
#include "derm/scene/scene.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s RECIPE.toml\n", argv[0]), 2;
  derm::Diagnostics notes;
  const derm::Result<derm::Recipe> recipe = derm::loadRecipe(argv[1]);
  if (!recipe) return std::fprintf(stderr, "%s\n", recipe.error().text().c_str()), 1;
  const derm::Result<derm::Scene> scene = derm::openScene(*recipe, {}, notes);
  if (!scene) return std::fprintf(stderr, "%s\n", scene.error().text().c_str()), 1;
  const derm::Character& character = *scene->character();

  // One per character on the stage; the stack is shared between them.
  derm::StackRunner runner(scene->sharedStack());
  derm::Pose pose = character.restPose();
  runner.setPose(pose, 0);
  runner.reset();
  constexpr double kStep_s = 1.0 / 120;
  for (int frame = 1; frame <= 240; ++frame) {
    const double time_s = frame * kStep_s;
    // Whatever the engine does with its joints: here all of them sway a little.
    for (std::size_t j = 1; j < pose.local.size(); ++j) {
      const float angle = 0.1f * static_cast<float>(std::sin(4 * time_s + 0.3 * double(j)));
      pose.local[j].rotation = character.restPose().local[j].rotation *
                               derm::Quatf(std::cos(angle / 2), 0, 0, std::sin(angle / 2));
    }
    runner.setPose(pose, time_s);
    runner.step(kStep_s);
    const derm::SkinFrame& skin = runner.evaluate();  // positions(), normals() go to the GPU
    if (frame % 60 == 0)
      std::printf("%.2f s: %zu vertices, volume %.6f m3\n", time_s, skin.vertexCount(),
                  derm::volume(skin.positions(), skin.triangles()));
  }
  return 0;
}
