#pragma once

#include <string_view>
#include <vector>

#include "capi/json_text.h"
#include "capi/scene_session.h"

namespace derm::detail::capi {

/// The control points and regions of faces, by name.
Json faceNamesJson();

/// [{"label","triangle","barycentric"}]
Result<std::vector<PlacedPoint>> parsePlacedPoints(std::string_view json);

/// Points of a head on the session's character, by its shape; see derm_find_points(). Files are
/// those that can be read when it is called.
Result<Json> findPoints(const Session& session, std::string_view source);

}  // namespace derm::detail::capi
