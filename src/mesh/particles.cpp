#include "derm/mesh/particles.h"

#include <cmath>
#include <string>

namespace derm {
namespace {

Error bad(std::string_view name, const char* element, std::string message,
          std::optional<std::uint64_t> index = std::nullopt) {
  return Error{ErrorCode::BadData,
               std::move(message),
               {.file = std::string(name), .element = element, .index = index}};
}

Result<void> checkLength(std::string_view name, const char* element, std::size_t length,
                         std::size_t wanted) {
  if (length == 0 || length == wanted) return {};
  return bad(
      name, element,
      std::to_string(length) + " entries, but there are " + std::to_string(wanted) + " particles");
}

Result<void> checkVectors(std::string_view name, const char* element,
                          const std::vector<Vec3f>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].allFinite()) return bad(name, element, "not a finite number", i);
  return {};
}

Result<void> checkPositive(std::string_view name, const char* element,
                           const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0) || !std::isfinite(values[i]))
      return bad(name, element, "must be positive, not " + std::to_string(values[i]), i);
  return {};
}

}  // namespace

Result<void> validate(const Particles& p, std::string_view name) {
  DERM_CHECK(checkLength(name, "radii", p.radii.size(), p.size()));
  DERM_CHECK(checkLength(name, "velocities", p.velocities.size(), p.size()));
  DERM_CHECK(checkLength(name, "masses", p.masses.size(), p.size()));
  DERM_CHECK(checkLength(name, "ids", p.ids.size(), p.size()));
  DERM_CHECK(checkVectors(name, "positions", p.positions));
  DERM_CHECK(checkVectors(name, "velocities", p.velocities));
  DERM_CHECK(checkPositive(name, "radii", p.radii));
  return checkPositive(name, "masses", p.masses);
}

}  // namespace derm
