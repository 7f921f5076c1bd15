// SPDX-License-Identifier: LGPL-2.1-or-later
// The edges of windows; see sums.cuh.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/moments/sums.cuh"

namespace cudascan::swo {
namespace {

/// Runs whose edges are added up at a time: sums of so many bytes fit into 16 bits.
constexpr int kMostRuns = 256;

template <typename T, typename E>
struct EdgeJob {
  ShapeSource<T> in;
  SumPlane<E> out;
  int shift;  // unused low bits of samples
  bool more;  // adds to what is there
  ShapePlan plan;
};

/// Sums of the samples that a thread's pixels read. A list of those that are added and one of those
/// that are subtracted alternate, with turn() after each.
template <typename T>
class SampleEdges;

/// Two sums in a register. Those that are added and those that are subtracted are kept apart, as
/// the difference needs more than 16 bits.
template <>
class SampleEdges<std::uint8_t> {
 public:
  using Element = std::uint32_t;

  __device__ void operator()(const unsigned (&words)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) {
      now_[2 * k] += words[k] & kEven;
      now_[2 * k + 1] += words[k] >> 8 & kEven;
    }
  }
  __device__ void operator()(const unsigned (&a)[kShapeWords], const unsigned (&b)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) {
      now_[2 * k] += (a[k] & kEven) + (b[k] & kEven);
      now_[2 * k + 1] += (a[k] >> 8 & kEven) + (b[k] >> 8 & kEven);
    }
  }
  __device__ void turn() {
#pragma unroll
    for (int i = 0; i < 2 * kShapeWords; ++i) {
      const unsigned now = now_[i];
      now_[i] = other_[i];
      other_[i] = now;
    }
  }
  /// Sample i of word k.
  __device__ Element sum(int k, int i) const {
    const int part = 2 * k + i % 2, shift = i / 2 * 16;
    return (now_[part] >> shift & 0xffff) - (other_[part] >> shift & 0xffff);
  }

 private:
  static constexpr unsigned kEven = 0x00ff00ff;
  unsigned now_[2 * kShapeWords] = {}, other_[2 * kShapeWords] = {};
};

/// One sum in a register (or two of them). What is subtracted is added to the negative sum.
template <typename T, typename E>
class WideEdges {
 public:
  using Element = E;

  __device__ void turn() {
#pragma unroll
    for (auto &of_word : sum_)
#pragma unroll
      for (E &sum : of_word) sum = E{0} - sum;
  }

 protected:
  E sum_[kShapeWords][Packed<T>::kSamples] = {};
};

template <>
class SampleEdges<std::uint16_t> : public WideEdges<std::uint16_t, std::uint32_t> {
 public:
  __device__ void operator()(const unsigned (&words)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) {
      sum_[k][0] += words[k] & 0xffff;
      sum_[k][1] += words[k] >> 16;
    }
  }
  __device__ void operator()(const unsigned (&a)[kShapeWords], const unsigned (&b)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) {
      sum_[k][0] += (a[k] & 0xffff) + (b[k] & 0xffff);
      sum_[k][1] += (a[k] >> 16) + (b[k] >> 16);
    }
  }
  __device__ Element sum(int k, int i) const {
    return sum_[k][i];
  }
};

template <typename T>
class SquareEdges;

/// Twice the sums: a sample counts twice so that the squares of two, each in two bytes of a word,
/// are added at once.
template <>
class SquareEdges<std::uint8_t> : public WideEdges<std::uint8_t, std::uint32_t> {
 public:
  __device__ void operator()(const unsigned (&words)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        add_squares(sum_[k][i], __byte_perm(words[k], 0, 0x4400 | i << 4 | i));
  }
  __device__ void operator()(const unsigned (&a)[kShapeWords], const unsigned (&b)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        add_squares(sum_[k][i], __byte_perm(a[k], b[k], 0x4400 | i * 0x1111));
  }
  __device__ Element sum(int k, int i) const {
    return static_cast<Element>(static_cast<std::int32_t>(sum_[k][i]) >> 1);
  }
};

template <>
class SquareEdges<std::uint16_t> : public WideEdges<std::uint16_t, std::uint64_t> {
 public:
  __device__ void operator()(const unsigned (&words)[kShapeWords]) {
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k) {
      const unsigned low = words[k] & 0xffff, high = words[k] >> 16;
      sum_[k][0] += std::uint64_t{low} * low;
      sum_[k][1] += std::uint64_t{high} * high;
    }
  }
  __device__ void operator()(const unsigned (&a)[kShapeWords], const unsigned (&b)[kShapeWords]) {
    (*this)(a);
    (*this)(b);
  }
  __device__ Element sum(int k, int i) const {
    return sum_[k][i];
  }
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

template <typename T, typename Edges>
__global__ void __launch_bounds__(1024)
    edge_kernel(const __grid_constant__ EdgeJob<T, typename Edges::Element> job) {
  constexpr int kSamples = Packed<T>::kSamples;
  const ShapeTile<T> tile(job.plan, -job.out.start);
  Edges edges;
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
  const int at = tile.x() + job.out.start;
  if (tile.y() >= job.in.image.plane.height || at >= job.out.stride) return;
  using Quad = SumQuad<typename Edges::Element>;
  auto *const row = job.out.row(tile.y()) + at;
#pragma unroll
  for (int k = 0; k < kShapeWords * kSamples; k += Quad::kElements) {
    Quad sums;
#pragma unroll
    for (int i = 0; i < Quad::kElements; ++i)
      sums.v[i] = edges.sum((k + i) / kSamples, (k + i) % kSamples);
    if (job.more) sums += Quad(row + k);
    sums.store(row + k);
  }
}

}  // namespace

template <typename T>
void queue_edges(Cuda &cuda, const FilterJob &filter, const ShapeMomentJob<T> &job) {
  const Plane<const T> &in = job.in.image.plane;
  const Mask &mask = filter.mask();
  const std::vector<Run> runs = mask.runs();
  const auto size = static_cast<int>(runs.size());
  for (int begin = 0; begin == 0 || begin < size; begin += kMostRuns) {
    std::vector<ShapeRead> reads;
    for (int i = begin; i < std::min(size, begin + kMostRuns); ++i) {
      reads.push_back({0, runs[i].last, runs[i].y});
      reads.push_back({1, runs[i].first - 1, runs[i].y});
    }
    const ShapePlan plan =
        make_shape_plan(reads, {mask.rx() + 1, mask.rx()}, sizeof(T), cuda.most_shared_memory());
    const dim3 blocks(divide_up(job.sums.stride, plan.tile_bytes() / sizeof(T)),
                      divide_up(in.height, plan.tile_rows()));
    const LaunchShape shape{blocks, plan.threads(), plan.bytes};
    launch(cuda, edge_kernel<T, SampleEdges<T>>, shape,
           {job.in, job.sums, job.shift, begin > 0, plan});
    if (filter.op == SwoFilterOperator::standard_deviation)
      launch(cuda, edge_kernel<T, SquareEdges<T>>, shape,
             {job.in, job.squares, job.shift, begin > 0, plan});
  }
}

template void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint8_t> &);
template void queue_edges(Cuda &, const FilterJob &, const ShapeMomentJob<std::uint16_t> &);

}  // namespace cudascan::swo
