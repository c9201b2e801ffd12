#include "framed_head.h"

namespace derm::detail {
namespace {

constexpr std::size_t kPoseSamples = 8000;
constexpr std::size_t kFaceSamples = 24000;
constexpr double kSeenRadius = 3.2;  // face units: what may hide parts of the face

}  // namespace

FramedHead framed(const WeldedHead& head, const FaceFrame& frame) {
  FramedHead out;
  out.positions.resize(head.positions.size());
  out.normals.resize(head.positions.size());
  for (std::size_t v = 0; v < head.positions.size(); ++v) {
    out.positions[v] = frame.toFace(head.positions[v]);
    out.normals[v] = frame.axes.transpose() * head.normals[v];
  }
  return out;
}

Samples wholeSamples(WeldedHead& head, const FaceFrame& frame) {
  const FramedHead in_frame = framed(head, frame);
  Samples samples =
      sampleSurface(in_frame.positions, in_frame.normals, head.triangles, kPoseSamples);
  if (measureOpenness(samples, 30, 70))
    for (Vec3d& n : head.normals) n = -n;
  return samples;
}

Samples faceSamples(const FramedHead& head, const WeldedHead& welded) {
  std::vector<Triangle> near;
  for (const Triangle& t : welded.triangles) {
    const Vec3d centre = (head.positions[t[0]] + head.positions[t[1]] + head.positions[t[2]]) / 3;
    if (centre.squaredNorm() < kSeenRadius * kSeenRadius) near.push_back(t);
  }
  Samples samples = sampleSurface(head.positions, head.normals, near, kFaceSamples);
  measureOpenness(samples, 40, 110);
  return samples;
}

}  // namespace derm::detail
