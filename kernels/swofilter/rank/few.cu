// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians and ranks of windows of few samples, of any shape. A thread reads the samples of four
// neighbouring windows from a tile in shared memory, each at the same offset from its pixels, and
// sorts them by Batcher's network (network.cuh), two pixels in a register. Samples that are missing
// with border=clip are the highest, so the others come first.
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/rank/launches.cuh"
#include "kernels/swofilter/rank/network.cuh"
#include "kernels/swofilter/shapes/tile.cuh"

namespace cudascan::swo {
namespace {

/// Samples of the largest windows.
constexpr int kMostFew = 21;
constexpr unsigned kEvenBytes = 0x00ff00ff;

/// Pixels of a thread, two at a time: those of 8 bits are in one word, every other one in a
/// register; those of 16 bits are in two words.
constexpr int kFewPixels = 4;
/// The first pixel of a pair, and how far the second one is from it.
template <typename T>
__device__ constexpr int first_of_pair(int pair) {
  return sizeof(T) == 1 ? pair : 2 * pair;
}
template <typename T>
constexpr int kPairStep = sizeof(T) == 1 ? 2 : 1;

template <typename T>
struct FewJob {
  struct Cell {
    int offset;  // in a tile, from a pixel on, in bytes
    std::int16_t dx, dy;
  };

  SelectionJob<T> selection;
  ShapeSource<T> in;
  ShapePlan plan;  // of one phase
  int n;
  Cell cells[kMostFew];

  __device__ int rank(int samples) const {
    return selection.op == SwoFilterOperator::median ? samples / 2
                                                     : rank_of(samples, selection.percentile);
  }
  /// The samples of the window on (x, y) that are inside the image.
  __device__ int count(int x, int y) const {
    int inside = 0;
    for (int i = 0; i < n; ++i)
      inside += selection.in.holds(x + cells[i].dx, y + cells[i].dy, 0, 0);
    return inside;
  }
};

/// Which of the sorted samples four pixels get. -1 is the pixel itself.
template <typename T>
class FewRanks {
 public:
  __device__ FewRanks(const FewJob<T> &job, int x, int y) {
    const auto &in = job.selection.in;
    const bool whole = in.border != SwoFilterBorder::clip ||
                       (in.holds(x, y, job.selection.rx, job.selection.ry) &&
                        in.holds(x + kFewPixels - 1, y, job.selection.rx, job.selection.ry));
    const int rank = job.rank(job.n);
#pragma unroll
    for (int i = 0; i < kFewPixels; ++i) {
      const int n = whole ? job.n : job.count(x + i, y);
      rank_[i] = whole ? rank : n == 0 ? -1 : job.rank(n);
    }
  }

  /// The results of a pair.
  template <int most>
  __device__ unsigned of(const unsigned (&sorted)[most], int pair) const {
    const int first = first_of_pair<T>(pair);
    unsigned low = 0, high = 0;
#pragma unroll
    for (int i = 0; i < most; ++i) {
      if (i == rank_[first]) low = sorted[i];
      if (i == rank_[first + kPairStep<T>]) high = sorted[i];
    }
    return __byte_perm(low, high, 0x7610);
  }
  /// The bits of a word's pixels without samples.
  __device__ unsigned empty(int word) const {
    constexpr int kSamples = Packed<T>::kSamples;
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kSamples; ++i)
      if (rank_[word * kSamples + i] < 0)
        bits |= unsigned{static_cast<T>(~0)} << (8 * sizeof(T) * i);
    return bits;
  }

 private:
  int rank_[kFewPixels];
};

/// @tparam most  at least the number of samples
template <typename T, int most>
__global__ void __launch_bounds__(1024) few_kernel(const __grid_constant__ FewJob<T> job) {
  constexpr int kBytes = kFewPixels * sizeof(T), kWords = kBytes / 4;
  const ShapePlan &plan = job.plan;
  const ShapeTile<T> tile(plan, 0);
  tile.load(job.in, static_cast<int>(plan.words[0]), plan.words[1]);
  const Plane<T> &out = job.selection.out;
  const int across = plan.tile_bytes() / kBytes;  // threads
#pragma unroll 1
  for (int i = threadIdx.x; i < across * plan.tile_rows(); i += blockDim.x) {
    const int column = i % across, row = i / across;
    const int x = (blockIdx.x * across + column) * kFewPixels,
              y = blockIdx.y * plan.tile_rows() + row;
    if (x >= out.width || y >= out.height) continue;
    const unsigned char *const own =
        dynamic_shared_memory() + row * plan.pitch * 16 + column * kBytes;
    const FewRanks<T> ranks(job, x, y);
    unsigned results[kWords] = {};
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int word = pair * (kWords - 1), shift = kWords == 1 ? 8 * pair : 0;
      unsigned samples[most];
#pragma unroll
      for (int k = 0; k < most; ++k) {
        samples[k] = kWords == 1 ? kEvenBytes : ~0u;
        if (k >= job.n) continue;
        const int offset = job.cells[k].offset;
        const auto *const words = reinterpret_cast<const unsigned *>(own + (offset & ~3)) + word;
        samples[k] &= __funnelshift_r(words[0], words[1], (offset & 3) * 8) >> shift;
      }
      sort(samples);
      results[word] |= ranks.of(samples, pair) << shift;
    }
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const int at = x + word * Packed<T>::kSamples;
      if (const unsigned empty = ranks.empty(word); empty != 0)
        results[word] = (results[word] & ~empty) | (job.in.word(at, y) & empty);
      store_word(out.row(y), out.width, at, results[word]);
    }
  }
}

}  // namespace

template <typename T>
bool rank_of_few(Cuda &cuda, const SelectionJob<T> &selection, const FilterJob &job) {
  const Mask &mask = job.mask();
  if (mask.count() == 0 || mask.count() > kMostFew) return false;
  std::vector<ShapeRead> reads;
  for (const Run &run : mask.runs())
    for (int dx = run.first; dx <= run.last; ++dx) reads.push_back({0, dx, run.y});
  FewJob<T> few{
      selection,
      {selection.in.plane, job, std::numeric_limits<T>::max(), mask.rx()},
      make_shape_plan(reads, {mask.rx(), mask.rx()}, sizeof(T), cuda.most_shared_memory()),
      0,
      {}};
  const ShapePlan &plan = few.plan;
  if (plan.phases > 1) return false;
  for (const ShapeRead &read : reads)
    few.cells[few.n++] = {(read.dy - static_cast<int>(plan.words[0])) * plan.pitch * 16 +
                              plan.left + read.dx * static_cast<int>(sizeof(T)),
                          static_cast<std::int16_t>(read.dx), static_cast<std::int16_t>(read.dy)};
  const dim3 blocks(divide_up(selection.out.width, plan.tile_bytes() / static_cast<int>(sizeof(T))),
                    divide_up(selection.out.height, plan.tile_rows()));
  const auto kernel = few.n <= 5    ? few_kernel<T, 5>
                      : few.n <= 9  ? few_kernel<T, 9>
                      : few.n <= 13 ? few_kernel<T, 13>
                                    : few_kernel<T, kMostFew>;
  launch(cuda, kernel, {blocks, plan.threads(), plan.bytes}, few);
  return true;
}

template bool rank_of_few(Cuda &, const SelectionJob<std::uint8_t> &, const FilterJob &);
template bool rank_of_few(Cuda &, const SelectionJob<std::uint16_t> &, const FilterJob &);

}  // namespace cudascan::swo
