#include "derm/implicit/active_skin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "derm/base/hash.h"
#include "derm/base/number_text.h"
#include "derm/base/parallel.h"
#include "derm/implicit/build_potential.h"

#include "implicit/active_skin_impl.h"
#include "implicit/resize_tight.h"

namespace derm {
namespace {

constexpr int kMeasureEvery = 8;
constexpr int kTidyEvery = 32;
// A skin whose greatest move [voxel] is below this and that gets no slower is at rest. Lower limits
// are not always reached: the lattice leaves some thousandths of a voxel.
constexpr double kQuietMove = 3e-3;
constexpr double kNoSlower = 0.998;
constexpr int kQuietSteps = 32;
constexpr std::size_t kEdgesPerChunk = 8192;
constexpr double kMaxSettlingMove = 0.45;  // [voxel] below what a node's move is clipped to

Error badField(const char* field, const std::string& what) {
  return Error{ErrorCode::BadArgument, what, {.element = field}};
}

Result<void> notNegative(const char* field, double value) {
  if (value >= 0 && std::isfinite(value)) return {};
  return badField(field, "must be 0 or more, not " + std::to_string(value));
}

}  // namespace

Result<void> validate(const EvolutionLaw& desc) {
  DERM_CHECK(notNegative("attraction", desc.attraction));
  DERM_CHECK(notNegative("tension", desc.tension));
  DERM_CHECK(notNegative("creases", desc.creases));
  DERM_CHECK(notNegative("volume_gain", desc.volume_gain));
  DERM_CHECK(notNegative("area_gain", desc.area_gain));
  DERM_CHECK(notNegative("inertia.tension", desc.inertia.tension));
  DERM_CHECK(notNegative("inertia.stiffness", desc.inertia.stiffness));
  DERM_CHECK(notNegative("inertia.damping", desc.inertia.damping));
  DERM_CHECK(notNegative("min_body_voxels", desc.min_body_voxels));
  DERM_CHECK(notNegative("birth_depth", desc.birth_depth));
  if (!(desc.max_move > 0 && desc.max_move <= 0.9))
    return badField("max_move", "must be above 0 and at most 0.9");
  if (!(desc.reach > 0)) return badField("reach", "must be positive");
  if (desc.max_steps < 1) return badField("max_steps", "must be at least 1");
  if (desc.super_steps != 1 && desc.super_steps != 3 && desc.super_steps != 5 &&
      desc.super_steps != 8)
    return badField("super_steps", "must be 1, 3, 5 or 8, not " + std::to_string(desc.super_steps));
  return {};
}

// ----------------------------------------------------------------------------------------- steps

detail::FieldScale ActiveSkin::Impl::fieldScale(const Target& target) {
  const double h = potential.voxel_m;
  double per_metre = law.raw_field ? 1 : target.slope();
  if (!(target.slope() > 0) && steps_to_measure-- <= 0) {
    const double now = detail::measuredSlope(potential, stepper.index(), target);
    if (now > 0) slope = slope > 0 ? 0.8 * slope + 0.2 * now : now;
    steps_to_measure = kMeasureEvery;
  } else if (target.slope() > 0) {
    slope = target.slope();
  }
  if (!(per_metre > 0)) per_metre = slope > 0 ? slope : 1;
  return {static_cast<float>(target.iso()), static_cast<float>(1 / (per_metre * h)),
          static_cast<float>(std::min(law.reach, 1e6))};
}

double ActiveSkin::Impl::stableStep() const {
  // Normalised fields have slope 1; the quantile of a raw one is raised to cover its steepest
  // parts.
  const double field_slope = law.raw_field ? std::max(1.0, 1.2 * slope) : 1.0;
  const double rate =
      2 * law.attraction * field_slope + 4 * (tensionPerVoxel() + law.creases * law.attraction);
  return rate > 0 ? 0.9 / rate : std::numeric_limits<double>::infinity();
}

void ActiveSkin::Impl::prepareEdges(const Target& target, bool curvature) {
  stepper.prepare(potential.grid);
  // Last step's speeds are done with; their room is taken for distances.
  if (edges.distance.capacity() < speeds.capacity()) edges.distance.swap(speeds);
  sampleEdges(potential, stepper, target, fieldScale(target), curvature, edges);
}

void ActiveSkin::Impl::findSpeeds(SkinStep& report) {
  struct Sums {
    double residual = 0, speed = 0;
    float max_residual = 0, max_speed = 0;
    Sums& operator+=(const Sums& o) {
      residual += o.residual;
      speed += o.speed;
      max_residual = std::max(max_residual, o.max_residual);
      max_speed = std::max(max_speed, o.max_speed);
      return *this;
    }
  };
  const std::size_t n = edges.distance.size();
  speeds.swap(edges.distance);  // in place: the distance is needed no more
  const float alpha = static_cast<float>(law.attraction);
  const float beta = static_cast<float>(tensionPerVoxel());
  const bool bends = !edges.curvature.empty();
  constexpr float kSharp = 0.3f;  // [1/voxel] a valley three voxels round: what a lattice can show
  const float crease = bends ? static_cast<float>(law.creases * law.attraction) : 0.0f;
  const Sums sums = deterministicSum<Sums>(n, [&](std::size_t begin, std::size_t end) {
    Sums part;
    for (std::size_t i = begin; i < end; ++i) {
      const float d = speeds[i];
      float s = alpha * d - (bends ? beta * edges.curvature[i] : 0.0f);
      if (crease > 0) s -= crease * std::min(0.0f, edges.curvature[i] + kSharp);
      speeds[i] = s;
      part.residual += std::abs(d);
      part.speed += std::abs(s);
      part.max_residual = std::max(part.max_residual, std::abs(d));
      part.max_speed = std::max(part.max_speed, std::abs(s));
    }
    return part;
  });
  const double h = potential.voxel_m;
  report.edge_points = static_cast<std::uint32_t>(n);
  report.residual_mean = n > 0 ? h * sums.residual / static_cast<double>(n) : 0;
  report.residual_max = h * double{sums.max_residual};
  mean_speed = n > 0 ? sums.speed / static_cast<double>(n) : 0;
  report.max_speed = h * double{sums.max_speed};
}

void ActiveSkin::Impl::addCarriedSpeeds(const Target& target, SkinStep& report) {
  const double h = potential.voxel_m;
  const BlockCoord& r = surface.reference;
  const Vec3d corner = potential.nodePosition(8 * r.x, 8 * r.y, 8 * r.z);
  detail::resizeTight(carried, speeds.size());
  struct Max {
    float speed = 0;
    Max& operator+=(const Max& o) {
      speed = std::max(speed, o.speed);
      return *this;
    }
  };
  const Max max = deterministicSum<Max>(speeds.size(), [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t kRun = 128;
    float x[kRun], y[kRun], z[kRun];
    Max part;
    for (std::size_t first = begin; first < end; first += kRun) {
      const std::size_t n = std::min(kRun, end - first);
      for (std::size_t i = 0; i < n; ++i) {
        const Vec3f p = static_cast<float>(h) * surface.points[first + i];
        x[i] = p.x();
        y[i] = p.y();
        z[i] = p.z();
      }
      target.sampleVelocity({corner, {x, n}, {y, n}, {z, n}}, {carried.data() + first, n});
      for (std::size_t i = first; i < first + n; ++i) {
        const float s = carried[i].dot(surface.normals[i]) / static_cast<float>(h);
        if (std::isfinite(s)) speeds[i] += s;
        part.speed = std::max(part.speed, std::abs(speeds[i]));
      }
    }
    return part;
  });
  report.max_speed = h * double{max.speed};
}

void ActiveSkin::Impl::watchBodies(bool normals) {
  polygoniseLattice(potential.grid, stepper.index(), normals, surface);
  tracker.update(potential.grid, stepper.index(), surface, time_s, law);
  fitWantedTotal();
}

void ActiveSkin::Impl::fitWantedTotal() {
  if (!(wanted_total > 0)) return;
  double held = 0, lost = 0;
  for (const detail::TrackedBody& b : tracker.bodies())
    (b.abandoned ? lost : held) += b.abandoned ? b.volume : b.wanted_volume;
  if (held > 0) volume_scale = std::max(0.0, wanted_total - lost) / held;
}

void ActiveSkin::Impl::applyMoves(double dt_s, double reference_dt_s) {
  const std::vector<Offset> offsets = holdOffsets(dt_s, reference_dt_s);
  const std::span<const std::uint32_t> body = tracker.bodyOfPoint();
  const float dt = static_cast<float>(dt_s);
  parallelFor(speeds.size(), kEdgesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float s = speeds[i];
      if (!offsets.empty()) {
        const Offset& o = offsets[body[i]];
        s += o.constant;
        if (o.per_curvature != 0) s += o.per_curvature * edges.curvature[i];
      }
      speeds[i] = dt * s;
    }
  });
}

void ActiveSkin::Impl::nodeWiseMoves(const Target& target, double dt_s) {
  sampleNearNodes(potential, stepper, target, fieldScale(target), node_moves);
  const float alpha = static_cast<float>(law.attraction * dt_s);
  const float beta = static_cast<float>(tensionPerVoxel() * dt_s);
  if (beta > 0) stepper.findCurvature(potential.grid, node_scratch);
  for (const std::uint32_t slot : potential.grid.order()) {
    const float* kappa = node_scratch.data() + slot * BandGrid::kNodes;
    float* move = node_moves.data() + slot * BandGrid::kNodes;
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const int node = 64 * z + bit;
        move[node] = alpha * move[node] - (beta > 0 ? beta * kappa[node] : 0.0f);
      });
  }
}

SkinStep ActiveSkin::Impl::eulerStep(const Target& target, double dt_s, double reference_dt_s,
                                     bool shorten) {
  const bool curvature = law.tension > 0 || law.creases > 0 || law.area == Hold::Exact;
  SkinStep report;
  prepareEdges(target, curvature);
  if (tracksBodies()) {
    watchBodies(target.moves());
    if (removeSpecks()) {
      prepareEdges(target, curvature);
      watchBodies(target.moves());
    }
  } else if (target.moves()) {
    polygoniseLattice(potential.grid, stepper.index(), true, surface);
  }
  findSpeeds(report);
  if (target.moves()) addCarriedSpeeds(target, report);
  const double max_speed = report.max_speed / potential.voxel_m;
  if (shorten && max_speed * dt_s > law.max_move) dt_s = law.max_move / max_speed;
  report.dt_s = dt_s;
  time_s += dt_s;
  const bool held = law.volume != Hold::No || law.area != Hold::No;
  // Judged by the stable step: a caller's short ones must not put a slow skin to sleep.
  const bool quiet =
      !held && max_speed * stableStep() < kQuietMove && mean_speed >= kNoSlower * last_mean_speed;
  // Asleep nothing changes, so what woke it up must show in the greatest move.
  const bool still_asleep = quiet_steps > kQuietSteps && max_speed * stableStep() < kQuietMove;
  quiet_steps = quiet || still_asleep ? quiet_steps + 1 : 0;
  last_mean_speed = mean_speed;
  if (quiet_steps > kQuietSteps) {
    report.asleep = true;
    return report;
  }
  if (law.evaluation == Evaluation::Nodes) {
    nodeWiseMoves(target, dt_s);
    stepper.advanceNodes(potential.grid, node_moves, {});
    return report;
  }
  applyMoves(dt_s, shorten ? dt_s : reference_dt_s);
  stepper.advance(potential.grid, speeds, {});
  return report;
}

void ActiveSkin::Impl::tidyBlocks() {
  if (steps_to_tidy-- > 0) return;
  steps_to_tidy = kTidyEvery;
  if (!potential.grid.scattered()) return;
  const std::vector<std::uint32_t> was = potential.grid.compact();
  tracker.renumberSlots(was);
  detail::renumberBlocks(velocities, BandGrid::kNodes, was);
  detail::renumberBlocks(moving_words, 1, was);
}

/// Sub-steps whose lengths let errors of stiff tension cancel (Alexiades, Amiez, Gremaud 1996), in
/// an order that keeps sums of neighbours small.
SkinStep ActiveSkin::Impl::superStep(const Target& target, double max_s) {
  constexpr double kDamping = 0.05;
  const int n = law.super_steps;
  double relative[8], total = 0;
  for (int j = 0; j < n; ++j) {
    relative[j] =
        1 / ((kDamping - 1) * std::cos((2 * j + 1) * std::numbers::pi / (2 * n)) + 1 + kDamping);
    total += relative[j];
  }
  const double unit = std::min(stableStep(), max_s / total);
  const int stride = n == 8 ? 3 : 2;
  SkinStep last;
  double passed = 0;
  for (int k = 0, j = 0; k < n; ++k, j = (j + stride) % n) {
    last = eulerStep(target, unit * relative[j], unit * total / n, false);
    passed += last.dt_s;
  }
  last.dt_s = passed;
  return last;
}

Result<void> ActiveSkin::Impl::checkStepCount(const SkinStep& last, int taken,
                                              double left_s) const {
  const double usual = law.inertia.on ? inertialStableStep() : stableStep();
  const double stable_steps = left_s / (usual * (law.super_steps > 1 ? 2 : 1));
  const std::string allowed = ", and max_steps allows " + std::to_string(law.max_steps);
  if (taken + stable_steps > law.max_steps) {
    const bool tense = 4 * tensionPerVoxel() > 2 * law.attraction;
    return badField(law.inertia.on ? "inertia"
                    : tense        ? "tension"
                                   : "attraction",
                    "is so strong that stable steps are " + shortNumber(usual, 3) +
                        " s long: " + shortNumber(left_s, 3) + " s take " +
                        shortNumber(stable_steps, 3) + " of them" + allowed);
  }
  // A few short steps at the start say nothing yet.
  constexpr int kEnoughToJudge = 64;
  if (taken < std::min(kEnoughToJudge, law.max_steps)) return {};
  const double needed = taken + left_s / last.dt_s;
  if (needed <= law.max_steps) return {};
  return badField("target", "it moves the skin at " + shortNumber(last.max_speed, 3) + " m/s, " +
                                shortNumber(last.max_speed / potential.voxel_m * left_s, 3) +
                                " voxels within the " + shortNumber(left_s, 3) +
                                " s left: that takes " + shortNumber(needed, 3) + " steps" +
                                allowed);
}

// ------------------------------------------------------------------------------------------- API

ActiveSkin::ActiveSkin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ActiveSkin::~ActiveSkin() = default;
ActiveSkin::ActiveSkin(ActiveSkin&&) noexcept = default;
ActiveSkin& ActiveSkin::operator=(ActiveSkin&&) noexcept = default;

Result<ActiveSkin> ActiveSkin::make(Potential start, const EvolutionLaw& law) {
  DERM_CHECK(validate(law));
  auto impl = std::make_unique<Impl>();
  impl->potential = std::move(start);
  impl->law = law;
  if (impl->tracksBodies()) {
    impl->stepper.prepare(impl->potential.grid);
    impl->watchBodies(false);
  }
  return ActiveSkin(std::move(impl));
}

SkinStep ActiveSkin::step(const Target& target, double max_s) {
  DERM_REQUIRE(max_s >= 0);
  Impl& s = *impl_;
  s.tidyBlocks();
  if (s.law.inertia.on) return s.inertialStep(target, max_s);
  if (s.slope == 0 && s.law.raw_field) {  // the step depends on it
    s.stepper.prepare(s.potential.grid);
    s.fieldScale(target);
  }
  if (s.law.super_steps > 1) return s.superStep(target, max_s);
  const double dt_s = std::min(s.stableStep(), max_s);
  return s.eulerStep(target, dt_s, dt_s, true);
}

Result<SkinStep> ActiveSkin::advance(const Target& target, double seconds) {
  Impl& s = *impl_;
  if (!(seconds >= 0) || !std::isfinite(seconds))
    return badField("seconds", "must be 0 or more, not " + std::to_string(seconds));
  const Box3d box = target.bounds();
  if (box.empty()) return badField("target", "is empty: it has no inside");
  if (!box.finite()) return badField("target", "has bounds that are not finite");
  if (s.law.births) s.plantSeeds(target);
  SkinStep last;
  double left = seconds;
  for (int taken = 0; left > 1e-9 * seconds; ++taken) {
    DERM_CHECK(s.checkStepCount(last, taken, left));
    if (s.potential.grid.blockCount() == 0)
      return badField("target",
                      "does not overlap the skin, so the skin has vanished; targets with seeds "
                      "let it be born again, where they are deep enough");
    if (s.potential.grid.blockCount() * skinBytesPerBlock() > s.law.max_memory)
      return badField("max_memory", "the band has grown beyond the " +
                                        std::to_string(s.law.max_memory >> 20) + " MB allowed");
    // Equal steps, so that the last is not a sliver.
    const double usual = s.law.inertia.on ? s.inertialStableStep() : s.stableStep();
    const double steps = std::ceil(left / usual - 1e-9);
    const double max = s.law.super_steps > 1 || !(steps > 1) ? left : left / steps;
    last = step(target, max);
    left -= last.dt_s;
  }
  return last;
}

double ActiveSkin::time_s() const { return impl_->time_s; }
const Potential& ActiveSkin::potential() const { return impl_->potential; }
const EvolutionLaw& ActiveSkin::law() const { return impl_->law; }

Result<void> ActiveSkin::setLaw(const EvolutionLaw& law) {
  DERM_CHECK(validate(law));
  impl_->law = law;
  impl_->quiet_steps = 0;
  return {};
}

std::vector<Body> ActiveSkin::bodies() const {
  const double h = impl_->potential.voxel_m, h2 = h * h, h3 = h2 * h;
  std::vector<Body> bodies;
  for (const detail::TrackedBody& b : impl_->tracker.bodies())
    bodies.push_back({b.id, b.volume * h3, b.column_volume * h3, b.area * h2, b.euler_number,
                      b.cavities, b.wanted_volume * impl_->volume_scale * h3,
                      b.wanted_area * impl_->area_scale * h2});
  return bodies;
}

void ActiveSkin::setWantedScale(double volume_scale, double area_scale) {
  impl_->volume_scale = volume_scale;
  impl_->wanted_total = 0;
  impl_->area_scale = area_scale;
}

void ActiveSkin::setWantedVolume(double total) {
  const double h = impl_->potential.voxel_m;
  if (!(total > 0 && std::isfinite(total))) return;
  impl_->wanted_total = total / (h * h * h);
  impl_->fitWantedTotal();
}

double ActiveSkin::settleVolume() {
  Impl& s = *impl_;
  if (s.law.volume != Hold::Exact) return 0;
  constexpr int kMaxMoves = 16;
  constexpr double kClose = 1e-6;
  double off = 0;
  for (int i = 0;; ++i) {
    s.stepper.prepare(s.potential.grid);
    s.watchBodies(false);
    const std::span<const detail::TrackedBody> bodies = s.tracker.bodies();
    double wanted = 0, now = 0, farthest = 0;
    std::vector<float> moves(bodies.size(), 0);  // [voxel]
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const double aim =
          bodies[b].abandoned ? bodies[b].volume : s.volume_scale * bodies[b].wanted_volume;
      wanted += aim;
      now += bodies[b].volume;
      if (!(bodies[b].area > 0)) continue;
      moves[b] = static_cast<float>(std::clamp((aim - bodies[b].volume) / bodies[b].area,
                                               -kMaxSettlingMove, kMaxSettlingMove));
      farthest = std::max(farthest, std::abs(aim / bodies[b].volume - 1));
    }
    off = wanted > 0 ? std::abs(now / wanted - 1) : 0;
    if (farthest < kClose || i == kMaxMoves) return off;
    const std::span<const std::uint32_t> body = s.tracker.bodyOfPoint();
    detail::resizeTight(s.speeds, body.size());
    for (std::size_t e = 0; e < body.size(); ++e) s.speeds[e] = moves[body[e]];
    s.stepper.advance(s.potential.grid, s.speeds, {});
  }
}

const std::vector<SkinEvent>& ActiveSkin::events() const { return impl_->tracker.events(); }
void ActiveSkin::clearEvents() { impl_->tracker.clearEvents(); }

void ActiveSkin::polygonise(TriMesh& out, bool normals) {
  impl_->polygoniser.run(impl_->potential, out, normals);
}

void ActiveSkin::polygonise(const Target& target, TriMesh& out, std::vector<Vec3f>& velocities) {
  Impl& s = *impl_;
  polygonise(out);
  // Vertices are edge points, in the same order.
  s.prepareEdges(target, s.law.tension > 0);
  SkinStep report;
  s.findSpeeds(report);
  velocities.resize(out.vertexCount());
  for (std::size_t v = 0; v < velocities.size(); ++v)
    velocities[v] = static_cast<float>(s.potential.voxel_m) * s.speeds[v] * out.normals[v];
}

std::uint64_t ActiveSkin::stateHash() const {
  Hash64 hash;
  const BandGrid& grid = impl_->potential.grid;
  for (const std::uint32_t slot : grid.order()) {
    hash.add(grid.coord(slot).key());
    hash.addBytes(grid.values(slot), BandGrid::kNodes * sizeof(float));
  }
  for (const detail::TrackedBody& b : impl_->tracker.bodies()) {
    hash.add(b.id);
    hash.add(b.wanted_volume);
    hash.add(b.volume_integral);
  }
  hash.add(impl_->time_s);
  return hash.value();
}

std::size_t ActiveSkin::memoryBytes() const {
  return blockBytes() + impl_->edges.memoryBytes() +
         (impl_->speeds.capacity() + impl_->forces.capacity()) * sizeof(float) +
         impl_->carried.capacity() * sizeof(Vec3f) + impl_->surface.memoryBytes() +
         impl_->tracker.memoryBytes();
}

std::size_t ActiveSkin::blockBytes() const {
  const Impl& s = *impl_;
  return s.potential.grid.memoryBytes() + s.stepper.memoryBytes() + s.tracker.blockBytes() +
         (s.node_moves.capacity() + s.velocities.capacity() + s.node_scratch.capacity()) *
             sizeof(float) +
         s.moving_words.capacity() * sizeof(BandGrid::Words);
}

}  // namespace derm
