#pragma once

#include <optional>
#include <string>

#include "derm/deform/layer.h"

namespace derm {

/// How skin keeps out of skin.
struct ContactDesc {
  /// [m] > 0 between two skins; where the flesh is thin, at most a twentieth of its thickness.
  /// Absent = 1/700 of the root of the skin's area: 2 mm on a grown-up.
  std::optional<double> gap_m = {};
  double max_move = 0.35;  ///< (0,1] of the thickness there that skin gives way at most
  int passes = 3;          ///< [1,8]

  bool operator==(const ContactDesc&) const = default;
};

/// What the layer did in the last frame.
struct ContactReport {
  std::size_t contacts = 0;   ///< vertices found inside another part, first pass
  std::size_t moved = 0;      ///< vertices moved
  double largest_move_m = 0;  ///< [m]
  bool overflow = false;      ///< more contacts than there is room for: some were left out
};

/// The layer at work; what StackRunner::find() gives for it.
class ContactLayer : public Layer {
 public:
  virtual const ContactReport& report() const = 0;
  using Layer::report;
};

/// Keeps skin out of skin where limbs meet: arm and trunk, thigh and belly, calf and thigh, finger
/// and palm. Comes after skinning and flesh, before volume, which then gives back beside a contact
/// what the contact took (kHeldChannel tells it what stays).
///
/// A vertex is pulled back to the rest pose by another part's bone; where it lands under that
/// part's skin, a grid names the rest vertices near it, and from these a walk over the posed skin
/// leads to the nearest point: the right sheet, however deep it is inside, and the skin as flesh
/// and other layers made it. Both skins then give way to the surface half-way between them; of all
/// these wishes a smooth displacement of the skin is made, and a guard keeps triangles from turning
/// over. See docs/contact.md for the whole method.
///
/// Promises: the rest pose, and a frame in which no skin comes nearer than the gap, are handed on
/// to the bit; no vertex moves further than 1.2 max_move of the flesh's thickness; nothing is
/// remembered from frame to frame. It makes things better, often by four fifths; it does not
/// promise that nothing intersects. Limbs sunk in others by more than their own thickness are left
/// alone: that is a matter of the pose.
/// Pieces without volume or inside out take no part, with a note; so do characters without a skin.
/// Its mask (LayerBinding::masks), named as the layer, is 1 where it moves the skin.
///
/// Cost: some 0.03 us per vertex in a frame without contact, five to ten times that with much of
/// it. Memory about 300 bytes per vertex and a grid. Fails below skinning and on numbers out of
/// range.
LayerFactory contactLayer(std::string name, const ContactDesc& desc);

}  // namespace derm
