#include "derm/face/face_motion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/math/decompositions.h"

#include "face/head_joint.h"

namespace derm {
namespace {

constexpr std::size_t kMaxFrames = 1000000;

/// Feature points that expressions hardly move.
constexpr std::array<std::string_view, 7> kStable = {"3.7", "3.8", "3.11", "3.12",
                                                     "9.1", "9.2", "9.3"};

Error badMotion(std::string message, std::string element) {
  return {ErrorCode::BadData, std::move(message), {.element = std::move(element)}};
}

/// A vertex that a labelled point hangs on, and what moves it.
struct CarriedVertex {
  std::uint32_t vertex = 0;
  Vec3d rest = Vec3d::Zero();
  struct Shape {
    std::size_t morph = 0;
    Vec3d move = Vec3d::Zero();
  };
  std::vector<Shape> shapes;
};

/// Where labelled points are in any pose of their character.
class CarriedPoints {
 public:
  explicit CarriedPoints(const Character& character)
      : character_(character),
        model_(character.skeleton.size()),
        palette_(character.skin.slots.size()) {
    for (const LabelledPoint& p : character.points)
      for (const std::uint32_t v : character.mesh.triangles[p.point.triangle])
        vertices_.push_back({v, character.mesh.positions[v].cast<double>(), {}});
    for (std::size_t m = 0; m < character.morphs.size(); ++m) {
      const MorphTarget& morph = character.morphs[m];
      for (CarriedVertex& carried : vertices_) {
        const auto found =
            std::lower_bound(morph.vertices.begin(), morph.vertices.end(), carried.vertex);
        if (found == morph.vertices.end() || *found != carried.vertex) continue;
        const auto index = static_cast<std::size_t>(found - morph.vertices.begin());
        carried.shapes.push_back({m, morph.positions[index].cast<double>()});
      }
    }
  }

  void pose(const Pose& pose) {
    localToModel(character_.skeleton, pose.local, model_);
    for (std::size_t s = 0; s < palette_.size(); ++s) {
      const SkinSlot& slot = character_.skin.slots[s];
      palette_[s] = model_[slot.joint.index()] * slot.inverse_bind.cast<double>();
    }
    weights_ = pose.morph_weights;
  }
  const Affine3d& joint(JointId id) const { return model_[id.index()]; }

  Vec3d position(std::size_t point) const {
    Vec3d out = Vec3d::Zero();
    const Vec3f& share = character_.points[point].point.barycentric;
    for (std::size_t c = 0; c < 3; ++c)
      out += double(share[static_cast<Eigen::Index>(c)]) * moved(vertices_[3 * point + c]);
    return out;
  }

 private:
  Vec3d moved(const CarriedVertex& carried) const {
    Vec3d at = carried.rest;
    for (const CarriedVertex::Shape& shape : carried.shapes)
      at += double(weights_[shape.morph]) * shape.move;
    if (character_.skin.empty()) return at;
    Vec3d out = Vec3d::Zero();
    for (const Influence& i : character_.skin[carried.vertex])
      out += double(i.weight) * (palette_[i.slot] * at);
    return out;
  }

  const Character& character_;
  std::vector<CarriedVertex> vertices_;  ///< three per point
  std::vector<Affine3d> model_, palette_;
  std::vector<float> weights_;
};

/// A motion without its scale.
Transform rigid(const Affine3d& motion) {
  Transform out = decompose(motion).transform;
  out.scale = Vec3f::Ones();
  return out;
}

bool isIdentity(const Transform& t, double extent) {
  return double(t.translation.norm()) <= 1e-6 * extent && double(t.rotation.vec().norm()) <= 1e-6;
}

/// The rigid motion that takes `from` to `to` best (Umeyama 1991, without scale).
Affine3d bestMotion(std::span<const Vec3d> from, std::span<const Vec3d> to,
                    std::span<const double> weights) {
  double total = 0;
  Vec3d from_middle = Vec3d::Zero(), to_middle = Vec3d::Zero();
  for (std::size_t i = 0; i < from.size(); ++i) {
    total += weights[i];
    from_middle += weights[i] * from[i];
    to_middle += weights[i] * to[i];
  }
  from_middle /= total;
  to_middle /= total;
  Eigen::Matrix3d cross = Eigen::Matrix3d::Zero();
  for (std::size_t i = 0; i < from.size(); ++i)
    cross += weights[i] * (to[i] - to_middle) * (from[i] - from_middle).transpose();
  Affine3d out = Affine3d::Identity();
  out.linear() = bestRotation(cross).rotation;
  out.translation() = to_middle - out.linear() * from_middle;
  return out;
}

std::string numberOrLabel(const std::string& label) {
  const FaceFeature* feature = findFaceFeature(label);
  return feature != nullptr ? std::string(feature->number) : label;
}

void addKey(Track& track, const Vec3f& v) {
  track.values.insert(track.values.end(), {v.x(), v.y(), v.z()});
}

/// Neighbouring keys never jump in sign: q and -q are one rotation, but not half way between.
void addKey(Track& track, Quatf q) {
  if (track.values.size() >= 4) {
    const Eigen::Map<const Eigen::Vector4f> last(&track.values[track.values.size() - 4]);
    if (q.coeffs().dot(last) < 0) q.coeffs() = -q.coeffs();
  }
  track.values.insert(track.values.end(), {q.x(), q.y(), q.z(), q.w()});
}

/// Whether the values of its keys differ.
bool moves(const Track& track) {
  const std::size_t width = track.valueWidth();
  for (std::size_t i = width; i < track.values.size(); ++i)
    if (track.values[i] != track.values[i % width]) return true;
  return false;
}

/// Tracks of one joint, filled frame by frame.
struct JointTracks {
  Track way, turn;

  JointTracks(JointId joint, const std::vector<float>& times_s) {
    way.joint = turn.joint = joint;
    turn.channel = Channel::Rotation;
    way.times_s = turn.times_s = times_s;
  }
  void add(const Transform& local) {
    addKey(way, local.translation);
    addKey(turn, local.rotation);
  }
  void finish(const Transform& rest, Clip& clip) {
    // One key that differs from rest matters as much as several.
    const auto away = [](const Track& track, std::span<const float> at_rest) {
      return !std::equal(at_rest.begin(), at_rest.end(), track.values.begin());
    };
    const Vec3f& t = rest.translation;
    const Quatf& r = rest.rotation;
    if (moves(way) || away(way, std::array{t.x(), t.y(), t.z()})) clip.tracks.push_back(way);
    if (moves(turn) || away(turn, std::array{r.x(), r.y(), r.z(), r.w()}))
      clip.tracks.push_back(turn);
  }
};

}  // namespace

Result<PointTracks> faceMotion(const Character& character, const Clip& clip, double rate_hz) {
  const double duration_s = double(clip.duration_s());
  if (!(rate_hz > 0) || !(duration_s * rate_hz < double(kMaxFrames)))
    return Error{ErrorCode::BadArgument,
                 "must be above 0, and give fewer than a million frames",
                 {.element = "rate"}};
  const auto frames = static_cast<std::size_t>(std::ceil(duration_s * rate_hz - 1e-6)) + 1;
  std::vector<double> times_s;
  for (std::size_t f = 0; f < frames; ++f)
    times_s.push_back(std::min(double(f) / rate_hz, duration_s));
  return faceMotion(character, clip, times_s);
}

Result<PointTracks> faceMotion(const Character& character, const Clip& clip,
                               std::span<const double> times_s) {
  if (character.points.empty()) return badMotion("the character has no control points", "points");
  PointTracks out;
  CarriedPoints points(character);
  const std::size_t count = character.points.size();
  points.pose(character.bindPose());
  double extent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out.labels.push_back(numberOrLabel(character.points[i].label));
    out.neutral.push_back(points.position(i));
    extent = std::max(extent, out.neutral.back().norm());
  }
  const JointId head = detail::headJoint(character);
  const Affine3d head_bind = head.valid() ? points.joint(head) : Affine3d::Identity();
  bool turns = false;
  for (const double time_s : times_s) {
    Pose pose = character.restPose();
    sampleClip(clip, static_cast<float>(time_s), pose);
    points.pose(pose);
    Transform motion;
    if (head.valid()) motion = rigid(points.joint(head) * head_bind.inverse());
    turns = turns || !isIdentity(motion, extent);
    const Affine3d back = motion.matrixd().inverse();
    out.times_s.push_back(time_s);
    out.head.push_back(motion);
    for (std::size_t i = 0; i < count; ++i) out.positions.push_back(back * points.position(i));
  }
  if (!turns) out.head.clear();
  DERM_CHECK(validate(out, character.name));
  return out;
}

Result<PointTracks> withHeadApart(PointTracks tracks) {
  if (tracks.space == TrackSpace::Picture)
    return badMotion("the head's motion in a picture needs a camera", "head");
  if (!tracks.head.empty()) return badMotion("the head's motion is apart already", "head");
  std::vector<std::size_t> stable;
  for (std::size_t i = 0; i < tracks.labels.size(); ++i)
    if (const FaceFeature* feature = findFaceFeature(tracks.labels[i]);
        feature != nullptr &&
        std::find(kStable.begin(), kStable.end(), feature->number) != kStable.end())
      stable.push_back(i);
  if (stable.size() < 3)
    return badMotion(
        "the head's motion needs three of the eyes' corners and the nose (3.7, 3.8, "
        "3.11, 3.12, 9.1, 9.2, 9.3)",
        "points");
  std::vector<Vec3d> rest, now(stable.size());
  for (const std::size_t i : stable) rest.push_back(tracks.neutral[i]);
  const std::size_t count = tracks.labels.size();
  std::vector<double> weights(stable.size());
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    for (std::size_t k = 0; k < stable.size(); ++k) {
      now[k] = tracks.frame(f)[stable[k]];
      weights[k] = tracks.confidence.empty()
                       ? 1
                       : std::max(1e-6, double(tracks.confidence[f * count + stable[k]]));
    }
    const Transform motion = rigid(bestMotion(rest, now, weights));
    const Affine3d back = motion.matrixd().inverse();
    for (std::size_t i = 0; i < count; ++i)
      tracks.positions[f * count + i] = back * tracks.positions[f * count + i];
    tracks.head.push_back(motion);
  }
  return tracks;
}

Result<Clip> faceClip(const Character& character, const FaceRig& rig, const PointTracks& tracks,
                      std::string_view name) {
  if (tracks.space == TrackSpace::Picture)
    return badMotion("points of a picture are not on a face", "points");
  DERM_CHECK(validate(tracks, name));
  DERM_TRY(const FacePoser poser, FacePoser::make(character, rig));
  std::vector<std::pair<std::size_t, std::string_view>> controls;
  for (std::size_t i = 0; i < tracks.labels.size(); ++i)
    if (const FaceFeature* feature = findFaceFeature(tracks.labels[i]);
        feature != nullptr && isControlPoint(feature->number))
      controls.emplace_back(i, feature->number);

  Clip out;
  out.name = name;
  std::vector<float> times;
  for (const double time_s : tracks.times_s) times.push_back(static_cast<float>(time_s));
  for (std::size_t f = 1; f < times.size(); ++f)
    if (!(times[f] > times[f - 1]))
      return badMotion("frames are too close to each other, or too late", "times");
  std::vector<JointTracks> joints;
  for (const JointId joint : rig.joints) joints.emplace_back(joint, times);
  JointTracks head(rig.head, times);

  const Pose bind = character.bindPose();
  std::vector<Affine3d> model(character.skeleton.size());
  localToModel(character.skeleton, bind.local, model);
  const JointId parent = character.skeleton[rig.head].parent;
  const Affine3d above = parent.valid() ? model[parent.index()] : Affine3d::Identity();
  const bool on_body = std::any_of(
      character.skin.slots.begin(), character.skin.slots.end(),
      [&](const SkinSlot& s) { return !isBelow(character.skeleton, s.joint, rig.head); });
  const Transform& head_bind = bind.local[rig.head.index()];
  std::vector<PointDisplacement> moved;
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    moved.clear();
    for (const auto& [index, number] : controls)
      moved.push_back({number, tracks.frame(f)[index] - tracks.neutral[index]});
    Pose pose = bind;
    poser.pose(moved, pose);
    for (std::size_t j = 0; j < joints.size(); ++j)
      joints[j].add(pose.local[rig.joints[j].index()]);
    if (tracks.head.empty()) continue;
    Transform local =
        decompose(above.inverse() * tracks.head[f].matrixd() * model[rig.head.index()]).transform;
    if (on_body) local.translation = head_bind.translation;
    head.add(local);
  }
  for (std::size_t j = 0; j < joints.size(); ++j)
    joints[j].finish(character.skeleton[rig.joints[j]].rest, out);
  if (!tracks.head.empty()) head.finish(character.skeleton[rig.head].rest, out);
  return out;
}

}  // namespace derm
