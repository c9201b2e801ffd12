#pragma once

#include <cstddef>

namespace derm::testing_support {

/// How often this process has asked for memory so far, all threads. A test that calls it gets a
/// counting operator new.
std::size_t allocationCount();
/// [bytes] What it holds at the moment.
std::size_t bytesHeld();

}  // namespace derm::testing_support
