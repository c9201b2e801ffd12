#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derm/base/ids.h"
#include "derm/deform/flesh_contact.h"
#include "derm/deform/layer.h"
#include "derm/math/spring.h"

namespace derm {

/// How the motion fades towards both ends of the virtual bone; y = -1 and 1 there, 0 in the middle.
enum class FleshAttenuation {
  Wyvill,    ///< 1 + (-4 y^6 + 17 y^4 - 22 y^2) / 9: flat at both ends, so neighbours join smoothly
  Parabola,  ///< 1 - y^2: joins with a kink
  None,      ///< 1 everywhere, beyond the ends too
};

enum class FleshIntegrator {
  Exact,  ///< the exact solution: stable, the same motion for any step
  /// Symplectic, as in Larboulette, Cani, Arnaldi 2006, section 2.3.2; refused where it would
  /// explode.
  Euler,
};

/// What the safe elongation is taken over.
enum class FleshLimit {
  Vertex,   ///< each vertex by its own distance from the bone: one squeezed spot stays alone
  Element,  ///< the whole element by its tightest vertex, e_max = min d_i / alpha_i
};

/// Springs with a name.
enum class FleshSoftness { Muscle, Fat, Belly, Jelly };

struct FleshSpring {
  double frequency_hz = 3;      ///< [Hz] of the free swing
  double damping_ratio = 0.15;  ///< 1 = does not swing
};
FleshSpring springOf(FleshSoftness softness);

/// One mass of flesh on one damped spring: plain and editable.
///
/// ```
///   dominant ●──────────── O ────────────◉ barycentre of the ends     O: static frame F_s, in the
///                          ┊ u                                        middle of the virtual bone,
///                          ✕ dynamic frame F_d                        rigid with the dominant
///                          joint
/// ```
/// A vertex moves by alpha * u: alpha = shape * attenuation, normalised to a largest value of 1;
/// shape is its distance from the virtual bone minus bone_radius_m.
/// Method: Larboulette, Cani, Arnaldi, "Ajout de détails dynamiques à une animation temps-réel de
/// personnage", 2006, part 2. Where we differ: the step is exact; the anchor's acceleration counts
/// per inner step; the limit follows the pose, takes velocity away too, and sets in softly;
/// rotation and contact are new.
struct FleshDesc {
  std::string name = "flesh";
  JointId dominant;                ///< gives the element its rigid motion
  std::vector<JointId> ends = {};  ///< below `dominant`; none where `to` is given
  /// [m] where the virtual bone begins and ends beside the mesh in its bind pose, where that is not
  /// at the joints: `from` follows the dominant joint, `to` the ends (or the dominant joint).
  std::optional<Vec3d> from = {};
  std::optional<Vec3d> to = {};
  /// Whose strengths bound the element; empty = automatic: vertices by the weights of the joints
  /// between dominant and ends.
  std::string vertex_group = {};

  FleshSoftness softness = FleshSoftness::Belly;  ///< gives what the next two do not
  std::optional<double> frequency_hz = {};        ///< [Hz] (0, 1000]
  std::optional<double> damping_ratio = {};       ///< [0, 100]
  double mass_kg = 1.0;                  ///< [kg] > 0; matters only beside stiffness and damping
  std::optional<double> stiffness = {};  ///< [N/m] > 0, instead of frequency_hz
  std::optional<double> damping = {};    ///< [N s/m] >= 0, instead of damping_ratio
  FleshIntegrator integrator = FleshIntegrator::Exact;
  double euler_step_s = 1.0 / 240;  ///< [s] > 0 longest step of FleshIntegrator::Euler

  /// [0,1] of 9.81 m/s^2. Off by default: a modelled character already hangs as gravity has it, and
  /// the free fall of a jump lifts the flesh all the same.
  double gravity = 0.0;
  Vec3d gravity_direction = Vec3d(0, -1, 0);  ///< any length but 0

  double bone_radius_m = 0.0;  ///< [m] >= 0 what lies nearer to the bone does not move
  /// [m] > bone_radius_m: what lies farther from the bone does not move, and motion fades out over
  /// the outer half of it; absent = no bound. For flesh that stands out from a body: a breast.
  std::optional<double> reach_m = {};
  double shape_power = 1.0;  ///< (0,8] of the distance: 2 leaves more of the motion to the outside
  FleshAttenuation attenuation = FleshAttenuation::Wyvill;

  double max_elongation = 0.9;  ///< (0,1] of what would bring a vertex onto the bone
  /// [0,1] of the limit: from here on flesh grows stiffer and nears it without ever reaching it.
  /// 1 = a hard stop.
  double soft_limit = 0.5;
  FleshLimit limit = FleshLimit::Vertex;
  /// [0,1] how much the offset may change along the skin, in metres per metre: below 1 no triangle
  /// turns over. 0 = no such limit.
  double max_slope = 0.5;

  bool rotation = false;  ///< twist about the bone and swing, on a spring of their own
  /// [Hz] (0, 1000]; absent = that of the spring.
  std::optional<double> rotation_frequency_hz = {};
  std::optional<double> rotation_damping_ratio = {};  ///< [0, 100]; absent = that of the spring

  std::vector<ContactShape> contact = {};  ///< what the flesh must not enter
  double contact_margin_m = 0.002;         ///< [m] >= 0 within which contact sets in

  bool operator==(const FleshDesc&) const = default;
};

/// Every field in range, joints fit the skeleton; the error names the field. What needs the mesh is
/// checked when binding.
Result<void> validate(const FleshDesc& desc, const Skeleton& skeleton);

/// Requires a valid desc.
SpringConstants springOf(const FleshDesc& desc);
SpringConstants rotationSpringOf(const FleshDesc& desc);

/// A layer with one element. Comes after skinning; before the volume layer where there is one, so
/// that volume stays exact. Several elements are several layers and may share vertices; each keeps
/// its promise with the surface it is given.
///
/// Promises: no vertex moves further than max_elongation of its distance from the virtual bone
/// (minus bone_radius_m) in the pose of the frame, whatever the motion. A first frame, a seek or a
/// cut starts at rest (hanging, with gravity) and keeps the speed it meets: no kick. Offsets change
/// along the skin by at most max_slope, so that it does not fold over itself. Without motion
/// and gravity not a bit changes.
/// Its mask (LayerBinding::masks) is alpha, named as the element.
/// Cost: O(vertices of the element) per frame, some 100 ns per step. Allocates nothing per frame.
/// Bind fails where the dominant joint is not above an end, the virtual bone has no length, no
/// vertex can move, or the Euler step would explode.
///
/// After an edit (Stack::rebind) the swing goes on: elongation and velocity are kept as long as the
/// virtual bone is the same. Of the parameters only the joints, from, to, vertex_group,
/// shape_power, attenuation, bone_radius_m and reach_m are worked into tables.
LayerFactory fleshLayer(const FleshDesc& desc);

/// Where an element is, in model space.
struct FleshFrames {
  Vec3d bone_from = Vec3d::Zero();           ///< [m] the virtual bone's ends
  Vec3d bone_to = Vec3d::Zero();             ///< [m]
  Affine3d at_rest = Affine3d::Identity();   ///< F_s, rigid with the dominant joint
  Affine3d swinging = Affine3d::Identity();  ///< F_d, the same moved by the elongation and turned
};

/// The layer at work, for those who look at it while it plays.
class FleshLayer : public Layer {
 public:
  /// Of the last frame.
  virtual FleshFrames frames() const = 0;
  /// [m] of the mass from its position at rest, model space.
  virtual Vec3d elongation_m() const = 0;
  virtual Vec3d velocity_m_per_s() const = 0;  ///< [m/s] of the same
};

}  // namespace derm
