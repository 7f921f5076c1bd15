// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/things.cuh"

#include "kernels/base/launch.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;

/// The pixel of a thread of a kernel with a thread for each pixel, whole words of bits in a row.
struct PixelPlace {
  int x = blockIdx.x * kThreads + threadIdx.x, y = blockIdx.y;
};

__device__ int darkness_below(int sample, int paper, int least_paper, int darkest) {
  const int level = max(paper, least_paper);
  return darkness(sample, level, darkness_factor(darkest, level, least_paper));
}

/// Finds dark pixels, and clears the counts of things.
__global__ void __launch_bounds__(kThreads) dark_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (!numbers.has_ink()) return;
  __shared__ int least_papers[kPapers];
  const int kind = threadIdx.x;
  if (kind < kPapers) least_papers[kind] = numbers.least_paper(static_cast<PaperKind>(kind));
  __syncthreads();
  const PixelPlace at;
  bool is_thing = false, is_deep = false, is_thick = false;
  if (at.x < planes.quarter.width) {
    const int sample = static_cast<int>(
        upright(planes.quarter.row(at.y)[at.x], planes.page.inverted(), planes.page.maximum));
    const auto below = [&](const SmallPlane &paper, PaperKind of) {
      return darkness_below(sample, paper.row(at.y / 4)[at.x / 4], least_papers[of],
                            planes.darkest);
    };
    const int far = below(planes.widest_paper, kWidestPaper);
    planes.darkness.row(at.y)[at.x] = static_cast<std::uint16_t>(far);
    is_thing = is_dark(far, numbers.ink_darkness);
    is_deep = is_dark_margin(far, numbers.ink_darkness, planes.darkest);
    is_thick = is_dark(below(planes.wide_paper, kWidePaper), numbers.ink_darkness);
  }
  const std::uint32_t thing = __ballot_sync(~0u, is_thing), deep = __ballot_sync(~0u, is_deep),
                      thick = __ballot_sync(~0u, is_thick);
  const int i = at.x / 32, lane = at.x % 32;
  if ((thing & ~(thing << 1)) >> lane & 1) {  // a run begins
    const std::uint32_t node = planes.thing.node(i, at.y, lane);
    planes.edge_counts[node] = planes.soft_counts[node] = 0;
  }
  if (lane != 0 || i >= planes.deep.stride) return;
  planes.thing.bits.row(at.y)[i] = thing;
  planes.deep.row(at.y)[i] = deep;
  planes.thick.row(at.y)[i] = thick;
}

// Squares: a block has a tile of words, and what is around it.
constexpr int kTileWords = 8, kTileRows = 16, kSquareThreads = 256;
constexpr int kAroundWords = 2, kMostRadius = StrokeSizes::kMostCore / 2;
constexpr int kWidth = kTileWords + 2 * kAroundWords;
static_assert(2 * kMostRadius <= 32 * kAroundWords);

/// The words of a tile in shared memory. Columns and rows count from its corner.
struct TileBits {
  std::uint32_t *words;
  int radius;

  __device__ std::uint32_t &at(int column, int row) const {
    return words[(row + 2 * radius) * kWidth + column + kAroundWords];
  }
  /// Calls f(column, row) for the words of the tile and some around it.
  template <typename F>
  __device__ void each(int columns, int rows, const F &f) const {
    const int width = kTileWords + 2 * columns, height = kTileRows + 2 * rows;
    for (int i = threadIdx.x; i < width * height; i += kSquareThreads)
      f(i % width - columns, i / width - rows);
    __syncthreads();
  }
  /// Erosions along rows, then columns, into another tile. Dilations are erosions of zeros.
  __device__ void erode(std::uint32_t flip, const TileBits &between, const TileBits &to,
                        int columns, int rows) const {
    each(columns, rows + radius, [&](int column, int row) {
      const std::uint32_t left = at(column - 1, row) ^ flip, own = at(column, row) ^ flip,
                          right = at(column + 1, row) ^ flip;
      std::uint32_t all = own;
      for (int k = 1; k <= radius; ++k)
        all &= __funnelshift_r(own, right, k) & __funnelshift_r(left, own, 32 - k);
      between.at(column, row) = all;
    });
    each(columns, rows, [&](int column, int row) {
      std::uint32_t all = between.at(column, row);
      for (int k = 1; k <= radius; ++k)
        all &= between.at(column, row - k) & between.at(column, row + k);
      to.at(column, row) = all ^ flip;
    });
  }
};

/// Finds the centres of thick squares, and the opening of deep pixels.
__global__ void __launch_bounds__(kSquareThreads) square_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  Numbers &numbers = *planes.page.numbers;
  if (!numbers.has_ink()) return;
  constexpr int kMostWords = (kTileRows + 4 * kMostRadius) * kWidth;
  __shared__ std::uint32_t first[kMostWords], second[kMostWords], third[kMostWords];
  const int radius = numbers.sizes.core / 2;
  const TileBits a{first, radius}, b{second, radius}, c{third, radius};
  const int i0 = blockIdx.x * kTileWords, y0 = blockIdx.y * kTileRows;
  // Squares leave out what is outside of the plane.
  const auto load = [&](const DeviceBits &bits) {
    std::uint32_t any = 0;
    a.each(kAroundWords, 2 * radius, [&](int column, int row) {
      const int i = i0 + column, y = y0 + row;
      const bool inside = i >= 0 && i < bits.stride && y >= 0 && y < bits.height;
      const std::uint32_t word = inside ? bits.row(y)[i] : 0;
      any |= word;
      a.at(column, row) = inside ? word | ~pixels_of(bits, i) : ~0u;
    });
    return __syncthreads_count(any != 0) != 0;
  };
  const auto store = [&](const DeviceBits &bits, const TileBits *tile, unsigned &any) {
    std::uint32_t found = 0;
    a.each(0, 0, [&](int column, int row) {
      const int i = i0 + column, y = y0 + row;
      if (i >= bits.stride || y >= bits.height) return;
      const std::uint32_t word = tile ? tile->at(column, row) & pixels_of(bits, i) : 0;
      bits.row(y)[i] = word;
      found |= word;
    });
    if (__syncthreads_count(found != 0) && threadIdx.x == 0) atomicOr(&any, 1u);
  };
  if (load(planes.thick)) {
    a.erode(0, b, c, 0, 0);
    store(planes.centre, &c, numbers.any_thick);
  } else {
    store(planes.centre, nullptr, numbers.any_thick);
  }
  const DeviceBits &opened = planes.opened.bits;
  if (!load(planes.deep)) return store(opened, nullptr, numbers.any_opened);
  a.erode(0, b, c, 1, radius);
  c.each(1, radius, [&](int column, int row) {
    const int i = i0 + column, y = y0 + row;
    const bool inside = i >= 0 && i < opened.stride && y >= 0 && y < opened.height;
    c.at(column, row) &= inside ? pixels_of(opened, i) : 0;
  });
  c.erode(~0u, b, a, 0, 0);
  store(opened, &a, numbers.any_opened);
}

/// The word of a thread, in kernels with a thread for each word, or some.
template <int threads = 1>
struct WordPlace {
  int i = (blockIdx.x * kThreads + threadIdx.x) / threads, y = blockIdx.y;
};

/// Marks things with thick squares, and what touches the edge of the image.
__global__ void __launch_bounds__(kThreads) mark_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const WordPlace<kThreadsOfWord> at;
  const DeviceBits &bits = planes.thing.bits;
  if (at.i >= bits.stride) return;
  if (numbers.any_opened) {
    std::uint32_t border = at.y == 0 || at.y == bits.height - 1 ? ~0u : 0;
    if (at.i == 0) border |= 1;
    if (at.i == bits.stride - 1) border |= 1u << (bits.width - 1) % 32;
    planes.opened.keep(planes.opened.bits.row(at.y)[at.i], own_part(), border, at.i, at.y);
  }
  if (numbers.any_thick)
    planes.thing.keep(bits.row(at.y)[at.i], own_part(), planes.centre.row(at.y)[at.i], at.i, at.y);
}

/// Whether a pixel has a neighbour that is not dark.
__device__ bool is_edge(const DeviceBits &dark, int x, int y) {
  bool all = true;
  for (int row = max(y - 1, 0); row <= min(y + 1, dark.height - 1); ++row)
    for (int column = max(x - 1, 0); column <= min(x + 1, dark.width - 1); ++column)
      all &= dark.row(row)[column / 32] >> column % 32 & 1;
  return !all;
}
/// The largest difference of samples of a window.
__device__ int step_of(const SmallPlane &plane, int x, int y, int size) {
  const int radius = size / 2;
  int high = 0, low = 0xffff;
  for (int row = max(y - radius, 0); row <= min(y + radius, plane.height - 1); ++row)
    for (int column = max(x - radius, 0); column <= min(x + radius, plane.width - 1); ++column) {
      const int sample = plane.row(row)[column];
      high = max(high, sample);
      low = min(low, sample);
    }
  return high - low;
}

/// Counts the pixels of the edges of marked things, and the soft ones.
__global__ void __launch_bounds__(kThreads) edge_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (!numbers.any_thick) return;
  const PixelPlace at;
  const int i = at.x / 32, lane = at.x % 32;
  const std::uint32_t word = planes.thing.bits.at(i, at.y);
  if (word == 0) return;
  const bool begins = (word & ~(word << 1)) >> lane & 1;
  const std::uint32_t root =
      begins ? planes.thing.forest.root(planes.thing.node(i, at.y, lane)) : 0;
  // The begins of kept runs, and the runs: a sum carries from the begin to the end.
  const std::uint32_t kept = __ballot_sync(~0u, begins && planes.thing.is_kept(root));
  const std::uint32_t runs = word & ~(word + kept);
  const bool edge = runs >> lane & 1 && is_edge(planes.thing.bits, at.x, at.y);
  const bool soft = edge && is_soft(step_of(planes.darkness, at.x, at.y, numbers.sizes.edge),
                                    numbers.ink_darkness);
  const std::uint32_t edges = __ballot_sync(~0u, edge), softs = __ballot_sync(~0u, soft);
  if (!(kept >> lane & 1)) return;
  const std::uint32_t after = word >> lane, zero = __ffs(~after);  // 0 if there is none
  const std::uint32_t run = (zero ? (1u << (zero - 1)) - 1 : ~0u) << lane;
  if (edges & run) atomicAdd(&planes.edge_counts[root], unsigned(__popc(edges & run)));
  if (softs & run) atomicAdd(&planes.soft_counts[root], unsigned(__popc(softs & run)));
}

/// Leaves the things that become ink, and the margins.
__global__ void __launch_bounds__(kThreads) choose_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const WordPlace<kThreadsOfWord> at;
  const DeviceBits &bits = planes.thing.bits;
  const bool writes = at.i < bits.stride && threadIdx.x % kThreadsOfWord == 0;
  if (numbers.any_opened) {
    const std::uint32_t opened = planes.opened.bits.at(at.i, at.y);
    const std::uint32_t margin = bits_of_all(planes.opened.kept(opened, at.i, at.y));
    if (writes) planes.opened.bits.row(at.y)[at.i] = margin;
  }
  if (!numbers.any_thick) return;
  std::uint32_t ink = 0;
  for_own_runs(bits.at(at.i, at.y), [&](const WordRun &run) {
    const std::uint32_t root = planes.thing.forest.root(planes.thing.node(at.i, at.y, run.first));
    if (planes.thing.is_kept(root) && !fades(planes.soft_counts[root], planes.edge_counts[root]))
      ink |= run.bits;
  });
  ink = bits_of_all(ink);
  if (writes) planes.centre.row(at.y)[at.i] = ink;
}

__global__ void __launch_bounds__(kThreads) margin_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const WordPlace<> at;
  if (at.i >= planes.margin.stride || !numbers.any_opened) return;
  const std::uint32_t margin = dilated(planes.opened.bits, at.i, at.y, numbers.sizes.margin / 2);
  planes.margin.row(at.y)[at.i] = margin;
  planes.centre.row(at.y)[at.i] &= ~margin;
}

__global__ void __launch_bounds__(kThreads) near_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const WordPlace<> at;
  if (at.i >= planes.near.stride || !planes.page.numbers->any_thick) return;
  planes.near.row(at.y)[at.i] = dilated(planes.centre, at.i, at.y, 1);
}

}  // namespace

void queue_things(Cuda &cuda, const ThingPlanes &planes) {
  const SmallPlane &quarter = planes.quarter;
  const auto shape = [&](dim3 blocks, int threads) {
    LaunchShape s{blocks, static_cast<unsigned>(threads)};
    s.overlap = cuda.code_architecture() >= 90;
    return s;
  };
  const auto rows = [&](int columns) {
    return shape(dim3(divide_up(columns, kThreads), quarter.height), kThreads);
  };
  const int stride = planes.thing.bits.stride;
  launch(cuda, dark_kernel, rows(32 * stride), planes);
  launch(cuda, square_kernel,
         shape(dim3(divide_up(stride, kTileWords), divide_up(quarter.height, kTileRows)),
               kSquareThreads),
         planes);
  queue_join(cuda, planes.page, planes.thing, planes.opened);
  launch(cuda, mark_kernel, rows(kThreadsOfWord * stride), planes);
  launch(cuda, edge_kernel, rows(32 * stride), planes);
  launch(cuda, choose_kernel, rows(kThreadsOfWord * stride), planes);
  launch(cuda, margin_kernel, rows(stride), planes);
  launch(cuda, near_kernel, rows(stride), planes);
}

}  // namespace cudascan::binarize
