#pragma once

#include <cstring>

/// Private to room contact: a point in one register. The compilers' own vectors, which every target
/// has; products and sums are rounded one by one, so the same bits everywhere.
namespace derm::detail {

/// x, y, z and a fourth number that is 0.
using FloatRow = float __attribute__((vector_size(16)));

inline FloatRow loadRow(const float* p) {
  FloatRow out;
  std::memcpy(&out, p, sizeof out);
  return out;
}
inline void storeRow(FloatRow r, float* p) { std::memcpy(p, &r, sizeof r); }
/// (x, y, z) to (y, z, x)
inline FloatRow turnedRow(FloatRow r) { return __builtin_shufflevector(r, r, 1, 2, 0, 3); }
inline FloatRow crossRow(FloatRow u, FloatRow v) {
  return turnedRow(u * turnedRow(v) - turnedRow(u) * v);
}
inline float dotRow(FloatRow u, FloatRow v) {
  const FloatRow p = u * v;
  return p[0] + (p[1] + p[2]);
}

}  // namespace derm::detail
