#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/anim/pose.h"
#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/result.h"
#include "derm/mesh/morph_target.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// An encoded picture (PNG, JPEG, …), carried through undecoded.
struct Image {
  std::string name;
  std::string mime_type;            ///< "image/png"; empty if unknown
  std::string uri;                  ///< relative uri of its file, where it was not embedded
  std::vector<std::uint8_t> bytes;  ///< empty where only the uri is known

  bool operator==(const Image&) const = default;
};

/// A tangent-space normal map laid over a material's own, as expression wrinkles and pores are.
/// Several may lie over each other; each has a strength of its own, constant, painted or driven.
struct DetailMap {
  int image = -1;                   ///< into Character::images
  int uv_set = 0;                   ///< TEXCOORD_n, 0 to 7; derm itself keeps the first
  Vec2f uv_scale = Vec2f::Ones();   ///< its uv is scale * uv + offset
  Vec2f uv_offset = Vec2f::Zero();  ///< [1] of the picture's size
  float strength = 1.0f;            ///< [0,16] of its slopes; 1 = as painted
  std::string vertex_group;         ///< VertexGroup that weights it; empty = 1 everywhere
  std::string control;              ///< named control [0,1] that weights it; empty = 1 always
  std::string channel;              ///< of a frame (SkinFrame::channel), weights it; empty = 1

  bool operator==(const DetailMap&) const = default;
};

/// The part of a material that derm's own pictures use; everything else travels in the source
/// document. Image indices are into Character::images, -1 = none.
struct Material {
  std::string name;
  Vec4f base_colour = Vec4f::Ones();  ///< linear RGBA
  int base_colour_image = -1;
  int normal_image = -1;
  std::vector<DetailMap> detail_maps;  ///< over normal_image, in order
  float metallic = 1.0f;
  float roughness = 1.0f;
  bool double_sided = false;
  bool transparent = false;  ///< alpha is blended or masked
  int source_index = -1;     ///< in the source document, -1 if made here

  bool operator==(const Material&) const = default;
};

/// A run of triangles with one material. Parts of one instance may share their vertices.
struct MeshPart {
  std::string name;
  std::uint32_t first_triangle = 0;
  std::uint32_t triangle_count = 0;
  std::uint32_t first_vertex = 0;
  std::uint32_t vertex_count = 0;
  int material = -1;          ///< index into Character::materials, -1 = default
  int source_primitive = -1;  ///< index in the source document's mesh

  bool operator==(const MeshPart&) const = default;
};

/// One mesh as it hangs in the scene: consecutive parts, vertices and morph targets.
struct MeshInstance {
  std::string name;
  JointId joint;       ///< the node that carries it; invalid where there is no skeleton
  bool rigid = false;  ///< follows `joint` alone, as a prop does (its skin rows say the same)
  std::uint32_t first_part = 0;
  std::uint32_t part_count = 0;
  std::uint32_t first_vertex = 0;
  std::uint32_t vertex_count = 0;
  std::uint32_t first_morph = 0;
  std::uint32_t morph_count = 0;
  int source_mesh = -1;  ///< index in the source document
  int source_skin = -1;  ///< index in the source document

  bool operator==(const MeshInstance&) const = default;
};

/// What a reader keeps of a file beyond derm's own types, so that a writer of the same format can
/// give it back: extras, extensions, cameras, second uv sets. Opaque outside io; immutable.
class SourceDocument {
 public:
  virtual ~SourceDocument() = default;
  virtual std::string_view format() const = 0;  ///< "glTF"
};

/// What was found and assumed about a file's units and axes.
struct ImportInfo {
  std::string format;            ///< "glTF 2.0", "OBJ", "cast", …
  std::string declared_unit;     ///< "m", "cm", …; empty where the format says nothing
  double metres_per_unit = 1.0;  ///< what was applied to vertices, binds and motions
  std::string up_axis = "+Y";    ///< of the file; derm's own is always +Y
  std::string generator;         ///< program that wrote the file, where it says so

  bool operator==(const ImportInfo&) const = default;
};

/// A character in memory: plain data, whatever file it came from. One merged mesh in model space
/// (right-handed, +Y up, metres) in the bind pose; the skin's slots refer to joints of the
/// skeleton. A bare mesh has an empty skeleton and an empty skin.
struct Character {
  std::string name;
  TriMesh mesh;
  std::vector<MeshInstance> instances;  ///< cover all vertices and parts, in order
  std::vector<MeshPart> parts;          ///< cover all triangles, in order
  std::vector<MorphTarget> morphs;
  /// Control points, markers, landmarks. Labels are unique and not empty; the order is no content.
  std::vector<LabelledPoint> points;
  Skeleton skeleton;
  Skin skin;  ///< empty, or one row per vertex
  std::vector<Control> controls;
  std::vector<Clip> clips;
  std::vector<Material> materials;
  std::vector<Image> images;
  ImportInfo import;
  std::shared_ptr<const SourceDocument> source;  ///< may be null
  std::vector<int> joint_source;  ///< per joint its node in `source`, -1 = new; or empty

  bool hasSkin() const { return !skin.empty(); }
  /// Per joint whether it belongs to a skin, weighted or not; the nodes of rigid props do not.
  std::vector<bool> bones() const;
  std::size_t boneCount() const;
  std::vector<std::string> clipNames() const;
  /// By name, or by number ("0") where no clip has that name; the error lists the nearest names.
  Result<std::size_t> findClip(std::string_view name_or_number) const;
  /// The control's index, or an error that lists the nearest names.
  Result<std::size_t> findControl(std::string_view name) const;
  /// Null where no point has that label.
  const SurfacePoint* findPoint(std::string_view label) const;
  /// Rest transforms, default morph weights and controls.
  Pose restPose() const;
  /// The pose whose skinning gives `mesh` back: joints at their binds, morph weights 0.
  Pose bindPose() const;
};

/// What its clips may move.
ClipTargets clipTargets(const Character& character);

/// Everything each part's own validate() checks, and that ranges cover and refer correctly.
Result<void> validate(const Character& character);

/// Equal in all derm understands; not the source document, indices into it, or import information.
bool sameContent(const Character& a, const Character& b);

/// Gives a mesh without instances and parts one of each, named after the character.
void addDefaultParts(Character& character);

/// The character as a still: this mesh (same vertices and triangles), its parts, labelled points
/// and materials, and nothing that moves.
Character frozen(const Character& character, TriMesh mesh);

/// Multiplies all lengths: vertices, morphs, joints, binds, translation tracks. Requires factor >
/// 0.
void scaleLengths(Character& character, double factor);

/// Rotates the whole character into another axis system (root joints, vertices, binds).
void rotateAxes(Character& character, const Quatd& rotation);

}  // namespace derm
