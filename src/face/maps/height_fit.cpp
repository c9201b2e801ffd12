#include "face/maps/height_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "derm/base/assert.h"
#include "derm/base/rng.h"

#include "face/maps/height_energy.h"
#include "face/maps/lbfgs.h"
#include "face/maps/ratio.h"

namespace derm::detail::maps {
namespace {

constexpr int kLevels = 3;

/// Resolution (0 full, each next one half), stiffness as a share of the final kappa, and
/// iterations.
struct Stage {
  int level = 0;
  float kappa = 1;
  int iterations = 50;
};

/// Starts stiff and gives way: what makes the fit find the fold and not its noise. The starts of
/// frontal light differ in how wide a fold their guess expects.
struct Start {
  double width_px = 0;
  std::vector<Stage> stages;
};
const std::array<Start, 4>& frontalStarts() {
  static const std::vector<Stage> wide = {
      {2, 0.25f, 50}, {2, 0.83f, 40}, {1, 0.5f, 40}, {1, 1, 40}};
  static const std::array<Start, 4> starts = {
      Start{3, {{1, 0.42f, 40}, {1, 1, 50}}},
      Start{4, {{1, 0.25f, 40}, {1, 0.5f, 40}, {1, 1, 50}}},
      Start{8, wide},
      Start{14, wide},
  };
  return starts;
}
const std::vector<Stage> kFinish = {{1, 0.5f, 25}, {1, 1, 25}};
const std::vector<Stage> kOblique = {{2, 0.25f, 50}, {2, 0.83f, 40}, {1, 0.5f, 40}, {1, 1, 60}};
const std::vector<Stage> kFine = {{1, 0.5f, 60}, {1, 1, 60}, {0, 1, 50}};
const Stage kFullResolution = {0, 1, 50};
/// Of the ratio: above, full resolution adds more noise than detail.
constexpr float kNoiseOfFullResolution = 0.006f;

Plane meanOfCells(const Plane& v) {
  Plane out(v.width - 1, v.height - 1);
  forRows(out.height, [&](int y) {
    const int n = out.width;
    RowMap(out.row(y), n) =
        0.25f * (ConstRowMap(v.row(y), n) + ConstRowMap(v.row(y) + 1, n) +
                 ConstRowMap(v.row(y + 1), n) + ConstRowMap(v.row(y + 1) + 1, n));
  });
  return out;
}

Plane product(const Plane& a, const Plane& b) {
  Plane out = a;
  forRows(a.height, [&](int y) { RowMap(out.row(y), a.width) *= ConstRowMap(b.row(y), a.width); });
  return out;
}

Plane quotient(Plane sum, const Plane& weight, float otherwise) {
  forRows(sum.height, [&](int y) {
    float* to = sum.row(y);
    const float* w = weight.row(y);
    for (int x = 0; x < sum.width; ++x) to[x] = w[x] > 0 ? to[x] / w[x] : otherwise;
  });
  return sum;
}

/// The same photos with half as many pixels each way.
PixelRatio halved(const PixelRatio& fine) {
  PixelRatio out;
  out.weight = maps::halved(fine.weight);
  out.ratio = quotient(maps::halved(product(fine.ratio, fine.weight)), out.weight, 1);
  out.light_x = fine.light_x;
  out.light_y = fine.light_y;
  return out;
}

/// Where folds run and how clearly: from the structure tensor of the ratios.
void addAlong(const std::vector<PixelRatio>& photos, double scale, FitTerms& terms) {
  Plane xx(terms.width, terms.height), xy = xx, yy = xx;
  for (const PixelRatio& photo : photos) {
    const Plane smooth = blurred(photo.ratio, 3 / scale);
    const Plane gx = slopesAcross(smooth), gy = slopesDown(smooth);
    forRows(terms.height, [&](int y) {
      const ConstRowMap x(gx.row(y), terms.width), d(gy.row(y), terms.width);
      RowMap(xx.row(y), terms.width) += x.square();
      RowMap(xy.row(y), terms.width) += x * d;
      RowMap(yy.row(y), terms.width) += d.square();
    });
  }
  xx = blurred(xx, 8 / scale);
  xy = blurred(xy, 8 / scale);
  yy = blurred(yy, 8 / scale);
  forRows(terms.height, [&](int y) {
    for (int x = 0; x < terms.width; ++x) {
      float &a = xx.row(y)[x], &b = xy.row(y)[x], &c = yy.row(y)[x];
      const float trace = a + c, gap = std::sqrt((a - c) * (a - c) + 4 * b * b);
      const float coherence = trace > 0 ? gap / trace : 0.0f;
      // cos and sin of twice the angle of the gradient; the fold runs across it.
      const float cos2 = gap > 0 ? (a - c) / gap : 0.0f, sin2 = gap > 0 ? 2 * b / gap : 0.0f;
      const float strength = std::sqrt(coherence);
      a = strength * 0.5f * (1 - cos2);
      b = strength * -sin2;
      c = strength * 0.5f * (1 + cos2);
    }
  });
  terms.along_xx = std::move(xx);
  terms.along_xy = std::move(xy);
  terms.along_yy = std::move(yy);
}

class Fitter {
 public:
  Fitter(const FitInput& input, const FitSettings& settings, const FitProgress& progress)
      : settings_(settings), progress_(progress) {
    photos_[0] = input.photos;
    base_p_[0] = input.base_p;
    base_q_[0] = input.base_q;
    sign_[0] = input.fold_sign;
    const int w = input.photos[0].ratio.width, h = input.photos[0].ratio.height;
    while (levels_ < kLevels && (std::min(w, h) >> levels_) >= 16) {
      const auto l = static_cast<std::size_t>(levels_);
      for (const PixelRatio& p : photos_[l - 1]) photos_[l].push_back(halved(p));
      if (!base_p_[0].values.empty()) {
        base_p_[l] = maps::halved(base_p_[l - 1]);
        base_q_[l] = maps::halved(base_q_[l - 1]);
      }
      if (!sign_[0].values.empty()) sign_[l] = maps::halved(sign_[l - 1]);
      ++levels_;
    }
  }

  Plane run() {
    Plane z;
    if (obliqueness() >= static_cast<double>(settings_.frontal_below_deg)) {
      const std::vector<Stage>& stages = settings_.fine ? kFine : kOblique;
      total_ = workOf(stages) + workOf({kFullResolution});
      z = noiseAt(stages.front().level);
      go(z, stages);
    } else {
      total_ = workOf(kFinish) + workOf({kFullResolution});
      for (const Start& s : frontalStarts()) total_ += workOf(s.stages);
      z = bestOfStarts();
      go(z, kFinish);
    }
    if (level_ > 0 && (settings_.fine || settings_.noise < kNoiseOfFullResolution))
      go(z, {kFullResolution});
    while (!cancelled_ && level_ > 0) up(z);
    return cancelled_ ? Plane() : z;
  }

 private:
  std::size_t clamped(int level) const {
    return static_cast<std::size_t>(std::min(level, levels_ - 1));
  }
  float noise(std::size_t level) const {
    return std::max(settings_.noise / static_cast<float>(1 << level), kLeastNoise);
  }

  /// [deg] between the most oblique light and the skin's normal, on average over the skin.
  double obliqueness() const {
    double most = 0;
    const std::size_t top = clamped(kLevels);
    for (const PixelRatio& photo : photos_[top]) {
      double p = 0, q = 0, sum = 0;
      if (!base_p_[top].values.empty())
        for (std::size_t i = 0; i < photo.weight.size(); ++i) {
          const auto w = static_cast<double>(photo.weight.values[i]);
          p += w * static_cast<double>(base_p_[top].values[i]);
          q += w * static_cast<double>(base_q_[top].values[i]);
          sum += w;
        }
      if (sum > 0) {
        p /= sum;
        q /= sum;
      }
      const double lx = static_cast<double>(photo.light_x), ly = static_cast<double>(photo.light_y);
      const double cosine =
          (1 - lx * p - ly * q) / std::sqrt((1 + p * p + q * q) * (1 + lx * lx + ly * ly));
      most = std::max(most, std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi);
    }
    return most;
  }

  const FitTerms& terms(std::size_t level) {
    std::optional<FitTerms>& made = terms_[level];
    if (made) return *made;
    made.emplace();
    FitTerms& t = *made;
    t.width = photos_[level][0].ratio.width;
    t.height = photos_[level][0].ratio.height;
    t.noise = noise(level);
    t.pull = settings_.pull;
    if (!base_p_[level].values.empty()) {
      t.base_p = meanOfCells(base_p_[level]);
      t.base_q = meanOfCells(base_q_[level]);
    }
    for (const PixelRatio& photo : photos_[level]) {
      CellRatio cell;
      cell.light_x = photo.light_x;
      cell.light_y = photo.light_y;
      cell.weight = meanOfCells(photo.weight);
      cell.target = quotient(meanOfCells(product(photo.ratio, photo.weight)), cell.weight, 1);
      if (!t.base_p.values.empty())
        forRows(t.height - 1, [&](int y) {
          const int n = t.width - 1;
          const ConstRowMap p(t.base_p.row(y), n), q(t.base_q.row(y), n);
          RowMap(cell.target.row(y), n) *=
              (1 - cell.light_x * p - cell.light_y * q) / (1 + p.square() + q.square()).sqrt();
        });
      t.photos.push_back(std::move(cell));
    }
    if (settings_.along_folds) addAlong(photos_[level], static_cast<double>(1 << level), t);
    return t;
  }

  Plane noiseAt(int level) {
    const std::size_t l = clamped(level);
    Plane z(photos_[l][0].ratio.width, photos_[l][0].ratio.height);
    Rng rng(1);
    for (float& v : z.values) v = static_cast<float>(1e-3 * rng.uniform(-1.7, 1.7));
    level_ = static_cast<int>(l);
    return z;
  }

  /// z = -a G*(1 - R): deep where it got dark, as steep on average as the darkness says.
  Plane guessAt(int level, double width_px) {
    const std::size_t l = clamped(level);
    const double scale = static_cast<double>(1 << l);
    const PixelRatio& photo = photos_[l][0];
    Plane dark(photo.ratio.width, photo.ratio.height);
    forRows(dark.height, [&](int y) {
      RowMap(dark.row(y), dark.width) = (1 - ConstRowMap(photo.ratio.row(y), dark.width)) *
                                        ConstRowMap(photo.weight.row(y), dark.width);
    });
    Plane z = blurred(dark, width_px / scale);
    const Plane gx = slopesAcross(z), gy = slopesDown(z);
    const Plane facing = blurred(photo.ratio, 2 / scale);
    struct Sums {
      double up = 0, down = 0;
      Sums& operator+=(const Sums& o) {
        up += o.up;
        down += o.down;
        return *this;
      }
    };
    const Sums sums = deterministicSum<Sums>(z.size(), [&](std::size_t begin, std::size_t end) {
      Sums s;
      for (std::size_t i = begin; i < end; ++i) {
        const auto h = static_cast<double>(std::hypot(gx.values[i], gy.values[i]));
        const double r = std::clamp(static_cast<double>(facing.values[i]), 0.3, 1.0);
        s.up += h * h * std::sqrt(1 / (r * r) - 1);
        s.down += h * h * h;
      }
      return s;
    });
    const float a = sums.down > 0 ? static_cast<float>(-sums.up / sums.down) : 0.0f;
    const Plane& sign = sign_[l];
    for (std::size_t i = 0; i < z.size(); ++i)
      z.values[i] *= sign.values.empty() ? a : a * sign.values[i];
    level_ = static_cast<int>(l);
    return z;
  }

  void up(Plane& z) {
    const Plane& finer = photos_[static_cast<std::size_t>(--level_)][0].ratio;
    z = doubled(z, finer.width, finer.height, 2);
  }

  double workOf(const std::vector<Stage>& stages) const {
    double sum = 0;
    for (const Stage& s : stages)
      sum += s.iterations / static_cast<double>(1 << 2 * clamped(s.level));
    return sum;
  }

  void go(Plane& z, const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      if (cancelled_) return;
      const std::size_t l = clamped(stage.level);
      while (level_ > static_cast<int>(l)) up(z);
      const FitTerms& t = terms(l);
      const float kappa = stage.kappa * settings_.kappa;
      minimise(
          [&](std::span<const float> x, std::span<float> gradient) {
            return heightEnergy(t, kappa, x, gradient.data());
          },
          z.values, {.iterations = stage.iterations});
      done_ += workOf({stage});
      if (progress_ && !progress_(std::min(1.0, done_ / total_))) cancelled_ = true;
    }
  }

  /// Energy of a height field around every pixel, less what narrow furrows between broad crests
  /// (or, with the sign turned, narrow ridges) are preferred by: no evidence, but how skin folds.
  Plane misfit(const Plane& z) {
    constexpr float kSkew = 8, kReach_px = 14;
    const std::size_t l = static_cast<std::size_t>(level_);
    FitTerms t = terms(l);
    t.noise = std::max(t.noise, 0.004f);
    Plane e(z.width, z.height);
    heightEnergy(t, settings_.kappa, z.values, nullptr, &e);
    Plane bend(z.width, z.height);
    forRows(z.height, [&](int y) {
      const float *up = z.row(std::max(0, y - 1)), *at = z.row(y),
                  *down = z.row(std::min(z.height - 1, y + 1));
      for (int x = 0; x < z.width; ++x)
        bend.row(y)[x] =
            up[x] + down[x] + at[std::max(0, x - 1)] + at[std::min(z.width - 1, x + 1)] - 4 * at[x];
    });
    bend = blurred(bend, 1);
    const Plane& sign = sign_[l];
    const float factor = kSkew * 0.5f / (settings_.kappa * settings_.kappa);
    for (std::size_t i = 0; i < e.size(); ++i) {
      const float s = sign.values.empty() ? 1.0f : sign.values[i];
      e.values[i] -= factor * s * bend.values[i] * std::abs(bend.values[i]);
    }
    return blurred(e, static_cast<double>(kReach_px));
  }

  Plane bestOfStarts() {
    std::vector<Plane> fits, misfits;
    for (const Start& start : frontalStarts()) {
      Plane z = guessAt(start.stages.front().level, start.width_px);
      go(z, start.stages);
      if (cancelled_) return z;
      misfits.push_back(misfit(z));
      fits.push_back(std::move(z));
    }
    Plane p(fits[0].width, fits[0].height), q = p;
    std::vector<Plane> across, down;
    for (const Plane& z : fits) {
      across.push_back(slopesAcross(z));
      down.push_back(slopesDown(z));
    }
    forRows(p.height, [&](int y) {
      for (int x = 0; x < p.width; ++x) {
        float least = misfits[0].at(x, y);
        for (const Plane& m : misfits) least = std::min(least, m.at(x, y));
        float sum = 0, sum_p = 0, sum_q = 0;
        for (std::size_t i = 0; i < fits.size(); ++i) {
          const float w =
              std::exp(-(misfits[i].at(x, y) - least) / (0.05f * std::abs(least) + 1e-3f));
          sum += w;
          sum_p += w * across[i].at(x, y);
          sum_q += w * down[i].at(x, y);
        }
        p.row(y)[x] = sum_p / sum;
        q.row(y)[x] = sum_q / sum;
      }
    });
    Plane z = integrated(p, q);
    std::vector<float> values = z.values;
    const float middle = median(values);
    for (float& v : z.values) v -= middle;
    return z;
  }

  FitSettings settings_;
  const FitProgress& progress_;
  int levels_ = 1;
  std::array<std::vector<PixelRatio>, kLevels> photos_;
  std::array<Plane, kLevels> base_p_, base_q_, sign_;
  std::array<std::optional<FitTerms>, kLevels> terms_;
  int level_ = 0;  ///< of the height field at hand
  double total_ = 1, done_ = 0;
  bool cancelled_ = false;
};

}  // namespace

Plane slopesAcross(const Plane& z) {
  const int w = z.width;
  Plane out(w, z.height);
  if (w < 2) return out;
  forRows(z.height, [&](int y) {
    const float* in = z.row(y);
    float* to = out.row(y);
    if (w > 2) RowMap(to + 1, w - 2) = 0.5f * (ConstRowMap(in + 2, w - 2) - ConstRowMap(in, w - 2));
    to[0] = in[1] - in[0];
    to[w - 1] = in[w - 1] - in[w - 2];
  });
  return out;
}

Plane slopesDown(const Plane& z) {
  Plane out(z.width, z.height);
  forRows(z.height, [&](int y) {
    const int above = std::max(0, y - 1), below = std::min(z.height - 1, y + 1);
    RowMap(out.row(y), z.width) =
        (below - above == 2 ? 0.5f : 1.0f) *
        (ConstRowMap(z.row(below), z.width) - ConstRowMap(z.row(above), z.width));
  });
  return out;
}

Plane integrated(const Plane& p, const Plane& q) {
  const int w = p.width, h = p.height;
  Plane z(w, h);
  const bool coarsest = std::min(w, h) <= 16;
  if (!coarsest) z = doubled(integrated(halved(p), halved(q)), w, h, 2);
  // Half the squared differences between height steps and slopes, over the edges between pixels.
  const auto energy = [&](std::span<const float> x, std::span<float> gradient) {
    std::vector<double> rows(static_cast<std::size_t>(h));
    const auto down = [&](int y) {
      return (ConstRowMap(x.data() + std::ptrdiff_t(y + 1) * w, w) -
              ConstRowMap(x.data() + std::ptrdiff_t(y) * w, w)) -
             0.5f * (ConstRowMap(q.row(y), w) + ConstRowMap(q.row(y + 1), w));
    };
    forRows(h, [&](int y) {
      Eigen::ArrayXf step(w);
      RowMap out(gradient.data() + std::ptrdiff_t(y) * w, w);
      double sum = 0;
      out.setZero();
      if (w > 1) {
        const ConstRowMap at(x.data() + std::ptrdiff_t(y) * w, w);
        step.head(w - 1) = (at.tail(w - 1) - at.head(w - 1)) -
                           0.5f * (ConstRowMap(p.row(y), w - 1) + ConstRowMap(p.row(y) + 1, w - 1));
        out.head(w - 1) -= step.head(w - 1);
        out.tail(w - 1) += step.head(w - 1);
        sum += 0.5 * static_cast<double>(step.head(w - 1).square().sum());
      }
      if (y + 1 < h) {
        step = down(y);
        out -= step;
        sum += 0.5 * static_cast<double>(step.square().sum());
      }
      if (y > 0) {
        step = down(y - 1);
        out += step;
      }
      rows[static_cast<std::size_t>(y)] = sum;
    });
    double sum = 0;
    for (const double r : rows) sum += r;
    return sum;
  };
  minimise(energy, z.values, {.iterations = coarsest ? 200 : 30, .least_decrease = 1e-7});
  return z;
}

Plane fitHeights(const FitInput& input, const FitSettings& settings, const FitProgress& progress) {
  DERM_REQUIRE(!input.photos.empty());
  return Fitter(input, settings, progress).run();
}

}  // namespace derm::detail::maps
