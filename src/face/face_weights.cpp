#include "derm/face/face_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "derm/face/face_slits.h"
#include "derm/mesh/triangle_tree.h"

#include "face/control_point_index.h"
#include "face/lid_zone.h"
#include "face/lip_field.h"
#include "face/share_pruning.h"
#include "face/slit_sides.h"

namespace derm {
namespace {

using detail::controlPointIndex;
using detail::HeadSurface;
using detail::kControlPointCount;
using detail::LidZone;
using detail::LipField;
using detail::SlitContours;
using detail::SlitPoints;

constexpr double kMinWeight = 1e-3;  ///< smaller weights move nothing by what can be seen
/// Weights of the points, then the head's.
using WeightRow = std::array<double, kControlPointCount + 1>;

/// Points whose zones end at a slit, by the side they lie on.
struct SlitZones {
  std::vector<double> side;  ///< per vertex, see slitSides()
  std::vector<std::uint32_t> upper, lower;
};

/// The two lids of one eye.
struct LidPair {
  LidZone upper, lower;
  std::uint32_t upper_column, lower_column;
  std::vector<double> side;  ///< as SlitZones's, or empty
};

Result<void> scaleZones(std::span<const ZoneScale> scales, std::vector<ControlZone>& zones) {
  for (const ZoneScale& scale : scales) {
    DERM_TRY(const FaceFeature* feature, faceFeatureNamed(scale.point));
    const std::uint32_t column = controlPointIndex(feature->number);
    const auto bad = [&](std::string message) {
      return Error{ErrorCode::BadArgument,
                   std::move(message),
                   {.element = "zone of " + std::string(feature->number)}};
    };
    if (column == kControlPointCount)
      return bad("is none of the 28 control points and has no zone");
    for (int i = 0; i < 3; ++i)
      if (!(scale.factors[i] > 0 && scale.factors[i] <= 100))
        return bad("a factor must be above 0 and at most 100");
    zones[column].radii_m = zones[column].radii_m.cwiseProduct(scale.factors);
  }
  return {};
}

/// What is left of a zone on the far side of a slit.
double fade(double side) { return std::clamp(1 - 2 * side, 0.0, 1.0); }

class WeightMaker {
 public:
  WeightMaker(const TriMesh& mesh, const FacePoints& points, const FaceWeightsDesc& desc,
              std::vector<ControlZone> zones)
      : desc_(desc),
        mesh_(mesh),
        points_(points),
        axes_(faceAxes(points)),
        zones_(std::move(zones)),
        head_(mesh) {
    // The piece that most control points lie nearest to; lashes and eyeballs may be nearer to some.
    std::vector<std::size_t> points_of(head_.pieces.count, 0);
    for (const ControlZone& zone : zones_)
      ++points_of[head_.pieces.of_vertex[head_.nearestVertex(zone.centre_m)]];
    face_.assign(head_.pieces.count, false);
    face_[static_cast<std::size_t>(std::max_element(points_of.begin(), points_of.end()) -
                                   points_of.begin())] = true;
  }

  FaceWeights make(Diagnostics& notes) {
    const detail::HeadSurface& head = head_;
    const GeodesicSurface ways(head.positions, head.triangles);
    FaceWeights out;
    Diagnostics ignored;  // what does not open has contours all the same
    const FaceSlits openings = findFaceSlits(mesh_, points_, ignored);
    out.lips_part = isOpen(openings.mouth) || lipsPart(ways);
    if (!out.lips_part)
      notes.warn("face-lips-joined", "mouth",
                 "the skin goes on from the upper to the lower lip: the lips cannot part");
    prepareSlits(ways, openings);
    rows_.resize(head.positions.size());
    for (std::size_t v = 0; v < rows_.size(); ++v)
      if (onFace(v)) rows_[v] = blended(head.positions[v], v);
    if (desc_.smooth) smooth();
    addLips();
    addLids();
    addOtherPieces();
    collect(out);
    return out;
  }

 private:
  /// Around a mouth that is open at rest the way from lip to lip is not long for its distance.
  static bool isOpen(const std::optional<FaceSlit>& mouth) {
    constexpr double kOpen = 0.12;  // of its width
    return mouth && mouth->opening_m > kOpen * mouth->width_m;
  }

  /// Whether the way from lip to lip leads around a slit.
  bool lipsPart(const GeodesicSurface& ways) const {
    constexpr double kAround = 1.5;  // over the straight distance; closed lips without a slit: 1.2
    const std::uint32_t upper = head_.nearestVertex(points_.at("8.1"), face_);
    const std::uint32_t lower = head_.nearestVertex(points_.at("8.2"), face_);
    const std::array<GeodesicSeed, 1> seed = {{{upper, 0}}};
    const double straight = (head_.positions[upper] - head_.positions[lower]).norm();
    return ways.distances(seed)[lower] > kAround * straight;
  }

  void prepareSlits(const GeodesicSurface& ways, const FaceSlits& openings) {
    const auto columns = [](std::span<const std::string_view> numbers) {
      std::vector<std::uint32_t> out;
      for (const std::string_view n : numbers) out.push_back(controlPointIndex(n));
      return out;
    };
    const auto add = [&](const SlitPoints& points, const SlitContours& contours) -> SlitZones& {
      slits_.push_back(
          {detail::slitSides(ways, contours), columns(points.upper), columns(points.lower)});
      return slits_.back();
    };
    const SlitPoints mouth = detail::mouthPoints();
    const SlitContours around = detail::contoursThrough(head_, points_, mouth, face_);
    if (desc_.separate_sides) {
      SlitZones& lips = add(mouth, around);
      lips.lower.push_back(controlPointIndex("2.1"));
    }
    if (desc_.lips_around_slit && desc_.blend != ZoneBlend::Normalised) {
      LipField::Desc desc;
      desc.interpolating = desc_.blend == ZoneBlend::Interpolating;
      for (std::size_t i = 0; i < LipField::kCount; ++i) {
        lip_columns_.push_back(controlPointIndex(LipField::numbers()[i]));
        desc.scale[i] = zoneScale(LipField::numbers()[i]);
      }
      lips_.emplace(head_, ways, points_, axes_, openings.mouth, around, face_, desc);
    }
    for (const FaceSide side : {FaceSide::Left, FaceSide::Right}) {
      const SlitPoints eye = detail::eyePoints(side);
      const std::optional<FaceSlit>& slit =
          side == FaceSide::Left ? openings.left_eye : openings.right_eye;
      const SlitContours contours = slit ? SlitContours{slit->upper, slit->lower}
                                         : detail::contoursThrough(head_, points_, eye, face_);
      if (desc_.separate_sides) add(eye, contours);
      if (!desc_.lids_along_margins) continue;
      const std::uint32_t upper = controlPointIndex(eye.upper[0]),
                          lower = controlPointIndex(eye.lower[0]);
      // The brow's own point must stay its own.
      const Vec3d& brow = points_.at(side == FaceSide::Left ? "4.3" : "4.4");
      const double to_brow = axes_.up.dot(brow - zones_[upper].centre_m);
      detail::Vec2d reach = zones_[upper].radii_m.tail<2>();
      if (to_brow > 0) reach.x() = std::min(reach.x(), 0.95 * to_brow);
      const detail::LidMeeting blink = detail::lidMeeting(mesh_, points_, slit, side);
      eyes_.push_back(
          {LidZone(head_, points_, side, contours, blink, axes_, LidZone::Lid::Upper, reach),
           LidZone(head_, points_, side, contours, blink, axes_, LidZone::Lid::Lower,
                   zones_[lower].radii_m.tail<2>()),
           upper, lower, desc_.separate_sides ? slits_.back().side : std::vector<double>()});
    }
  }

  /// 1 - d of every zone at p, what lies beyond a slit faded out.
  WeightRow reached(const Vec3d& p, std::size_t vertex) const {
    WeightRow out{};
    for (std::size_t j = 0; j < kControlPointCount; ++j) {
      const Vec3d off = p - zones_[j].centre_m;
      const Vec3d local(axes_.left.dot(off), axes_.up.dot(off), axes_.forward.dot(off));
      out[j] = std::max(0.0, 1 - local.cwiseQuotient(zones_[j].radii_m).squaredNorm());
    }
    for (const SlitZones& slit : slits_) {
      for (const std::uint32_t j : slit.upper) out[j] *= fade(-slit.side[vertex]);
      for (const std::uint32_t j : slit.lower) out[j] *= fade(slit.side[vertex]);
    }
    return out;
  }

  /// What zones and head have where there are no lids; sum 1.
  WeightRow blended(const Vec3d& p, std::size_t vertex) const {
    WeightRow a = reached(p, vertex);
    for (const LidPair& eye : eyes_) a[eye.upper_column] = a[eye.lower_column] = 0;
    for (const std::uint32_t j : lip_columns_) a[j] = 0;
    double sum = 0, parts = 0;
    for (std::size_t j = 0; j < kControlPointCount; ++j) {
      sum += a[j];
      if (desc_.blend == ZoneBlend::Interpolating) a[j] /= std::max(1 - a[j], 1e-12);
      parts += a[j];
    }
    const bool torn = desc_.blend == ZoneBlend::Normalised;
    const double taken = torn ? (sum > 0 ? 1 : 0) : std::min(1.0, sum);
    for (std::size_t j = 0; j < kControlPointCount; ++j)
      if (parts > 0) a[j] *= taken / parts;
    a[FaceWeights::kHead] = 1 - taken;
    return a;
  }

  /// Averages rows with their neighbours', as often as it takes to even out about a tenth of the
  /// mouth's width: the ends of zones, and the fronts where ways around a slit meet. It goes along
  /// the skin, so it does not mix lips.
  void smooth() {
    const double reach = 0.1 * (points_.at("8.3") - points_.at("8.4")).norm();
    double edges = 0, count = 0;
    std::vector<std::uint32_t> touched;
    for (std::uint32_t v = 0; v < rows_.size(); ++v) {
      if (!onFace(v) || rows_[v][FaceWeights::kHead] == 1) continue;
      touched.push_back(v);
      for (const std::uint32_t n : head_.neighbours[v]) {
        edges += (head_.positions[n] - head_.positions[v]).norm();
        ++count;
      }
    }
    if (!(edges > 0)) return;
    const double passes = std::min(40.0, std::pow(reach * count / edges, 2));
    std::vector<WeightRow> next;
    for (int pass = 0; pass < static_cast<int>(std::lround(passes)); ++pass) {
      grow(touched);
      next.assign(touched.size(), WeightRow{});
      for (std::size_t i = 0; i < touched.size(); ++i) {
        const std::span<const std::uint32_t> around = head_.neighbours[touched[i]];
        for (std::size_t j = 0; j <= kControlPointCount; ++j) {
          double mean = 0;
          for (const std::uint32_t n : around) mean += rows_[n][j];
          next[i][j] = 0.5 * rows_[touched[i]][j] + 0.5 * mean / double(around.size());
        }
      }
      for (std::size_t i = 0; i < touched.size(); ++i) rows_[touched[i]] = next[i];
    }
  }

  /// Adds the vertices around.
  void grow(std::vector<std::uint32_t>& vertices) const {
    const std::size_t count = vertices.size();
    for (std::size_t i = 0; i < count; ++i)
      for (const std::uint32_t n : head_.neighbours[vertices[i]]) vertices.push_back(n);
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  }

  /// Over the others: the lips' shares fade on their own, and evening them out would make pointed
  /// corners of round ones.
  void addLips() {
    if (!lips_) return;
    const std::uint32_t chin = controlPointIndex("2.1");
    for (std::uint32_t v = 0; v < rows_.size(); ++v) {
      if (!onFace(v)) continue;
      const LipField::Shares& lips = lips_->at(v);
      if (lips.inside) {
        rows_[v] = WeightRow{};
        rows_[v][chin] = lips.jaw;
        rows_[v][FaceWeights::kHead] = 1 - lips.jaw;
      }
      for (double& share : rows_[v]) share *= 1 - lips.sum;
      for (std::size_t i = 0; i < lip_columns_.size(); ++i)
        rows_[v][lip_columns_[i]] = lips.points[i];
    }
  }

  /// Over the others: what lids have on their margins must be exactly what shuts the eye.
  void addLids() {
    for (std::size_t v = 0; v < rows_.size(); ++v) {
      if (!onFace(v)) continue;
      WeightRow lids{};
      double sum = 0;
      for (const LidPair& eye : eyes_) {
        const double side = eye.side.empty() ? 0 : eye.side[v];
        lids[eye.upper_column] = fade(-side) * eye.upper.weight(head_.positions[v]);
        lids[eye.lower_column] = fade(side) * eye.lower.weight(head_.positions[v]);
        sum += lids[eye.upper_column] + lids[eye.lower_column];
      }
      const double scale = sum > 1 ? 1 / sum : 1, rest = sum > 1 ? 0 : 1 - sum;
      for (std::size_t j = 0; j <= kControlPointCount; ++j)
        rows_[v][j] = rest * rows_[v][j] + scale * lids[j];
    }
  }

  /// Of a lip's point: sideways at the corners, upwards elsewhere.
  double zoneScale(std::string_view number) const {
    const Eigen::Index axis = number == "8.3" || number == "8.4" ? 0 : 1;
    double out = 1;
    for (const ZoneScale& scale : desc_.zone_scales)
      if (const FaceFeature* feature = findFaceFeature(scale.point);
          feature != nullptr && feature->number == number)
        out *= scale.factors[axis];
    return out;
  }

  bool onFace(std::size_t v) const {
    return head_.weld[v] == v && face_[head_.pieces.of_vertex[v]] && !head_.neighbours[v].empty();
  }

  /// Lashes, teeth, eyeballs: see faceWeights().
  void addOtherPieces();
  void collect(FaceWeights& out) const;

  const FaceWeightsDesc& desc_;
  const TriMesh& mesh_;
  const FacePoints& points_;
  FaceAxes axes_;
  std::vector<ControlZone> zones_;
  HeadSurface head_;
  std::vector<bool> face_;  ///< per piece whether it is the face's skin
  std::vector<SlitZones> slits_;
  std::vector<LidPair> eyes_;
  std::optional<LipField> lips_;
  std::vector<std::uint32_t> lip_columns_;  ///< of its points; empty where they have plain zones
  std::vector<WeightRow> rows_;             ///< per vertex that stands for itself
};

void WeightMaker::addOtherPieces() {
  struct Extent {
    Vec3d low = Vec3d::Constant(1e300), high = Vec3d::Constant(-1e300);
    double farthest = 0;  ///< [m] from the skin
  };
  std::vector<Triangle> skin;
  for (const Triangle& t : head_.triangles)
    if (face_[head_.pieces.of_vertex[t[0]]]) skin.push_back(t);
  const TriangleTree tree(std::span<const Vec3d>(head_.positions), skin);
  const FaceUnits units = measureFaceUnits(points_);
  const double close = 0.12 * units.eye_separation_m;
  // Corners may be raised or droop: the lips' line is where their middles meet.
  Vec3d mouth = 0.5 * (points_.at("8.3") + points_.at("8.4"));
  mouth += axes_.up.dot(0.5 * (points_.at("8.1") + points_.at("8.2")) - mouth) * axes_.up;
  const auto inFace = [&](const Vec3d& p) {
    const Vec3d off = p - mouth;
    return Vec3d(axes_.left.dot(off), axes_.up.dot(off), axes_.forward.dot(off));
  };
  std::vector<Extent> extents(head_.pieces.count);
  for (std::size_t v = 0; v < rows_.size(); ++v) {
    Extent& extent = extents[head_.pieces.of_vertex[v]];
    if (head_.weld[v] != v || face_[head_.pieces.of_vertex[v]]) continue;
    const Vec3d p = inFace(head_.positions[v]);
    extent.low = extent.low.cwiseMin(p);
    extent.high = extent.high.cwiseMax(p);
    if (extent.farthest > close) continue;
    const std::optional<TriangleTree::Nearest> at = tree.closestPoint(head_.positions[v]);
    extent.farthest = std::max(extent.farthest, at ? at->distance : 2 * close);
  }
  const std::uint32_t chin = controlPointIndex("2.1");
  for (std::size_t v = 0; v < rows_.size(); ++v) {
    const std::uint32_t piece = head_.pieces.of_vertex[v];
    if (head_.weld[v] != v || face_[piece]) continue;
    const Extent& extent = extents[piece];
    const Vec3d size = extent.high - extent.low;
    const double width = units.mouth_width_m;
    const bool in_mouth = std::max(extent.high.x(), -extent.low.x()) < 0.7 * width &&
                          extent.high.y() < 0.5 * width && extent.low.y() > -0.8 * width &&
                          extent.high.z() < 0.3 * width && extent.low.z() > -1.5 * width;
    // Balls are as deep as they are wide; what is glued onto the skin is flat, or a single hair.
    const bool flat = size.minCoeff() < 0.4 * size.maxCoeff() || size.maxCoeff() < close;
    // Upper teeth reach below the lips' line, lower ones a little above it.
    const bool below = 0.25 * extent.low.y() + 0.75 * extent.high.y() < 0;
    if (in_mouth && below) {
      rows_[v][chin] = 1;
    } else if (flat && extent.farthest <= close && !in_mouth) {
      const TriangleTree::Nearest at = *tree.closestPoint(head_.positions[v]);
      const Triangle& t = skin[at.triangle];
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t j = 0; j <= kControlPointCount; ++j)
          rows_[v][j] += at.barycentric[static_cast<Eigen::Index>(c)] * rows_[t[c]][j];
    } else {
      rows_[v][FaceWeights::kHead] = 1;
    }
  }
}

void WeightMaker::collect(FaceWeights& out) const {
  out.offsets = {0};
  std::vector<FaceWeights::Share> row;
  for (std::size_t v = 0; v < rows_.size(); ++v) {
    const WeightRow& weights = rows_[head_.weld[v]];
    row.clear();
    for (std::uint32_t j = 0; j <= kControlPointCount; ++j)
      if (weights[j] > kMinWeight) row.push_back({j, weights[j]});
    detail::pruneShares(row, desc_.max_influences, !eyes_.empty());
    out.shares.insert(out.shares.end(), row.begin(), row.end());
    out.offsets.push_back(static_cast<std::uint32_t>(out.shares.size()));
  }
}

}  // namespace

double FaceWeights::weight(std::size_t vertex, std::uint32_t point) const {
  for (const Share& s : (*this)[vertex])
    if (s.point == point) return s.weight;
  return 0;
}

Result<FaceWeights> faceWeights(const TriMesh& mesh, const FacePoints& points,
                                const FaceWeightsDesc& desc, Diagnostics& notes) {
  DERM_CHECK(validateControlPoints(points));
  if (desc.max_influences < 2 || desc.max_influences > kControlPointCount + 1)
    return Error{ErrorCode::BadArgument, "max_influences must be 2 to 29", {}};
  if (mesh.triangles.empty())
    return Error{ErrorCode::BadData, "the head has no triangles", {.element = "mesh"}};
  std::vector<ControlZone> zones = controlZones(points, desc.with_jaw);
  DERM_CHECK(scaleZones(desc.zone_scales, zones));
  return WeightMaker(mesh, points, desc, std::move(zones)).make(notes);
}

}  // namespace derm
