// SPDX-License-Identifier: LGPL-2.1-or-later
// Rectangles are separable, and with them samples outside of the image change nothing but with a
// constant border, where the constant takes part wherever the window leaves the image. So there is a
// kernel for clipped rectangles, down the columns and along the rows in one go. Large ones do so in two,
// as the columns beside a tile would be too many. Other windows go run by run.
#include "kernels/swofilter/extrema.h"

#include "kernels/launch.cuh"
#include "kernels/packed_samples.cuh"
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

  /// Writes a word of extrema from column x of row y on.
  __device__ void store(int x, int y, unsigned word) const {
    if (finish != Finish::none)
      word = finished(word, load_word(other.row(y), out.width, x, 0),
                      finish == Finish::midpoint ? load_word(in.row(y), out.width, x, 0) : 0);
    store_word(out.row(y), out.width, x, word);
  }

 private:
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
/// The extrema of w neighbours from each of n on.
template <int w, typename Op, typename T, int n>
__device__ void extrema_of(Packed<T> (&p)[n]) {
  if constexpr (w == 1) return;
  if constexpr (w >= 3 && w < 9) {
#pragma unroll
    for (int i = 0; i + 2 < n; ++i) p[i] = three(Op{}, p[i], p[i + 1], p[i + 2]);
    if constexpr (w == 5) {
#pragma unroll
      for (int i = 0; i + 4 < n; ++i) p[i] = Op{}(p[i], p[i + 2]);
    } else if constexpr (w == 7) {
#pragma unroll
      for (int i = 0; i + 6 < n; ++i) p[i] = three(Op{}, p[i], p[i + 2], p[i + 4]);
    }
  } else if constexpr (w >= 9) {
#pragma unroll
    for (int i = 0; i + 2 < n; ++i) p[i] = three(Op{}, p[i], p[i + 1], p[i + 2]);
#pragma unroll
    for (int i = 0; i + 8 < n; ++i) p[i] = three(Op{}, p[i], p[i + 3], p[i + 6]);
    if constexpr (w > 9) {
#pragma unroll
      for (int i = 0; i + w - 1 < n; ++i) p[i] = Op{}(p[i], p[i + w - 9]);
    }
  }
}

/// Extrema of windows of `side` samples that begin at sample 0 to 15 of those that
/// load.template at<offset>(i) gives, where offset is what the compiler is to know of the first one:
/// -side / 2 modulo kSamples. load.template extremum<offset, Op>(begin, end, p) is the one of those from
/// begin on, before end, and p.
template <typename Op, typename T, typename Load>
__device__ void slide(int side, const Load &load, Packed<T> (&result)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const auto fixed = [&]<int w>() {
    Packed<T> p[kWindows + w - 1];
#pragma unroll
    for (int i = 0; i < kWindows + w - 1; ++i)
      p[i] = load.template at<(kSamples - w / 2 % kSamples) % kSamples>(i);
    extrema_of<w, Op>(p);
#pragma unroll
    for (int i = 0; i < kWindows; ++i) result[i] = p[i];
  };
  // Those before what all windows have, that itself, and those behind it.
  const auto any = [&]<int offset>() {
#pragma unroll
    for (int i = 0; i < kWindows; ++i) result[i] = load.template at<offset>(i);
#pragma unroll
    for (int i = kWindows - 2; i >= 0; --i) result[i] = Op{}(result[i], result[i + 1]);
    Packed<T> common = load.template extremum<offset, Op>(kWindows, side, result[kWindows - 1]);
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      result[i] = Op{}(result[i], common);
      if (i + 1 < kWindows) common = Op{}(common, load.template at<offset>(side + i));
    }
  };
  switch (side) {
    case 1:
      return fixed.template operator()<1>();
    case 3:
      return fixed.template operator()<3>();
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
    case 15:
      return fixed.template operator()<15>();
    default:
      break;
  }
  if constexpr (!Load::kOffsets) {
    any.template operator()<0>();
  } else if (const int offset = -(side / 2) & (kSamples - 1); offset == 0) {
    any.template operator()<0>();
  } else if (offset == 1) {
    any.template operator()<1>();
  } else if constexpr (kSamples > 2) {
    offset == 2 ? any.template operator()<2>() : any.template operator()<3>();
  }
}

/// Turns a square of samples: what was sample i of word k is sample k of word i.
template <typename T>
__device__ void turn(const Packed<T> *in, unsigned (&out)[Packed<T>::kSamples]) {
  if constexpr (sizeof(T) == 1) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const unsigned selector = part == 0 ? 0x6240 : 0x7351;
      const unsigned a = __byte_perm(in[0].part[part], in[1].part[part], selector),
                     b = __byte_perm(in[2].part[part], in[3].part[part], selector);
      out[part] = __byte_perm(a, b, 0x5410);
      out[part + 2] = __byte_perm(a, b, 0x7632);
    }
  } else {
    out[0] = __byte_perm(in[0].part[0], in[1].part[0], 0x5410);
    out[1] = __byte_perm(in[0].part[0], in[1].part[0], 0x7632);
  }
}

// ---- Rectangles ----------------------------------------------------------------------------------

/// Tiles of a kind: for rectangles, or, with `wide`, for rows of any length.
template <typename T, bool wide>
struct Tile {
  static constexpr int kSamples = Packed<T>::kSamples;
  /// Words of a row that are written, beside them at each side, and both.
  static constexpr int kWords = wide ? 96 : 32;
  static constexpr int kBeside = wide ? 128 / kSamples : 4;
  static constexpr int kReadWords = kWords + 2 * kBeside;
  /// Rows, in words of turned samples and in chunks of kWindows.
  static constexpr int kQuads = 16, kRows = kQuads * kSamples, kChunks = kRows / kWindows;
  /// Words of kWindows columns, and how many times these are in a row.
  static constexpr int kStripWords = kWindows / kSamples, kStrips = kWords / kStripWords;
  /// One for each column of words and chunk of rows, but in a wide one, where these are merely read, for
  /// each strip and word of turned samples.
  static constexpr int kThreads = wide ? kStrips * kQuads : kReadWords * kChunks;
  /// Blocks that run at the same time, at least.
  static constexpr int kResident = wide ? 2 : 800 / kThreads;
};

template <typename T>
struct RectangleJob {
  Plane<const T> in;
  Sink<T> sink;
  int width, height;     // of the window
  int reach_x, reach_y;  // half of it, and of what has been done before
  bool constant;         // what is outside counts as `outside`
  bool aligned;          // words of `in` begin at multiples of their size
  unsigned outside;      // in all samples of a word
};

/// The turned samples of a tile: word q of column i + kSamples * c has rows from kSamples * q on. Neither
/// neighbouring c nor all q of neighbouring strips meet in a bank.
template <typename T, bool wide>
class TurnedTile {
 public:
  using Size = Tile<T, wide>;
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

/// The extremum of p and of what a column gives from begin on, before end.
template <typename Op, typename T, typename Column>
__device__ Packed<T> extremum_of(const Column &column, int begin, int end, Packed<T> p) {
#pragma unroll 8
  for (int i = begin; i < end; ++i) p = Op{}(p, column.template at<0>(i));
  return p;
}

/// Words of a column, from row y on; rows that are not there are as the next one that is.
/// @tparam whole  all rows are there
template <typename T, bool whole>
struct Column {
  static constexpr bool kOffsets = false;
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
    return Packed<T>::of(*reinterpret_cast<const unsigned *>(top + row * stride));
  }
  template <int, typename Op>
  __device__ Packed<T> extremum(int begin, int end, Packed<T> p) const {
    return extremum_of<Op>(*this, begin, end, p);
  }
};

/// The same for words of which not all samples are in the plane.
template <typename T>
struct CutColumn {
  static constexpr bool kOffsets = false;
  const Plane<const T> &plane;
  int x, y;
  unsigned neutral;

  template <int>
  __device__ Packed<T> at(int i) const {
    const int row = min(max(y + i, 0), plane.height - 1);
    return Packed<T>::of(load_word(plane.row(row), plane.width, x, neutral));
  }
  template <int, typename Op>
  __device__ Packed<T> extremum(int begin, int end, Packed<T> p) const {
    return extremum_of<Op>(*this, begin, end, p);
  }
};

/// Turned words along a row.
template <typename T, bool wide>
struct TurnedRow {
  static constexpr bool kOffsets = true;
  static constexpr int kSamples = Packed<T>::kSamples;
  TurnedTile<T, wide> tile;
  int strip, first, q;  // the first word, from the strip on

  template <int offset>
  __device__ Packed<T> at(int i) const {
    return Packed<T>::of(
        tile.at((offset + i) % kSamples, strip, first + (offset + i) / kSamples, q));
  }
  /// @param begin  a multiple of kSamples
  template <int offset, typename Op>
  __device__ Packed<T> extremum(int begin, int end, Packed<T> p) const {
    constexpr int kHead = (kSamples - offset) % kSamples;
#pragma unroll
    for (int i = 0; i < kHead; ++i) p = Op{}(p, at<offset>(begin + i));
    int i = begin + kHead;
#pragma unroll 4
    for (; i + kSamples <= end; i += kSamples) {
      const int m = first + (offset + i) / kSamples;
#pragma unroll
      for (int k = 0; k < kSamples; ++k) p = Op{}(p, Packed<T>::of(tile.at(k, strip, m, q)));
    }
    for (; i < end; ++i) p = Op{}(p, at<offset>(i));
    return p;
  }
};

/// A column of words of a tile, down kWindows windows.
template <typename Op, typename T>
__device__ void slide_down(const RectangleJob<T> &job, int x, int y,
                           Packed<T> (&column)[kWindows]) {
  constexpr int kSamples = Packed<T>::kSamples;
  const int width = job.in.width, height = job.in.height;
  if (x + kSamples <= 0 || x >= width) {
#pragma unroll
    for (Packed<T> &p : column) p = Op::template neutral<T>();
  } else if (!job.aligned || x < 0 || x + kSamples > width) {
    slide<Op>(job.height, CutColumn<T>{job.in, x, y, Op::template neutral<T>().word()}, column);
  } else if (y >= 0 && y + kWindows - 1 + job.height <= height) {
    slide<Op>(job.height, Column<T, true>(job.in, x, y), column);
  } else {
    slide<Op>(job.height, Column<T, false>(job.in, x, y), column);
  }
}

/// The same for windows of one row.
template <typename Op, typename T>
__device__ void read_down(const RectangleJob<T> &job, int x, int y, Packed<T> (&column)[kWindows]) {
#pragma unroll
  for (int i = 0; i < kWindows; ++i)
    column[i] = Packed<T>::of(load_word(job.in.row(min(y + i, job.in.height - 1)), job.in.width, x,
                                        Op::template neutral<T>().word()));
}

/// @tparam wide  the window has one row
template <typename T, typename Op, bool wide>
__global__ void __launch_bounds__(Tile<T, wide>::kThreads, Tile<T, wide>::kResident)
    rectangle_kernel(const __grid_constant__ RectangleJob<T> job) {
  using Size = Tile<T, wide>;
  constexpr int kSamples = Size::kSamples, kStripWords = Size::kStripWords;
  __shared__ unsigned memory[TurnedTile<T, wide>::kAll];
  const TurnedTile<T, wide> turned(memory);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int width = job.in.width, height = job.in.height;
  const int beside = (job.width / 2 + kSamples - 1) / kSamples;  // words
  const int x0 = blockIdx.x * Size::kWords * kSamples, y0 = blockIdx.y * Size::kRows;
  for (int t = threadIdx.x; t < Size::kReadWords * Size::kChunks; t += Size::kThreads) {
    const int c = t % Size::kReadWords, chunk = t / Size::kReadWords;
    if (c >= Size::kWords + 2 * beside) continue;
    const int x = x0 + (c - beside) * kSamples, y = y0 + chunk * kWindows;
    Packed<T> column[kWindows];
    if constexpr (wide)
      read_down<Op>(job, x, y, column);
    else
      slide_down<Op>(job, x, y - job.height / 2, column);
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
  slide<Op>(job.width, TurnedRow<T, wide>{turned, strip, 0, q}, row);
  const int x = x0 + strip * kWindows, y = y0 + q * kSamples;
  const int rx = job.reach_x, ry = job.reach_y;
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
    T *const to = job.sink.out.row(y + i) + x;
    if (job.sink.finish == Finish::none && x + kWindows <= width &&
        reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
#pragma unroll
      for (int k = 0; k < kStripWords; k += 4)
        reinterpret_cast<uint4 *>(to)[k / 4] =
            uint4{words[i][k], words[i][k + 1], words[i][k + 2], words[i][k + 3]};
    } else {
#pragma unroll
      for (int k = 0; k < kStripWords; ++k) job.sink.store(x + k * kSamples, y + i, words[i][k]);
    }
  }
}

int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

template <typename T, typename Op, bool wide>
void launch_rectangle(Cuda &cuda, const RectangleJob<T> &job) {
  using Size = Tile<T, wide>;
  const dim3 blocks(divide_up(job.in.width, Size::kWords * Size::kSamples),
                    divide_up(job.in.height, Size::kRows));
  launch(rectangle_kernel<T, Op, wide>, {blocks, Size::kThreads, 0, cuda.code_architecture() >= 90},
         cuda.stream(), job);
}

/// Whether both directions go at once.
template <typename T>
bool in_one_go(const Mask &mask) {
  constexpr int kMost = 2 * Tile<T, false>::kBeside * Tile<T, false>::kSamples + 1;
  return mask.width == 1 || (mask.width <= kMost && mask.height <= kMost);
}

/// @param scratch  a plane, unless in_one_go()
template <typename T, typename Op>
void rectangle_extrema(Cuda &cuda, const RectangleJob<T> &job, const Mask &mask,
                       const Plane<T> &scratch) {
  if (in_one_go<T>(mask)) return launch_rectangle<T, Op, false>(cuda, job);
  RectangleJob<T> columns = job, rows = job;
  columns.constant = false;
  columns.width = rows.height = 1;
  if (mask.height > 1) {
    columns.sink = {scratch, Finish::none, {}, {}, 0};
    launch_rectangle<T, Op, false>(cuda, columns);
    rows.in = scratch;
  }
  launch_rectangle<T, Op, true>(cuda, rows);
}

// ---- Other windows -------------------------------------------------------------------------------

template <typename T>
struct MaskJob {
  Source<T> in;
  Sink<T> sink;
  unsigned none;  // the extremum of no samples, in all of a word
  Cells cells;
};

template <typename T, typename Op>
__global__ void __launch_bounds__(256) mask_kernel(const __grid_constant__ MaskJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
  const Plane<const T> &in = job.in.plane;
  const int x = (blockIdx.x * 32 + threadIdx.x) * kSamples, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= in.width || y >= in.height) return;
  Packed<T> result = Packed<T>::of(job.none);
  // A word is read for each cell, of which the last may be beyond the row.
  const bool inside = x >= job.cells.rx && x + 2 * kSamples + job.cells.rx <= in.width;
  for (int i = 0; i < job.cells.n_runs; ++i) {
    const Run run = job.cells.runs[i];
    if (const int row = resolve(y + run.y, in.height, job.in.border); inside && row >= 0) {
      for (int dx = run.first; dx <= run.last; ++dx)
        result = Op{}(result, Packed<T>::of(load_word(in.row(row), in.width, x + dx, 0)));
    } else {
      for (int dx = run.first; dx <= run.last; ++dx) {
        unsigned word = job.none;
        for (int s = 0; s < kSamples; ++s)
          job.in.visit(x + s + dx, y + run.y, [&](unsigned sample) {
            word = (word & ~(((1u << kBits) - 1) << (kBits * s))) | sample << (kBits * s);
          });
        result = Op{}(result, Packed<T>::of(word));
      }
    }
  }
  job.sink.store(x, y, result.word());
}

// ---- Operators -----------------------------------------------------------------------------------

/// One operator on one image.
template <typename T>
class Extrema {
 public:
  Extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job)
      : cuda_(cuda), job_(job), in_(in), out_(out) {
    const std::size_t stride =
        (in.width * sizeof(T) + kPlaneAlignment - 1) / kPlaneAlignment * kPlaneAlignment;
    const bool large = job.mask().rectangle && !in_one_go<T>(job.mask());
    const bool steps = needs_step();
    auto *memory = static_cast<unsigned char *>(
        large || steps ? cuda.scratch(stride * in.height * (large + steps)) : nullptr);
    const auto take = [&](bool wanted, Plane<T> &plane) {
      if (!wanted) return;
      plane = {reinterpret_cast<T *>(memory), in.width, in.height,
               static_cast<std::ptrdiff_t>(stride), in.maximum};
      memory += stride * in.height;
    };
    take(steps, step_);
    take(large, scratch_);
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
      const RectangleJob<T> job{in,
                                sink,
                                mask.width,
                                mask.height,
                                mask.rx(),
                                mask.ry(),
                                job_.border == SwoFilterBorder::constant,
                                (reinterpret_cast<std::uintptr_t>(in.data) | in.stride) % 4 == 0,
                                in_all_samples(job_.outside)};
      return rectangle_extrema<T, Op>(cuda_, job, mask, scratch_);
    }
    const MaskJob<T> job{Source<T>(in, job_), sink, in_all_samples(Op::kLargest ? 0 : job_.maximum),
                         Cells(mask)};
    const dim3 blocks(divide_up(in.width, 32 * Packed<T>::kSamples), divide_up(in.height, 8));
    launch(mask_kernel<T, Op>, {blocks, dim3(32, 8)}, cuda_.stream(), job);
  }

  Cuda &cuda_;
  const Job &job_;
  Plane<const T> in_;
  Plane<T> out_;
  Plane<T> step_{}, scratch_{};
};

}  // namespace

template <typename T>
void extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  Extrema<T>(cuda, in, out, job)();
}

template void extrema(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void extrema(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
