#include "contact/contact_field.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

/// How far a displacement reaches beside a contact, in the body's units.
constexpr float kReach = 30;
/// The same where the flesh is thin, of its thickness: fingers.
constexpr float kThinReach = 0.4f;
/// How much a sure wish counts against staying where one is.
constexpr float kSure = 8;
/// Cotangent weight of an edge between equilateral triangles.
constexpr float kEdgeWeight = 0.57735f;
/// Of the reach: so far around the wanted points the field is looked for.
constexpr double kFieldBand = 3;
constexpr int kMinRings = 3, kMaxRings = 32;
constexpr int kMaxSteps = 24;
/// Of the first residual.
constexpr double kTolerance = 2e-3;

/// Rings of neighbours over the band, by the mean area of a point.
int ringCount(const ContactBody& body) {
  double area = 0;
  for (const float a : body.areas) area += double{a};
  const double edge =
      std::sqrt(1.1547 * area / static_cast<double>(std::max<std::size_t>(body.areas.size(), 1)));
  const double band = kFieldBand * double{kReach} * double{body.lengths.unit};
  return edge > 0 ? static_cast<int>(
                        std::clamp(std::ceil(band / edge), double{kMinRings}, double{kMaxRings}))
                  : kMinRings;
}

}  // namespace

ContactField::ContactField(const ContactBody& body)
    : body_(body),
      wanted_(body.pointCount()),
      points_(body.pointCount()),
      step_(body.pointCount(), Vec3f::Zero()),
      weight_(body.pointCount(), 0.0f),
      sure_(body.pointCount(), 0.0f),
      local_(body.pointCount(), 0),
      first_(body.pointCount() + 1, 0),
      diagonal_(body.pointCount(), 0.0f),
      inverse_(body.pointCount(), 0.0f),
      d_(body.pointCount(), Row::Zero()),
      residual_(d_),
      way_(d_),
      image_(d_),
      reach_(body.pointCount(), 0.0f),
      rings_(ringCount(body)) {
  std::size_t edges = 0;
  for (std::size_t p = 0; p < body.pointCount(); ++p) edges += body.neighbours[p].size();
  columns_.resize(edges);
  stiffness_.resize(edges);
  for (std::size_t p = 0; p < body.pointCount(); ++p)
    reach_[p] = std::min(kReach * body.lengths.unit, kThinReach * body.thickness[p]);
}

void ContactField::clear() {
  for (const std::uint32_t p : wanted_.list()) {
    step_[p].setZero();
    weight_[p] = sure_[p] = 0;
  }
  wanted_.clear();
}

void ContactField::want(std::uint32_t p, const Vec3f& step, float sure, float weight) {
  wanted_.add(p);
  step_[p] += weight * sure * step;
  weight_[p] += weight * sure;
  sure_[p] = std::max(sure_[p], sure);
}

/// Numbers the points of the field and writes down who is beside whom.
void ContactField::gatherRows() {
  points_.clear();
  for (const std::uint32_t p : wanted_.list()) points_.add(p);
  std::size_t begin = 0;
  for (int ring = 0; ring < rings_; ++ring) {
    const std::size_t end = points_.list().size();
    for (; begin < end; ++begin)
      for (const std::uint32_t q : body_.neighbours[points_.list()[begin]]) points_.add(q);
  }
  count_ = points_.list().size();
  for (std::uint32_t row = 0; row < count_; ++row) local_[points_.list()[row]] = row;
  std::uint32_t next = 0;
  for (std::uint32_t row = 0; row < count_; ++row) {
    const std::uint32_t p = points_.list()[row];
    first_[row] = next;
    diagonal_[row] = 0;
    for (const std::uint32_t q : body_.neighbours[p]) {
      const float stiffness = kEdgeWeight * reach_[p] * reach_[q];
      diagonal_[row] += stiffness;
      if (!points_.has(q)) continue;
      columns_[next] = local_[q];
      stiffness_[next++] = stiffness;
    }
  }
  first_[count_] = next;
}

/// The matrix times `from`; gives the product with `from` again.
double ContactField::multiply(const std::vector<Row>& from, std::vector<Row>& to) const {
  double along = 0;
  for (std::size_t row = 0; row < count_; ++row) {
    Row sum = diagonal_[row] * from[row];
    for (std::uint32_t k = first_[row]; k < first_[row + 1]; ++k)
      sum -= stiffness_[k] * from[columns_[k]];
    to[row] = sum;
    along += double{from[row].dot(sum)};
  }
  return along;
}

// Areas and reach grow alike with the pose: the same field at every size.
void ContactField::solve() {
  gatherRows();
  // Solved larger, or the squares of small characters' residuals would be zero.
  const float unit = body_.lengths.to_units, larger = unit * unit * unit;
  double square = 0;
  for (std::size_t row = 0; row < count_; ++row) {
    const std::uint32_t p = points_.list()[row];
    const float area = body_.areas[p], sure = kSure * sure_[p];
    diagonal_[row] += area * (1 + sure);
    inverse_[row] = diagonal_[row] > 0 ? 1 / diagonal_[row] : 0.0f;
    residual_[row].setZero();
    // A wish is made longer by what staying where one is takes from it.
    if (weight_[p] > 0)
      residual_[row].head<3>() =
          larger * (step_[p] * (area * (1 + kSure) / kSure * sure / weight_[p]));
    d_[row].setZero();
    way_[row] = residual_[row] * inverse_[row];
    square += double{residual_[row].dot(way_[row])};
  }
  const double enough = kTolerance * kTolerance * square;
  for (int step = 0; step < kMaxSteps && square > enough; ++step) {
    const double along = multiply(way_, image_);
    if (!(along > 0)) break;
    const auto length = static_cast<float>(square / along);
    double next = 0;
    for (std::size_t row = 0; row < count_; ++row) {
      d_[row] += length * way_[row];
      residual_[row] -= length * image_[row];
      next += double{residual_[row].squaredNorm() * inverse_[row]};
    }
    const auto turn = static_cast<float>(next / square);
    for (std::size_t row = 0; row < count_; ++row)
      way_[row] = residual_[row] * inverse_[row] + turn * way_[row];
    square = next;
  }
  for (std::size_t row = 0; row < count_; ++row) d_[row] *= 1 / larger;
}

}  // namespace derm::detail
