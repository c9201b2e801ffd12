#include "derm/repro/report.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <nlohmann/json.hpp>

#include "derm/base/nearest_name.h"
#include "derm/base/number_text.h"
#include "derm/io/whole_file.h"

namespace derm {
namespace {

/// Blanks and hyphens are the same in what people type.
std::string typed(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

Result<std::vector<ReproEntry>> chosen(std::span<const ReproDocument> documents,
                                       const std::string& what) {
  std::vector<ReproEntry> out;
  std::vector<std::string> names = {"all"};
  const std::string wanted = typed(what);
  for (const ReproDocument& document : documents) {
    names.emplace_back(document.name);
    names.emplace_back(document.number);
    const bool whole = what == "all" || what == document.name || what == document.number;
    for (const ReproExhibit& exhibit : document.exhibits) {
      ReproEntry entry{.document = &document, .exhibit = &exhibit};
      names.push_back(entry.id());
      if (whole || wanted == typed(entry.id())) out.push_back(std::move(entry));
    }
  }
  if (!out.empty()) return out;
  std::string message = "no document or exhibit \"" + what + "\"";
  if (!nearestNames(what, names).empty()) message += didYouMean(what, names);
  message += "; documents: all";
  for (const ReproDocument& document : documents)
    message += ", " + std::string(document.name) + " (" + std::string(document.number) + ")";
  return Error{ErrorCode::BadArgument, message, {}};
}

Error withExhibit(Error error, const ReproEntry& entry) {
  error.where.element =
      entry.id() + (error.where.element.empty() ? "" : ": " + error.where.element);
  return error;
}

std::string rangeText(const ReproNumber& n) {
  const bool low = std::isfinite(n.low), high = std::isfinite(n.high);
  if (low && high) return "in [" + shortNumber(n.low, 6) + ", " + shortNumber(n.high, 6) + "]";
  if (low) return "at least " + shortNumber(n.low, 6);
  return high ? "at most " + shortNumber(n.high, 6) : "finite";
}

}  // namespace

std::string ReproEntry::id() const {
  return std::string(document->number) + " " + std::string(exhibit->id);
}

std::size_t ReproReport::count(ReproVerdict verdict) const {
  std::size_t n = 0;
  for (const ReproEntry& entry : entries)
    for (const ReproNumber& number : entry.result.numbers) n += verdictOf(number) == verdict;
  return n;
}

std::vector<std::string> ReproReport::misses() const {
  std::vector<std::string> out;
  for (const ReproEntry& entry : entries)
    for (const ReproNumber& n : entry.result.numbers) {
      if (verdictOf(n) != ReproVerdict::Missed) continue;
      const bool in_range = n.ours >= n.low && n.ours <= n.high;
      out.push_back(
          entry.id() + ": " + n.name + " is " + shortNumber(n.ours, 6) +
          (n.unit.empty() ? "" : " " + n.unit) +
          (in_range ? ", not " + shortNumber(n.theirs.value_or(0), 6) : ", not " + rangeText(n)));
    }
  return out;
}

Result<ReproReport> reproduce(std::span<const ReproDocument> documents, const ReproOptions& options,
                              Diagnostics& notes, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  ReproReport report;
  DERM_TRY(report.entries, chosen(documents, options.what));
  const Clock::time_point start = Clock::now();
  bool pictures = options.pictures;
  for (std::size_t i = 0; i < report.entries.size(); ++i) {
    ReproEntry& entry = report.entries[i];
    if (!keepGoing(progress, static_cast<double>(i) / static_cast<double>(report.entries.size()),
                   entry.id()))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    const Clock::time_point begin = Clock::now();
    Diagnostics own;  // what layers remark on is no news here
    if (const Result<void> done = entry.exhibit->measure(entry.result, own); !done)
      return withExhibit(done.error(), entry);
    for (ReproNumber& n : entry.result.numbers) n.ours *= 1 + options.perturb;
    if (pictures && entry.exhibit->draw != nullptr) {
      const Result<void> drawn = entry.exhibit->draw(entry.result, own);
      if (!drawn && drawn.error().code == ErrorCode::Unsupported) {
        pictures = false;
        notes.warn("repro-no-pictures", entry.id(), drawn.error().message);
      } else if (!drawn) {
        return withExhibit(drawn.error(), entry);
      }
    }
    entry.seconds = since(begin);
  }
  report.seconds = since(start);
  return report;
}

std::string reproJson(const ReproReport& report) {
  using Json = nlohmann::ordered_json;
  const auto finite = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
  Json out;
  Json exhibits = Json::array();
  for (const ReproEntry& entry : report.entries) {
    Json numbers = Json::array();
    for (const ReproNumber& n : entry.result.numbers)
      numbers.push_back({{"name", n.name},
                         {"unit", n.unit},
                         {"theirs", n.theirs ? Json(*n.theirs) : Json()},
                         {"ours", finite(n.ours)},
                         {"equal_within", n.equal_within},
                         {"low", finite(n.low)},
                         {"high", finite(n.high)},
                         {"verdict", name(verdictOf(n))},
                         {"because", n.because}});
    exhibits.push_back({{"id", entry.id()},
                        {"document", entry.document->title},
                        {"title", entry.exhibit->title},
                        {"setup", entry.exhibit->setup},
                        {"remark", entry.exhibit->remark},
                        {"seconds", entry.seconds},
                        {"pictures", entry.result.pictures.size()},
                        {"numbers", std::move(numbers)}});
  }
  Json verdicts;
  for (const ReproVerdict v : {ReproVerdict::Equal, ReproVerdict::Better, ReproVerdict::Holds,
                               ReproVerdict::Differs, ReproVerdict::Missed})
    verdicts[std::string(name(v))] = report.count(v);
  out["verdicts"] = std::move(verdicts);
  out["seconds"] = report.seconds;
  out["exhibits"] = std::move(exhibits);
  return out.dump(2) + "\n";
}

Result<void> saveReproReport(const ReproReport& report, const std::filesystem::path& folder) {
  DERM_TRY(const std::string html, reproHtml(report));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::CannotWrite, failed.message(), {.file = folder.string()}};
  DERM_TRY(WholeFile page, WholeFile::create(folder / "report.html"));
  DERM_TRY(WholeFile numbers, WholeFile::create(folder / "report.json"));
  DERM_CHECK(page.append(html));
  DERM_CHECK(numbers.append(reproJson(report)));
  DERM_CHECK(page.finish());
  DERM_CHECK(numbers.finish());
  DERM_CHECK(page.commit());
  return numbers.commit();
}

}  // namespace derm
