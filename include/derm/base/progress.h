#pragma once

#include <functional>
#include <string_view>

namespace derm {

/// Told how far long work is ([0,1]) and in which stage; returns false to cancel it, upon which
/// the work returns ErrorCode::Cancelled. May be empty. Called from one thread at a time.
using Progress = std::function<bool(double fraction, std::string_view stage)>;

inline bool keepGoing(const Progress& progress, double fraction, std::string_view stage) {
  return !progress || progress(fraction, stage);
}

}  // namespace derm
