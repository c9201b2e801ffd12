#include "derm/scene/correctives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <Eigen/Dense>

#include "derm/base/parallel.h"
#include "derm/mesh/measures.h"

namespace derm {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Singular values below this share of the largest are damped rather than inverted.
constexpr double kSmallestShare = 1.0 / 50;
/// Parts of shapes below this share of the bounding diagonal are left out of the file.
constexpr double kNoShape = 1e-8;
/// Squared singular values below this share of the largest are rounding.
constexpr double kNoEnergy = 1e-16;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
constexpr std::size_t kVertexChunk = 512;
constexpr Eigen::Index kTile = 64;
constexpr Eigen::Index kRowBlock = 4096;

/// L^-1, or where L hardly keeps a direction the inverse of what it keeps.
struct SafeInverse {
  Mat3d matrix = Mat3d::Identity();
  bool near_singular = false;

  explicit SafeInverse(const Mat3d& linear) {
    const Mat3d plain = linear.inverse();
    // The product of the norms bounds the ratio of singular values from above.
    const double ratio = plain.norm() * linear.norm();
    if (std::isfinite(ratio) && ratio < 1 / kSmallestShare) {
      matrix = plain;
      return;
    }
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(linear, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Vector3d values = svd.singularValues();
    const double least = kSmallestShare * values[0];
    near_singular = !(values[2] >= least) || !(values[0] > 0);
    Eigen::Vector3d gains;
    // Goes on continuously below the limit: 1/s above it, s/limit^2 below.
    for (int i = 0; i < 3; ++i) {
      const double gain = values[i] >= least ? 1 / values[i] : values[i] / (least * least);
      gains[i] = std::isfinite(gain) ? gain : 0;
    }
    matrix = svd.matrixV() * gains.asDiagonal() * svd.matrixU().transpose();
  }
};

template <class Matrix>
Matrix blendedLinear(const Skin& skin, std::size_t vertex, std::span<const Affine3f> palette) {
  using Scalar = typename Matrix::Scalar;
  if (skin.empty()) return Matrix::Identity();
  Matrix sum = Matrix::Zero();
  for (const Influence& i : skin[vertex])
    sum += static_cast<Scalar>(i.weight) * palette[i.slot].linear().template cast<Scalar>();
  return sum;
}

/// A^T A in double, tile by tile: each tile sums over all rows in one order, so that the thread
/// count does not matter.
MatrixXd gramMatrix(const MatrixXf& a) {
  const Eigen::Index n = a.cols();
  const Eigen::Index tiles = (n + kTile - 1) / kTile;
  std::vector<std::array<Eigen::Index, 2>> pairs;
  for (Eigen::Index i = 0; i < tiles; ++i)
    for (Eigen::Index j = i; j < tiles; ++j) pairs.push_back({i, j});
  MatrixXd gram = MatrixXd::Zero(n, n);
  parallelFor(pairs.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const Eigen::Index i = pairs[p][0] * kTile;
      const Eigen::Index j = pairs[p][1] * kTile;
      const Eigen::Index rows_i = std::min(kTile, n - i);
      const Eigen::Index rows_j = std::min(kTile, n - j);
      MatrixXd sum = MatrixXd::Zero(rows_i, rows_j);
      for (Eigen::Index r = 0; r < a.rows(); r += kRowBlock) {
        const Eigen::Index count = std::min(kRowBlock, a.rows() - r);
        const MatrixXd left = a.block(r, i, count, rows_i).cast<double>();
        const MatrixXd right = a.block(r, j, count, rows_j).cast<double>();
        sum.noalias() += left.transpose() * right;
      }
      gram.block(i, j, rows_i, rows_j) = sum;
      gram.block(j, i, rows_j, rows_i) = sum.transpose();
    }
  });
  return gram;
}

/// The frames' singular vectors, largest first, each scaled and signed so that its largest entry is
/// 1: the weights of the shapes. `scales` undo that: shape = A v * scale.
struct FrameBasis {
  MatrixXd vectors;  ///< orthonormal columns, frames x rank
  Eigen::VectorXd scales;

  explicit FrameBasis(const MatrixXd& gram) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram);
    const Eigen::VectorXd energies = solver.eigenvalues().reverse();
    Eigen::Index rank = 0;
    while (rank < energies.size() && energies[rank] > 0 && energies[rank] > kNoEnergy * energies[0])
      ++rank;
    vectors = solver.eigenvectors().rowwise().reverse().leftCols(rank);
    scales.resize(rank);
    for (Eigen::Index k = 0; k < rank; ++k) {
      Eigen::Index at = 0;
      vectors.col(k).cwiseAbs().maxCoeff(&at);
      scales[k] = vectors(at, k);
    }
  }
  Eigen::Index rank() const { return vectors.cols(); }
  MatrixXf weights(Eigen::Index shapes) const {  ///< shapes x frames
    MatrixXd out = vectors.leftCols(shapes).transpose();
    for (Eigen::Index k = 0; k < shapes; ++k) out.row(k) /= scales[k];
    return out.cast<float>();
  }
};

/// Columns [first, first + count) of A V, scaled; parts below `least` are zero.
void addShapes(const MatrixXf& a, const FrameBasis& basis, Eigen::Index first, Eigen::Index count,
               double least, MatrixXf& shapes) {
  const MatrixXd vectors =
      basis.vectors.middleCols(first, count) * basis.scales.segment(first, count).asDiagonal();
  parallelFor(static_cast<std::size_t>(a.rows() / 3), kVertexChunk,
              [&](std::size_t begin, std::size_t end) {
                const auto row = static_cast<Eigen::Index>(3 * begin);
                const auto rows = static_cast<Eigen::Index>(3 * (end - begin));
                const MatrixXd from = a.middleRows(row, rows).cast<double>();
                MatrixXd part = from * vectors;
                for (Eigen::Index k = 0; k < count; ++k)
                  for (Eigen::Index v = 0; v < rows; v += 3)
                    if (part.block<3, 1>(v, k).norm() < least) part.block<3, 1>(v, k).setZero();
                shapes.block(row, first, rows, count) = part.cast<float>();
              });
}

struct PosedError {
  double max_m = 0;
  double squares = 0;
};

/// Shapes and weights that add up to the same, but with every weight in [0,1]: many programs
/// (Blender, Unity) cut others off. Each weight is lifted by its least value; what that adds is
/// taken back by one more shape, the last, whose weight is always 1.
struct UnitWeights {
  Eigen::VectorXf least;  ///< of each weight over the frames, at most 0
  Eigen::VectorXf span;   ///< from `least` to the largest

  explicit UnitWeights(const MatrixXf& weights)
      : least(weights.rowwise().minCoeff().cwiseMin(0.0f)),
        span(weights.rowwise().maxCoeff() - least) {}
  bool needBase() const { return (least.array() < 0).any(); }
  MatrixXf shapes(const MatrixXf& from) const {
    MatrixXf out(from.rows(), from.cols() + 1);
    out.leftCols(from.cols()) = from * span.asDiagonal();
    out.rightCols(1) = (from.cast<double>() * least.cast<double>()).cast<float>();
    return out;
  }
  MatrixXf weights(const MatrixXf& from) const {
    MatrixXf out = MatrixXf::Ones(from.rows() + 1, from.cols());
    out.topRows(from.rows()) = span.cwiseInverse().asDiagonal() * (from.colwise() - least);
    return out;
  }
};

}  // namespace

struct CorrectiveFitter::Data {
  std::shared_ptr<const Character> character;
  std::size_t vertex_count = 0;
  std::size_t frame_count = 0;
  bool with_normals = false;
  std::size_t added = 0;
  std::size_t near_singular = 0;
  double diagonal_m = 0;
  std::vector<Affine3f> palettes;    ///< frames x slots
  std::vector<Vec3f> displacements;  ///< frames x vertices, posed
  std::vector<Vec3f> deltas;         ///< the same in bind space
  std::vector<Vec3f> normal_deltas;

  std::span<const Affine3f> palette(std::size_t frame) const {
    const std::size_t slots = character->skin.slots.size();
    return std::span(palettes).subspan(frame * slots, slots);
  }
  std::vector<std::uint32_t> movingVertices() const;
  MatrixXf gathered(std::span<const Vec3f> stream, std::span<const std::uint32_t> vertices) const;
  PosedError error(std::span<const std::uint32_t> vertices, const MatrixXf& shapes,
                   const MatrixXf& weights) const;
};

/// Those that are not plain linear skinning in some frame.
std::vector<std::uint32_t> CorrectiveFitter::Data::movingVertices() const {
  std::vector<std::uint8_t> moves(vertex_count, 0);
  parallelFor(vertex_count, kVertexChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = 0; f < frame_count; ++f)
      for (std::size_t v = begin; v < end; ++v) {
        const std::size_t at = f * vertex_count + v;
        if (deltas[at] != Vec3f(Vec3f::Zero()) ||
            (with_normals && normal_deltas[at] != Vec3f(Vec3f::Zero())))
          moves[v] = 1;
      }
  });
  std::vector<std::uint32_t> out;
  for (std::size_t v = 0; v < vertex_count; ++v)
    if (moves[v] != 0) out.push_back(static_cast<std::uint32_t>(v));
  return out;
}

/// Three rows per vertex, one column per frame.
MatrixXf CorrectiveFitter::Data::gathered(std::span<const Vec3f> stream,
                                          std::span<const std::uint32_t> vertices) const {
  MatrixXf out(static_cast<Eigen::Index>(3 * vertices.size()),
               static_cast<Eigen::Index>(frame_count));
  parallelFor(frame_count, 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f)
      for (std::size_t i = 0; i < vertices.size(); ++i)
        out.block<3, 1>(static_cast<Eigen::Index>(3 * i), static_cast<Eigen::Index>(f)) =
            stream[f * vertex_count + vertices[i]];
  });
  return out;
}

/// How far the posed shapes are from the displacements, in float as an engine adds them up.
PosedError CorrectiveFitter::Data::error(std::span<const std::uint32_t> vertices,
                                         const MatrixXf& shapes, const MatrixXf& weights) const {
  std::vector<PosedError> parts((vertices.size() + kVertexChunk - 1) / kVertexChunk);
  parallelFor(vertices.size(), kVertexChunk, [&](std::size_t begin, std::size_t end) {
    PosedError& part = parts[begin / kVertexChunk];
    const MatrixXf sum = shapes.middleRows(static_cast<Eigen::Index>(3 * begin),
                                           static_cast<Eigen::Index>(3 * (end - begin))) *
                         weights;
    for (std::size_t f = 0; f < frame_count; ++f)
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t v = vertices[i];
        const Mat3f linear = blendedLinear<Mat3f>(character->skin, v, palette(f));
        const Vec3f shape = sum.block<3, 1>(static_cast<Eigen::Index>(3 * (i - begin)),
                                            static_cast<Eigen::Index>(f));
        const Vec3f off = displacements[f * vertex_count + v] - linear * shape;
        const double squared = off.cast<double>().squaredNorm();
        part.max_m = std::max(part.max_m, std::sqrt(squared));
        part.squares += squared;
      }
  });
  PosedError out;
  for (const PosedError& part : parts) {
    out.max_m = std::max(out.max_m, part.max_m);
    out.squares += part.squares;
  }
  return out;
}

CorrectiveFitter::CorrectiveFitter(std::unique_ptr<Data> data) : data_(std::move(data)) {}
CorrectiveFitter::CorrectiveFitter(CorrectiveFitter&&) noexcept = default;
CorrectiveFitter& CorrectiveFitter::operator=(CorrectiveFitter&&) noexcept = default;
CorrectiveFitter::~CorrectiveFitter() = default;

Result<CorrectiveFitter> CorrectiveFitter::make(std::shared_ptr<const Character> character,
                                                std::size_t frame_count) {
  DERM_REQUIRE(character != nullptr && frame_count > 0);
  const auto failed = [](std::string message) {
    return Error{ErrorCode::Unsupported, std::move(message), {.element = "correctives"}};
  };
  if (frame_count > kMostFrames)
    return failed(std::to_string(frame_count) + " frames; at most " + std::to_string(kMostFrames) +
                  " can become shapes: shorten the range or lower the fps");
  const std::uint64_t vertices = character->mesh.vertexCount();
  const std::uint64_t bytes = vertices * frame_count * 4 * sizeof(Vec3f);
  if (bytes > kMostBytes)
    return failed("need " + std::to_string(bytes >> 20) + " MiB, more than the " +
                  std::to_string(kMostBytes >> 20) +
                  " accepted: shorten the range or lower the fps");
  auto data = std::make_unique<Data>();
  data->with_normals = !character->mesh.normals.empty();
  data->vertex_count = character->mesh.vertexCount();
  data->frame_count = frame_count;
  data->diagonal_m = bounds(character->mesh.positions).diagonal();
  data->palettes.resize(frame_count * character->skin.slots.size());
  const std::size_t rows = data->vertex_count * frame_count;
  data->displacements.assign(rows, Vec3f::Zero());
  data->deltas.assign(rows, Vec3f::Zero());
  if (data->with_normals) data->normal_deltas.assign(rows, Vec3f::Zero());
  data->character = std::move(character);
  return CorrectiveFitter(std::move(data));
}

void CorrectiveFitter::addFrame(const Frame& frame) {
  Data& d = *data_;
  const std::size_t n = d.vertex_count;
  const Skin& skin = d.character->skin;
  DERM_REQUIRE(d.added < d.frame_count && frame.palette.size() == skin.slots.size());
  DERM_REQUIRE(frame.wanted.positions.size() == n && frame.plain.positions.size() == n);
  const bool normals = d.with_normals && !frame.unskinned_normals.empty();
  DERM_REQUIRE(!normals || (frame.wanted.normals.size() == n && frame.plain.normals.size() == n &&
                            frame.unskinned_normals.size() == n));
  const std::size_t row = d.added * n;
  std::copy(frame.palette.begin(), frame.palette.end(),
            d.palettes.begin() + static_cast<std::ptrdiff_t>(d.added * skin.slots.size()));
  std::vector<std::size_t> singular((n + kVertexChunk - 1) / kVertexChunk, 0);
  parallelFor(n, kVertexChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3f added = frame.wanted.positions[v] - frame.plain.positions[v];
      const bool moved = added != Vec3f(Vec3f::Zero());
      const bool turned = normals && frame.wanted.normals[v] != frame.plain.normals[v];
      d.displacements[row + v] = added;
      if (!moved && !turned) continue;
      const SafeInverse inverse(blendedLinear<Mat3d>(skin, v, frame.palette));
      if (moved && inverse.near_singular) ++singular[begin / kVertexChunk];
      d.deltas[row + v] = (inverse.matrix * added.cast<double>()).cast<float>();
      if (!turned) continue;
      const Vec3d unskinned = frame.unskinned_normals[v].cast<double>();
      const Vec3d back = inverse.matrix * frame.wanted.normals[v].cast<double>();
      const double length = back.norm();
      if (length > 0)
        d.normal_deltas[row + v] = (back * (unskinned.norm() / length) - unskinned).cast<float>();
    }
  });
  for (const std::size_t count : singular) d.near_singular += count;
  ++d.added;
}

std::span<const Vec3f> CorrectiveFitter::displacement(std::size_t frame) const {
  return std::span(data_->displacements).subspan(frame * data_->vertex_count, data_->vertex_count);
}

namespace {

/// The columns of two matrices as sparse shapes.
std::vector<Correctives::Shape> sparseShapes(std::span<const std::uint32_t> vertices,
                                             const MatrixXf& positions, const MatrixXf& normals) {
  std::vector<Correctives::Shape> out(static_cast<std::size_t>(positions.cols()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(3 * i);
      const Vec3f position = positions.block<3, 1>(row, column);
      const Vec3f normal =
          normals.size() > 0 ? Vec3f(normals.block<3, 1>(row, column)) : Vec3f(Vec3f::Zero());
      if (position == Vec3f::Zero() && normal == Vec3f::Zero()) continue;
      out[k].vertices.push_back(vertices[i]);
      out[k].positions.push_back(position);
      if (normals.size() > 0) out[k].normals.push_back(normal);
    }
  }
  return out;
}

}  // namespace

/// The best shapes for the frames, and how many of them are wanted.
struct CorrectiveFitter::Search {
  static constexpr const char* kStage = "finding shapes";

  const Data& data;
  const CorrectivesDesc& desc;
  const Progress& progress;
  std::vector<std::uint32_t> vertices;  ///< those that move
  MatrixXf deltas;                      ///< three rows per such vertex, one column per frame
  FrameBasis basis;
  Eigen::Index count = 0;  ///< of the shapes
  MatrixXf shapes;
  PosedError error;

  Search(const Data& of, const CorrectivesDesc& wanted, const Progress& told)
      : data(of),
        desc(wanted),
        progress(told),
        vertices(of.movingVertices()),
        deltas(of.gathered(of.deltas, vertices)),
        basis(gramMatrix(deltas)),
        count(mostShapes()),
        shapes(deltas.rows(), count) {}

  /// A single shape cannot spare room for a base, whatever the signs of its weights.
  bool needsBase(const UnitWeights& unit) const {
    return unit.needBase() && !(desc.shapes && *desc.shapes == 1);
  }

  Eigen::Index mostShapes() const {
    const Eigen::Index rank = basis.rank();
    if (!desc.shapes) return rank;
    const auto most =
        static_cast<Eigen::Index>(std::min(*desc.shapes, static_cast<std::size_t>(rank)));
    // One of the shapes asked for may have to be the base.
    const bool fills = static_cast<std::size_t>(most) == *desc.shapes;
    return fills && needsBase(UnitWeights(basis.weights(most))) ? most - 1 : most;
  }

  void make(Eigen::Index from, Eigen::Index to) {
    addShapes(deltas, basis, from, to - from, kNoShape * data.diagonal_m, shapes);
  }

  PosedError errorOf(Eigen::Index n) const {
    const MatrixXf weights = basis.weights(n);
    const UnitWeights unit(weights);
    if (!needsBase(unit)) return data.error(vertices, shapes.leftCols(n), weights);
    return data.error(vertices, unit.shapes(shapes.leftCols(n)), unit.weights(weights));
  }

  /// Twice as many until the bound is kept, then halving the gap: few shapes cost little.
  Result<void> keepBound(double bound_m) {
    const Error cancelled{ErrorCode::Cancelled, "cancelled", {}};
    Eigen::Index too_few = -1, enough = 0;
    while (error = errorOf(enough), error.max_m > bound_m) {
      if (enough == count)
        return Error{ErrorCode::BadArgument,
                     "cannot be kept: " + std::to_string(count) + " shapes leave " +
                         std::to_string(error.max_m * 1000) + " mm (" +
                         std::to_string(data.near_singular) +
                         " vertices were in near-singular poses)",
                     {.element = "error"}};
      if (!keepGoing(progress, 0.6, kStage)) return cancelled;
      too_few = enough;
      enough = std::min(std::max<Eigen::Index>(1, 2 * enough), count);
      make(too_few, enough);
    }
    while (enough - too_few > 1) {
      if (!keepGoing(progress, 0.8, kStage)) return cancelled;
      const Eigen::Index middle = (enough + too_few) / 2;
      const PosedError there = errorOf(middle);
      const bool kept = there.max_m <= bound_m;
      (kept ? enough : too_few) = middle;
      if (kept) error = there;
    }
    count = enough;
    shapes.conservativeResize(Eigen::NoChange, count);
    return {};
  }

  Result<void> run() {
    if (desc.error_m) return keepBound(*desc.error_m);
    make(0, count);
    error = errorOf(count);
    return {};
  }

  MatrixXf normals() const {
    MatrixXf out;
    if (!data.with_normals || count == 0) return out;
    constexpr double kNoTurn = 1e-4;
    out.resize(deltas.rows(), count);
    addShapes(data.gathered(data.normal_deltas, vertices), basis, 0, count, kNoTurn, out);
    return out;
  }

  Correctives result() && {
    MatrixXf turned = normals();
    MatrixXf weights = basis.weights(count);
    const UnitWeights unit(weights);
    if (needsBase(unit)) {
      shapes = unit.shapes(shapes);
      if (turned.size() > 0) turned = unit.shapes(turned);
      weights = unit.weights(weights);
    }
    Correctives out;
    out.frame_count = data.frame_count;
    out.near_singular = data.near_singular;
    out.unit_weights = weights.size() == 0 || weights.minCoeff() >= 0;
    out.shapes = sparseShapes(vertices, shapes, turned);
    out.weights.assign(weights.data(), weights.data() + weights.size());
    out.max_error_m = error.max_m;
    const std::size_t samples = std::max<std::size_t>(1, data.vertex_count * data.frame_count);
    out.rms_error_m = std::sqrt(error.squares / static_cast<double>(samples));
    return out;
  }
};

Result<Correctives> CorrectiveFitter::fit(const CorrectivesDesc& desc,
                                          const Progress& progress) const {
  DERM_REQUIRE(data_->added == data_->frame_count);
  const Error cancelled{ErrorCode::Cancelled, "cancelled", {}};
  const auto bad = [](const char* element, std::string message) {
    return Error{ErrorCode::BadArgument, std::move(message), {.element = element}};
  };
  if (desc.shapes && *desc.shapes == 0) return bad("shapes", "expected at least 1");
  if (desc.error_m && !(*desc.error_m > 0 && std::isfinite(*desc.error_m)))
    return bad("error", "expected more than 0 metres");
  if (!keepGoing(progress, 0.0, Search::kStage)) return cancelled;
  Search search(*data_, desc, progress);
  if (!keepGoing(progress, 0.5, Search::kStage)) return cancelled;
  DERM_CHECK(search.run());
  Correctives out = std::move(search).result();
  if (!keepGoing(progress, 1.0, Search::kStage)) return cancelled;
  return out;
}

}  // namespace derm
