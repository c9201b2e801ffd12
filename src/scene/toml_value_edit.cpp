#include "scene/toml_value_edit.h"

#include <algorithm>

namespace derm::detail {
namespace {

/// Text in the quotes that it was in, where those can hold it.
std::string scalarText(std::string_view old, const RecipeValue& after) {
  const auto* text = std::get_if<std::string>(&after.content);
  const bool was_literal = old.starts_with('\'') && !old.starts_with("'''");
  const bool fits = text != nullptr && std::none_of(text->begin(), text->end(), [](char c) {
                      return c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
                    });
  return was_literal && fits ? "'" + *text + "'" : toToml(after);
}

/// A list whose elements are added, removed or moved.
class ListEdit {
 public:
  ListEdit(const TomlLayout& layout, const TomlValue& at, std::vector<std::string> texts,
           const ListOrigins& origins, std::string_view line_end)
      : layout_(layout), at_(at), texts_(std::move(texts)), origins_(origins), line_end_(line_end) {
    const std::size_t shorter = std::min(at_.items.size(), origins_.size());
    while (head_ < shorter && origins_[head_] == head_) ++head_;
    while (tail_ < shorter - head_ &&
           origins_[origins_.size() - 1 - tail_] == at_.items.size() - 1 - tail_)
      ++tail_;
  }

  std::string text() const {
    const bool is_same = head_ == at_.items.size() && head_ == origins_.size();
    if (!is_same && !comments(gapBegin(head_), gapEnd(at_.items.size() - tail_)).empty())
      return withComments();
    std::string out;
    const std::size_t n = at_.items.size(), m = texts_.size();
    if (m == 0) return n == 0 ? std::string(layout_.slice(at_.begin, at_.end)) : "[]";
    for (std::size_t i = 0; i < head_; ++i) out += between(i) + texts_[i];
    if (head_ == 0) out += n > 0 ? between(0) : "[";
    for (std::size_t i = head_; i < m - tail_; ++i) out += (i > 0 ? separator() : "") + texts_[i];
    for (std::size_t i = 0; i < tail_; ++i) {
      const std::size_t old = n - tail_ + i, now = m - tail_ + i;
      if (now > 0) out += old > 0 ? between(old) : separator();
      out += texts_[now];
    }
    return out + std::string(n > 0 ? layout_.slice(at_.items.back().end, at_.end) : "]");
  }

 private:
  /// The gap before item i lies between the one before and itself, or the list's brackets.
  std::size_t gapBegin(std::size_t i) const {
    return i == 0 ? at_.begin + 1 : at_.items[i - 1].end;
  }
  std::size_t gapEnd(std::size_t i) const {
    return i < at_.items.size() ? at_.items[i].begin : at_.end - 1;
  }
  std::string between(std::size_t i) const {
    return std::string(layout_.slice(i == 0 ? at_.begin : gapBegin(i), gapEnd(i)));
  }
  /// Indentation of a line that starts with the item.
  std::optional<std::string> indentation(std::size_t i) const {
    const std::string_view gap = layout_.slice(gapBegin(i), gapEnd(i));
    const std::size_t line = gap.rfind('\n');
    if (line == std::string_view::npos) return std::nullopt;
    return std::string(gap.substr(line + 1));
  }
  std::string separator() const {
    if (at_.items.empty()) return ", ";
    const std::optional<std::string> indent = indentation(at_.items.size() - 1);
    return indent ? "," + std::string(line_end_) + *indent : ", ";
  }

  struct Comment {
    std::string text;
    bool is_behind;  ///< on the line on which the stretch begins
  };
  /// Those in [begin, end), which may hold values.
  std::vector<Comment> comments(std::size_t begin, std::size_t end) const {
    std::vector<Comment> out;
    bool is_first_line = true;
    auto item = std::partition_point(at_.items.begin(), at_.items.end(),
                                     [&](const TomlValue& v) { return v.end <= begin; });
    for (std::size_t i = begin; i < end; ++i) {
      while (item != at_.items.end() && item->end <= i) ++item;
      if (item != at_.items.end() && item->begin <= i) {
        i = item->end - 1;
        continue;
      }
      if (layout_.text[i] == '\n') is_first_line = false;
      if (layout_.text[i] != '#') continue;
      const std::size_t line = std::min(layout_.text.find_first_of("\r\n", i), end);
      out.push_back({std::string(layout_.slice(i, line)), is_first_line});
      i = line - 1;
    }
    return out;
  }
  /// An element a line, below its comments and in front of the one behind it.
  std::string withComments() const {
    const std::string eol(line_end_);
    std::string indent = "  ";
    for (std::size_t i = at_.items.size(); i-- > 0;) indent = indentation(i).value_or(indent);
    const auto above = [&](std::size_t gap) {
      std::string out;
      for (const Comment& c : comments(gapBegin(gap), gapEnd(gap)))
        if (!c.is_behind) out += indent + c.text + eol;
      return out;
    };
    const auto behind = [&](std::size_t gap) {
      std::string out;
      for (const Comment& c : comments(gapBegin(gap), gapEnd(gap)))
        if (c.is_behind) out += "  " + c.text;
      return out + eol;
    };
    std::string out = "[" + behind(0);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::optional<std::size_t> from = origins_[i];
      if (from) out += above(*from);
      out += indent + texts_[i] + (i + 1 < texts_.size() ? "," : "");
      out += from ? behind(*from + 1) : eol;
    }
    if (at_.items.empty()) return out + above(0) + "]";
    return out + above(at_.items.size()) + "]";
  }

  const TomlLayout& layout_;
  const TomlValue& at_;
  std::vector<std::string> texts_;
  const ListOrigins& origins_;
  std::string_view line_end_;
  std::size_t head_ = 0;  ///< elements that stay, from the list's start
  std::size_t tail_ = 0;  ///< and up to its end
};

/// An inline table, which may have dotted keys.
class InlineEdit {
 public:
  InlineEdit(const TomlLayout& layout, const TomlValue& at, std::string_view line_end)
      : layout_(layout), at_(at), line_end_(line_end) {}

  std::string text(const RecipeValue& before, const RecipeValue& after) {
    for (std::size_t i = 0; i < at_.items.size(); ++i) {
      const RecipeValue* old = valueAt(before, i);
      const RecipeValue* now = valueAt(after, i);
      if (old == nullptr || now == nullptr) continue;
      const std::string key(layout_.slice(at_.keys[i].front().begin, at_.items[i].begin));
      entries_.push_back(key + editedValue(layout_, at_.items[i], *old, *now, line_end_));
      kept_.push_back(i);
    }
    addMissing({}, std::get<RecipeValue::Table>(after.content));
    if (entries_.empty()) return "{}";
    std::string out = "{ ", end = " }";
    if (!at_.items.empty()) {
      out = layout_.slice(at_.begin, at_.keys[0].front().begin);
      end = layout_.slice(at_.items.back().end, at_.end);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i)
      out += (i > 0 ? separator(i) : "") + entries_[i];
    return out + end;
  }

 private:
  const RecipeValue* valueAt(const RecipeValue& from, std::size_t item) const {
    const RecipeValue* out = &from;
    for (const TomlKey& key : at_.keys[item]) {
      const auto* table = std::get_if<RecipeValue::Table>(&out->content);
      const RecipeEntry* entry = table != nullptr ? find(*table, key.name) : nullptr;
      if (entry == nullptr) return nullptr;
      out = &entry->value;
    }
    return out;
  }
  /// As it was where both neighbours were neighbours.
  std::string separator(std::size_t i) const {
    if (i >= kept_.size() || kept_[i] != kept_[i - 1] + 1) return ", ";
    return std::string(
        layout_.slice(at_.items[kept_[i - 1]].end, at_.keys[kept_[i]].front().begin));
  }
  void addMissing(const std::vector<std::string>& above, const RecipeValue::Table& table) {
    for (const RecipeEntry& e : table) {
      std::vector<std::string> path = above;
      path.push_back(e.key);
      bool is_there = false, is_above = false;
      for (const std::size_t i : kept_) {
        const std::vector<TomlKey>& keys = at_.keys[i];
        const bool fits = keys.size() >= path.size() &&
                          std::equal(path.begin(), path.end(), keys.begin(),
                                     [](const auto& a, const TomlKey& b) { return a == b.name; });
        is_there = is_there || (fits && keys.size() == path.size());
        is_above = is_above || fits;
      }
      if (is_there) continue;
      if (const auto* inner = std::get_if<RecipeValue::Table>(&e.value.content);
          inner != nullptr && is_above) {
        addMissing(path, *inner);
        continue;
      }
      std::string key;
      for (const std::string& part : path) key += (key.empty() ? "" : ".") + keyText(part);
      entries_.push_back(key + " = " + toToml(e.value));
    }
  }

  const TomlLayout& layout_;
  const TomlValue& at_;
  std::string_view line_end_;
  std::vector<std::string> entries_;
  std::vector<std::size_t> kept_;  ///< items that are the first entries
};

}  // namespace

std::string keyText(std::string_view key) {
  // As an inline table of one would have it: "{ key = false }".
  constexpr std::size_t kBefore = 2, kBehind = 10;
  const std::string table = toToml(
      {.content = RecipeValue::Table{{.key = std::string(key), .value = {}, .location = {}}}});
  return table.substr(kBefore, table.size() - kBefore - kBehind);
}

ListOrigins originsByOrder(const RecipeValue::List& before, const RecipeValue::List& after) {
  ListOrigins out(after.size());
  const std::size_t n = before.size(), m = after.size(), shorter = std::min(n, m);
  std::size_t tail = 0;
  // From the end only where the lengths differ: elements of equal lists keep their numbers.
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  while (n != m && tail < shorter - head && before[n - 1 - tail] == after[m - 1 - tail]) ++tail;
  for (std::size_t i = 0; i < shorter - tail; ++i) out[i] = i;
  for (std::size_t i = 1; i <= tail; ++i) out[m - i] = n - i;
  return out;
}

std::string editedValue(const TomlLayout& layout, const TomlValue& at, const RecipeValue& before,
                        const RecipeValue& after, std::string_view line_end,
                        const ListOrigins* origins) {
  const std::string_view old = layout.slice(at.begin, at.end);
  if (before == after) return std::string(old);
  const auto* old_list = std::get_if<RecipeValue::List>(&before.content);
  const auto* new_list = std::get_if<RecipeValue::List>(&after.content);
  if (at.kind == TomlValue::Kind::List && old_list != nullptr && new_list != nullptr &&
      old_list->size() == at.items.size()) {
    const ListOrigins from = origins != nullptr ? *origins : originsByOrder(*old_list, *new_list);
    std::vector<std::string> texts(new_list->size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      texts[i] = from[i] ? editedValue(layout, at.items[*from[i]], (*old_list)[*from[i]],
                                       (*new_list)[i], line_end)
                         : toToml((*new_list)[i]);
    return ListEdit(layout, at, std::move(texts), from, line_end).text();
  }
  if (at.kind == TomlValue::Kind::Table &&
      std::holds_alternative<RecipeValue::Table>(before.content) &&
      std::holds_alternative<RecipeValue::Table>(after.content))
    return InlineEdit(layout, at, line_end).text(before, after);
  if (at.kind == TomlValue::Kind::Scalar) return scalarText(old, after);
  return toToml(after);
}

}  // namespace derm::detail
