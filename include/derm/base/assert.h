#pragma once

namespace derm::detail {
[[noreturn]] void requirementFailed(const char* expression, const char* file, int line) noexcept;
}

/// O(1) contract at a public border; on in every build. A failure is a bug of ours or of the
/// calling program, never of the user's data: prints expression, file, line and aborts.
#define DERM_REQUIRE(expression) \
  ((expression) ? (void)0 : ::derm::detail::requirementFailed(#expression, __FILE__, __LINE__))

/// The same inside loops; on in checked builds only (DERM_CHECKED, which all tests use).
#ifdef DERM_CHECKED
#define DERM_ASSERT(expression) DERM_REQUIRE(expression)
#else
#define DERM_ASSERT(expression) ((void)sizeof(!(expression)))
#endif
