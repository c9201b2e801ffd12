#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/wrinkles.h"
#include "derm/mesh/normals.h"

#include "support/posed.h"

namespace derm::testing_support {

/// Gives a mesh two joints, at x = 0 and at x = 1, with weights growing linearly from one to the
/// other: moving the second along x squeezes the surface evenly. Clip "squeeze": to half in 1 s.
inline Character squeezable(TriMesh mesh) {
  Character c;
  c.name = "squeezable";
  c.mesh = std::move(mesh);
  addDefaultParts(c);
  std::vector<SkinSlot> slots;
  for (int j = 0; j < 2; ++j) {
    Joint joint;
    joint.name = j == 0 ? "still" : "moving";
    joint.rest.translation = Vec3f(float(j), 0, 0);
    c.skeleton.joints.push_back(joint);
    slots.push_back({JointId(std::size_t(j)), joint.rest.matrixd().inverse().cast<float>()});
  }
  Diagnostics notes;
  SkinBuilder builder(slots, c.mesh.vertexCount());
  std::vector<Influence> row;
  for (const Vec3f& p : c.mesh.positions) {
    const float u = std::clamp(p.x(), 0.0f, 1.0f);
    row = {{0, 1 - u}, {1, u}};
    builder.addVertex(row, 0, c.name, notes);
  }
  c.skin = std::move(builder).finish();
  c.clips.push_back({"squeeze",
                     {{.channel = Channel::Translation,
                       .joint = JointId(1),
                       .times_s = {0, 1},
                       .values = {1, 0, 0, 0.5f, 0, 0}}}});
  return c;
}

/// A flat sheet over x in [0, 1], z in [-0.5, 0.5], facing +y.
inline TriMesh sheet(int n) {
  TriMesh mesh;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      mesh.positions.push_back(Vec3f(float(i) / float(n), 0, float(j) / float(n) - 0.5f));
  const auto at = [&](int i, int j) { return std::uint32_t(j * (n + 1) + i); };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
      mesh.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
    }
  mesh.normals.assign(mesh.vertexCount(), Vec3f(0, 1, 0));
  return mesh;
}

inline PickedPoint pick(double x, double y, double z) {
  return {.vertex = std::nullopt, .position = Vec3d(x, y, z)};
}

/// A tool along the middle of the sheet.
inline WrinkleToolDesc sheetTool() {
  WrinkleToolDesc tool;
  tool.name = "folds";
  tool.path = {pick(0.1, 0, 0), pick(0.9, 0, 0)};
  tool.width_m = 0.5;
  tool.curve.points = 9;
  tool.curve.h_max = 0.05;
  return tool;
}

inline std::vector<LayerFactory> withTools(std::vector<WrinkleToolDesc> tools) {
  return {morphLayer(), skinningLayer({}), wrinklesLayer({.tools = std::move(tools)})};
}

/// The sheet (or what is given) with tools, ready to be squeezed.
struct Folded {
  std::shared_ptr<const Character> character;
  Diagnostics notes;
  std::shared_ptr<const Stack> stack;
  StackRunner runner;
  StackRunner plain;  ///< skinning alone

  Folded(Character c, std::vector<WrinkleToolDesc> tools, Topology topology = Topology::Constant)
      : character(std::make_shared<const Character>(std::move(c))),
        stack(Stack::bind(character, withTools(std::move(tools)), notes).value()),
        runner(stack, topology),
        plain(stackOf(character, {morphLayer(), skinningLayer({})})) {}

  const SkinFrame& at(double time_s, std::string_view clip = "squeeze") {
    const Pose pose = poseAt(*character, character->clips[*character->findClip(clip)], time_s);
    runner.setPose(pose, time_s);
    plain.setPose(pose, time_s);
    plain_frame = &plain.evaluate();
    return runner.evaluate();
  }
  /// Goes on with other tools.
  Result<void> change(std::vector<WrinkleToolDesc> tools) {
    DERM_TRY(std::shared_ptr<const Stack> changed,
             stack->rebind(withTools(std::move(tools)), notes));
    stack = std::move(changed);
    runner.change(stack);
    return {};
  }
  WrinklesLayer& layer() { return *runner.find<WrinklesLayer>("wrinkles"); }
  std::size_t baseCount() const { return character->mesh.vertexCount(); }

  const SkinFrame* plain_frame = nullptr;
};

}  // namespace derm::testing_support
