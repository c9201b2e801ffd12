#include "derm/base/diagnostics.h"

#include <gtest/gtest.h>

namespace derm::diagnostics_test {
namespace {

TEST(Diagnostics, CountsNotesOfOneKindTogetherAndKeepsTheFirstIndices) {
  Diagnostics notes;
  for (std::uint64_t i = 0; i < 100; ++i)
    notes.warn("zero-area", "mesh", "triangle has no area", i);
  notes.warn("zero-area", "other", "triangle has no area");
  ASSERT_EQ(notes.notes().size(), 2u);
  EXPECT_EQ(notes.notes()[0].count, 100u);
  EXPECT_EQ(notes.notes()[0].first_indices.size(), Diagnostics::kKeptIndices);
  EXPECT_EQ(notes.count("zero-area"), 101u);
  EXPECT_EQ(notes.notes()[0].text(),
            "mesh: triangle has no area (100 times; first at 0, 1, 2, 3, 4, 5, 6, 7)");
  EXPECT_EQ(notes.notes()[1].text(), "other: triangle has no area");
}

TEST(Diagnostics, NamesAnIndexOnceThatWasMetSeveralTimes) {
  Diagnostics notes, more;
  for (const std::uint64_t index : {380u, 380u, 382u})
    notes.warn("edge", "mesh", "odd edge", index);
  more.warn("edge", "mesh", "odd edge", 382u);
  notes.merge(more);
  EXPECT_EQ(notes.notes().front().text(), "mesh: odd edge (4 times; first at 380, 382)");
}

TEST(Diagnostics, AHostileNumberOfKindsDoesNotGrowIt) {
  Diagnostics notes;
  for (int i = 0; i < 10000; ++i) notes.warn("kind" + std::to_string(i), "", "m");
  EXPECT_EQ(notes.notes().size(), Diagnostics::kMaxKinds);
  EXPECT_GT(notes.count("more"), 9000u);
}

TEST(Diagnostics, MergeAddsCountsAndIndices) {
  Diagnostics a, b;
  a.warn("k", "e", "m", 1);
  b.warn("k", "e", "m", 2);
  b.warn("k", "e", "m", 3);
  b.info("other", "e", "m");
  a.merge(b);
  EXPECT_EQ(a.count("k"), 3u);
  EXPECT_EQ(a.notes()[0].first_indices, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(a.notes()[1].severity, Severity::Info);
}

}  // namespace
}  // namespace derm::diagnostics_test
