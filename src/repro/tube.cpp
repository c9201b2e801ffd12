#include "repro/tube.h"

#include <cmath>
#include <numbers>
#include <string>

#include "derm/deform/pose_character.h"
#include "derm/mesh/normals.h"

namespace derm::detail::repro {
namespace {

Quatf aboutY(double degrees) {
  const double half = degrees * std::numbers::pi / 360;
  return Quatd(std::cos(half), 0, std::sin(half), 0).cast<float>();
}

void addTubeMesh(const TubeDesc& desc, TriMesh& mesh) {
  for (int r = 0; r < desc.rings; ++r)
    for (int s = 0; s < desc.sectors; ++s) {
      const double around = 2 * std::numbers::pi * s / desc.sectors;
      mesh.positions.push_back(Vec3d(desc.radius_m * std::cos(around),
                                     desc.radius_m * std::sin(around),
                                     desc.length_m * r / (desc.rings - 1))
                                   .cast<float>());
    }
  const auto at = [&](int r, int s) {
    return static_cast<std::uint32_t>(r * desc.sectors + s % desc.sectors);
  };
  const auto bottom = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.emplace_back(0.0f, 0.0f, 0.0f);
  mesh.positions.emplace_back(0.0f, 0.0f, static_cast<float>(desc.length_m));
  for (int s = 0; s < desc.sectors; ++s) {
    for (int r = 0; r + 1 < desc.rings; ++r) {
      mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
      mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
    }
    mesh.triangles.push_back({bottom, at(0, s + 1), at(0, s)});
    mesh.triangles.push_back({bottom + 1, at(desc.rings - 1, s), at(desc.rings - 1, s + 1)});
  }
  mesh.normals = areaWeightedNormals(mesh.positions, mesh.triangles);
}

}  // namespace

Character tube(const TubeDesc& desc, const TubeWeights& weights) {
  Character out;
  out.name = "tube";
  addTubeMesh(desc, out.mesh);
  std::vector<SkinSlot> slots;
  for (std::size_t j = 0; j < desc.joints.size(); ++j) {
    Joint joint{.name = "j" + std::to_string(j)};
    if (j > 0) joint.parent = JointId(j - 1);
    joint.rest.translation =
        Vec3f(0, 0, static_cast<float>(desc.joints[j] - (j > 0 ? desc.joints[j - 1] : 0.0)));
    out.skeleton.joints.push_back(joint);
    SkinSlot slot{.joint = JointId(j)};
    slot.inverse_bind.translation() = Vec3f(0, 0, static_cast<float>(-desc.joints[j]));
    slots.push_back(slot);
  }
  SkinBuilder builder(slots, out.mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (const Vec3f& p : out.mesh.positions) {
    row.clear();
    double sum = 0;
    for (std::size_t j = 0; j < desc.joints.size(); ++j) sum += weights(p.cast<double>(), j);
    for (std::size_t j = 0; j < desc.joints.size(); ++j)
      if (const double w = weights(p.cast<double>(), j) / sum; w > 0)
        row.push_back({static_cast<std::uint32_t>(j), static_cast<float>(w)});
    builder.addVertex(row, 0, "tube", notes);
  }
  out.skin = std::move(builder).finish();
  addDefaultParts(out);
  return out;
}

Clip bendingClip(const std::vector<double>& degrees) {
  Track turn{.channel = Channel::Rotation, .joint = JointId(1)};
  for (std::size_t key = 0; key < degrees.size(); ++key) {
    const Quatf q = aboutY(degrees[key]);
    turn.times_s.push_back(static_cast<float>(key));
    turn.values.insert(turn.values.end(), {q.x(), q.y(), q.z(), q.w()});
  }
  return {"bend", {turn}};
}

std::vector<Vec3f> bentTube(const Character& tube, double degrees) {
  Pose pose = tube.restPose();
  pose.local[1].rotation = aboutY(degrees);
  return poseCharacter(tube, pose, SkinningMethod::Linear).value().positions;
}

}  // namespace derm::detail::repro
