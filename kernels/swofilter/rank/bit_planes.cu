// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians and ranks of windows of any shape with not too many samples. A word has one bit of 32
// neighbouring samples of a row, so a thread finds 32 results at once, two bits in each pass, the
// highest first: it counts the samples of the window that begin with the bits that are known and
// go on with 0, 1 or 2 (radix selection; Ataman, Aatre, Wong, "A fast method for real-time median
// filtering", IEEE Trans. ASSP 28(4), 1980). Counts have a word for each of their bits, too, and
// grow by carry-save adders (Warren, Hacker's Delight, 5-1). So the time follows the number of
// samples of the window, and not where they are.
#include <cstdint>
#include <utility>

#include "kernels/base/launch.cuh"
#include "kernels/base/packed_samples.cuh"
#include "kernels/base/warp_sums.cuh"
#include "kernels/swofilter/rank/launches.cuh"
#include "kernels/swofilter/rank/line_reach.cuh"

namespace cudascan::swo {
namespace {

/// Samples of a word. Windows reach fewer columns to each side: they need the pixels' word and its
/// two neighbours.
constexpr int kWordSamples = 32;
constexpr int kMostRows = 255;
/// Bits of a count, and the most samples of a window.
constexpr int kCountBits = 10, kMostCounted = (1 << kCountBits) - 1;
constexpr int kPlanesThreads = 128, kPackThreads = 256;

/// The largest windows that this method finds faster than others. Of bytes: the time follows the
/// samples and, for the words that are read, the rows; that of rank_by_sliding() follows the runs
/// of cells down the columns. Of 16 bits: the samples of rectangles and of other windows.
constexpr int kMostOfRun = 13, kSamplesOfRow = 2, kMostOfRectangle = 75, kMostOfShape = 110;

/// The image with its border in words. Pairs of bits of the same 32 samples are together, the
/// highest ones first; each pair has a row of its own.
template <typename T>
struct BitPlanes {
  static constexpr int kPairs = 4 * sizeof(T);

  uint2 *pairs;
  int across;  ///< words of a row, with one more on each side of the image

  /// @param row   counted from the first one above the image
  /// @param word  counted from the one left of the image
  __device__ uint2 *at(int row, int pair, int word) const {
    return pairs + (std::size_t(row) * kPairs + pair) * across + word;
  }
};

template <typename T>
struct BitPlanesJob {
  SelectionJob<T> selection;
  BitPlanes<T> planes;
  int words;  ///< of a row of results
  int n;      ///< samples of a window
  /// Of each row of the window: bit 32 + dx is set for the sample dx columns to the right.
  std::uint64_t cells[kMostRows];

  __device__ int rows() const { return 2 * selection.ry + 1; }
  __device__ int rank(int samples) const {
    return selection.op == SwoFilterOperator::median ? samples / 2
                                                     : rank_of(samples, selection.percentile);
  }
  /// Which of 32 columns from x on are inside the image.
  __device__ unsigned inside(int x) const {
    const int first = max(-x, 0), left = selection.in.plane.width - x;
    if (first >= kWordSamples || left <= 0) return 0;
    return (~0u << first) & (~0u >> max(kWordSamples - left, 0));
  }
};

/// Samples that do not exist are 0. A warp makes a word.
template <typename T>
__global__ void __launch_bounds__(kPackThreads)
    pack_kernel(const __grid_constant__ BitPlanesJob<T> job) {
  constexpr int kPairs = BitPlanes<T>::kPairs;
  const int lane = threadIdx.x % 32, row = blockIdx.y;
  const int word = blockIdx.x * (kPackThreads / 32) + threadIdx.x / 32;
  if (word >= job.planes.across) return;
  const unsigned sample =
      sample_or_zero(job.selection.in, (word - 1) * kWordSamples + lane, row - job.selection.ry);
  uint2 mine{};
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    const unsigned digit = sample >> 2 * (kPairs - 1 - pair);
    const uint2 all{__ballot_sync(kWholeWarp, digit & 2), __ballot_sync(kWholeWarp, digit & 1)};
    if (lane == pair) mine = all;
  }
  if (lane < kPairs) *job.planes.at(row, lane, word) = mine;
}

/// Adds three words, bit by bit: `sum` becomes the lower bits of the sums; returns the higher ones.
__device__ inline unsigned add_bits(unsigned &sum, unsigned a, unsigned b) {
  const unsigned carry = (sum & a) | (sum & b) | (a & b);
  sum ^= a ^ b;
  return carry;
}

/// Counts things for each of 32 pixels. Word k of a count has bit k of all 32.
/// @tparam things  how many are counted
template <int things>
class BitCounts {
 public:
  /// @param seen   of each thing, a bit for each pixel
  /// @param calls  calls before this one. Threads of a warp branch unless they have the same number
  __device__ void add(const unsigned (&seen)[things], unsigned calls) {
    // Every other word of a weight waits for the next one.
    if (!(calls & 1)) return hold<0>(seen);
    unsigned carry[things];
    carry_from<0>(seen, carry);
    if (!(calls & 2)) return hold<1>(carry);
    carry_from<1>(carry, carry);
    if (!(calls & 4)) return hold<2>(carry);
    carry_from<2>(carry, carry);
    add_from<kHeld>(carry);
  }
  /// To be called after the last one.
  __device__ void finish(unsigned calls) {
    if (calls & 1) add_from<0>(held_[0]);
    if (calls & 2) add_from<1>(held_[1]);
    if (calls & 4) add_from<2>(held_[2]);
  }
  __device__ unsigned bit(int thing, int k) const { return count_[thing][k]; }

 private:
  static constexpr int kHeld = 3;

  template <int k>
  __device__ void hold(const unsigned (&words)[things]) {
#pragma unroll
    for (int i = 0; i < things; ++i) held_[k][i] = words[i];
  }
  template <int k>
  __device__ void carry_from(const unsigned (&words)[things], unsigned (&carry)[things]) {
#pragma unroll
    for (int i = 0; i < things; ++i) carry[i] = add_bits(count_[i][k], held_[k][i], words[i]);
  }
  template <int first>
  __device__ void add_from(const unsigned (&words)[things]) {
#pragma unroll
    for (int i = 0; i < things; ++i) {
      unsigned carry = words[i];
#pragma unroll
      for (int k = first; k < kCountBits; ++k) carry = add_bits(count_[i][k], carry, 0);
    }
  }

  unsigned count_[things][kCountBits] = {}, held_[kHeld][things] = {};
};

/// What a pass counts: the samples whose next two bits are 0, 1 and 2.
constexpr int kDigits = 3;
using DigitCounts = BitCounts<kDigits>;

/// Calls f(side, shift) for the cells of a row of the window: bit 0 of the word on the left of the
/// pixels' (side 0), or of theirs (side 1), shifted by `shift`, belongs to the first pixel.
template <typename F>
__device__ __forceinline__ void for_cells(std::uint64_t cells, const F &f) {
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll 1
    for (auto left = static_cast<unsigned>(cells >> 32 * side); left; left &= left - 1)
      f(side, __ffs(left) - 1);
}

/// The numbers of 32 samples among the sorted ones of their windows.
template <typename T>
struct PixelRanks {
  unsigned bits[kCountBits] = {};
  unsigned empty = 0;  ///< pixels without samples in their windows

  __device__ PixelRanks(const BitPlanesJob<T> &job, int x, int y) {
    const auto &[in, out, op, depth, shift, percentile, alpha, rx, ry] = job.selection;
    const bool whole = in.border != SwoFilterBorder::clip ||
                       (in.holds(x, y, rx, ry) && in.holds(x + kWordSamples - 1, y, rx, ry));
    if (whole) {
      const int rank = job.rank(job.n);
#pragma unroll
      for (int k = 0; k < kCountBits; ++k) bits[k] = 0u - (rank >> k & 1);
      return;
    }
    const unsigned inside[3] = {job.inside(x - kWordSamples), job.inside(x),
                                job.inside(x + kWordSamples)};
    BitCounts<1> counts;
    unsigned n_cells = 0;
#pragma unroll 1
    for (int row = max(ry - y, 0); row < min(job.rows(), in.plane.height + ry - y); ++row)
      for_cells(job.cells[row], [&](int side, int shift) {
        counts.add({__funnelshift_r(inside[side], inside[side + 1], shift)}, n_cells++);
      });
    counts.finish(n_cells);
#pragma unroll 1
    for (int i = 0; i < kWordSamples; ++i) {
      unsigned n = 0;
#pragma unroll
      for (int k = 0; k < kCountBits; ++k) n |= (counts.bit(0, k) >> i & 1) << k;
      if (n == 0) empty |= 1u << i;
      // Missing samples, which are 0, come first.
      const unsigned rank = n == 0 ? 0 : job.rank(n) + job.n - n;
#pragma unroll
      for (int k = 0; k < kCountBits; ++k) bits[k] |= (rank >> k & 1) << i;
    }
  }

  /// Finds the next two bits of the results. The ranks then count from the first sample that has
  /// them.
  __device__ uint2 digits(const DigitCounts &counts) {
    uint2 digit{~0u, ~0u};
    unsigned open = ~0u;
#pragma unroll
    for (int d = 0; d < kDigits; ++d) {
      unsigned rest[kCountBits], below = 0;
#pragma unroll
      for (int k = 0; k < kCountBits; ++k) {
        const unsigned rank = bits[k], count = counts.bit(d, k);
        rest[k] = rank ^ count ^ below;
        below = (~rank & count) | (~rank & below) | (count & below);
      }
      const unsigned taken = open & below;
      if (d < 2) digit.x &= ~taken;
      if (d != 1) digit.y &= ~taken;
      open &= ~below;
#pragma unroll
      for (int k = 0; k < kCountBits; ++k) bits[k] = (open & rest[k]) | (~open & bits[k]);
    }
    return digit;
  }
};

/// Finds the next two bits of all results.
/// @param known  the bits before, the highest first, and then these
template <int pass, typename T>
__device__ void find_digits(const BitPlanesJob<T> &job, int y, int word, PixelRanks<T> &ranks,
                            unsigned (&known)[8 * sizeof(T)]) {
  constexpr int kKnown = 2 * pass;
  DigitCounts counts;
  unsigned n = 0;
#pragma unroll 1
  for (int row = 0; row < job.rows(); ++row) {
    const std::uint64_t cells = job.cells[row];
    if (!cells) continue;
    unsigned words[3][kKnown + 2];  // the word on the left, the pixels' and the one on the right
#pragma unroll
    for (int pair = 0; pair <= pass; ++pair)
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        const uint2 two = *job.planes.at(y + row, pair, word + i);
        words[i][2 * pair] = two.x;
        words[i][2 * pair + 1] = two.y;
      }
    for_cells(cells, [&](int side, int shift) {
      const auto plane = [&](int i) {
        return __funnelshift_r(words[side][i], words[side + 1][i], shift);
      };
      unsigned same = ~0u;
#pragma unroll
      for (int i = 0; i < kKnown; ++i) same &= ~(plane(i) ^ known[i]);
      const unsigned high = plane(kKnown), low = plane(kKnown + 1);
      counts.add({same & ~high & ~low, same & ~high & low, same & high & ~low}, n++);
    });
  }
  counts.finish(n);
  const uint2 digit = ranks.digits(counts);
  known[kKnown] = digit.x;
  known[kKnown + 1] = digit.y;
}

/// The samples from number `first` on that fill a word.
template <int bits>
__device__ unsigned samples_of(const unsigned (&planes)[bits], int first) {
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < bits; ++i) {
    const unsigned of_samples = planes[i] >> first;
    const unsigned spread = bits == 8 ? (of_samples & 0xf) * 0x00204081 & 0x01010101
                                      : (of_samples & 1) | (of_samples & 2) << 15;
    word |= spread << (bits - 1 - i);
  }
  return word;
}

template <typename T>
__global__ void __launch_bounds__(kPlanesThreads)
    bit_planes_kernel(const __grid_constant__ BitPlanesJob<T> job) {
  constexpr int kBits = 8 * sizeof(T);
  const Plane<T> &out = job.selection.out;
  const int thread = blockIdx.x * kPlanesThreads + threadIdx.x;
  const int word = thread % job.words, y = thread / job.words, x = word * kWordSamples;
  if (y >= out.height) return;
  PixelRanks<T> ranks(job, x, y);
  unsigned known[kBits];
  const auto find_all = [&]<int... passes>(std::integer_sequence<int, passes...>) {
    (find_digits<passes>(job, y, word, ranks, known), ...);
  };
  find_all(std::make_integer_sequence<int, kBits / 2>{});
  if (ranks.empty) {
#pragma unroll
    for (int pair = 0; pair < kBits / 2; ++pair) {
      const uint2 own = *job.planes.at(y + job.selection.ry, pair, word + 1);
      known[2 * pair] = (known[2 * pair] & ~ranks.empty) | (own.x & ranks.empty);
      known[2 * pair + 1] = (known[2 * pair + 1] & ~ranks.empty) | (own.y & ranks.empty);
    }
  }
#pragma unroll
  for (int i = 0; i < kWordSamples; i += Packed<T>::kSamples)
    store_word(out.row(y), out.width, x + i, samples_of(known, i));
}

template <typename T>
bool is_faster(const Mask &mask) {
  const int n = mask.count();
  if (mask.rx() >= kWordSamples || n > kMostCounted) return false;
  if (sizeof(T) > 1) return n <= (mask.rectangle ? kMostOfRectangle : kMostOfShape);
  return n + kSamplesOfRow * mask.height <=
         kMostOfRun * static_cast<int>(mask.transposed().runs().size());
}

}  // namespace

template <typename T>
bool rank_by_bit_planes(Cuda &cuda, const SelectionJob<T> &selection, const Mask &mask) {
  if (!is_faster<T>(mask)) return false;
  const int words = divide_up(selection.out.width, kWordSamples), across = words + 2;
  const int rows = selection.out.height + 2 * selection.ry;
  constexpr std::size_t kPairBytes = BitPlanes<T>::kPairs * sizeof(uint2);
  auto *const pairs = static_cast<uint2 *>(cuda.scratch(std::size_t(across) * rows * kPairBytes));
  BitPlanesJob<T> job{selection, {pairs, across}, words, mask.count(), {}};
  for (const Run &run : mask.runs())
    for (int dx = run.first; dx <= run.last; ++dx)
      job.cells[run.y + selection.ry] |= std::uint64_t{1} << (kWordSamples + dx);
  launch(cuda, pack_kernel<T>, {dim3(divide_up(across, kPackThreads / 32), rows), kPackThreads},
         job);
  launch(cuda, bit_planes_kernel<T>,
         {divide_up(std::int64_t{words} * selection.out.height, kPlanesThreads), kPlanesThreads},
         job);
  return true;
}

template bool rank_by_bit_planes(Cuda &, const SelectionJob<std::uint8_t> &, const Mask &);
template bool rank_by_bit_planes(Cuda &, const SelectionJob<std::uint16_t> &, const Mask &);

}  // namespace cudascan::swo
