#include "face/slit_margins.h"

#include <algorithm>

namespace derm::detail {

Vec3d besideOnMargin(const FaceSlit& slit, std::span<const std::uint32_t> chain,
                     std::span<const Vec3f> positions, const Vec3d& p) {
  const auto at = [&](std::size_t i) { return Vec3d(positions[chain[i]].cast<double>()); };
  const double wanted = slit.along.dot(p);
  if (wanted <= slit.along.dot(at(0))) return at(0);
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const Vec3d a = at(i), b = at(i + 1);
    const double from = slit.along.dot(a), to = slit.along.dot(b);
    if (from <= wanted && wanted < to) return a + (wanted - from) / (to - from) * (b - a);
  }
  return at(chain.size() - 1);
}

}  // namespace derm::detail
