#include "derm/scene/recipe_fields.h"

#include <algorithm>
#include <cmath>

#include "derm/base/nearest_name.h"

namespace derm {
namespace {

std::string plain(double number) {
  std::string text = toToml({.content = number});
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string expectedNumber(const NumberRange& range) {
  const std::string limits = range.text();
  return limits.empty() ? "a number" : "a number, " + limits;
}

std::string expectedNumbers(const ListRange& range) {
  std::string count =
      range.min_count == range.max_count
          ? std::to_string(range.min_count)
          : std::to_string(range.min_count) + " to " + std::to_string(range.max_count);
  const std::string limits = range.each.text();
  return "a list of " + count + " numbers" + (limits.empty() ? "" : ", " + limits);
}

std::string expectedWord(std::span<const std::string_view> words) {
  std::string out = "one of ";
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i > 0 ? ", \"" : "\"") + std::string(words[i]) + "\"";
  return out;
}

std::string_view expectedName(NameKind kind) {
  return kind == NameKind::Joint ? "the name of a joint" : "the name of a vertex group";
}

/// Needs the fields' own lister, which comes below.
std::string expectedTables(TableList& list);

/// What was found, short enough for a message.
std::string found(const RecipeValue& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = toToml(value);
  if (text.size() > kLongest) return std::string(kindOf(value));
  const bool self_evident = !std::holds_alternative<std::string>(value.content);
  return self_evident ? text : std::string(kindOf(value)) + " " + text;
}

class Reader final : public RecipeFields {
 public:
  Reader(const RecipeValue::Table& table, std::string_view file, std::string_view element)
      : table_(table), file_(file), element_(element), used_(table.size(), false) {}

  void flag(std::string_view key, bool& value, std::string_view) override {
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    if (const bool* flag = std::get_if<bool>(&given->content))
      value = *flag;
    else
      expected(key, *given, "true or false");
  }
  void number(std::string_view key, double& value, const NumberRange& range,
              std::string_view) override {
    const RecipeValue* given = find(key);
    if (given != nullptr) readNumber(key, *given, range, expectedNumber(range), value);
  }
  void number(std::string_view key, std::optional<double>& value, const NumberRange& range,
              std::string_view) override {
    const RecipeValue* given = find(key);
    double read = 0;
    if (given != nullptr && readNumber(key, *given, range, expectedNumber(range), read))
      value = read;
  }
  void integer(std::string_view key, std::int64_t& value, const NumberRange& range,
               std::string_view) override {
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    const auto* whole = std::get_if<std::int64_t>(&given->content);
    if (whole == nullptr || !range.holds(static_cast<double>(*whole))) {
      const std::string limits = range.text();
      expected(key, *given, "a whole number" + (limits.empty() ? "" : ", " + limits));
      return;
    }
    value = *whole;
  }
  void text(std::string_view key, std::string& value, std::string_view) override {
    const RecipeValue* given = find(key);
    if (given != nullptr) readText(key, *given, "text", value);
  }
  void numbers(std::string_view key, std::vector<double>& values, const ListRange& range,
               std::string_view) override {
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    const auto* list = std::get_if<RecipeValue::List>(&given->content);
    if (list == nullptr || list->size() < range.min_count || list->size() > range.max_count) {
      expected(key, *given, expectedNumbers(range));
      return;
    }
    std::vector<double> read(list->size());
    for (std::size_t i = 0; i < list->size(); ++i)
      if (!readNumber(key, (*list)[i], range.each, expectedNumber(range.each), read[i])) return;
    values = std::move(read);
  }
  void name(std::string_view key, RecipeName& value, NameKind kind, std::string_view) override {
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    readText(key, *given, expectedName(kind), value.text);
    value.where = where(key, given->location);
  }
  void names(std::string_view key, std::vector<RecipeName>& values, NameKind kind,
             std::string_view) override {
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    const auto* list = std::get_if<RecipeValue::List>(&given->content);
    if (list == nullptr) {
      expected(key, *given,
               kind == NameKind::Joint ? "a list of joint names" : "a list of vertex group names");
      return;
    }
    std::vector<RecipeName> read(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!readText(key, (*list)[i], expectedName(kind), read[i].text)) return;
      read[i].where = where(key, (*list)[i].location);
    }
    values = std::move(read);
  }
  void word(std::string_view key, std::size_t& index, std::span<const std::string_view> words,
            std::string_view) override {
    const RecipeValue* given = find(key);
    std::string read;
    if (given == nullptr || !readText(key, *given, expectedWord(words), read)) return;
    const auto at = std::find(words.begin(), words.end(), read);
    if (at == words.end()) {
      const std::vector<std::string> names(words.begin(), words.end());
      const std::vector<std::string> near = nearestNames(read, names, 1);
      fail(key, given->location,
           "expected " + expectedWord(words) + ", found \"" + read + "\"" +
               (near.empty() ? "" : "; did you mean \"" + near.front() + "\"?"));
      return;
    }
    index = static_cast<std::size_t>(at - words.begin());
  }
  void wordOrNames(std::string_view key, std::size_t& index,
                   std::span<const std::string_view> words, std::vector<RecipeName>& values,
                   NameKind kind, std::string_view help) override {
    const auto at = entry(key);
    if (at != table_.end() && std::holds_alternative<RecipeValue::List>(at->value.content)) {
      names(key, values, kind, help);
      require(!values.empty(), key, "an empty list names nothing");
    } else {
      word(key, index, words, help);
    }
  }
  void tables(std::string_view key, TableList& list, std::string_view) override {
    constexpr std::size_t kMaxTables = 1000;
    const RecipeValue* given = find(key);
    if (given == nullptr) return;
    std::vector<const RecipeValue*> each;
    if (const auto* several = std::get_if<RecipeValue::List>(&given->content))
      for (const RecipeValue& one : *several) each.push_back(&one);
    else
      each.push_back(given);
    for (const RecipeValue* one : each)
      if (!std::holds_alternative<RecipeValue::Table>(one->content)) {
        expected(key, *one, expectedTables(list));
        return;
      }
    if (each.size() > kMaxTables) {
      fail(key, given->location, "more than " + std::to_string(kMaxTables) + " tables");
      return;
    }
    list.resize(each.size());
    for (std::size_t i = 0; i < each.size(); ++i) {
      const std::string number = each.size() > 1 ? "[" + std::to_string(i) + "]" : "";
      const Result<void> read = readFields(std::get<RecipeValue::Table>(each[i]->content), file_,
                                           where(key, {}).element + number,
                                           [&](RecipeFields& fields) { list.fields(i, fields); });
      if (!read && !error_) error_ = read.error();
    }
  }
  void require(bool holds, std::string_view key, std::string_view message) override {
    if (holds || error_) return;
    const auto at = entry(key);
    fail(key, at != table_.end() ? at->value.location : SourceLocation(), std::string(message));
  }
  void renamed(std::string_view old_key, std::string_view key) override {
    const auto at = entry(old_key);
    if (at != table_.end())
      fail(old_key, at->location, "unknown key; did you mean \"" + std::string(key) + "\"?");
  }

  /// The first thing that was wrong; otherwise a key nobody asked for.
  Result<void> finish(std::span<const std::string_view> also_known) {
    if (error_) return *error_;
    known_.insert(known_.end(), also_known.begin(), also_known.end());
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const bool known = used_[i] || std::find(also_known.begin(), also_known.end(),
                                               table_[i].key) != also_known.end();
      if (known) continue;
      fail(table_[i].key, table_[i].location, "unknown key" + didYouMean(table_[i].key, known_));
      return *error_;
    }
    return {};
  }

 private:
  RecipeValue::Table::const_iterator entry(std::string_view key) const {
    return std::find_if(table_.begin(), table_.end(),
                        [&](const RecipeEntry& e) { return e.key == key; });
  }
  const RecipeValue* find(std::string_view key) {
    known_.emplace_back(key);
    const auto at = entry(key);
    if (at == table_.end()) return nullptr;
    used_[static_cast<std::size_t>(at - table_.begin())] = true;
    return &at->value;
  }
  Where where(std::string_view key, const SourceLocation& location) const {
    Where out{.file = std::string(file_),
              .element = element_.empty() ? std::string(key)
                                          : std::string(element_) + "." + std::string(key)};
    if (location.line > 0) {
      out.line = location.line;
      out.column = location.column;
    }
    return out;
  }
  void fail(std::string_view key, const SourceLocation& location, std::string message) {
    if (!error_) error_ = Error{ErrorCode::BadData, std::move(message), where(key, location)};
  }
  void expected(std::string_view key, const RecipeValue& given, std::string_view what) {
    fail(key, given.location, "expected " + std::string(what) + ", found " + found(given));
  }
  bool readNumber(std::string_view key, const RecipeValue& given, const NumberRange& range,
                  const std::string& what, double& value) {
    double read = std::numeric_limits<double>::quiet_NaN();
    if (const auto* whole = std::get_if<std::int64_t>(&given.content))
      read = static_cast<double>(*whole);
    else if (const auto* number = std::get_if<double>(&given.content))
      read = *number;
    if (!std::isfinite(read) || !range.holds(read)) {
      expected(key, given, what);
      return false;
    }
    value = read;
    return true;
  }
  bool readText(std::string_view key, const RecipeValue& given, std::string_view what,
                std::string& value) {
    if (const auto* text = std::get_if<std::string>(&given.content)) {
      value = *text;
      return true;
    }
    expected(key, given, what);
    return false;
  }

  const RecipeValue::Table& table_;
  std::string_view file_;
  std::string_view element_;
  std::vector<bool> used_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

/// Turns every field into its value; what is done with it is up to the class below.
class Visitor : public RecipeFields {
 public:
  void flag(std::string_view key, bool& value, std::string_view help) override {
    take(key, "true or false", RecipeValue{value}, help);
  }
  void number(std::string_view key, double& value, const NumberRange& range,
              std::string_view help) override {
    take(key, expectedNumber(range), RecipeValue{value}, help);
  }
  void number(std::string_view key, std::optional<double>& value, const NumberRange& range,
              std::string_view help) override {
    std::optional<RecipeValue> given;
    if (value) given = RecipeValue{*value};
    take(key, expectedNumber(range), given, help);
  }
  void integer(std::string_view key, std::int64_t& value, const NumberRange& range,
               std::string_view help) override {
    const std::string limits = range.text();
    take(key, "a whole number" + (limits.empty() ? "" : ", " + limits), RecipeValue{value}, help);
  }
  void text(std::string_view key, std::string& value, std::string_view help) override {
    take(key, "text", RecipeValue{value}, help);
  }
  void numbers(std::string_view key, std::vector<double>& values, const ListRange& range,
               std::string_view help) override {
    RecipeValue::List list;
    for (const double v : values) list.push_back({.content = v});
    take(key, expectedNumbers(range), RecipeValue{list}, help);
  }
  void name(std::string_view key, RecipeName& value, NameKind kind,
            std::string_view help) override {
    std::optional<RecipeValue> given;
    if (!value.text.empty()) given = RecipeValue{value.text};
    take(key, std::string(expectedName(kind)), given, help);
  }
  void names(std::string_view key, std::vector<RecipeName>& values, NameKind kind,
             std::string_view help) override {
    RecipeValue::List list;
    for (const RecipeName& n : values) list.push_back({.content = n.text});
    take(key, kind == NameKind::Joint ? "a list of joint names" : "a list of vertex group names",
         RecipeValue{list}, help);
  }
  void word(std::string_view key, std::size_t& index, std::span<const std::string_view> words,
            std::string_view help) override {
    take(key, expectedWord(words), RecipeValue{std::string(words[index])}, help);
  }
  void wordOrNames(std::string_view key, std::size_t& index,
                   std::span<const std::string_view> words, std::vector<RecipeName>& values,
                   NameKind kind, std::string_view help) override {
    RecipeValue::List list;
    for (const RecipeName& n : values) list.push_back({.content = n.text});
    take(key, expectedWord(words) + ", or a list with " + std::string(expectedName(kind)) + " each",
         list.empty() ? RecipeValue{std::string(words[index])} : RecipeValue{std::move(list)},
         help);
  }
  void tables(std::string_view key, TableList& list, std::string_view help) override {
    RecipeValue::List tables;
    for (std::size_t i = 0; i < list.size(); ++i)
      tables.push_back(
          {.content = writeFields([&](RecipeFields& fields) { list.fields(i, fields); })});
    std::optional<RecipeValue> given;
    if (tables.size() == 1)
      given = std::move(tables[0]);
    else if (!tables.empty())
      given = RecipeValue{std::move(tables)};
    take(key, expectedTables(list), given, help);
  }
  void require(bool, std::string_view, std::string_view) override {}

 protected:
  virtual void take(std::string_view key, std::string expected, std::optional<RecipeValue> value,
                    std::string_view help) = 0;
};

class Writer final : public Visitor {
 public:
  RecipeValue::Table table;

 protected:
  void take(std::string_view key, std::string, std::optional<RecipeValue> value,
            std::string_view) override {
    if (value) table.push_back({.key = std::string(key), .value = *std::move(value)});
  }
};

class Lister final : public Visitor {
 public:
  std::vector<FieldInfo> fields;

 protected:
  void take(std::string_view key, std::string expected, std::optional<RecipeValue> value,
            std::string_view help) override {
    fields.push_back({.key = std::string(key),
                      .expected = std::move(expected),
                      .preset = value ? toToml(*value) : "",
                      .help = std::string(help)});
  }
};

std::string expectedTables(TableList& list) {
  std::string keys;
  for (const FieldInfo& field : listFields([&](RecipeFields& f) { list.sampleFields(f); }))
    keys += (keys.empty() ? "" : ", ") + field.key;
  return "a table { " + keys + " }, or a list of such tables";
}

}  // namespace

std::string NumberRange::text() const {
  std::string out;
  if (std::isfinite(low) && std::isfinite(high))
    out = plain(low) + " to " + plain(high);
  else if (std::isfinite(low))
    out = "at least " + plain(low);
  else if (std::isfinite(high))
    out = "at most " + plain(high);
  if (unit.empty()) return out;
  return out + (out.empty() ? "[" : " [") + std::string(unit) + "]";
}

Result<JointId> findJoint(const Skeleton& skeleton, const RecipeName& name) {
  const JointId joint = skeleton.find(name.text);
  if (joint.valid()) return joint;
  return Error{ErrorCode::BadData,
               "no joint \"" + name.text + "\"" + didYouMean(name.text, skeleton.names()),
               name.where};
}

Result<const VertexGroup*> findGroup(const TriMesh& mesh, const RecipeName& name) {
  const VertexGroup* group = mesh.findGroup(name.text);
  if (group != nullptr) return group;
  std::vector<std::string> names;
  for (const VertexGroup& g : mesh.groups) names.push_back(g.name);
  return Error{ErrorCode::BadData,
               "no vertex group \"" + name.text + "\"" + didYouMean(name.text, names), name.where};
}

Result<void> readFields(const RecipeValue::Table& table, std::string_view file,
                        std::string_view element, const FieldList& fields,
                        std::span<const std::string_view> also_known) {
  Reader reader(table, file, element);
  fields(reader);
  return reader.finish(also_known);
}

RecipeValue::Table writeFields(const FieldList& fields) {
  Writer writer;
  fields(writer);
  return std::move(writer.table);
}

std::vector<FieldInfo> listFields(const FieldList& fields) {
  Lister lister;
  fields(lister);
  return std::move(lister.fields);
}

}  // namespace derm
