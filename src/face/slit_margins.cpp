#include "face/slit_margins.h"

namespace derm::detail {

std::vector<Vec3d> positionsOf(std::span<const std::uint32_t> chain,
                               std::span<const Vec3f> positions) {
  std::vector<Vec3d> out;
  out.reserve(chain.size());
  for (const std::uint32_t v : chain) out.push_back(positions[v].cast<double>());
  return out;
}

Vec3d besideOnMargin(std::span<const Vec3d> margin, const Vec3d& along, const Vec3d& p) {
  const double wanted = along.dot(p);
  if (wanted <= along.dot(margin.front())) return margin.front();
  for (std::size_t i = 0; i + 1 < margin.size(); ++i) {
    const double from = along.dot(margin[i]), to = along.dot(margin[i + 1]);
    if (from <= wanted && wanted < to)
      return margin[i] + (wanted - from) / (to - from) * (margin[i + 1] - margin[i]);
  }
  return margin.back();
}

}  // namespace derm::detail
