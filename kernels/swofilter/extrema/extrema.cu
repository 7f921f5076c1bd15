// SPDX-License-Identifier: LGPL-2.1-or-later
// Rectangles are separable, and with them samples outside of the image change nothing but with a
// constant border, where the constant takes part wherever the window leaves the image. So there is a
// kernel for clipped rectangles, down the columns and along the rows in one go. Large ones go down the
// columns twice, as what is beside a tile would be too much: each time the image is turned, so that what
// was a row is a column then. Other windows go run by run.
#include "kernels/swofilter/extrema/extrema.h"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/base/packed_samples.cuh"
#include "kernels/swofilter/cells.cuh"

namespace cudascan::swo {
namespace {

// ---- What becomes of extrema ---------------------------------------------------------------------

enum class Finish {
  none,
  minus_other,  // extremum - the other image
  other_minus,  // the other image - extremum
  midpoint,     // between both
};

/// Writes extrema, or what an operator makes of them.
template <typename T>
struct Sink {
  Plane<T> out;
  Finish finish;
  Plane<const T> other;
  Plane<const T> in;  // for the middle between the extrema of nothing
  int shift;

  /// Whether four words from multiples of 16 bytes on are written as they are.
  __device__ bool takes_quads() const {
    return finish == Finish::none &&
           (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % 16 == 0;
  }
  /// Writes four words of extrema from column x of row y on, a multiple of 16 bytes.
  __device__ void store(int x, int y, const uint4 &words) const {
    constexpr int kSamples = Packed<T>::kSamples;
    if (takes_quads() && x + 4 * kSamples <= out.width) {
      *reinterpret_cast<uint4 *>(out.row(y) + x) = words;
      return;
    }
    store_all(x, y, words);
  }
  /// The same for one word.
  __device__ void store(int x, int y, unsigned word) const {
    if (finish != Finish::none)
      word = finished(word, load_word(other.row(y), out.width, x, 0),
                      finish == Finish::midpoint ? load_word(in.row(y), out.width, x, 0) : 0);
    store_word(out.row(y), out.width, x, word);
  }

 private:
  /// Out of the way of the other code, which is read from memory as it runs.
  __device__ __noinline__ void store_all(int x, int y, uint4 words) const {
    constexpr int kSamples = Packed<T>::kSamples;
    store(x, y, words.x);
    store(x + kSamples, y, words.y);
    store(x + 2 * kSamples, y, words.z);
    store(x + 3 * kSamples, y, words.w);
  }
  __device__ unsigned finished(unsigned word, unsigned other_word, unsigned in_word) const {
    constexpr int kBits = 8 * sizeof(T);
    unsigned result = 0;
#pragma unroll
    for (int i = 0; i < Packed<T>::kSamples; ++i) {
      const auto sample = [&](unsigned word) { return word >> (kBits * i) & ((1u << kBits) - 1); };
      const unsigned a = sample(word), b = sample(other_word);
      unsigned v;
      if (finish == Finish::minus_other)
        v = a - min(a, b);
      else if (finish == Finish::other_minus)
        v = b - min(a, b);
      else
        v = a < b ? sample(in_word) : (((a >> shift) + (b >> shift) + 1) >> 1) << shift;
      result |= v << (kBits * i);
    }
    return result;
  }
};

// ---- Sixteen neighbouring windows ----------------------------------------------------------------

/// As Packed::of(), but with the samples of 8 bit in the upper bytes of both registers: a product takes
/// less of what minima wait for than a mask.
template <typename T>
__device__ Packed<T> spread(unsigned word) {
  if constexpr (sizeof(T) == 1)
    return {word * 256, word};
  else
    return {word};
}
/// The samples that were spread.
template <typename T>
__device__ unsigned joined(const Packed<T> &p) {
  if constexpr (sizeof(T) == 1)
    return __byte_perm(p.part[0], p.part[1], 0x7351);
  else
    return p.part[0];
}
/// Spread samples that change no extrema.
template <typename Op, typename T>
__device__ Packed<T> neutral() {
  return spread<T>(Op::template neutral<T>().word());
}

template <typename T>
__device__ Packed<T> three(Smallest, Packed<T> a, const Packed<T> &b, const Packed<T> &c) {
#pragma unroll
  for (int i = 0; i < Packed<T>::kRegisters; ++i)
    a.part[i] = __vimin3_u16x2(a.part[i], b.part[i], c.part[i]);
  return a;
}
template <typename T>
__device__ Packed<T> three(Largest, Packed<T> a, const Packed<T> &b, const Packed<T> &c) {
#pragma unroll
  for (int i = 0; i < Packed<T>::kRegisters; ++i)
    a.part[i] = __vimax3_u16x2(a.part[i], b.part[i], c.part[i]);
  return a;
}

/// Windows that a thread does at a time.
constexpr int kWindows = 16;
/// The extrema of w neighbours, at most 7, from each of n on.
template <int w, typename Op, typename T, int n>
__device__ void extrema_of(Packed<T> (&p)[n]) {
  if constexpr (w >= 3) {
#pragma unroll
    for (int i = 0; i + 2 < n; ++i) p[i] = three(Op{}, p[i], p[i + 1], p[i + 2]);
    if constexpr (w == 5) {
#pragma unroll
      for (int i = 0; i + 4 < n; ++i) p[i] = Op{}(p[i], p[i + 2]);
    } else if constexpr (w == 7) {
#pragma unroll
      for (int i = 0; i + 6 < n; ++i) p[i] = three(Op{}, p[i], p[i + 2], p[i + 4]);
    }
  }
}

/// Extrema of two neighbouring windows: from the first row of the one, those that both have, in two
/// parts, and the last of the other.
template <typename Op, typename T>
__device__ void two_windows(const Packed<T> &first, const Packed<T> &begin, const Packed<T> &end,
                            const Packed<T> &last, Packed<T> *result) {
  result[0] = three(Op{}, first, begin, end);
  result[1] = three(Op{}, begin, end, last);
}

/// The extrema of w neighbours, 9 to kWindows, from each of kWindows on. They begin in one half of these,
/// and end behind it: by van Herk, see Strip.
template <int w, typename Op, typename T>
__device__ void extrema_by_halves(const Packed<T> (&p)[kWindows + w - 1],
                                  Packed<T> (&result)[kWindows]) {
  constexpr int kHalf = kWindows / 2;
#pragma unroll
  for (int from = 0; from < kWindows; from += kHalf) {
    const Packed<T> *const r = &p[from];
    Packed<T> begin[kHalf / 2], end = r[kHalf];
#pragma unroll
    for (int k = kHalf / 2 - 1; k >= 0; --k)
      begin[k] =
          k == kHalf / 2 - 1 ? r[2 * k + 1] : three(Op{}, r[2 * k + 1], r[2 * k + 2], begin[k + 1]);
#pragma unroll
    for (int i = kHalf + 1; i < w - 1; i += 2) end = three(Op{}, end, r[i], r[i + 1]);
#pragma unroll
    for (int k = 0; k < kHalf / 2; ++k) {
      if (k > 0) end = three(Op{}, end, r[2 * k + w - 2], r[2 * k + w - 1]);
      two_windows<Op>(r[2 * k], begin[k], end, r[2 * k + w], &result[from + 2 * k]);
    }
  }
}

/// Sides of windows of which a thread reads all rows, and with code and registers for few.
constexpr int kMostInOneGo = 15, kTiny = 3;
/// Extrema of windows of `side` samples that begin at sample 0 to 15 of those that
/// load.template at<offset>(i) gives, where offset is -side / 2 modulo kSamples.
/// @tparam most  the side is at most that: kTiny or kMostInOneGo
template <int most, typename Op, typename T, typename Load>
__device__ void slide(int side, const Load &load, Packed<T> (&result)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const auto fixed = [&]<int w>() {
    Packed<T> p[kWindows + w - 1];
#pragma unroll
    for (int i = 0; i < kWindows + w - 1; ++i)
      p[i] = load.template at<(kSamples - w / 2 % kSamples) % kSamples>(i);
    if constexpr (w >= 9) {
      extrema_by_halves<w, Op>(p, result);
    } else {
      extrema_of<w, Op>(p);
#pragma unroll
      for (int i = 0; i < kWindows; ++i) result[i] = p[i];
    }
  };
  switch (side) {
    case 1:
      return fixed.template operator()<1>();
    case 3:
      return fixed.template operator()<3>();
    default:
      break;
  }
  if constexpr (most > kTiny) {
    switch (side) {
      case 5:
        return fixed.template operator()<5>();
      case 7:
        return fixed.template operator()<7>();
      case 9:
        return fixed.template operator()<9>();
      case 11:
        return fixed.template operator()<11>();
      case 13:
        return fixed.template operator()<13>();
      default:
        return fixed.template operator()<kMostInOneGo>();
    }
  }
}

/// Turns a square of samples: what was sample i of word k is sample k of word i.
template <typename T>
__device__ void turn(const Packed<T> *in, unsigned (&out)[Packed<T>::kSamples]) {
  if constexpr (sizeof(T) == 1) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const unsigned a = __byte_perm(in[0].part[part], in[1].part[part], 0x7351),
                     b = __byte_perm(in[2].part[part], in[3].part[part], 0x7351);
      out[part] = __byte_perm(a, b, 0x5410);
      out[part + 2] = __byte_perm(a, b, 0x7632);
    }
  } else {
    out[0] = __byte_perm(in[0].part[0], in[1].part[0], 0x5410);
    out[1] = __byte_perm(in[0].part[0], in[1].part[0], 0x7632);
  }
}

// ---- Columns -------------------------------------------------------------------------------------

/// A plane that is read word by word.
template <typename T>
struct Words {
  Plane<const T> plane;
  bool aligned, quads_aligned;  // words, and four of them, begin at multiples of their size

  explicit Words(const Plane<const T> &plane)
      : plane(plane), aligned(is_aligned(4)), quads_aligned(is_aligned(16)) {}

 private:
  bool is_aligned(unsigned bytes) const {
    return (reinterpret_cast<std::uintptr_t>(plane.data) | plane.stride) % bytes == 0;
  }
};

/// Words of a column, from row y on; rows that are not there are as the next one that is.
/// @tparam whole  all rows are there
template <typename T, bool whole>
struct Column {
  const unsigned char *top;
  std::ptrdiff_t stride;
  int y, height;

  __device__ Column(const Plane<const T> &plane, int x, int y)
      : top(reinterpret_cast<const unsigned char *>(whole ? plane.row(y) + x : plane.data + x)),
        stride(plane.stride),
        y(y),
        height(plane.height) {}

  template <int>
  __device__ Packed<T> at(int i) const {
    const int row = whole ? i : min(max(y + i, 0), height - 1);
    return spread<T>(*reinterpret_cast<const unsigned *>(top + row * stride));
  }
};

/// load_word() out of the way of the other code, which is read from memory as it runs.
template <typename T>
__device__ __noinline__ unsigned load_any_word(const T *row, int width, int x, unsigned outside) {
  return load_word(row, width, x, outside);
}

/// As Column, for words that are not aligned, or of which not all samples are in the plane.
template <typename T>
struct CutColumn {
  const Plane<const T> &plane;
  int x, y;
  unsigned neutral;

  template <int>
  __device__ Packed<T> at(int i) const {
    const int row = min(max(y + i, 0), plane.height - 1);
    return spread<T>(load_any_word(plane.row(row), plane.width, x, neutral));
  }
};

/// Extrema of windows of a column of words, of which the first begins in row y.
template <int most, typename Op, typename T>
__device__ void slide_down(const Words<T> &in, int side, int x, int y,
                           Packed<T> (&column)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const int width = in.plane.width, height = in.plane.height;
  if (x + kSamples <= 0 || x >= width) {
#pragma unroll
    for (Packed<T> &p : column) p = neutral<Op, T>();
  } else if (!in.aligned || x < 0 || x + kSamples > width) {
    slide<most, Op>(side, CutColumn<T>{in.plane, x, y, Op::template neutral<T>().word()}, column);
  } else if (y >= 0 && y + kWindows - 1 + side <= height) {
    slide<most, Op>(side, Column<T, true>(in.plane, x, y), column);
  } else {
    slide<most, Op>(side, Column<T, false>(in.plane, x, y), column);
  }
}

// ---- Small rectangles ----------------------------------------------------------------------------

template <typename T>
struct RectangleJob {
  Words<T> in;
  Sink<T> sink;
  int width, height;  // of the window
  bool constant;      // what is outside counts as `outside`
  unsigned outside;   // in all samples of a word
};

template <typename T>
struct Tile {
  static constexpr int kSamples = Packed<T>::kSamples;
  /// Words of a row that are written, beside them at each side, and both.
  static constexpr int kWords = 32, kBeside = 8 / kSamples, kReadWords = kWords + 2 * kBeside;
  /// Rows, in words of turned samples and in chunks of kWindows.
  static constexpr int kQuads = 16, kRows = kQuads * kSamples, kChunks = kRows / kWindows;
  /// Words of kWindows columns, and how many times these are in a row.
  static constexpr int kStripWords = kWindows / kSamples, kStrips = kWords / kStripWords;
  /// One for each column of words and chunk of rows.
  static constexpr int kThreads = kReadWords * kChunks;
  /// Blocks that run at the same time, at least: of 8 bit and tiny windows all of 3840x2160.
  static constexpr int resident(int most) {
    return (most == kTiny && sizeof(T) == 1 ? 1280 : 800) / kThreads;
  }
};

/// The turned samples of a tile: word q of column i + kSamples * c has rows from kSamples * q on. Neither
/// neighbouring c nor all q of neighbouring strips meet in a bank.
template <typename T>
class TurnedTile {
 public:
  using Size = Tile<T>;
  static constexpr int kAll = Size::kSamples * Size::kReadWords * Size::kQuads;

  __device__ explicit TurnedTile(unsigned *words) : words_(words) {}

  __device__ unsigned &at(int i, int c, int q) const {
    return at(i, c / Size::kStripWords, c % Size::kStripWords, q);
  }
  /// The same for word m from a strip on.
  __device__ unsigned &at(int i, int strip, int m, int q) const {
    const int half = (m ^ m / Size::kStripWords) & 1;
    const int column = i * Size::kReadWords + strip * Size::kStripWords + (m & ~1);
    return words_[(column + (half ^ (strip & 1))) * Size::kQuads +
                  ((q + strip * (Size::kStripWords / 2) + m / 2) & (Size::kQuads - 1))];
  }

 private:
  unsigned *words_;
};

/// Turned words along a row.
template <typename T>
struct TurnedRow {
  static constexpr int kSamples = Packed<T>::kSamples;
  TurnedTile<T> tile;
  int strip, q;

  template <int offset>
  __device__ Packed<T> at(int i) const {
    return spread<T>(tile.at((offset + i) % kSamples, strip, (offset + i) / kSamples, q));
  }
};

/// @tparam most  see slide()
template <typename T, typename Op, int most>
__global__ void __launch_bounds__(Tile<T>::kThreads, Tile<T>::resident(most))
    rectangle_kernel(const __grid_constant__ RectangleJob<T> job) {
  using Size = Tile<T>;
  constexpr int kSamples = Size::kSamples, kStripWords = Size::kStripWords;
  __shared__ unsigned memory[TurnedTile<T>::kAll];
  const TurnedTile<T> turned(memory);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int rx = job.width / 2, ry = job.height / 2;
  const int beside = (rx + kSamples - 1) / kSamples;  // words
  const int x0 = blockIdx.x * Size::kWords * kSamples, y0 = blockIdx.y * Size::kRows;
  if (const int c = threadIdx.x % Size::kReadWords, chunk = threadIdx.x / Size::kReadWords;
      c < Size::kWords + 2 * beside) {
    Packed<T> column[kWindows];
    slide_down<most, Op>(job.in, job.height, x0 + (c - beside) * kSamples,
                         y0 + chunk * kWindows - ry, column);
#pragma unroll
    for (int q = 0; q < kStripWords; ++q) {
      unsigned words[kSamples];
      turn<T>(&column[q * kSamples], words);
#pragma unroll
      for (int i = 0; i < kSamples; ++i) turned.at(i, c, chunk * kStripWords + q) = words[i];
    }
  }
  __syncthreads();
  // Sixteen columns, and the rows of a turned word.
  if (threadIdx.x >= Size::kStrips * Size::kQuads) return;
  const int q = threadIdx.x % Size::kQuads, strip = threadIdx.x / Size::kQuads;
  Packed<T> row[kWindows];
  slide<most, Op>(job.width, TurnedRow<T>{turned, strip, q}, row);
  const int x = x0 + strip * kWindows, y = y0 + q * kSamples;
  const unsigned neutral = Op::template neutral<T>().word();
  unsigned words[kSamples][kStripWords];
#pragma unroll
  for (int k = 0; k < kStripWords; ++k) {
    unsigned turned_back[kSamples];
    turn<T>(&row[k * kSamples], turned_back);
#pragma unroll
    for (int i = 0; i < kSamples; ++i) words[i][k] = turned_back[i];
  }
  const bool leaves =
      job.constant && (x < rx || x + kWindows + rx > width || y < ry || y + kSamples + ry > height);
#pragma unroll
  for (int i = 0; i < kSamples; ++i) {
    if (y + i >= height) break;
    if (leaves) {
      const bool whole_row = y + i < ry || y + i + ry >= height;
#pragma unroll
      for (int k = 0; k < kStripWords; ++k) {
        // The samples whose windows lie in the image.
        const unsigned kept = whole_row ? 0 : inside_mask<T>(x + k * kSamples - rx, width - 2 * rx);
        const unsigned outside = (job.outside & ~kept) | (neutral & kept);
        words[i][k] = Op{}(Packed<T>::of(words[i][k]), Packed<T>::of(outside)).word();
      }
    }
#pragma unroll
    for (int k = 0; k < kStripWords; k += 4)
      job.sink.store(x + k * kSamples, y + i,
                     uint4{words[i][k], words[i][k + 1], words[i][k + 2], words[i][k + 3]});
  }
}

// ---- Large rectangles ----------------------------------------------------------------------------

/// Extrema down columns. What was column x is row x of the result.
template <typename T>
struct ColumnsJob {
  Words<T> in;
  Sink<T> sink;
  int side;    // of the window
  int chunks;  // of kWindows rows that a block writes, at least 2
  /// 2^32 over the 16 bytes that a column is written in, rounded up.
  unsigned reciprocal;
  bool constant;
  unsigned outside;
};

/// Words of a row that a block does, one for each lane, and chunks that it writes, one for each warp, at
/// most. With more it would read less beside them, but at each barrier more would wait.
constexpr int kAcross = 32, kMostChunks = 8;

/// Columns in shared memory, each of the block's threads at the windows that begin in a word's chunk.
template <typename T, typename Op>
class Strip {
 public:
  /// Bytes of shared memory for so many chunks that are written.
  static int bytes(int chunks, int side) {
    const int samples = read_chunks(chunks, side) * kPitch, extrema = chunks + side / kWindows;
    return (samples + extrema * kAcross) * static_cast<int>(sizeof(unsigned));
  }

  /// @param x, y  sample at which the first window begins
  __device__ Strip(const ColumnsJob<T> &job, int x, int y)
      : job_(job),
        x_(x),
        y_(y),
        n_read_(read_chunks(job.chunks, job.side)),
        words_(reinterpret_cast<unsigned *>(dynamic_shared_memory())),
        chunk_(threadIdx.x / kAcross),
        column_(words_ + threadIdx.x % kAcross) {}

  /// Reads the samples. Warps have them that write, or reach, the chunks where they begin.
  __device__ void read() const {
    const Plane<const T> &in = job_.in.plane;
    const int unit = threadIdx.x % kUnits, x = x_ + unit * kUnit;
    if (job_.in.quads_aligned && x + kUnit <= in.width) {
      const unsigned to = shared_address(words_) + unit * 16;
      const auto *const from = reinterpret_cast<const unsigned char *>(in.data + x);
      const auto stride = static_cast<int>(in.stride);
      each_row([&](int row, int at) {
        copy_async(to + at * (kAcross * 4), from + static_cast<std::ptrdiff_t>(row) * stride);
      });
    } else if (x < in.width) {
      each_row([&](int row, int at) {
#pragma unroll 1
        for (int k = 0; k < 4; ++k)
          words_[at * kAcross + unit * 4 + k] =
              load_any_word(in.row(row), in.width, x + k * Packed<T>::kSamples, 0u);
      });
    }
    commit_copies();
    wait_for_copies<0>();
  }

  /// The extrema of windows of at most kMostInOneGo rows.
  __device__ void slide_over(Packed<T> (&column)[kWindows]) const {
    __syncthreads();
    slide<kMostInOneGo, Op>(job_.side, Rows<>{column_ + chunk_ * kPitch}, column);
  }

  /// The extrema of windows of more than kWindows rows, by van Herk, Pattern Recognition Letters 13(7),
  /// 1992, but in chunks that are shorter than the window: from where it begins to the end of a chunk,
  /// of all that are in the middle, and from where all windows have ended but the first.
  __device__ void combine(Packed<T> (&column)[kWindows]) const {
    const int whole = (job_.side - 1) / kWindows, rest = (job_.side - 1) % kWindows;
    unsigned *const extrema = words_ + n_read_ * kPitch + threadIdx.x % kAcross;
    __syncwarp();
    // Of two windows, the first row, and the extremum of those from the second on.
    unsigned first[kWindows / 2];
    Packed<T> behind[kWindows / 2];
    const Rows<> own{column_ + chunk_ * kPitch};
#pragma unroll
    for (int k = kWindows / 2 - 1; k >= 0; --k) {
      first[k] = own.words[2 * k * kAcross];
      behind[k] = own.template at<0>(2 * k + 1);
      if (k + 1 < kWindows / 2)
        behind[k] = three(Op{}, behind[k], spread<T>(first[k + 1]), behind[k + 1]);
    }
    extrema[chunk_ * kAcross] = joined(Op{}(spread<T>(first[0]), behind[0]));
    for (int c = chunk_ + job_.chunks; c < job_.chunks + whole - 1; c += job_.chunks) {
      const Rows<> other{column_ + c * kPitch};
      extrema[c * kAcross] = joined(other.template extremum<kWindows>(neutral<Op, T>()));
    }
    __syncthreads();
    Packed<T> middle = neutral<Op, T>();
#pragma unroll 4
    for (int c = chunk_ + 1; c < chunk_ + whole; ++c)
      middle = Op{}(middle, spread<T>(extrema[c * kAcross]));
    const unsigned *const end = column_ + (chunk_ + whole) * kPitch;
    const auto with = [&]<int n>() {
      const Rows<n> ends{end};
      Packed<T> p = Rows<>{end}.template extremum<n>(middle);
#pragma unroll
      for (int k = 0; k < kWindows / 2; ++k) {
        const Packed<T> last = ends.template at<0>(2 * k);
        p = k == 0 ? Op{}(p, last) : three(Op{}, p, ends.template at<0>(2 * k - 1), last);
        two_windows<Op>(spread<T>(first[k]), behind[k], p, ends.template at<0>(2 * k + 1),
                        &column[2 * k]);
      }
    };
    switch (rest) {  // even, as sides are odd
      case 0:
        return with.template operator()<0>();
      case 2:
        return with.template operator()<2>();
      case 4:
        return with.template operator()<4>();
      case 6:
        return with.template operator()<6>();
      case 8:
        return with.template operator()<8>();
      case 10:
        return with.template operator()<10>();
      case 12:
        return with.template operator()<12>();
      default:
        return with.template operator()<14>();
    }
  }

 private:
  /// Words of a chunk, and times 16 bytes of a row, and samples of these.
  static constexpr int kPitch = kWindows * kAcross, kUnits = kAcross / 4, kUnit = 16 / sizeof(T);

  static CUDASCAN_HD int read_chunks(int written, int side) {
    return written + (side - 1 + kWindows - 1) / kWindows;
  }

  /// Calls f(row of the image, its place among the rows in shared memory) for the chunk of the warp's
  /// threads, and others.
  template <typename F>
  __device__ void each_row(const F &f) const {
    constexpr int kStep = 32 / kUnits;  // rows that a warp reads at a time
    const int first = threadIdx.x % 32 / kUnits;
    for (int c = chunk_; c < n_read_; c += job_.chunks)
#pragma unroll
      for (int i = 0; i < kWindows; i += kStep) {
        const int at = c * kWindows + i + first;
        // Rows that are not there are as the next one that is.
        f(min(max(y_ + at, 0), job_.in.plane.height - 1), at);
      }
  }

  /// Words of a column, from row n of a chunk on.
  template <int n = 0>
  struct Rows {
    const unsigned *words;

    template <int>
    __device__ Packed<T> at(int i) const {
      return spread<T>(words[(n + i) * kAcross]);
    }
    /// The extremum of `count` of them, an even number, and p.
    template <int count>
    __device__ Packed<T> extremum(Packed<T> p) const {
#pragma unroll
      for (int i = 0; i < count; i += 2) p = three(Op{}, p, at<0>(i), at<0>(i + 1));
      return p;
    }
  };

  const ColumnsJob<T> &job_;
  const int x_, y_, n_read_;
  unsigned *const words_;
  const int chunk_;
  const unsigned *const column_;  // from the thread's word on
};

/// Sixteen bytes of a column each: unit u of a chunk is of its column u / sizeof(T), in rows from
/// u % sizeof(T) * 16 / sizeof(T) on. Neither columns nor rows meet in a bank.
template <typename T>
__device__ uint4 &unit(int chunk, int u, int across) {
  constexpr int kBytes = sizeof(T);
  auto *const units = reinterpret_cast<uint4 *>(dynamic_shared_memory());
  return units[(chunk * 4 + u) * kAcross + (across ^ ((chunk * kBytes + u % kBytes) % kAcross))];
}

/// Writes the results of a block, of which each thread has those of a word's chunk.
/// @param x0, y0  their first sample, as they were read
template <typename T>
__device__ void store_turned(const ColumnsJob<T> &job, int x0, int y0,
                             const Packed<T> (&column)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples, kBytes = sizeof(T), kUnit = 16 / kBytes;
  unsigned words[kSamples][kWindows / kSamples];
#pragma unroll
  for (int q = 0; q < kWindows / kSamples; ++q) {
    unsigned turned[kSamples];
    turn<T>(&column[q * kSamples], turned);
#pragma unroll
    for (int i = 0; i < kSamples; ++i) words[i][q] = turned[i];
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    const unsigned *const from = &words[u / kBytes][u % kBytes * 4];
    unit<T>(threadIdx.x / kAcross, u, threadIdx.x % kAcross) =
        uint4{from[0], from[1], from[2], from[3]};
  }
  __syncthreads();
  // Neighbouring threads write neighbouring units of a column.
  const int units = job.chunks * kBytes;
  const auto first = static_cast<int>(std::uint64_t{threadIdx.x} * job.reciprocal >> 32);
  const int i = threadIdx.x - first * units, y = y0 + i * kUnit;
  const int columns = min(job.in.plane.width - x0, kAcross * kSamples);
  if (y >= job.in.plane.height) return;
  const auto each_column = [&](const auto &f) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (const int c = first + k * (kAcross / kBytes); c < columns)
        f(x0 + c, unit<T>(i / kBytes, c % kSamples * kBytes + i % kBytes, c / kSamples));
  };
  if (job.sink.takes_quads() && y + kUnit <= job.in.plane.height)
    each_column([&](int x, const uint4 &words) {
      *reinterpret_cast<uint4 *>(job.sink.out.row(x) + y) = words;
    });
  else
    each_column([&](int x, const uint4 &words) { job.sink.store(y, x, words); });
}

/// @tparam small  the side is at most kMostInOneGo, otherwise larger than kWindows
template <typename T, typename Op, bool small>
__global__ void __launch_bounds__(kMostChunks *kAcross, 4)
    columns_kernel(const __grid_constant__ ColumnsJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int height = job.in.plane.height, reach = job.side / 2;
  const int x0 = blockIdx.x * kAcross * Packed<T>::kSamples,
            y0 = blockIdx.y * job.chunks * kWindows;
  const Strip<T, Op> strip(job, x0, y0 - reach);
  Packed<T> column[kWindows];
  strip.read();
  if constexpr (small)
    strip.slide_over(column);
  else
    strip.combine(column);
  if (const int y = y0 + threadIdx.x / kAcross * kWindows;
      job.constant && (y < reach || y + kWindows + reach > height)) {
#pragma unroll
    for (int i = 0; i < kWindows; ++i)
      if (y + i < reach || y + i + reach >= height)
        column[i] = Op{}(column[i], spread<T>(job.outside));
  }
  __syncthreads();
  store_turned(job, x0, y0, column);
}

template <typename T, typename Op>
void launch_columns(Cuda &cuda, ColumnsJob<T> job) {
  const bool small = job.side <= kMostInOneGo;
  const int chunks = divide_up(job.in.plane.height, kWindows);
  job.chunks = std::clamp(chunks, 2, kMostChunks);
  job.reciprocal = ~0u / (job.chunks * static_cast<unsigned>(sizeof(T))) + 1;
  const auto kernel = small ? columns_kernel<T, Op, true> : columns_kernel<T, Op, false>;
  const int bytes = Strip<T, Op>::bytes(job.chunks, job.side);
  const dim3 blocks(divide_up(job.in.plane.width, kAcross * Packed<T>::kSamples),
                    divide_up(chunks, job.chunks));
  launch(cuda, kernel, {blocks, job.chunks * kAcross, bytes, cuda.code_architecture() >= 90}, job);
}

/// Whether both directions go at once.
bool in_one_go(const Mask &mask) {
  return std::max(mask.width, mask.height) <= kMostInOneGo;
}

/// @param turned  a plane as wide as the image is high and as high as it is wide, unless in_one_go()
template <typename T, typename Op>
void rectangle_extrema(Cuda &cuda, const RectangleJob<T> &job, const Plane<T> &turned) {
  const Plane<const T> &in = job.in.plane;
  if (turned.height == 0) {
    using Size = Tile<T>;
    const dim3 blocks(divide_up(in.width, Size::kWords * Size::kSamples),
                      divide_up(in.height, Size::kRows));
    return launch(cuda,
                  std::max(job.width, job.height) <= kTiny ? rectangle_kernel<T, Op, kTiny>
                                                           : rectangle_kernel<T, Op, kMostInOneGo>,
                  {blocks, Size::kThreads, 0, cuda.code_architecture() >= 90}, job);
  }
  const auto columns = [&](const Words<T> &from, const Sink<T> &sink, int side) {
    launch_columns<T, Op>(cuda, {from, sink, side, 0, 0, job.constant, job.outside});
  };
  columns(job.in, {turned, Finish::none, {}, {}, 0}, job.height);
  columns(Words<T>(turned), job.sink, job.width);
}

// ---- Other windows -------------------------------------------------------------------------------

template <typename T>
struct MaskJob {
  Source<T> in;
  Sink<T> sink;
  unsigned none;  // the extremum of no samples, in all of a word
  bool keeps;     // whether a window without samples leaves the pixel as it is
  Cells cells;
};

template <typename T, typename Op>
__global__ void __launch_bounds__(256) mask_kernel(const __grid_constant__ MaskJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  const Plane<const T> &in = job.in.plane;
  const int x = (blockIdx.x * 32 + threadIdx.x) * kSamples, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= in.width || y >= in.height) return;
  Packed<T> result = Packed<T>::of(job.none);
  unsigned found = 0;  // the samples of the word whose windows have any
  // A word is read for each cell, of which the last may be beyond the row.
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

// ---- Operators -----------------------------------------------------------------------------------

/// One operator on one image.
template <typename T>
class Extrema {
 public:
  Extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job)
      : cuda_(cuda), job_(job), in_(in), out_(out) {
    const auto wanted = [&](bool is_wanted, int width, int height) -> Plane<T> {
      if (!is_wanted) return {};
      const std::size_t stride =
          (width * sizeof(T) + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
      return {nullptr, width, height, static_cast<std::ptrdiff_t>(stride), in.maximum};
    };
    step_ = wanted(needs_step(), in.width, in.height);
    turned_ = wanted(job.mask().rectangle && !in_one_go(job.mask()), in.height, in.width);
    const std::size_t of_step = step_.stride * step_.height,
                      of_turned = turned_.stride * turned_.height;
    if (of_step + of_turned == 0) return;
    auto *const memory = static_cast<unsigned char *>(cuda.scratch(of_step + of_turned));
    step_.data = reinterpret_cast<T *>(memory);
    turned_.data = reinterpret_cast<T *>(memory + of_step);
  }

  void operator()() {
    using Op = SwoFilterOperator;
    const Sink<T> result = {out_, Finish::none, {}, in_, job_.shift};
    const Sink<T> step = {step_, Finish::none, {}, in_, job_.shift};
    const auto finish = [&](Finish how, Plane<const T> other) {
      return Sink<T>{out_, how, other, in_, job_.shift};
    };
    switch (job_.op) {
      case Op::minimum:
      case Op::erode:
        return extremum<Smallest>(in_, result, job_.mask());
      case Op::maximum:
      case Op::dilate:
        return extremum<Largest>(in_, result, job_.mask());
      case Op::midpoint:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(in_, finish(Finish::midpoint, step_), job_.mask());
      case Op::gradient:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(in_, finish(Finish::minus_other, step_), job_.mask());
      case Op::open:
      case Op::top_hat:
        extremum<Smallest>(in_, step, job_.mask());
        return extremum<Largest>(step_,
                                 job_.op == Op::open ? result : finish(Finish::other_minus, in_),
                                 job_.mask().reflected());
      default:
        extremum<Largest>(in_, step, job_.mask());
        return extremum<Smallest>(step_,
                                  job_.op == Op::close ? result : finish(Finish::minus_other, in_),
                                  job_.mask().reflected());
    }
  }

 private:
  static constexpr std::size_t kPlaneAlignment = 256;

  bool needs_step() const {
    using Op = SwoFilterOperator;
    return job_.op != Op::minimum && job_.op != Op::maximum && job_.op != Op::erode &&
           job_.op != Op::dilate;
  }

  static unsigned in_all_samples(unsigned v) {
    return sizeof(T) == 1 ? v * 0x01010101u : v * 0x00010001u;
  }

  template <typename Op>
  void extremum(Plane<const T> in, const Sink<T> &sink, const Mask &mask) {
    if (mask.rectangle) {
      const RectangleJob<T> job{Words<T>(in),
                                sink,
                                mask.width,
                                mask.height,
                                job_.border == SwoFilterBorder::constant,
                                in_all_samples(job_.outside)};
      return rectangle_extrema<T, Op>(cuda_, job, turned_);
    }
    const bool keeps =
        job_.op == SwoFilterOperator::minimum || job_.op == SwoFilterOperator::maximum;
    const MaskJob<T> job{Source<T>(in, job_), sink, in_all_samples(Op::kLargest ? 0 : job_.maximum),
                         keeps, Cells(mask)};
    const dim3 blocks(divide_up(in.width, 32 * Packed<T>::kSamples), divide_up(in.height, 8));
    launch(cuda_, mask_kernel<T, Op>, {blocks, dim3(32, 8)}, job);
  }

  Cuda &cuda_;
  const Job &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Plane<T> step_{}, turned_{};
};

}  // namespace

template <typename T>
void extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  Extrema<T>(cuda, in, out, job)();
}

template void extrema(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void extrema(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
