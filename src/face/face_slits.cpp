#include "derm/face/face_slits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include "derm/mesh/triangle_tree.h"

#include "face/welded_mesh.h"

namespace derm {
namespace {

using detail::WeldedMesh;

// All in widths of the slit.
constexpr double kHalfLength = 0.85;  ///< of the box that is looked at, along the slit
constexpr double kHalfHeight = 0.95;
constexpr double kHalfDepth = 1.1;
constexpr double kSkinLength = 0.62;  ///< beyond this, what is visible is the skin around
constexpr double kSkinHeight = 0.7;
constexpr double kSight = 1.5;  ///< what is farther in front does not hide the slit
// What lies so far behind the corners is not skin: of these the first that leaves a slit. Corners
// that a registration found lie a little before or behind the true ones; lips close before one sees
// far behind them.
constexpr std::array kEyeDepths = {0.02, 0.04, 0.08, 0.12};
constexpr std::array kMouthDepths = {0.3};
constexpr double kShortestBorder = 0.6;  ///< a border that spans less is no slit

/// Cosine below which a triangle is seen too much edge-on to count as skin.
constexpr double kFacing = 0.05;
/// Into a mouth that is open one looks past its margins, onto the inner sides of the lips: there
/// the skin ends where it turns inwards, and not far behind the corners.
constexpr double kOpenMouth = 0.12;  ///< height over width
constexpr double kOpenFacing = 0.35, kOpenDepth = 0.08;
constexpr double kSideView = 0.5;  ///< [rad]

/// A corner beside which the skin turns away from the slit: an eye's outer one.
enum class TurnedCorner { None, First, Second };

struct SlitPositions {
  Vec3d first, second, upper, lower;  ///< [m]
  std::uint32_t piece = 0;
  double depth = 0;
  double facing = kFacing;
  TurnedCorner turned = TurnedCorner::None;
  std::optional<Vec3d> forward;  ///< unit length; from where the corners are the ends
  /// Unit length; between which ends the corners are, where not between those that were given:
  /// those of a mouth that is as high as it is wide may be found anywhere, and its ends with them.
  std::optional<Vec3d> across;
};

Vec3d centroid(const WeldedMesh& mesh, std::size_t t) {
  const Triangle& c = mesh.triangles[t];
  return (mesh.positions[c[0]] + mesh.positions[c[1]] + mesh.positions[c[2]]) / 3;
}

Vec3d areaVector(const WeldedMesh& mesh, std::size_t t) {
  const Triangle& c = mesh.triangles[t];
  return (mesh.positions[c[1]] - mesh.positions[c[0]])
      .cross(mesh.positions[c[2]] - mesh.positions[c[0]]);
}

/// One slit of one mesh, while it is looked for.
class SlitFinder {
 public:
  SlitFinder(const WeldedMesh& mesh, const SlitPositions& points) : mesh_(mesh), points_(points) {}

  std::optional<FaceSlit> find() {
    slit_.width_m = (points_.second - points_.first).norm();
    if (!(slit_.width_m > 0)) return {};
    centre_ = (points_.first + points_.second + points_.upper + points_.lower) / 4;
    if (!orient()) return {};
    collect();
    look();
    tidy();
    const std::vector<std::uint32_t> border = longestBorder();
    if (border.size() < 4) return {};
    return cut(border);
  }

 private:
  double alongOf(const Vec3d& p) const { return (p - centre_).dot(slit_.along); }
  double upOf(const Vec3d& p) const { return (p - centre_).dot(slit_.up); }
  double outwardOf(const Vec3d& p) const { return (p - centre_).dot(slit_.outward); }

  bool orient() {
    slit_.along = (points_.second - points_.first) / slit_.width_m;
    // The area vectors of a patch add up to that of its border, whatever lies within: a socket does
    // not disturb the direction.
    Vec3d outward = Vec3d::Zero();
    const double radius = slit_.width_m;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (mesh_.pieces.of_vertex[mesh_.triangles[t][0]] == points_.piece &&
          (centroid(mesh_, t) - centre_).norm() < radius)
        outward += areaVector(mesh_, t);
    outward -= outward.dot(slit_.along) * slit_.along;
    if (!(outward.norm() > 0)) return false;
    slit_.outward = outward.normalized();
    slit_.up = slit_.outward.cross(slit_.along);
    if (slit_.up.dot(points_.upper - points_.lower) < 0) slit_.up = -slit_.up;
    return true;
  }

  /// Triangles of the piece in the box, and who is beside whom.
  void collect() {
    const double w = slit_.width_m;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (mesh_.flat[t] || mesh_.pieces.of_vertex[mesh_.triangles[t][0]] != points_.piece) continue;
      const Vec3d c = centroid(mesh_, t);
      if (std::abs(alongOf(c)) < kHalfLength * w && std::abs(upOf(c)) < kHalfHeight * w &&
          std::abs(outwardOf(c)) < kHalfDepth * w)
        box_.push_back(static_cast<std::uint32_t>(t));
    }
    for (std::size_t i = 0; i < box_.size(); ++i)
      for (int c = 0; c < 3; ++c) {
        const Triangle& t = mesh_.triangles[box_[i]];
        edges_.push_back({t[c], t[(c + 1) % 3], static_cast<std::uint32_t>(i)});
      }
    std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
      return std::tie(a.from, a.to, a.at) < std::tie(b.from, b.to, b.at);
    });
    // Edges of the box's own outer border are none of the slit's: the mesh goes on there.
    std::vector<std::array<std::uint32_t, 2>> beyond;
    std::vector<bool> in_box(mesh_.triangles.size(), false);
    for (const std::uint32_t t : box_) in_box[t] = true;
    std::vector<bool> near(mesh_.pointCount(), false);
    for (const Edge& e : edges_) near[e.from] = true;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (in_box[t] || mesh_.flat[t]) continue;
      const Triangle& c = mesh_.triangles[t];
      for (int k = 0; k < 3; ++k)
        if (near[c[k]] && near[c[(k + 1) % 3]]) beyond.push_back({c[k], c[(k + 1) % 3]});
    }
    std::sort(beyond.begin(), beyond.end());
    beyond_ = std::move(beyond);
  }

  std::optional<std::uint32_t> across(std::uint32_t from, std::uint32_t to) const {
    const auto at = std::lower_bound(edges_.begin(), edges_.end(), Edge{to, from, 0},
                                     [](const Edge& a, const Edge& b) {
                                       return std::tie(a.from, a.to) < std::tie(b.from, b.to);
                                     });
    if (at == edges_.end() || at->from != to || at->to != from) return {};
    return at->at;
  }

  /// Marks what faces the viewer with nothing in front, and hangs together with the skin around.
  void look() {
    const double w = slit_.width_m;
    std::vector<Triangle> triangles;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (mesh_.pieces.of_vertex[mesh_.triangles[t][0]] == points_.piece &&
          (centroid(mesh_, t) - centre_).norm() < 3 * w)
        triangles.push_back(mesh_.triangles[t]);
    const TriangleTree tree(mesh_.positions, triangles);
    // Looking from the sides too: the bridge of the nose turns its flank to who stands in front.
    const Vec3d side = std::sin(kSideView) * slit_.along;
    const Vec3d front = std::cos(kSideView) * slit_.outward;
    const std::array<Vec3d, 3> views{slit_.outward, front + side, front - side};
    // From there one may also see past a corner, into the socket; where the skin turns away it
    // shows nothing but that.
    const auto looksIntoSocket = [&](const Vec3d& view, double along) {
      const double lean = view.dot(slit_.along);
      return (points_.turned == TurnedCorner::First && along < 0 && lean > 0) ||
             (points_.turned == TurnedCorner::Second && along > 0 && lean < 0);
    };
    const double deepest = std::min({outwardOf(points_.first), outwardOf(points_.second),
                                     outwardOf(points_.upper), outwardOf(points_.lower)}) -
                           points_.depth * w;
    std::vector<bool> visible(box_.size(), false);
    std::vector<std::uint32_t> open;
    skin_.assign(box_.size(), false);
    for (std::size_t i = 0; i < box_.size(); ++i) {
      const Vec3d normal = areaVector(mesh_, box_[i]);
      const Vec3d c = centroid(mesh_, box_[i]);
      if (outwardOf(c) < deepest) continue;
      for (const Vec3d& view : views)
        visible[i] = visible[i] || (!looksIntoSocket(view, alongOf(c)) &&
                                    normal.dot(view) > points_.facing * normal.norm() &&
                                    !tree.firstHit(c + 1e-3 * w * view, c + kSight * w * view));
      if (visible[i] &&
          (std::abs(alongOf(c)) > kSkinLength * w || std::abs(upOf(c)) > kSkinHeight * w)) {
        skin_[i] = true;
        open.push_back(static_cast<std::uint32_t>(i));
      }
    }
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      forNeighbours(i, [&](std::uint32_t j) {
        if (!visible[j] || skin_[j]) return;
        skin_[j] = true;
        open.push_back(j);
      });
    }
  }

  template <class Visit>
  void forNeighbours(std::uint32_t i, const Visit& visit) const {
    const Triangle& t = mesh_.triangles[box_[i]];
    for (int c = 0; c < 3; ++c)
      if (const auto j = across(t[c], t[(c + 1) % 3])) visit(*j);
  }

  /// A margin seen edge-on is a saw of triangles: fills notches and takes off single teeth.
  void tidy() {
    for (int pass = 0; pass < 3; ++pass) {
      std::vector<bool> next = skin_;
      for (std::uint32_t i = 0; i < box_.size(); ++i) {
        int sides = 0, same = 0;
        forNeighbours(i, [&](std::uint32_t j) {
          ++sides;
          same += skin_[j] ? 1 : 0;
        });
        if (!skin_[i] && same >= 2) next[i] = true;
        if (skin_[i] && sides == 3 && same <= 1) next[i] = false;
      }
      skin_ = std::move(next);
    }
  }

  /// The border of the skin that spans most of the slit, in order; empty where none does.
  std::vector<std::uint32_t> longestBorder() const {
    std::vector<std::array<std::uint32_t, 2>> border;
    for (std::size_t i = 0; i < box_.size(); ++i) {
      if (!skin_[i]) continue;
      const Triangle& t = mesh_.triangles[box_[i]];
      for (int c = 0; c < 3; ++c) {
        const std::uint32_t a = t[c], b = t[(c + 1) % 3];
        const auto j = across(a, b);
        if (j ? skin_[*j] : std::binary_search(beyond_.begin(), beyond_.end(), std::array{b, a}))
          continue;
        border.push_back({a, b});
      }
    }
    std::sort(border.begin(), border.end());
    std::vector<bool> used(border.size(), false);
    std::vector<std::uint32_t> best;
    double best_span = kShortestBorder * slit_.width_m;
    for (std::size_t start = 0; start < border.size(); ++start) {
      if (used[start]) continue;
      std::vector<std::uint32_t> chain;
      double lowest = INFINITY, highest = -INFINITY, depth = 0;
      bool closed = false;
      for (std::size_t at = start;;) {
        used[at] = true;
        chain.push_back(border[at][0]);
        const double s = alongOf(mesh_.positions[border[at][0]]);
        depth += upOf(mesh_.positions[border[at][0]]);
        lowest = std::min(lowest, s);
        highest = std::max(highest, s);
        if (border[at][1] == border[start][0]) {
          closed = true;
          break;
        }
        auto next = std::lower_bound(border.begin(), border.end(),
                                     std::array<std::uint32_t, 2>{border[at][1], 0});
        while (next != border.end() && (*next)[0] == border[at][1] &&
               used[static_cast<std::size_t>(next - border.begin())])
          ++next;
        if (next == border.end() || (*next)[0] != border[at][1]) break;
        at = static_cast<std::size_t>(next - border.begin());
      }
      const bool central =
          std::abs(depth) < 0.5 * slit_.width_m * static_cast<double>(chain.size());
      if (closed && central && highest - lowest > best_span) {
        best = std::move(chain);
        best_span = highest - lowest;
      }
    }
    return best;
  }

  /// The border as an upper and a lower chain.
  std::optional<FaceSlit> cut(const std::vector<std::uint32_t>& border) {
    // Corners go back into the head: an opening's ends are those that one sees from before the
    // face, as one sees whether it is shut.
    const Vec3d along =
        points_.across ? Vec3d((points_.across->dot(slit_.along) < 0 ? -1 : 1) * *points_.across)
        : points_.forward
            ? Vec3d(slit_.along - slit_.along.dot(*points_.forward) * *points_.forward)
            : slit_.along;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return along.dot(mesh_.positions[a]) < along.dot(mesh_.positions[b]);
    };
    const std::size_t n = border.size();
    const std::size_t first = static_cast<std::size_t>(
        std::min_element(border.begin(), border.end(), before) - border.begin());
    const std::size_t second = static_cast<std::size_t>(
        std::max_element(border.begin(), border.end(), before) - border.begin());
    std::vector<std::uint32_t> one, other;
    for (std::size_t i = first;; i = (i + 1) % n) {
      one.push_back(border[i]);
      if (i == second) break;
    }
    for (std::size_t i = first;; i = (i + n - 1) % n) {
      other.push_back(border[i]);
      if (i == second) break;
    }
    dropDetours(one);
    dropDetours(other);
    if (one.size() < 3 || other.size() < 3) return {};
    // Triangles lie to the left of their edges: forwards the skin is on the side of outward x
    // along.
    if (slit_.up.dot(slit_.outward.cross(slit_.along)) < 0) std::swap(one, other);
    slit_.width_m = (mesh_.positions[border[second]] - mesh_.positions[border[first]]).norm();
    double top = 0;
    // Heights over each other are compared at the same place along the slit.
    for (const std::uint32_t u : one) {
      const Vec3d& p = mesh_.positions[u];
      double nearest = INFINITY;
      std::uint32_t below = u;
      for (const std::uint32_t l : other)
        if (const double d = std::abs(alongOf(mesh_.positions[l]) - alongOf(p)); d < nearest) {
          nearest = d;
          below = l;
        }
      top = std::max(top, upOf(p) - upOf(mesh_.positions[below]));
    }
    slit_.opening_m = top;
    for (const std::uint32_t u : one) slit_.upper.push_back(mesh_.first_vertex[u]);
    for (const std::uint32_t l : other) slit_.lower.push_back(mesh_.first_vertex[l]);
    return slit_;
  }

  /// Where a chain touches itself, what lies between is a detour around single triangles.
  static void dropDetours(std::vector<std::uint32_t>& chain) {
    for (std::size_t i = 0; i < chain.size(); ++i)
      if (const auto again =
              std::find(chain.rbegin(), chain.rend() - static_cast<long>(i) - 1, chain[i]);
          again != chain.rend() - static_cast<long>(i) - 1)
        chain.erase(chain.begin() + static_cast<long>(i) + 1, again.base());
  }

  struct Edge {
    std::uint32_t from = 0, to = 0, at = 0;  ///< `at`: in box_
  };

  const WeldedMesh& mesh_;
  const SlitPositions& points_;
  Vec3d centre_ = Vec3d::Zero();
  std::vector<std::uint32_t> box_;                    ///< triangles
  std::vector<Edge> edges_;                           ///< of the box's triangles, sorted
  std::vector<std::array<std::uint32_t, 2>> beyond_;  ///< edges of triangles beside the box, sorted
  std::vector<bool> skin_;                            ///< per entry of box_
  FaceSlit slit_;
};

/// The points of a slit by their numbers: corners, upper, lower.
using SlitNumbers = std::array<std::string_view, 4>;

/// A slit of a face, before it is looked for.
struct NamedSlit {
  SlitNumbers numbers;
  const char* name;
  TurnedCorner turned;
};
constexpr NamedSlit kLeftEye = {{"3.11", "3.7", "3.1", "3.3"}, "left eye", TurnedCorner::Second};
constexpr NamedSlit kRightEye = {{"3.12", "3.8", "3.2", "3.4"}, "right eye", TurnedCorner::First};
constexpr NamedSlit kMouth = {{"8.4", "8.3", "8.1", "8.2"}, "mouth", TurnedCorner::None};

/// None where points are missing that tell.
std::optional<FaceAxes> axesOf(const FacePoints& points) {
  constexpr std::array<std::string_view, 10> kNeeded = {"2.1", "4.3", "4.4",  "8.3", "8.4",
                                                        "9.3", "3.7", "3.11", "3.8", "3.12"};
  if (!points.missing(kNeeded).empty()) return {};
  return faceAxes(points);
}

/// `pointsOf`: the points of one slit, or none. `axes`: of the face.
template <class PointsOf>
FaceSlits slitsOf(const WeldedMesh& mesh, const PointsOf& pointsOf,
                  const std::optional<FaceAxes>& axes, Diagnostics& notes) {
  const auto find = [&](const NamedSlit& slit) -> std::optional<FaceSlit> {
    std::optional<SlitPositions> points = pointsOf(slit.numbers);
    if (!points) return {};
    points->turned = slit.turned;
    const bool lips = slit.turned == TurnedCorner::None;
    if (!lips && axes) points->forward = axes->forward;
    for (const double depth :
         lips ? std::span<const double>(kMouthDepths) : std::span<const double>(kEyeDepths)) {
      points->depth = depth;
      std::optional<FaceSlit> found = SlitFinder(mesh, *points).find();
      if (!found) continue;
      if (lips && found->opening_m > kOpenMouth * found->width_m) {
        points->depth = kOpenDepth;
        points->facing = kOpenFacing;
        if (axes) points->across = axes->left;
        if (std::optional<FaceSlit> lip_edges = SlitFinder(mesh, *points).find()) return lip_edges;
      }
      return found;
    }
    notes.warn("face-no-slit", slit.name,
               lips ? "no slit between the lips: lips cannot part"
                    : "no slit between the lids: the eye cannot close");
    return {};
  };
  return {find(kLeftEye), find(kRightEye), find(kMouth)};
}

/// Of a surface that is inside out: around the tip of the nose it looks backwards.
bool insideOut(const WeldedMesh& mesh, const FacePoints& points, const Vec3d& forward) {
  const Vec3d& nose = points.at("9.3");
  const double reach = (points.at("8.3") - points.at("8.4")).norm();
  double facing = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if ((centroid(mesh, t) - nose).norm() < reach) facing += areaVector(mesh, t).dot(forward);
  return facing < 0;
}

void turnInsideOut(WeldedMesh& mesh) {
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
}

/// The piece that most of the control points are nearest to.
std::uint32_t skinOf(const WeldedMesh& mesh, const FacePoints& points) {
  if (mesh.pieces.count == 0) return 0;
  std::vector<std::size_t> points_of(mesh.pieces.count, 0);
  std::vector<bool> used(mesh.pointCount(), false);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t p : t) used[p] = true;
  for (const std::string_view number : controlPointNumbers()) {
    const Vec3d* at = points.find(number);
    if (at == nullptr) continue;
    double nearest = INFINITY;
    std::uint32_t piece = 0;
    for (std::size_t p = 0; p < mesh.pointCount(); ++p)
      if (const double d = (mesh.positions[p] - *at).squaredNorm(); used[p] && d < nearest) {
        nearest = d;
        piece = mesh.pieces.of_vertex[p];
      }
    ++points_of[piece];
  }
  return static_cast<std::uint32_t>(std::max_element(points_of.begin(), points_of.end()) -
                                    points_of.begin());
}

}  // namespace

FaceSlits findFaceSlits(const TriMesh& mesh, std::span<const LabelledPoint> points,
                        Diagnostics& notes) {
  WeldedMesh welded = detail::weldedMesh(mesh);
  const auto pointsOf = [&](const SlitNumbers& numbers) -> std::optional<SlitPositions> {
    std::array<Vec3d, 4> at;
    std::array<std::uint32_t, 4> pieces{};
    SlitPositions out;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto found = std::find_if(points.begin(), points.end(), [&](const LabelledPoint& p) {
        const FaceFeature* feature = findFaceFeature(p.label);
        return feature != nullptr && feature->number == numbers[i];
      });
      if (found == points.end()) return {};
      at[i] = positionAt(found->point, mesh.triangles, mesh.positions).cast<double>();
      pieces[i] = welded.pieces.of_vertex[welded.triangles[found->point.triangle][0]];
    }
    // One of them may have come to lie on a lash, a tooth or the ball of the eye.
    std::ptrdiff_t most = 0;
    for (const std::uint32_t piece : pieces)
      if (const auto count = std::count(pieces.begin(), pieces.end(), piece); count >= most) {
        most = count;
        out.piece = piece;
      }
    out.first = at[0];
    out.second = at[1];
    out.upper = at[2];
    out.lower = at[3];
    return out;
  };
  const Result<FacePoints> named = facePoints(points, mesh);
  const std::optional<FaceAxes> axes = named ? axesOf(*named) : std::nullopt;
  if (axes && insideOut(welded, *named, axes->forward)) turnInsideOut(welded);
  return slitsOf(welded, pointsOf, axes, notes);
}

FaceSlits findFaceSlits(const TriMesh& mesh, const FacePoints& points, Diagnostics& notes) {
  WeldedMesh welded = detail::weldedMesh(mesh);
  const std::optional<FaceAxes> axes = axesOf(points);
  if (axes && insideOut(welded, points, axes->forward)) turnInsideOut(welded);
  const std::uint32_t skin = skinOf(welded, points);
  const auto pointsOf = [&](const SlitNumbers& numbers) -> std::optional<SlitPositions> {
    if (!points.missing(numbers).empty()) return {};
    return SlitPositions{points.at(numbers[0]), points.at(numbers[1]), points.at(numbers[2]),
                         points.at(numbers[3]), skin};
  };
  return slitsOf(welded, pointsOf, axes, notes);
}

}  // namespace derm
