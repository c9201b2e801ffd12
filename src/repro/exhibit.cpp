#include "derm/repro/exhibit.h"

#include <array>
#include <cmath>

#include "repro/documents.h"

namespace derm {

ReproVerdict verdictOf(const ReproNumber& n) {
  if (!std::isfinite(n.ours) || n.ours < n.low || n.ours > n.high) return ReproVerdict::Missed;
  if (!n.theirs) return ReproVerdict::Holds;
  const double off = n.ours - *n.theirs;
  if (std::abs(off) <= n.equal_within) return ReproVerdict::Equal;
  if (n.better == ReproSense::LessIsBetter && off < 0) return ReproVerdict::Better;
  if (n.better == ReproSense::MoreIsBetter && off > 0) return ReproVerdict::Better;
  return n.because.empty() ? ReproVerdict::Missed : ReproVerdict::Differs;
}

std::string_view name(ReproVerdict verdict) {
  constexpr std::array<std::string_view, 5> kNames = {"equal", "better", "holds", "differs",
                                                      "missed"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::span<const ReproDocument> reproDocuments() {
  static const std::array<ReproDocument, 5> documents = {
      detail::repro::wrinklesDocument(), detail::repro::volumeDocument(),
      detail::repro::faceDocument(), detail::repro::implicitDocument(),
      detail::repro::skinningDocument()};
  return documents;
}

namespace detail::repro {

std::vector<ReproExhibit> joined(std::initializer_list<std::span<const ReproExhibit>> parts) {
  std::vector<ReproExhibit> out;
  for (const std::span<const ReproExhibit> part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace detail::repro
}  // namespace derm
