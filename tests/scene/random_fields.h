#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "derm/base/rng.h"
#include "derm/scene/recipe_fields.h"

namespace derm::testing_support {

/// Changes some of the keys it is shown at random, within what each key says it accepts: near the
/// value it has, at an end of its range, or anywhere. What keys must be to each other is left to
/// the reader of the recipe, which may well refuse the result.
class RandomFields final : public RecipeFields {
 public:
  /// `share` in [0,1] of the keys is changed; texts become one of `texts`.
  RandomFields(Rng& rng, double share, std::vector<std::string> texts)
      : rng_(rng), share_(share), texts_(std::move(texts)) {}

  void flag(std::string_view, bool& value, std::string_view) override {
    if (hit()) value = !value;
  }
  void number(std::string_view, double& value, const NumberRange& range,
              std::string_view) override {
    if (hit()) value = drawn(value, range);
  }
  void number(std::string_view, std::optional<double>& value, const NumberRange& range,
              std::string_view) override {
    if (!hit()) return;
    if (value && rng_.below(3) == 0)
      value.reset();
    else
      value = drawn(value.value_or(1.0), range);
  }
  void integer(std::string_view, std::int64_t& value, const NumberRange& range,
               std::string_view) override {
    // Thousands of points or levels are slow, not wrong.
    if (hit())
      value = std::int64_t(std::clamp(double(value) + double(rng_.below(7)) - 3,
                                      std::max(range.low, -1e6), range.high));
  }
  void text(std::string_view, std::string& value, std::string_view) override {
    if (hit() && !texts_.empty()) value = texts_[rng_.below(texts_.size())];
  }
  void numbers(std::string_view, std::vector<double>& values, const ListRange& range,
               std::string_view) override {
    if (hit())
      for (double& v : values) v = drawn(v, range.each);
  }
  void name(std::string_view, RecipeName&, NameKind, std::string_view) override {}
  void names(std::string_view, std::vector<RecipeName>&, NameKind, std::string_view) override {}
  void word(std::string_view, std::size_t& index, std::span<const std::string_view> words,
            std::string_view) override {
    if (hit()) index = rng_.below(words.size());
  }
  void wordOrNames(std::string_view, std::size_t& index, std::span<const std::string_view> words,
                   std::vector<RecipeName>& names, NameKind, std::string_view) override {
    if (!hit()) return;
    index = rng_.below(words.size());
    names.clear();
  }
  void tables(std::string_view, TableList&, std::string_view) override {}
  void require(bool, std::string_view, std::string_view) override {}

 private:
  bool hit() { return rng_.uniform() < share_; }

  double drawn(double value, const NumberRange& range) {
    const double low = std::max(range.low, -1e9), high = std::min(range.high, 1e9);
    switch (rng_.below(8)) {
      case 0:
        return low;
      case 1:
        return high;
      case 2:
        return rng_.uniform(low, high);
      default:
        break;
    }
    return std::clamp(value * std::pow(10.0, rng_.uniform(-1, 1)), low, high);
  }

  Rng& rng_;
  double share_;
  std::vector<std::string> texts_;
};

}  // namespace derm::testing_support
