#include "derm/face/detail_layer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "derm/deform/refined_vertices.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expressions.h"
#include "derm/face/face_motion.h"
#include "derm/face/face_regions.h"
#include "derm/face/face_rig.h"

#include "face/head_joint.h"

namespace derm {
namespace {

Error badDetail(std::string message, std::string element) {
  return {ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
}

std::string poseElement(const DetailPose& pose) { return "pose \"" + pose.name + "\""; }

std::size_t controlIndex(std::string_view number) {
  const auto numbers = controlPointNumbers();
  return static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), number) -
                                  numbers.begin());
}

std::vector<Vec3d> controlPositions(const FacePoints& points) {
  std::vector<Vec3d> out;
  for (const std::string_view number : controlPointNumbers()) out.push_back(points.at(number));
  return out;
}

/// Displacements of the expressions and shapes that "a+b" names, added up.
Result<void> addExpressions(const DetailPose& pose, const FacePoints& points,
                            std::vector<Vec3d>& positions) {
  std::string_view rest = pose.expression;
  while (!rest.empty()) {
    const std::size_t plus = std::min(rest.find('+'), rest.size());
    const std::string_view name = rest.substr(0, plus);
    rest.remove_prefix(std::min(plus + 1, rest.size()));
    const auto known = expressionNames();
    const bool expression = std::find(known.begin(), known.end(), name) != known.end();
    Result<std::vector<PointDisplacement>> moved =
        expression ? expressionDisplacements(name, points) : faceShapeDisplacements(name, points);
    if (!moved) return badDetail(moved.error().message, poseElement(pose));
    for (const PointDisplacement& d : *moved)
      if (const std::size_t at = controlIndex(d.point); at < positions.size())
        positions[at] += d.displacement_m;
  }
  return {};
}

Result<void> takeFromClip(const DetailPose& pose, const Character& character,
                          std::vector<Vec3d>& positions) {
  const Result<std::size_t> found = character.findClip(pose.clip);
  if (!found) return badDetail(found.error().message, poseElement(pose));
  const Clip& clip = character.clips[*found];
  if (!(pose.at_s >= 0 && pose.at_s <= double(clip.duration_s()) + 1e-6))
    return badDetail(
        "the clip \"" + clip.name + "\" has no instant at " + std::to_string(pose.at_s) + " s",
        poseElement(pose));
  DERM_TRY(const PointTracks tracks, faceMotion(character, clip, std::array{pose.at_s}));
  const std::span<const Vec3d> at = tracks.frame(0);
  for (std::size_t l = 0; l < tracks.labels.size(); ++l)
    if (const std::size_t c = controlIndex(tracks.labels[l]); c < positions.size())
      positions[c] += at[l] - tracks.neutral[l];
  return {};
}

Result<std::vector<WrinkleGroup>> groupsOf(std::span<const std::string> regions) {
  const auto numbers = controlPointNumbers();
  const std::vector<std::string> labels(numbers.begin(), numbers.end());
  std::vector<bool> taken(labels.size(), false);
  std::vector<WrinkleGroup> out;
  for (const std::string& region : regions) {
    Result<std::vector<double>> share = faceRegionWeights(region, labels);
    if (!share) return badDetail(share.error().message, "groups");
    WrinkleGroup group{.name = region, .points = {}};
    for (std::uint32_t p = 0; p < labels.size(); ++p)
      if ((*share)[p] >= 1 && !taken[p]) {
        taken[p] = true;
        group.points.push_back(p);
      }
    if (!group.points.empty()) out.push_back(std::move(group));
  }
  return out;
}

Result<WrinklePosesDesc> posesOf(const DetailDesc& desc, const Character& character,
                                 const FacePoints& points) {
  if (desc.poses.empty()) return badDetail("no poses: no map can show", "poses");
  WrinklePosesDesc out;
  out.neutral = controlPositions(points);
  out.influence = desc.influence;
  for (std::size_t p = 0; p < desc.poses.size(); ++p) {
    const DetailPose& pose = desc.poses[p];
    for (std::size_t q = 0; q < p; ++q)
      if (desc.poses[q].name == pose.name)
        return badDetail("two poses have this name", poseElement(pose));
    if (pose.expression.empty() == pose.clip.empty())
      return badDetail("needs an expression, or a clip", poseElement(pose));
    ReferencePose reference{.name = pose.name, .points = out.neutral, .curve = pose.curve};
    if (pose.clip.empty())
      DERM_CHECK(addExpressions(pose, points, reference.points));
    else
      DERM_CHECK(takeFromClip(pose, character, reference.points));
    out.poses.push_back(std::move(reference));
  }
  DERM_TRY(out.groups, groupsOf(desc.groups));
  return out;
}

/// What the rig's skin says; shares of the same point over several slots are added.
FaceWeights weightsOfRig(const Character& character, const FaceRig& rig) {
  std::vector<std::uint32_t> point_of(character.skeleton.size(), FaceWeights::kHead);
  for (std::uint32_t p = 0; p < rig.joints.size(); ++p) point_of[rig.joints[p].index()] = p;
  FaceWeights out;
  out.offsets.push_back(0);
  for (std::size_t v = 0; v < character.mesh.positions.size(); ++v) {
    const std::size_t first = out.shares.size();
    for (const Influence& i : character.skin[v]) {
      const std::uint32_t point = point_of[character.skin.slots[i.slot].joint.index()];
      const auto same =
          std::find_if(out.shares.begin() + static_cast<std::ptrdiff_t>(first), out.shares.end(),
                       [&](const FaceWeights::Share& s) { return s.point == point; });
      if (same != out.shares.end())
        same->weight += double(i.weight);
      else
        out.shares.push_back({point, double(i.weight)});
    }
    out.offsets.push_back(static_cast<std::uint32_t>(out.shares.size()));
  }
  return out;
}

Result<FaceWeights> weightsOf(const Character& character, const FacePoints& points,
                              Diagnostics& notes) {
  if (const std::optional<FaceRig> rig = findFaceRig(character))
    return weightsOfRig(character, *rig);
  return faceWeights(character.mesh, points, {}, notes);
}

class DetailBinding final : public LayerBinding,
                            public std::enable_shared_from_this<DetailBinding> {
 public:
  DetailBinding(const std::string& layer, const DetailDesc& desc, const BindInput& input,
                const DetailTables& tables, WrinklePoses poses)
      : LayerBinding(layer, "detail"),
        poses_(std::move(poses)),
        refined_(input.character->mesh, input.character->mesh.positions.size(), *input.surface),
        head_(tables.head),
        head_bind_(tables.head_bind) {
    for (const DetailPose& pose : desc.poses) channels_.push_back(detailChannel(layer, pose.name));
    for (const SurfacePoint& p : tables.points) {
      corners_.push_back(input.character->mesh.triangles[p.triangle]);
      shares_.push_back(p.barycentric);
    }
  }

  std::vector<std::string> channels() const override { return channels_; }
  std::unique_ptr<Layer> makeLayer() const override;

  const WrinklePoses& poses() const { return poses_; }
  /// The control points as they are on the skin, seen from the head at rest.
  void pointsOf(const FrameInput& in, const SkinFrame& frame, std::span<Vec3f> out) const noexcept {
    Affine3f to_rest = Affine3f::Identity();
    if (head_.valid()) to_rest = (head_bind_ * in.model[head_.index()].inverse()).cast<float>();
    const std::span<const Vec3f> at = frame.positions();
    for (std::size_t p = 0; p < out.size(); ++p)
      out[p] = to_rest * (shares_[p][0] * at[corners_[p][0]] + shares_[p][1] * at[corners_[p][1]] +
                          shares_[p][2] * at[corners_[p][2]]);
  }
  void write(std::span<const float> beta, SkinFrame& frame) const noexcept {
    const std::size_t vertices = poses_.vertexCount();
    for (std::size_t p = 0; p < channels_.size(); ++p) {
      const std::span<float> channel = frame.channel(channels_[p]);
      const std::size_t count = std::min(vertices, channel.size());
      std::copy_n(beta.begin() + static_cast<std::ptrdiff_t>(p * vertices), count, channel.begin());
      refined_.carry(channel);
    }
  }

 private:
  WrinklePoses poses_;
  RefinedVertices refined_;
  std::vector<std::string> channels_;
  std::vector<Triangle> corners_;
  std::vector<Vec3f> shares_;
  JointId head_;
  Affine3d head_bind_ = Affine3d::Identity();
};

class DetailLayer final : public Layer {
 public:
  explicit DetailLayer(std::shared_ptr<const DetailBinding> binding)
      : binding_(std::move(binding)),
        points_(binding_->poses().pointCount()),
        beta_(binding_->poses().vertexCount() * binding_->poses().poseCount()) {}

  void evaluate(const FrameInput& in, SkinFrame& frame) noexcept override {
    binding_->pointsOf(in, frame, points_);
    binding_->poses().evaluate(points_, beta_);
    binding_->write(beta_, frame);
  }

 private:
  std::shared_ptr<const DetailBinding> binding_;
  std::vector<Vec3f> points_;
  std::vector<float> beta_;
};

std::unique_ptr<Layer> DetailBinding::makeLayer() const {
  return std::make_unique<DetailLayer>(shared_from_this());
}

BindResult bindDetail(const std::string& name, const DetailDesc& desc, const BindInput& input) {
  const Character& character = *input.character;
  if (input.skinning == nullptr && !character.skin.empty())
    return badDetail("must come after skinning", "");
  DERM_TRY(const DetailTables tables, detailTables(desc, character, input.notes));
  DERM_TRY(WrinklePoses bound, WrinklePoses::bind(tables.poses, tables.weights));
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<DetailBinding>(name, desc, input, tables, std::move(bound)));
}

}  // namespace

std::string detailChannel(std::string_view layer, std::string_view pose) {
  return std::string(layer) + "." + std::string(pose);
}

Result<DetailTables> detailTables(const DetailDesc& desc, const Character& character,
                                  Diagnostics& notes) {
  DERM_TRY(const FacePoints points, facePoints(character.points, character.mesh));
  DERM_CHECK(validateControlPoints(points));
  DetailTables out;
  DERM_TRY(out.poses, posesOf(desc, character, points));
  DERM_TRY(out.weights, weightsOf(character, points, notes));
  for (const std::string_view number : controlPointNumbers())
    for (const LabelledPoint& p : character.points)
      if (const FaceFeature* feature = findFaceFeature(p.label);
          feature != nullptr && feature->number == number) {
        out.points.push_back(p.point);
        break;
      }
  out.head = detail::headJoint(character);
  if (out.head.valid()) {
    std::vector<Affine3d> model(character.skeleton.size());
    localToModel(character.skeleton, character.bindPose().local, model);
    out.head_bind = model[out.head.index()];
  }
  return out;
}

LayerFactory detailLayer(std::string name, DetailDesc desc) {
  return {std::move(name), std::move(desc), bindDetail};
}

}  // namespace derm
