#include "face/maps/height_energy.h"

#include <algorithm>

#include "derm/base/assert.h"

namespace derm::detail::maps {
namespace {

constexpr int kBand = 16;       // rows per piece of work: its scratch stays in the cache
constexpr float kHuber = 3.0f;  // standard deviations from which a residual counts linearly

/// Derivatives of J by slopes and second differences, for the rows of a band and those beside it.
/// Rows have a zero column on either side, so that borders need no cases.
struct Band {
  int width, first;  ///< first row held
  std::vector<float> values;
  Band(int w, int first_row, int rows) : width(w + 2), first(first_row) {
    values.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(rows), 0.0f);
  }
  float* row(int y) { return values.data() + std::ptrdiff_t(y - first) * width + 1; }
};

struct Scales {
  float smooth = 0;  ///< 1 / kappa^2
  float along = 0;   ///< 1 / kappa_a^2 - 1 / kappa^2
  float pull = 0;    ///< mu / s^2
  float per_noise = 0;
};

class BandEnergy {
 public:
  BandEnergy(const FitTerms& terms, const Scales& scales, const float* z, int begin, int end)
      : t_(terms),
        k_(scales),
        z_(z),
        w_(terms.width),
        h_(terms.height),
        begin_(begin),
        end_(end),
        force_p_(w_, begin - 1, end - begin + 1),
        force_q_(w_, begin - 1, end - begin + 1),
        force_twist_(w_, begin - 1, end - begin + 1),
        force_xx_(w_, begin - 1, end - begin + 2),
        force_yy_(w_, begin - 1, end - begin + 2),
        force_xy_(w_, begin - 1, end - begin + 2) {}

  double run(float* gradient, Plane* per_pixel) {
    double sum = 0;
    for (int y = std::max(0, begin_ - 1); y < std::min(h_ - 1, end_); ++y)
      sum += cells(y, y >= begin_ && y < end_, per_pixel);
    for (int y = std::max(0, begin_ - 1); y < std::min(h_, end_ + 1); ++y)
      sum += bends(y, y >= begin_ && y < end_, per_pixel);
    if (gradient != nullptr)
      for (int y = begin_; y < end_; ++y) gather(y, gradient + std::ptrdiff_t(y) * w_);
    for (int y = begin_; y < end_; ++y)
      sum += 0.5 * static_cast<double>(k_.pull * row(y, 0, w_).square().sum());
    return sum;
  }

 private:
  ConstRowMap row(int y, int from, int count) const {
    return {z_ + std::ptrdiff_t(y) * w_ + from, count};
  }

  /// Data and twist of the cells between rows y and y + 1.
  double cells(int y, bool counts, Plane* per_pixel) {
    const int n = w_ - 1;
    const auto a = row(y, 0, n), b = row(y, 1, n), c = row(y + 1, 0, n), d = row(y + 1, 1, n);
    p_ = 0.5f * ((b - a) + (d - c));
    q_ = 0.5f * ((c - a) + (d - b));
    if (!t_.base_p.values.empty()) {
      p_ += ConstRowMap(t_.base_p.row(y), n);
      q_ += ConstRowMap(t_.base_q.row(y), n);
    }
    inverse_ = (1 + p_.square() + q_.square()).sqrt().inverse();
    RowMap fp(force_p_.row(y), n), fq(force_q_.row(y), n);
    energy_.setZero(n);
    for (const CellRatio& photo : t_.photos) {
      facing_ = 1 - photo.light_x * p_ - photo.light_y * q_;
      const ConstRowMap weight(photo.weight.row(y), n);
      error_ = k_.per_noise * (facing_ * inverse_ - ConstRowMap(photo.target.row(y), n));
      held_ = error_.max(-kHuber).min(kHuber);
      energy_ += weight * held_ * (error_ - 0.5f * held_);
      held_ *= k_.per_noise * weight * inverse_;
      facing_ *= inverse_.square();
      fp -= held_ * (photo.light_x + facing_ * p_);
      fq -= held_ * (photo.light_y + facing_ * q_);
    }
    RowMap twist(force_twist_.row(y), n);
    twist = ((d - c) - (b - a));
    energy_ += k_.smooth * twist.square();
    twist *= 2 * k_.smooth;
    if (!counts) return 0;
    if (per_pixel != nullptr) RowMap(per_pixel->row(y), n) += energy_;
    return static_cast<double>(energy_.sum());
  }

  /// Second differences at the pixels of row y.
  double bends(int y, bool counts, Plane* per_pixel) {
    const int n = w_ - 2;
    energy_.setZero(w_);
    {
      RowMap xx(force_xx_.row(y) + 1, n);
      xx = row(y, 0, n) - 2 * row(y, 1, n) + row(y, 2, n);
      energy_.segment(1, n) += 0.5f * k_.smooth * xx.square();
    }
    if (y >= 1 && y + 1 < h_) {
      RowMap yy(force_yy_.row(y), w_);
      yy = row(y - 1, 0, w_) - 2 * row(y, 0, w_) + row(y + 1, 0, w_);
      energy_ += 0.5f * k_.smooth * yy.square();
      if (!t_.along_xx.values.empty()) {
        RowMap xx(force_xx_.row(y) + 1, n), in_yy(force_yy_.row(y) + 1, n);
        RowMap xy(force_xy_.row(y) + 1, n);
        const ConstRowMap axx(t_.along_xx.row(y) + 1, n), axy(t_.along_xy.row(y) + 1, n),
            ayy(t_.along_yy.row(y) + 1, n);
        xy =
            0.25f * ((row(y + 1, 2, n) - row(y + 1, 0, n)) - (row(y - 1, 2, n) - row(y - 1, 0, n)));
        p_ = axx * xx + axy * xy + ayy * in_yy;
        energy_.segment(1, n) += 0.5f * k_.along * p_.square();
        p_ *= k_.along;
        xx = k_.smooth * xx + p_ * axx;
        in_yy = k_.smooth * in_yy + p_ * ayy;
        force_yy_.row(y)[0] *= k_.smooth;
        force_yy_.row(y)[w_ - 1] *= k_.smooth;
        xy = 0.25f * p_ * axy;
      } else {
        RowMap(force_xx_.row(y) + 1, n) *= k_.smooth;
        yy *= k_.smooth;
      }
    } else {
      RowMap(force_xx_.row(y) + 1, n) *= k_.smooth;
    }
    if (!counts) return 0;
    if (per_pixel != nullptr) RowMap(per_pixel->row(y), w_) += energy_;
    return static_cast<double>(energy_.sum());
  }

  void gather(int y, float* out) {
    const auto at = [&](Band& band, int dy, int dx) {
      return ConstRowMap(band.row(y + dy) + dx, w_);
    };
    RowMap sum(out, w_);
    sum = 0.5f *
          (at(force_p_, -1, -1) - at(force_p_, -1, 0) + at(force_p_, 0, -1) - at(force_p_, 0, 0));
    sum += 0.5f *
           (at(force_q_, -1, -1) + at(force_q_, -1, 0) - at(force_q_, 0, -1) - at(force_q_, 0, 0));
    sum += at(force_twist_, -1, -1) - at(force_twist_, -1, 0) - at(force_twist_, 0, -1) +
           at(force_twist_, 0, 0);
    sum += at(force_xx_, 0, -1) - 2 * at(force_xx_, 0, 0) + at(force_xx_, 0, 1);
    sum += at(force_yy_, -1, 0) - 2 * at(force_yy_, 0, 0) + at(force_yy_, 1, 0);
    if (!t_.along_xx.values.empty())
      sum +=
          at(force_xy_, -1, -1) - at(force_xy_, -1, 1) - at(force_xy_, 1, -1) + at(force_xy_, 1, 1);
    sum += k_.pull * row(y, 0, w_);
  }

  const FitTerms& t_;
  const Scales& k_;
  const float* z_;
  int w_, h_, begin_, end_;
  Band force_p_, force_q_, force_twist_, force_xx_, force_yy_, force_xy_;
  Eigen::ArrayXf p_, q_, inverse_, facing_, error_, held_, energy_;
};

}  // namespace

double heightEnergy(const FitTerms& terms, float kappa, std::span<const float> z, float* gradient,
                    Plane* per_pixel) {
  const int h = terms.height;
  DERM_REQUIRE(terms.width >= 3 && h >= 3);
  const float along = terms.along_stiffness * kappa;
  const Scales scales{1 / (kappa * kappa), 1 / (along * along) - 1 / (kappa * kappa),
                      terms.pull / (terms.noise * terms.noise), 1 / terms.noise};
  const auto bands = static_cast<std::size_t>((h + kBand - 1) / kBand);
  std::vector<double> parts(bands);
  parallelFor(bands, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const int first = static_cast<int>(b) * kBand;
      parts[b] = BandEnergy(terms, scales, z.data(), first, std::min(h, first + kBand))
                     .run(gradient, per_pixel);
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace derm::detail::maps
