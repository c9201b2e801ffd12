#include "view/point_labels.h"

#include "derm/image/draw.h"
#include "derm/image/role_colours.h"
#include "derm/mesh/surface_point.h"

namespace derm::detail {

void drawPointLabels(Rgba8Image& picture, const Character& character,
                     std::span<const Vec3f> positions, std::span<const Vec3f> normals,
                     const Camera& camera, const Vec3d& to_eye) {
  constexpr float kRing_px = 8, kDot_px = 5, kText_px = 13, kGap_px = 6;
  constexpr Rgba8 kWhite = {255, 255, 255, 255}, kPlate = {255, 255, 255, 190};
  constexpr float kGrazing = 0.05f;  // labels of the outline would lie on the far side's
  const std::vector<Triangle>& triangles = character.mesh.triangles;
  for (const LabelledPoint& p : character.points) {
    const Vec3f normal = normalAt(p.point, triangles, positions, normals);
    if (normal.dot(to_eye.cast<float>()) < kGrazing) continue;
    const Vec3d at =
        projectedPoint(camera, positionAt(p.point, triangles, positions).cast<double>(),
                       picture.width, picture.height);
    if (!(at.z() > 0)) continue;
    const Vec2f dot = at.head<2>().cast<float>();
    drawLine(picture, dot, dot, kRing_px, kWhite);
    drawLine(picture, dot, dot, kDot_px, kAfterColour);
    const Vec2f text(dot.x() + kGap_px, dot.y() + 0.35f * kText_px);
    fillRoundRect(picture,
                  {text.x() - 2, text.y() - kText_px + 1,
                   text.x() + textWidth(p.label, kText_px) + 2, text.y() + 3},
                  3, kPlate);
    drawText(picture, text, p.label, {.size_px = kText_px, .colour = kAfterColour, .bold = true});
  }
}

}  // namespace derm::detail
