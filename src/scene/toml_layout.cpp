#include "scene/toml_layout.h"

#include <algorithm>
#include <map>

#include "scene/toml_text.h"

namespace derm::detail {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kMaxDepth = 300;  ///< the parser accepts less

/// Reads statements. The text is known to be good, so this only tells where things end; it stops at
/// what it does not know.
class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : text_(text), at_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  bool done() const { return failed_ || at_ >= text_.size(); }
  bool failed() const { return failed_; }

  TomlStatement statement() {
    TomlStatement out{.begin = at_};
    skipSpaces();
    out.content = at_;
    if (peek() == '#') {
      out.kind = TomlStatement::Kind::Comment;
    } else if (peek() == '[') {
      out.kind = TomlStatement::Kind::Header;
      readHeader(out);
    } else if (at_ < text_.size() && !atLineEnd()) {
      out.kind = TomlStatement::Kind::Entry;
      out.keys = dottedKey();
      take('=');
      skipSpaces();
      out.value = value(0);
    }
    finishLine();
    out.end = at_;
    return out;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool atLineEnd() const { return peek() == '\n' || (peek() == '\r' && peek(1) == '\n'); }
  bool startsWith(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void take(char c) {
    if (peek() == c && at_ < text_.size())
      ++at_;
    else
      failed_ = true;
  }
  void skipSpaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  void skipComment() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (at_ > 0 && text_[at_ - 1] == '\r') --at_;
  }
  void takeLineEnd() {
    if (peek() == '\r') ++at_;
    take('\n');
  }
  void finishLine() {
    skipSpaces();
    if (peek() == '#') skipComment();
    if (at_ < text_.size()) takeLineEnd();
  }
  /// What may stand between the values of a list.
  void skipFiller() {
    for (;;) {
      skipSpaces();
      if (peek() == '#')
        skipComment();
      else if (atLineEnd())
        takeLineEnd();
      else
        return;
    }
  }

  void readHeader(TomlStatement& out) {
    take('[');
    out.is_array = peek() == '[';
    if (out.is_array) take('[');
    skipSpaces();
    out.keys = dottedKey();
    take(']');
    if (out.is_array) take(']');
  }

  /// Ends at what follows the spaces behind it.
  std::vector<TomlKey> dottedKey() {
    std::vector<TomlKey> out;
    for (;;) {
      out.push_back(key());
      skipSpaces();
      if (failed_ || peek() != '.') return out;
      take('.');
      skipSpaces();
    }
  }
  TomlKey key() {
    TomlKey out{.begin = at_};
    const bool is_quoted = peek() == '"' || peek() == '\'';
    if (is_quoted)
      skipString();
    else
      at_ = std::min(text_.find_first_of(" \t\r\n.=]", at_), text_.size());
    out.end = at_;
    const std::string_view raw = text_.substr(out.begin, out.end - out.begin);
    if (raw.empty() || (is_quoted && raw.size() < 2)) {
      failed_ = true;
    } else if (raw.find('\\') != std::string_view::npos && raw.front() == '"') {
      const auto decoded = parseToml(std::string(raw) + " = 0", "");
      failed_ = failed_ || !decoded || decoded->size() != 1;
      if (!failed_) out.name = decoded->front().key;
    } else {
      out.name = is_quoted ? raw.substr(1, raw.size() - 2) : raw;
    }
    return out;
  }

  void skipString() {
    const char quote = peek();
    const std::string three(3, quote);
    const bool is_long = startsWith(three);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && peek() == '\\') {
        at_ += 2;
      } else if (is_long ? startsWith(three) : peek() == quote) {
        at_ += is_long ? 3 : 1;
        // A long string may end with quotes of its own.
        for (int more = 0; is_long && more < 2 && peek() == quote; ++more) ++at_;
        return;
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
    failed_ = true;
  }

  TomlValue value(int depth) {
    TomlValue out{.begin = at_};
    if (depth > kMaxDepth) {
      failed_ = true;
    } else if (peek() == '[' || peek() == '{') {
      const bool is_list = peek() == '[';
      out.kind = is_list ? TomlValue::Kind::List : TomlValue::Kind::Table;
      readItems(out, is_list ? ']' : '}', depth);
    } else if (peek() == '"' || peek() == '\'') {
      skipString();
    } else {
      at_ = std::min(text_.find_first_of(",]}# \t\r\n", at_), text_.size());
      failed_ = failed_ || at_ == out.begin;
    }
    out.end = at_;
    return out;
  }
  void readItems(TomlValue& out, char close, int depth) {
    ++at_;
    for (;;) {
      skipFiller();
      if (failed_ || peek() == close) break;
      if (out.kind == TomlValue::Kind::Table) {
        out.keys.push_back(dottedKey());
        take('=');
        skipSpaces();
      }
      out.items.push_back(value(depth + 1));
      skipFiller();
      if (failed_ || peek() != ',') break;
      take(',');
    }
    take(close);
  }

  std::string_view text_;
  std::size_t at_;
  bool failed_ = false;
};

/// Headers name the last of a list's tables by the list's name.
class Sections {
 public:
  explicit Sections(TomlLayout& layout) : layout_(layout) {}

  void find() {
    layout_.sections.assign(1, {});
    for (std::size_t i = 0; i < layout_.statements.size(); ++i) {
      const TomlStatement& s = layout_.statements[i];
      if (s.kind == TomlStatement::Kind::Header)
        layout_.sections.push_back({.header = i, .path = pathOf(s)});
      else if (s.kind == TomlStatement::Kind::Entry)
        layout_.sections.back().entries.push_back(i);
    }
    for (TomlSection& section : layout_.sections)
      if (section.header) {
        section.begin = *section.header;
        while (section.begin > 0 && isComment(section.begin - 1)) --section.begin;
      }
    for (std::size_t i = 0; i < layout_.sections.size(); ++i) findEnd(i);
  }

 private:
  bool isComment(std::size_t i) const {
    return layout_.statements[i].kind == TomlStatement::Kind::Comment;
  }
  TomlPath pathOf(const TomlStatement& header) {
    TomlPath out;
    for (std::size_t k = 0; k < header.keys.size(); ++k) {
      out.push_back({.key = header.keys[k].name});
      const bool is_new = header.is_array && k + 1 == header.keys.size();
      if (is_new) ++counts_[out];
      if (const auto count = counts_.find(out); count != counts_.end())
        out.push_back({.index = count->second - 1});
    }
    return out;
  }
  void findEnd(std::size_t i) {
    TomlSection& section = layout_.sections[i];
    const bool is_last = i + 1 == layout_.sections.size();
    const std::size_t limit = is_last ? layout_.statements.size() : layout_.sections[i + 1].begin;
    if (!section.entries.empty())
      section.end = section.entries.back() + 1;
    else
      section.end = section.header ? *section.header + 1 : 0;
    while (section.end < limit && isComment(section.end)) ++section.end;
    // A text of comments alone: what is added comes behind them.
    if (is_last && !section.header && section.entries.empty()) section.end = limit;
  }

  TomlLayout& layout_;
  std::map<TomlPath, std::size_t> counts_;  ///< of lists of tables
};

}  // namespace

TomlPath TomlLayout::pathOf(const TomlSection& section, std::size_t entry) const {
  TomlPath out = section.path;
  for (const TomlKey& key : statements[entry].keys) out.push_back({.key = key.name});
  return out;
}

std::optional<TomlLayout> layoutOf(std::string_view text) {
  TomlLayout out{.text = text};
  Scanner scanner(text);
  while (!scanner.done()) out.statements.push_back(scanner.statement());
  if (scanner.failed()) return std::nullopt;
  Sections(out).find();
  return out;
}

}  // namespace derm::detail
