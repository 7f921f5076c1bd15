// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What is done to a page between reading and writing, and what was found out about it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "image.h"
#include "kernels/autothreshold.h"
#include "kernels/nick.h"

namespace cudascan::scan {

enum class Backend { automatic, cuda, cpu };

struct Steps {
  bool straighten = true;
  double max_angle = 10;      ///< degrees; a page that is turned by more stays as it is, 0.1..10
  double min_confidence = 0;  ///< 0 = those that were measured (straighten.h), else the least, 0..1
  bool even_light = true;
  /// Pages that are black and white already are cut in the middle whatever this says.
  std::variant<NickParams, AutothresholdParams> binarize = NickParams{};
  int despeckle = 3;  ///< pixels that ink must have in some direction to stay, 1 = all stays, 1..64
};

/// What was found out about a page.
struct Findings {
  double angle = 0;       ///< degrees counter-clockwise that the page was found turned by
  double confidence = 0;  ///< in the angle, 0..1
  bool turned = false;    ///< whether the page was turned back by it
  int threshold = -1;     ///< of a method that has one for the page, else -1
  double read_ms = 0, straighten_ms = 0, clean_ms = 0, write_ms = 0;
  double gpu_ms = 0;  ///< time that the GPU worked
};

/// Cleans pages, one at a time; what it allocates for one it uses for the next.
class Cleaner {
 public:
  virtual ~Cleaner() = default;
  /// @param page   is changed by some steps
  /// @param clean  gets 8 bit, 0 and 255
  /// @throws Error when memory or the GPU fails
  virtual void clean(Image &page, const Steps &steps, Image &clean, Findings &found) = 0;
};

/// On one thread of the CPU.
std::unique_ptr<Cleaner> make_cpu_cleaner();
/// On a stream of the first GPU. Images are to be pinned. Made, used and destroyed by one thread.
std::unique_ptr<Cleaner> make_cuda_cleaner();

}  // namespace cudascan::scan
