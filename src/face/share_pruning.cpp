#include "face/share_pruning.h"

#include <algorithm>
#include <span>

#include "face/eye_centre.h"

namespace derm::detail {
namespace {

/// Points that mostly move as one: the lower lip with the jaw, the upper lip with the head.
enum class Company { None, Upper, Lower };

Company companyOf(std::uint32_t point) {
  if (point == FaceWeights::kHead) return Company::Upper;
  const std::string_view number = controlPointNumbers()[point];
  if (number == "8.1" || number == "8.5" || number == "8.6") return Company::Upper;
  if (number == "8.2" || number == "8.7" || number == "8.8" || number == "2.1")
    return Company::Lower;
  return Company::None;
}

/// Gives a share that is dropped to those kept that move as it does, where there are any.
void giveAway(const FaceWeights::Share& dropped, std::span<FaceWeights::Share> kept) {
  const Company company = companyOf(dropped.point);
  if (company == Company::None) return;
  double total = 0;
  for (const FaceWeights::Share& s : kept)
    if (companyOf(s.point) == company) total += s.weight;
  for (FaceWeights::Share& s : kept)
    if (companyOf(s.point) == company) s.weight *= 1 + dropped.weight / total;
}

bool isLid(std::uint32_t point) {
  return point != FaceWeights::kHead && eyeOfLid(controlPointNumbers()[point]) != FaceSide::Middle;
}

bool larger(const FaceWeights::Share& a, const FaceWeights::Share& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.point < b.point;
}

}  // namespace

void pruneShares(std::vector<FaceWeights::Share>& row, std::size_t max_influences, bool keep_lids) {
  std::sort(row.begin(), row.end(), larger);
  if (row.size() > max_influences) {
    for (std::size_t i = max_influences; i < row.size(); ++i)
      giveAway(row[i], std::span(row).first(max_influences));
    row.resize(max_influences);
  }
  double lids = 0, others = 0;
  for (const FaceWeights::Share& s : row) (keep_lids && isLid(s.point) ? lids : others) += s.weight;
  for (FaceWeights::Share& s : row) {
    if (!(others > 0))
      s.weight /= lids;
    else if (!keep_lids || !isLid(s.point))
      s.weight *= (1 - lids) / others;
  }
  std::sort(row.begin(), row.end(), larger);
  if (row.empty()) row.push_back({FaceWeights::kHead, 1});
  if (row.size() == 1) row[0].weight = 1;
}

}  // namespace derm::detail
