#include "derm/face/shape_fit.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "derm/base/number_text.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/face_points.h"

namespace derm {
namespace {

/// Shapes of looking against the others: lids say little of where an eye looks.
constexpr double kGazeCost = 10;
/// What a change of all coefficients by less than this is worth another round.
constexpr float kSettled = 2e-4f;
constexpr int kMaxRounds = 60;
/// Of the eyes' distance: what motions are measured in is no less.
constexpr double kLeastLength = 0.04;

/// One frame's part: |D c - x|^2 = c^T Q c - 2 b^T c + const.
struct FrameTerms {
  const Eigen::MatrixXd* normal = nullptr;  ///< Q
  Eigen::VectorXd right;                    ///< b
};

class ShapeFitter {
 public:
  ShapeFitter(const PointTracks& tracks, const FacePoints& face, const ShapeFitDesc& desc)
      : desc_(desc) {
    const FaceUnits units = measureFaceUnits(face);
    const std::span<const std::string_view> numbers = controlPointNumbers();
    const std::span<const FaceShape> shapes = faceShapes();
    shapes_ = shapes.size();
    columns_ = numbers.size() * 3;
    // Lids go less far than lips and show as much. Those that are shut at rest have no opening.
    const double least = kLeastLength * units.eye_separation_m;
    for (const std::string_view number : numbers)
      scale_.push_back(
          1 / std::max(number[0] == '3' ? 2 * units.lid_opening_m : units.mouth_nose_m, least));
    table_ = Eigen::MatrixXd::Zero(index(columns_), index(shapes_));
    for (std::size_t s = 0; s < shapes_; ++s) {
      const Result<std::vector<PointDisplacement>> moves =
          faceShapeDisplacements(shapes[s].name, face);
      DERM_REQUIRE(moves.ok());
      for (const PointDisplacement& d : *moves) {
        const auto j = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), d.point) -
                                                numbers.begin());
        for (int i = 0; i < 3; ++i)
          table_(index(3 * j) + i, index(s)) += scale_[j] * d.displacement_m[i];
      }
      cost_.push_back(desc.thrift * (shapes[s].name.starts_with("eyeLook") ? kGazeCost : 1));
    }
    whole_ = table_.transpose() * table_;
    findRows(tracks, numbers);
    makeTerms(tracks);
    values_.assign(tracks.frames() * shapes_, 0.0f);
  }

  Result<void> solve(const Progress& progress) {
    const std::size_t frames = terms_.size();
    for (int round = 0; round < kMaxRounds; ++round) {
      if (!keepGoing(progress, double(round) / kMaxRounds, "coefficients"))
        return Error{ErrorCode::Cancelled, "cancelled", {}};
      float change = 0;
      // Forwards, then backwards: what one frame has found reaches both neighbours.
      for (std::size_t k = 0; k < frames; ++k)
        change =
            std::max(change, improve(round % 2 == 0 ? k : frames - 1 - k, round == 0 ? 40 : 3));
      if (change < kSettled) break;
    }
    return {};
  }

  std::vector<float> values() && { return std::move(values_); }

  /// Mean distance of points from where they should be [m].
  double missed(const PointTracks& tracks) const {
    double sum = 0;
    for (std::size_t f = 0; f < terms_.size(); ++f) {
      Eigen::VectorXd c(index(shapes_));
      for (std::size_t s = 0; s < shapes_; ++s) c[index(s)] = double(values_[f * shapes_ + s]);
      const Eigen::VectorXd off = table_ * c - displacements(tracks, f);
      for (std::size_t j = 0; j < scale_.size(); ++j)
        sum += off.segment(index(3 * j), 3).norm() / scale_[j];
    }
    return sum / double(std::max<std::size_t>(terms_.size(), 1) * scale_.size());
  }

 private:
  static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

  /// Which of the tracks' labels a control point is.
  void findRows(const PointTracks& tracks, std::span<const std::string_view> numbers) {
    for (const std::string_view number : numbers)
      for (std::size_t l = 0; l < tracks.labels.size(); ++l) {
        const FaceFeature* feature = findFaceFeature(tracks.labels[l]);
        if (feature == nullptr || feature->number != number) continue;
        label_.push_back(l);
        break;
      }
  }

  Eigen::VectorXd displacements(const PointTracks& tracks, std::size_t f) const {
    Eigen::VectorXd out(index(columns_));
    for (std::size_t j = 0; j < label_.size(); ++j)
      out.segment(index(3 * j), 3) =
          scale_[j] * (tracks.frame(f)[label_[j]] - tracks.neutral[label_[j]]);
    return out;
  }

  void makeTerms(const PointTracks& tracks) {
    const std::size_t frames = tracks.frames();
    own_.reserve(frames);
    for (std::size_t f = 0; f < frames; ++f) {
      Eigen::VectorXd x = displacements(tracks, f);
      bool all = true;
      Eigen::MatrixXd seen;
      for (std::size_t j = 0; j < label_.size() && !tracks.confidence.empty(); ++j) {
        if (tracks.confidence[f * tracks.labels.size() + label_[j]] > 0) continue;
        if (all) seen = table_;
        all = false;
        seen.middleRows(index(3 * j), 3).setZero();
        x.segment(index(3 * j), 3).setZero();
      }
      if (all) {
        terms_.push_back({&whole_, table_.transpose() * x});
      } else {
        own_.push_back(seen.transpose() * seen);
        terms_.push_back({&own_.back(), seen.transpose() * x});
      }
      // Frames far apart need not be alike.
      const double dt = f > 0 ? tracks.times_s[f] - tracks.times_s[f - 1] : 1;
      held_.push_back(f > 0 ? desc_.smoothness / std::max(30 * dt, 1e-3) : 0);
    }
  }

  /// Coordinate descent on one frame; returns the largest change.
  float improve(std::size_t f, int rounds) {
    float* c = values_.data() + f * shapes_;
    const float* before = f > 0 ? c - shapes_ : nullptr;
    const float* after = f + 1 < terms_.size() ? c + shapes_ : nullptr;
    const double from = before != nullptr ? held_[f] : 0;
    const double to = after != nullptr ? held_[f + 1] : 0;
    const Eigen::MatrixXd& q = *terms_[f].normal;
    float largest = 0;
    for (int round = 0; round < rounds; ++round) {
      float change = 0;
      for (std::size_t s = 0; s < shapes_; ++s) {
        const double curvature = q(index(s), index(s)) + from + to;
        if (!(q(index(s), index(s)) > 0)) continue;
        double slope = terms_[f].right[index(s)] - cost_[s] / 2;
        for (std::size_t k = 0; k < shapes_; ++k)
          if (k != s && c[k] != 0) slope -= q(index(s), index(k)) * double(c[k]);
        if (from > 0) slope += from * double(before[s]);
        if (to > 0) slope += to * double(after[s]);
        const auto best = static_cast<float>(std::clamp(slope / curvature, 0.0, 1.0));
        change = std::max(change, std::abs(best - c[s]));
        c[s] = best;
      }
      largest = std::max(largest, change);
      if (change < kSettled / 4) break;
    }
    return largest;
  }

  ShapeFitDesc desc_;
  std::size_t shapes_ = 0, columns_ = 0;
  std::vector<double> scale_;       ///< [1/m] per control point
  std::vector<double> cost_;        ///< per shape
  std::vector<std::size_t> label_;  ///< per control point: in the tracks
  Eigen::MatrixXd table_, whole_;
  std::vector<Eigen::MatrixXd> own_;  ///< of frames in which points were not seen
  std::vector<FrameTerms> terms_;
  std::vector<double> held_;  ///< per frame: how much it holds on to the one before
  std::vector<float> values_;
};

}  // namespace

Result<ShapeTracks> fitShapes(const PointTracks& tracks, const ShapeFitDesc& desc,
                              Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(validate(tracks, "points"));
  for (const auto& [value, name] :
       {std::pair{desc.smoothness, "smoothness"}, {desc.thrift, "thrift"}})
    if (!(value >= 0 && std::isfinite(value)))
      return Error{ErrorCode::BadArgument, "must be 0 or more", {.element = name}};
  if (tracks.space != TrackSpace::Model)
    return Error{ErrorCode::BadData,
                 "points of a picture; coefficients need them in space",
                 {.element = "points"}};
  FacePoints face;
  for (std::size_t l = 0; l < tracks.labels.size(); ++l)
    if (const FaceFeature* feature = findFaceFeature(tracks.labels[l]);
        feature != nullptr && face.find(feature->number) == nullptr)
      face.set(feature->number, tracks.neutral[l]);
  DERM_CHECK(validateControlPoints(face));

  ShapeFitter fitter(tracks, face, desc);
  DERM_CHECK(fitter.solve(progress));
  const double missed = fitter.missed(tracks) / measureFaceUnits(face).eye_separation_m;
  notes.info("shape-fit", "points",
             "points miss their places by " + shortNumber(100 * missed, 2) +
                 " % of the eyes' distance on average");
  ShapeTracks out;
  for (const FaceShape& shape : faceShapes()) out.names.emplace_back(shape.name);
  out.times_s = tracks.times_s;
  out.values = std::move(fitter).values();
  for (const Transform& head : tracks.head) out.head.push_back(head.rotation.cast<double>());
  return out;
}

}  // namespace derm
