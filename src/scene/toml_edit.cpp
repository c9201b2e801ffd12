#include "scene/toml_edit.h"

#include <algorithm>
#include <array>
#include <map>

#include "scene/toml_text.h"

namespace derm::detail {
namespace {

bool isTables(const RecipeValue& value) {
  const auto* list = std::get_if<RecipeValue::List>(&value.content);
  return list != nullptr && !list->empty() &&
         std::all_of(list->begin(), list->end(), [](const RecipeValue& v) {
           return std::holds_alternative<RecipeValue::Table>(v.content);
         });
}

/// What is at the path below a table; nothing for the empty path.
const RecipeValue* valueAt(const RecipeValue::Table& table, const TomlPath& path) {
  const RecipeValue* at = nullptr;
  for (const TomlStep& step : path) {
    if (step.index) {
      // Headers make lists of tables only.
      if (at == nullptr || !isTables(*at)) return nullptr;
      const auto& list = std::get<RecipeValue::List>(at->content);
      if (*step.index >= list.size()) return nullptr;
      at = &list[*step.index];
      continue;
    }
    const auto* here = at == nullptr ? &table : std::get_if<RecipeValue::Table>(&at->content);
    const RecipeEntry* entry = here != nullptr ? find(*here, step.key) : nullptr;
    if (entry == nullptr) return nullptr;
    at = &entry->value;
  }
  return at;
}

bool isTableAt(const RecipeValue::Table& table, const TomlPath& path) {
  const RecipeValue* value = valueAt(table, path);
  return path.empty() ||
         (value != nullptr && std::holds_alternative<RecipeValue::Table>(value->content));
}

TomlPath operator/(TomlPath path, TomlStep step) {
  path.push_back(std::move(step));
  return path;
}

bool startsWith(const TomlPath& path, const TomlPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

/// One text with changes that do not overlap.
class TextEdits {
 public:
  TextEdits(const TomlLayout& layout, std::string_view line_end)
      : layout_(layout), line_end_(line_end) {}

  void replace(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }
  void removeStatement(std::size_t i) { replace(layout_.offset(i), layout_.offset(i + 1), ""); }
  /// With the blank lines above it.
  void removeSection(const TomlSection& section) {
    std::size_t begin = section.begin, end = section.end;
    while (begin > 0 && isBlank(begin - 1)) --begin;
    if (begin == 0) {
      begin = section.begin;
      while (end < layout_.statements.size() && isBlank(end)) ++end;
    }
    replace(layout_.offset(begin), layout_.offset(end), "");
  }
  /// A line before statement i, which is the end of another table's lines.
  void insertLine(std::size_t i, const std::string& line) {
    lines_[i] += line + std::string(line_end_);
  }
  /// Whole lines, kept apart from what is around them.
  void insertSection(std::size_t i, std::string text) { blocks_[i].push_back(std::move(text)); }

  std::string text() {
    for (auto& [i, lines] : lines_) replace(layout_.offset(i), layout_.offset(i), lines);
    for (const auto& [i, blocks] : blocks_) {
      const bool is_apart = i == 0 || isBlank(i - 1);
      const bool ends_apart = i == layout_.statements.size() || isBlank(i);
      std::string all;
      for (const std::string& block : blocks)
        all +=
            (all.empty() && is_apart && !lines_.contains(i) ? "" : std::string(line_end_)) + block;
      replace(layout_.offset(i), layout_.offset(i), all + std::string(ends_apart ? "" : line_end_));
    }
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string out;
    std::size_t at = 0;
    for (const Edit& e : edits_) {
      // Blank lines can go with the section above and with the one below.
      if (e.begin > at) out += layout_.slice(at, e.begin);
      out += e.text;
      at = std::max(at, e.end);
    }
    out += layout_.slice(at, layout_.text.size());
    trimBlankLines(out);
    return out;
  }

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  /// What was above the first blank line or below the last may be gone.
  void trimBlankLines(std::string& text) const {
    if (layout_.statements.empty()) return;
    const std::size_t start = layout_.offset(0), size = line_end_.size();
    if (!isBlank(0))
      while (text.compare(start, size, line_end_) == 0) text.erase(start, size);
    const std::string two = std::string(line_end_) + std::string(line_end_);
    if (!isBlank(layout_.statements.size() - 1))
      while (text.ends_with(two)) text.resize(text.size() - size);
  }
  bool isBlank(std::size_t i) const {
    return layout_.statements[i].kind == TomlStatement::Kind::Blank;
  }

  const TomlLayout& layout_;
  std::string_view line_end_;
  std::vector<Edit> edits_;
  std::map<std::size_t, std::string> lines_;
  std::map<std::size_t, std::vector<std::string>> blocks_;
};

std::string entryLine(std::string_view indent, std::string_view key, const RecipeValue& value) {
  return std::string(indent) + std::string(key) + " = " + toToml(value);
}

std::string sectionText(const std::string& header, const RecipeValue::Table& table,
                        std::string_view line_end) {
  std::string out = header + std::string(line_end);
  for (const RecipeEntry& e : table)
    out += entryLine("", keyText(e.key), e.value) + std::string(line_end);
  return out;
}

/// Which of the old elements keep their place while others move around them: a longest run of
/// growing numbers.
std::vector<bool> stayers(const ListOrigins& origins) {
  const std::size_t n = origins.size();
  std::vector<std::size_t> length(n, 0), before(n, n);
  std::size_t best = n;
  for (std::size_t i = 0; i < n; ++i) {
    if (!origins[i]) continue;
    length[i] = 1;
    for (std::size_t j = 0; j < i; ++j)
      if (origins[j] && *origins[j] < *origins[i] && length[j] + 1 > length[i]) {
        length[i] = length[j] + 1;
        before[i] = j;
      }
    if (best == n || length[i] > length[best]) best = i;
  }
  std::vector<bool> out(n, false);
  for (std::size_t i = best; i < n; i = before[i]) out[i] = true;
  return out;
}

/// Step 1: the list whose elements move, where it is written as [[sections]]. What belongs to an
/// element moves and goes with it.
class SectionOrder {
 public:
  SectionOrder(const TomlLayout& layout, const TomlTarget& target, std::string_view line_end)
      : layout_(layout), target_(target), line_end_(line_end), edits_(layout, line_end) {
    for (std::size_t s = 0; s < layout.sections.size(); ++s) {
      const TomlPath& path = layout.sections[s].path;
      if (path.size() < 2 || path[0].key != target.list || !path[1].index) continue;
      parts_.resize(std::max(parts_.size(), *path[1].index + 1));
      parts_[*path[1].index].push_back(s);
    }
  }

  std::string text() {
    const std::vector<bool> stays = stayers(target_.origins);
    std::vector<bool> kept(parts_.size(), false);
    for (std::size_t i = 0; i < stays.size(); ++i)
      if (stays[i]) kept[*target_.origins[i]] = true;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (const std::size_t s : parts_[p])
        if (!kept[p]) edits_.removeSection(layout_.sections[s]);
    std::size_t at = beginOfFirst(kept);
    for (std::size_t i = 0; i < target_.origins.size(); ++i) {
      if (stays[i])
        at = layout_.sections[parts_[*target_.origins[i]].back()].end;
      else
        edits_.insertSection(at, blockOf(i));
    }
    return edits_.text();
  }

 private:
  std::size_t beginOfFirst(const std::vector<bool>& kept) const {
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (kept[p]) return layout_.sections[parts_[p].front()].begin;
    // None stays: where the first was, behind what is above it.
    const std::size_t s = parts_.empty() ? layout_.sections.size() : parts_.front().front();
    return layout_.sections[s - 1].end;
  }
  std::string blockOf(std::size_t i) const {
    std::string out;
    if (const std::optional<std::size_t> from = target_.origins[i]) {
      for (const std::size_t s : parts_[*from]) {
        const TomlSection& part = layout_.sections[s];
        if (!out.empty() && layout_.sections[s - 1].end != part.begin) out += line_end_;
        out += layout_.slice(layout_.offset(part.begin), layout_.offset(part.end));
      }
      return out;
    }
    const RecipeValue* value =
        valueAt(target_.table, {{.key = target_.list, .index = {}}, {.key = {}, .index = i}});
    return value == nullptr ? out
                            : sectionText("[[" + keyText(target_.list) + "]]",
                                          std::get<RecipeValue::Table>(value->content), line_end_);
  }

  const TomlLayout& layout_;
  const TomlTarget& target_;
  std::string_view line_end_;
  TextEdits edits_;
  std::vector<std::vector<std::size_t>> parts_;  ///< sections of each old element
};

/// Step 2: values that change, and what is to go.
std::string changeValues(const TomlLayout& layout, const RecipeValue::Table& before,
                         const TomlTarget& target, std::string_view line_end) {
  TextEdits edits(layout, line_end);
  for (const TomlSection& section : layout.sections) {
    if (!isTableAt(target.table, section.path)) {
      edits.removeSection(section);
      continue;
    }
    for (const std::size_t i : section.entries) {
      const TomlPath path = layout.pathOf(section, i);
      const RecipeValue* old = valueAt(before, path);
      const RecipeValue* now = valueAt(target.table, path);
      const TomlValue& value = layout.statements[i].value;
      const bool is_list = path.size() == 1 && path[0].key == target.list;
      if (now == nullptr || old == nullptr)
        edits.removeStatement(i);
      else if (*old != *now)
        edits.replace(
            value.begin, value.end,
            editedValue(layout, value, *old, *now, line_end, is_list ? &target.origins : nullptr));
    }
  }
  return edits.text();
}

/// Step 3: what is not there yet.
class Additions {
 public:
  Additions(const TomlLayout& layout, const TomlTarget& target, std::string_view line_end)
      : layout_(layout), target_(target), line_end_(line_end), edits_(layout, line_end) {
    for (std::size_t s = 0; s < layout.sections.size(); ++s) {
      const TomlSection& section = layout.sections[s];
      TomlPath path;
      for (const TomlStep& step : section.path) {
        path.push_back(step);
        homes_.try_emplace(path, Home{.below = s});
      }
      homes_[section.path].section = s;
      for (const std::size_t i : section.entries) {
        path = layout.pathOf(section, i);
        entries_.emplace(path, i);
        for (path.pop_back(); path.size() > section.path.size(); path.pop_back())
          homes_[path].dotted = {s, i};
      }
    }
  }

  std::string text() {
    addTo({}, target_.table);
    for (const auto& [path, table] : super_tables_)
      edits_.insertSection(table.statement, table.text);
    return edits_.text();
  }

 private:
  /// What there is of a table or a list of tables.
  struct Home {
    std::optional<std::size_t> section = {};  ///< its own
    /// Section and statement of the last a.b = … that makes it.
    std::optional<std::pair<std::size_t, std::size_t>> dotted = {};
    std::optional<std::size_t> below = {};  ///< the first section of it or in it
  };

  void addTo(const TomlPath& path, const RecipeValue::Table& table) {
    for (const RecipeEntry& e : table) {
      const TomlPath full = path / TomlStep{.key = e.key};
      // Sections that are all gone say that their list is empty.
      const bool is_list = path.empty() && e.key == target_.list;
      if (entries_.contains(full) || (is_list && !isTables(e.value))) continue;
      const bool is_there = homes_.contains(full);
      if (const auto* inner = std::get_if<RecipeValue::Table>(&e.value.content);
          inner != nullptr && (is_there || path.empty())) {
        if (is_there)
          addTo(full, *inner);
        else
          edits_.insertSection(beginOfLists(),
                               sectionText("[" + keyText(e.key) + "]", *inner, line_end_));
      } else if (isTables(e.value) && (is_there || path.empty())) {
        addTables(full, std::get<RecipeValue::List>(e.value.content));
      } else {
        addEntry(path, e);
      }
    }
  }

  /// In front of the first list of sections, which people leave at the end.
  std::size_t beginOfLists() const {
    for (const TomlSection& section : layout_.sections)
      if (section.path.size() > 1 && section.path[1].index) return section.begin;
    return layout_.sections.back().end;
  }

  void addTables(const TomlPath& path, const RecipeValue::List& list) {
    std::size_t at = layout_.sections.back().end;
    std::string header = "[[" + keyText(path.back().key) + "]]";
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto& table = std::get<RecipeValue::Table>(list[i].content);
      const TomlPath element = path / TomlStep{.index = i};
      const auto home = homes_.find(element);
      if (home == homes_.end()) {
        edits_.insertSection(at, sectionText(header, table, line_end_));
        continue;
      }
      addTo(element, table);
      for (const TomlSection& section : layout_.sections)
        if (startsWith(section.path, element)) at = section.end;
      if (home->second.section) header = headerText(*home->second.section);
    }
  }
  std::string headerText(std::size_t section) const {
    const TomlStatement& s = layout_.statements[*layout_.sections[section].header];
    return "[[" + std::string(layout_.slice(s.keys.front().begin, s.keys.back().end)) + "]]";
  }

  void addEntry(const TomlPath& path, const RecipeEntry& e) {
    const Home& home = homes_.at(path);  // we only come to tables that are there
    if (home.section) {
      const TomlSection& section = layout_.sections[*home.section];
      if (section.entries.empty())
        edits_.insertLine(section.header ? *section.header + 1 : section.end,
                          entryLine("", keyText(e.key), e.value));
      else
        addBehind(section.entries.back(), "", e);
    } else if (home.dotted) {
      const auto [s, i] = *home.dotted;
      const std::size_t depth = path.size() - layout_.sections[s].path.size();
      const std::vector<TomlKey>& keys = layout_.statements[i].keys;
      addBehind(i, layout_.slice(keys.front().begin, keys[depth].begin), e);
    } else if (home.below) {
      addSuperTable(path, *home.below, e);
    }
  }
  void addBehind(std::size_t entry, std::string_view above, const RecipeEntry& e) {
    const TomlStatement& s = layout_.statements[entry];
    edits_.insertLine(entry + 1, entryLine(layout_.slice(s.begin, s.content),
                                           std::string(above) + keyText(e.key), e.value));
  }
  /// A table that only has tables so far, [a.b], gets a header [a].
  void addSuperTable(const TomlPath& path, std::size_t below, const RecipeEntry& e) {
    SuperTable& table = super_tables_[path];
    if (table.text.empty()) {
      const TomlSection& section = layout_.sections[below];
      const TomlStatement& s = layout_.statements[*section.header];
      const auto depth =
          std::count_if(path.begin(), path.end(), [](const TomlStep& step) { return !step.index; });
      const std::size_t end = s.keys[static_cast<std::size_t>(depth) - 1].end;
      table.statement = section.begin;
      table.text = sectionText("[" + std::string(layout_.slice(s.keys.front().begin, end)) + "]",
                               {}, line_end_);
    }
    table.text += entryLine("", keyText(e.key), e.value) + std::string(line_end_);
  }

  struct SuperTable {
    std::size_t statement = 0;
    std::string text = {};
  };
  const TomlLayout& layout_;
  const TomlTarget& target_;
  std::string_view line_end_;
  TextEdits edits_;
  std::map<TomlPath, std::size_t> entries_;
  std::map<TomlPath, Home> homes_;
  std::map<TomlPath, SuperTable> super_tables_;
};

bool isEntryAtTop(const TomlLayout& layout, std::string_view key) {
  const std::vector<std::size_t>& entries = layout.sections.front().entries;
  return std::any_of(entries.begin(), entries.end(),
                     [&](std::size_t i) { return layout.statements[i].keys.front().name == key; });
}

}  // namespace

Result<std::string> editToml(std::string_view text, const RecipeValue::Table& written,
                             const TomlTarget& target) {
  const std::size_t first_line = text.find('\n');
  const bool is_crlf =
      first_line != std::string_view::npos && first_line > 0 && text[first_line - 1] == '\r';
  const std::string_view line_end = is_crlf ? "\r\n" : "\n";
  // Lines are easier to move where each has its end; a last one without gets it taken off again.
  const bool is_open = !text.empty() && !text.ends_with('\n');
  std::string now = std::string(text) + std::string(is_open ? line_end : "");
  using Step = std::string (*)(const TomlLayout&, const RecipeValue::Table&, const TomlTarget&,
                               std::string_view);
  constexpr std::array<Step, 3> kSteps = {
      [](const TomlLayout& layout, const RecipeValue::Table&, const TomlTarget& wanted,
         std::string_view eol) {
        return isEntryAtTop(layout, wanted.list) ? std::string(layout.text)
                                                 : SectionOrder(layout, wanted, eol).text();
      },
      changeValues,
      [](const TomlLayout& layout, const RecipeValue::Table&, const TomlTarget& wanted,
         std::string_view eol) { return Additions(layout, wanted, eol).text(); }};
  RecipeValue::Table before = written;
  for (const Step step : kSteps) {
    const std::optional<TomlLayout> layout = layoutOf(now);
    if (!layout) return Error{ErrorCode::Unsupported, "the text's lines are not understood", {}};
    std::string next = step(*layout, before, target, line_end);
    if (next == now) continue;  // the text is as it was read
    now = std::move(next);
    if (step == kSteps.back()) break;
    DERM_TRY(before, parseToml(now, ""));
  }
  if (is_open && now.ends_with(line_end)) now.resize(now.size() - line_end.size());
  return now;
}

}  // namespace derm::detail
