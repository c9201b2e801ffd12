// derm_quality: what skinning methods do to a character's skin in motion, as rows of a Markdown
// table. tools/quality.sh makes docs/quality.md of it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "derm/anim/retarget.h"
#include "derm/contact/contact_layer.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/playback.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measured_surface.h"
#include "derm/mesh/winding_columns.h"
#include "derm/volume/volume_layer.h"

namespace derm {
namespace {

constexpr double kFoldedCosine = -0.8660254037844386;  // 150 degrees between normals

/// The closed, welded form of a character's skin, and what it is like at rest.
class Skinned {
 public:
  explicit Skinned(const TriMesh& mesh) {
    Diagnostics notes;
    surface_ = makeMeasuredSurface(mesh.positions, mesh.triangles, "quality", notes);
    own_ = std::span(surface_.triangles).first(surface_.ownTriangleCount());
    columns_ = WindingColumns(own_.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;
    for (std::uint32_t t = 0; t < own_.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto edge = std::minmax(own_[t][k], own_[t][(k + 1) % 3]);
        const auto [at, is_new] = first.emplace(edge, t);
        if (!is_new) edges_.push_back({at->second, t});
      }
    take(mesh.positions);
    area_ = 0;
    for (std::size_t t = 0; t < own_.size(); ++t) area_ += double{normals_[t].norm()} / 2;
    unit_ = static_cast<float>(std::sqrt(area_) / 1370);
    const auto rest = windings();
    rest_inside_.assign(rest.begin(), rest.end());
    for (const Cut& cut : cuts()) rest_cuts_.push_back(cut.pair);
    std::sort(rest_cuts_.begin(), rest_cuts_.end());
  }

  void take(std::span<const Vec3f> positions) {
    std::vector<Vec3d> points(surface_.pointCount());
    measurePoints(surface_, positions, Vec3d::Zero(), points);
    points_.resize(points.size());
    for (std::size_t p = 0; p < points.size(); ++p) points_[p] = points[p].cast<float>();
    normals_.resize(own_.size());
    for (std::size_t t = 0; t < own_.size(); ++t) {
      const Triangle& c = own_[t];
      normals_[t] =
          Vec3f(points_[c[1]] - points_[c[0]]).cross(Vec3f(points_[c[2]] - points_[c[0]]));
    }
  }
  const std::vector<Vec3f>& areas() const { return normals_; }
  int turnedAgainst(const std::vector<Vec3f>& other) const {
    int count = 0;
    for (std::size_t t = 0; t < own_.size(); ++t) count += normals_[t].dot(other[t]) < 0;
    return count;
  }
  int foldedEdges() const {
    int count = 0;
    for (const auto& [a, b] : edges_) {
      const double length = double{normals_[a].norm()} * double{normals_[b].norm()};
      count += length > 0 && double{normals_[a].dot(normals_[b])} < kFoldedCosine * length;
    }
    return count;
  }
  /// Of the skin's area, in thousandths.
  double inside() {
    const auto now = windings();
    double sum = 0;
    for (std::size_t t = 0; t < own_.size(); ++t)
      if (now[t] >= 1 && now[t] > rest_inside_[t]) sum += double{normals_[t].norm()} / 2;
    return 1000 * sum / area_;
  }
  /// Length of the curves in which skin crosses skin, over the root of the skin's area.
  double curves() const {
    double sum = 0;
    for (const Cut& cut : cuts())
      if (!std::binary_search(rest_cuts_.begin(), rest_cuts_.end(), cut.pair)) sum += cut.length;
    return sum / std::sqrt(area_);
  }

 private:
  struct Cut {
    std::uint64_t pair = 0;
    double length = 0;
  };
  std::span<const std::int32_t> windings() {
    columns_.clear();
    for (std::size_t t = 0; t < own_.size(); ++t) {
      const Triangle& c = own_[t];
      const float length = normals_[t].norm();
      const Vec3f middle = (points_[c[0]] + points_[c[1]] + points_[c[2]]) / 3;
      columns_.add(length > 0 ? Vec3f(middle + normals_[t] * (0.2f * unit_ / length)) : middle);
    }
    return columns_.evaluate(points_, surface_.triangles);
  }
  /// Where the edges of one triangle pierce another: the ends of their common segment.
  static void pierced(const std::array<Vec3d, 3>& edges, const std::array<Vec3d, 3>& face,
                      std::vector<Vec3d>& out) {
    const Vec3d n = Vec3d(face[1] - face[0]).cross(Vec3d(face[2] - face[0]));
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d a = edges[k], b = edges[(k + 1) % 3];
      const double da = n.dot(a - face[0]), db = n.dot(b - face[0]);
      if ((da < 0) == (db < 0)) continue;
      const Vec3d p = a + (b - a) * (da / (da - db));
      bool in = true;
      for (std::size_t e = 0; e < 3 && in; ++e)
        in = n.dot(Vec3d(face[(e + 1) % 3] - face[e]).cross(Vec3d(p - face[e]))) >= 0;
      if (in) out.push_back(p);
    }
  }
  std::vector<Cut> cuts() const {
    // Triangles by the cells of a grid that their boxes touch.
    const float cell = 15 * unit_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> cells;
    const auto index = [&](float v) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(v / cell)) + (1 << 20),
                                      0, (1 << 21) - 1);
    };
    std::vector<Cut> out;
    std::vector<Vec3d> ends;
    for (std::uint32_t t = 0; t < own_.size(); ++t) {
      const Triangle& c = own_[t];
      const Vec3f low = points_[c[0]].cwiseMin(points_[c[1]]).cwiseMin(points_[c[2]]);
      const Vec3f high = points_[c[0]].cwiseMax(points_[c[1]]).cwiseMax(points_[c[2]]);
      std::vector<std::uint32_t> met;
      for (auto x = index(low.x()); x <= index(high.x()); ++x)
        for (auto y = index(low.y()); y <= index(high.y()); ++y)
          for (auto z = index(low.z()); z <= index(high.z()); ++z) {
            auto& here = cells[static_cast<std::uint64_t>((x << 42) | (y << 21) | z)];
            met.insert(met.end(), here.begin(), here.end());
            here.push_back(t);
          }
      std::sort(met.begin(), met.end());
      met.erase(std::unique(met.begin(), met.end()), met.end());
      const auto corners = [&](std::uint32_t of) {
        const Triangle& k = own_[of];
        return std::array<Vec3d, 3>{points_[k[0]].cast<double>(), points_[k[1]].cast<double>(),
                                    points_[k[2]].cast<double>()};
      };
      for (const std::uint32_t other : met) {
        const Triangle& k = own_[other];
        const bool shares = std::any_of(k.begin(), k.end(), [&](std::uint32_t p) {
          return std::find(c.begin(), c.end(), p) != c.end();
        });
        if (shares) continue;
        ends.clear();
        pierced(corners(t), corners(other), ends);
        pierced(corners(other), corners(t), ends);
        if (ends.size() < 2) continue;
        out.push_back({(std::uint64_t{other} << 32) | t, (ends[0] - ends[1]).norm()});
      }
    }
    return out;
  }

  MeasuredSurface surface_;
  std::span<const Triangle> own_;
  std::vector<std::array<std::uint32_t, 2>> edges_;
  std::vector<Vec3f> points_, normals_;
  WindingColumns columns_;
  std::vector<std::int32_t> rest_inside_;
  std::vector<std::uint64_t> rest_cuts_;
  double area_ = 0;
  float unit_ = 0;
};

struct Method {
  std::string name;
  std::vector<LayerFactory> layers;
};

std::vector<Method> methodsFor(const Character& c, Diagnostics& notes) {
  std::vector<LayerFactory> flesh = {morphLayer(),
                                     skinningLayer({.method = SkinningMethod::Centre})};
  if (const auto found = proposeFlesh(c, notes); found.ok())
    for (const FleshProposal& p : *found) flesh.push_back(fleshLayer(p.desc));
  std::vector<LayerFactory> ours = flesh, before = flesh;
  ours.push_back(contactLayer("contact", {}));
  for (std::vector<LayerFactory>* layers : {&before, &ours})
    layers->push_back(volumeLayer("volume", volumePreset(VolumePreset::Default)));
  return {{"linear", {morphLayer(), skinningLayer({})}},
          {"dual quaternion",
           {morphLayer(), skinningLayer({.method = SkinningMethod::DualQuaternion})}},
          {"without contact", before},
          {"derm", ours}};
}

/// One row per method, means over the frames.
void measure(const std::shared_ptr<const Character>& c, const Clip& clip, int frames) {
  Diagnostics notes;
  Skinned skin(c->mesh);
  std::vector<std::vector<Vec3f>> linear;
  for (const Method& method : methodsFor(*c, notes)) {
    const auto stack = Stack::bind(c, method.layers, notes);
    if (!stack.ok()) continue;
    Playback playback = Playback::make(*stack, &clip, {.end_s = clip.duration_s()}).value();
    double turned = 0, inside = 0, curves = 0, folded = 0, seconds = 0;
    for (int i = 0; i < frames; ++i) {
      const double t = double{clip.duration_s()} * (i + 0.5) / frames;
      playback.frameAt(t);
      const auto begin = std::chrono::steady_clock::now();
      const SkinFrame& frame = playback.frameAt(t);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      skin.take(frame.positions());
      if (method.name == "linear") linear.push_back(skin.areas());
      turned += skin.turnedAgainst(linear[static_cast<std::size_t>(i)]);
      inside += skin.inside();
      curves += skin.curves();
      folded += skin.foldedEdges();
    }
    std::printf("| %s | %s | %s | %.1f | %.2f | %.3f | %.1f | %.2f |\n", c->name.c_str(),
                clip.name.c_str(), method.name.c_str(), turned / frames, inside / frames,
                curves / frames, folded / frames, 1e3 * seconds / frames);
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  int frames = 8;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--frames" && i + 1 < argc)
      frames = std::max(1, std::atoi(argv[++i]));
    else
      files.emplace_back(word);
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: derm_quality [--frames N] CHARACTER [MOTION.bvh ...]\n");
    return 2;
  }
  Diagnostics notes;
  auto loaded = loadCharacter(files.front(), {}, notes);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    return 1;
  }
  const auto c = std::make_shared<const Character>(std::move(loaded).value());
  for (const Clip& clip : c->clips) measure(c, clip, frames);
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto motion = loadBvh(files[i], {}, notes);
    if (!motion.ok()) continue;
    RetargetDesc how;
    how.start_s = motionStart(motion->clip, motion->skeleton);
    how.source_reference_time_s = 0.0f;
    auto clip = retarget(motion->clip, motion->skeleton, c->skeleton, how, notes);
    if (!clip.ok()) continue;
    clip->name = files[i].stem().string();
    measure(c, *clip, frames);
  }
  return 0;
}

}  // namespace
}  // namespace derm

int main(int argc, char** argv) { return derm::run(argc, argv); }
