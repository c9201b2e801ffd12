// derm-read-vdb: reads a .vdb file with OpenVDB in a process of its own, for loadVdb(). Its option
// is the density from which on it is inside, 0 where a level set is expected; see limited_program.h
// for the rest, and vdb_answer.h for the answer.
#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>

#include "derm/base/parallel.h"
#include "derm/base/result.h"

#include "io/limited_program.h"
#include "io/text_scanner.h"
#include "io/vdb_answer.h"

namespace derm::detail {
namespace {

constexpr int kLeaf = 8;
static_assert(openvdb::FloatTree::LeafNodeType::DIM == kLeaf, "blocks and leaves are alike");
constexpr const char* kReader = "OpenVDB";

/// OpenVDB counts z fastest, we x.
std::size_t ourNode(int x, int y, int z) { return static_cast<std::size_t>(x + 8 * y + 64 * z); }

Error bad(const std::string& file, std::string message) {
  return Error{ErrorCode::BadData, std::move(message), {.file = file}};
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
                                const std::string& file) {
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
                 {.file = file}};
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
  const std::size_t leaves = grid.tree().leafCount();
  out.blocks.reserve(leaves);
  out.values.reserve(512 * leaves);
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

Result<LevelSetBlocks> load(openvdb::io::File& input, double density_iso, const std::string& file) {
  const openvdb::GridPtrVecPtr grids = input.getGrids();
  for (const openvdb::GridBase::Ptr& grid : *grids)
    if (const auto values = openvdb::gridPtrCast<openvdb::FloatGrid>(grid))
      return blocksOf(*values, density_iso, file);
  return bad(file, "no float grid in the file");
}

template <class T>
std::span<const std::uint8_t> bytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

int run(std::span<char*> given) {
  const std::optional<ReaderArguments> arguments = readerArguments(given);
  if (!arguments) return kBadArguments;
  double density_iso = 0;
  if (text::parseNumber(arguments->option, density_iso) != text::NumberKind::Finite)
    return kBadArguments;
  const std::string& name = arguments->name;
  // Threads would take memory of their own, and there may be none.
  const ThreadLimit one_thread(1);
  openvdb::initialize();
  const auto refused = [&](const std::string& message) {
    return encodeVdbAnswer(bad(name, message));
  };
  enterLimits(*arguments, refused(arguments->tooMuchMemory(kReader)));
  try {
    openvdb::io::File input("/proc/self/fd/0");  // its grids may lie in any order: it seeks
    input.open(false);
    openNoMoreFiles();
    const Result<LevelSetBlocks> blocks = load(input, density_iso, name);
    if (blocks && vdbAnswerBytes(*blocks) > static_cast<std::uint64_t>(arguments->answer_bytes))
      answer({refused(arguments->tooLarge(
          kReader, "what is in it takes more than " +
                       std::to_string(arguments->answer_bytes >> 20) + " MB"))});
    const std::vector<std::uint8_t> head = encodeVdbAnswer(blocks);
    if (!blocks) answer({head});
    // Written from where it is: another copy would count against the limit.
    answer({head, bytesOf(blocks->blocks), bytesOf(blocks->values)});
  } catch (const std::exception& e) {
    answer({refused(e.what())});
  }
}

}  // namespace
}  // namespace derm::detail

int main(int argc, char** argv) {
  return derm::detail::run(std::span(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
}
