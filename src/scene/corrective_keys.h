#pragma once

#include <span>

#include "derm/base/progress.h"
#include "derm/scene/correctives.h"
#include "derm/scene/scene.h"

#include "scene/motion_samples.h"

/// Private to room scene.
namespace derm::detail {

/// Where corrective weights have keys. They start at the scene's frames; every gap between two keys
/// has a check in its middle, and a gap whose check is off too far is halved, so that keys are
/// dense only where the skin changes fast.
class CorrectiveKeys {
 public:
  /// [s] Keys are never nearer to each other.
  static constexpr double kMinGap_s = 0.001;
  /// Keys beyond this are made for frames only: the time a fit takes goes with their square.
  static constexpr std::size_t kMaxDenseKeys = 1024;

  /// The fitter has the scene's frames as keys; those of other clips are left alone.
  CorrectiveKeys(const Scene& scene, CorrectiveFitter& fitter, MotionSamples& samples)
      : scene_(scene), fitter_(fitter), samples_(samples) {}

  /// A check in every gap. The range's end, where no frame lies on it, is a key or a check too.
  void addChecks(bool end_is_key);
  /// Halves gaps until linear weights would be off by at most so much in all of them, or as small
  /// as they may get. False where the progress says stop. How many rounds that takes is not known:
  /// each is half of what the progress has left.
  bool refine(double max_error_m, const Progress& progress);
  /// Halves the gaps that these instants lie in. False where no gap can be.
  bool splitAt(std::span<const double> times_s);

 private:
  bool ours(std::size_t instant) const { return fitter_.clipOf(instant) == samples_.clip(); }
  bool canSplit(std::size_t instant) const;
  std::size_t keyCount() const;
  /// Turns checks into keys; the instants [s] that are to be checked then, which go up.
  std::vector<double> split(std::span<const std::size_t> checks);
  bool addChecksAt(std::span<const double> times_s, const Progress& progress = {});

  const Scene& scene_;
  CorrectiveFitter& fitter_;
  MotionSamples& samples_;
};

}  // namespace derm::detail
