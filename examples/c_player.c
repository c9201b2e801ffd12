/* derm in C: opens a recipe, moves the character by poses of one's own, reads what to draw.
 * usage: derm_example_c_player RECIPE.toml */
#include <derm/derm.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(void) { return fprintf(stderr, "%s\n", derm_last_error()), 1; }

/* The whole file, or NULL. */
static char* textOf(const char* name) {
  FILE* file = fopen(name, "rb");
  if (file == NULL) return NULL;
  const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* text = size < 0 ? NULL : calloc((size_t)size + 1, 1);
  rewind(file);
  if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
    free(text);
    text = NULL;
  }
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: %s RECIPE.toml\n", argv[0]), 2;
  char* recipe = textOf(argv[1]);
  if (recipe == NULL) return fprintf(stderr, "%s: cannot read\n", argv[1]), 1;
  derm_scene* scene = derm_open(NULL, recipe, argv[1]);
  free(recipe);
  if (scene == NULL) return fail();

  /* An engine has poses of its own; here they are those of the first clip, 60 times a second. */
  if (!derm_sample(scene, 0, 0) || !derm_reset(scene)) return fail();
  for (int frame = 1; frame <= 60; ++frame) {
    const double time_s = frame / 60.0;
    if (!derm_sample(scene, 0, time_s)) return fail();
    /* derm_pose(scene): ten floats per joint, to be changed as one likes */
    if (!derm_step(scene, 1 / 60.0)) return fail();
    if (frame % 20 != 0) continue;
    const float* p = derm_positions(scene); /* to the graphics card, with normals and triangles */
    printf("%.2f s: %zu vertices, %zu triangles, the first at %.3f %.3f %.3f\n", time_s,
           derm_vertex_count(scene), derm_triangle_count(scene), p[0], p[1], p[2]);
  }
  derm_close(scene);
  return 0;
}
