#pragma once

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "derm/math/rbf.h"

#include "math/analytic_heads.h"

namespace derm::testing_support {

/// Expressions from head to head and back again (Dutreve 2011, eq. 4.1, over the source's diagonal)
/// by one kernel: numbers of an independent double-precision prototype.
struct RoundTripRow {
  RbfKernel kernel;
  std::array<double, 6> errors;  ///< of faceExpressions(); below 0: the mean alone is known
  double mean;
};
struct RoundTripTable {
  char from, to;  ///< heads 'a', 'b', 'c'
  std::vector<RoundTripRow> rows;

  static const HeadShape& head(char letter) {
    return letter == 'a' ? kHumanA : letter == 'b' ? kHumanB : kCartoonC;
  }
};

/// The first row is the best kernel's, in every expression.
inline const std::vector<RoundTripTable>& roundTripTables() {
  constexpr RbfKernel kR = RbfKernel::Biharmonic, kG = RbfKernel::Gaussian,
                      kMq = RbfKernel::Multiquadric, kTps = RbfKernel::ThinPlate,
                      kR3 = RbfKernel::Triharmonic;
  constexpr std::array<double, 6> kMeanOnly{-1, -1, -1, -1, -1, -1};
  static const std::vector<RoundTripTable> tables = {
      {'a',
       'b',
       {{kR, {.0042, .0019, .0037, .0055, .0032, .0020}, .0034},
        {kG, {.0074, .0027, .0086, .0096, .0036, .0034}, .0059},
        {kMq, {.0070, .0033, .0078, .0086, .0060, .0040}, .0061},
        {kTps, {.0086, .0035, .0089, .0105, .0060, .0039}, .0069},
        {kR3, {.0119, .0061, .0136, .0214, .0119, .0059}, .0118}}},
      {'c',
       'b',
       {{kR, {.0494, .0260, .0499, .0497, .0302, .0286}, .0390},
        {kTps, {.1181, .0446, .1177, .0869, .0510, .0625}, .0801},
        {kMq, {.1269, .0487, .1305, .0772, .0533, .0720}, .0848},
        {kG, {.1180, .0553, .1371, .1089, .0739, .0825}, .0959},
        {kR3, {.1626, .0624, .1724, .1112, .0695, .0845}, .1104}}},
      {'c',
       'a',
       {{kR, kMeanOnly, .0198},
        {kTps, kMeanOnly, .0377},
        {kMq, kMeanOnly, .0453},
        {kG, kMeanOnly, .0570},
        {kR3, kMeanOnly, .0602}}},
      {'a',
       'c',
       {{kR, kMeanOnly, .0168},
        {kTps, kMeanOnly, .0310},
        {kMq, kMeanOnly, .0330},
        {kG, kMeanOnly, .0448},
        {kR3, kMeanOnly, .0482}}}};
  return tables;
}

/// `error(table, kernel, expression)`: 0 = neutral, then those of faceExpressions().
template <class ErrorOf>
void expectRoundTrips(const ErrorOf& error_of) {
  for (const RoundTripTable& table : roundTripTables()) {
    std::array<double, 6> best{};
    for (const RoundTripRow& row : table.rows) {
      SCOPED_TRACE(std::string("from ") + table.from + " to " + table.to + ", kernel " +
                   std::to_string(static_cast<int>(row.kernel)));
      EXPECT_LE(error_of(table, row.kernel, 0), 1e-9);
      double mean = 0;
      for (std::size_t e = 0; e < 6; ++e) {
        SCOPED_TRACE(faceExpressions()[e].name);
        const double error = error_of(table, row.kernel, e + 1);
        mean += error / 6;
        if (row.errors[e] >= 0) {
          EXPECT_NEAR(error, row.errors[e], 2e-4);
        }
        if (&row == &table.rows[0]) best[e] = error;
        EXPECT_TRUE(&row == &table.rows[0] || error > best[e]);
      }
      EXPECT_NEAR(mean, row.mean, 2e-4);
    }
  }
}

}  // namespace derm::testing_support
