#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "derm/base/result.h"
#include "derm/cast/cast.h"
#include "derm/scene/recipe_value.h"

#include "capi/scene_session.h"

namespace derm::detail::capi {

using Json = nlohmann::ordered_json;

/// On one line; bytes that are no UTF-8 are replaced, since names come from files.
std::string textOf(const Json& json);

Json toJson(const RecipeValue& value);
/// Objects become tables; null, and what is nested too deep, is an error.
Result<RecipeValue> parseJsonValue(std::string_view text);

Json errorJson(const Error& error);
Json editJson(const EditReport& report);
Json membersJson(std::span<const CastMember> members);
/// See derm_recipe_fields(), derm_character(), derm_recipe(), derm_frame_report().
Json recipeFieldsJson();
Json characterJson(const Session& session);
Json recipeJson(const Session& session);
Json frameJson(Session& session);

}  // namespace derm::detail::capi
