#include "derm/base/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace derm {
namespace {

constexpr std::size_t kLongestCompared =
    64;  // names beyond this are cut: keeps hostile input cheap

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kLongestCompared)) {
    if (c == ' ' || c == '_' || c == '-' || c == '.' || c == ':') continue;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row[b.size()];
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

}  // namespace

std::vector<std::string> nearestNames(std::string_view wanted, std::span<const std::string> names,
                                      std::size_t max_count) {
  const std::string want = folded(wanted);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // (badness, index)
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string have = folded(names[i]);
    if (want.empty() || have.empty()) continue;
    std::size_t badness = editDistance(want, have);
    const bool contained =
        have.find(want) != std::string::npos || want.find(have) != std::string::npos;
    if (contained) badness = std::min<std::size_t>(badness, 2);
    if (badness <= std::max<std::size_t>(2, std::max(want.size(), have.size()) / 3))
      ranked.emplace_back(badness, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(max_count, ranked.size()); ++i)
    out.push_back(names[ranked[i].second]);
  return out;
}

std::string didYouMean(std::string_view wanted, std::span<const std::string> names) {
  if (names.empty()) return "; there are none";
  const std::vector<std::string> near = nearestNames(wanted, names);
  std::string out;
  if (!near.empty()) {
    out = "; did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i) {
      if (i > 0) out += i + 1 == near.size() ? " or " : ", ";
      out += quoted(near[i]);
    }
    return out + "?";
  }
  constexpr std::size_t kListed = 6;
  out = "; there are ";
  for (std::size_t i = 0; i < std::min(kListed, names.size()); ++i)
    out += (i > 0 ? ", " : "") + quoted(names[i]);
  if (names.size() > kListed) out += " and " + std::to_string(names.size() - kListed) + " more";
  return out;
}

}  // namespace derm
