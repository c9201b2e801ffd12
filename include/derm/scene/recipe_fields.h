#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/base/result.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/scene/recipe_value.h"

namespace derm {

/// The numbers a key accepts, and their unit for messages and manuals.
struct NumberRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::string_view unit = {};  ///< "m", "s", "Hz"; empty = a plain number

  bool holds(double number) const { return number >= low && number <= high; }  // not for NaN
  std::string text() const;  ///< "0.001 to 1000 [Hz]"
};

struct ListRange {
  std::size_t min_count = 0;
  std::size_t max_count = 1024;
  NumberRange each = {};
};

/// What a name in a recipe must be a name of.
enum class NameKind { Joint, VertexGroup };

/// The name of a joint or vertex group, and where it was written: whether it exists is known only
/// once the character is. The location is not compared.
struct RecipeName {
  std::string text;
  Where where;

  bool operator==(const RecipeName& other) const { return text == other.text; }
};

Result<JointId> findJoint(const Skeleton& skeleton, const RecipeName& name);
Result<const VertexGroup*> findGroup(const TriMesh& mesh, const RecipeName& name);

class RecipeFields;

/// Things of one kind that a key holds as tables, each with its own keys: seen by RecipeFields.
class TableList {
 public:
  virtual ~TableList() = default;
  virtual std::size_t size() const = 0;
  virtual void resize(std::size_t count) = 0;
  virtual void fields(std::size_t index, RecipeFields& fields) = 0;
  /// The keys of one at its defaults.
  virtual void sampleFields(RecipeFields& fields) = 0;
};

/// The keys of a table, visited one by one. A layer lists its keys once, in one function that calls
/// these; reading them from a recipe, writing them back, and listing them for the manual and the
/// studio's panels all go through it. Values come in with their defaults.
class RecipeFields {
 public:
  virtual ~RecipeFields() = default;

  virtual void flag(std::string_view key, bool& value, std::string_view help) = 0;
  /// Finite numbers only; whole ones may be written without a point.
  virtual void number(std::string_view key, double& value, const NumberRange& range,
                      std::string_view help) = 0;
  virtual void number(std::string_view key, std::optional<double>& value, const NumberRange& range,
                      std::string_view help) = 0;
  virtual void integer(std::string_view key, std::int64_t& value, const NumberRange& range,
                       std::string_view help) = 0;
  virtual void text(std::string_view key, std::string& value, std::string_view help) = 0;
  virtual void numbers(std::string_view key, std::vector<double>& values, const ListRange& range,
                       std::string_view help) = 0;
  virtual void name(std::string_view key, RecipeName& value, NameKind kind,
                    std::string_view help) = 0;
  virtual void names(std::string_view key, std::vector<RecipeName>& values, NameKind kind,
                     std::string_view help) = 0;
  /// One of some words, by its index.
  virtual void word(std::string_view key, std::size_t& index,
                    std::span<const std::string_view> words, std::string_view help) = 0;
  /// One of some words, or a list of names instead: `names` is then not empty.
  virtual void wordOrNames(std::string_view key, std::size_t& index,
                           std::span<const std::string_view> words, std::vector<RecipeName>& names,
                           NameKind kind, std::string_view help) = 0;
  /// A table, or a list of tables: { group = "biceps", percent = 12 }. None where it is absent.
  virtual void tables(std::string_view key, TableList& list, std::string_view help) = 0;
  /// A rule between keys: where it does not hold, reading fails at this key.
  virtual void require(bool holds, std::string_view key, std::string_view message) = 0;
  /// A key that recipes may still have under the name it had: reading fails and names the new one.
  virtual void renamed(std::string_view /*old_key*/, std::string_view /*key*/) {}

  void number(std::string_view key, float& value, const NumberRange& range, std::string_view help) {
    double wide = value;
    number(key, wide, range, help);
    value = static_cast<float>(wide);
  }
  /// Tables that each become a T; `each(T&, RecipeFields&)` lists the keys of one.
  template <class T, class Each>
  void tables(std::string_view key, std::vector<T>& values, const Each& each,
              std::string_view help) {
    struct List final : TableList {
      std::vector<T>& of;
      const Each& keys;
      List(std::vector<T>& list, const Each& each_one) : of(list), keys(each_one) {}
      std::size_t size() const override { return of.size(); }
      void resize(std::size_t count) override { of.assign(count, T{}); }
      void fields(std::size_t index, RecipeFields& f) override { keys(of[index], f); }
      void sampleFields(RecipeFields& f) override {
        T sample{};
        keys(sample, f);
      }
    };
    List list(values, each);
    tables(key, list, help);
  }
  /// An enumeration with a word for each value.
  template <class Enum, std::size_t N>
  void choice(std::string_view key, Enum& value,
              const std::array<std::pair<Enum, std::string_view>, N>& choices,
              std::string_view help) {
    std::array<std::string_view, N> words;
    std::size_t index = 0;
    for (std::size_t i = 0; i < N; ++i) {
      words[i] = choices[i].second;
      if (choices[i].first == value) index = i;
    }
    word(key, index, words, help);
    value = choices[index].first;
  }
};

/// The function in which something lists its keys.
using FieldList = std::function<void(RecipeFields&)>;

/// Fills what `fields` lists from a table. Fails, with line and column, on the first key that is
/// unknown (the nearest known one is named), of the wrong type, or out of range. `also_known` are
/// keys of the table that somebody else reads; `element` is put before the key in messages.
Result<void> readFields(const RecipeValue::Table& table, std::string_view file,
                        std::string_view element, const FieldList& fields,
                        std::span<const std::string_view> also_known = {});

/// The table that gives the present values back. Absent optional values are left out.
RecipeValue::Table writeFields(const FieldList& fields);

/// A line of the manual.
struct FieldInfo {
  std::string key;
  std::string expected;  ///< "a number, 0 to 1 [m]"
  std::string preset;    ///< the default as TOML; empty where the key may be absent
  std::string help;
};
std::vector<FieldInfo> listFields(const FieldList& fields);

}  // namespace derm
