#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/repro/exhibit.h"

namespace derm {

/// An exhibit that was run.
struct ReproEntry {
  const ReproDocument* document = nullptr;
  const ReproExhibit* exhibit = nullptr;
  ReproResult result;
  double seconds = 0;  ///< [s] that measuring and drawing took

  std::string id() const;  ///< "001 table 4.1"
};

struct ReproReport {
  std::vector<ReproEntry> entries;
  double seconds = 0;  ///< [s] of all

  std::size_t count(ReproVerdict verdict) const;
  /// "001 table 4.1: 90°, exact is 0.3 %, not in [0, 1e-09]", one per number that was missed.
  std::vector<std::string> misses() const;
};

struct ReproOptions {
  /// "all", a document's name or number, or one exhibit: "001 table 4.1".
  std::string what = "all";
  bool pictures = true;  ///< where something can be drawn; curves are always there
  /// Every number of ours is made wrong by this share, to see that the report finds it out.
  double perturb = 0;
};

/// Runs the exhibits that were asked for, one after the other. Fails on a name that is none, with
/// those there are; and where an exhibit cannot be set up, naming it. Where nothing can be drawn
/// the report has no pictures, and a note says so ("repro-no-pictures").
Result<ReproReport> reproduce(std::span<const ReproDocument> documents, const ReproOptions& options,
                              Diagnostics& notes, const Progress& progress = {});

/// One page with everything in it: tables, curves, pictures. Needs no other file, prints well.
Result<std::string> reproHtml(const ReproReport& report);
/// Every number: exhibits[{id, document, title, setup, remark, seconds, numbers[{name, unit,
/// theirs, ours, low, high, verdict, because}]}], verdicts{equal, …}, seconds.
std::string reproJson(const ReproReport& report);

/// report.html and report.json in the folder, which is made where it is missing: both or none.
Result<void> saveReproReport(const ReproReport& report, const std::filesystem::path& folder);

}  // namespace derm
