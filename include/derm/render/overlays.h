#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/render/camera.h"
#include "derm/render/draw_list.h"

namespace derm {

/// What can be laid over a character. Plain functions that add to a DrawList; none knows OpenGL.

/// A joint of the skeleton as drawn. The room `render` does not know skeletons; a caller fills this
/// from model matrices, leaving out nodes that are no bones.
struct SkeletonJoint {
  Vec3f position = Vec3f::Zero();  ///< [m]
  int parent = -1;                 ///< index of the joint its bone starts at, before it; -1 = none
};

struct SkeletonStyle {
  Vec4f bone = Vec4f(0.02f, 0.42f, 0.62f, 1.0f);  ///< linear RGBA
  Vec4f joint = Vec4f(0.92f, 0.94f, 0.95f, 1.0f);
  float thickness = 0.09f;  ///< widest part of a bone as a share of its length
  float opacity = 0.88f;    ///< [0,1]
  bool on_top = true;       ///< seen through the skin
};

/// Bones as long octahedra from parent to joint, widest near the parent, joints as small balls
/// sized by the bones around them. Parents out of range or after their children draw no bone.
void addSkeleton(DrawList& list, std::span<const SkeletonJoint> joints,
                 const SkeletonStyle& style = {});

struct WireStyle {
  Vec4f colour = Vec4f(0.03f, 0.05f, 0.09f, 0.55f);  ///< linear RGBA
  float width_px = 1.0f;
};

/// Every edge of the triangles once, just above the surface.
void addWireframe(DrawList& list, std::span<const Vec3f> positions,
                  std::span<const Triangle> triangles, const WireStyle& style = {});

struct FieldStyle {
  Vec4f colour = Vec4f(0.02f, 0.12f, 0.62f, 1.0f);  ///< linear RGBA, blue
  float width_px = 1.3f;
  std::size_t stride = 1;  ///< every n-th vertex, >= 1
  float scale = 1.0f;      ///< length of a stroke = scale x displacement
  float min_m = 0.0f;      ///< [m] shorter displacements are left out; exact zeros always are
  bool on_top = false;
};

/// Thin strokes from where each vertex was to where it went. Requires before.size() ==
/// after.size(). Returns the number of strokes.
std::size_t addDisplacementField(DrawList& list, std::span<const Vec3f> before,
                                 std::span<const Vec3f> after, const FieldStyle& style = {});

/// Shows a number per vertex on a surface instead of its materials: colours of image/colour_map.h,
/// exact zero in its own. heatLegend() there makes the legend. Requires one value per position.
void showHeatMap(DrawList& list, DrawSurface& surface, std::span<const float> values,
                 float full = 1.0f);

/// Shows a surface in one colour (linear RGBA) instead of its materials.
void showInOneColour(DrawSurface& surface, const Vec4f& colour);

/// Shows how far a surface's points are from the camera, as grey from 0 (the nearest) to 1 (the
/// farthest): on a clear background without a floor the shape that image/outline.h draws strokes
/// around.
void showDepth(DrawList& list, DrawSurface& surface, const Camera& camera);

}  // namespace derm
