// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Data for the tables of Najafi et al.: times of each way to compute the picture.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"
#include "kernels/nick.h"

namespace cudascan::bench {

/// Table 1 of the paper.
inline const std::vector<Size> kNickImages{{75, 80, 8},     {169, 366, 8},   {400, 500, 8},
                                           {500, 1000, 8},  {1000, 1000, 8}, {1000, 2000, 8},
                                           {1500, 2000, 8}, {2000, 3000, 8}, {2500, 4000, 8}};

/// One way to compute the picture, with its times over the images.
struct NickColumn {
  std::string name, block;
  int window;
  NickAlgorithm algorithm;
  std::vector<double> us{};                ///< CPU: whole time; CUDA: kernel
  std::vector<TransferTimes> transfers{};  ///< CUDA
};

/// t = slope * P + offset in milliseconds, by least squares.
struct NickLine {
  double slope = kUnknown, offset = kUnknown, r2 = kUnknown;

  /// Microseconds of the largest image by the linear model.
  double largest_us() const { return (slope * kNickImages.back().pixels() + offset) * 1e3; }
};
NickLine fit(const std::vector<double> &us);

/// Tables 3 to 5 and figures 3 to 5 with the published numbers next to ours.
void print_nick_published(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda,
                          Report &report);

}  // namespace cudascan::bench
