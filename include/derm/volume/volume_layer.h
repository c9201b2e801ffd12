#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/volume/section_correction.h"
#include "derm/volume/volume_mask.h"
#include "derm/volume/volume_methods.h"
#include "derm/volume/volume_regions.h"
#include "derm/volume/volume_swell.h"

namespace derm {

/// What the volume layer does. Everything works by default: an artist sets nothing.
struct VolumeDesc {
  VolumeMethodDesc method = {.method = VolumeMethod::Section};
  SectionDesc section = {};  ///< numbers of VolumeMethod::Section
  RegionsDesc regions = {};
  /// Where it moves: a product of terms. None = what suits the method: around the joints, by
  /// weights. Section goes by weights in any case; terms here are multiplied in.
  VolumeMaskDesc mask = {.terms = {}};
  std::vector<SwellDesc> swell = {};  ///< muscles that bulge by a stated amount

  bool operator==(const VolumeDesc&) const = default;
};

/// Looks, by name.
enum class VolumePreset {
  Default,  ///< bodies
  Local,    ///< every joint on its own: for measuring, and for stylised limbs
  Tube,     ///< ropes, tails, cylinders, single limbs
  Shape,    ///< shape before volume: no radius changes by more than 15 %; the rest is reported
  /// Along normals, a wide zone: a rubber toy (Rohmer et al. 2008). For linear skinning.
  Rubber,
  Fidelity,   ///< Rohmer, Hahmann, Cani 2008, made exact: along normals, pieces as a whole
  Flesh,      ///< soft: neighbours move alike, and more the farther they are from the bone
  Muscle,     ///< the parts between joints swell: along the gradient
  ExactAxes,  ///< as printed: x, then y, then z, a third each
};
VolumeDesc volumePreset(VolumePreset preset);

/// What a frame did, region by region.
struct VolumeReport {
  std::vector<RegionOutcome> regions;  ///< one per region of the binding
  std::vector<double> after_m3;        ///< [m^3] per region, before rounding to float
  int iterations = 0;                  ///< Newton steps
  double largest_move_m = 0;           ///< [m]
  std::uint32_t moved_vertex = 0;      ///< the vertex that moved most
  /// Largest move against the limb's radius there: the distance to the vertex's centre of rotation
  /// (those of volume_methods.h: to the nearest joint's anchor). Above 0.5 the surface is suspect:
  /// the rig, or a target out of reach. Section stays below.
  double largest_change = 0;

  /// Relative, of regions that can move; against targets as clamped.
  double largestError() const;
};

/// The checked form of the layer; a LayerBinding of type "volume".
class VolumeLayerBinding : public LayerBinding {
 public:
  using LayerBinding::LayerBinding;
  /// The regions' names and joints.
  virtual std::span<const VolumeRegion> regions() const = 0;
  /// [m^3] per region, without morphs.
  virtual std::span<const double> restVolumes() const = 0;
  /// How the surface was divided: VolumeRegions::bind() gives the same regions again, for
  /// measuring.
  virtual const RegionsDesc& regionsDesc() const = 0;
};

/// The layer at work; what StackRunner::find() gives for it.
class VolumeLayer : public Layer {
 public:
  using Layer::report;
  /// Of the last frame. May sum volumes when asked.
  virtual VolumeReport report() const = 0;
};

/// Gives a skinned surface its volume back, frame by frame. Comes after skinning (centre is what
/// it is made for), before or after flesh.
///
/// Targets are the regions' volumes at rest, as morphs and other layers before skinning shape it
/// (SkinFrame::shapedRest), grown with the scale of the pose's joints (the mean determinant of the
/// matrices that carry a region): scaling a character scales the result, and what its morphs make
/// of it stays. Morphs cost one more sum over the surface in frames that have any. A frame whose
/// volumes are right to 2e-7, which is what float positions can tell, is not touched: rest in, rest
/// out, to the bit. Where a surface cannot be met it is left as near as it came; see VolumeReport.
/// A character without a skin passes through, with a note.
///
/// Its mask (LayerBinding::masks) is gamma, named as the layer; of VolumeMethod::Section 1 - sum of
/// squared weights, times the mask's terms.
///
/// Centres of rotation are those of the skinning below: its alpha and twist_spread hold here too.
/// After an edit (Stack::rebind) of numbers of `section` alone all tables are kept.
///
/// Fails below skinning, on numbers out of range and groups that do not exist. Notes what
/// MeasuredSurface and the correction note. Memory about 200 bytes per vertex that bends.
LayerFactory volumeLayer(std::string name, const VolumeDesc& desc);

}  // namespace derm
