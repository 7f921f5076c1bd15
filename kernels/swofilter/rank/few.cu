// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians and ranks of windows of few 8-bit samples, of any shape. A thread reads the samples of
// four neighbouring windows from a tile in shared memory, each at the same offset from its pixels,
// and sorts them by Batcher's network (network.cuh), two pixels in a register. Samples that are
// missing with border=clip are the highest, so the others come first.
#include <cstdint>
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

struct FewJob {
  struct Cell {
    int offset;  // in a tile, from a pixel on
    std::int16_t dx, dy;
  };

  SelectionJob<std::uint8_t> selection;
  ShapeSource<std::uint8_t> in;
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
class FewRanks {
 public:
  __device__ FewRanks(const FewJob &job, int x, int y) {
    const auto &in = job.selection.in;
    const bool whole = in.border != SwoFilterBorder::clip ||
                       (in.holds(x, y, job.selection.rx, job.selection.ry) &&
                        in.holds(x + 3, y, job.selection.rx, job.selection.ry));
    const int rank = job.rank(job.n);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int n = whole ? job.n : job.count(x + i, y);
      rank_[i] = whole ? rank : n == 0 ? -1 : job.rank(n);
    }
  }

  /// The results of pixels `first` and first + 2.
  template <int most>
  __device__ unsigned of(const unsigned (&sorted)[most], int first) const {
    unsigned low = 0, high = 0;
#pragma unroll
    for (int i = 0; i < most; ++i) {
      if (i == rank_[first]) low = sorted[i];
      if (i == rank_[first + 2]) high = sorted[i];
    }
    return __byte_perm(low, high, 0x7610);
  }
  /// Bytes of pixels without samples.
  __device__ unsigned empty() const {
    unsigned bytes = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (rank_[i] < 0) bytes |= 0xffu << (8 * i);
    return bytes;
  }

 private:
  int rank_[4];
};

/// @tparam most  at least the number of samples
template <int most>
__global__ void __launch_bounds__(1024) few_kernel(const __grid_constant__ FewJob job) {
  const ShapePlan &plan = job.plan;
  const ShapeTile<std::uint8_t> tile(plan, 0);
  tile.load(job.in, static_cast<int>(plan.words[0]), plan.words[1]);
  const Plane<std::uint8_t> &out = job.selection.out;
  const int across = plan.across * ShapePlan::kWarpBytes / 4;  // words
#pragma unroll 1
  for (int i = threadIdx.x; i < across * plan.tile_rows(); i += blockDim.x) {
    const int column = i % across * 4, row = i / across;
    const int x = blockIdx.x * plan.tile_bytes() + column, y = blockIdx.y * plan.tile_rows() + row;
    if (x >= out.width || y >= out.height) continue;
    const unsigned char *const own = dynamic_shared_memory() + row * plan.pitch * 16 + column;
    const FewRanks ranks(job, x, y);
    unsigned result = 0;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      unsigned samples[most];
#pragma unroll
      for (int k = 0; k < most; ++k) {
        samples[k] = kEvenBytes;
        if (k >= job.n) continue;
        const int offset = job.cells[k].offset;
        const auto *const words = reinterpret_cast<const unsigned *>(own + (offset & ~3));
        samples[k] =
            __funnelshift_r(words[0], words[1], (offset & 3) * 8) >> (8 * part) & kEvenBytes;
      }
      sort(samples);
      result |= ranks.of(samples, part) << (8 * part);
    }
    if (const unsigned empty = ranks.empty(); empty != 0)
      result = (result & ~empty) | (job.in.word(x, y) & empty);
    store_word(out.row(y), out.width, x, result);
  }
}

}  // namespace

bool rank_of_few(Cuda &cuda, const SelectionJob<std::uint8_t> &selection, const FilterJob &job) {
  const Mask &mask = job.mask();
  if (mask.count() == 0 || mask.count() > kMostFew) return false;
  std::vector<ShapeRead> reads;
  for (const Run &run : mask.runs())
    for (int dx = run.first; dx <= run.last; ++dx) reads.push_back({0, dx, run.y});
  FewJob few{selection,
             {selection.in.plane, job, 255, mask.rx()},
             make_shape_plan(reads, {mask.rx(), mask.rx()}, 1, cuda.most_shared_memory()),
             0,
             {}};
  const ShapePlan &plan = few.plan;
  if (plan.phases > 1) return false;
  for (const ShapeRead &read : reads)
    few.cells[few.n++] = {
        (read.dy - static_cast<int>(plan.words[0])) * plan.pitch * 16 + plan.left + read.dx,
        static_cast<std::int16_t>(read.dx), static_cast<std::int16_t>(read.dy)};
  const dim3 blocks(divide_up(selection.out.width, plan.tile_bytes()),
                    divide_up(selection.out.height, plan.tile_rows()));
  const auto kernel = few.n <= 5    ? few_kernel<5>
                      : few.n <= 9  ? few_kernel<9>
                      : few.n <= 13 ? few_kernel<13>
                                    : few_kernel<kMostFew>;
  launch(cuda, kernel, {blocks, plan.threads(), plan.bytes}, few);
  return true;
}

}  // namespace cudascan::swo
