// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/frequent.cuh"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/rank/launches.cuh"

namespace cudascan::swo {
namespace {

/// Shared memory that the kernel has of its own.
constexpr int kStaticBytes = 1024;
/// A bit less means twice as many passes.
constexpr int kFewestValueBits = 13;

__global__ void __launch_bounds__(kFrequentThreads, 1)
    frequent_kernel(const __grid_constant__ FrequentJob job,
                    const __grid_constant__ WindowCells cells) {
  FrequentModes(job, cells)();
}

}  // namespace

bool mode_by_frequency(Cuda &cuda, const SelectionJob<std::uint16_t> &selection, const Mask &mask) {
  const WindowCells cells(mask);
  const int rows = kFrequentTile + 2 * cells.ry;
  FrequentJob job{selection.in, selection.out};
  job.tiles_along = divide_up(job.out.width, kFrequentTile);
  job.tiles = job.tiles_along * divide_up(job.out.height, kFrequentTile);
  // Columns of bits are in different banks. A word after the last one is read, too.
  job.words = (divide_up(2 * (cells.ry + kFrequentTile), 32) + 1) | 1;
  job.shared.columns = divide_up((2 * (cells.rx + kFrequentTile) + 1) * job.words * 4, 128) * 128;
  const int most = cuda.most_shared_memory() - kStaticBytes;
  for (job.value_bits = 16;; --job.value_bits) {
    job.shared.counts = 2 << job.value_bits;
    if (job.shared.all(rows) <= most) break;
    if (job.value_bits == kFewestValueBits) return false;
  }
  const int area = rows * (kFrequentTile + 2 * cells.rx);
  job.list_words = divide_up(area + 8 * kMostFrequent, 32) * 32;
  const int blocks = std::min(cuda.multiprocessors(), job.tiles);
  constexpr std::size_t kNextBytes = 128;
  auto *const memory = static_cast<unsigned char *>(
      cuda.scratch(kNextBytes + sizeof(unsigned) * std::size_t(blocks) * job.list_words));
  job.next = reinterpret_cast<int *>(memory);
  job.lists = reinterpret_cast<unsigned *>(memory + kNextBytes);
  cuda.clear(memory, kNextBytes);
  launch(cuda, frequent_kernel,
         {static_cast<unsigned>(blocks), kFrequentThreads, job.shared.all(rows)}, job, cells);
  return true;
}

}  // namespace cudascan::swo
