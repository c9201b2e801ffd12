#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/markup_text.h"
#include "derm/base/number_text.h"
#include "derm/image/plot.h"
#include "derm/io/base64.h"
#include "derm/io/png.h"
#include "derm/repro/report.h"

namespace derm {
namespace {

constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light; --ink: #1d2430; --soft: #5b6675; --line: #d7dce3; --paper: #fff; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 15px/1.5 "Inter", "Helvetica Neue", Helvetica, Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 30px; margin: 0 0 4px; }
h2 { font-size: 21px; margin: 44px 0 8px; border-bottom: 2px solid var(--ink); }
h3 { font-size: 17px; margin: 28px 0 6px; }
h3 span { color: var(--soft); font-weight: normal; }
p { margin: 0 0 10px; max-width: 80ch; }
p.remark { border-left: 3px solid #c98a1b; padding-left: 10px; color: #4a3a14; }
table { border-collapse: collapse; width: 100%; margin: 6px 0 10px; font-size: 14px; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--soft); }
.equal, .holds { color: #14713b; } .better { color: #0b5cad; }
.differs { color: #9a5b00; } .missed { color: #fff; background: #b3261e; padding: 0 6px; }
pre { background: #f4f6f8; border: 1px solid var(--line); padding: 8px 12px; overflow-x: auto;
      font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
figure { margin: 8px 0 14px; } figcaption { color: var(--soft); font-size: 13.5px; }
img, svg { max-width: 100%; height: auto; border: 1px solid var(--line); }
@media print {
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  h2 { break-before: page; } h2:first-of-type { break-before: auto; }
  h3 { break-after: avoid; } figure, tr, pre { break-inside: avoid; }
}
)css";

std::string asked(const ReproNumber& n) {
  if (std::isfinite(n.low) && std::isfinite(n.high))
    return shortNumber(n.low) + " … " + shortNumber(n.high);
  if (std::isfinite(n.low)) return "≥ " + shortNumber(n.low);
  if (std::isfinite(n.high)) return "≤ " + shortNumber(n.high);
  return n.theirs ? "theirs ± " + shortNumber(n.equal_within) : "";
}

void addNumbers(std::string& out, const std::vector<ReproNumber>& numbers) {
  if (numbers.empty()) return;
  out += "<table><tr><th>what<th>theirs<th>ours<th>must be<th>verdict<th></tr>\n";
  for (const ReproNumber& n : numbers) {
    const std::string_view verdict = name(verdictOf(n));
    const std::string unit = n.unit.empty() ? "" : " " + markupText(n.unit);
    out += "<tr><td>" + markupText(n.name) + "<td class=n>" +
           (n.theirs ? shortNumber(*n.theirs) + unit : "–") + "<td class=n>" + shortNumber(n.ours) +
           unit + "<td class=n>" + asked(n) + "<td><span class=" + std::string(verdict) + ">" +
           std::string(verdict) + "</span><td class=why>" + markupText(n.because) + "</tr>\n";
  }
  out += "</table>\n";
}

Result<void> addPictures(std::string& out, const std::vector<ReproPicture>& pictures) {
  for (const ReproPicture& picture : pictures) {
    out += "<figure>";
    if (picture.plot) {
      DERM_TRY(const std::string svg, plotSvg(*picture.plot));
      out += svg.substr(std::min(svg.size(), svg.find("<svg")));  // no XML declaration in a page
    } else {
      out += "<img alt=\"" + markupText(picture.caption) + "\" src=\"data:image/png;base64," +
             encodeBase64(encodePng(picture.image)) + "\">";
    }
    out += "<figcaption>" + markupText(picture.caption) + "</figcaption></figure>\n";
  }
  return {};
}

std::string summary(const ReproReport& report) {
  std::string out = "<p>" + std::to_string(report.entries.size()) + " exhibits: ";
  for (const ReproVerdict v : {ReproVerdict::Equal, ReproVerdict::Better, ReproVerdict::Holds,
                               ReproVerdict::Differs, ReproVerdict::Missed}) {
    if (v != ReproVerdict::Equal) out += ", ";
    out += std::to_string(report.count(v)) + " <span class=" + std::string(name(v)) + ">" +
           std::string(name(v)) + "</span>";
  }
  return out + ". Every number of ours was computed for this page, in " +
         shortNumber(report.seconds, 3) +
         " s. <em>Equal</em>: to the digits that are printed. <em>Holds</em>: the document prints "
         "no number, theory gives one. <em>Differs</em>: for the reason beside it.</p>\n";
}

}  // namespace

Result<std::string> reproHtml(const ReproReport& report) {
  std::string out =
      "<!doctype html>\n<html lang=en><meta charset=utf-8><title>derm: the documents "
      "reproduced</title>\n<style>" +
      std::string(kReportStyle) + "</style>\n<main><h1>The documents reproduced</h1>\n" +
      summary(report);
  const ReproDocument* document = nullptr;
  for (const ReproEntry& entry : report.entries) {
    if (entry.document != document) {
      document = entry.document;
      out +=
          "<h2>" + markupText(document->number) + " · " + markupText(document->title) + "</h2>\n";
    }
    out += "<h3 id=\"" + markupText(entry.id()) + "\">" + markupText(entry.exhibit->id) +
           " <span>" + markupText(entry.exhibit->title) + "</span></h3>\n";
    if (!entry.exhibit->remark.empty())
      out += "<p class=remark>" + markupText(entry.exhibit->remark) + "</p>\n";
    addNumbers(out, entry.result.numbers);
    DERM_CHECK(addPictures(out, entry.result.pictures));
    out += "<pre>" + markupText(entry.exhibit->setup) + "</pre>\n";
  }
  return out + "</main></html>\n";
}

}  // namespace derm
