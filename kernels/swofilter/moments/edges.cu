// SPDX-License-Identifier: LGPL-2.1-or-later
// The edges of windows; see sums.cuh.
#include <algorithm>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/moments/sums.cuh"
#include "kernels/windowsums/sums.cuh"

namespace cudascan::swo {
namespace {

/// Runs whose edges are added up at a time: a plan has room for them, and Edges for their sums.
template <typename T>
constexpr int kMostRuns = sizeof(T) == 1 ? 256 : 128;
/// Threads of a multiprocessor; they need many registers.
constexpr int kThreads = 512;

template <typename T>
struct EdgeJob {
  ShapeSource<T> in;
  SumPlane<T, std::uint32_t> sums;
  SumPlane<T, ShapeSquare<T>> squares;
  int shift;  // unused low bits of samples
  bool more;  // adds to what is there
  ShapePlan plan;
};

/// Sums of the samples that a thread's pixels read and, if `squared`, of their squares. A list of
/// those that are added and one of those that are subtracted alternate, with turn() after each.
template <typename T, bool squared>
class Edges {
 public:
  static constexpr int kSamples = Packed<T>::kSamples, kPixels = kShapeWords * kSamples;

  /// Adds one, two or four reads.
  template <typename... Words>
  __device__ void operator()(const Words &...reads) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) add(k * kSamples, reads[k]...);
  }
  __device__ void turn() {
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      sums_[i] = 0 - sums_[i];
#pragma unroll
      for (auto &squares : squares_) squares[i] = 0 - squares[i];
    }
  }
  __device__ std::uint32_t sum(int i) const {
    return sums_[i];
  }
  __device__ ShapeSquare<T> squares(int i) const {
    if constexpr (sizeof(T) == 1)
      return squares_[0][i];
    else
      return static_cast<int>(squares_[0][i]) +
             static_cast<std::int64_t>(static_cast<int>(squares_[1][i])) * 256;
  }

 private:
  /// Adds words to the pixels from number i on.
  template <typename... Words>
  __device__ void add(int i, unsigned word, Words... others) {
    if constexpr (sizeof(T) == 1) {
      const unsigned words[4] = {word, others...};
      unsigned of_pixels[4];
      windowsums::transpose(words[0], words[1], words[2], words[3], of_pixels);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        add_products(sums_[i + j], of_pixels[j], 0x01010101);
        if constexpr (squared) add_squares(squares_[0][i + j], of_pixels[j]);
      }
    } else {
      add_two(i, word, others...);
    }
  }
  template <typename... Words>
  __device__ void add_two(int i, unsigned a, unsigned b = 0, Words... others) {
    add_pair(i, __byte_perm(a, b, 0x5410));
    add_pair(i + 1, __byte_perm(a, b, 0x7632));
    if constexpr (sizeof...(others) > 0) add_two(i, others...);
  }
  /// Adds two samples of a pixel.
  __device__ void add_pair(int i, unsigned pair) {
    sums_[i] = add_products<false>(pair, 0x0101u, sums_[i]);
    if constexpr (squared) {
      const unsigned bytes = __byte_perm(pair, 0, 0x3120);  // the lower ones, the upper ones
      squares_[0][i] = add_products<false>(pair, bytes, squares_[0][i]);
      squares_[1][i] = add_products<true>(pair, bytes, squares_[1][i]);
    }
  }

  std::uint32_t sums_[kPixels] = {};
  /// Of wider samples: products with their lower and with their upper bytes. These are below 2^24,
  /// so that the sums over kMostRuns fit with a sign.
  std::uint32_t squares_[sizeof(T)][kPixels] = {};
};

/// The levels of the samples in a unit.
template <typename T>
struct UnitLevels {
  int shift;

  __device__ uint4 operator()(const uint4 &a, const uint4 &) const {
    const unsigned kept =
        sizeof(T) == 1 ? (0xffu >> shift) * 0x01010101u : (0xffffu >> shift) * 0x00010001u;
    return {a.x >> shift & kept, a.y >> shift & kept, a.z >> shift & kept, a.w >> shift & kept};
  }
};

/// Writes the sums of a thread, or adds to those that are there.
/// @param sum  sum(i) is that of pixel i
template <typename T, typename E, typename Sum>
__device__ void store(const SumPlane<T, E> &out, int at, int y, bool more, const Sum &sum) {
  using Quad = SumQuad<E>;
#pragma unroll
  for (int k = 0; k < Edges<T, true>::kPixels / Quad::kElements; ++k) {
    E *const to = out.quad(y, at, k);
    Quad quad;
#pragma unroll
    for (int i = 0; i < Quad::kElements; ++i) quad.v[i] = sum(k * Quad::kElements + i);
    if (more) quad += Quad(to);
    quad.store(to);
  }
}

template <typename T, bool squared>
__global__ void __launch_bounds__(kThreads) edge_kernel(const __grid_constant__ EdgeJob<T> job) {
  const ShapeTile<T> tile(job.plan, -job.sums.start);
  Edges<T, squared> edges;
  const std::uint32_t *words = job.plan.words;
  for (int phase = 0; phase < job.plan.phases; ++phase) {
    const int first_row = static_cast<int>(words[0]), rows = words[1], lists = words[2];
    words += 3;
    if (phase > 0) __syncthreads();
    tile.load(job.in, first_row, rows);
    if (job.shift > 0) tile.widen(rows, 16, UnitLevels<T>{job.shift});
    for (int list = 0; list < lists; ++list) {
      words = tile.visit(words, edges);
      edges.turn();
    }
  }
  const int at = tile.x() + job.sums.start;
  if (tile.y() >= job.in.image.plane.height || at >= job.sums.stride) return;
  store(job.sums, at, tile.y(), job.more, [&](int i) { return edges.sum(i); });
  if constexpr (squared)
    store(job.squares, at, tile.y(), job.more, [&](int i) { return edges.squares(i); });
}

}  // namespace

template <typename T>
void queue_edges(Cuda &cuda, const FilterJob &filter, const ShapeMomentJob<T> &job) {
  const Mask &mask = filter.mask();
  const std::vector<Run> runs = mask.runs();
  const auto size = static_cast<int>(runs.size());
  for (int begin = 0; begin == 0 || begin < size; begin += kMostRuns<T>) {
    std::vector<ShapeRead> reads;
    for (int i = begin; i < std::min(size, begin + kMostRuns<T>); ++i) {
      reads.push_back({0, runs[i].last, runs[i].y});
      reads.push_back({1, runs[i].first - 1, runs[i].y});
    }
    const ShapePlan plan = make_shape_plan(reads, {mask.rx() + 1, mask.rx()}, sizeof(T),
                                           cuda.most_shared_memory(), kThreads);
    const dim3 blocks(divide_up(job.sums.stride, plan.tile_bytes() / sizeof(T)),
                      divide_up(job.out.height, plan.tile_rows()));
    launch(cuda,
           filter.op == SwoFilterOperator::mean ? edge_kernel<T, false> : edge_kernel<T, true>,
           {blocks, plan.threads(), plan.bytes},
           {job.in, job.sums, job.squares, job.shift, begin > 0, plan});
  }
}

template void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint8_t> &);
template void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint16_t> &);

}  // namespace cudascan::swo
