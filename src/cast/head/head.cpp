#include "cast/head/head.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"
#include "derm/mesh/uv_raster.h"

#include "cast/figure.h"
#include "cast/head/expressions.h"
#include "cast/head/head_pieces.h"
#include "cast/head/skin_paint.h"
#include "cast/head/unwrap.h"
#include "cast/rig.h"

namespace derm::detail::cast {
namespace {

constexpr double kMetresPerCm = 0.01;
constexpr int kSkinPixels = 2048, kEyePixels = 512;
/// [px] around islands of the skin's texture; beyond is plain skin.
constexpr int kPadding = 8;

enum MaterialIndex { kSkinMaterial, kLashMaterial, kTeethMaterial, kMouthMaterial, kEyeMaterial };

/// All that a head's mesh is made of, in centimetres, for rest or for a pose.
struct Shape {
  std::vector<Vec3d> positions, normals;
};

class HeadMaker {
 public:
  HeadMaker(const HeadDesign& design, const PictureEncoder& encode)
      : design_(design),
        skin_(makeHeadSkin(design)),
        unwrapped_(unwrapped(skin_, design)),
        poser_(skin_, design),
        mouth_(mouthPieces(design, HeadClay(design))),
        paint_(design) {
    floor_ = skin_.positions.front().y();
    for (const Vec3d& p : skin_.positions) floor_ = std::min(floor_, p.y());
    head_.name = design.name;
    head_.import.format = "cast";
    addMaterials();
    addMesh();
    addRig();
    addMorphs();
    addPoints();
    if (!encode || !addPictures(encode)) addColours();
  }
  Character finish() && { return std::move(head_); }

 private:
  Vec3f placed(const Vec3d& p) const {
    return (kMetresPerCm * (p - Vec3d(0, floor_, 0))).cast<float>();
  }

  void addMaterials() {
    const auto srgb = [](double r, double g, double b) {
      return Vec3d(linearFromSrgb(static_cast<float>(r)), linearFromSrgb(static_cast<float>(g)),
                   linearFromSrgb(static_cast<float>(b)));
    };
    head_.materials = {paint("skin", {1, 1, 1}, .58), paint("lashes", srgb(.09, .06, .055), .8),
                       paint("teeth", srgb(1, .96, .87), .3),
                       paint("mouth", srgb(.70, .33, .32), .35), paint("eye", {1, 1, 1}, .10)};
    head_.materials[kLashMaterial].double_sided = true;
    head_.materials[kMouthMaterial].double_sided = true;
  }

  /// Pieces that hang on the skin, in the mesh's order.
  std::vector<HeadPiece> piecesOf(const std::vector<Vec3d>& skin, const FacePose& pose) const {
    const auto lift = [&](double close) { return 1 - 1.7 * std::clamp(close, 0.0, 1.0); };
    std::vector<HeadPiece> pieces = {lashes(skin_, design_, skin, 1, lift(pose.close[0])),
                                     lashes(skin_, design_, skin, -1, lift(pose.close[1])),
                                     mouth_.upper_teeth,
                                     mouth_.lower_teeth,
                                     mouth_.upper_gum,
                                     mouth_.lower_gum,
                                     mouth_.tongue};
    for (const std::size_t lower : {3, 5, 6})
      for (Vec3d& p : pieces[lower].positions) p = turnedWithJaw(p, pose.jaw);
    return pieces;
  }

  Shape shapeOf(const FacePose& pose) const {
    const std::vector<Vec3d> skin = poser_.posed(pose);
    const std::vector<Vec3d> normals = vertexNormals(skin, skin_.triangles);
    Shape shape;
    for (const std::uint32_t v : unwrapped_.vertex_of) {
      shape.positions.push_back(skin[v]);
      shape.normals.push_back(normals[v]);
    }
    for (const HeadPiece& piece : piecesOf(skin, pose)) {
      const std::vector<Vec3d> n = vertexNormals(piece.positions, piece.triangles);
      shape.positions.insert(shape.positions.end(), piece.positions.begin(), piece.positions.end());
      shape.normals.insert(shape.normals.end(), n.begin(), n.end());
    }
    return shape;
  }

  void addPart(const char* name, int material, const std::vector<Triangle>& triangles,
               std::size_t vertices) {
    MeshPart part;
    part.name = name;
    part.material = material;
    part.first_triangle = static_cast<std::uint32_t>(head_.mesh.triangles.size());
    part.triangle_count = static_cast<std::uint32_t>(triangles.size());
    part.first_vertex = next_vertex_;
    part.vertex_count = static_cast<std::uint32_t>(vertices);
    for (Triangle t : triangles) {
      for (std::uint32_t& v : t) v += next_vertex_;
      head_.mesh.triangles.push_back(t);
    }
    next_vertex_ += part.vertex_count;
    head_.parts.push_back(std::move(part));
  }

  void addInstance(const char* name, std::uint32_t first_part, std::uint32_t first_vertex) {
    MeshInstance instance;
    instance.name = name;
    instance.first_part = first_part;
    instance.part_count = static_cast<std::uint32_t>(head_.parts.size()) - first_part;
    instance.first_vertex = first_vertex;
    instance.vertex_count = next_vertex_ - first_vertex;
    head_.instances.push_back(std::move(instance));
  }

  void addMesh() {
    TriMesh& mesh = head_.mesh;
    rest_ = shapeOf({});
    for (const Vec3d& p : rest_.positions) mesh.positions.push_back(placed(p));
    for (const Vec3d& n : rest_.normals) mesh.normals.push_back(n.cast<float>());
    for (const Vec2d& uv : unwrapped_.uvs)
      mesh.uvs.push_back(Vec2f(uv.cast<float>().x(), 1 - uv.cast<float>().y()));
    mesh.uvs.resize(mesh.positions.size(), Vec2f::Zero());
    addPart("skin", kSkinMaterial, unwrapped_.triangles, unwrapped_.vertex_of.size());
    constexpr std::pair<const char*, int> kPieces[] = {
        {"lashes_left", kLashMaterial},  {"lashes_right", kLashMaterial},
        {"teeth_upper", kTeethMaterial}, {"teeth_lower", kTeethMaterial},
        {"gum_upper", kMouthMaterial},   {"gum_lower", kMouthMaterial},
        {"tongue", kMouthMaterial}};
    const std::vector<HeadPiece> pieces = piecesOf(skin_.positions, {});
    for (std::size_t k = 0; k < pieces.size(); ++k)
      addPart(kPieces[k].first, kPieces[k].second, pieces[k].triangles, pieces[k].positions.size());
    addInstance("head", 0, 0);
    for (const int side : {1, -1}) {
      const auto first_part = static_cast<std::uint32_t>(head_.parts.size());
      const std::uint32_t first_vertex = next_vertex_;
      const HeadPiece ball = eyeball(design_, side);
      const char* name = side > 0 ? "eye_left" : "eye_right";
      for (std::size_t v = 0; v < ball.positions.size(); ++v) {
        mesh.positions.push_back(placed(ball.positions[v]));
        mesh.normals.push_back(
            (ball.positions[v] - eyeCentre(design_, side)).normalized().cast<float>());
        mesh.uvs.push_back(
            Vec2f(static_cast<float>(ball.uvs[v].x()), static_cast<float>(1 - ball.uvs[v].y())));
      }
      addPart(name, kEyeMaterial, ball.triangles, ball.positions.size());
      addInstance(name, first_part, first_vertex);
    }
    mesh.tangents = {};
  }

  void addRig() {
    Rig rig;
    rig.add("head", "", placed({0, -11, -2.5}).cast<double>());
    rig.add("eye_left", "head", placed(eyeCentre(design_, 1)).cast<double>());
    rig.add("eye_right", "head", placed(eyeCentre(design_, -1)).cast<double>());
    head_.skeleton = rig.skeleton();
    SkinBuilder builder(rig.slots(), head_.mesh.vertexCount());
    for (std::uint32_t k = 0; k < 3; ++k) {
      builder.addRigidVertices(head_.instances[k].vertex_count, k);
      head_.instances[k].joint = JointId(k);
    }
    head_.skin = std::move(builder).finish();
  }

  void addMorphs() {
    const std::vector<Expression> all = expressions(design_);
    for (const Expression& e : all) {
      const Shape shape = shapeOf(e.pose);
      MorphTarget morph;
      morph.name = e.name;
      for (std::size_t v = 0; v < shape.positions.size(); ++v) {
        const Vec3d move = shape.positions[v] - rest_.positions[v];
        const Vec3d turn = shape.normals[v] - rest_.normals[v];
        if (move.norm() < 1e-5 && turn.norm() < 1e-4) continue;  // [cm]
        morph.vertices.push_back(static_cast<std::uint32_t>(v));
        morph.positions.push_back((kMetresPerCm * move).cast<float>());
        morph.normals.push_back(turn.cast<float>());
      }
      head_.morphs.push_back(std::move(morph));
    }
    head_.instances.front().morph_count = static_cast<std::uint32_t>(all.size());
    for (std::size_t k = 1; k < head_.instances.size(); ++k)
      head_.instances[k].first_morph = static_cast<std::uint32_t>(all.size());
    head_.clips = {expressionsClip(all)};
  }

  void addPoints() {
    for (const auto& [label, vertex] : skin_.points) {
      SurfacePoint point;
      for (std::uint32_t t = 0; t < skin_.triangles.size(); ++t) {
        const auto at = std::find(skin_.triangles[t].begin(), skin_.triangles[t].end(), vertex);
        if (at == skin_.triangles[t].end()) continue;
        point.triangle = t;
        point.barycentric = Vec3f::Unit(static_cast<int>(at - skin_.triangles[t].begin()));
        break;
      }
      head_.points.push_back({label, point});
    }
  }

  SkinSample sampleAt(const Triangle& t, const Vec3d& share) const {
    return {share[0] * skin_.bare[t[0]] + share[1] * skin_.bare[t[1]] + share[2] * skin_.bare[t[2]],
            blended({skin_.labels[t[0]], skin_.labels[t[1]], skin_.labels[t[2]]}, share)};
  }

  Rgba8Image skinPicture() const {
    const auto& uvs = head_.mesh.uvs;
    const UvRaster raster =
        rasteriseUvs(uvs, unwrapped_.triangles, {kSkinPixels, kSkinPixels, kPadding});
    Rgba8Image picture(kSkinPixels, kSkinPixels, rgba8Of(design_.palette.skin));
    parallelFor(raster.points.size(), kSkinPixels, [&](std::size_t begin, std::size_t end) {
      for (std::size_t texel = begin; texel < end; ++texel) {
        if (!raster.hasSurface(texel)) continue;
        const SurfacePoint& at = raster.points[texel];
        const SkinSample s = sampleAt(skin_.triangles[at.triangle], at.barycentric.cast<double>());
        picture.pixels[texel] = rgba8Of(paint_.colour(s));
      }
    });
    return picture;
  }

  bool addPictures(const PictureEncoder& encode) {
    for (const auto& [name, material] : {std::pair{"skin", kSkinMaterial}, {"eye", kEyeMaterial}}) {
      Image image;
      image.name = design_.name + "_" + name;
      image.mime_type = "image/png";
      image.bytes = encode(material == kSkinMaterial ? skinPicture()
                                                     : eyePicture(design_.palette, kEyePixels));
      if (image.bytes.empty()) return false;  // no such files in this build
      head_.materials[material].base_colour_image = static_cast<int>(head_.images.size());
      head_.images.push_back(std::move(image));
    }
    return true;
  }

  void addColours() {
    const auto linear = [](const Vec3d& srgb) {
      return linearFromSrgb(Vec4f(static_cast<float>(srgb.x()), static_cast<float>(srgb.y()),
                                  static_cast<float>(srgb.z()), 1.0f));
    };
    head_.mesh.colours.assign(head_.mesh.vertexCount(), Vec4f::Ones());
    // The mean of what lies around a vertex: brows are thinner than an edge is long.
    std::vector<Vec3d> sum(skin_.bare.size(), Vec3d::Zero());
    std::vector<double> count(skin_.bare.size(), 0);
    for (const Triangle& t : skin_.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        for (const double near : {1.0, .8, .55}) {
          Vec3d share = Vec3d::Constant((1 - near) / 2);
          share[static_cast<int>(i)] = near;
          sum[t[i]] += paint_.colour(sampleAt(t, share));
          ++count[t[i]];
        }
    for (std::size_t v = 0; v < unwrapped_.vertex_of.size(); ++v) {
      const std::uint32_t of = unwrapped_.vertex_of[v];
      head_.mesh.colours[v] = linear(sum[of] / count[of]);
    }
    for (std::size_t v = head_.instances[1].first_vertex; v < head_.mesh.vertexCount(); ++v) {
      const Vec2f& uv = head_.mesh.uvs[v];
      head_.mesh.colours[v] = linear(eyeColour(design_.palette, 2 * uv.x() - 1, 1 - 2 * uv.y()));
    }
  }

  HeadDesign design_;
  HeadSkin skin_;
  UnwrappedSkin unwrapped_;
  FacePoser poser_;
  MouthPieces mouth_;
  SkinPaint paint_;
  Shape rest_;
  double floor_ = 0;  // [cm] height of the neck's cut
  std::uint32_t next_vertex_ = 0;
  Character head_;
};

}  // namespace

Character makeHead(const HeadDesign& design, const PictureEncoder& encode) {
  return HeadMaker(design, encode).finish();
}

}  // namespace derm::detail::cast
