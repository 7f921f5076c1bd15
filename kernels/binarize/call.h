// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Before and after the work of run(): what both backends refuse and report.
#pragma once
#include <cstdint>

#include "kernels/base/refuse.h"
#include "kernels/binarize/formula.h"

namespace cudascan::binarize {

/// Throws for everything that run() refuses but invalid planes.
/// @param deep_in, deep_out  the samples have 16 bits
void check_call(const BinarizeParams &params, int width, int height, bool deep_in, bool deep_out);
template <typename In, typename Out>
void check_call(const BinarizeParams &params, Plane<const In> in, Plane<Out> out) {
  check_planes(in, out);
  check_call(params, in.width, in.height, sizeof(In) > 1, sizeof(Out) > 1);
}

/// What a report is made of; levels and the run are Q8.
struct BinarizeFound {
  bool blank;                      ///< fewer than kLeastDetails details are above the level
  int third_detail, detail_level;  ///< the kLeastDetails-th largest; 0 if there are fewer
  bool inverted;                   ///< the ink is lighter than the paper
  int threshold, deviation;        ///< of the last round, as used
  int run;                         ///< 0 if it was not needed
  int ink_darkness;                ///< D; 0 if it was not needed
  std::uint64_t ink;               ///< pixels
};

/// @param pixels   of the image
/// @param darkest  kDarkest
BinarizeReport make_report(const BinarizeFound &, std::uint64_t pixels, int darkest);

}  // namespace cudascan::binarize
