#include "io/vdb_module.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
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

Error bad(const std::filesystem::path& file, std::string message) {
  return Error{ErrorCode::BadData, std::move(message), {.file = file.string()}};
}

/// [per voxel] how fast a density changes where it passes `iso`: the mean over neighbours on either
/// side of it; 0 where none does.
double slopeAt(const openvdb::FloatGrid& grid, double iso) {
  double sum = 0, count = 0;
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf)
    for (openvdb::Index i = 0; i < 512; ++i) {
      if ((i >> 6) == 7 || (i >> 3 & 7) == 7 || (i & 7) == 7) continue;
      const double here = double{leaf->getValue(i)};
      openvdb::Vec3d rise;
      bool passes = false;
      for (int axis = 0; axis < 3; ++axis) {
        const double next = double{leaf->getValue(i + (axis == 0 ? 64u : axis == 1 ? 8u : 1u))};
        passes |= (here > iso) != (next > iso);
        rise[axis] = next - here;
      }
      if (!passes || !std::isfinite(rise.length())) continue;
      sum += rise.length();
      count += 1;
    }
  return count > 0 ? sum / count : 0;
}

/// A density may end where its leaves do: the blocks around them, of one value each, hold the far
/// side of its surface.
void addRim(const openvdb::FloatGrid& grid, double factor, double zero, LevelSetBlocks& out) {
  std::set<std::array<std::int32_t, 3>> rim;
  for (const std::array<std::int32_t, 3>& at : out.blocks)
    for (int n = 0; n < 27; ++n) {
      const std::array<std::int32_t, 3> next = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1,
                                                at[2] + n / 9 - 1};
      if (grid.tree().probeConstLeaf({kLeaf * next[0], kLeaf * next[1], kLeaf * next[2]}) ==
          nullptr)
        rim.insert(next);
    }
  for (const std::array<std::int32_t, 3>& at : rim) {
    const float d = grid.tree().getValue({kLeaf * at[0], kLeaf * at[1], kLeaf * at[2]});
    const float f = static_cast<float>(factor * (double{d} - zero));
    out.blocks.push_back(at);
    out.values.resize(512 * out.blocks.size(), std::clamp(f, -out.width, out.width));
  }
}

Result<LevelSetBlocks> blocksOf(const openvdb::FloatGrid& grid, double density_iso,
                                const std::filesystem::path& file) {
  const bool density = density_iso > 0;
  if (!density && grid.getGridClass() != openvdb::GRID_LEVEL_SET)
    return bad(file,
               "the grid \"" + grid.getName() +
                   "\" is no level set; of a density one must know from what on it is inside");
  if (density && grid.getGridClass() == openvdb::GRID_LEVEL_SET)
    return bad(file, "the grid \"" + grid.getName() + "\" is a level set, not a density");
  const openvdb::Vec3d size = grid.voxelSize();
  const bool uniform = grid.transform().isLinear() && grid.hasUniformVoxels() && size.x() > 0;
  const openvdb::Vec3d step =
      grid.indexToWorld(openvdb::Vec3d(1, 0, 0)) - grid.indexToWorld(openvdb::Vec3d(0, 0, 0));
  if (!uniform || std::abs(step.x() - size.x()) > 1e-6 * size.x())
    return Error{ErrorCode::Unsupported,
                 "the grid's transform is not a uniform scale and a shift",
                 {.file = file.string()}};
  LevelSetBlocks out;
  out.voxel_m = size.x();
  const openvdb::Vec3d origin = grid.indexToWorld(openvdb::Vec3d(0, 0, 0));
  out.origin = Vec3d(origin.x(), origin.y(), origin.z());
  // What a value is in voxels, > 0 inside.
  double factor = -1 / out.voxel_m, zero = 0;
  if (density) {
    const double slope = slopeAt(grid, density_iso);
    if (!(slope > 0))
      return bad(file, "the density of \"" + grid.getName() + "\" passes " +
                           std::to_string(density_iso) + " nowhere");
    factor = 1 / slope;
    zero = density_iso;
  } else {
    const double width = grid.background() / out.voxel_m;
    if (!(width > 1.5) || !std::isfinite(width))
      return bad(file, "the grid's band is narrower than a voxel and a half");
    out.width = static_cast<float>(std::min(width, 2.5));
  }
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
    const openvdb::Coord at = leaf->origin();
    out.blocks.push_back({at.x() >> 3, at.y() >> 3, at.z() >> 3});
    out.values.resize(512 * out.blocks.size());
    float* values = out.values.data() + 512 * (out.blocks.size() - 1);
    for (int i = 0; i < 512; ++i) {
      const float d = leaf->getValue(static_cast<openvdb::Index>(i));
      if (!std::isfinite(d)) return bad(file, "a value is not a finite number");
      const float f = static_cast<float>(factor * (double{d} - zero));
      values[ourNode(i >> 6, i >> 3 & 7, i & 7)] = std::clamp(f, -out.width, out.width);
    }
  }
  if (out.blocks.empty()) return bad(file, "the grid is empty");
  if (density) addRim(grid, factor, zero, out);
  return out;
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

Result<LevelSetBlocks> load(const std::filesystem::path& file, double density_iso) {
  try {
    openvdb::initialize();
    openvdb::io::File input(file.string());
    input.open(false);
    const openvdb::GridPtrVecPtr grids = input.getGrids();
    for (const openvdb::GridBase::Ptr& grid : *grids)
      if (const auto values = openvdb::gridPtrCast<openvdb::FloatGrid>(grid))
        return blocksOf(*values, density_iso, file);
    return bad(file, "no float grid in the file");
  } catch (const std::exception& e) {
    return bad(file, e.what());
  }
}

}  // namespace
}  // namespace derm

extern "C" __attribute__((visibility("default"))) const derm::detail::VdbModule* derm_io_vdb(
    int version) {
  static const derm::detail::VdbModule functions = {derm::encode, derm::load};
  return version == derm::detail::kVdbModuleVersion ? &functions : nullptr;
}
