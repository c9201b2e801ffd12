#include "derm/face/face_mix.h"

#include <algorithm>
#include <cmath>

#include "derm/base/number_text.h"
#include "derm/face/face_regions.h"

namespace derm {
namespace {

/// [s] Frames of several sources closer than this are one.
constexpr double kSameInstant_s = 1e-4;
constexpr double kMaxOffset_s = 24 * 60 * 60;
constexpr double kMaxGain = 10;

/// Where in the frames of a motion a time is.
struct Instant {
  std::size_t before = 0, after = 0;
  double share = 0;  ///< of `after`
};
Instant instantOf(std::span<const double> times_s, double time_s) {
  const auto next = std::upper_bound(times_s.begin(), times_s.end(), time_s);
  if (next == times_s.begin()) return {};
  const auto after = static_cast<std::size_t>(next - times_s.begin());
  if (next == times_s.end()) return {after - 1, after - 1, 0};
  const double share = (time_s - times_s[after - 1]) / (times_s[after] - times_s[after - 1]);
  return {after - 1, after, share};
}

/// One source, ready to be asked for any instant.
struct Player {
  const FaceSource* source = nullptr;
  FaceRetargeter retargeter;
  std::vector<double> weights;  ///< per point of the target: how much it belongs to this source
  std::vector<double> gains;    ///< per point of the target
  double start_s = 0;           ///< on the target, of the first frame
  std::vector<Vec3d> at;        ///< of the source's points
  std::vector<Vec3d> mapped;    ///< of the target's points

  Instant instant(double time_s) const {
    return instantOf(source->tracks.times_s, time_s - start_s + source->tracks.times_s.front());
  }

  void play(double time_s) {
    const PointTracks& tracks = source->tracks;
    const Instant now = instant(time_s);
    const std::span<const Vec3d> a = tracks.frame(now.before), b = tracks.frame(now.after);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = a[i] + now.share * (b[i] - a[i]);
    retargeter.map(at, mapped);
  }

  Transform head(double time_s) const {
    const std::vector<Transform>& heads = source->tracks.head;
    const Instant now = instant(time_s);
    const Transform &a = heads[now.before], &b = heads[now.after];
    Transform mixed;
    mixed.translation = a.translation + float(now.share) * (b.translation - a.translation);
    mixed.rotation = slerp(a.rotation, b.rotation, float(now.share));
    return retargeter.mapHead(mixed);
  }
};

Error inSource(Error error, const FaceSource& source) {
  if (error.where.file.empty()) error.where.file = source.name;
  return error;
}

/// That points stay near the face, and the face within sight of where it began: else numbers are of
/// another unit, or wrong.
Result<void> checkPlaces(const PointTracks& tracks) {
  constexpr double kFarPoint = 10, kFarHead = 1000;  // in sizes of the face
  Vec3d low = tracks.neutral[0], high = tracks.neutral[0];
  for (const Vec3d& p : tracks.neutral) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double size = (high - low).norm();
  const Vec3d middle = 0.5 * (low + high);
  const auto far = [&](std::size_t frame, const std::string& what, double distance) {
    return Error{ErrorCode::BadData,
                 what + " is " + shortNumber(distance / size) +
                     " times the size of the face away from its place at rest",
                 {.element = "frames", .index = frame}};
  };
  const std::size_t count = tracks.labels.size();
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    for (std::size_t i = 0; i < count; ++i)
      if (const double way = (tracks.frame(f)[i] - tracks.neutral[i]).norm();
          !(way <= kFarPoint * size))
        return far(f, "\"" + tracks.labels[i] + "\"", way);
    if (tracks.head.empty()) continue;
    if (const double way = (tracks.head[f].matrixd() * middle - middle).norm();
        !(way <= kFarHead * size))
      return far(f, "the head", way);
  }
  return {};
}

Result<Player> makePlayer(const FaceSource& source, const NeutralFace& target,
                          const FaceRetargetDesc& desc, Diagnostics& notes) {
  DERM_TRY(FaceRetargeter retargeter,
           FaceRetargeter::bind(neutralFace(source.tracks), target, desc, notes));
  DERM_CHECK(checkPlaces(source.tracks));
  Player out{&source, std::move(retargeter), {}, std::vector<double>(target.labels.size(), 1)};
  DERM_TRY(out.weights, faceRegionWeights(source.regions, target.labels));
  if (!(std::abs(source.offset_s) <= kMaxOffset_s))
    return Error{ErrorCode::BadArgument, "must be within 24 h", {.element = "offset"}};
  for (const FaceGain& gain : source.gains) {
    if (!(gain.gain >= 0 && gain.gain <= kMaxGain))
      return Error{ErrorCode::BadArgument, "must be from 0 to 10", {.element = "gain"}};
    DERM_TRY(const std::vector<double> of, faceRegionWeights(gain.regions, target.labels));
    for (std::size_t i = 0; i < of.size(); ++i) out.gains[i] *= 1 + of[i] * (gain.gain - 1);
  }
  out.start_s = source.offset_s;
  out.at.resize(source.tracks.labels.size());
  out.mapped.resize(target.labels.size());
  return out;
}

/// Who moves a point: the last source that it wholly belongs to, else all at whose border it lies.
void settleWeights(std::span<Player> players, std::size_t points) {
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0;
    Player* owner = nullptr;
    for (Player& player : players) {
      sum += player.weights[i];
      if (player.weights[i] >= 1) owner = &player;
    }
    for (Player& player : players) {
      if (owner != nullptr) player.weights[i] = &player == owner ? 1 : 0;
      if (owner == nullptr) player.weights[i] /= std::max(1.0, sum);
    }
  }
}

std::vector<double> allInstants(std::span<Player> players) {
  double first = 0;  // clips start at 0 or later
  for (const Player& player : players) first = std::min(first, player.start_s);
  std::vector<double> times;
  for (Player& player : players) {
    player.start_s -= first;
    const std::vector<double>& own = player.source->tracks.times_s;
    for (const double time_s : own) times.push_back(player.start_s + (time_s - own.front()));
  }
  std::sort(times.begin(), times.end());
  std::vector<double> out;
  for (const double time_s : times)
    if (out.empty() || time_s > out.back() + kSameInstant_s) out.push_back(time_s);
  return out;
}

}  // namespace

Result<PointTracks> retargetFace(std::span<const FaceSource> sources, const NeutralFace& target,
                                 const FaceRetargetDesc& desc, Diagnostics& notes) {
  if (sources.empty()) return Error{ErrorCode::BadArgument, "no source"};
  std::vector<Player> players;
  for (const FaceSource& source : sources) {
    Result<Player> player = makePlayer(source, target, desc, notes);
    if (!player) return inSource(player.error(), source);
    players.push_back(*std::move(player));
  }
  const std::size_t points = target.labels.size();
  settleWeights(players, points);
  const auto turning = std::find_if(players.begin(), players.end(), [](const Player& player) {
    return !player.source->tracks.head.empty();
  });

  PointTracks out;
  out.labels = target.labels;
  out.neutral = target.positions;
  out.times_s = allInstants(players);
  out.positions.reserve(points * out.frames());
  for (const double time_s : out.times_s) {
    for (Player& player : players) player.play(time_s);
    for (std::size_t i = 0; i < points; ++i) {
      Vec3d move = Vec3d::Zero();
      for (const Player& player : players)
        if (player.weights[i] > 0)
          move += player.weights[i] * player.gains[i] * (player.mapped[i] - target.positions[i]);
      out.positions.push_back(target.positions[i] + move);
    }
    if (turning != players.end()) out.head.push_back(turning->head(time_s));
  }
  return out;
}

}  // namespace derm
