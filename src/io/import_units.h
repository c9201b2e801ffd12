#pragma once

#include <string>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/io/import_options.h"

namespace derm::detail {

/// The length of one file unit to use: the caller's where given (checked: > 0 and finite), else
/// `declared_m`, what the file or its format says.
Result<double> metresPerUnit(const ImportOptions& options, double declared_m,
                             std::string_view file);

/// The same for formats that declare no unit: metres are assumed, and noted, unless told otherwise.
Result<double> assumedMetresPerUnit(const ImportOptions& options, std::string_view file,
                                    std::string_view format, Diagnostics& notes);

/// "spot" of "models/spot.obj".
std::string fileStem(std::string_view file);

}  // namespace derm::detail
