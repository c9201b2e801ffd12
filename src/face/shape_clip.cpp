#include <algorithm>
#include <cmath>
#include <optional>

#include "derm/face/expression_names.h"
#include "derm/face/face_slits.h"
#include "derm/face/head_shapes.h"
#include "derm/face/shape_motion.h"

#include "face/gaze.h"
#include "face/margin_nodes.h"
#include "face/shape_names.h"
#include "face/shape_projection.h"
#include "face/slit_curves.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::shapeIndex;

std::vector<float> inFloat(std::span<const double> times_s) {
  std::vector<float> out;
  for (const double t : times_s) out.push_back(static_cast<float>(t));
  // Frames closer than a float tells at this length of the take are not two.
  for (std::size_t i = 1; i < out.size(); ++i)
    out[i] = std::max(out[i], std::nextafter(out[i - 1], INFINITY));
  return out;
}

/// A joint that turns as a part of the face does, in the face's directions at rest.
class TurningJoint {
 public:
  TurningJoint(const Character& c, JointId joint) : joint_(joint), rest_(c.skeleton[joint].rest) {
    const Pose pose = c.restPose();
    std::vector<Affine3d> model(c.skeleton.size());
    localToModel(c.skeleton, pose.local, model);
    if (const JointId parent = c.skeleton[joint].parent; parent.valid())
      parent_ = decompose(model[parent.index()]).transform.rotation.cast<double>().normalized();
  }

  /// Its rotation, where it is to be turned so in model space.
  Quatf turned(const Quatd& by) const {
    return (parent_.inverse() * by * parent_ * rest_.rotation.cast<double>())
        .normalized()
        .cast<float>();
  }
  Track track(std::vector<float> times) const {
    Track out;
    out.channel = Channel::Rotation;
    out.joint = joint_;
    out.times_s = std::move(times);
    return out;
  }

 private:
  JointId joint_;
  Transform rest_;
  Quatd parent_ = Quatd::Identity();
};

void addRotationKey(Track& track, const Quatf& q) {
  // Neighbouring keys on one side of the sphere, for players that do not look.
  const std::size_t n = track.values.size();
  float sign = 1;
  if (n >= 4) {
    const float dot = track.values[n - 4] * q.x() + track.values[n - 3] * q.y() +
                      track.values[n - 2] * q.z() + track.values[n - 1] * q.w();
    if (dot < 0) sign = -1;
  }
  for (const float value : {q.x(), q.y(), q.z(), q.w()}) track.values.push_back(sign * value);
}

void turnHead(const Character& c, JointId head, const FaceAxes& axes, const ShapeTracks& tracks,
              std::span<const float> times, Clip& clip) {
  const TurningJoint joint(c, head);
  Track track = joint.track({times.begin(), times.end()});
  for (const Quatd& turn : tracks.head)
    addRotationKey(track, joint.turned(detail::turnInModel(turn, axes)));
  clip.tracks.push_back(std::move(track));
}

/// A joint's name in small letters, without name spaces, separators and numbers.
std::string jointWord(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  std::string out;
  for (const char c : name.substr(colon == std::string_view::npos ? 0 : colon + 1))
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

/// The first joint that is called as one of these.
JointId jointCalled(const Skeleton& skeleton, std::span<const std::string_view> names) {
  for (std::size_t j = 0; j < skeleton.size(); ++j)
    if (std::find(names.begin(), names.end(), jointWord(skeleton.joints[j].name)) != names.end())
      return JointId(j);
  return {};
}

JointId eyeJoint(const Skeleton& skeleton, bool left) {
  constexpr std::array<std::string_view, 9> kLeftEyes = {
      "lefteye",      "eyeleft",          "eyel",       "leye",      "lefteyeball",
      "jadjlfaceeye", "mixamoriglefteye", "ccbaseleye", "facialleye"};
  constexpr std::array<std::string_view, 9> kRightEyes = {
      "righteye",     "eyeright",          "eyer",       "reye",      "righteyeball",
      "jadjrfaceeye", "mixamorigrighteye", "ccbasereye", "facialreye"};
  return jointCalled(skeleton, left ? kLeftEyes : kRightEyes);
}

JointId jointCalledHead(const Character& c) {
  constexpr std::array<std::string_view, 2> kNames = {"head", "jbipchead"};
  if (const JointId found = jointCalled(c.skeleton, kNames); found.valid()) return found;
  // Behind the name of a rig, or before what it calls all its joints: "CC_Base_Head", "head_jnt".
  // Meshes have such names, too.
  const std::vector<bool> bone = c.bones();
  const bool boned = std::find(bone.begin(), bone.end(), true) != bone.end();
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
    if (boned && !bone[j]) continue;
    std::string word = jointWord(c.skeleton.joints[j].name);
    for (const std::string_view filler : {"joint", "jnt", "bone"})
      if (word.ends_with(filler)) word.resize(word.size() - filler.size());
    if (word.ends_with("head") && !word.ends_with("forehead")) return JointId(j);
  }
  return {};
}

void turnEyes(const Character& c, const FaceAxes& axes, const ShapeTracks& tracks,
              std::span<const float> times, Clip& clip) {
  for (const bool left : {true, false}) {
    const JointId found = eyeJoint(c.skeleton, left);
    if (!found.valid()) continue;
    const TurningJoint joint(c, found);
    Track track = joint.track({times.begin(), times.end()});
    for (std::size_t f = 0; f < tracks.frames(); ++f) {
      detail::Gaze gaze;
      for (std::size_t s = 0; s < tracks.names.size(); ++s) {
        if (faceShapes()[s].side != (left ? FaceSide::Left : FaceSide::Right)) continue;
        const detail::Gaze part = detail::gazeOf(tracks.names[s]);
        gaze.left += double(tracks.frame(f)[s]) * part.left;
        gaze.up += double(tracks.frame(f)[s]) * part.up;
      }
      addRotationKey(track, joint.turned(gaze.turn(axes)));
    }
    clip.tracks.push_back(std::move(track));
  }
}

/// The margins of one opening of a head with morph targets, and which weights may give way there.
class MorphOpening {
 public:
  /// `unit_m`: what gaps are measured in.
  MorphOpening(double unit_m, std::vector<std::size_t> free)
      : unit_m_(unit_m), free_(std::move(free)) {}

  /// Margins as one sees them from `outward`; what they do to each other there is held back.
  void addMargins(const detail::WeldedMesh& welded, const FaceSlit& slit, const Vec3d& outward,
                  std::span<const std::vector<Vec3d>> shapes) {
    const Vec3d along = (slit.along - outward.dot(slit.along) * outward).normalized();
    const Vec3d across = outward.cross(along), up = across.dot(slit.up) < 0 ? -across : across;
    View view{marginOf(welded, slit, slit.upper, along, up, shapes),
              marginOf(welded, slit, slit.lower, along, up, shapes)};
    const auto limit = [](Margin& own, const Margin& other, double sign) {
      for (std::size_t i = 0; i < own.limits.size(); ++i) {
        const std::optional<detail::AcrossSlit> at = detail::acrossSlit(other.along, own.along[i]);
        own.counts[i] = own.counts[i] && at;
        if (at) own.limits[i] = std::min(sign * (own.up[i] - other.upAt(*at)), 0.0);
      }
    };
    limit(view.upper, view.lower, 1);
    limit(view.lower, view.upper, -1);
    views_.push_back(std::move(view));
  }

  /// One place: `gap` of positions, or of a shape's displacements.
  template <class Gap>
  void addRow(const std::vector<Vec3d>& rest, std::span<const std::vector<Vec3d>> shapes,
              const Gap& gap) {
    std::vector<double> all;
    for (const std::vector<Vec3d>& shape : shapes)
      all.push_back(shape.empty() ? 0.0 : gap(shape) / unit_m_);
    const double at_rest = gap(rest) / unit_m_;
    places_.push_back({std::move(all), at_rest, std::min(at_rest, 0.0)});
  }

  /// Lowers coefficients so that the margins do not cross: to the nearest ones below for which they
  /// do not. Margins slide along each other, and which point is across from which depends on the
  /// coefficients, so limits are made anew where the last ones led to.
  void hold(std::span<double> coefficients) {
    constexpr int kRounds = 6;
    constexpr double kTolerance = 1e-4;
    const std::size_t n = free_.size();
    std::vector<double> given(n), x(n);
    for (std::size_t i = 0; i < n; ++i) given[i] = x[i] = coefficients[free_[i]];
    for (int round = 0; round < kRounds; ++round) {
      if (!(makeLimits(coefficients, x) > (round == 0 ? 0 : kTolerance))) return;
      // Weights go down only, and not below 0.
      for (const double sign : {1.0, -1.0})
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) rows_.push_back(i == j ? sign : 0.0);
          limits_.push_back(sign > 0 ? 0.0 : -given[i]);
        }
      multipliers_.resize(limits_.size());
      x = given;
      detail::projectOntoLimits(x, rows_, limits_, multipliers_, 0.1 * kTolerance);
      for (std::size_t i = 0; i < n; ++i)
        coefficients[free_[i]] = x[i] = std::clamp(x[i], 0.0, given[i]);
    }
  }

 private:
  /// In units, seen from one direction; per node, and per node and shape.
  struct Margin {
    std::vector<double> rest_along, rest_up, shape_along, shape_up;
    std::vector<char> counts;
    std::vector<double> limits;     ///< height of the upper over the lower margin there, at least
    std::vector<double> along, up;  ///< at present

    double upAt(const detail::AcrossSlit& at) const {
      return (1 - at.share) * up[at.segment] + at.share * up[at.segment + 1];
    }
  };
  struct View {
    Margin upper, lower;
  };
  /// One place whose height changes in proportion to the coefficients.
  struct Place {
    std::vector<double> shapes;
    double rest, limit;
  };

  Margin marginOf(const detail::WeldedMesh& welded, const FaceSlit& slit,
                  std::span<const std::uint32_t> chain, const Vec3d& along, const Vec3d& up,
                  std::span<const std::vector<Vec3d>> shapes) const {
    Margin out;
    for (const detail::MarginNode& node :
         detail::marginNodes(detail::SlitCurve(welded, slit, chain))) {
      const auto at = [&](const std::vector<Vec3d>& values) -> Vec3d {
        return ((1 - node.share) * values[node.first] + node.share * values[node.second]) / unit_m_;
      };
      out.rest_along.push_back(along.dot(at(welded.positions)));
      out.rest_up.push_back(up.dot(at(welded.positions)));
      for (const std::vector<Vec3d>& shape : shapes) {
        const Vec3d moved = shape.empty() ? Vec3d(Vec3d::Zero()) : at(shape);
        out.shape_along.push_back(along.dot(moved));
        out.shape_up.push_back(up.dot(moved));
      }
      out.counts.push_back(detail::farFromCorners(node.parameter));
      out.limits.push_back(0);
    }
    out.along = out.rest_along;
    out.up = out.rest_up;
    return out;
  }

  static void place(Margin& margin, std::span<const double> coefficients) {
    const std::size_t shapes = coefficients.size();
    for (std::size_t i = 0; i < margin.along.size(); ++i) {
      margin.along[i] = margin.rest_along[i];
      margin.up[i] = margin.rest_up[i];
      for (std::size_t s = 0; s < shapes; ++s) {
        if (coefficients[s] == 0) continue;
        margin.along[i] += coefficients[s] * margin.shape_along[i * shapes + s];
        margin.up[i] += coefficients[s] * margin.shape_up[i * shapes + s];
      }
    }
  }

  /// Limits of the free coefficients, now x, about where the margins are; the largest miss.
  double makeLimits(std::span<const double> coefficients, std::span<const double> x) {
    rows_.clear();
    limits_.clear();
    double worst = 0;
    for (const Place& at : places_) {
      double missing = at.limit - at.rest;
      for (std::size_t s = 0; s < coefficients.size(); ++s)
        missing -= at.shapes[s] * coefficients[s];
      worst = std::max(worst, missing);
      addLimit(missing, x, [&](std::size_t s) { return at.shapes[s]; });
    }
    for (View& view : views_) {
      place(view.upper, coefficients);
      place(view.lower, coefficients);
      worst = std::max(worst, addLimits(view.upper, view.lower, 1, coefficients.size(), x));
      worst = std::max(worst, addLimits(view.lower, view.upper, -1, coefficients.size(), x));
    }
    return worst;
  }

  double addLimits(const Margin& own, const Margin& other, double sign, std::size_t shapes,
                   std::span<const double> x) {
    constexpr double kFar = 0.2;     // what is so far apart does not meet in this round
    constexpr double kSteepest = 2;  // of a margin: beyond, it is a fold
    double worst = 0;
    for (std::size_t i = 0; i < own.along.size(); ++i) {
      if (!own.counts[i]) continue;
      const std::optional<detail::AcrossSlit> at = detail::acrossSlit(other.along, own.along[i]);
      if (!at) continue;
      const double missing = own.limits[i] - sign * (own.up[i] - other.upAt(*at));
      if (missing < -kFar) continue;
      worst = std::max(worst, missing);
      // A point that goes along a margin that rises comes nearer to it.
      const std::size_t a = at->segment, b = a + 1;
      const double slope =
          std::clamp((other.up[b] - other.up[a]) / std::max(other.along[b] - other.along[a], 1e-9),
                     -kSteepest, kSteepest);
      addLimit(missing, x, [&](std::size_t s) {
        const auto apart = [&](const std::vector<double>& mine, const std::vector<double>& theirs) {
          return mine[i * shapes + s] - (1 - at->share) * theirs[a * shapes + s] -
                 at->share * theirs[b * shapes + s];
        };
        return sign * (apart(own.shape_up, other.shape_up) -
                       slope * apart(own.shape_along, other.shape_along));
      });
    }
    return worst;
  }

  template <class Slope>
  void addLimit(double missing, std::span<const double> x, const Slope& slope) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      rows_.push_back(slope(free_[i]));
      missing += rows_.back() * x[i];
    }
    limits_.push_back(missing);
  }

  double unit_m_;
  std::vector<std::size_t> free_;
  std::vector<View> views_;
  std::vector<Place> places_;
  std::vector<double> rows_, limits_, multipliers_;  ///< of the present frame
};

/// Which shape each morph target is. Where a head has a shape whole and in halves the halves stay
/// as they are: both together would move it twice as far.
std::vector<std::optional<std::size_t>> shapesOfMorphs(std::span<const MorphTarget> morphs) {
  std::vector<std::optional<detail::NamedShape>> named;
  std::vector<bool> whole(faceShapes().size(), false);
  for (const MorphTarget& morph : morphs) {
    named.push_back(detail::shapeCalled(morph.name));
    if (named.back() && !named.back()->half) whole[named.back()->shape] = true;
  }
  std::vector<std::optional<std::size_t>> out(named.size());
  for (std::size_t m = 0; m < named.size(); ++m)
    if (named[m] && !(named[m]->half && whole[named[m]->shape])) out[m] = named[m]->shape;
  return out;
}

bool isLook(std::size_t shape) { return faceShapes()[shape].name.starts_with("eyeLook"); }

/// Whether a head with these shapes has some for where its eyes look.
bool looksByShapes(const std::vector<bool>& has) {
  for (std::size_t s = 0; s < has.size(); ++s)
    if (has[s] && isLook(s)) return true;
  return false;
}

/// What keeps lids and lips of a head apart, where its control points tell where they are.
std::vector<MorphOpening> openingsOf(const Character& head, Diagnostics& notes) {
  std::vector<MorphOpening> out;
  const Result<FacePoints> points = facePoints(head.points, head.mesh);
  if (!points || !validateControlPoints(*points)) {
    notes.info("shape-limits", "points",
               "no control points say where lids and lips are; they are not kept apart");
    return out;
  }
  const FaceSlits slits = findFaceSlits(head.mesh, head.points, notes);
  const detail::WeldedMesh welded = detail::weldedMesh(head.mesh);
  std::vector<std::vector<Vec3d>> shapes(faceShapes().size());
  const std::vector<MorphTarget> morphs = shapesOf(head);
  const std::vector<std::optional<std::size_t>> shape_of = shapesOfMorphs(morphs);
  for (std::size_t m = 0; m < morphs.size(); ++m) {
    if (!shape_of[m]) continue;
    const MorphTarget& morph = morphs[m];
    std::vector<Vec3d>& shape = shapes[*shape_of[m]];
    shape.resize(welded.pointCount(), Vec3d::Zero());
    for (std::size_t i = 0; i < morph.vertices.size(); ++i) {
      const std::uint32_t point = welded.of_vertex[morph.vertices[i]];
      if (welded.first_vertex[point] == morph.vertices[i])
        shape[point] += morph.positions[i].cast<double>();
    }
  }
  const FaceAxes axes = faceAxes(*points);
  const FaceUnits units = measureFaceUnits(*points);
  // Eyes that are shut at rest have no opening to measure gaps in.
  constexpr double kLeastOpening = 0.02;  // of the eyes' distance
  const double opening_m = std::max(units.lid_opening_m, kLeastOpening * units.eye_separation_m);
  const auto valueAt = [&](std::string_view number, const std::vector<Vec3d>& values) {
    Vec3d sum = Vec3d::Zero();
    for (const LabelledPoint& p : head.points) {
      const FaceFeature* feature = findFaceFeature(p.label);
      if (feature == nullptr || feature->number != number) continue;
      for (int i = 0; i < 3; ++i)
        sum += double(p.point.barycentric[i]) *
               values[welded.triangles[p.point.triangle][static_cast<std::size_t>(i)]];
      break;
    }
    return sum;
  };
  for (const bool left : {true, false}) {
    const std::string side = left ? "Left" : "Right";
    MorphOpening eye(opening_m, {shapeIndex("eyeBlink" + side), shapeIndex("eyeSquint" + side),
                                 shapeIndex("cheekSquint" + side)});
    if (const std::optional<FaceSlit>& slit = left ? slits.left_eye : slits.right_eye)
      eye.addMargins(welded, *slit, axes.forward, shapes);
    // Painted eyes do not open, but have lids.
    eye.addRow(welded.positions, shapes, [&](const std::vector<Vec3d>& values) {
      return axes.up.dot(valueAt(left ? "3.1" : "3.2", values) -
                         valueAt(left ? "3.3" : "3.4", values));
    });
    out.push_back(std::move(eye));
  }
  if (slits.mouth) {
    std::vector<std::size_t> free;
    for (std::size_t s = 0; s < faceShapes().size(); ++s) {
      const std::string_view name = faceShapes()[s].name;
      const bool sideways = name == "mouthLeft" || name == "mouthRight";
      if ((name.starts_with("mouth") && !sideways) || name == "cheekPuff") free.push_back(s);
    }
    MorphOpening mouth(units.mouth_width_m, std::move(free));
    mouth.addMargins(welded, *slits.mouth, slits.mouth->outward, shapes);
    out.push_back(std::move(mouth));
  }
  return out;
}

}  // namespace

Result<Clip> rigShapeClip(const Character& rigged, const FaceRig& rig, const ShapeTracks& tracks,
                          const ShapeClipDesc& desc, Diagnostics& notes) {
  DERM_REQUIRE(tracks.names.size() == ShapeMotion::kShapes);
  DERM_CHECK(validate(tracks, "coefficients"));
  DERM_TRY(const ShapeMotion motion, ShapeMotion::bind(rigged, rig, notes));
  DERM_TRY(const FacePoser poser, FacePoser::make(rigged, rig));
  const std::span<const std::string_view> numbers = controlPointNumbers();
  const FaceAxes axes = faceAxes(motion.points());
  const std::vector<float> times = inFloat(tracks.times_s);

  std::vector<Track> ways(numbers.size()), turns(numbers.size());
  std::vector<bool> goes(numbers.size(), false), rotates(numbers.size(), false);
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    ways[j].joint = turns[j].joint = rig.joints[j];
    ways[j].times_s = turns[j].times_s = times;
    turns[j].channel = Channel::Rotation;
  }
  const Pose rest = rigged.restPose();
  Pose pose = rest;
  std::vector<Vec3d> moves(numbers.size());
  std::vector<PointDisplacement> named(numbers.size());
  const double still_m = 1e-7 * measureFaceUnits(motion.points()).eye_separation_m;
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    motion.evaluate(tracks.frame(f), moves);
    for (std::size_t j = 0; j < numbers.size(); ++j) named[j] = {numbers[j], moves[j]};
    for (const JointId joint : rig.joints) pose.local[joint.index()] = rest.local[joint.index()];
    poser.pose(slidLids(named, motion.points()), pose);
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      const Transform& local = pose.local[rig.joints[j].index()];
      const Transform& before = rest.local[rig.joints[j].index()];
      for (int i = 0; i < 3; ++i) ways[j].values.push_back(local.translation[i]);
      addRotationKey(turns[j], local.rotation);
      goes[j] = goes[j] || double((local.translation - before.translation).norm()) > still_m;
      rotates[j] = rotates[j] || local.rotation.angularDistance(before.rotation) > 1e-6f;
    }
  }
  Clip out;
  out.name = desc.name;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (goes[j]) out.tracks.push_back(std::move(ways[j]));
    if (rotates[j]) out.tracks.push_back(std::move(turns[j]));
  }
  turnEyes(rigged, axes, tracks, times, out);
  if (desc.turn_head && !tracks.head.empty()) turnHead(rigged, rig.head, axes, tracks, times, out);
  return out;
}

std::size_t arkitShapeCount(const Character& character) {
  std::vector<bool> has(faceShapes().size(), false);
  for (const MorphTarget& morph : character.morphs)
    if (const std::optional<detail::NamedShape> named = detail::shapeCalled(morph.name))
      has[named->shape] = true;
  return static_cast<std::size_t>(std::count(has.begin(), has.end(), true));
}

Result<Clip> morphShapeClip(const Character& head, const ShapeTracks& tracks,
                            const ShapeClipDesc& desc, Diagnostics& notes) {
  DERM_REQUIRE(tracks.names.size() == ShapeMotion::kShapes);
  DERM_CHECK(validate(tracks, "coefficients"));
  if (arkitShapeCount(head) == 0)
    return Error{ErrorCode::BadData,
                 "has no morph target with a name of ARKit's shapes",
                 {.element = "morphs"}};
  const std::vector<float> times = inFloat(tracks.times_s);
  const std::vector<std::optional<std::size_t>> shape_of = shapesOfMorphs(head.morphs);
  std::vector<bool> has(faceShapes().size(), false);
  for (const std::optional<std::size_t>& shape : shape_of)
    if (shape) has[*shape] = true;
  const bool eyes_on_joints = !looksByShapes(has) && (eyeJoint(head.skeleton, true).valid() ||
                                                      eyeJoint(head.skeleton, false).valid());
  for (std::size_t s = 0; s < has.size(); ++s) {
    if (has[s] || (eyes_on_joints && isLook(s))) continue;
    float most = 0;
    for (std::size_t f = 0; f < tracks.frames(); ++f) most = std::max(most, tracks.frame(f)[s]);
    if (most > 0.05f)
      notes.info("shape-not-on-head", tracks.names[s], "moves, but the head has no such shape");
  }
  std::vector<MorphOpening> openings = openingsOf(head, notes);
  std::vector<Track> ways;
  for (const MeshInstance& instance : head.instances) {
    if (instance.morph_count == 0) continue;
    Track track;
    track.channel = Channel::MorphWeights;
    track.first_morph = instance.first_morph;
    track.morph_count = instance.morph_count;
    track.times_s = times;
    ways.push_back(std::move(track));
  }
  std::vector<double> weights(tracks.names.size());
  for (std::size_t f = 0; f < tracks.frames(); ++f) {
    const std::span<const float> row = tracks.frame(f);
    std::copy(row.begin(), row.end(), weights.begin());
    for (std::size_t s = 0; s < weights.size(); ++s)
      if (!has[s]) weights[s] = 0;
    for (MorphOpening& opening : openings) opening.hold(weights);
    for (Track& track : ways)
      for (std::uint32_t m = track.first_morph; m < track.first_morph + track.morph_count; ++m)
        track.values.push_back(shape_of[m] ? static_cast<float>(weights[*shape_of[m]])
                                           : head.morphs[m].default_weight);
  }
  Clip out;
  out.name = desc.name;
  for (Track& track : ways) out.tracks.push_back(std::move(track));
  const Result<FacePoints> points = facePoints(head.points, head.mesh);
  const bool known = points && validateControlPoints(*points);
  const FaceAxes axes = known ? faceAxes(*points) : FaceAxes{};
  if (eyes_on_joints) turnEyes(head, axes, tracks, times, out);
  if (desc.turn_head && !tracks.head.empty()) {
    const std::optional<FaceRig> rig = findFaceRig(head);
    const JointId joint = rig ? rig->head : jointCalledHead(head);
    if (joint.valid())
      turnHead(head, joint, axes, tracks, times, out);
    else
      notes.warn("head-not-turned", "skeleton", "no joint called head; its turns are left out");
  }
  return out;
}

}  // namespace derm
