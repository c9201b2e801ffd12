#include "volume/volume_fields.h"

#include <algorithm>
#include <cmath>

#include "derm/base/parallel.h"

namespace derm::detail {
namespace {

constexpr std::size_t kPointsPerChunk = 4096;  // points at a time
constexpr std::size_t kOddChunk = 1024;

Vec3d unitOrZero(const Vec3d& v) {
  const double length = v.norm();
  return length > 0 && std::isfinite(length) ? Vec3d(v / length) : Vec3d(Vec3d::Zero());
}

}  // namespace

VolumeFields::VolumeFields(const MeasuredSurface& surface, const VolumeRegions& regions,
                           std::span<const double> gamma)
    : gamma_(gamma.begin(), gamma.end()),
      moves_(surface.pointCount(), 0),
      rings_(surface, regions) {
  surface_.vertices_of_welded.offsets = surface.vertices_of_welded.offsets;
  surface_.borders = surface.borders;
  const std::size_t welded_count = surface_.weldedCount();
  for (std::size_t i = 0; i < welded_count; ++i) moves_[i] = gamma_[i] > 0;
  for (std::size_t apex = 0; apex < surface_.apexCount(); ++apex)
    for (const std::uint32_t welded : surface_.borders[apex])
      moves_[welded_count + apex] |= moves_[welded];
  for (const std::uint32_t i : rings_.oddPoints()) independent_ &= rings_.regionsOf(i).size() <= 1;
  buildBorderTriangles(surface);
  buildPairs();
}

void VolumeFields::buildBorderTriangles(const MeasuredSurface& surface) {
  border_welded_ = surface.borders.indices;
  std::sort(border_welded_.begin(), border_welded_.end());
  border_welded_.erase(std::unique(border_welded_.begin(), border_welded_.end()),
                       border_welded_.end());
  if (border_welded_.empty()) return;
  const IndexLists around = vertexTriangles(
      std::span(surface.triangles).first(surface.ownTriangleCount()), surface.weldedCount());
  for (const std::uint32_t welded : border_welded_) {
    for (const std::uint32_t t : around[welded]) border_triangles_.push_back(surface.triangles[t]);
    border_offsets_.push_back(static_cast<std::uint32_t>(border_triangles_.size()));
  }
}

void VolumeFields::buildPairs() {
  const std::size_t regions = rings_.regionCount();
  pair_of_.assign(regions * regions, kApart);
  for (std::size_t i = 0; i < surface_.pointCount(); ++i)
    for (const std::uint32_t k : rings_.regionsOf(i))
      for (const std::uint32_t l : rings_.regionsOf(i))
        if (pair_of_[k * regions + l] == kApart)
          pair_of_[k * regions + l] = static_cast<std::uint32_t>(pair_count_++);
}

VolumeFields::Sums VolumeFields::makeSums() const {
  return {rings_.makeSums(), RegionSums(surface_.pointCount(), rings_.regionCount()),
          RegionSums(rings_.oddPoints().size(), 3 * pair_count_)};
}

void VolumeFields::spreadBorders(std::span<const Vec3d> gradients,
                                 std::span<Vec3d> out) const noexcept {
  const std::size_t welded_count = surface_.weldedCount();
  for (std::size_t apex = 0; apex < surface_.apexCount(); ++apex) {
    const std::span<const std::uint32_t> border = surface_.borders[apex];
    const std::span<const std::uint32_t> rows = rings_.regionsOf(welded_count + apex);
    const std::uint32_t first = rings_.firstEntry(welded_count + apex);
    for (const std::uint32_t welded : border) {
      const std::span<const std::uint32_t> own = rings_.regionsOf(welded);
      for (std::size_t k = 0; k < own.size(); ++k)
        for (std::size_t a = 0; a < rows.size(); ++a)
          if (rows[a] == own[k])
            out[rings_.firstEntry(welded) + k] +=
                gradients[first + a] / static_cast<double>(border.size());
    }
  }
}

void VolumeFields::spread(std::span<const Vec3d> gradients, std::span<Vec3d> out) const noexcept {
  parallelFor(gradients.size(), kPointsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) out[e] = gradients[e];
  });
  spreadBorders(gradients, out);
}

Vec3d VolumeFields::borderNormal(std::size_t border, std::span<const Vec3d> points) const noexcept {
  Vec3d sum = Vec3d::Zero();
  for (std::uint32_t t = border_offsets_[border]; t < border_offsets_[border + 1]; ++t) {
    const Triangle& c = border_triangles_[t];
    sum += Vec3d(points[c[1]] - points[c[0]]).cross(Vec3d(points[c[2]] - points[c[0]]));
  }
  return unitOrZero(sum);
}

void VolumeFields::normals(std::span<const Vec3d> points, std::span<const Vec3d> spread,
                           std::span<Vec3d> out) const noexcept {
  // Regions' shares add up to one and walls cancel: the sum of a row is the volume's own gradient,
  // which is a third of the area vector where the ring of triangles is closed.
  parallelFor(surface_.weldedCount(), kPointsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vec3d sum = Vec3d::Zero();
      for (const std::uint32_t e : entriesOf(i)) sum += spread[e];
      out[i] = unitOrZero(sum);
    }
  });
  for (std::size_t b = 0; b < border_welded_.size(); ++b)
    out[border_welded_[b]] = borderNormal(b, points);
}

void VolumeFields::meanOverBorders(std::span<Vec3d> field) const noexcept {
  const std::size_t welded_count = surface_.weldedCount();
  for (std::size_t apex = 0; apex < surface_.apexCount(); ++apex) {
    const std::span<const std::uint32_t> border = surface_.borders[apex];
    const std::span<const std::uint32_t> rows = rings_.regionsOf(welded_count + apex);
    const std::uint32_t first = rings_.firstEntry(welded_count + apex);
    for (std::size_t a = 0; a < rows.size(); ++a) {
      Vec3d sum = Vec3d::Zero();
      for (const std::uint32_t welded : border) {
        const std::span<const std::uint32_t> own = rings_.regionsOf(welded);
        for (std::size_t k = 0; k < own.size(); ++k)
          if (own[k] == rows[a]) sum += field[rings_.firstEntry(welded) + k];
      }
      field[first + a] = sum / static_cast<double>(border.size());
    }
  }
}

template <class Body>
void VolumeFields::eachOddWelded(const Body& body) const noexcept {
  const std::span<const std::uint32_t> odd = rings_.oddPoints();
  const std::size_t welded_count = odd.size() - surface_.apexCount();  // apexes come last
  parallelFor(welded_count, kOddChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) body(odd[n]);
  });
}

void VolumeFields::oddAlongGradient(std::span<const Vec3d> gradients,
                                    std::span<Vec3d> field) const noexcept {
  const auto each = [&](const auto& body) {
    eachOddWelded([&](std::uint32_t i) {
      for (const std::uint32_t e : entriesOf(i)) body(i, e);
    });
  };
  each([&](std::uint32_t, std::uint32_t e) { field[e] = gradients[e]; });
  spreadBorders(gradients, field);
  each([&](std::uint32_t i, std::uint32_t e) { field[e] *= gamma_[i]; });
  meanOverBorders(field);
}

void VolumeFields::oddAlongNormal(std::span<const Vec3d> points, std::span<const Vec3d> gradients,
                                  std::span<Vec3d> field) const noexcept {
  const auto rowOf = [&](std::uint32_t i) {
    return field.subspan(rings_.firstEntry(i), rings_.regionsOf(i).size());
  };
  const auto project = [&](std::uint32_t i, const Vec3d& n) {
    for (Vec3d& f : rowOf(i)) f = (gamma_[i] * n.dot(f)) * n;
  };
  eachOddWelded([&](std::uint32_t i) {
    const std::span<Vec3d> row = rowOf(i);
    std::copy_n(gradients.begin() + rings_.firstEntry(i), row.size(), row.begin());
  });
  spreadBorders(gradients, field);
  eachOddWelded([&](std::uint32_t i) {
    const auto border = std::lower_bound(border_welded_.begin(), border_welded_.end(), i);
    if (border != border_welded_.end() && *border == i) {
      project(i, borderNormal(static_cast<std::size_t>(border - border_welded_.begin()), points));
      return;
    }
    Vec3d sum = Vec3d::Zero();
    for (const Vec3d& f : rowOf(i)) sum += f;
    project(i, unitOrZero(sum));
  });
  meanOverBorders(field);
}

void VolumeFields::alongNormal(std::span<const Vec3d> normals,
                               std::span<Vec3d> field) const noexcept {
  parallelFor(surface_.weldedCount(), kPointsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (const std::uint32_t e : entriesOf(i))
        field[e] = (gamma_[i] * normals[i].dot(field[e])) * normals[i];
  });
  meanOverBorders(field);
}

void VolumeFields::multiplyOdd(std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                               Sums& sums) const noexcept {
  const std::span<const std::uint32_t> odd = rings_.oddPoints();
  sums.odd.setZero();
  parallelFor(odd.size(), sums.odd.chunk(), [&](std::size_t begin, std::size_t end) {
    const std::span<double> part = sums.odd.row(begin);
    for (std::size_t n = begin; n < end; ++n) {
      const std::span<const std::uint32_t> rows = rings_.regionsOf(odd[n]);
      const std::uint32_t first = rings_.firstEntry(odd[n]);
      for (std::uint32_t k = 0; k < rows.size(); ++k)
        for (std::uint32_t l = 0; l < rows.size(); ++l) {
          double* const sum = part.data() + 3 * pair(rows[k], rows[l]);
          const Vec3d &v = gradients[first + k], &f = field[first + l];
          sum[0] += v.x() * f.x();
          sum[1] += v.y() * f.y();
          sum[2] += v.z() * f.z();
        }
    }
  });
}

void VolumeFields::addOdd(const Sums& sums, std::size_t axis, RegionMatrix& out) const noexcept {
  for (std::uint32_t k = 0; k < out.size; ++k)
    for (std::uint32_t l = 0; l < out.size; ++l)
      if (meet(k, l)) out(k, l) += sums.odd.total(3 * pair(k, l) + axis);
}

void VolumeFields::measuredMatrix(std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                                  Sums& sums, RegionMatrix& out) const noexcept {
  out.setZero();
  for (std::size_t r = 0; r < rings_.runs().size(); ++r) {
    const std::uint32_t l = rings_.runs()[r].region;
    for (const double square : sums.rings.runs[r].squares) out(l, l) += square;
  }
  multiplyOdd(gradients, field, sums);
  for (std::size_t a = 0; a < 3; ++a) addOdd(sums, a, out);
}

void VolumeFields::measuredAxisMatrices(std::span<const Vec3d> gradients,
                                        std::span<const Vec3d> field, Sums& sums,
                                        std::span<RegionMatrix> out) const noexcept {
  multiplyOdd(gradients, field, sums);
  for (std::size_t a = 0; a < 3; ++a) {
    out[a].setZero();
    for (std::size_t r = 0; r < rings_.runs().size(); ++r) {
      const std::uint32_t l = rings_.runs()[r].region;
      out[a](l, l) += sums.rings.runs[r].squares[a];
    }
    addOdd(sums, a, out[a]);
  }
}

void VolumeFields::matrix(std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                          Sums& sums, RegionMatrix& out) const noexcept {
  const std::size_t even = rings_.evenPoints().size();
  sums.points.setZero();
  parallelFor(even, sums.points.chunk(), [&](std::size_t begin, std::size_t end) {
    const std::span<double> part = sums.points.row(begin);
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t e = rings_.oddEntryCount() + n;
      part[rings_.regionsOf(rings_.evenPoints()[n])[0]] += gradients[e].dot(field[e]);
    }
  });
  out.setZero();
  for (std::size_t l = 0; l < out.size; ++l) out(l, l) = sums.points.total(l);
  multiplyOdd(gradients, field, sums);
  for (std::size_t a = 0; a < 3; ++a) addOdd(sums, a, out);
}

void VolumeFields::change(std::span<const Vec3d> gradients, std::span<const Vec3d> displacement,
                          Sums& sums, std::span<double> out) const noexcept {
  sums.points.setZero();
  parallelFor(surface_.pointCount(), sums.points.chunk(), [&](std::size_t begin, std::size_t end) {
    const std::span<double> part = sums.points.row(begin);
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<const std::uint32_t> rows = rings_.regionsOf(i);
      const std::uint32_t first = rings_.firstEntry(i);
      for (std::size_t k = 0; k < rows.size(); ++k)
        part[rows[k]] += gradients[first + k].dot(displacement[i]);
    }
  });
  for (std::size_t l = 0; l < out.size(); ++l) out[l] = sums.points.total(l);
}

template <class Even, class Odd>
void VolumeFields::eachWelded(const Even& even, const Odd& odd) const noexcept {
  const std::span<const RegionRings::Run> runs = rings_.runs();
  const std::size_t chunk = runChunk(runs.size());
  parallelFor(runs.size(), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const std::size_t entry = rings_.oddEntryCount() + runs[r].begin;
      even(runs[r].region, rings_.evenPoints().subspan(runs[r].begin, runs[r].end - runs[r].begin),
           entry);
    }
  });
  eachOddWelded(odd);
}

void VolumeFields::combine(std::span<const double> multipliers, std::span<const Vec3d> field,
                           std::span<Vec3d> displacement) const noexcept {
  eachWelded(
      [&](std::uint32_t region, std::span<const std::uint32_t> points, std::size_t entry) {
        const double multiplier = multipliers[region];
        for (std::size_t n = 0; n < points.size(); ++n)
          displacement[points[n]] = multiplier * field[entry + n];
      },
      [&](std::uint32_t i) {
        const std::span<const std::uint32_t> rows = rings_.regionsOf(i);
        Vec3d sum = Vec3d::Zero();
        for (std::size_t k = 0; k < rows.size(); ++k)
          sum += multipliers[rows[k]] * field[rings_.firstEntry(i) + k];
        displacement[i] = sum;
      });
  completeApexes(surface_, displacement);
}

void VolumeFields::combineAxes(std::span<const double> multipliers, std::span<const Vec3d> field,
                               bool add, std::span<Vec3d> displacement) const noexcept {
  const std::size_t regions = rings_.regionCount();
  const auto by_axis = [&](std::uint32_t l) {
    return Vec3d(multipliers[l], multipliers[regions + l], multipliers[2 * regions + l]);
  };
  eachWelded(
      [&](std::uint32_t region, std::span<const std::uint32_t> points, std::size_t entry) {
        const Vec3d multiplier = by_axis(region);
        const Vec3d* const from = field.data() + entry;
        if (add)
          for (std::size_t n = 0; n < points.size(); ++n)
            displacement[points[n]] += multiplier.cwiseProduct(from[n]);
        else
          for (std::size_t n = 0; n < points.size(); ++n)
            displacement[points[n]] = multiplier.cwiseProduct(from[n]);
      },
      [&](std::uint32_t i) {
        const std::span<const std::uint32_t> rows = rings_.regionsOf(i);
        Vec3d sum = add ? displacement[i] : Vec3d(Vec3d::Zero());
        for (std::size_t k = 0; k < rows.size(); ++k)
          sum += by_axis(rows[k]).cwiseProduct(field[rings_.firstEntry(i) + k]);
        displacement[i] = sum;
      });
  completeApexes(surface_, displacement);
}

void solveRegions(const RegionMatrix& matrix, std::span<const std::uint8_t> active,
                  std::span<const double> rhs, std::span<double> work,
                  std::span<double> x) noexcept {
  const std::size_t n = matrix.size, width = n + 1;
  DERM_REQUIRE(work.size() >= n * width && rhs.size() == n && x.size() == n);
  for (std::size_t i = 0; i < n; ++i) {
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(matrix(i, j)));
    const bool used = active[i] != 0 && largest > 0 && std::isfinite(largest);
    for (std::size_t j = 0; j < n; ++j)
      work[i * width + j] = used && active[j] != 0 ? matrix(i, j) / largest : 0.0;
    if (!used) work[i * width + i] = 1;
    work[i * width + n] = used ? rhs[i] / largest : 0.0;
  }
  constexpr double kVanished = 1e-12;  // of a row scaled to 1
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(work[r * width + c]) > std::abs(work[pivot * width + c])) pivot = r;
    if (!(std::abs(work[pivot * width + c]) > kVanished)) {
      // This region's row depends on the others': leave it where they put it.
      for (std::size_t j = 0; j <= n; ++j) work[c * width + j] = j == c ? 1.0 : 0.0;
      continue;
    }
    if (pivot != c)
      std::swap_ranges(&work[pivot * width], &work[pivot * width] + width, &work[c * width]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = work[r * width + c] / work[c * width + c];
      if (factor == 0) continue;
      for (std::size_t j = c; j <= n; ++j) work[r * width + j] -= factor * work[c * width + j];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    double sum = work[i * width + n];
    for (std::size_t j = i + 1; j < n; ++j) sum -= work[i * width + j] * x[j];
    x[i] = sum / work[i * width + i];
  }
}

}  // namespace derm::detail
