#include "derm/track/marker_tracker.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "derm/base/number_text.h"

#include "track/marker_patches.h"

namespace derm {
namespace {

using detail::MarkerPatches;
using detail::PlaneMap;
using detail::Point2;
namespace vision = detail::vision;

using Seconds = std::chrono::duration<double>;

/// A marker that was lost must look more like itself than one that was followed.
constexpr double kFoundLikeness = 0.75;
/// [px] what registering with the first frame may move a marker by in a frame, in windows.
constexpr double kMaxAnchorMove = 0.2;

/// Two markers nearer to each other than so many windows are followed as one.
constexpr double kPairReach = 0.9;
constexpr double kPairLikeness = 0.8;
constexpr double kPairSure = 0.94;  ///< no other place needs to be tried
constexpr double kPairSearch = 0.6;
constexpr double kPairApart = 0.7;  ///< windows between two that are certainly not one

class Pyramid {
 public:
  explicit Pyramid(const vision::Functions* library)
      : library_(library), pyramid_(library->makePyramid()) {}
  ~Pyramid() { library_->freePyramid(pyramid_); }
  Pyramid(const Pyramid&) = delete;
  Pyramid& operator=(const Pyramid&) = delete;
  void* get() const { return pyramid_; }
  void swap(Pyramid& other) { std::swap(pyramid_, other.pyramid_); }

 private:
  const vision::Functions* library_;
  void* pyramid_;
};

Error bad(std::string message, std::string element = {}) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
}

std::string number(double value) { return shortNumber(value, 6); }

}  // namespace

Result<void> validate(const MarkerTrackerDesc& desc) {
  const auto range = [](double value, double low, double high) {
    return value >= low && value <= high;
  };
  if (!range(desc.window_px, 5, 63) || desc.window_px % 2 == 0)
    return bad("must be an odd number from 5 to 63", "window_px");
  if (!range(desc.levels, 0, 8)) return bad("must be 0 to 8", "levels");
  if (!(desc.max_return_px > 0 && desc.max_return_px <= 100))
    return bad("must be above 0 and at most 100 pixels", "max_return_px");
  if (!range(desc.min_likeness, 0, 1)) return bad("must be 0 to 1", "min_likeness");
  if (!(desc.max_leave > 0 && desc.max_leave <= 10))
    return bad("must be above 0 and at most 10", "max_leave");
  if (!range(desc.give_up_frames, 1, 100000)) return bad("must be 1 to 100000", "give_up_frames");
  return {};
}

struct MarkerTracker::Impl {
  Impl(const vision::Functions* functions, const MarkerTrackerDesc& d, const Grey8Image& frame,
       std::vector<Point2> positions)
      : library(functions),
        desc(d),
        width(frame.width),
        height(frame.height),
        first(std::move(positions)),
        group(first),
        patches(frame, first, d.window_px),
        before(functions),
        now(functions) {
    flow_desc.window = desc.window_px;
    flow_desc.levels = desc.levels;
  }

  std::size_t markers() const { return first.size(); }
  const vision::Functions* library;
  MarkerTrackerDesc desc;
  vision::FlowDesc flow_desc;
  int width, height;
  std::vector<Point2> first;
  detail::MarkerGroup group;
  MarkerPatches patches;
  Pyramid before, now;

  PointTracks all;
  std::vector<std::size_t> seen_at;  ///< the last frame with the marker
  std::size_t last_seen = 0;         ///< the last frame with any
  std::optional<std::size_t> lost_at;
  double seconds = 0;
  double library_s = 0;

  // Scratch of a frame.
  std::vector<Point2> was, is;
  std::vector<std::uint8_t> seen, paired;
  std::vector<std::size_t> followed;
  std::vector<float> from, to, back;
  std::vector<std::uint8_t> found, returned;
  std::vector<MarkerPatches::Candidate> candidates;
  std::vector<double> likeness;

  template <class Call>
  Result<void> timed(Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    const int failed = call();
    library_s += Seconds(std::chrono::steady_clock::now() - start).count();
    if (failed != 0)
      return Error{ErrorCode::BadData, std::string("OpenCV: ") + library->lastError(), {}};
    return {};
  }
  Result<void> fill(Pyramid& pyramid, const Grey8Image& frame) {
    const vision::GreyView view{frame.pixels.data(), frame.width, frame.height, frame.width};
    return timed([&] { return library->fillPyramid(pyramid.get(), &view, &flow_desc); });
  }

  /// From the frame before, there and back. Leaves in `seen` those that came back.
  Result<void> follow() {
    followed.clear();
    from.clear();
    const std::size_t last = all.times_s.size() - 1;
    for (std::size_t i = 0; i < markers(); ++i) {
      seen[i] = 0;
      is[i] = was[i];
      if (seen_at[i] != last) continue;
      followed.push_back(i);
      from.push_back(static_cast<float>(was[i].x()));
      from.push_back(static_cast<float>(was[i].y()));
    }
    const int n = static_cast<int>(followed.size());
    if (n == 0) return {};
    to = from;
    back = from;
    found.assign(followed.size(), 0);
    returned.assign(followed.size(), 0);
    DERM_CHECK(timed([&] {
      return library->flow(before.get(), now.get(), from.data(), to.data(), found.data(), n,
                           &flow_desc);
    }));
    DERM_CHECK(timed([&] {
      return library->flow(now.get(), before.get(), to.data(), back.data(), returned.data(), n,
                           &flow_desc);
    }));
    for (std::size_t k = 0; k < followed.size(); ++k) {
      const float dx = back[2 * k] - from[2 * k], dy = back[2 * k + 1] - from[2 * k + 1];
      const Point2 p(static_cast<double>(to[2 * k]), static_cast<double>(to[2 * k + 1]));
      if (found[k] == 0 || returned[k] == 0 || !inside(p)) continue;
      if (static_cast<double>(std::hypot(dx, dy)) > desc.max_return_px) continue;
      seen[followed[k]] = 1;
      is[followed[k]] = p;
    }
    return {};
  }

  bool inside(const Point2& p) const {
    return p.x() >= 0 && p.y() >= 0 && p.x() <= width - 1 && p.y() <= height - 1;
  }

  /// Takes those out that leave their neighbours.
  void holdTogether() {
    std::vector<std::uint8_t>& left = found;
    left.assign(markers(), 0);
    for (std::size_t i = 0; i < markers(); ++i) {
      PlaneMap map;
      if (seen[i] == 0 || !group.motion(i, was, is, seen, map)) continue;
      const double allowed = std::max(2.0, desc.max_leave * group.spacing(i));
      left[i] = (map(was[i]) - is[i]).norm() > allowed;
    }
    for (std::size_t i = 0; i < markers(); ++i)
      if (left[i] != 0) seen[i] = 0;
  }

  Eigen::Matrix2d warpOf(std::size_t i) const {
    PlaneMap map;
    if (!group.motion(i, first, is, seen, map)) return Eigen::Matrix2d::Identity();
    return map.linear;
  }

  /// Where the neighbours put those that are not seen.
  void moveLost() {
    for (std::size_t i = 0; i < markers(); ++i) {
      PlaneMap map;
      if (seen[i] != 0) continue;
      is[i] = group.motion(i, was, is, seen, map) ? map(was[i]) : was[i];
      // Small errors of every frame multiply: lost for minutes, it would drift away without end.
      is[i] = is[i].cwiseMax(Point2(-width, -height)).cwiseMin(Point2(2 * width, 2 * height));
    }
  }

  /// Markers that come so near to each other that each is in the other's square, as those of lids
  /// that close: followed one by one, they would stick to each other or be lost.
  Result<void> followPairs(const Grey8Image& frame) {
    paired.assign(markers(), 0);
    const double near = kPairReach * desc.window_px;
    for (std::size_t i = 0; i < markers(); ++i)
      for (std::size_t j = i + 1; j < markers(); ++j) {
        if (paired[i] != 0 || paired[j] != 0) continue;
        if ((first[i] - first[j]).norm() < 1.4 * near) continue;
        if (std::min((is[i] - is[j]).norm(), (was[i] - was[j]).norm()) > near) continue;
        MarkerPatches::Candidate best_a, best_b;
        const auto attempt = [&](const Point2& at_i, const Point2& at_j) -> Result<void> {
          MarkerPatches::Candidate pair[2] = {{i, warpOf(i), at_i}, {j, warpOf(j), at_j}};
          patches.registerPair(frame, pair[0], pair[1]);
          if (pair[0].likeness > best_a.likeness) best_a = pair[0], best_b = pair[1];
          // Two on one dot may look better than two far apart, with all the skin between them. Two
          // that are each on a dot of their own are right all the same.
          const auto apart = [&](const Point2& p, const Point2& q) {
            return (p - q).norm() > kPairApart * desc.window_px;
          };
          if (!apart(pair[0].position, pair[1].position) || apart(best_a.position, best_b.position))
            return {};
          DERM_CHECK(patches.registerAll(*library, frame, pair));
          if (std::min(pair[0].likeness, pair[1].likeness) < kFoundLikeness ||
              std::max(pair[0].moved, pair[1].moved) > 2 ||
              !apart(pair[0].position, pair[1].position))
            return {};
          best_a = pair[0], best_b = pair[1];
          best_a.likeness = best_b.likeness = std::max(pair[0].likeness, pair[1].likeness);
          return {};
        };
        // From where they were followed to; where that does not look right, from where they go with
        // their neighbours, from where those would have them since the first frame (two that stuck
        // to one dot come apart so), and, if one is lost, from the dot nearest to both.
        DERM_CHECK(attempt(is[i], is[j]));
        if (best_a.likeness < kPairSure) {
          PlaneMap step_i, step_j, all_i, all_j;
          if (group.motion(i, was, is, seen, step_i) && group.motion(j, was, is, seen, step_j))
            DERM_CHECK(attempt(step_i(was[i]), step_j(was[j])));
          if (group.motion(i, first, is, seen, all_i) && group.motion(j, first, is, seen, all_j)) {
            DERM_CHECK(attempt(is[i], all_j(first[j])));
            DERM_CHECK(attempt(all_i(first[i]), is[j]));
          }
        }
        if (best_a.likeness < kPairSure && (seen[i] == 0 || seen[j] == 0)) {
          MarkerPatches::Candidate dot{j, warpOf(j), 0.5 * (is[i] + is[j])};
          DERM_CHECK(patches.search(*library, frame, static_cast<int>(near), dot));
          const Point2 apart = (first[i] - first[j]).normalized();
          if (dot.likeness > kPairSearch)
            DERM_CHECK(attempt(dot.position + apart, dot.position - apart));
        }
        if (best_a.likeness < kPairLikeness || !inside(best_a.position) ||
            !inside(best_b.position) || std::max(best_a.moved, best_b.moved) > 0.6 * desc.window_px)
          continue;
        // Lids meet and do not pass through each other.
        const Point2 apart = was[i] - was[j];
        if ((best_a.position - best_b.position).dot(apart) < 0)
          best_a.position = best_b.position = 0.5 * (best_a.position + best_b.position);
        foundAt(best_a);
        foundAt(best_b);
        paired[i] = paired[j] = 1;
      }
    return {};
  }

  /// A marker is seen here. What its neighbours' motion was off by, if it was lost, grew with the
  /// gap.
  void foundAt(const MarkerPatches::Candidate& c) {
    const std::size_t i = c.marker, index = all.times_s.size(), gap_from = seen_at[i];
    const Point2 off = c.position - is[i];
    for (std::size_t f = gap_from + 1; f < index; ++f) {
      const double share =
          static_cast<double>(f - gap_from) / static_cast<double>(index - gap_from);
      all.positions[f * markers() + i] += Vec3d(share * off.x(), share * off.y(), 0);
    }
    seen[i] = 1;
    is[i] = c.position;
    likeness[i] = c.likeness;
  }

  /// Puts markers back to where the first frame says, and takes those out that look otherwise.
  Result<void> anchor(const Grey8Image& frame) {
    candidates.clear();
    for (std::size_t i = 0; i < markers(); ++i)
      if (seen[i] != 0 && paired[i] == 0) candidates.push_back({i, warpOf(i), is[i]});
    DERM_CHECK(patches.registerAll(*library, frame, candidates));
    const double farthest = std::max(1.5, kMaxAnchorMove * desc.window_px);
    for (const MarkerPatches::Candidate& c : candidates) {
      const bool good =
          c.likeness >= desc.min_likeness && c.moved <= farthest && inside(c.position);
      seen[c.marker] = good;
      if (!good) continue;
      is[c.marker] = c.position;
      likeness[c.marker] = c.likeness;
    }
    return {};
  }

  /// Lost ones go with their neighbours, and are looked for there.
  Result<void> recover(const Grey8Image& frame) {
    const std::size_t index = all.times_s.size();
    candidates.clear();
    moveLost();
    for (std::size_t i = 0; i < markers(); ++i) {
      if (seen[i] != 0) continue;
      const double gone = static_cast<double>(index - seen_at[i]);
      const double reach = std::min(3.0 + 2.0 * gone + 0.1 * group.spacing(i),
                                    std::max(6.0, 0.45 * group.spacing(i)));
      MarkerPatches::Candidate c{i, warpOf(i), is[i]};
      DERM_CHECK(patches.search(*library, frame,
                                static_cast<int>(std::clamp(std::ceil(reach), 4.0, 64.0)), c));
      if (c.likeness >= kFoundLikeness) candidates.push_back(c);
    }
    DERM_CHECK(patches.registerAll(*library, frame, candidates));
    for (const MarkerPatches::Candidate& c : candidates) {
      const std::size_t i = c.marker;
      if (c.likeness < std::max(desc.min_likeness, kFoundLikeness) || c.moved > 2 ||
          !inside(c.position) || taken(i, c.position))
        continue;
      foundAt(c);
    }
    return {};
  }

  /// Whether another marker that is seen is there already.
  bool taken(std::size_t i, const Point2& p) const {
    for (std::size_t j = 0; j < markers(); ++j)
      if (j != i && seen[j] != 0 && (is[j] - p).norm() < 0.3 * (first[j] - first[i]).norm())
        return true;
    return false;
  }

  void keep(double time_s) {
    const std::size_t index = all.times_s.size();
    all.times_s.push_back(time_s);
    bool any = false;
    for (std::size_t i = 0; i < markers(); ++i) {
      all.positions.push_back(Vec3d(is[i].x(), is[i].y(), 0));
      all.confidence.push_back(seen[i] != 0 ? static_cast<float>(std::clamp(likeness[i], 0.01, 1.0))
                                            : 0.0f);
      if (seen[i] == 0) continue;
      seen_at[i] = index;
      any = true;
    }
    if (any) last_seen = index;
    if (index - last_seen >= static_cast<std::size_t>(desc.give_up_frames)) lost_at = last_seen + 1;
  }
};

MarkerTracker::MarkerTracker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MarkerTracker::~MarkerTracker() = default;
MarkerTracker::MarkerTracker(MarkerTracker&&) noexcept = default;
MarkerTracker& MarkerTracker::operator=(MarkerTracker&&) noexcept = default;

Result<MarkerTracker> MarkerTracker::start(const Grey8Image& first, double time_s,
                                           std::span<const Marker> markers,
                                           const MarkerTrackerDesc& desc) {
  DERM_CHECK(validate(desc));
  if (first.width < desc.window_px || first.height < desc.window_px)
    return bad("a picture of " + std::to_string(first.width) + "x" + std::to_string(first.height) +
               " pixels is smaller than the window of " + std::to_string(desc.window_px));
  DERM_REQUIRE(first.pixels.size() ==
               static_cast<std::size_t>(first.width) * static_cast<std::size_t>(first.height));
  if (!std::isfinite(time_s)) return bad("the first frame's time is not a number");
  if (markers.empty()) return bad("no markers to track");
  std::vector<Point2> positions;
  std::string outside;
  std::size_t outside_count = 0;
  for (const Marker& m : markers) {
    const Point2 p(m.position.x(), m.position.y());
    const bool in = p.x() >= 0 && p.y() >= 0 && p.x() <= first.width - 1 &&
                    p.y() <= first.height - 1;  // false for nan, too
    if (!in) {
      outside += (outside.empty() ? "\"" : ", \"") + m.label + "\" (" + number(p.x()) + ", " +
                 number(p.y()) + ")";
      ++outside_count;
    }
    positions.push_back(p);
  }
  if (outside_count > 0)
    return bad("outside the picture of " + std::to_string(first.width) + "x" +
                   std::to_string(first.height) + " pixels: " + outside,
               outside_count == 1 ? "marker" : "markers");
  DERM_TRY(const vision::Functions* library, vision::functions());

  auto impl = std::make_unique<Impl>(library, desc, first, std::move(positions));
  impl->all.space = TrackSpace::Picture;
  impl->all.times_s.push_back(time_s);
  for (const Marker& m : markers) {
    impl->all.labels.push_back(m.label);
    impl->all.neutral.push_back(Vec3d(m.position.x(), m.position.y(), 0));
  }
  impl->all.positions = impl->all.neutral;
  impl->all.confidence.assign(markers.size(), 1.0f);
  DERM_CHECK(derm::validate(impl->all, "markers"));
  impl->seen_at.assign(markers.size(), 0);
  impl->was.resize(markers.size());
  impl->is.resize(markers.size());
  impl->seen.assign(markers.size(), 1);
  impl->likeness.assign(markers.size(), 1.0);
  DERM_CHECK(impl->fill(impl->before, first));
  impl->library_s = 0;  // of add() alone
  return MarkerTracker(std::move(impl));
}

Result<bool> MarkerTracker::add(const Grey8Image& frame, double time_s) {
  Impl& m = *impl_;
  if (m.lost_at) return false;
  const std::size_t index = m.all.times_s.size();
  if (frame.width != m.width || frame.height != m.height)
    return Error{ErrorCode::BadData,
                 std::to_string(frame.width) + "x" + std::to_string(frame.height) +
                     " pixels; the first has " + std::to_string(m.width) + "x" +
                     std::to_string(m.height),
                 {.element = "frame", .index = index}};
  if (!(time_s > m.all.times_s.back()) || !std::isfinite(time_s))
    return Error{
        ErrorCode::BadData,
        "at " + number(time_s) + " s, and the one before at " + number(m.all.times_s.back()) + " s",
        {.element = "frame", .index = index}};
  const auto start = std::chrono::steady_clock::now();
  DERM_CHECK(m.fill(m.now, frame));
  const std::span<const Vec3d> last = m.all.frame(index - 1);
  for (std::size_t i = 0; i < m.markers(); ++i) m.was[i] = last[i].head<2>();
  DERM_CHECK(m.follow());
  m.holdTogether();
  m.moveLost();
  DERM_CHECK(m.followPairs(frame));
  DERM_CHECK(m.anchor(frame));
  DERM_CHECK(m.recover(frame));
  m.keep(time_s);
  m.before.swap(m.now);
  m.seconds += Seconds(std::chrono::steady_clock::now() - start).count();
  return !m.lost_at;
}

std::size_t MarkerTracker::frames() const { return impl_->all.frames(); }
std::span<const Vec3d> MarkerTracker::positions() const {
  return impl_->all.frame(impl_->all.frames() - 1);
}
std::span<const float> MarkerTracker::confidence() const {
  return std::span(impl_->all.confidence).last(impl_->markers());
}
std::optional<std::size_t> MarkerTracker::lostAt() const { return impl_->lost_at; }

PointTracks MarkerTracker::tracks() const {
  PointTracks out = impl_->all;
  if (impl_->lost_at) {
    out.times_s.resize(*impl_->lost_at);
    out.positions.resize(*impl_->lost_at * impl_->markers());
    out.confidence.resize(*impl_->lost_at * impl_->markers());
  }
  return out;
}

double MarkerTracker::seconds() const { return impl_->seconds; }
double MarkerTracker::librarySeconds() const {
  return impl_->library_s + impl_->patches.librarySeconds();
}

}  // namespace derm
