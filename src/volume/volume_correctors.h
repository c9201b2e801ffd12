#pragma once

#include <memory>
#include <span>

#include "derm/volume/volume_layer.h"

#include "volume/volume_frame.h"

/// Private to room volume: the methods of the volume layer behind one face.
namespace derm::detail {

class VolumeCorrector {
 public:
  virtual ~VolumeCorrector() = default;
  /// Fills the frame's displacement, where it has points, and what the report can have for free.
  /// May write to the skin's back buffer. Allocation-free.
  virtual void correct(const FrameInput& in, SkinFrame& skin, VolumeFrame& frame,
                       VolumeReport& report) noexcept = 0;
  /// Moves the skin by what correct() found.
  virtual void apply(const VolumeFrame& frame, SkinFrame& skin) noexcept { frame.apply(skin); }
  /// The rest of the report of the last frame.
  virtual void finishReport(const VolumeFrame& frame, VolumeReport& report) const = 0;
};

class VolumeCorrectorBinding {
 public:
  virtual ~VolumeCorrectorBinding() = default;
  virtual std::span<const double> restVolumes() const = 0;
  /// [0,1] how much a welded vertex may move.
  virtual float maskOf(std::uint32_t welded) const = 0;
  /// Whether correct() works on the frame's points.
  virtual bool needsPoints() const = 0;
  virtual std::unique_ptr<VolumeCorrector> makeCorrector(const VolumeFrameBinding& frame) const = 0;
  /// The same with other numbers of VolumeDesc::section, sharing all tables; null where the method
  /// does not read them.
  virtual Result<std::shared_ptr<const VolumeCorrectorBinding>> with(const VolumeDesc&) const {
    return std::shared_ptr<const VolumeCorrectorBinding>();
  }
};

/// What a method is bound to.
struct VolumeMaterial {
  const Character& character;
  const BoundSurface& bound;
  std::shared_ptr<const MeasuredSurface> surface;
  std::shared_ptr<const VolumeRegions> regions;
  const SkinningInUse& skinning;
};

Result<std::unique_ptr<VolumeCorrectorBinding>> bindVolumeCorrector(const VolumeMaterial& material,
                                                                    const VolumeDesc& desc,
                                                                    Diagnostics& notes);

}  // namespace derm::detail
