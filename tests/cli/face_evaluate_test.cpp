#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

/// derm face evaluate.
namespace derm::cli_test::face_evaluate_test {
namespace {

TEST(FaceEvaluate, ComparesFiveKernelsOnFourPairs) {
  const Outcome o = derm({"face", "evaluate", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json all = nlohmann::json::parse(o.out);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1]["source"], "cast:head-c");
  EXPECT_NEAR(all[0]["kernels"]["r"]["mean_of_six"].get<double>(), .0034, 2e-4);
  EXPECT_NEAR(all[1]["kernels"]["r3"]["mean_of_six"].get<double>(), .1104, 2e-4);
  EXPECT_NEAR(all[3]["direct"]["blink_opening"].get<double>(), .58, 5e-3);
  for (const nlohmann::json& pair : all)
    for (const auto& [name, kernel] : pair["kernels"].items())
      EXPECT_LE(kernel["round_trip"]["neutral"].get<double>(), 1e-9) << name;
  EXPECT_NE(derm({"face", "evaluate", "--lambda", "1e-5"}).out.find("0.0139"), std::string::npos);
}

TEST(FaceEvaluate, SaysWhatIsWrong) {
  EXPECT_EQ(derm({"face", "evaluate", "cast:head-a"}).exit_code, 2);
  EXPECT_EQ(derm({"face", "evaluate", "--lambda", "-1"}).exit_code, 2);
  const Outcome bare = derm({"face", "evaluate", "cast:mushroom", "cast:head-a"});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_NE(bare.err.find("control points are missing"), std::string::npos) << bare.err;
}

}  // namespace
}  // namespace derm::cli_test::face_evaluate_test
