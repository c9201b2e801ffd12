#pragma once

#include <initializer_list>
#include <vector>

namespace derm::detail::cast {

inline constexpr double kGravity = 9.81;  ///< [m/s^2] in leaps

/// A smooth curve through keys, as animators draw them: tangents are automatic (no overshoot at a
/// high or low key, even speed elsewhere) unless a key gives its own slope.
class Curve {
 public:
  struct Key {
    double time;
    double value;
  };
  Curve(std::initializer_list<Key> keys, double period = 0)
      : Curve(std::vector<Key>(keys), period) {}
  /// Keys in order of time. With a period > 0 the curve repeats; its keys lie in [0, period).
  explicit Curve(std::vector<Key> keys, double period = 0);

  /// Sets the slope [value per time] at the key nearest to that time.
  Curve& slopeAt(double time, double slope);
  double operator()(double time) const;

 private:
  std::vector<Key> keys_;
  std::vector<double> slopes_;
  double period_;
};

}  // namespace derm::detail::cast
