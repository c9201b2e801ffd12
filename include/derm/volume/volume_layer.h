#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/deform/twist_spread.h"
#include "derm/volume/section_correction.h"
#include "derm/volume/volume_mask.h"
#include "derm/volume/volume_methods.h"
#include "derm/volume/volume_regions.h"
#include "derm/volume/volume_swell.h"

namespace derm {

/// What moves the skin to get its volume back.
enum class VolumeCorrection {
  Section,     ///< scales cross-sections about their centres (section_correction.h): recommended
  AxesLinear,  ///< the documents' methods (volume_methods.h), from here on
  AxesExact,
  Gradient,
  Normal,
  Laplacian,
};

/// What the volume layer does. Everything works by default: an artist sets nothing.
struct VolumeDesc {
  VolumeCorrection method = VolumeCorrection::Section;
  /// False: one linearised step. The axes are exact or not by their names.
  bool exact = true;
  /// The documents' methods: the true minimum of the method's energy, at some cost.
  bool minimiser = false;
  RegionsDesc regions;
  /// Where it moves: a product of terms (volume_where.h). Empty = what suits the method: around the
  /// joints, by weights. Section goes by weights in any case; terms here are multiplied in.
  std::vector<MaskTerm> where = {};
  double a = 15;       ///< MaskRule::Weights: width, > 0
  double b = 8;        ///< MaskRule::Weights: localisation, > 0
  double kappa = 5;    ///< Laplacian: weight of the bending, >= 0
  double alpha = 0.5;  ///< Section: see SkinningDesc; that of the skinning below it
  TwistRule twist_spread = TwistRule::Forearms;  ///< Section: that of the skinning below it
  double epsilon = 0.13;                         ///< Section: see SectionDesc
  double sigma = 0.03;                           ///< Section
  double bound = 0;                              ///< Section
  double max_change = 0.5;  ///< (0,1) share of a region's volume; beyond: clamped and reported
  std::string fixed = {};   ///< a vertex group that does not move; empty = none
  std::vector<SwellDesc> swell = {};  ///< muscles that bulge by a stated amount
};

/// Looks, by name.
enum class VolumePreset {
  Default,    ///< bodies
  Local,      ///< every joint on its own: for measuring, and for stylised limbs
  Tube,       ///< ropes, tails, cylinders, single limbs
  Shape,      ///< shape before volume: no radius changes by more than 15 %; the rest is reported
  Rubber,     ///< along normals, a wide zone: the documents' rubber toy. For linear skinning
  Fidelity,   ///< what the documents do, made exact: along normals, pieces as a whole
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
  /// (the documents' methods: to the nearest joint's foot). Above 0.5 the surface is suspect: the
  /// rig, or a target out of reach. Section stays below.
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

/// The layer at work; what StackRunner::layer() gives for it.
class VolumeLayer : public Layer {
 public:
  using Layer::report;
  /// Of the last frame. May sum volumes when asked.
  virtual VolumeReport report() const = 0;
};

/// Gives a skinned surface its volume back, frame by frame. Comes after skinning (centre is what
/// it is made for), before or after flesh.
///
/// Targets are the regions' volumes at rest, with the morphs that layers below have added
/// (SkinFrame::morphedRest), grown with the scale of the pose's joints (the mean determinant of the
/// matrices that carry a region): scaling a character scales the result, and what its morphs make
/// of it stays. Morphs cost one more sum over the surface in frames that have any. A frame whose
/// volumes are right to 2e-7, which is what float positions can tell, is not touched: rest in, rest
/// out, to the bit. Where a surface cannot be met it is left as near as it came; see VolumeReport.
/// A character without a skin passes through, with a note.
///
/// Fails on numbers out of range and groups that do not exist. Notes what MeasuredSurface and the
/// correction note. Memory about 200 bytes per vertex that bends.
LayerFactory volumeLayer(std::string name, const VolumeDesc& desc);

}  // namespace derm
