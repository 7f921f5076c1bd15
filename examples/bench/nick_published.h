// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Data for the tables of Najafi et al.: times of each way to compute the picture.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// Table 1 of the paper.
inline const std::vector<Size> kNickImages{{75, 80, 8},     {169, 366, 8},   {400, 500, 8},
                                           {500, 1000, 8},  {1000, 1000, 8}, {1000, 2000, 8},
                                           {1500, 2000, 8}, {2000, 3000, 8}, {2500, 4000, 8}};

/// The library's algorithm, and the code of the paper: kernels/nick/baseline.h.
enum class NickCode { ours, serial, global, global_shared, shared };

/// One way to compute the picture, with its times over the images; NaN for those left out.
struct NickColumn {
  NickCode code;
  int window;
  int block = 0;                           ///< of a published kernel
  bool all_images = true;                  ///< otherwise only the largest one
  std::vector<double> us{};                ///< CPU: whole time; CUDA: kernel
  std::vector<TransferTimes> transfers{};  ///< CUDA

  std::string name() const;  ///< "Global-shared"
  bool cuda() const { return !transfers.empty(); }
};

/// "9*9".
std::string square(int side);

/// A linear model of times over the images, by least squares.
LinearModel fit(const std::vector<double> &us);
/// The same of the times with copies from and to pinned memory.
LinearModel fit_pinned(const NickColumn &column);

/// Tables 3 to 5 and figures 3 to 5 with the published numbers next to ours.
void print_nick_published(const std::vector<NickColumn> &cpu, const std::vector<NickColumn> &cuda,
                          Report &report);

}  // namespace cudascan::bench
