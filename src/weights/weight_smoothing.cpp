#include "derm/weights/weight_smoothing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr double kDropped = 1e-6;
constexpr std::size_t kSmoothedPerChunk = 512;

struct Share {
  std::uint32_t slot = 0;
  double weight = 0;
};
using Row = std::vector<Share>;

Result<void> validate(const WeightSmoothingDesc& desc) {
  const auto bad = [](const char* field, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = field}};
  };
  if (desc.passes < 0 || desc.passes > 1000) return bad("passes", "must be within 0 and 1000");
  if (!(desc.amount >= 0 && desc.amount <= 1)) return bad("amount", "must be within 0 and 1");
  return {};
}

void addScaled(std::span<const Share> row, double factor, Row& sum) {
  for (const Share& s : row) sum.push_back({s.slot, factor * s.weight});
}

/// Adds up equal slots, drops crumbs and divides by the sum.
void tidy(Row& row) {
  std::stable_sort(row.begin(), row.end(),
                   [](const Share& a, const Share& b) { return a.slot < b.slot; });
  std::size_t kept = 0;
  for (const Share& s : row) {
    if (kept > 0 && row[kept - 1].slot == s.slot)
      row[kept - 1].weight += s.weight;
    else
      row[kept++] = s;
  }
  row.resize(kept);
  std::erase_if(row, [](const Share& s) { return s.weight < kDropped; });
  double sum = 0;
  for (const Share& s : row) sum += s.weight;
  for (Share& s : row) s.weight /= sum;
}

/// One row per welded vertex: the mean of what its vertices have.
std::vector<Row> rowsOfWelded(const Skin& skin, std::span<const std::uint32_t> weld) {
  std::vector<Row> rows(weld.size());
  for (std::size_t v = 0; v < weld.size(); ++v)
    for (const Influence& i : skin[v]) rows[weld[v]].push_back({i.slot, i.weight});
  for (std::size_t v = 0; v < rows.size(); ++v)
    if (!rows[v].empty()) {
      double sum = 0;
      for (const Share& s : rows[v]) sum += s.weight;
      for (Share& s : rows[v]) s.weight /= sum;
      tidy(rows[v]);
    }
  return rows;
}

}  // namespace

Result<Skin> smoothedWeights(const Skin& skin, const TriMesh& mesh,
                             const WeightSmoothingDesc& desc) {
  DERM_CHECK(validate(desc));
  DERM_CHECK(derm::validate(mesh, "mesh"));
  std::size_t joints = 0;
  for (const SkinSlot& s : skin.slots)
    if (s.joint.valid()) joints = std::max(joints, s.joint.index() + 1);
  DERM_CHECK(derm::validate(skin, mesh.vertexCount(), joints, "skin"));
  if (desc.passes == 0 || mesh.positions.empty()) return skin;

  std::vector<std::uint32_t> weld(mesh.vertexCount());
  std::iota(weld.begin(), weld.end(), 0u);
  if (desc.weld) weld = weldMap(mesh.positions);
  const IndexLists neighbours = vertexNeighbours(mapped(mesh.triangles, weld), mesh.vertexCount());
  std::vector<Row> rows = rowsOfWelded(skin, weld);
  std::vector<Row> next(rows.size());
  for (int pass = 0; pass < desc.passes; ++pass) {
    parallelFor(rows.size(), kSmoothedPerChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        next[v].clear();
        const std::span<const std::uint32_t> around = neighbours[v];
        if (around.empty()) {
          next[v] = rows[v];
          continue;
        }
        addScaled(rows[v], 1.0 - desc.amount, next[v]);
        for (const std::uint32_t n : around)
          addScaled(rows[n], desc.amount / static_cast<double>(around.size()), next[v]);
        tidy(next[v]);
      }
    });
    std::swap(rows, next);
  }
  SkinBuilder builder(skin.slots, mesh.vertexCount());
  Diagnostics notes;  // rows are normalised already: nothing to note
  std::vector<Influence> row;
  for (std::size_t v = 0; v < weld.size(); ++v) {
    row.clear();
    for (const Share& s : rows[weld[v]]) row.push_back({s.slot, static_cast<float>(s.weight)});
    builder.addVertex(row, 0, "skin", notes);
  }
  return std::move(builder).finish();
}

}  // namespace derm
