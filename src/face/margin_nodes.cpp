#include "face/margin_nodes.h"

namespace derm::detail {

std::vector<MarginNode> marginNodes(const SlitCurve& curve) {
  std::vector<MarginNode> out;
  const std::vector<std::uint32_t>& points = curve.points();
  if (curve.size() <= kMostMarginNodes) {
    for (std::size_t i = 0; i < curve.size(); ++i)
      out.push_back({points[i], points[i], 0, curve.parameter(i)});
    return out;
  }
  for (std::size_t k = 0; k < kMostMarginNodes; ++k) {
    const double t = static_cast<double>(k) / static_cast<double>(kMostMarginNodes - 1);
    const SlitCurve::At at = curve.at(t);
    out.push_back({points[at.first], points[at.second], at.share, t});
  }
  return out;
}

}  // namespace derm::detail
