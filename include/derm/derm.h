/* derm for programs in C, and what its WebAssembly module exports: characters that come alive, by
 * bytes and text alone.
 *
 * Handles are opaque. Text is UTF-8 and ends with 0. Nothing throws and nothing prints: a function
 * that can fail returns 0 (NULL), and derm_last_error() says why. Pointers that a function returns
 * stay valid until the next call with the same handle that is not a plain getter; text until the
 * next call on the same thread that returns text. A handle is used by one thread at a time.
 *
 * Lengths are metres, times seconds, +Y is up; matrices are column-major; quaternions x y z w.
 *
 *     derm_scene* cat = derm_open(NULL, "character = \"cast:cat\"\n[[layer]]\ntype = \"volume\"\n",
 *                                 "cat.toml");
 *     if (cat == NULL) return fail(derm_last_error());
 *     derm_seek(cat, 0.4);
 *     draw(derm_positions(cat), derm_vertex_count(cat), derm_triangles(cat), …);
 *     derm_close(cat);
 */
#ifndef DERM_DERM_H
#define DERM_DERM_H

#include <stddef.h>
#include <stdint.h>

#define DERM_VERSION_MAJOR 0
#define DERM_VERSION_MINOR 1
#define DERM_VERSION_PATCH 0
/* For comparisons: #if DERM_VERSION >= 100. */
#define DERM_VERSION (10000 * DERM_VERSION_MAJOR + 100 * DERM_VERSION_MINOR + DERM_VERSION_PATCH)

/* Before what the shared library exports; may be defined to what a compiler needs. */
#ifndef DERM_API
#define DERM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" of the library, which may be newer than this header. */
DERM_API const char* derm_version(void);

/* Why the last call on this thread that failed did so, as a JSON object:
 * {"code":"bad_data","text":"look.toml:2:8: clip: no clip \"jumpp\"","message":"no clip \"jumpp\"",
 *  "file":"look.toml","element":"clip","line":2,"column":8}
 * Codes: bad_data, bad_argument, unsupported, cannot_read, cannot_write, cancelled, out_of_memory,
 * internal.
 * file and element may be empty, line and column 0. */
DERM_API const char* derm_last_error(void);

/* ------------------------------------------------------------------------------- what there is */

/* JSON [{"name","description"}]: characters and liquids that derm makes by itself, "cast:NAME". */
DERM_API const char* derm_cast(void);
DERM_API const char* derm_liquids(void);
/* JSON [{"name","text"}]: recipes for them. */
DERM_API const char* derm_shipped_recipes(void);
/* JSON: everything that a recipe may hold.
 * {"sections":[{"name":"skinning","fields":[FIELD]}],
 *  "layers":[{"type":"flesh","summary":"…","fields":[FIELD]}]}
 * FIELD: {"key":"frequency_hz","kind":"number","low":0.001,"high":1000,"unit":"Hz","default":3,
 *  "help":"of the free swing","live":true}
 * Kinds: flag, number, integer, text, numbers (with "count":[least,most]), joint, joints, group,
 * groups, word (with "words"), word_or_groups, word_or_joints, tables (with "fields"; those have no
 * "live"). No "low" or "high": no such limit. No "default": the key may be absent. "live": a change
 * shows at once. */
DERM_API const char* derm_recipe_fields(void);
/* JSON: what is said about faces. {"points":[{"label":"8.1","name":"upper_lip_middle","meaning"}],
 * the 28 control points, "regions":[name]} */
DERM_API const char* derm_face_names(void);

/* ------------------------------------------------------------------------------ files by name */

/* Bytes under names, for recipes and characters that refer to files: a glTF's buffers, motions,
 * tables. What is not found here is looked for on disk, where there is one. */
typedef struct derm_files derm_files;
DERM_API derm_files* derm_files_new(void);
/* Room for a file of this name: the caller writes its bytes there, at once. */
DERM_API unsigned char* derm_files_add(derm_files* files, const char* name, size_t size);
/* Scenes that were opened with them keep what they need. */
DERM_API void derm_files_free(derm_files* files);

/* ------------------------------------------------------------------------------------- a scene */

/* A character at play: its recipe, the stack of layers, and the present frame. */
typedef struct derm_scene derm_scene;

/* Opens a recipe's text. `name` is its file's, for messages and for what it names; `files` may be
 * NULL. The first frame is evaluated. */
DERM_API derm_scene* derm_open(const derm_files* files, const char* recipe, const char* name);
/* A character by itself, with linear skinning and no layers: "cast:cat", "body.glb". */
DERM_API derm_scene* derm_open_character(const derm_files* files, const char* character);
DERM_API void derm_close(derm_scene* scene);

/* JSON: {"name","vertices","triangles","diagonal_m","has_skin",
 *  "joints":[{"name","parent","node","bone"}],  parent -1 = none; node: number in the glTF
 *  "clips":[{"name","duration_s","joints":[j],"morphs":[m]}],  what each moves
 *  "morphs":[{"name","preset"}], "controls":[{"name","low","high","preset"}],
 *  "points":[{"label","triangle","barycentric"}],
 *  "groups":[name], "images":[{"name","mime_type","uri","bytes"}],
 *  "materials":[{"name","base_colour","base_colour_image","normal_image","metallic","roughness",
 *    "double_sided","transparent","source","detail_maps":[{"image","strength","uv_set","uv_scale",
 *    "uv_offset","group","control","channel"}]}],
 *  "parts":[{"name","instance","material","node","mesh","primitive","rigid","first_morph",
 *    "morph_count","first_vertex","vertex_count"}],  node, mesh, primitive: of the glTF, -1 = none
 *  "metres_per_unit","notes":[text]}  what was odd when it was opened */
DERM_API const char* derm_character(derm_scene* scene);
/* JSON, changes with edits: {"clip":{"name","number","duration_s"} or null,"start_s","end_s",
 *  "loop","fps","frames","sections":{"":{"fps":60,…},"skinning":{…},…}, "controls":{name:value},
 *  "layers":[{"name","type","enabled","before_skinning","keys":{…}}],
 *  "masks":[name],"channels":[name]} */
DERM_API const char* derm_recipe(derm_scene* scene);
/* The recipe as TOML, comments and order kept through edits. */
DERM_API const char* derm_recipe_text(derm_scene* scene);

/* Edits. The scene plays on: only what changed is bound again. Each returns JSON
 * {"rebound":[layer names],"reopened":false,"ms":1.2,"notes":[text]}, or NULL, and then nothing
 * changed. Undo is derm_set_recipe_text() with the text from before. */
DERM_API const char* derm_set_recipe_text(derm_scene* scene, const char* text);
/* `layer` NULL or "" = the recipe's own keys ("fps", "skinning.alpha", "controls.smile"). The value
 * is JSON; NULL or "" = the default. */
DERM_API const char* derm_set_key(derm_scene* scene, const char* layer, const char* key,
                                  const char* json);
/* `name` NULL = made from the type; `keys` a JSON object or NULL; `index` among the layers, -1 =
 * last. */
DERM_API const char* derm_add_layer(derm_scene* scene, const char* type, const char* name,
                                    int index, const char* keys);
DERM_API const char* derm_remove_layer(derm_scene* scene, const char* name);
DERM_API const char* derm_move_layer(derm_scene* scene, const char* name, int index);
DERM_API const char* derm_enable_layer(derm_scene* scene, const char* name, int enabled);
DERM_API const char* derm_rename_layer(derm_scene* scene, const char* name, const char* to);

/* The recipe's text with proposals for this character in it, not yet set: "flesh", "contact",
 * "wrinkles" (of the clip that plays), "volume" (with centre skinning), or "all". */
DERM_API const char* derm_propose(derm_scene* scene, const char* what);

/* ------------------------------------------------------------------------------------ playing */

/* The frame at this instant of the clip. The same instant gives the same bits, whatever was shown
 * before. Only while one plays on after an edit (instants at most 0.25 s apart) does motion go on
 * from where it was, without a jump. */
DERM_API int derm_seek(derm_scene* scene, double time_s);

/* The host's own pose: ten floats per joint (translation, rotation, scale, relative to the parent),
 * a weight per morph target, a value per control. After derm_seek() they hold what was played.
 * Write here, then derm_step(). */
DERM_API float* derm_pose(derm_scene* scene);
DERM_API float* derm_morph_weights(derm_scene* scene);
DERM_API float* derm_controls(derm_scene* scene);
/* Writes an instant of a clip into the pose, without a frame; clip -1 = the rest pose. */
DERM_API int derm_sample(derm_scene* scene, int clip, double time_s);
/* The frame dt_s >= 0 seconds after the last, in the host's pose. Frames may be uneven. */
DERM_API int derm_step(derm_scene* scene, double dt_s);
/* After a cut: at rest in the host's pose. */
DERM_API int derm_reset(derm_scene* scene);
/* A control's value until the next edit, whatever the clip says; not finite = as the clip says. (A
 * value that stays is an edit: derm_set_key(scene, NULL, "controls.smile", "0.5").) */
DERM_API int derm_hold_control(derm_scene* scene, int control, double value);

/* ---------------------------------------------------------------------------- the present frame */

DERM_API size_t derm_vertex_count(const derm_scene* scene);
DERM_API const float* derm_positions(const derm_scene* scene); /* three per vertex */
DERM_API const float* derm_normals(const derm_scene* scene);   /* three per vertex, or NULL */
DERM_API const float* derm_tangents(const derm_scene* scene);  /* four per vertex, or NULL */
DERM_API const float* derm_uvs(const derm_scene* scene);       /* two per vertex, or NULL */
DERM_API const float* derm_colours(const derm_scene* scene);   /* four per vertex, or NULL */
/* Three indices per triangle, those of a part together. */
DERM_API size_t derm_triangle_count(const derm_scene* scene);
DERM_API const uint32_t* derm_triangles(const derm_scene* scene);
/* First triangle and number of triangles, for each part of the character. */
DERM_API const uint32_t* derm_part_ranges(const derm_scene* scene);
/* Changes whenever vertices or triangles are others than before. */
DERM_API uint32_t derm_topology(const derm_scene* scene);
/* Plain linear skinning of the same pose and vertices: what an engine shows without derm. */
DERM_API const float* derm_linear_positions(derm_scene* scene);
/* A column-major matrix of sixteen floats per joint: joint to model space, in the present pose. */
DERM_API const float* derm_joint_matrices(derm_scene* scene);
/* Three floats per labelled point of the character, on the present surface. */
DERM_API const float* derm_point_positions(derm_scene* scene);

/* A number per vertex of the present frame:
 *   "weight:JOINT"   [0,1] how much it follows the joint
 *   "mask:NAME"      where a layer works: gamma of volume, a flesh element, a fold; also channels
 *   "group:NAME"     [0,1] a vertex group of the character
 *   "region:NAMES"   [0,1] how much it belongs to parts of the face: "mouth", "brows.left, 9.3"
 *   "displacement"   [m] distance from plain linear skinning
 *   "compression"    share of its area that was lost against rest; negative where it was stretched
 */
DERM_API const float* derm_channel(derm_scene* scene, const char* name);

/* JSON of the frame: {"time_s","layers":[{"name","type","ms",
 *   flesh: "elongation_m":[x,y,z],"velocity_m_per_s":[x,y,z]
 *   wrinkles: "tools":[{"name","length_m","rest_length_m","height_m","bumps","missing_m"}]
 *   volume: "regions":[{"name","rest_m3","before_m3","target_m3","after_m3","idle"}],
 *           "largest_move_m","iterations"}]} */
DERM_API const char* derm_frame_report(derm_scene* scene);

typedef struct derm_hit {
  uint32_t triangle; /* in derm_triangles() */
  uint32_t vertex;   /* the nearest corner */
  int32_t joint;     /* that carries this corner most; -1 = none */
  uint32_t part;
  float barycentric[3];
  float position[3];
  float normal[3];
  float distance;
  int32_t character_triangle; /* of the character's own mesh */
} derm_hit;
/* What a ray meets first on the present surface. 1 = hit; 0 = nothing, and no error. */
DERM_API int derm_pick(derm_scene* scene, const float origin[3], const float direction[3],
                       derm_hit* hit);

/* ---------------------------------------------------------------------- changing the character */

/* A vertex group, [0,1] per vertex of the character's own mesh, made where there is none. All zero
 * removes it. Everything that depends on the character is bound anew; JSON as for edits. */
DERM_API const char* derm_set_group(derm_scene* scene, const char* name, const float* strengths,
                                    size_t count);
/* A labelled point, moved or made; triangle of the character's own mesh; -1 removes it. */
DERM_API const char* derm_set_point(derm_scene* scene, const char* label, int triangle,
                                    const float barycentric[3]);
/* Several at once, bound once: JSON [{"label","triangle","barycentric":[a,b,c]}]. */
DERM_API const char* derm_set_points(derm_scene* scene, const char* json);
/* Points of another head, found on this one by its shape; nothing is changed. `source`: a head with
 * labelled points ("cast:man", or a file's name); NULL or "" = the 28 control points, from heads of
 * the cast. JSON {"source","residual","points":[{"label","triangle","barycentric","confidence"}]}.
 * Takes seconds. */
DERM_API const char* derm_find_points(derm_scene* scene, const char* source);

/* ARKit's 52 shapes as morph targets, made from the 28 control points of the face; as edits. */
DERM_API const char* derm_add_face_shapes(derm_scene* scene);

/* ------------------------------------------------------------------------------------ bytes out */

/* `options`: JSON {"format":"glb"|"pc2"|"mdd","as":"cache"|"correctives",
 * "shapes":n,"error_m":e,"measure":true} or NULL. NULL = failed. */
DERM_API const unsigned char* derm_bake(derm_scene* scene, const char* options, size_t* size);
/* JSON of the last bake, as `derm bake --report` writes it. */
DERM_API const char* derm_bake_report(derm_scene* scene);
/* The character as a .glb, with its groups, points and motions. */
DERM_API const unsigned char* derm_character_glb(derm_scene* scene, size_t* size);
/* A picture of the character, undecoded: PNG, JPEG. */
DERM_API const unsigned char* derm_image(derm_scene* scene, int image, size_t* size);

/* -------------------------------------------------------------------------------------- liquids */

/* A liquid of the cast with its skin: "pour". `detail` > 0: voxels across a particle's radius, 0 =
 * the default. */
typedef struct derm_liquid derm_liquid;
DERM_API derm_liquid* derm_liquid_open(const char* name, double detail);
DERM_API void derm_liquid_close(derm_liquid* liquid);
DERM_API int derm_liquid_step(derm_liquid* liquid, double dt_s);
DERM_API double derm_liquid_time(const derm_liquid* liquid);
DERM_API double derm_liquid_volume(const derm_liquid* liquid); /* [m^3] of the skin's triangles */
DERM_API size_t derm_liquid_vertex_count(const derm_liquid* liquid);
DERM_API const float* derm_liquid_positions(const derm_liquid* liquid);
DERM_API const float* derm_liquid_normals(const derm_liquid* liquid);
DERM_API size_t derm_liquid_triangle_count(const derm_liquid* liquid);
DERM_API const uint32_t* derm_liquid_triangles(const derm_liquid* liquid);

#ifdef __cplusplus
}
#endif

#endif
