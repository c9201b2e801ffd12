#include "face/profile_alignment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace derm::detail {
namespace {

// All lengths are in pixels of maps of 512; chosen on the three heads of tests/face, and tried on
// nine others with parameters varied by a tenth.

/// Blurs of the channels. Coarser ones lose the eyes of small-eyed heads.
constexpr std::array<double, 3> kScales{4, 6, 10};
/// Of the root mean square: what bends more counts no more.
constexpr float kLimit = 3;
/// Values nearer to the silhouette say more of the view than of the head.
constexpr float kRim = 20;

/// Rows from top to bottom, compared at nine shares of their half width.
constexpr int kRows = 236;
constexpr int kRowSamples = 9;
constexpr double kRowSampleStep = 0.1;
/// Positions in a row, from the mirror axis to the silhouette.
constexpr int kColumns = 48;
/// Neighbouring rows share what they know of columns: a Gaussian over so many rows.
constexpr double kRowsTogether = 8;
/// Of time warping, per item off the diagonal.
constexpr double kBias = 0.3;

/// Blur of the flow's channels; finer follows details that two heads do not share.
constexpr double kFlowScale = 8;
/// Standard deviations of the window that a move is estimated in, and of the blur of moves.
constexpr double kFlowWindow = 20, kFlowBlur = 14;
constexpr int kFlowRounds = 12;
constexpr double kFlowLongestMove = 2;
/// Of the mean gradient: how much evidence it takes to move.
constexpr double kFlowDamping = 0.3;
constexpr double kFlowRim = 8;

void normalise(Map& map, const DepthMap& head) {
  double squares = 0, count = 0;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (head.rim_distance.values[i] < kRim) continue;
    squares += double(map.values[i]) * double(map.values[i]);
    ++count;
  }
  const float factor = squares > 0 ? static_cast<float>(1 / std::sqrt(squares / count)) : 0.0f;
  for (float& v : map.values) v = std::clamp(v * factor, -kLimit, kLimit);
}

/// Second derivatives along x and y of the depth blurred by sigma.
std::array<Map, 2> bends(const DepthMap& head, double sigma) {
  const Map smooth = blurred(head.depth, sigma);
  const int n = smooth.size;
  std::array<Map, 2> out{Map(n, 0), Map(n, 0)};
  for (int y = 1; y + 1 < n; ++y)
    for (int x = 1; x + 1 < n; ++x) {
      out[0].at(x, y) = smooth.at(x - 1, y) + smooth.at(x + 1, y) - 2 * smooth.at(x, y);
      out[1].at(x, y) = smooth.at(x, y - 1) + smooth.at(x, y + 1) - 2 * smooth.at(x, y);
    }
  for (Map& map : out) normalise(map, head);
  return out;
}

double findMirrorAxis(const DepthMap& head, const std::vector<Map>& maps) {
  const double middle = 0.5 * (head.low.x() + head.high.x());
  const double width = head.high.x() - head.low.x();
  const auto difference = [&](double axis) {
    double sum = 0, count = 0;
    for (double y = head.low.y(); y < head.high.y(); y += 4)
      for (double away = 4; away < 0.5 * width; away += 4) {
        const Pixel left(axis - away, y), right(axis + away, y);
        if (!head.contains(left) || !head.contains(right)) continue;
        for (const Map& map : maps) sum += std::abs(map.sample(left) - map.sample(right));
        count += double(maps.size());
      }
    return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
  };
  const int reach = int(0.08 * width);
  std::vector<double> found;
  for (int k = -reach; k <= reach; ++k) found.push_back(difference(middle + k));
  const auto best = std::size_t(std::min_element(found.begin(), found.end()) - found.begin());
  double axis = middle + double(best) - reach;
  if (best > 0 && best + 1 < found.size()) {
    const double bend = found[best - 1] + found[best + 1] - 2 * found[best];
    if (bend > 0 && std::isfinite(bend)) axis += 0.5 * (found[best - 1] - found[best + 1]) / bend;
  }
  return axis;
}

/// Of pairing item i of one sequence with item j of another, as long.
struct Costs {
  int size = 0;
  std::vector<double> values;

  explicit Costs(int count, double value = 0)
      : size(count), values(std::size_t(count) * std::size_t(count), value) {}
  std::size_t index(int i, int j) const {
    return std::size_t(i) * std::size_t(size) + std::size_t(j);
  }
  double& at(int i, int j) { return values[index(i, j)]; }
  double at(int i, int j) const { return values[index(i, j)]; }
};

/// Dynamic time warping from corner to corner (Sakoe and Chiba 1978) with slopes between
/// 1/kMaxSlope and kMaxSlope: for every i the j it goes with. A step costs kBias more per item that
/// it is off the diagonal.
std::vector<double> timeWarp(const Costs& costs) {
  constexpr int kMaxSlope = 3;
  const int n = costs.size;
  Costs best(n, std::numeric_limits<double>::infinity());
  // A step of k > 0 items of the first sequence for one of the second; -k the other way round.
  std::vector<std::int8_t> step(best.values.size(), 1);
  best.at(0, 0) = costs.at(0, 0);
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < n; ++j) {
      double found = best.at(i - 1, j - 1) + 2 * costs.at(i, j);
      std::int8_t from = 1;
      double steep = costs.at(i, j), flat = steep;
      for (int k = 2; k <= kMaxSlope; ++k) {
        if (i >= k) {
          steep += costs.at(i - k + 1, j);
          const double sum = best.at(i - k, j - 1) + steep * (k + 1) / k + (k - 1) * kBias;
          if (sum < found) {
            found = sum;
            from = static_cast<std::int8_t>(k);
          }
        }
        if (j >= k) {
          flat += costs.at(i, j - k + 1);
          const double sum = best.at(i - 1, j - k) + flat * (k + 1) / k + (k - 1) * kBias;
          if (sum < found) {
            found = sum;
            from = static_cast<std::int8_t>(-k);
          }
        }
      }
      best.at(i, j) = found;
      step[costs.index(i, j)] = from;
    }
  std::vector<double> out(std::size_t(n), 0);
  int i = n - 1, j = n - 1;
  while (i > 0 && j > 0) {
    const int k = step[costs.index(i, j)];
    const int down = std::max(k, 1), across = std::max(-k, 1);
    for (int d = 0; d < down; ++d) out[std::size_t(i - d)] = j - double(across * d) / down;
    i -= down;
    j -= across;
  }
  return out;
}

void smoothSequence(std::vector<double>& values, double sigma) {
  const int n = int(values.size()), reach = int(std::ceil(3 * sigma));
  std::vector<double> out(values.size());
  for (int i = 0; i < n; ++i) {
    double sum = 0, weights = 0;
    // Fewer neighbours near the ends, the same on both sides: the ends stay.
    const int near = std::min({reach, i, n - 1 - i});
    for (int k = -near; k <= near; ++k) {
      const double w = std::exp(-0.5 * k * k / (sigma * sigma));
      sum += w * values[std::size_t(i + k)];
      weights += w;
    }
    out[std::size_t(i)] = sum / weights;
  }
  values = std::move(out);
}

/// Rows of a head at equal distances from its top to its bottom.
struct Rows {
  double top = 0, step = 1;
  std::vector<double> half_width;

  explicit Rows(const DepthMap& head)
      : top(head.low.y()), step((head.high.y() - head.low.y()) / kRows) {
    for (int r = 0; r < kRows; ++r) {
      const int y = std::clamp(int(at(r)), 0, head.size() - 1);
      int covered = 0;
      for (int x = 0; x < head.size(); ++x) covered += head.inside[head.depth.index(x, y)] != 0;
      half_width.push_back(std::max(0.5 * covered, 1.0));
    }
  }

  /// [px]
  double at(double row) const { return top + (row + 0.5) * step; }
  double rowAt(double y) const { return (y - top) / step - 0.5; }
};

/// Left and right, averaged.
double mirroredSample(const Map& map, double axis, double away, double y) {
  return 0.5 * (map.sample({axis - away, y}) + map.sample({axis + away, y}));
}

std::vector<float> rowFeatures(const BendChannels& bends, const Rows& rows) {
  std::vector<float> out;
  for (int r = 0; r < kRows; ++r)
    for (int k = 0; k < kRowSamples; ++k)
      for (const Map& map : bends.maps) {
        const double away = kRowSampleStep * k * rows.half_width[std::size_t(r)];
        out.push_back(static_cast<float>(mirroredSample(map, bends.mirror_axis, away, rows.at(r))));
      }
  return out;
}

double interpolated(const std::vector<double>& values, double at) {
  at = std::clamp(at, 0.0, double(values.size() - 1));
  const std::size_t i = std::min(std::size_t(at), values.size() - 2);
  const double u = at - double(i);
  return (1 - u) * values[i] + u * values[i + 1];
}

/// For every row of the source the row of the target.
std::vector<double> alignRows(const BendChannels& source, const Rows& from,
                              const BendChannels& target, const Rows& to) {
  const std::vector<float> a = rowFeatures(source, from), b = rowFeatures(target, to);
  const std::size_t width = a.size() / kRows;
  Costs costs(kRows);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) {
      const float* p = a.data() + std::size_t(i) * width;
      const float* q = b.data() + std::size_t(j) * width;
      float sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += std::abs(p[k] - q[k]);
      costs.at(i, j) = double(sum) / double(width);
    }
  std::vector<double> out = timeWarp(costs);
  smoothSequence(out, 3);
  return out;
}

/// The channels of one row at kColumns shares of its half width.
std::vector<float> columnFeatures(const BendChannels& bends, double y, double half_width) {
  std::vector<float> out;
  for (int k = 0; k < kColumns; ++k)
    for (const Map& map : bends.maps) {
      const double away = half_width * k / (kColumns - 1);
      out.push_back(static_cast<float>(mirroredSample(map, bends.mirror_axis, away, y)));
    }
  return out;
}

/// For every row of the source and every column of it, the column of the target.
std::vector<std::vector<double>> alignColumns(const BendChannels& source, const Rows& from,
                                              const BendChannels& target, const Rows& to,
                                              const std::vector<double>& row_of_row) {
  const std::size_t channels = source.maps.size();
  std::vector<Costs> row_costs(kRows, Costs(kColumns));
  for (int r = 0; r < kRows; ++r) {
    const double to_row = row_of_row[std::size_t(r)];
    const std::vector<float> a =
        columnFeatures(source, from.at(r), from.half_width[std::size_t(r)]);
    const std::vector<float> b =
        columnFeatures(target, to.at(to_row), interpolated(to.half_width, to_row));
    for (int i = 0; i < kColumns; ++i)
      for (int j = 0; j < kColumns; ++j) {
        float sum = 0;
        for (std::size_t c = 0; c < channels; ++c)
          sum += std::abs(a[std::size_t(i) * channels + c] - b[std::size_t(j) * channels + c]);
        row_costs[std::size_t(r)].at(i, j) = double(sum) / double(channels);
      }
  }
  const int reach = int(std::ceil(3 * kRowsTogether));
  std::vector<std::vector<double>> out;
  for (int r = 0; r < kRows; ++r) {
    Costs costs(kColumns);
    double weights = 0;
    for (int k = std::max(-reach, -r); k <= std::min(reach, kRows - 1 - r); ++k) {
      const double w = std::exp(-0.5 * k * k / (kRowsTogether * kRowsTogether));
      const Costs& other = row_costs[std::size_t(r + k)];
      for (std::size_t i = 0; i < costs.values.size(); ++i) costs.values[i] += w * other.values[i];
      weights += w;
    }
    for (double& cost : costs.values) cost /= weights;
    out.push_back(timeWarp(costs));
    smoothSequence(out.back(), 1.5);
  }
  std::vector<double> column(kRows);
  for (std::size_t k = 0; k < kColumns; ++k) {
    for (std::size_t r = 0; r < kRows; ++r) column[r] = out[r][k];
    smoothSequence(column, 6);
    for (std::size_t r = 0; r < kRows; ++r) out[r][k] = column[r];
  }
  return out;
}

PixelMap warpByProfiles(const DepthMap& source, const BendChannels& source_bends,
                        const DepthMap& target, const BendChannels& target_bends) {
  const Rows from(source), to(target);
  const std::vector<double> row_of_row = alignRows(source_bends, from, target_bends, to);
  const std::vector<std::vector<double>> column_of_column =
      alignColumns(source_bends, from, target_bends, to, row_of_row);
  PixelMap out(source.size());
  for (int j = 0; j < out.nodes(); ++j)
    for (int i = 0; i < out.nodes(); ++i) {
      const Pixel at = out.positionOf(i, j);
      // Beyond the head the map goes on with the same slope.
      const double row = from.rowAt(at.y()), inside_row = std::clamp(row, 0.0, kRows - 1.0);
      const double to_row = interpolated(row_of_row, inside_row);
      const double away = at.x() - source_bends.mirror_axis;
      const double column =
          std::abs(away) / interpolated(from.half_width, inside_row) * (kColumns - 1);
      const std::size_t r = std::min(std::size_t(inside_row), std::size_t(kRows - 2));
      const double u = inside_row - double(r);
      const double to_column = (1 - u) * interpolated(column_of_column[r], column) +
                               u * interpolated(column_of_column[r + 1], column) +
                               std::max(column - (kColumns - 1), 0.0);
      const double to_away = to_column / (kColumns - 1) * interpolated(to.half_width, to_row);
      out.at(i, j) = {target_bends.mirror_axis + std::copysign(to_away, away),
                      to.at(to_row + row - inside_row)};
    }
  return out;
}

/// Lucas and Kanade 1981, with two channels, at all grid points.
void refineByFlow(const DepthMap& source, const DepthMap& target, PixelMap& map) {
  const std::array<Map, 2> a = bends(source, kFlowScale), b = bends(target, kFlowScale);
  const int nodes = map.nodes();
  for (int round = 0; round < kFlowRounds; ++round) {
    // Sums of products of gradients (x, y) and differences (t).
    Map xx(nodes, 0), xy(nodes, 0), yy(nodes, 0), xt(nodes, 0), yt(nodes, 0);
    for (int j = 0; j < nodes; ++j)
      for (int i = 0; i < nodes; ++i) {
        const Pixel p = map.positionOf(i, j), q = map.at(i, j);
        if (source.rim_distance.sample(p) < kFlowRim || target.rim_distance.sample(q) < kFlowRim)
          continue;
        for (std::size_t c = 0; c < a.size(); ++c) {
          const auto gx = static_cast<float>(
              0.25 * (b[c].sample(q + Pixel(2, 0)) - b[c].sample(q - Pixel(2, 0))));
          const auto gy = static_cast<float>(
              0.25 * (b[c].sample(q + Pixel(0, 2)) - b[c].sample(q - Pixel(0, 2))));
          const auto t = static_cast<float>(a[c].sample(p) - b[c].sample(q));
          xx.at(i, j) += gx * gx;
          xy.at(i, j) += gx * gy;
          yy.at(i, j) += gy * gy;
          xt.at(i, j) += gx * t;
          yt.at(i, j) += gy * t;
        }
      }
    double mean = 0;
    for (Map* sums : {&xx, &xy, &yy, &xt, &yt})
      *sums = blurred(*sums, kFlowWindow / PixelMap::kStep);
    for (std::size_t k = 0; k < xx.values.size(); ++k)
      mean += double(xx.values[k]) + double(yy.values[k]);
    mean /= 2 * double(xx.values.size());
    Map move_x(nodes, 0), move_y(nodes, 0);
    for (std::size_t k = 0; k < xx.values.size(); ++k) {
      const double sxx = double(xx.values[k]) + kFlowDamping * mean;
      const double syy = double(yy.values[k]) + kFlowDamping * mean;
      const double sxy = double(xy.values[k]), x = double(xt.values[k]), y = double(yt.values[k]);
      const double determinant = sxx * syy - sxy * sxy;
      if (!(determinant > 0)) continue;
      Pixel move = Pixel(syy * x - sxy * y, sxx * y - sxy * x) / determinant;
      if (move.norm() > kFlowLongestMove) move *= kFlowLongestMove / move.norm();
      move_x.values[k] = static_cast<float>(move.x());
      move_y.values[k] = static_cast<float>(move.y());
    }
    move_x = blurred(move_x, kFlowBlur / PixelMap::kStep);
    move_y = blurred(move_y, kFlowBlur / PixelMap::kStep);
    for (int j = 0; j < nodes; ++j)
      for (int i = 0; i < nodes; ++i)
        map.at(i, j) += Pixel(double(move_x.at(i, j)), double(move_y.at(i, j)));
  }
}

}  // namespace

PixelMap::PixelMap(int size_px)
    : nodes_(size_px / kStep + 1),
      mapped_(std::size_t(nodes_) * std::size_t(nodes_), Pixel::Zero()) {}

Pixel PixelMap::operator()(const Pixel& p) const {
  const double x = std::clamp(p.x() / kStep, 0.0, double(nodes_ - 1));
  const double y = std::clamp(p.y() / kStep, 0.0, double(nodes_ - 1));
  const int i = std::min(int(x), nodes_ - 2), j = std::min(int(y), nodes_ - 2);
  const double u = x - i, v = y - j;
  return (1 - v) * ((1 - u) * at(i, j) + u * at(i + 1, j)) +
         v * ((1 - u) * at(i, j + 1) + u * at(i + 1, j + 1));
}

PixelMap chained(const PixelMap& first, const PixelMap& second) {
  PixelMap out = first;
  for (int j = 0; j < out.nodes(); ++j)
    for (int i = 0; i < out.nodes(); ++i) out.at(i, j) = second(first.at(i, j));
  return out;
}

BendChannels::BendChannels(const DepthMap& head) {
  for (const double scale : kScales)
    for (Map& map : bends(head, scale)) maps.push_back(std::move(map));
  mirror_axis = findMirrorAxis(head, maps);
}

PixelMap alignProfiles(const DepthMap& source, const BendChannels& source_bends,
                       const DepthMap& target, const BendChannels& target_bends) {
  PixelMap map = warpByProfiles(source, source_bends, target, target_bends);
  refineByFlow(source, target, map);
  return map;
}

double bendResidual(const DepthMap& source, const BendChannels& source_bends,
                    const DepthMap& target, const BendChannels& target_bends, const PixelMap& map) {
  double sum = 0, count = 0;
  for (int j = 0; j < map.nodes(); ++j)
    for (int i = 0; i < map.nodes(); ++i) {
      const Pixel p = map.positionOf(i, j), q = map.at(i, j);
      if (source.rim_distance.sample(p) < double(kRim)) continue;
      ++count;
      if (target.rim_distance.sample(q) < 1) {
        sum += 1;
        continue;
      }
      double difference = 0;
      for (std::size_t c = 0; c < source_bends.maps.size(); ++c)
        difference += std::abs(source_bends.maps[c].sample(p) - target_bends.maps[c].sample(q));
      sum += difference / double(source_bends.maps.size());
    }
  return count > 0 ? sum / count : 0;
}

}  // namespace derm::detail
