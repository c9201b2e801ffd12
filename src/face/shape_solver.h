#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/sparse_ldl.h"
#include "derm/math/vec.h"

#include "face/welded_mesh.h"

namespace derm::detail {

/// A point of the target's skin, as the donor sees it.
struct Counterpart {
  bool found = false;
  Vec3d position =
      Vec3d::Zero();  ///< [m] on the donor at rest, brought to the target's pose and size
  Vec3d displacement = Vec3d::Zero();  ///< [m] the same, of the shape at hand
};

/// Finds displacements whose gradients are the donor's: the least squares of shape_transfer.h.
/// bind() once per pair of heads, solve() once per shape.
class ShapeSolver {
 public:
  struct Desc {
    std::uint32_t piece = 0;  ///< of the mesh: the skin
    double gradient_length_m = 0;
    double fade_length_m = 0;
    bool use_gradients = true;
  };

  /// `rest` gives the counterparts' positions; displacements do not matter. Requires a point of the
  /// piece that has one.
  ShapeSolver(const WeldedMesh& mesh, std::span<const Counterpart> rest, const Desc& desc);

  /// [m] per point of the mesh; zero outside the piece.
  std::vector<Vec3d> solve(std::span<const Counterpart> shape);

 private:
  struct Element {
    Triangle corners{};                ///< points of the mesh
    std::array<Vec3d, 3> gradients{};  ///< [1/m] of the corners' hat functions
    double area = 0;                   ///< [m^2]
    bool found = false;                ///< all corners have counterparts that span a triangle
    Mat3d inverse_frame = Mat3d::Identity();  ///< of the donor's triangle and normal
  };

  const WeldedMesh& mesh_;
  Desc desc_;
  std::vector<std::uint32_t> row_of_point_;
  std::vector<Element> elements_;
  std::vector<double> weights_;  ///< per point: of the displacement's term
  SparseLdl matrix_;
};

}  // namespace derm::detail
