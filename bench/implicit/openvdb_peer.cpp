#include "implicit/openvdb_peer.h"

#ifdef DERM_BENCH_OPENVDB
#include <vector>

#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <openvdb/tools/LevelSetSphere.h>
#include <openvdb/tools/VolumeToMesh.h>

namespace derm::implicit_bench {

struct OpenVdbPeer::Impl {
  openvdb::FloatGrid::Ptr grid;
};

bool OpenVdbPeer::available() { return true; }

OpenVdbPeer::OpenVdbPeer(double radius) : impl_(std::make_unique<Impl>()) {
  openvdb::initialize();
  impl_->grid = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(
      static_cast<float>(radius), openvdb::Vec3f(0.3f, 0.2f, 0.1f), 1.0f, 3.0f);
}
OpenVdbPeer::~OpenVdbPeer() = default;

std::size_t OpenVdbPeer::activeVoxels() const { return impl_->grid->activeVoxelCount(); }

void OpenVdbPeer::curvatureStep(bool parallel) {
  openvdb::tools::LevelSetFilter<openvdb::FloatGrid> filter(*impl_->grid);
  filter.setSpatialScheme(openvdb::math::FIRST_BIAS);
  filter.setTemporalScheme(openvdb::math::TVD_RK1);
  filter.setNormCount(1);
  filter.setGrainSize(parallel ? 1 : 0);
  filter.meanCurvature();
}

std::size_t OpenVdbPeer::mesh() {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(*impl_->grid, points, triangles, quads);
  return points.size();
}

}  // namespace derm::implicit_bench

#else

namespace derm::implicit_bench {

struct OpenVdbPeer::Impl {};
bool OpenVdbPeer::available() { return false; }
OpenVdbPeer::OpenVdbPeer(double) {}
OpenVdbPeer::~OpenVdbPeer() = default;
std::size_t OpenVdbPeer::activeVoxels() const { return 1; }
void OpenVdbPeer::curvatureStep(bool) {}
std::size_t OpenVdbPeer::mesh() { return 0; }

}  // namespace derm::implicit_bench
#endif
