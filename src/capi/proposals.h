#pragma once

#include <string>
#include <string_view>

#include "derm/base/result.h"

#include "capi/scene_session.h"

namespace derm::detail::capi {

/// The session's text with proposed layers in it: "flesh", "contact", "volume",
/// "wrinkles" or "all".
Result<std::string> proposeText(const Session& session, std::string_view what);

}  // namespace derm::detail::capi
