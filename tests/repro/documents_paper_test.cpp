// Every number that `derm repro` reports, against what it must be.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/repro/report.h"

namespace derm::documents_paper_test {
namespace {

class EveryExhibit : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryExhibit, IsReproduced) {
  Diagnostics notes;
  const Result<ReproReport> report =
      reproduce(reproDocuments(), {.what = GetParam(), .pictures = false}, notes);
  ASSERT_TRUE(report.ok()) << report.error().text();
  for (const std::string& miss : report->misses()) ADD_FAILURE() << miss;
}

std::vector<std::string> exhibitNames() {
  std::vector<std::string> out;
  for (const ReproDocument& document : reproDocuments())
    for (const ReproExhibit& exhibit : document.exhibits)
      out.push_back(std::string(document.number) + " " + std::string(exhibit.id));
  return out;
}

INSTANTIATE_TEST_SUITE_P(Documents, EveryExhibit, ::testing::ValuesIn(exhibitNames()),
                         [](const auto& p) {
                           std::string name;
                           for (const char c : p.param)
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                               name += c;
                             else if (!name.empty() && name.back() != '_')
                               name += '_';
                           return name;
                         });

TEST(ReproDocuments, HaveNamesSetupsAndUniqueIds) {
  ASSERT_EQ(reproDocuments().size(), 5u);
  for (const ReproDocument& document : reproDocuments()) {
    std::vector<std::string_view> ids;
    for (const ReproExhibit& exhibit : document.exhibits) {
      EXPECT_FALSE(exhibit.setup.empty()) << exhibit.id;
      EXPECT_FALSE(exhibit.title.empty()) << exhibit.id;
      EXPECT_EQ(std::count(ids.begin(), ids.end(), exhibit.id), 0) << exhibit.id;
      ids.push_back(exhibit.id);
    }
  }
}

}  // namespace
}  // namespace derm::documents_paper_test
