#include "implicit/cell_table.h"

#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace derm::detail::cell_table_test {
namespace {

TEST(CellTable, CutsExactlyTheEdgesWhoseEndsDiffer) {
  for (int inside = 0; inside < 256; ++inside) {
    const CellCase& cell = cellTable()[static_cast<std::size_t>(inside)];
    std::set<int> used, crossed;
    for (int i = 0; i < 3 * cell.triangle_count; ++i)
      used.insert(cell.edges[static_cast<std::size_t>(i)]);
    for (int e = 0; e < 12; ++e) {
      const int low = edgeCorner(e), high = low | 1 << e / 4;
      if ((inside >> low & 1) != (inside >> high & 1)) crossed.insert(e);
    }
    EXPECT_EQ(used, crossed) << inside;
  }
}

TEST(CellTable, LeavesOnlySidesOnFacesOpenAndUsesInnerSidesTwice) {
  for (int inside = 0; inside < 256; ++inside) {
    const CellCase& cell = cellTable()[static_cast<std::size_t>(inside)];
    std::map<std::pair<int, int>, int> sides;
    for (std::size_t t = 0; t < cell.triangle_count; ++t)
      for (std::size_t k = 0; k < 3; ++k)
        ++sides[{cell.edges[3 * t + k], cell.edges[3 * t + (k + 1) % 3]}];
    for (const auto& [side, count] : sides) {
      EXPECT_EQ(count, 1) << inside;
      const auto faces = [](int e) {  // coordinates that do not vary along the edge
        std::set<std::pair<int, int>> on;
        for (int axis = 0; axis < 3; ++axis)
          if (axis != e / 4) on.insert({axis, edgeCorner(e) >> axis & 1});
        return on;
      };
      int shared = 0;
      for (const auto& face : faces(side.first)) shared += faces(side.second).contains(face);
      const bool inner = sides.contains({side.second, side.first});
      EXPECT_NE(inner, shared > 0) << "case " << inside;
    }
  }
}

}  // namespace
}  // namespace derm::detail::cell_table_test
