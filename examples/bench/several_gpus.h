// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Tables of several GPUs that share the frames of a stream: a publication's code and ours.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// The numbers of GPUs that are measured: the first 1, 2, 4, 8 and so on, then all. Each list has
/// the numbers of its devices; without a GPU there is none.
std::vector<std::vector<int>> device_lists();

/// One line of the plot: the same work by a publication's code and by ours.
struct SharedWork {
  std::string op, series;  ///< "autothreshold", "Otsu"
  Runner published, ours;
};

/// Measures each work and size on each of device_lists(), copies included, and prints the rows.
/// Frames and results are 8 bits, in pinned memory. A row has `us` and `baseline_us`, the time of a
/// frame of all GPUs together by our code and by the published one, `copy_us`, that of the copies
/// alone, and as `speedup` that of the published code over one GPU. It has an error unless the
/// results are those of one GPU.
/// @param sizes  with --quick one small size is measured in place of these
void several_gpus_table(const Options &options, Report &report, const std::string &table,
                        const std::string &title, const std::vector<Size> &sizes,
                        const std::vector<SharedWork> &works);

}  // namespace cudascan::bench
