#pragma once

#include <cstdlib>

namespace derm {

/// Whether every benchmark is only to run at all, as the tests do so that none rots: on little
/// data, few times.
inline bool quickRun() { return std::getenv("DERM_BENCH_QUICK") != nullptr; }

}  // namespace derm
