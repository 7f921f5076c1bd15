// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The window that a user's filter gets: `float filter(auto p)` is called once for each pixel, and
/// p is the window around it.
///
///     p               the sample at the pixel itself
///     p(dx, dy)       the sample dx columns to the right and dy rows below, in the window or not
///     p.min() max() sum() mean() median() variance() deviation() count()   of the samples
///     p.rank(k), p.percentile(q)   sample number k, from 0, or q of 100, in ascending order
///     p.each([&](float sample, int dx, int dy) {...})   every sample of the window
///     p.x p.y p.width p.height p.maximum   the position, the size of the frame, its largest level
///
/// Samples are levels, 0 to p.maximum, as numbers of type float. In a window with N samples inside
/// the frame, median() is sample number floor(N / 2) and percentile(q) is number floor(N q / 100).
/// mean(), variance() and deviation() are not rounded to levels.
///
/// The compiler gets these macros:
///
///     GSWO_SAMPLE, GSWO_RESULT    types of a sample in memory: unsigned char or unsigned short
///     GSWO_MAXIMUM, GSWO_SHIFT    largest level, number of unused low bits of a sample
///     GSWO_RUNS                   the window's runs of cells, row by row: {y, first x, last x}
///     GSWO_LEFT, _RIGHT, _ABOVE, _BELOW   how far it extends from the pixel
///     GSWO_CELLS                  number of its cells
///     GSWO_BORDER, GSWO_OUTSIDE   0 clip, 1 replicate, 2 reflect, 3 constant: the level outside
///     GSWO_PLANES                 planes that the library has computed, see Input; or undefined
///     GSWO_RANKS                  the calls that its planes of ranks answer, as Asked
///     GSWO_TEXTURE                on the GPU, see gswo/filter.h
#pragma once
#include "gswo/gswo_sort.h"
#include "gswo/library.h"
// after library.h
#include "gswo/division.h"

#ifndef GSWO_PLANES
#define GSWO_PLANES 0
#endif

#if GSWO_CUDA
#define GSWO_TABLE __constant__
#define GSWO_VARIABLE __constant__
#else
#define GSWO_TABLE
#define GSWO_VARIABLE __attribute__((visibility("default")))
#endif

#if !defined(__NVCC__) || defined(__CUDACC_RTC__)  // nvcc has a library
namespace std {
GSWO_USE_LIBRARY
}
#endif

namespace gswo {

/// A plane of a frame; `stride` is in bytes.
struct Frame {
  void *data;
  long long stride;
  int width, height;
  unsigned long long texture;  ///< of its samples, or 0
};

/// A call that a plane answers: percentile(argument) or rank(argument).
struct Asked {
  bool is_percentile;
  float argument;
};
#if GSWO_PLANES & 8
constexpr Asked kAsked[] = {GSWO_RANKS};
constexpr int kRanks = sizeof(kAsked) / sizeof(Asked);
#else
constexpr Asked kAsked[] = {{false, 0}};
constexpr int kRanks = 0;
#endif

/// The available planes, in this order: the bits of GSWO_PLANES. First those of levels, with bit 8
/// one for each of GSWO_RANKS. If windows are clipped, a plane of rank() has the ranks of windows
/// that the largest level fills up. Then sums of levels, sums of their squares and, on the CPU, the
/// number of samples of windows that are not whole.
constexpr bool kHasMin = (GSWO_PLANES & 1) != 0, kHasMax = (GSWO_PLANES & 2) != 0,
               kHasMedian = (GSWO_PLANES & 4) != 0, kHasSum = (GSWO_PLANES & 16) != 0,
               kHasSquares = (GSWO_PLANES & 32) != 0, kHasCount = (GSWO_PLANES & 64) != 0;
constexpr int kFirstRank = kHasMin + kHasMax + kHasMedian;
constexpr int kLevelPlanes = kFirstRank + kRanks;
constexpr int kPlanes = kLevelPlanes + kHasSum + kHasSquares + kHasCount;
static_assert(!GSWO_CUDA || !kHasCount, "the GPU counts samples itself");

/// The frame that is filtered, and planes of its size with results of its windows' functions at the
/// same pixel. Rows of planes begin at multiples of eight bytes or more.
#if GSWO_PLANES
struct Input : Frame {
  Frame planes[kPlanes];
};
#else
using Input = Frame;
#endif

/// What is known of a pixel's window before the filter is called.
struct Known {
  GSWO_SAMPLE at[kLevelPlanes ? kLevelPlanes : 1];  ///< the levels of the planes
  unsigned sum;                ///< of the samples, if there is a plane or the view is summed
  unsigned long long squares;  ///< the sum of their squares, likewise
  int count;                   ///< if there is a plane
};

constexpr int kLeft = GSWO_LEFT, kRight = GSWO_RIGHT, kAbove = GSWO_ABOVE, kBelow = GSWO_BELOW;
constexpr int kCells = GSWO_CELLS;
constexpr bool kRectangle = kCells == (kLeft + kRight + 1) * (kAbove + kBelow + 1);
constexpr bool kClips = GSWO_BORDER == 0;
/// Windows up to this size are fully unrolled.
constexpr bool kUnrolls = kCells <= (GSWO_CUDA ? 256 : 128);
/// Whether a sum of floats is exact: all partial sums are integers up to 2^24.
constexpr bool kExactInFloat = static_cast<long long>(kCells) * GSWO_MAXIMUM <= 1 << 24;
constexpr unsigned long long kMostSquares = 1ull * kCells * GSWO_MAXIMUM * GSWO_MAXIMUM;
constexpr bool kSquaresExactInFloat = kMostSquares <= 1 << 24;
constexpr bool kSquaresFitUnsigned = kMostSquares <= 0xffffffff;
/// n times the sum of squares minus the square of the sum is n^2 times the variance.
constexpr bool kScatterFitsUnsigned = kMostSquares * kCells <= 0xffffffff;
/// It is at most n^2 (maximum / 2)^2 (Popoviciu, 1935). If it and n^2 are exact in float, dividing
/// in float or in double and rounding to float gives the same result (Figueroa, "When is double
/// rounding innocuous?", SIGNUM Newsletter 30(3), 1995).
constexpr bool kScatterExactInFloat = kMostSquares * kCells / 4 <= 1 << 24 && kCells <= 2048;
/// Relative to the middle level, all products are exact, too.
constexpr int kMiddle = (GSWO_MAXIMUM + 1) / 2;
constexpr bool kScatterInFloat =
    1ull * kCells * (kCells > 4 ? kCells : 4) * kMiddle * kMiddle <= 1 << 24 &&
    kScatterExactInFloat;

template <bool first, typename A, typename B>
struct Choice {
  using Type = A;
};
template <typename A, typename B>
struct Choice<false, A, B> {
  using Type = B;
};

struct Run {
  short y, first, last;
};
GSWO_TABLE constexpr Run kRuns[] = {GSWO_RUNS};
constexpr int kNumRuns = sizeof(kRuns) / sizeof(Run);

/// The column (row) whose sample is used for column (row) i of n; with constant, -1 for none.
GSWO_FN int resolve(int i, int n) {
  if (static_cast<unsigned>(i) < static_cast<unsigned>(n)) return i;
#if GSWO_BORDER == 2
  int k = i % (2 * n);
  if (k < 0) k += 2 * n;
  return k < n ? k : 2 * n - 1 - k;
#elif GSWO_BORDER == 3
  return -1;
#else
  return i < 0 ? 0 : n - 1;
#endif
}

template <typename T = GSWO_SAMPLE>
GSWO_FN const T *row_of(const Frame &frame, int y) {
  return reinterpret_cast<const T *>(static_cast<const char *>(frame.data) + y * frame.stride);
}
GSWO_FN GSWO_SAMPLE level_of(GSWO_SAMPLE sample) {
  return static_cast<GSWO_SAMPLE>(sample >> GSWO_SHIFT);
}

/// The level at (x, y), inside or outside the frame.
GSWO_FN GSWO_SAMPLE read(const Frame &frame, int x, int y) {
  const int column = resolve(x, frame.width), row = resolve(y, frame.height);
#if GSWO_BORDER == 3
  if (column < 0 || row < 0) return GSWO_OUTSIDE;
#endif
#if GSWO_CUDA && GSWO_TEXTURE
  if (frame.texture)
    return level_of(
        tex2D<GSWO_SAMPLE>(frame.texture, static_cast<float>(column), static_cast<float>(row)));
#endif
  return level_of(row_of(frame, row)[column]);
}

/// Type of a plane of sums of squares.
using PlaneSquares = Choice<sizeof(GSWO_SAMPLE) == 1, unsigned, double>::Type;

GSWO_FN Known known_at([[maybe_unused]] const Input &input, [[maybe_unused]] int x,
                       [[maybe_unused]] int y) {
  Known known{};
#if GSWO_PLANES
  GSWO_UNROLL for (int i = 0; i < kLevelPlanes; ++i) known.at[i] =
      level_of(row_of(input.planes[i], y)[x]);
#endif
#if GSWO_PLANES & 16
  known.sum = row_of<unsigned>(input.planes[kLevelPlanes], y)[x];
#endif
#if GSWO_PLANES & 32
  known.squares = static_cast<unsigned long long>(
      row_of<PlaneSquares>(input.planes[kLevelPlanes + kHasSum], y)[x]);
#endif
#if GSWO_PLANES & 64
  known.count = row_of<unsigned short>(input.planes[kPlanes - 1], y)[x];
#endif
  return known;
}

/// The nearest level, halves up; negative numbers and NaN give 0.
template <typename T>
GSWO_FN GSWO_RESULT to_sample(T result) {
  const Number<T> value = result;
  if constexpr (Integer<Number<T>>) {
    const auto level = value < 0 ? 0 : value > GSWO_MAXIMUM ? GSWO_MAXIMUM : value;
    return static_cast<GSWO_RESULT>(static_cast<int>(level) << GSWO_SHIFT);
  } else {
    constexpr Number<T> most = GSWO_MAXIMUM;
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
    const Number<T> inside = ::fmin(::fmax(value, Number<T>(0)), most);  // 0 for a NaN
#else
    const Number<T> inside = value > 0 ? (value < most ? value : most) : 0;
#endif
    return static_cast<GSWO_RESULT>(static_cast<int>(inside + Number<T>(0.5)) << GSWO_SHIFT);
  }
}

#if defined(__NVCC__) || defined(__CUDACC_RTC__)
GSWO_FN float fused(float a, float b, float c) {
  return ::fmaf(a, b, c);
}
GSWO_FN double fused(double a, double b, double c) {
  return ::fma(a, b, c);
}
#endif
/// a * b + c if both steps are exact, so that one fused instruction gives the same.
template <typename T>
GSWO_FN T multiply_add(T a, T b, T c) {
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
  if constexpr (!Integer<T>) return fused(a, b, c);
#endif
  return a * b + c;
}

/// Sorts the samples of a window run by run.
struct WindowRuns {
  static constexpr int count = kNumRuns;
  static constexpr int length(int i) { return kRuns[i].last - kRuns[i].first + 1; }
};

/// The window at (x, y).
/// @tparam View   gives the levels of samples at the offset `dx`, `dy` within the window, as
///                numbers of type View::Level; inside() is for samples that are also in the frame.
///                View::often says whether it serves most pixels, so that unrolled code is worth
///                its size; View::summed, whether the sums of the samples are known
/// @tparam whole  whether the window is inside the frame or the border fills it up. Otherwise
///                samples outside do not count, and a single one that is asked for is the nearest
///                of the frame
template <typename View, bool whole>
class Window {
 private:
  using Level = typename View::Level;

 public:
  const int x, y, width, height;
  static constexpr int maximum = GSWO_MAXIMUM;

  /// @param known  the values of the planes at (x, y)
  GSWO_FN Window(const View &view, const Frame &frame, const Known &known, int x, int y)
      : x(x),
        y(y),
        width(frame.width),
        height(frame.height),
        view_(view),
        frame_(frame),
        known_(known) {}

  GSWO_FN operator float() const { return static_cast<float>(view_(0, 0)); }
  GSWO_FN float operator()(int dx, int dy) const {
    if (-kLeft <= dx && dx <= kRight && -kAbove <= dy && dy <= kBelow)
      return static_cast<float>(view_(dx, dy));
    return static_cast<float>(read(frame_, x + dx, y + dy));
  }

  template <typename F>
  GSWO_FN void each(F f) const {
    each_level([&](Level level, int dx, int dy) { f(static_cast<float>(level), dx, dy); });
  }

  GSWO_FN int count() const {
    if constexpr (whole) return kCells;
    if constexpr (kHasCount) return known_.count;
    if constexpr (kRectangle) return (right() - left() + 1) * (below() - above() + 1);
    int n = 0;
    for (int i = 0; i < kNumRuns; ++i) {
      if (static_cast<unsigned>(y + kRuns[i].y) >= static_cast<unsigned>(height)) continue;
      const int first = larger<int>(kRuns[i].first, -x),
                last = smaller<int>(kRuns[i].last, width - 1 - x);
      n += last < first ? 0 : last - first + 1;
    }
    return n;
  }
  // In a window without samples, all results except sum and variance are the pixel's own sample.
  GSWO_FN float min() const {
    if constexpr (kHasMin) return static_cast<float>(known_.at[0]);
    if (count() == 0) return *this;
    return reduce<Level>(
        GSWO_MAXIMUM, [](Level a, Level b) { return smaller(a, b); },
        [](Level level) { return level; });
  }
  GSWO_FN float max() const {
    if constexpr (kHasMax) return static_cast<float>(known_.at[kHasMin]);
    if (count() == 0) return *this;
    return reduce<Level>(
        0, [](Level a, Level b) { return larger(a, b); }, [](Level level) { return level; });
  }
  GSWO_FN float sum() const { return static_cast<float>(exact_sum()); }
  GSWO_FN float mean() const {
    const int n = count();
    if (n == 0) return *this;
    if constexpr (kSumsInFloat && whole)
      return divide_exactly<kCells>(exact_sum());
    else if constexpr (kSumsInFloat)
      return exact_sum() / static_cast<float>(n);
    else if constexpr (kExactInFloat)
      return static_cast<float>(exact_sum()) / static_cast<float>(n);
    else
      return static_cast<float>(exact_sum() / static_cast<double>(n));
  }
  /// Of all samples of the window, divided by their number (not minus one).
  GSWO_FN float variance() const {
    const int n = count();
    if (n == 0) return 0;
    if constexpr (kScatterExactInFloat) {
      float scatter;
      if constexpr (kLevelsAreFloats && kScatterInFloat) {
        const float s = exact_sum(), squares = sum_of_squares<float>(), m = static_cast<float>(n);
        const float t = multiply_add<float>(-kMiddle, m, s);
        const float u = multiply_add<float>(-2 * kMiddle, s, squares);
        scatter = multiply_add(-t, t, m * multiply_add<float>(kMiddle * kMiddle, m, u));
      } else {
        scatter = static_cast<float>(static_cast<int>(exact_scatter<unsigned>(n)));
      }
      if constexpr (whole)
        return divide_exactly<1ll * kCells * kCells>(scatter);
      else
        return scatter / static_cast<float>(n * n);
    } else {
      double scatter;
      if constexpr (kScatterFitsUnsigned)
        scatter = static_cast<double>(exact_scatter<unsigned>(n));
      else
        scatter = static_cast<double>(exact_scatter<unsigned long long>(n));
      if constexpr (whole)
        return static_cast<float>(divide_exactly<1ll * kCells * kCells>(scatter));
      else
        return static_cast<float>(scatter / (static_cast<double>(n) * n));
    }
  }
  GSWO_FN float deviation() const { return library::sqrt(variance()); }

  /// k below 0 gives the first sample, k beyond the last gives the last.
  GSWO_FN float rank(int k) const {
    return answer<false>(static_cast<float>(k), [&] { return find_rank(k); });
  }
  GSWO_FN float median() const {
    if constexpr (kHasMedian) return static_cast<float>(known_.at[kHasMin + kHasMax]);
    return rank(count() / 2);
  }
  GSWO_FN float percentile(float q) const {
    return answer<true>(q, [&] {
      const float most = kCells, at = static_cast<float>(count()) * q / 100;
      return rank(static_cast<int>(at > 0 ? at < most ? at : most : 0));
    });
  }

 private:
  /// The level in the plane of a call, or what search() returns if no plane answers it.
  template <bool is_percentile, int i = 0, typename Search>
  GSWO_FN float answer([[maybe_unused]] float argument, Search search) const {
    if constexpr (i == kRanks) {
      return search();
    } else {
      constexpr Asked asked = kAsked[i];
      if constexpr (asked.is_percentile == is_percentile)
        if (argument == asked.argument) return level_of_rank<i>();
      return answer<is_percentile, i + 1>(argument, search);
    }
  }
  template <int i>
  GSWO_FN float level_of_rank() const {
    const GSWO_SAMPLE level = known_.at[kFirstRank + i];
    if constexpr (whole || kAsked[i].is_percentile) return static_cast<float>(level);
    return static_cast<float>(smaller(level, known_.at[kHasMin]));  // that of max()
  }
  GSWO_FN float find_rank(int k) const {
    if constexpr (kHasMin)
      if (k <= 0) return min();
    if constexpr (kHasMax)
      if (k >= kCells - 1) return max();
    const int samples = count();
    if (samples == 0) return *this;
    k = k < 0 ? 0 : k < samples ? k : samples - 1;
    if constexpr (kCells == 1) {
      return min();
    } else if constexpr (kSorts) {
      Level a[kCells];
      int i = 0;
      each_level([&](Level level, int, int) { a[i++] = level; });
      if constexpr (kLeft == 1 && kAbove == 1 && kCells == 9)
        if (k == 4) return median_of_runs(a);
      constexpr int n = kSorts ? kCells : 1;  // avoids instantiating a network that does not exist
      exchange_all<n, WindowRuns, 0, kNetwork<n, WindowRuns>.size>(a);
      return pick<n>(a, k);
    } else {
      return search(k);
    }
  }

  static constexpr bool kLevelsAreFloats = !Integer<Level>;
  static constexpr bool kKnowsSum = View::summed || kHasSum;
  static constexpr bool kSumsInFloat = kLevelsAreFloats && kExactInFloat;
  static constexpr bool kUnrolled = kUnrolls && whole && View::often;
  /// In larger windows, sorting needs more exchanges than a search needs comparisons.
  static constexpr bool kSorts =
      kUnrolled && kCells <= (kLevelsAreFloats && GSWO_MAXIMUM < 256 ? 40 : 81);

  template <typename F>
  GSWO_FN void each_level(F f) const {
    if constexpr (kUnrolled && kRectangle) {
      GSWO_UNROLL for (int dy = -kAbove; dy <= kBelow; ++dy) {
        GSWO_UNROLL for (int dx = -kLeft; dx <= kRight; ++dx) visit(f, dx, dy);
      }
    } else if constexpr (kRectangle && whole && View::often && kLeft + kRight < 64) {
      for (int dy = -kAbove; dy <= kBelow; ++dy) {
        GSWO_UNROLL for (int dx = -kLeft; dx <= kRight; ++dx) visit(f, dx, dy);
      }
    } else if constexpr (kRectangle) {
      for (int dy = above(); dy <= below(); ++dy)
        for (int dx = left(); dx <= right(); ++dx)
          if constexpr (whole)
            f(view_(dx, dy), dx, dy);
          else
            f(view_.inside(dx, dy), dx, dy);
    } else if constexpr (kUnrolled) {
      runs<0>(f);
    } else {
      for (int i = 0; i < kNumRuns; ++i)
        for (int dx = kRuns[i].first; dx <= kRuns[i].last; ++dx) visit(f, dx, kRuns[i].y);
    }
  }

  // The extent of a rectangle clipped to the frame.
  GSWO_FN int left() const { return whole || x >= kLeft ? -kLeft : -x; }
  GSWO_FN int right() const { return whole || x + kRight < width ? kRight : width - 1 - x; }
  GSWO_FN int above() const { return whole || y >= kAbove ? -kAbove : -y; }
  GSWO_FN int below() const { return whole || y + kBelow < height ? kBelow : height - 1 - y; }

  template <typename F>
  GSWO_FN void visit(F &f, int dx, int dy) const {
    if constexpr (!whole)
      if (static_cast<unsigned>(x + dx) >= static_cast<unsigned>(width) ||
          static_cast<unsigned>(y + dy) >= static_cast<unsigned>(height))
        return;
    f(view_(dx, dy), dx, dy);
  }
  template <int i, typename F>
  GSWO_FN void runs(F &f) const {
    if constexpr (i < kNumRuns) {
      GSWO_UNROLL for (int dx = kRuns[i].first; dx <= kRuns[i].last; ++dx) visit(f, dx, kRuns[i].y);
      runs<i + 1>(f);
    }
  }
  /// a / n, rounded as a division is, for integers a from 0 on and n < 2^22 in float, 2^33 in
  /// double: Markstein, "Computation of elementary functions on the IBM RISC System/6000
  /// processor", IBM J. Res. Dev. 34(1), 1990. The first quotient is less than 2 ulp off, so the
  /// remainder, a multiple of its ulp, is exact. The corrected quotient is rounded from a value
  /// that is at most 2^-22 ulp (2^-51 ulp in double) off. a / n cannot be nearer than 1/(2n) ulp to
  /// the middle between two numbers, and it cannot be that middle itself, which has one digit more
  /// than a.
  template <long long n, typename T>
  static GSWO_FN T divide_exactly(T a) {
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
    constexpr T divisor = n, reciprocal = 1 / divisor;
    const T quotient = a * reciprocal;
    return fused(fused(-quotient, divisor, a), reciprocal, quotient);
#else
    return a / n;
#endif
  }
  /// Combines the results of all rows; what pixels of a column share is computed once.
  /// @param add  joins a result and that of a sample
  template <typename Result, typename Join, typename Of, typename Add>
  GSWO_FN Result reduce(Result neutral, Join join, Of of, Add add) const {
    if constexpr (kUnrolled) {
      return reduce_from<0>(reduce_run<0, Result>(of, add), join, of, add);
    } else {
      Result result = neutral, run = neutral;
      int row = -kAbove;
      each_level([&](Level level, int, int dy) {
        if (dy != row) {
          result = join(result, run);
          run = neutral;
          row = dy;
        }
        run = add(run, level);
      });
      return join(result, run);
    }
  }
  /// The result of run number i. It begins with the first sample and not with a neutral element,
  /// which compilers may not remove for floats. No lambda changes variables: with those NVRTC took
  /// a minute for 16 windows of 9x9.
  template <int i, typename Result, typename Of, typename Add>
  GSWO_FN Result reduce_run(Of of, Add add) const {
    constexpr Run run = kRuns[i];
    Result result = of(view_(run.first, run.y));
    GSWO_UNROLL for (int dx = run.first + 1; dx <= run.last; ++dx) result =
        add(result, view_(dx, run.y));
    return result;
  }
  /// @param result  that of the runs up to number i
  template <int i, typename Result, typename Join, typename Of, typename Add>
  GSWO_FN Result reduce_from(Result result, Join join, Of of, Add add) const {
    if constexpr (i + 1 == kNumRuns)
      return result;
    else
      return reduce_from<i + 1>(join(result, reduce_run<i + 1, Result>(of, add)), join, of, add);
  }
  template <typename Result, typename Join, typename Of>
  GSWO_FN Result reduce(Result neutral, Join join, Of of) const {
    return reduce<Result>(neutral, join, of,
                          [&](Result a, Level level) { return join(a, of(level)); });
  }
  template <typename Sum>
  GSWO_FN Sum sum_of_levels() const {
    return reduce<Sum>(
        0, [](Sum a, Sum b) { return a + b; }, [](Level level) { return static_cast<Sum>(level); });
  }
  template <typename Sum>
  GSWO_FN Sum sum_of_squares() const {
    return reduce<Sum>(
        0, [](Sum a, Sum b) { return a + b; },
        [](Level level) { return static_cast<Sum>(level) * static_cast<Sum>(level); },
        [](Sum a, Level level) { return multiply_add<Sum>(level, level, a); });
  }
  GSWO_FN auto exact_sum() const {
    if constexpr (kKnowsSum && kSumsInFloat)
      return static_cast<float>(known_.sum);
    else if constexpr (kKnowsSum)
      return known_.sum;
    else if constexpr (kSumsInFloat)
      return sum_of_levels<float>();
    else
      return sum_of_levels<unsigned>();
  }
  GSWO_FN unsigned long long exact_squares() const {
    if constexpr (View::summed || kHasSquares)
      return known_.squares;
    else if constexpr (kLevelsAreFloats && kSquaresExactInFloat)
      return static_cast<unsigned>(sum_of_squares<float>());
    else if constexpr (kSquaresFitUnsigned)
      return sum_of_squares<unsigned>();
    else
      return sum_of_squares<unsigned long long>();
  }
  template <typename Integral>
  GSWO_FN Integral exact_scatter(int n) const {
    const auto s = static_cast<Integral>(exact_sum());
    return static_cast<Integral>(n) * static_cast<Integral>(exact_squares()) - s * s;
  }
  static GSWO_FN void sort(Level &a, Level &b) {
    const Level x = a, y = b;
    a = smaller(x, y);
    b = larger(x, y);
  }
  static GSWO_FN Level median(Level a, Level b, Level c) {
    sort(a, b);
    return larger(a, smaller(b, c));
  }
  /// For three runs of three: a sample below the largest of the three minima, or above the smallest
  /// of the three maxima, is not the median (Smith, "Implementing median filters in XC4000E FPGAs",
  /// Xcell 23, 1996).
  static GSWO_FN Level median_of_runs(Level *a) {
    GSWO_UNROLL for (int i = 0; i < 9; i += 3) {
      sort(a[i + 1], a[i + 2]);
      sort(a[i], a[i + 1]);
      sort(a[i + 1], a[i + 2]);
    }
    return median(larger(larger(a[0], a[3]), a[6]), median(a[1], a[4], a[7]),
                  smaller(smaller(a[2], a[5]), a[8]));
  }
  template <int n>
  static GSWO_FN Level pick(const Level *a, int k) {
    Level result = 0;
    pick_from<n, 0>(a, k, result);
    return result;
  }
  template <int n, int m>
  static GSWO_FN void pick_from(const Level *a, int k, Level &result) {
    if constexpr (m < n) {
      if (m == k) result = a[kNetwork<n, WindowRuns>.order.at[m]];
      pick_from<n, m + 1>(a, k, result);
    }
  }
  /// Finds the smallest level that more than k samples do not exceed, bit by bit.
  GSWO_FN float search(int k) const {
    int level = 0;
    for (int bit = (GSWO_MAXIMUM + 1) / 2; bit > 0; bit /= 2) {
      const auto middle = static_cast<Level>(level + bit);
      int below = 0;
      each_level([&](Level sample, int, int) { below += sample < middle; });
      if (below <= k) level += bit;
    }
    return static_cast<float>(level);
  }

  const View &view_;
  const Frame &frame_;
  const Known known_;
};

}  // namespace gswo
