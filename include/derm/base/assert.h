#pragma once

namespace derm {

/// Called by a failed DERM_REQUIRE. What it is for: a host program may log the failure, show it, or
/// leave by throwing or longjmp() where it knows that no frame in between is noexcept or has
/// anything to destroy. derm's objects that were at work are then good for nothing but being
/// destroyed. A handler that returns ends in abort().
using RequirementHandler = void (*)(const char* expression, const char* file, int line);

/// Replaces the handler for all threads and gives the one before; null = the default one, which
/// prints expression, file and line to stderr.
RequirementHandler setRequirementHandler(RequirementHandler handler) noexcept;
/// The one in use; never null.
RequirementHandler requirementHandler() noexcept;

namespace detail {
[[noreturn]] void requirementFailed(const char* expression, const char* file, int line);
}

}  // namespace derm

/// O(1) contract at a public border; on in every build. A failure is a bug of ours or of the
/// calling program, never of the user's data: calls the handler above and aborts.
#define DERM_REQUIRE(expression) \
  ((expression) ? (void)0 : ::derm::detail::requirementFailed(#expression, __FILE__, __LINE__))

/// The same inside loops; on in checked builds only (DERM_CHECKED, which all tests use).
#ifdef DERM_CHECKED
#define DERM_ASSERT(expression) DERM_REQUIRE(expression)
#else
#define DERM_ASSERT(expression) ((void)sizeof(!(expression)))
#endif
