#pragma once

#include <cstddef>

/// Private to room math: inner loops of factorisations, for the CPU's instruction set.
namespace derm::detail {

/// Columns of a product that are made at a time.
inline constexpr std::size_t kProductColumns = 4;
/// Products read and write up to this many numbers behind the end of a column.
inline constexpr std::size_t kProductPadding = 16;

/// c = a b: a has `rows` rows and `depth` columns `a_stride` apart, b is `depth` rows of
/// kProductColumns, c has kProductColumns columns `c_stride` apart. Rows beyond `rows`, up to the
/// padding, are read and written too, with numbers that mean nothing.
void multiplyColumns(const double* a, std::size_t a_stride, std::size_t rows, std::size_t depth,
                     const double* b, double* c, std::size_t c_stride);

/// sum of a_i b_i
double dotProduct(const double* a, const double* b, std::size_t n);
/// y_i += factor x_i
void addScaled(double factor, const double* x, double* y, std::size_t n);

}  // namespace derm::detail
