// SPDX-License-Identifier: LGPL-2.1-or-later
// Rectangles are separable, and with them samples outside of the image change nothing but with a
// constant border, where the constant takes part wherever the window leaves the image. So there is a
// kernel for clipped rectangles of up to kMostSide<T>, down the columns and along the rows in one go. A
// larger one is the extremum of nine smaller ones, in up to three steps. Other windows go run by run.
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
/// -side / 2 modulo kSamples.
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
    Packed<T> common = result[kWindows - 1];
    for (int i = kWindows; i < side; ++i) common = Op{}(common, load.template at<offset>(i));
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

/// Words of a row of a tile that are written, and with those beside them that are read.
constexpr int kTileWords = 32, kReadWords = 40;
/// The largest side of a rectangle that is done in one go.
template <typename T>
constexpr int kMostSide = (kReadWords - kTileWords) * Packed<T>::kSamples + 1;
/// Rows of a tile, in words of turned samples; chunks of kWindows rows.
constexpr int kTileQuads = 16;
template <typename T>
constexpr int kTileRows = kTileQuads *Packed<T>::kSamples;

/// Threads: one for each column of words and chunk of rows; 5 or 6 warps.
template <typename T>
constexpr int kRectangleThreads = kReadWords *kTileRows<T> / kWindows;

template <typename T>
struct RectangleJob {
  Plane<const T> in;
  Sink<T> sink;
  int width, height;  // of the window
  bool constant;      // what is outside counts as `outside`
  bool aligned;       // words of `in` begin at multiples of their size
  unsigned outside;   // in all samples of a word
};

/// Words of kWindows columns.
template <typename T>
constexpr int kStripWords = kWindows / Packed<T>::kSamples;

/// The turned samples of a tile: word q of column i + kSamples * c has rows from kSamples * q on. Neither
/// neighbouring c nor all q of neighbouring strips meet in a bank.
template <typename T>
class TurnedTile {
 public:
  __device__ explicit TurnedTile(unsigned *words) : words_(words) {}

  __device__ unsigned &at(int i, int c, int q) const {
    return at(i, c / kStripWords<T>, c % kStripWords<T>, q);
  }
  /// The same for word m from a strip on.
  __device__ unsigned &at(int i, int strip, int m, int q) const {
    const int half = (m ^ m / kStripWords<T>)&1;
    const int column = i * kReadWords + strip * kStripWords<T> + (m & ~1);
    return words_[(column + (half ^ (strip & 1))) * kTileQuads +
                  ((q + strip * (kStripWords<T> / 2) + m / 2) & (kTileQuads - 1))];
  }

 private:
  unsigned *words_;
};

/// Words of a column that are all there.
template <typename T>
struct WholeColumn {
  static constexpr bool kOffsets = false;
  const unsigned char *first;
  std::ptrdiff_t stride;

  template <int>
  __device__ Packed<T> at(int i) const {
    return Packed<T>::of(*reinterpret_cast<const unsigned *>(first + i * stride));
  }
};

/// Words of any column.
template <typename T>
struct AnyColumn {
  static constexpr bool kOffsets = false;
  const Plane<const T> &plane;
  int x, y;
  unsigned neutral;

  template <int>
  __device__ Packed<T> at(int i) const {
    const bool inside = static_cast<unsigned>(y + i) < static_cast<unsigned>(plane.height);
    return Packed<T>::of(inside ? load_word(plane.row(y + i), plane.width, x, neutral) : neutral);
  }
};

/// Turned words along a row.
template <typename T>
struct TurnedRow {
  static constexpr bool kOffsets = true;
  TurnedTile<T> tile;
  int strip, q;

  template <int offset>
  __device__ Packed<T> at(int i) const {
    constexpr int kSamples = Packed<T>::kSamples;
    return Packed<T>::of(tile.at((offset + i) % kSamples, strip, (offset + i) / kSamples, q));
  }
};

template <typename T, typename Op>
__global__ void __launch_bounds__(kRectangleThreads<T>)
    rectangle_kernel(const __grid_constant__ RectangleJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples;
  __shared__ unsigned memory[kSamples * kReadWords * kTileQuads];
  const TurnedTile<T> turned(memory);
  let_next_kernel_start();
  wait_for_kernels_before();
  const int width = job.in.width, height = job.in.height;
  const int rx = job.width / 2, ry = job.height / 2;
  const int beside = (rx + kSamples - 1) / kSamples;  // words
  const int x0 = blockIdx.x * kTileWords * kSamples, y0 = blockIdx.y * kTileRows<T>;
  const unsigned neutral = Op::template neutral<T>().word();
  if (const int c = threadIdx.x % kReadWords; c < kTileWords + 2 * beside) {
    const int chunk = threadIdx.x / kReadWords;
    const int x = x0 + (c - beside) * kSamples, y = y0 + chunk * kWindows - ry;
    Packed<T> column[kWindows];
    if (job.aligned && x >= 0 && x + kSamples <= width && y >= 0 && y + kWindows + 2 * ry <= height)
      slide<Op>(
          job.height,
          WholeColumn<T>{reinterpret_cast<const unsigned char *>(job.in.row(y) + x), job.in.stride},
          column);
    else
      slide<Op>(job.height, AnyColumn<T>{job.in, x, y, neutral}, column);
#pragma unroll
    for (int q = 0; q < kStripWords<T>; ++q) {
      unsigned words[kSamples];
      turn<T>(&column[q * kSamples], words);
#pragma unroll
      for (int i = 0; i < kSamples; ++i) turned.at(i, c, chunk * kStripWords<T> + q) = words[i];
    }
  }
  __syncthreads();
  // Sixteen columns, and the rows of a turned word.
  constexpr int kStrips = kTileWords / kStripWords<T>;
  if (threadIdx.x >= kStrips * kTileQuads) return;
  const int q = threadIdx.x % kTileQuads, strip = threadIdx.x / kTileQuads;
  Packed<T> row[kWindows];
  slide<Op>(job.width, TurnedRow<T>{turned, strip, q}, row);
  const int x = x0 + strip * kWindows, y = y0 + q * kSamples;
  unsigned words[kSamples][kStripWords<T>];
#pragma unroll
  for (int k = 0; k < kStripWords<T>; ++k) {
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
      for (int k = 0; k < kStripWords<T>; ++k) {
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
      for (int k = 0; k < kStripWords<T>; k += 4)
        reinterpret_cast<uint4 *>(to)[k / 4] =
            uint4{words[i][k], words[i][k + 1], words[i][k + 2], words[i][k + 3]};
    } else {
#pragma unroll
      for (int k = 0; k < kStripWords<T>; ++k) job.sink.store(x + k * kSamples, y + i, words[i][k]);
    }
  }
}

template <typename T>
struct PointsJob {
  RectangleJob<T> rectangle;  // the whole one
  int dx, dy;                 // between points
};

/// Extrema of three by three pixels, dx and dy apart. Points outside of the image move to its edge: the
/// smaller windows on them still lie in the larger one.
template <typename T, typename Op>
__global__ void __launch_bounds__(256) points_kernel(const __grid_constant__ PointsJob<T> job) {
  constexpr int kSamples = Packed<T>::kSamples;
  let_next_kernel_start();
  wait_for_kernels_before();
  const RectangleJob<T> &whole = job.rectangle;
  const int width = whole.in.width, height = whole.in.height;
  const int x = (blockIdx.x * 32 + threadIdx.x) * kSamples, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  Packed<T> result = Op::template neutral<T>();
#pragma unroll
  for (int i = -1; i <= 1; ++i) {
    if (i != 0 && job.dy == 0) continue;
    const T *const row = whole.in.row(min(max(y + i * job.dy, 0), height - 1));
#pragma unroll
    for (int k = -1; k <= 1; ++k) {
      if (k != 0 && job.dx == 0) continue;
      const int at = x + k * job.dx;
      unsigned word;
      if (at >= 0 && at + kSamples <= width) {
        word = load_word(row, width, at, 0);
      } else {
        word = 0;
        for (int s = 0; s < kSamples; ++s)
          word |= unsigned{row[min(max(at + s, 0), width - 1)]} << (8 * sizeof(T) * s);
      }
      result = Op{}(result, Packed<T>::of(word));
    }
  }
  unsigned word = result.word();
  if (whole.constant) {
    const int rx = whole.width / 2, ry = whole.height / 2;
    const bool whole_row = y < ry || y + ry >= height;
    const unsigned kept = whole_row ? 0 : inside_mask<T>(x - rx, width - 2 * rx);
    const unsigned outside = (whole.outside & ~kept) | (Op::template neutral<T>().word() & kept);
    word = Op{}(result, Packed<T>::of(outside)).word();
  }
  whole.sink.store(x, y, word);
}

int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

template <typename T, typename Op>
void launch_rectangle(Cuda &cuda, const RectangleJob<T> &job) {
  const dim3 blocks(divide_up(job.in.width, kTileWords * Packed<T>::kSamples),
                    divide_up(job.in.height, kTileRows<T>));
  launch(rectangle_kernel<T, Op>, {blocks, kRectangleThreads<T>, 0, cuda.code_architecture() >= 90},
         cuda.stream(), job);
}

/// The side to begin with where `side` is three times that at most, or itself.
template <typename T>
int third(int side) {
  return side <= kMostSide<T> ? side : divide_up(side, 3) | 1;
}

/// @param scratch  two planes
template <typename T, typename Op>
void rectangle_extrema(Cuda &cuda, const RectangleJob<T> &job, const Plane<T> (&scratch)[2]) {
  if (job.width <= kMostSide<T> && job.height <= kMostSide<T>)
    return launch_rectangle<T, Op>(cuda, job);
  RectangleJob<T> part = job;
  part.constant = false;
  part.width = third<T>(job.width);
  part.height = third<T>(job.height);
  part.sink = {scratch[0], Finish::none, {}, {}, 0};
  rectangle_extrema<T, Op>(cuda, part, {scratch[1], scratch[0]});
  PointsJob<T> points{job, (job.width - part.width) / 2, (job.height - part.height) / 2};
  points.rectangle.in = scratch[0];
  points.rectangle.aligned = true;
  const dim3 blocks(divide_up(job.in.width, 32 * Packed<T>::kSamples), divide_up(job.in.height, 8));
  launch(points_kernel<T, Op>, {blocks, dim3(32, 8), 0, cuda.code_architecture() >= 90},
         cuda.stream(), points);
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
    const bool large = job.mask().width > kMostSide<T> || job.mask().height > kMostSide<T>;
    const bool steps = needs_step();
    if (!large && !steps) return;
    auto *memory = static_cast<unsigned char *>(
        cuda.scratch(stride * in.height * ((large ? 2 : 0) + (steps ? 1 : 0))));
    for (Plane<T> *plane : {&step_, &scratch_[0], &scratch_[1]}) {
      if (plane == &step_ ? !steps : !large) continue;
      *plane = {reinterpret_cast<T *>(memory), in.width, in.height,
                static_cast<std::ptrdiff_t>(stride), in.maximum};
      memory += stride * in.height;
    }
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
                                job_.border == SwoFilterBorder::constant,
                                (reinterpret_cast<std::uintptr_t>(in.data) | in.stride) % 4 == 0,
                                in_all_samples(job_.outside)};
      return rectangle_extrema<T, Op>(cuda_, job, scratch_);
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
  Plane<T> step_{}, scratch_[2]{};
};

}  // namespace

template <typename T>
void extrema(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job) {
  Extrema<T>(cuda, in, out, job)();
}

template void extrema(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &);
template void extrema(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &);

}  // namespace cudascan::swo
