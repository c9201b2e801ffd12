#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/implicit/target.h"

namespace derm {

/// Fields that no step of which rises faster than `lipschitz` per metre: the range over a box
/// follows from its centre.
class LipschitzTarget : public Target {
 public:
  FieldRange rangeIn(const Box3d& box) const override;

 protected:
  virtual double lipschitz() const { return 1; }  ///< [1/m]
};

/// A ball; signed distance.
class SphereTarget final : public LipschitzTarget {
 public:
  /// Requires radius_m > 0 and finite numbers.
  SphereTarget(const Vec3d& centre, double radius_m);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override { seeds.push_back({centre_}); }

 private:
  Vec3d centre_;
  double radius_m_;
};

/// A ring around the y axis through `centre`; signed distance.
class TorusTarget final : public LipschitzTarget {
 public:
  /// Requires 0 < tube_m < ring_m.
  TorusTarget(const Vec3d& centre, double ring_m, double tube_m);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

 private:
  Vec3d centre_;
  double ring_m_;
  double tube_m_;
};

/// All points within a radius of a segment; signed distance.
class SegmentTarget final : public LipschitzTarget {
 public:
  SegmentTarget(const Vec3d& from, const Vec3d& to, double radius_m);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

 private:
  Vec3d from_;
  Vec3d to_;
  double radius_m_;
};

/// The screw of Desbrun, Cani 1997, figure 6: a segment beside the y axis, its space twisted around
/// that axis by `turns` over the segment's height. Not a distance; its slope is measured.
class ScrewTarget final : public LipschitzTarget {
 public:
  struct Desc {
    Vec3d centre = Vec3d::Zero();  ///< [m]
    double height_m = 1.4;         ///< of the segment
    double offset_m = 0.3;         ///< of the segment from the axis
    double radius_m = 0.22;        ///< around the segment, before the twist
    double turns = 1.25;
  };
  explicit ScrewTarget(const Desc& desc);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  double slope() const override { return 0; }
  Box3d bounds() const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

 protected:
  double lipschitz() const override;

 private:
  Desc desc_;
};

/// A letter D with round edges, standing in the xy plane, 1 high; signed distance but for the
/// innermost rounding.
class LetterDTarget final : public LipschitzTarget {
 public:
  explicit LetterDTarget(const Vec3d& centre, double height_m = 1.0);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

 private:
  Vec3d centre_;
  double height_m_;
};

/// Point skeletons blended by addition (Wyvill, McPheeters, Wyvill 1986): each gives
/// W = 1 - (4 q^3 - 17 q^2 + 22 q)/9, q = r^2/R^2 < 1; W(1/4) = 1/2, so one of them alone is a ball
/// of radius R/2 at iso 0.5. The slope is measured.
class BlobTarget final : public Target {
 public:
  struct Blob {
    Vec3d centre = Vec3d::Zero();  ///< [m]
    double reach_m = 0.5;          ///< [m] R > 0
  };
  explicit BlobTarget(std::vector<Blob> blobs, double iso = 0.5);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  double iso() const override { return iso_; }
  double slope() const override { return 0; }
  Box3d bounds() const override;
  FieldRange rangeIn(const Box3d& box) const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;
  const std::vector<Blob>& blobs() const { return blobs_; }

 private:
  std::vector<Blob> blobs_;
  double iso_;
};

/// Several targets that are signed distances as one, with rounded joints (quadratic smooth maximum)
/// of radius `blend_m`; 0 = the plain union.
class UnionTarget final : public Target {
 public:
  explicit UnionTarget(std::vector<std::shared_ptr<const Target>> parts, double blend_m = 0);
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override;
  Box3d bounds() const override;
  FieldRange rangeIn(const Box3d& box) const override;
  void appendSeeds(std::vector<TargetSeed>& seeds) const override;

 private:
  std::vector<std::shared_ptr<const Target>> parts_;
  double blend_m_;
};

/// The six blobs of Desbrun, Cani 1997, section 6.2, on the axes, and the two they
/// become: box [-1, 1]^3, iso 0.5.
BlobTarget sixBlobs();
BlobTarget twoBlobs();

}  // namespace derm
