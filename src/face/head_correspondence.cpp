#include "derm/face/head_correspondence.h"

#include <cmath>
#include <string>

namespace derm {

Result<void> validate(const HeadCorrespondence& correspondence, std::size_t source_triangle_count,
                      std::size_t target_vertex_count) {
  const auto wrongCount = [&](std::string_view what, std::size_t count) {
    return Error{ErrorCode::BadData,
                 std::to_string(count) + " " + std::string(what) + ", but the target head has " +
                     std::to_string(target_vertex_count) + " vertices",
                 {.element = "correspondence"}};
  };
  if (correspondence.source_points.size() != target_vertex_count)
    return wrongCount("points", correspondence.source_points.size());
  if (correspondence.confidence.size() != target_vertex_count)
    return wrongCount("confidences", correspondence.confidence.size());
  for (std::size_t v = 0; v < target_vertex_count; ++v) {
    const float sure = correspondence.confidence[v];
    if (!(sure >= 0 && sure <= 1))
      return Error{ErrorCode::BadData,
                   "confidence is not within 0 to 1",
                   {.element = "correspondence", .index = v}};
    if (!correspondence.has(v)) continue;
    if (Result<void> good = validate(correspondence.source_points[v], source_triangle_count,
                                     "correspondence of vertex " + std::to_string(v));
        !good)
      return good;
  }
  return {};
}

}  // namespace derm
