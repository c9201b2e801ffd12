#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/plot.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// Where less, or more, is better than what a document reached.
enum class ReproSense { None, LessIsBetter, MoreIsBetter };

/// One number of a document beside ours. `theirs` and the range are the only numbers that are
/// written down; `ours` is computed when the report is made.
struct ReproNumber {
  std::string name;                   ///< "30°, linearised"
  std::string unit = {};              ///< "%", "frames/s"; may be empty
  std::optional<double> theirs = {};  ///< as the document prints it; absent: it prints none
  double ours = 0;
  double equal_within = 0;  ///< |ours - theirs| up to this is equal: the digits that are printed
  /// Ours must lie in here, whatever the document has: what theory or our own notes say.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  ReproSense better = ReproSense::None;
  std::string because = {};  ///< why ours differs; a difference without a reason is a miss
};

enum class ReproVerdict {
  Equal,    ///< to the digits that the document prints
  Better,   ///< not equal, and on the better side
  Holds,    ///< the document prints no number; ours is as theory has it
  Differs,  ///< for the reason given
  Missed,   ///< out of its range, not finite, or different without a reason
};

ReproVerdict verdictOf(const ReproNumber& number);
/// "equal", "better", "holds", "differs", "missed".
std::string_view name(ReproVerdict verdict);

struct ReproPicture {
  std::string caption;
  Rgba8Image image = {};
  std::optional<PlotDesc> plot = {};  ///< instead of the image: drawn as curves
};

/// What an exhibit gives as it is run.
struct ReproResult {
  std::vector<ReproNumber> numbers;
  std::vector<ReproPicture> pictures;
};

/// A table or figure of a document: what was set up, and how it is computed again.
struct ReproExhibit {
  std::string_view id;     ///< "table 4.1"; unique in its document
  std::string_view title;  ///< what it shows
  std::string_view setup;  ///< a recipe or commands, ready to copy
  /// Where the document is wrong, or we are not it: what and why. May be empty.
  std::string_view remark;
  Result<void> (*measure)(ReproResult& result, Diagnostics& notes);
  /// Pictures that need a renderer; null where there are none.
  Result<void> (*draw)(ReproResult& result, Diagnostics& notes);
};

struct ReproDocument {
  std::string_view number;  ///< "001"
  std::string_view name;    ///< "volume": what people type
  std::string_view title;   ///< authors, year, title
  std::span<const ReproExhibit> exhibits;
};

/// The five documents that derm's methods come from (docs/index.md, Sources).
std::span<const ReproDocument> reproDocuments();

}  // namespace derm
