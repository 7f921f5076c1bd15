// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows that are not rectangles, run by run.
#include "kernels/swofilter/extrema/kernels.cuh"

#include <cstdint>

#include "kernels/base/launch.cuh"

namespace cudascan::swo::extremes {
namespace {

template <typename T, typename Op>
__global__ void __launch_bounds__(256) mask_kernel(const __grid_constant__ ExtremaMaskJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  const Plane<const T> &in = job.in.plane;
  const int x = (blockIdx.x * 32 + threadIdx.x) * kSamples, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= in.width || y >= in.height) return;
  Packed<T> result = Packed<T>::of(job.none);
  unsigned found = 0;  // the samples of the word whose windows are not empty
  // A word is read for each cell. The last samples of the word may be beyond the row.
  const bool inside = x >= job.cells.rx && x + 2 * kSamples + job.cells.rx <= in.width;
  for (int i = 0; i < job.cells.n_runs; ++i) {
    const Run run = job.cells.runs[i];
    if (const int row = resolve(y + run.y, in.height, job.in.border); inside && row >= 0) {
      for (int dx = run.first; dx <= run.last; ++dx)
        result = Op{}(result, Packed<T>::of(load_word(in.row(row), in.width, x + dx, 0)));
      found = ~0u;
    } else {
      for (int dx = run.first; dx <= run.last; ++dx) {
        unsigned word = job.none;
        for (int s = 0; s < kSamples; ++s)
          job.in.visit(x + s + dx, y + run.y, [&](unsigned sample) {
            const unsigned place = ((1u << kBits) - 1) << (kBits * s);
            word = (word & ~place) | sample << (kBits * s);
            found |= place;
          });
        result = Op{}(result, Packed<T>::of(word));
      }
    }
  }
  unsigned word = result.word();
  if (job.keeps && found != ~0u)
    word = (word & found) | (load_word(in.row(y), in.width, x, 0) & ~found);
  job.sink.store(x, y, word);
}

}  // namespace

template <typename T, typename Op>
void queue_mask(Cuda &cuda, const ExtremaMaskJob<T> &job) {
  const Plane<const T> &in = job.in.plane;
  const dim3 blocks(divide_up(in.width, 32 * Packed<T>::kSamples), divide_up(in.height, 8));
  launch(cuda, mask_kernel<T, Op>, {blocks, dim3(32, 8)}, job);
}

template void queue_mask<std::uint8_t, Smallest>(Cuda &, const ExtremaMaskJob<std::uint8_t> &);
template void queue_mask<std::uint8_t, Largest>(Cuda &, const ExtremaMaskJob<std::uint8_t> &);
template void queue_mask<std::uint16_t, Smallest>(Cuda &, const ExtremaMaskJob<std::uint16_t> &);
template void queue_mask<std::uint16_t, Largest>(Cuda &, const ExtremaMaskJob<std::uint16_t> &);

}  // namespace cudascan::swo::extremes
