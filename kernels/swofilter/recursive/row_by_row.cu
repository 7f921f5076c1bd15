// SPDX-License-Identifier: LGPL-2.1-or-later
// Windows of few cells in images that are not too wide: a single block computes row after row, and
// keeps those that count in shared memory. That is faster than a wave of many blocks (wave.cu),
// whose rows wait for one another over many columns. If no row depends on those above, blocks share
// them.
//
// A warp has 128 neighbouring pixels of a row. What results take from the same row are the sums of
// the window's distances to the left: first the smallest one of each residue modulo the shortest
// distance (Apery set), then multiples of this distance, by a scan within the warp, and the largest
// pixel of each residue in the warps before.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/recursive/parts.h"

namespace cudascan::swo {
namespace {

constexpr int kReach = RecursiveSteps::kMostReach;
/// Pixels and words of a warp; a word has two pixels. A lane has words `lane` and `lane` + 32.
constexpr int kWarpPixels = 128, kWarpWords = kWarpPixels / 2;
constexpr int kMostWarps = 32, kMostWidth = kMostWarps * kWarpPixels;
/// With more cells the wave is faster.
constexpr int kMostLoneCells = 24;
/// Sums of each residue are below this: as many distances as residues, at most.
constexpr int kSumsEnd = kReach * kReach + 1;
/// Words of zeros before and after a row.
constexpr int kBefore = (kSumsEnd + 31) / 32 * 16, kAfter = 16;
/// Rows of which the input is read ahead.
constexpr int kRowsAhead = 2;

/// Cells that are read together; the last ones of a list are repeated.
constexpr int kAtOnce = 2;
/// Lists of cells: in rows above, then in the same row, and in each of them those that are an even
/// number of pixels to the side, then an odd one.
constexpr int kLists = 4;
constexpr int kMostListed = kMostLoneCells + kReach + kLists * (kAtOnce - 1);

/// A pixel of a row: words to the right, from which odd ones are one pixel further.
struct LoneCell {
  std::int16_t words, rows;
};

template <typename T>
struct LoneJob {
  RecursiveTarget<T> target;
  bool has_rest = false;
  bool paired = false;               ///< pairs of pixels in a row are aligned
  int first = 0, last = 0, top = 0;  ///< extent of all cells of written results
  int block_rows = 0;                ///< of each block but maybe the last
  int rows = 0, pitch = 0;           ///< in shared memory, and their distance in words
  int stride = 0;                    ///< the shortest distance to the left; 0 for none
  int ends[kLists] = {};             ///< of the lists, in units of kAtOnce
  LoneCell cells[kMostListed] = {};

  /// Appends a list.
  void add(int list, std::vector<LoneCell> of_list) {
    const int begin = list > 0 ? ends[list - 1] * kAtOnce : 0;
    while (of_list.size() % kAtOnce) of_list.push_back(of_list.back());
    std::copy(of_list.begin(), of_list.end(), cells + begin);
    ends[list] = (begin + static_cast<int>(of_list.size())) / kAtOnce;
  }
  CUDASCAN_HD int all_cells() const { return ends[kLists - 1] * kAtOnce; }
  int shared_bytes() const {
    return 4 * (rows * (pitch + all_cells()) + kMostWarps * (kReach + 1));
  }
};

template <typename T>
class LoneBlock {
 public:
  __device__ explicit LoneBlock(const LoneJob<T> &job)
      : job_(job),
        lane_(static_cast<int>(keep(threadIdx.x % 32))),
        warp_(static_cast<int>(keep(threadIdx.x / 32))),
        x_(warp_ * kWarpPixels + 2 * lane_),
        factor_(keep(job.target.complement ? -1u : 1u)),
        plus_(keep(job.target.complement ? job.target.maximum * 0x10001u : 0)),
        is_whole_(keep(job.paired && inside(x_ + kWarpWords + 1))) {
    const int n = job.all_cells();
    auto *const offsets = reinterpret_cast<int *>(dynamic_shared_memory());
    for (int i = threadIdx.x; i < job.rows * n; i += blockDim.x) {
      const LoneCell cell = job.cells[i % n];
      const int slot = (i / n + job.rows - cell.rows) % job.rows;
      offsets[i] = 4 * (slot * job.pitch + cell.words);
    }
    lasts_ = reinterpret_cast<unsigned *>(offsets + job.rows * n);
    unsigned *const ring = lasts_ + kMostWarps * (kReach + 1);
    for (int i = threadIdx.x; i < job.rows * job.pitch; i += blockDim.x) ring[i] = 0;
    offsets_ = shared_address(offsets);
    own_ = shared_address(ring + kBefore + warp_ * kWarpWords + lane_);
    for (int k = 0; k < 2; ++k) {
      const int x = x_ + kWarpWords * k;
      kept_[k] = keep((inside(x) ? 0xffffu : 0) | (inside(x + 1) ? 0xffff0000u : 0));
      sides_[k] = keep(outside(x) | outside(x + 1) << 16);
    }
    if (job.stride > 0) {
      const int words = job.stride % 2 ? job.stride : job.stride / 2;
      last_ = 32 - words + lane_ % words;
      for (int i = 0; i < 4; ++i) residue_[i] = column(i) % job.stride;
    }
    __syncthreads();
  }

  /// Computes rows.
  __device__ void operator()(int begin, int end) {
    const unsigned everywhere = job_.target.outside * 0x10001u;
    const std::ptrdiff_t stride = job_.target.out.stride;
    auto *to = reinterpret_cast<unsigned char *>(job_.target.out.row(begin) + x_);
    const unsigned char *from = to;
    Words rest[kRowsAhead + 1];
#pragma unroll
    for (int i = 0; i < kRowsAhead; ++i, from += stride) rest[i] = rest_at(from, begin + i < end);
#pragma unroll 1
    for (int y = begin, slot = 0; y < end; ++y) {
      rest[kRowsAhead] = rest_at(from, y + kRowsAhead < end);
      Words v = complemented(rest[0]);
#pragma unroll
      for (int i = 0; i < kRowsAhead; ++i) rest[i] = rest[i + 1];
      v = raised<false>(v, slot, 0, job_.ends[0]);
      v = raised<true>(v, slot, job_.ends[0], job_.ends[1]);
#pragma unroll
      for (int k = 0; k < 2; ++k)
        v.word[k] = __vmaxu2(v.word[k], y < job_.top ? everywhere : sides_[k]) & kept_[k];
      if (job_.stride > 0) v = along_row(v, slot);
      put(v, slot);
      write(v, to);
      from += stride, to += stride;
      slot = slot + 1 == job_.rows ? 0 : slot + 1;
      __syncthreads();
    }
  }

 private:
  /// Two pixels of a row, in memory.
  using Pair = std::conditional_t<sizeof(T) == 1, std::uint16_t, std::uint32_t>;
  struct Words {
    unsigned word[2];
  };

  __device__ bool inside(int x) const {
    return x < job_.target.out.width;
  }
  __device__ unsigned outside(int x) const {
    return x + job_.first < 0 || x + job_.last >= job_.target.out.width ? job_.target.outside : 0;
  }
  /// Column of a lane's pixel.
  __device__ int column(int i) const {
    return x_ + i / 2 * kWarpWords + i % 2;
  }
  static __device__ Words larger(const Words &a, const Words &b) {
    return {{__vmaxu2(a.word[0], b.word[0]), __vmaxu2(a.word[1], b.word[1])}};
  }
  __device__ void put(const Words &v, int slot) const {
    const unsigned to = own_ + 4 * slot * job_.pitch;
    store_shared(to, v.word[0]);
    store_shared(to + 4 * 32, v.word[1]);
  }
  /// Raises pixels to those at a list of cells.
  template <bool odd>
  __device__ Words raised(Words v, int slot, int begin, int end) const {
    unsigned offsets = offsets_ + 4 * (slot * job_.all_cells() + begin * kAtOnce);
#pragma unroll 1
    for (int i = begin; i < end; ++i, offsets += 4 * kAtOnce) {
      unsigned at[kAtOnce], words[kAtOnce][4];
      load_shared(offsets, at);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const unsigned from = own_ + at[j];
        load_shared(from, words[j][0]);
        load_shared(from + 4 * 32, words[j][2]);
        if constexpr (odd) {
          load_shared(from + 4, words[j][1]);
          load_shared(from + 4 * 33, words[j][3]);
        }
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if constexpr (odd)
          v = larger(v, {{__funnelshift_r(words[j][0], words[j][1], 16),
                          __funnelshift_r(words[j][2], words[j][3], 16)}});
        else
          v = larger(v, {{words[j][0], words[j][2]}});
      }
    }
    return v;
  }

  /// Pairs of the samples that are still input, as they are in memory, so that nothing waits for
  /// them yet.
  /// @param from  the lane's first one, if there is the row
  __device__ Words rest_at(const unsigned char *from, bool there_is) const {
    Words rest{};
    if (!job_.has_rest || !there_is) return rest;
    const auto *const samples = reinterpret_cast<const T *>(from);
    if (is_whole_) {
      rest.word[0] = *reinterpret_cast<const Pair *>(samples);
      rest.word[1] = *reinterpret_cast<const Pair *>(samples + kWarpWords);
    } else {
      for (int i = 0; i < 4; ++i)
        if (inside(column(i)))
          rest.word[i / 2] |= static_cast<unsigned>(samples[column(i) - x_])
                              << i % 2 * 8 * sizeof(T);
    }
    return rest;
  }
  /// What rest_at() returned, complemented if erosions are.
  __device__ Words complemented(const Words &rest) const {
    Words v{};
    if (!job_.has_rest) return v;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const unsigned both = sizeof(T) == 1 ? __byte_perm(rest.word[k], 0, 0x4140) : rest.word[k];
      v.word[k] = both * factor_ + plus_;  // without borrows between the pixels
    }
    return v;
  }
  /// @param to  the lane's first result
  __device__ void write(const Words &v, unsigned char *to) const {
    auto *const results = reinterpret_cast<T *>(to);
    unsigned pair[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const unsigned both = v.word[k] * factor_ + plus_;
      pair[k] = sizeof(T) == 1 ? __byte_perm(both, 0, 0x4420) : both;
    }
    if (is_whole_) {
      *reinterpret_cast<Pair *>(results) = static_cast<Pair>(pair[0]);
      *reinterpret_cast<Pair *>(results + kWarpWords) = static_cast<Pair>(pair[1]);
    } else {
      for (int i = 0; i < 4; ++i)
        if (inside(column(i)))
          results[column(i) - x_] = static_cast<T>(pair[i / 2] >> i % 2 * 8 * sizeof(T));
    }
  }

  /// The words of the warp so many words before, at most 32; 0 before its first one.
  __device__ Words before(const Words &v, int words) const {
    const int from = (lane_ - words) & 31;
    const unsigned first = __shfl_sync(kWholeWarp, v.word[0], from),
                   second = __shfl_sync(kWholeWarp, v.word[1], from);
    return {{lane_ >= words ? first : 0, lane_ >= words ? second : first}};
  }
  /// Raises pixels to those of the row that are a sum of distances to the left.
  __device__ Words along_row(Words v, int slot) const {
    if (job_.ends[1] < job_.ends[3]) {
      put(v, slot);
      __syncthreads();
      v = raised<false>(v, slot, job_.ends[1], job_.ends[2]);
      v = raised<true>(v, slot, job_.ends[2], job_.ends[3]);
    }
    int words = job_.stride / 2;
    if (job_.stride % 2) {
      const Words near = before(v, words), far = before(v, words + 1);
      v = larger(v, {{__funnelshift_r(far.word[0], near.word[0], 16),
                      __funnelshift_r(far.word[1], near.word[1], 16)}});
      words = job_.stride;
    }
    // Lanes without a lane so far below get their own words.
#pragma unroll 1
    for (; words < 32; words *= 2)
      v = larger(v, {{__shfl_up_sync(kWholeWarp, v.word[0], words),
                      __shfl_up_sync(kWholeWarp, v.word[1], words)}});
    v.word[1] = __vmaxu2(v.word[1], __shfl_sync(kWholeWarp, v.word[0], last_));
    // The last pixels of a warp are the largest of each residue.
    constexpr int kPitch = kReach + 1;
#pragma unroll
    for (int i = 2; i < 4; ++i)
      if (column(i) >= (warp_ + 1) * kWarpPixels - job_.stride)
        lasts_[warp_ * kPitch + residue_[i]] = v.word[1] >> (i % 2 * 16) & 0xffff;
    __syncthreads();
#pragma unroll 1
    for (int residue = 0; residue < job_.stride; ++residue) {
      const unsigned largest = warp_max(lane_ < warp_ ? lasts_[lane_ * kPitch + residue] : 0);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (residue_[i] == residue)
          v.word[i / 2] = __vmaxu2(v.word[i / 2], largest << (i % 2 * 16));
    }
    return {{v.word[0] & kept_[0], v.word[1] & kept_[1]}};
  }

  const LoneJob<T> &job_;
  const int lane_, warp_;
  const int x_;  ///< column of the first pixel
  const unsigned factor_, plus_;
  const unsigned is_whole_;  ///< whether all pixels of the lane are inside, in pairs
  unsigned offsets_;         ///< of the cells from own_, for each row of the ring
  unsigned own_;             ///< first word in the first row of the ring
  unsigned *lasts_;
  unsigned kept_[2], sides_[2];
  /// For results of the same row: the lane whose first word is the last one of the residue of this
  /// lane's second word, and the residues of the pixels.
  int last_ = 0, residue_[4] = {};
};

template <typename T>
__global__ void __launch_bounds__(kMostWarps * 32)
    lone_kernel(const __grid_constant__ LoneJob<T> job) {
  const int begin = blockIdx.x * job.block_rows;
  LoneBlock<T> block(job);
  block(begin, min(begin + job.block_rows, job.target.out.height));
}

}  // namespace

template <typename T>
bool recursive_row_by_row(Cuda &cuda, const RecursiveTarget<T> &target, const RecursiveSteps &steps,
                          bool has_rest) {
  const Plane<T> &out = target.out;
  if (out.width > kMostWidth || steps.above.size() > kMostLoneCells) return false;
  const int warps = divide_up(out.width, kWarpPixels);
  LoneJob<T> job{target};
  job.has_rest = has_rest;
  job.paired = (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % (2 * sizeof(T)) == 0;
  job.first = steps.first, job.last = steps.last, job.top = steps.top;
  const int blocks = steps.above.empty() ? std::min(cuda.multiprocessors(), out.height) : 1;
  job.block_rows = divide_up(out.height, blocks);
  job.rows = steps.rows + 1;
  job.pitch = kBefore + warps * kWarpWords + kAfter;
  std::vector<LoneCell> lists[kLists];
  const auto append = [&](std::vector<LoneCell> *even_and_odd, int x, int rows) {
    const int odd = x % 2 != 0;
    even_and_odd[odd].push_back(
        {static_cast<std::int16_t>((x - odd) / 2), static_cast<std::int16_t>(rows)});
  };
  for (const RecursiveCell &cell : steps.above) append(lists, cell.x, cell.rows);
  if (!steps.left.empty()) {
    job.stride = steps.left.front();
    for (const int sum : smallest_sums(steps.left, kSumsEnd)) append(lists + 2, -sum, 0);
  }
  for (int i = 0; i < kLists; ++i) job.add(i, lists[i]);
  if (job.shared_bytes() > cuda.most_shared_memory()) return false;
  launch(cuda, lone_kernel<T>,
         {divide_up(out.height, job.block_rows), warps * 32, job.shared_bytes()}, job);
  return true;
}
template bool recursive_row_by_row(Cuda &, const RecursiveTarget<std::uint8_t> &,
                                   const RecursiveSteps &, bool);
template bool recursive_row_by_row(Cuda &, const RecursiveTarget<std::uint16_t> &,
                                   const RecursiveSteps &, bool);

}  // namespace cudascan::swo
