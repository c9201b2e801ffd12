#include "io/import_units.h"

#include <cmath>
#include <filesystem>

namespace derm::detail {

Result<double> metresPerUnit(const ImportOptions& options, double declared_m,
                             std::string_view file) {
  if (!options.metres_per_unit) return declared_m;
  const double given = *options.metres_per_unit;
  if (given > 0 && std::isfinite(given)) return given;
  return Error{ErrorCode::BadArgument,
               "metres per unit must be a number greater than 0",
               {.file = std::string(file)}};
}

Result<double> assumedMetresPerUnit(const ImportOptions& options, std::string_view file,
                                    std::string_view format, Diagnostics& notes) {
  if (!options.metres_per_unit)
    notes.info("unit-assumed", file, std::string(format) + " declares no unit; metres assumed");
  return metresPerUnit(options, 1.0, file);
}

std::string fileStem(std::string_view file) { return std::filesystem::path(file).stem().string(); }

}  // namespace derm::detail
