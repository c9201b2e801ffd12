#include "derm/scene/correctives.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>

#include <Eigen/Core>

#include "derm/base/parallel.h"
#include "derm/mesh/measures.h"

#include "scene/bind_space.h"
#include "scene/corrective_basis.h"

namespace derm {
namespace {

using detail::addShapes;
using detail::blendedLinear;
using detail::FrameBasis;
using detail::SafeInverse;
using detail::UnitWeights;
using Eigen::MatrixXf;

/// Parts of shapes below this share of the bounding diagonal are left out of the file.
constexpr double kNoShape = 1e-8;
/// Mesh instances that move less than this share of it are plain linear skinning but for rounding.
constexpr double kStill = 5e-7;
/// Of an error bound: a check whose interpolation alone errs by more cannot be mended by shapes.
constexpr double kReachable = 0.9;
constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;
constexpr std::size_t kVertexChunk = 512;

struct PosedError {
  double keys_m = 0;
  double key_squares = 0;
  double checks_m = 0;            ///< of all checks
  double reachable_checks_m = 0;  ///< of those that shapes can mend

  double bounded_m() const { return std::max(keys_m, reachable_checks_m); }
  void add(const PosedError& other) {
    keys_m = std::max(keys_m, other.keys_m);
    key_squares += other.key_squares;
    checks_m = std::max(checks_m, other.checks_m);
    reachable_checks_m = std::max(reachable_checks_m, other.reachable_checks_m);
  }
};

/// An instant's weights are (1 - share) those of one key + share those of another.
struct Mix {
  std::size_t from = 0, to = 0;
  double share = 0;
};

}  // namespace

struct CorrectiveFitter::Data {
  struct Instant {
    std::size_t clip = 0;
    double time_s = 0;
    bool is_key = false;
    std::size_t near_singular = 0;
    std::vector<Affine3f> palette;     ///< one per slot
    std::vector<Vec3f> displacements;  ///< posed
    std::vector<Vec3f> deltas;         ///< the same in bind space
    std::vector<Vec3f> normal_deltas;
  };
  std::shared_ptr<const Character> character;
  std::size_t vertex_count = 0;
  std::size_t max_instants = 0;
  bool with_normals = false;
  double diagonal_m = 0;
  std::map<std::size_t, double> loop_end_s;  ///< of the clips that have one
  std::vector<Instant> instants;             ///< in order of clip and time

  void add(const Frame& frame, bool is_key);
  std::size_t keyCount() const {
    return static_cast<std::size_t>(
        std::count_if(instants.begin(), instants.end(), [](const Instant& i) { return i.is_key; }));
  }
  /// Between which instants, both keys, an instant lies.
  Mix mixOf(std::size_t instant) const;
  double interpolationError(std::size_t instant) const;
  std::optional<double> loopEnd(std::size_t clip) const {
    const auto at = loop_end_s.find(clip);
    return at == loop_end_s.end() ? std::nullopt : std::optional(at->second);
  }
  /// Vertices that are not plain linear skinning at some instant, and those left out although they
  /// are not, since their mesh instances stay within `still_m` of it.
  struct Moving {
    std::vector<std::uint32_t> vertices;
    PosedError left_out;
  };
  Moving moving(double still_m) const;
  MatrixXf gathered(std::vector<Vec3f> Instant::*stream,
                    std::span<const std::uint32_t> vertices) const;
  /// The keys' weights (one column each) at all instants.
  MatrixXf atInstants(const MatrixXf& key_weights) const;
  PosedError error(std::span<const std::uint32_t> vertices, const MatrixXf& shapes,
                   const MatrixXf& key_weights, std::span<const std::uint8_t> reachable) const;
};

void CorrectiveFitter::Data::add(const Frame& frame, bool is_key) {
  const std::size_t n = vertex_count;
  const Skin& skin = character->skin;
  DERM_REQUIRE(frame.palette.size() == skin.slots.size());
  DERM_REQUIRE(frame.wanted.positions.size() == n && frame.plain.positions.size() == n);
  const bool normals = with_normals && !frame.unskinned_normals.empty();
  DERM_REQUIRE(!normals || (frame.wanted.normals.size() == n && frame.plain.normals.size() == n &&
                            frame.unskinned_normals.size() == n));
  Instant out{.clip = frame.clip,
              .time_s = frame.time_s,
              .is_key = is_key,
              .palette = {frame.palette.begin(), frame.palette.end()}};
  out.displacements.assign(n, Vec3f::Zero());
  out.deltas.assign(n, Vec3f::Zero());
  if (with_normals) out.normal_deltas.assign(n, Vec3f::Zero());
  std::vector<std::size_t> singular((n + kVertexChunk - 1) / kVertexChunk, 0);
  parallelFor(n, kVertexChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3f added = frame.wanted.positions[v] - frame.plain.positions[v];
      const bool moved = added != Vec3f(Vec3f::Zero());
      const bool turned = normals && frame.wanted.normals[v] != frame.plain.normals[v];
      out.displacements[v] = added;
      if (!moved && !turned) continue;
      const SafeInverse inverse(blendedLinear<Mat3d>(skin, v, frame.palette));
      if (moved && inverse.near_singular) ++singular[begin / kVertexChunk];
      out.deltas[v] = (inverse.matrix * added.cast<double>()).cast<float>();
      if (!turned) continue;
      const Vec3d unskinned = frame.unskinned_normals[v].cast<double>();
      const Vec3d back = inverse.matrix * frame.wanted.normals[v].cast<double>();
      const double length = back.norm();
      if (length > 0)
        out.normal_deltas[v] = (back * (unskinned.norm() / length) - unskinned).cast<float>();
    }
  });
  for (const std::size_t count : singular) out.near_singular += count;
  const auto after = std::upper_bound(
      instants.begin(), instants.end(), out, [](const Instant& a, const Instant& b) {
        return a.clip != b.clip ? a.clip < b.clip : a.time_s < b.time_s;
      });
  DERM_REQUIRE(after == instants.begin() || std::prev(after)->clip != out.clip ||
               std::prev(after)->time_s < out.time_s);
  instants.insert(after, std::move(out));
}

Mix CorrectiveFitter::Data::mixOf(std::size_t instant) const {
  if (instants[instant].is_key) return {instant, instant, 0};
  const std::size_t clip = instants[instant].clip;
  const auto ours = [&](std::size_t i) { return i < instants.size() && instants[i].clip == clip; };
  std::size_t begin = instant;  // of the clip's instants
  while (begin > 0 && ours(begin - 1)) --begin;
  std::size_t next = instant;  // key at or after
  while (ours(next) && !instants[next].is_key) ++next;
  std::size_t last = instant;  // key before, or `begin` where there is none
  while (last > begin && !instants[last].is_key) --last;
  if (!instants[last].is_key) return {next, next, 0};
  const std::optional<double> loop_end = loopEnd(clip);
  if (!ours(next) && !loop_end) return {last, last, 0};
  std::size_t first = begin;
  while (!instants[first].is_key) ++first;
  const std::size_t to = ours(next) ? next : first;
  const double end_s = ours(next) ? instants[next].time_s : *loop_end;
  const double last_s = instants[last].time_s;
  return {last, to, (instants[instant].time_s - last_s) / (end_s - last_s)};
}

double CorrectiveFitter::Data::interpolationError(std::size_t instant) const {
  const Mix mix = mixOf(instant);
  const Instant& here = instants[instant];
  const Instant& from = instants[mix.from];
  const Instant& to = instants[mix.to];
  const auto share = static_cast<float>(mix.share);
  std::vector<float> largest((vertex_count + kVertexChunk - 1) / kVertexChunk, 0.0f);
  parallelFor(vertex_count, kVertexChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3f delta = from.deltas[v] + share * (to.deltas[v] - from.deltas[v]);
      const Mat3f linear = blendedLinear<Mat3f>(character->skin, v, here.palette);
      const Vec3f off = here.displacements[v] - linear * delta;
      largest[begin / kVertexChunk] = std::max(largest[begin / kVertexChunk], off.norm());
    }
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

CorrectiveFitter::Data::Moving CorrectiveFitter::Data::moving(double still_m) const {
  std::vector<std::uint8_t> moves(vertex_count, 0);
  parallelFor(vertex_count, kVertexChunk, [&](std::size_t begin, std::size_t end) {
    for (const Instant& i : instants)
      for (std::size_t v = begin; v < end; ++v)
        if (i.deltas[v] != Vec3f(Vec3f::Zero()) ||
            (with_normals && i.normal_deltas[v] != Vec3f(Vec3f::Zero())))
          moves[v] = 1;
  });
  Moving out;
  for (const MeshInstance& instance : character->instances) {
    const std::size_t first = instance.first_vertex, count = instance.vertex_count;
    PosedError error;
    for (const Instant& i : instants)
      for (std::size_t v = first; v < first + count; ++v) {
        const double squared = i.displacements[v].cast<double>().squaredNorm();
        double& largest = i.is_key ? error.keys_m : error.checks_m;
        largest = std::max(largest, squared);
        if (i.is_key) error.key_squares += squared;
      }
    error.keys_m = std::sqrt(error.keys_m);
    error.checks_m = std::sqrt(error.checks_m);
    if (std::max(error.keys_m, error.checks_m) > still_m) continue;
    std::fill_n(moves.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{0});
    out.left_out.add(error);
  }
  for (std::size_t v = 0; v < vertex_count; ++v)
    if (moves[v] != 0) out.vertices.push_back(static_cast<std::uint32_t>(v));
  return out;
}

/// Three rows per vertex, one column per key.
MatrixXf CorrectiveFitter::Data::gathered(std::vector<Vec3f> Instant::*stream,
                                          std::span<const std::uint32_t> vertices) const {
  std::vector<const Instant*> keys;
  for (const Instant& i : instants)
    if (i.is_key) keys.push_back(&i);
  MatrixXf out(static_cast<Eigen::Index>(3 * vertices.size()),
               static_cast<Eigen::Index>(keys.size()));
  parallelFor(keys.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t i = 0; i < vertices.size(); ++i)
        out.block<3, 1>(static_cast<Eigen::Index>(3 * i), static_cast<Eigen::Index>(k)) =
            (keys[k]->*stream)[vertices[i]];
  });
  return out;
}

MatrixXf CorrectiveFitter::Data::atInstants(const MatrixXf& key_weights) const {
  std::vector<Eigen::Index> columns(instants.size(), 0);
  Eigen::Index keys = 0;
  for (std::size_t i = 0; i < instants.size(); ++i)
    if (instants[i].is_key) columns[i] = keys++;
  MatrixXf out(key_weights.rows(), static_cast<Eigen::Index>(instants.size()));
  for (std::size_t i = 0; i < instants.size(); ++i) {
    const Mix mix = mixOf(i);
    const auto from = key_weights.col(columns[mix.from]);
    out.col(static_cast<Eigen::Index>(i)) =
        from + static_cast<float>(mix.share) * (key_weights.col(columns[mix.to]) - from);
  }
  return out;
}

/// How far the posed shapes are from the displacements, in float as an engine adds them up.
PosedError CorrectiveFitter::Data::error(std::span<const std::uint32_t> vertices,
                                         const MatrixXf& shapes, const MatrixXf& key_weights,
                                         std::span<const std::uint8_t> reachable) const {
  const MatrixXf weights = atInstants(key_weights);
  std::vector<PosedError> parts((vertices.size() + kVertexChunk - 1) / kVertexChunk);
  parallelFor(vertices.size(), kVertexChunk, [&](std::size_t begin, std::size_t end) {
    PosedError& part = parts[begin / kVertexChunk];
    const MatrixXf sum = shapes.middleRows(static_cast<Eigen::Index>(3 * begin),
                                           static_cast<Eigen::Index>(3 * (end - begin))) *
                         weights;
    for (std::size_t f = 0; f < instants.size(); ++f) {
      const Instant& instant = instants[f];
      PosedError here;
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t v = vertices[i];
        const Mat3f linear = blendedLinear<Mat3f>(character->skin, v, instant.palette);
        const Vec3f shape = sum.block<3, 1>(static_cast<Eigen::Index>(3 * (i - begin)),
                                            static_cast<Eigen::Index>(f));
        const Vec3f off = instant.displacements[v] - linear * shape;
        const double squared = off.cast<double>().squaredNorm();
        here.keys_m = std::max(here.keys_m, std::sqrt(squared));
        here.key_squares += squared;
      }
      if (!instant.is_key)
        here = {.checks_m = here.keys_m, .reachable_checks_m = reachable[f] ? here.keys_m : 0};
      part.add(here);
    }
  });
  PosedError out;
  for (const PosedError& part : parts) out.add(part);
  return out;
}

CorrectiveFitter::CorrectiveFitter(std::unique_ptr<Data> data) : data_(std::move(data)) {}
CorrectiveFitter::CorrectiveFitter(CorrectiveFitter&&) noexcept = default;
CorrectiveFitter& CorrectiveFitter::operator=(CorrectiveFitter&&) noexcept = default;
CorrectiveFitter::~CorrectiveFitter() = default;

Result<CorrectiveFitter> CorrectiveFitter::make(std::shared_ptr<const Character> character,
                                                std::size_t key_count) {
  DERM_REQUIRE(character != nullptr && key_count > 0);
  const auto failed = [](std::string message) {
    return Error{ErrorCode::Unsupported, std::move(message), {.element = "correctives"}};
  };
  if (key_count > kMaxKeys)
    return failed(std::to_string(key_count) + " frames; at most " + std::to_string(kMaxKeys) +
                  " can become shapes: shorten the range or lower the fps");
  const std::uint64_t per_instant =
      std::max<std::uint64_t>(1, character->mesh.vertexCount()) * 4 * sizeof(Vec3f);
  if (per_instant * key_count > kMaxBytes)
    return failed("need " + std::to_string(per_instant * key_count >> 20) + " MiB, more than the " +
                  std::to_string(kMaxBytes >> 20) +
                  " accepted: shorten the range or lower the fps");
  auto data = std::make_unique<Data>();
  data->with_normals = !character->mesh.normals.empty();
  data->vertex_count = character->mesh.vertexCount();
  data->max_instants = static_cast<std::size_t>(kMaxBytes / per_instant);
  data->diagonal_m = bounds(character->mesh.positions).diagonal();
  data->character = std::move(character);
  return CorrectiveFitter(std::move(data));
}

void CorrectiveFitter::addKey(const Frame& frame) { data_->add(frame, true); }
void CorrectiveFitter::addCheck(const Frame& frame) { data_->add(frame, false); }
void CorrectiveFitter::setLoopEnd(double time_s, std::size_t clip) {
  data_->loop_end_s[clip] = time_s;
}

bool CorrectiveFitter::hasRoomFor(std::size_t more) const {
  return data_->instants.size() + more <= data_->max_instants &&
         data_->keyCount() + more <= kMaxKeys;
}

std::size_t CorrectiveFitter::instantCount() const { return data_->instants.size(); }
std::size_t CorrectiveFitter::clipOf(std::size_t instant) const {
  return data_->instants[instant].clip;
}
double CorrectiveFitter::timeOf(std::size_t instant) const {
  return data_->instants[instant].time_s;
}
bool CorrectiveFitter::isKey(std::size_t instant) const { return data_->instants[instant].is_key; }
void CorrectiveFitter::turnIntoKey(std::size_t instant) { data_->instants[instant].is_key = true; }
double CorrectiveFitter::interpolationError(std::size_t instant) const {
  return data_->interpolationError(instant);
}

std::span<const Vec3f> CorrectiveFitter::displacement(std::size_t instant) const {
  return data_->instants[instant].displacements;
}

std::array<double, 2> CorrectiveFitter::gapAround(std::size_t instant) const {
  const double time_s = timeOf(instant);
  const Mix mix = data_->mixOf(instant);
  const double from_s = timeOf(mix.from), to_s = timeOf(mix.to);
  const double after_s = to_s < from_s || (mix.share > 0 && mix.from == mix.to)
                             ? *data_->loopEnd(clipOf(instant))  // on to the first key
                             : to_s;
  return {std::min(from_s, time_s), std::max(after_s, time_s)};
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

/// The best shapes for the keys, and how many of them are wanted.
struct CorrectiveFitter::Search {
  static constexpr const char* kStage = "finding shapes";

  const Data& data;
  const CorrectivesDesc& desc;
  const Progress& progress;
  Data::Moving moving;
  const std::vector<std::uint32_t>& vertices = moving.vertices;
  MatrixXf deltas;  ///< three rows per such vertex, one column per key
  FrameBasis basis;
  std::vector<std::uint8_t> reachable;  ///< per instant, whether shapes can bring it in bounds
  Eigen::Index count = 0;               ///< of the shapes
  MatrixXf shapes;
  PosedError error;

  Search(const Data& of, const CorrectivesDesc& wanted, const Progress& told)
      : data(of),
        desc(wanted),
        progress(told),
        moving(of.moving(wanted.error_m.value_or(kStill * of.diagonal_m))),
        deltas(of.gathered(&Data::Instant::deltas, vertices)),
        basis(deltas),
        reachable(of.instants.size(), 1),
        count(maxShapes()),
        shapes(deltas.rows(), count) {
    for (std::size_t i = 0; i < reachable.size(); ++i)
      if (desc.error_m && !of.instants[i].is_key)
        reachable[i] = of.interpolationError(i) <= kReachable * *desc.error_m ? 1 : 0;
  }

  /// A single shape cannot spare room for a base, whatever the signs of its weights.
  bool needsBase(const UnitWeights& unit) const {
    return unit.needBase() && !(desc.shapes && *desc.shapes == 1);
  }

  Eigen::Index maxShapes() const {
    const Eigen::Index rank = basis.rank();
    if (!desc.shapes) return rank;
    const auto max_count =
        static_cast<Eigen::Index>(std::min(*desc.shapes, static_cast<std::size_t>(rank)));
    // One of the shapes asked for may have to be the base.
    const bool fills = static_cast<std::size_t>(max_count) == *desc.shapes;
    return fills && needsBase(UnitWeights(basis.weights(max_count))) ? max_count - 1 : max_count;
  }

  void make(Eigen::Index from, Eigen::Index to) {
    addShapes(deltas, basis, from, to - from, kNoShape * data.diagonal_m, shapes);
  }

  PosedError errorOf(Eigen::Index n) const {
    const MatrixXf weights = basis.weights(n);
    const UnitWeights unit(weights);
    PosedError out = needsBase(unit) ? data.error(vertices, unit.shapes(shapes.leftCols(n)),
                                                  unit.weights(weights), reachable)
                                     : data.error(vertices, shapes.leftCols(n), weights, reachable);
    out.add(moving.left_out);
    return out;
  }

  /// Twice as many until the bound is kept or there are no more, then halving the gap: few shapes
  /// cost little.
  Result<void> keepBound(double bound_m) {
    const Error cancelled{ErrorCode::Cancelled, "cancelled", {}};
    Eigen::Index too_few = -1, enough = 0;
    while (error = errorOf(enough), error.bounded_m() > bound_m && enough < count) {
      if (!keepGoing(progress, 0.6, kStage)) return cancelled;
      too_few = enough;
      enough = std::min(std::max<Eigen::Index>(1, 2 * enough), count);
      make(too_few, enough);
    }
    while (error.bounded_m() <= bound_m && enough - too_few > 1) {
      if (!keepGoing(progress, 0.8, kStage)) return cancelled;
      const Eigen::Index middle = (enough + too_few) / 2;
      const PosedError there = errorOf(middle);
      const bool kept = there.bounded_m() <= bound_m;
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
    addShapes(data.gathered(&Data::Instant::normal_deltas, vertices), basis, 0, count, kNoTurn,
              out);
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
    for (const Data::Instant& i : data.instants)
      if (i.is_key) {
        out.clips.push_back(i.clip);
        out.times_s.push_back(i.time_s);
        out.near_singular += i.near_singular;
      }
    out.unit_weights = weights.size() == 0 || weights.minCoeff() >= 0;
    out.shapes = sparseShapes(vertices, shapes, turned);
    out.weights.assign(weights.data(), weights.data() + weights.size());
    out.max_error_m = error.keys_m;
    out.max_error_between_m = error.checks_m;
    const std::size_t samples = std::max<std::size_t>(1, data.vertex_count * out.times_s.size());
    out.rms_error_m = std::sqrt(error.key_squares / static_cast<double>(samples));
    return out;
  }
};

Result<Correctives> CorrectiveFitter::fit(const CorrectivesDesc& desc,
                                          const Progress& progress) const {
  DERM_REQUIRE(data_->keyCount() > 0);
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
