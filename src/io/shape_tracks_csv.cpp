#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "io/shape_tracks_forms.h"
#include "io/table_cells.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

Error badCell(std::string_view file, std::uint64_t line, std::size_t column,
              std::string_view column_name, std::string message) {
  return {ErrorCode::BadData,
          std::move(message),
          {.file = std::string(file),
           .element = column_name.empty() ? "" : "column " + text::quoted(column_name),
           .line = line,
           .column = column}};
}

/// What a column of the header holds.
struct ColumnUse {
  enum class Kind { Time, Timecode, Count, Shape, Yaw, Pitch, Roll, Unused };
  Kind kind = Kind::Shape;
  std::size_t shape = 0;  ///< of a Shape: which
};
using Kind = ColumnUse::Kind;

Kind kindOf(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Kind>, 15> kKnown{{
      {"timecode", Kind::Timecode},
      {"time", Kind::Time},
      {"time_s", Kind::Time},
      {"seconds", Kind::Time},
      {"blendshapecount", Kind::Count},
      {"headyaw", Kind::Yaw},
      {"headpitch", Kind::Pitch},
      {"headroll", Kind::Roll},
      {"lefteyeyaw", Kind::Unused},
      {"lefteyepitch", Kind::Unused},
      {"lefteyeroll", Kind::Unused},
      {"righteyeyaw", Kind::Unused},
      {"righteyepitch", Kind::Unused},
      {"righteyeroll", Kind::Unused},
      {"frame", Kind::Unused},
  }};
  for (const auto& [known, kind] : kKnown)
    if (text::equalIgnoringCase(name, known)) return kind;
  return Kind::Shape;
}

struct Header {
  std::vector<ColumnUse> columns;
  std::vector<std::string> cells;  ///< their names as written
  std::vector<std::string> shapes;
  bool timecodes = false;
  bool head = false;
};

/// "JawOpen" is ARKit's "jawOpen".
std::string lowerFirst(std::string_view name) {
  return text::lowerCase(name.substr(0, 1)) + std::string(name.substr(1));
}

Result<Header> readHeader(std::string_view line, std::uint64_t number, std::string_view file) {
  std::vector<TableCell> cells;
  cutCells(line, cells);
  if (const auto other = otherSeparator(line); other && cells.size() == 1)
    return badCell(file, number, other->column, {}, other->message);
  if (cells.size() > kMaxShapes)
    return badCell(file, number, 1, {}, "more than " + std::to_string(kMaxShapes) + " columns");
  Header out;
  bool timed = false;
  for (const TableCell& cell : cells) {
    if (cell.text.empty()) return badCell(file, number, cell.column, {}, "a column has no name");
    for (const std::string& before : out.cells)
      if (text::equalIgnoringCase(before, cell.text))
        return badCell(file, number, cell.column, cell.text, "is there twice");
    ColumnUse use{kindOf(cell.text), 0};
    if (use.kind == Kind::Time || use.kind == Kind::Timecode) {
      if (timed) return badCell(file, number, cell.column, cell.text, "a second column of times");
      timed = true;
      out.timecodes = use.kind == Kind::Timecode;
    }
    if (use.kind == Kind::Shape) {
      use.shape = out.shapes.size();
      out.shapes.emplace_back(cell.text);
    }
    out.head =
        out.head || use.kind == Kind::Yaw || use.kind == Kind::Pitch || use.kind == Kind::Roll;
    out.columns.push_back(use);
    out.cells.emplace_back(cell.text);
  }
  if (!timed)
    return badCell(file, number, 1, {},
                   "no column \"Timecode\" (Live Link Face) or \"time\" (seconds) in the header");
  if (out.shapes.empty()) return badCell(file, number, 1, {}, "no column of a shape in the header");
  if (out.timecodes)
    for (std::string& shape : out.shapes) shape = lowerFirst(shape);
  return out;
}

/// HH:MM:SS:FF.sub as whole seconds and frames of the second after them; HH:MM:SS.sss has no
/// frames.
struct Timecode {
  double seconds = 0;
  double frames = 0;
  bool has_frames = false;
};

std::optional<Timecode> parseTimecode(std::string_view word) {
  std::array<std::string_view, 4> parts;
  std::size_t count = 0;
  while (count < 4) {
    const std::size_t end = word.find_first_of(":;");
    parts[count++] = word.substr(0, end);
    if (end == std::string_view::npos) {
      word = {};
      break;
    }
    word.remove_prefix(end + 1);
    if (count == 4) return {};
  }
  if (count < 3) return {};
  std::array<double, 4> values{};
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    if (last) {
      if (text::parseNumber(parts[i], values[i]) != text::NumberKind::Finite) return {};
    } else {
      std::int64_t whole = 0;
      if (!text::parseInteger(parts[i], whole)) return {};
      values[i] = static_cast<double>(whole);
    }
    // The hours of a day, its minutes and seconds, and the frames of a second.
    constexpr std::array<double, 4> kEnd{24, 60, 60, 1000};
    if (!(values[i] >= 0 && values[i] < kEnd[i])) return {};
  }
  return Timecode{(values[0] * 60 + values[1]) * 60 + values[2], values[3], count == 4};
}

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How many frames a second of these timecodes has. Within a second steps are in frames; across
/// one, the same step tells how many frames the second had.
double framesPerSecond(std::span<const Timecode> codes, std::string_view file, Diagnostics& notes) {
  constexpr std::array<double, 10> kRates{24, 25, 30, 48, 50, 60, 90, 100, 120, 240};
  double most = 0;
  std::vector<double> steps, rates;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    most = std::max(most, codes[i].frames);
    if (i > 0 && codes[i].seconds == codes[i - 1].seconds && codes[i].frames > codes[i - 1].frames)
      steps.push_back(codes[i].frames - codes[i - 1].frames);
  }
  if (!steps.empty()) {
    const double step = medianOf(steps);
    for (std::size_t i = 1; i < codes.size(); ++i)
      if (codes[i].seconds == codes[i - 1].seconds + 1)
        rates.push_back(step - codes[i].frames + codes[i - 1].frames);
  }
  const auto above = std::find_if(kRates.begin(), kRates.end(),
                                  [&](double rate) { return rate > std::floor(most); });
  // More than any camera: then the numbers say it.
  if (above == kRates.end()) return std::floor(most) + 1;
  if (rates.empty()) {
    const double guess = std::max(*above, 60.0);
    notes.warn("timecode-rate", file,
               "too short to tell how many frames a second of its timecodes has; " +
                   std::to_string(static_cast<int>(guess)) + " assumed");
    return guess;
  }
  const double found = medianOf(rates);
  double best = *above;
  for (auto rate = above; rate != kRates.end(); ++rate)
    if (std::abs(*rate - found) < std::abs(best - found)) best = *rate;
  return best;
}

/// Times [s] of timecodes; clocks that pass midnight go on.
std::vector<double> timesOf(std::span<const Timecode> codes, std::string_view file,
                            Diagnostics& notes) {
  constexpr double kDay = 24 * 60 * 60;
  const bool frames =
      std::any_of(codes.begin(), codes.end(), [](const Timecode& code) { return code.has_frames; });
  const double rate = frames ? framesPerSecond(codes, file, notes) : 1;
  std::vector<double> out;
  double days = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (i > 0 && codes[i].seconds + kDay / 2 < codes[i - 1].seconds) days += kDay;
    out.push_back(days + codes[i].seconds + codes[i].frames / rate);
  }
  return out;
}

/// Reads the lines below the header.
class RowReader {
 public:
  RowReader(const Header& header, std::string_view file, Diagnostics& notes)
      : header_(header), file_(file), notes_(notes) {
    tracks_.names = header.shapes;
    for (std::size_t i = 0; i < header.columns.size(); ++i)
      if (const Kind kind = header.columns[i].kind; kind == Kind::Time || kind == Kind::Timecode)
        time_.name = header.cells[i];
  }

  Result<void> read(std::string_view line, std::uint64_t number) {
    cutCells(line, cells_);
    if (faceWasLost(number)) return {};
    if (cells_.size() != header_.columns.size()) return countError(line, number);
    const std::size_t first = tracks_.values.size();
    tracks_.values.resize(first + header_.shapes.size());
    std::array<double, 3> angles{};
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const ColumnUse& use = header_.columns[i];
      if (use.kind == Kind::Unused || use.kind == Kind::Count) continue;
      if (use.kind == Kind::Timecode) {
        const std::optional<Timecode> code = parseTimecode(cells_[i].text);
        if (!code)
          return badCell(file_, number, cells_[i].column, header_.cells[i],
                         text::quoted(cells_[i].text) + " is no timecode HH:MM:SS:FF");
        codes_.push_back(*code);
        time_.starts.push_back(cells_[i].column);
        continue;
      }
      double value = 0;
      const text::NumberKind kind = text::parseNumber(cells_[i].text, value);
      // What a float cannot hold is no coefficient.
      if (kind != text::NumberKind::Finite || !(std::abs(value) <= 1e30))
        return badCell(file_, number, cells_[i].column, header_.cells[i],
                       text::quoted(cells_[i].text) + (kind == text::NumberKind::NotANumber
                                                           ? " is not a number"
                                                           : " is not a finite number"));
      if (use.kind == Kind::Time) {
        tracks_.times_s.push_back(value);
        time_.starts.push_back(cells_[i].column);
      } else if (use.kind == Kind::Shape) {
        tracks_.values[first + use.shape] = static_cast<float>(value);
      } else {
        angles[use.kind == Kind::Yaw ? 0 : use.kind == Kind::Pitch ? 1 : 2] = value;
      }
    }
    tracks_.lines.push_back(number);
    if (header_.head) tracks_.head.push_back(headTurn(angles[0], angles[1], angles[2]));
    return {};
  }

  Result<ShapeTracks> finish() && {
    if (header_.timecodes) tracks_.times_s = timesOf(codes_, file_, notes_);
    return settledTracks(std::move(tracks_), time_, file_, notes_);
  }

 private:
  /// Live Link Face writes a time and a count of 0 while it sees no face.
  bool faceWasLost(std::uint64_t number) {
    for (std::size_t i = 0; i < std::min(cells_.size(), header_.columns.size()); ++i) {
      if (header_.columns[i].kind != Kind::Count) continue;
      std::int64_t count = 1;
      const bool lost =
          text::parseInteger(cells_[i].text, count) && count == 0 &&
          std::all_of(cells_.begin() + static_cast<std::ptrdiff_t>(i) + 1, cells_.end(),
                      [](const TableCell& c) { return c.text.empty(); });
      if (lost)
        notes_.info("frames-without-face", file_, "no face was seen; the frame is left out",
                    number);
      return lost;
    }
    return false;
  }

  Error countError(std::string_view line, std::uint64_t number) const {
    const std::size_t have = cells_.size(), want = header_.columns.size();
    const std::string counts = std::to_string(have) + " of " + std::to_string(want) + " columns";
    if (have > want)
      return badCell(file_, number, cells_[want].column, {},
                     std::to_string(have) + " columns, but the header has " + std::to_string(want));
    const std::size_t other = have == 1 ? line.find_first_of(";\t|") : std::string_view::npos;
    if (other != std::string_view::npos)
      return badCell(file_, number, other + 1, {},
                     counts + ": the separator must be a comma, as in the header");
    return badCell(file_, number, line.size() + 1, header_.cells[have], "missing: " + counts);
  }

  const Header& header_;
  std::string_view file_;
  Diagnostics& notes_;
  ShapeTracks tracks_;
  std::vector<Timecode> codes_;
  TimeColumn time_;
  std::vector<TableCell> cells_;
};

}  // namespace

Result<ShapeTracks> parseShapeCsv(std::string_view text, std::string_view name,
                                  Diagnostics& notes) {
  text::LineScanner lines(text);
  std::string_view line;
  while (lines.next(line) && text::trimmed(line).empty()) {
  }
  if (text::trimmed(line).empty())
    return Error{ErrorCode::BadData, "nothing in it", {.file = std::string(name)}};
  DERM_TRY(const Header header, readHeader(line, lines.lineNumber(), name));
  RowReader rows(header, name, notes);
  while (lines.next(line))
    if (!text::trimmed(line).empty()) DERM_CHECK(rows.read(line, lines.lineNumber()));
  return std::move(rows).finish();
}

}  // namespace derm::detail
