#include "derm/face/shape_transfer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "derm/math/decompositions.h"
#include "derm/mesh/triangle_tree.h"

#include "face/margin_match.h"
#include "face/shape_morph.h"
#include "face/shape_names.h"
#include "face/shape_openings.h"
#include "face/shape_pieces.h"
#include "face/shape_solver.h"
#include "face/slit_curves.h"
#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::Counterpart;
using detail::OpeningChange;
using detail::OpeningPair;
using detail::WeldedMesh;

/// `label`: an MPEG-4 number; points may have names instead.
const LabelledPoint* findLabel(std::span<const LabelledPoint> points, std::string_view label) {
  const auto at = std::find_if(points.begin(), points.end(), [&](const LabelledPoint& p) {
    const FaceFeature* feature = findFaceFeature(p.label);
    return feature != nullptr && feature->number == label;
  });
  return at == points.end() ? nullptr : &*at;
}

std::optional<Vec3d> positionOf(const ShapeHead& head, std::string_view label) {
  const LabelledPoint* p = findLabel(head.points, label);
  if (p == nullptr) return {};
  return positionAt(p->point, head.mesh.triangles, head.mesh.positions).cast<double>();
}

/// Between the eyes' corners; from the head's size where there are no such points.
double eyeDistance(const ShapeHead& head) {
  std::array<std::optional<Vec3d>, 4> corners{positionOf(head, "3.7"), positionOf(head, "3.11"),
                                              positionOf(head, "3.12"), positionOf(head, "3.8")};
  for (const auto& c : corners)
    if (!c) return 0.15 * detail::diagonalOf(head.mesh);
  return ((*corners[0] + *corners[1]) / 2 - (*corners[2] + *corners[3]) / 2).norm();
}

/// Rotation, scale and shift.
struct Similarity {
  Mat3d linear = Mat3d::Identity();
  Vec3d shift = Vec3d::Zero();
};

/// The one that takes counterparts to where the target has them, least squares.
Similarity alignment(const WeldedMesh& target, std::span<const Counterpart> counterparts) {
  Vec3d from = Vec3d::Zero(), to = Vec3d::Zero();
  double n = 0;
  for (std::size_t p = 0; p < counterparts.size(); ++p) {
    if (!counterparts[p].found) continue;
    from += counterparts[p].position;
    to += target.positions[p];
    ++n;
  }
  from /= n;
  to /= n;
  Mat3d turn = Mat3d::Zero();
  double size = 0;
  for (std::size_t p = 0; p < counterparts.size(); ++p) {
    if (!counterparts[p].found) continue;
    const Vec3d x = counterparts[p].position - from;
    turn += (target.positions[p] - to) * x.transpose();
    size += x.squaredNorm();
  }
  const Mat3d rotation = bestRotation(turn).rotation;
  const double scale = size > 0 ? (rotation.transpose() * turn).trace() / size : 1.0;
  Similarity out;
  out.linear = (scale > 0 ? scale : 1.0) * rotation;
  out.shift = to - out.linear * from;
  return out;
}

/// However it is spelt.
bool isWholeShape(const MorphTarget& morph, std::string_view arkit_name) {
  const std::optional<detail::NamedShape> named = detail::shapeCalled(morph.name);
  return named && !named->half && named->shape == detail::shapeIndex(arkit_name);
}

/// Two heads and all that is the same for every shape.
class Transfer {
 public:
  Transfer(const ShapeHead& donor, const ShapeHead& target, const HeadCorrespondence& given,
           const ShapeTransferDesc& desc, Diagnostics& notes)
      : donor_(donor), target_(target), desc_(desc) {
    donor_welded_ = detail::weldedMesh(donor.mesh);
    welded_ = detail::weldedMesh(target.mesh);
    morphs_.emplace(target.mesh, welded_.of_vertex);
    skin_ = skinOf(given);
    eye_distance_m_ = eyeDistance(target);
    findOpenings(notes);
    for (std::size_t p = 0; p < welded_.pointCount(); ++p) {
      const std::uint32_t v = welded_.first_vertex[p];
      const bool on_skin = welded_.pieces.of_vertex[p] == skin_;
      points_.push_back(on_skin && given.has(v) ? std::optional(given.source_points[v])
                                                : std::nullopt);
    }
    if (desc.match_openings)
      for (const OpeningPair& pair : openings_) detail::matchMargins(donor_welded_, pair, points_);
    rest_.resize(points_.size());
    place(rest_, {});
    pose_ = alignment(welded_, rest_);
    place(rest_, {});
    solver_.emplace(welded_, rest_,
                    detail::ShapeSolver::Desc{
                        .piece = skin_,
                        .gradient_length_m = desc.gradient_length * eye_distance_m_,
                        .fade_length_m = desc.fade_length * eye_distance_m_,
                        .use_gradients = desc.method == ShapeTransferMethod::DeformationTransfer});
    pieces_.emplace(welded_, skin_, target_slits_, positionOf(target, "2.1"), eye_distance_m_);
    findCarried(given);
  }

  std::vector<MorphTarget> all(std::span<const MorphTarget> shapes, const Progress& progress,
                               bool& cancelled) {
    std::vector<MorphTarget> out(shapes.size());
    // What others are used on top of comes first.
    std::vector<std::size_t> order;
    std::optional<std::size_t> jaw;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (!jaw && isWholeShape(shapes[i], "jawOpen")) jaw = i;
    if (jaw) order.push_back(*jaw);
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (i != jaw) order.push_back(i);
    std::vector<Vec3d> jaw_donor, jaw_target;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const MorphTarget& shape = shapes[order[k]];
      if (!keepGoing(progress, static_cast<double>(k) / static_cast<double>(order.size()),
                     shape.name)) {
        cancelled = true;
        return {};
      }
      std::vector<Vec3d> donor(donor_welded_.pointCount(), Vec3d::Zero());
      for (std::size_t i = 0; i < shape.vertices.size(); ++i)
        donor[donor_welded_.of_vertex[shape.vertices[i]]] = shape.positions[i].cast<double>();
      const bool on_jaw = jaw && isWholeShape(shape, "mouthClose");
      std::vector<Vec3d> found = one(donor, on_jaw ? jaw_donor : std::vector<Vec3d>{},
                                     on_jaw ? jaw_target : std::vector<Vec3d>{});
      MorphTarget& result = out[order[k]];
      result = morphs_->make(found, on_jaw ? jaw_target : std::vector<Vec3d>{});
      result.name = shape.name;
      result.default_weight = shape.default_weight;
      if (order[k] == jaw) {
        jaw_donor = std::move(donor);
        jaw_target = std::move(found);
      }
    }
    return out;
  }

 private:
  /// The piece that most counterparts lie on.
  std::uint32_t skinOf(const HeadCorrespondence& given) const {
    std::vector<std::size_t> counts(welded_.pieces.count, 0);
    for (std::size_t p = 0; p < welded_.pointCount(); ++p)
      counts[welded_.pieces.of_vertex[p]] += given.has(welded_.first_vertex[p]) ? 1 : 0;
    return static_cast<std::uint32_t>(std::max_element(counts.begin(), counts.end()) -
                                      counts.begin());
  }

  void findOpenings(Diagnostics& notes) {
    const FaceSlits donor = findFaceSlits(donor_.mesh, donor_.points, notes);
    target_slits_ = findFaceSlits(target_.mesh, target_.points, notes);
    const auto add = [&](const std::optional<FaceSlit>& from, const std::optional<FaceSlit>& to,
                         double radius, bool lips) {
      if (!from || !to) return;
      openings_.push_back({detail::slitSurface(donor_welded_, *from, radius),
                           detail::slitSurface(welded_, *to, radius), lips});
    };
    add(donor.left_eye, target_slits_.left_eye, detail::kLidRadius, false);
    left_openings_ = openings_.size();
    add(donor.right_eye, target_slits_.right_eye, detail::kLidRadius, false);
    add(donor.mouth, target_slits_.mouth, detail::kLipRadius, true);
    if (openings_.empty() && desc_.match_openings)
      notes.warn(
          "shapes-no-openings", "face",
          "no control points of eyes and mouth on both heads: lids and lips are not matched");
  }

  /// Donor's positions and displacements at the counterparts, in the target's pose and size.
  void place(std::vector<Counterpart>& out, std::span<const Vec3d> shape) const {
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (!points_[p]) continue;
      const Vec3d at = valueOn(*points_[p], donor_welded_.positions);
      const Vec3d moved = shape.empty() ? Vec3d(Vec3d::Zero()) : valueOn(*points_[p], shape);
      out[p] = {true, pose_.linear * at + pose_.shift, pose_.linear * moved};
    }
  }

  std::vector<Vec3d> one(const std::vector<Vec3d>& donor, const std::vector<Vec3d>& base_donor,
                         const std::vector<Vec3d>& base_target) {
    place(rest_, donor);
    std::vector<Vec3d> found = solver_->solve(rest_);
    if (desc_.match_openings) {
      std::vector<Vec3d> sum = donor;
      for (std::size_t p = 0; p < base_donor.size(); ++p) sum[p] += base_donor[p];
      for (std::size_t i = 0; i < openings_.size(); ++i) {
        const OpeningPair& pair = openings_[i];
        if (pair.lips) {
          const OpeningChange change = openingChange(donor_welded_, pair.donor, sum);
          detail::matchLips(welded_, pair, change, base_target, found);
        } else {
          const OpeningChange change = openingChange(donor_welded_, pair.donor, donor);
          detail::matchLids(welded_, pair, change, desc_.shut_below,
                            i < left_openings_ ? pieces_->leftEyeball() : pieces_->rightEyeball(),
                            found);
        }
      }
    }
    pieces_->follow(found);
    carry(donor, found);
    return found;
  }

  /// Pieces beside the skin that are matched to such of the donor: its own lashes, teeth, eyes.
  void findCarried(const HeadCorrespondence& given) {
    std::vector<std::size_t> sizes(welded_.pieces.count, 0), matched(welded_.pieces.count, 0);
    std::vector<std::size_t> skin(donor_welded_.pieces.count, 0);
    for (std::size_t p = 0; p < points_.size(); ++p)
      if (points_[p])
        ++skin[donor_welded_.pieces.of_vertex[donor_welded_.triangles[points_[p]->triangle][0]]];
    const auto donor_skin =
        static_cast<std::uint32_t>(std::max_element(skin.begin(), skin.end()) - skin.begin());
    const auto other = [&](std::size_t p) {
      const std::uint32_t v = welded_.first_vertex[p];
      return given.has(v) &&
             donor_welded_.pieces
                     .of_vertex[donor_welded_.triangles[given.source_points[v].triangle][0]] !=
                 donor_skin;
    };
    for (std::size_t p = 0; p < points_.size(); ++p) {
      ++sizes[welded_.pieces.of_vertex[p]];
      if (other(p)) ++matched[welded_.pieces.of_vertex[p]];
    }
    std::vector<Triangle> skin_triangles;
    std::vector<std::uint32_t> skin_numbers;
    for (std::uint32_t t = 0; t < donor_welded_.triangles.size(); ++t)
      if (!donor_welded_.flat[t] &&
          donor_welded_.pieces.of_vertex[donor_welded_.triangles[t][0]] == donor_skin) {
        skin_triangles.push_back(donor_welded_.triangles[t]);
        skin_numbers.push_back(t);
      }
    const TriangleTree donor_tree(donor_welded_.positions, skin_triangles);
    for (std::uint32_t p = 0; p < points_.size(); ++p) {
      const std::uint32_t piece = welded_.pieces.of_vertex[p];
      if (piece == skin_ || matched[piece] != sizes[piece]) continue;
      Carried carried{p, given.source_points[welded_.first_vertex[p]], {}};
      if (pieces_->followsSkin(p))
        if (const auto below =
                donor_tree.closestPoint(valueOn(carried.from, donor_welded_.positions)))
          carried.skin =
              SurfacePoint{skin_numbers[below->triangle], below->barycentric.cast<float>()};
      carried_.push_back(carried);
    }
  }

  Vec3d valueOn(const SurfacePoint& point, std::span<const Vec3d> values) const {
    const Triangle& t = donor_welded_.triangles[point.triangle];
    Vec3d out = Vec3d::Zero();
    for (std::size_t c = 0; c < 3; ++c)
      out += static_cast<double>(point.barycentric[static_cast<Eigen::Index>(c)]) * values[t[c]];
    return out;
  }

  void carry(std::span<const Vec3d> donor, std::span<Vec3d> shape) const {
    for (const Carried& c : carried_) {
      const Vec3d moved = valueOn(c.from, donor);
      // What lies on the skin goes with it, and moves against it as the donor's does.
      if (c.skin)
        shape[c.point] += pose_.linear * (moved - valueOn(*c.skin, donor));
      else
        shape[c.point] = pose_.linear * moved;
    }
  }

  struct Carried {
    std::uint32_t point = 0;
    SurfacePoint from;                 ///< on the donor
    std::optional<SurfacePoint> skin;  ///< below it on the donor, where it lies on the skin
  };

  const ShapeHead& donor_;
  const ShapeHead& target_;
  const ShapeTransferDesc& desc_;
  WeldedMesh donor_welded_, welded_;
  std::optional<detail::MorphMaker> morphs_;
  std::uint32_t skin_ = 0;
  double eye_distance_m_ = 0;
  FaceSlits target_slits_;
  std::vector<OpeningPair> openings_;
  std::size_t left_openings_ = 0;
  std::vector<std::optional<SurfacePoint>> points_;  ///< per point of the target, on the donor
  std::vector<Carried> carried_;
  std::vector<Counterpart> rest_;
  Similarity pose_;
  std::optional<detail::ShapeSolver> solver_;
  std::optional<detail::FacePieces> pieces_;
};

}  // namespace

Result<void> validate(const ShapeTransferDesc& desc) {
  const auto wrong = [](const char* field, const char* range) {
    return Error{ErrorCode::BadArgument, std::string("must be ") + range, {.element = field}};
  };
  if (!(desc.gradient_length > 0 && desc.gradient_length <= 10))
    return wrong("gradient_length", "above 0 and at most 10");
  if (!(desc.fade_length > 0 && desc.fade_length <= 10))
    return wrong("fade_length", "above 0 and at most 10");
  if (!(desc.shut_below >= 0 && desc.shut_below <= 0.5)) return wrong("shut_below", "0 to 0.5");
  return {};
}

Result<std::vector<MorphTarget>> transferShapes(const ShapeHead& donor,
                                                std::span<const MorphTarget> shapes,
                                                const ShapeHead& target,
                                                const HeadCorrespondence& correspondence,
                                                const ShapeTransferDesc& desc, Diagnostics& notes,
                                                const Progress& progress) {
  DERM_CHECK(validate(desc));
  DERM_CHECK(validate(donor.mesh, "donor"));
  DERM_CHECK(validate(target.mesh, "target"));
  DERM_CHECK(validate(correspondence, donor.mesh.triangles.size(), target.mesh.vertexCount()));
  for (const MorphTarget& shape : shapes)
    DERM_CHECK(validate(shape, donor.mesh.vertexCount(), "donor"));
  for (const ShapeHead* head : {&donor, &target})
    for (const LabelledPoint& p : head->points)
      DERM_CHECK(validate(p.point, head->mesh.triangles.size(), p.label));
  bool any = false;
  for (std::size_t v = 0; v < target.mesh.vertexCount(); ++v) any = any || correspondence.has(v);
  if (!any)
    return Error{ErrorCode::BadData,
                 "no vertex of the target has a counterpart on the donor",
                 {.element = "correspondence"}};
  bool cancelled = false;
  std::vector<MorphTarget> out =
      Transfer(donor, target, correspondence, desc, notes).all(shapes, progress, cancelled);
  if (cancelled) return Error{ErrorCode::Cancelled, "cancelled", {}};
  return out;
}

}  // namespace derm
