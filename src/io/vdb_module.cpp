#include "io/vdb_module.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>

namespace derm {
namespace {

constexpr int kLeaf = 8;
static_assert(openvdb::FloatTree::LeafNodeType::DIM == kLeaf, "blocks and leaves are alike");

/// OpenVDB counts z fastest, we x.
std::size_t ourNode(int x, int y, int z) { return static_cast<std::size_t>(x + 8 * y + 64 * z); }

openvdb::FloatGrid::Ptr gridOf(const LevelSetBlocks& s) {
  // Its tools expect no less than three voxels to each side; beyond our band only the sign counts.
  const float h = static_cast<float>(s.voxel_m);
  const float background =
      std::nextafter(static_cast<float>(std::max(3.0, double{s.width}) * s.voxel_m),
                     std::numeric_limits<float>::max());
  openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(background);
  openvdb::math::Transform::Ptr transform =
      openvdb::math::Transform::createLinearTransform(s.voxel_m);
  transform->postTranslate(openvdb::Vec3d(s.origin.x(), s.origin.y(), s.origin.z()));
  grid->setTransform(transform);
  grid->setGridClass(openvdb::GRID_LEVEL_SET);
  grid->setName("surface");
  for (const auto& at : s.inside)
    grid->tree().addTile(1, openvdb::Coord(kLeaf * at[0], kLeaf * at[1], kLeaf * at[2]),
                         -background, false);
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    const auto& at = s.blocks[b];
    auto* leaf =
        grid->tree().touchLeaf(openvdb::Coord(kLeaf * at[0], kLeaf * at[1], kLeaf * at[2]));
    for (int z = 0; z < kLeaf; ++z)
      for (int y = 0; y < kLeaf; ++y)
        for (int x = 0; x < kLeaf; ++x) {
          const float f = s.values[512 * b + ourNode(x, y, z)];
          const auto offset = static_cast<openvdb::Index>(x << 6 | y << 3 | z);
          if (std::abs(f) < s.width * 0.9999f)
            leaf->setValueOn(offset, -f * h);
          else
            leaf->setValueOff(offset, f > 0 ? -background : background);
        }
  }
  return grid;
}

Result<std::string> encode(const LevelSetBlocks& level_set) {
  try {
    openvdb::initialize();
    std::ostringstream stream(std::ios::binary);
    openvdb::GridPtrVec grids = {gridOf(level_set)};
    openvdb::io::Stream(stream).write(grids);
    return std::move(stream).str();
  } catch (const std::exception& e) {
    return Error{ErrorCode::CannotWrite, e.what(), {}};
  }
}

}  // namespace
}  // namespace derm

extern "C" __attribute__((visibility("default"))) const derm::detail::VdbModule* derm_io_vdb(
    int version) {
  static const derm::detail::VdbModule functions = {derm::encode};
  return version == derm::detail::kVdbModuleVersion ? &functions : nullptr;
}
