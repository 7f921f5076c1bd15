// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiles first, in shared memory; then the runs at their edges. So the way to a root is at most
// about as long as there are tiles in a component.
#include "kernels/binarize/components.cuh"

#include "kernels/base/launch.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kTileWords = 8, kTileRows = 32, kWords = kTileWords * kTileRows;
constexpr int kThreads = kThreadsOfWord * kWords;
constexpr int kTileBits = 12, kTileNodes = 1 << kTileBits;
static_assert(kTileNodes == 16 * kWords);

struct JoinJob {
  Page page;
  DeviceComponents components[2];
  bool things;

  __device__ bool is_idle() const {
    const Numbers &numbers = *page.numbers;
    if (!things) return !numbers.any_open;
    return !(blockIdx.z == 0 ? numbers.any_thick : numbers.any_opened);
  }
};

__global__ void __launch_bounds__(kThreads) join_tiles_kernel(const __grid_constant__ JoinJob job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (job.is_idle()) return;
  __shared__ std::uint32_t words[kTileRows][kTileWords];
  __shared__ std::uint32_t parents[kTileNodes];
  const DeviceComponents &components = job.components[blockIdx.z];
  const int own = threadIdx.x / kThreadsOfWord;
  const int tile_i = own % kTileWords, tile_y = own / kTileWords;
  const int i = blockIdx.x * kTileWords + tile_i, y = blockIdx.y * kTileRows + tile_y;
  const std::uint32_t word = components.bits.at(i, y);
  if (__syncthreads_count(word != 0) == 0) return;
  words[tile_y][tile_i] = word;  // by all its threads
  const auto node = [&](int right, int down, int first) {
    return static_cast<std::uint32_t>((tile_y + down) * kTileWords + tile_i + right) * 16 +
           first / 2;
  };
  const Forest forest{parents, kTileBits};
  for_own_runs(word, [&](const WordRun &run) { forest.make_root(node(0, 0, run.first)); });
  __syncthreads();
  const auto at = [&](int right, int down) {
    const int a = tile_i + right, b = tile_y + down;
    return a >= 0 && a < kTileWords && b >= 0 ? words[b][a] : 0;
  };
  WordNeighbours{word, at(-1, 0), at(-1, -1), at(0, -1), at(1, -1)}.join(forest, node);
  __syncthreads();
  for_own_runs(word, [&](const WordRun &run) {
    const std::uint32_t root = forest.root(node(0, 0, run.first));
    const int root_word = root / 16;
    const std::uint32_t global_root =
        components.node(blockIdx.x * kTileWords + root_word % kTileWords,
                        blockIdx.y * kTileRows + root_word / kTileWords, 0) +
        root % 16;
    components.forest.parents[components.node(i, y, run.first)] =
        components.forest.rank(global_root);
  });
}

// The words of a tile that have neighbours before them in other tiles: the first row, and the rest
// of the first and the last column.
constexpr int kEdgeWords = kTileWords + 2 * (kTileRows - 1);
constexpr int kEdgeThreads = (kThreadsOfWord * kEdgeWords + 31) / 32 * 32;

__global__ void __launch_bounds__(kEdgeThreads)
    join_edges_kernel(const __grid_constant__ JoinJob job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (job.is_idle()) return;
  const DeviceComponents &components = job.components[blockIdx.z];
  const DeviceBits &bits = components.bits;
  const int k = threadIdx.x / kThreadsOfWord, below = k - kTileWords;
  if (k >= kEdgeWords) return;
  const int column = below < 0 ? k : below % 2 * (kTileWords - 1);
  const int row = below < 0 ? 0 : 1 + below / 2;
  const int i = blockIdx.x * kTileWords + column, y = blockIdx.y * kTileRows + row;
  const bool first = column == 0, last = column == kTileWords - 1, top = row == 0;
  const std::uint32_t word = bits.at(i, y);
  if (word == 0) return;
  const auto outside = [&](bool is, int right, int down) {
    return is ? bits.at(i + right, y + down) : 0;
  };
  const auto node = [&](int right, int down, int begin) {
    return components.node(i + right, y + down, begin);
  };
  WordNeighbours{word, outside(first, -1, 0), outside(first || top, -1, -1), outside(top, 0, -1),
                 outside(last || top, 1, -1)}
      .join(components.forest, node);
}

void queue(Cuda &cuda, const JoinJob &job) {
  const DeviceBits &bits = job.components[0].bits;
  LaunchShape shape{dim3(divide_up(bits.stride, kTileWords), divide_up(bits.height, kTileRows),
                         job.things ? 2 : 1),
                    kThreads};
  shape.overlap = cuda.code_architecture() >= 90;
  launch(cuda, join_tiles_kernel, shape, job);
  shape.threads = kEdgeThreads;
  launch(cuda, join_edges_kernel, shape, job);
}

}  // namespace

void queue_join(Cuda &cuda, const Page &page, const DeviceComponents &ink) {
  queue(cuda, {page, {ink, ink}, false});
}
void queue_join(Cuda &cuda, const Page &page, const DeviceComponents &thing,
                const DeviceComponents &opened) {
  queue(cuda, {page, {thing, opened}, true});
}

}  // namespace cudascan::binarize
