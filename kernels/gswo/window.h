// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What a user's filter sees: `float filter(auto p)` is called once for each pixel, and p is the window
/// around it.
///
///     p                        the sample at the pixel itself
///     p(dx, dy)                the sample dx columns to the right and dy rows below, in the window or not
///     p.min() max() sum() mean() median() variance() deviation() count()     of the window's samples
///     p.rank(k), p.percentile(q)   sample number k, from 0, or q of 100, in ascending order
///     p.each([&](float sample, int dx, int dy) {...})    every sample of the window
///     p.x p.y p.width p.height p.maximum     where the pixel is, the size of the frame, its largest level
///
/// Samples are levels, 0 to p.maximum, as numbers of type float. Of a window with N samples in the frame
/// median() is number floor(N / 2), percentile(q) number floor(N q / 100); mean(), variance() and
/// deviation() are not rounded to levels.
///
/// The compiler is given, as macros:
///
///     GSWO_SAMPLE, GSWO_RESULT        type of a sample in memory: unsigned char or unsigned short
///     GSWO_MAXIMUM, GSWO_SHIFT        largest level, low bits of a sample that are not used
///     GSWO_RUNS                       the window: {y, first x, last x} of its runs of cells, row by row
///     GSWO_LEFT, _RIGHT, _ABOVE, _BELOW   how far it reaches from the pixel
///     GSWO_CELLS                      how many cells it has
///     GSWO_BORDER, GSWO_OUTSIDE       0 clip, 1 replicate, 2 reflect, 3 constant: the level outside
#pragma once
#include "gswo/library.h"

#if GSWO_CUDA
#define GSWO_TABLE __constant__
#define GSWO_VARIABLE __constant__
#else
#define GSWO_TABLE
#define GSWO_VARIABLE __attribute__((visibility("default")))
#endif

namespace std {
GSWO_USE_LIBRARY
}

namespace gswo {

/// A plane of a frame; `stride` is in bytes.
struct Frame {
  void *data;
  long long stride;
  int width, height;
};

constexpr int kLeft = GSWO_LEFT, kRight = GSWO_RIGHT, kAbove = GSWO_ABOVE, kBelow = GSWO_BELOW;
constexpr int kCells = GSWO_CELLS;
constexpr bool kRectangle = kCells == (kLeft + kRight + 1) * (kAbove + kBelow + 1);
constexpr bool kClips = GSWO_BORDER == 0;
/// Windows up to this size are laid out as straight code.
constexpr bool kUnrolls = kCells <= 128;
/// Whether a sum of floats is exact: all partial sums are integers up to 2^24.
constexpr bool kExactInFloat = static_cast<long long>(kCells) * GSWO_MAXIMUM <= 1 << 24;

struct Run {
  short y, first, last;
};
GSWO_TABLE constexpr Run kRuns[] = {GSWO_RUNS};
constexpr int kNumRuns = sizeof(kRuns) / sizeof(Run);

/// The column (row) whose sample stands at column (row) i of n; with constant -1 for none.
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

GSWO_FN const GSWO_SAMPLE *row_of(const Frame &frame, int y) {
  return reinterpret_cast<const GSWO_SAMPLE *>(static_cast<const char *>(frame.data) +
                                               y * frame.stride);
}
GSWO_FN GSWO_SAMPLE level_of(GSWO_SAMPLE sample) {
  return static_cast<GSWO_SAMPLE>(sample >> GSWO_SHIFT);
}

/// The level at (x, y), in the frame or outside of it.
GSWO_FN GSWO_SAMPLE read(const Frame &frame, int x, int y) {
  const int column = resolve(x, frame.width), row = resolve(y, frame.height);
#if GSWO_BORDER == 3
  if (column < 0 || row < 0) return GSWO_OUTSIDE;
#endif
  return level_of(row_of(frame, row)[column]);
}

/// The nearest level, halves up (down below 0, which is 0 in any case); 0 for what is no number.
template <typename T>
GSWO_FN GSWO_RESULT to_sample(T result) {
  const Number<T> value = result;
  if constexpr (Integer<Number<T>>) {
    const auto level = value < 0 ? 0 : value > GSWO_MAXIMUM ? GSWO_MAXIMUM : value;
    return static_cast<GSWO_RESULT>(static_cast<int>(level) << GSWO_SHIFT);
  } else {
    // Comparisons with a NaN are false.
    const auto inside = value > 0 ? (value < GSWO_MAXIMUM ? value : GSWO_MAXIMUM) : 0;
    return static_cast<GSWO_RESULT>(static_cast<int>(inside + Number<T>(0.5)) << GSWO_SHIFT);
  }
}

/// Exchanges that sort n numbers: Batcher's merge exchange (Knuth, The art of computer programming 3,
/// algorithm 5.2.2M). A compiler leaves out those that nothing depends on.
template <int n>
struct Network {
  struct Exchanges {
    unsigned char low[n * 12 + 1], high[n * 12 + 1];
    int size;
  };
  static constexpr Exchanges make() {
    Exchanges e{};
    int t = 0;
    while (1 << t < n) ++t;
    for (int p = t ? 1 << (t - 1) : 0; p > 0; p /= 2)
      for (int q = 1 << (t - 1), r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i + d < n; ++i)
          if ((i & p) == r) {
            e.low[e.size] = static_cast<unsigned char>(i);
            e.high[e.size++] = static_cast<unsigned char>(i + d);
          }
        if (q == p) break;
      }
    return e;
  }
  static constexpr Exchanges exchanges = make();

  template <int low, int high, typename Level>
  static GSWO_FN void exchange(Level *a) {
    const Level x = a[low], y = a[high];
    a[low] = y < x ? y : x;
    a[high] = y < x ? x : y;
  }
  /// Does the exchanges [begin, begin + size).
  template <int begin, int size, typename Level>
  static GSWO_FN void sort(Level *a) {
    if constexpr (size == 1) {
      exchange<exchanges.low[begin], exchanges.high[begin]>(a);
    } else if constexpr (size > 1) {
      sort<begin, size / 2>(a);
      sort<begin + size / 2, size - size / 2>(a);
    }
  }
  template <typename Level>
  static GSWO_FN void sort(Level *a) {
    sort<0, exchanges.size>(a);
  }
};

/// The window at (x, y).
/// @tparam View   gives the levels of the samples that lie `dx`, `dy` from the pixel, within the window,
///                as numbers of the type View::Level; View::often says whether it is for most pixels, so
///                that straight code is worth its length
/// @tparam whole  whether the window lies in the frame, or the border fills it up; else samples outside
///                do not count, and a single one is the nearest of the frame
template <typename View, bool whole>
class Window {
 private:
  using Level = typename View::Level;

 public:
  const int x, y, width, height;
  static constexpr int maximum = GSWO_MAXIMUM;

  GSWO_FN Window(const View &view, const Frame &frame, int x, int y)
      : x(x), y(y), width(frame.width), height(frame.height), view_(view), frame_(frame) {}

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
    int n = 0;
    each_level([&](Level, int, int) { ++n; });
    return n;
  }
  // Of a window without any sample all but the sum and the variance are the sample of the pixel itself.
  GSWO_FN float min() const {
    if (count() == 0) return *this;
    Level m = GSWO_MAXIMUM;
    each_level([&](Level level, int, int) { m = level < m ? level : m; });
    return m;
  }
  GSWO_FN float max() const {
    if (count() == 0) return *this;
    Level m = 0;
    each_level([&](Level level, int, int) { m = m < level ? level : m; });
    return m;
  }
  GSWO_FN float sum() const { return static_cast<float>(exact_sum()); }
  GSWO_FN float mean() const {
    const int n = count();
    if (n == 0) return *this;
    if constexpr (kSumsInFloat)
      return exact_sum() / static_cast<float>(n);
    else if constexpr (kExactInFloat)
      return static_cast<float>(exact_sum()) / static_cast<float>(n);
    else
      return static_cast<float>(exact_sum() / static_cast<double>(n));
  }
  /// Of all samples of the window: divided by their number.
  GSWO_FN float variance() const {
    const int n = count();
    if (n == 0) return 0;
    unsigned long long s = 0, squares = 0;
    each_level([&](Level sample, int, int) {
      const auto level = static_cast<unsigned>(sample);
      s += level;
      squares += static_cast<unsigned long long>(level) * level;
    });
    const unsigned long long n2 = static_cast<unsigned long long>(n) * n;
    return static_cast<float>(static_cast<double>(n * squares - s * s) / static_cast<double>(n2));
  }
  GSWO_FN float deviation() const { return library::sqrt(variance()); }

  /// k below 0 is the first, beyond the last sample the last one.
  GSWO_FN float rank(int k) const {
    const int n = count();
    if (n == 0) return *this;
    k = k < 0 ? 0 : k < n ? k : n - 1;
    if constexpr (kSorts) {
      Level a[kCells];
      int i = 0;
      each_level([&](Level level, int, int) { a[i++] = level; });
      Network<kCells>::sort(a);
      Level result = a[0];
      GSWO_UNROLL for (int m = 1; m < kCells; ++m) result = m == k ? a[m] : result;
      return result;
    } else {
      return search(k);
    }
  }
  GSWO_FN float median() const { return rank(count() / 2); }
  GSWO_FN float percentile(float q) const {
    return rank(static_cast<int>(static_cast<float>(count()) * q / 100));
  }

 private:
  static constexpr bool kLevelsAreFloats = !Integer<Level>;
  static constexpr bool kSumsInFloat = kLevelsAreFloats && kExactInFloat;
  static constexpr bool kUnrolled = kUnrolls && whole && View::often;
  /// Sorting takes more exchanges than a search takes comparisons in larger windows.
  static constexpr bool kSorts = kUnrolled && kCells <= (kLevelsAreFloats && GSWO_MAXIMUM < 256 ? 40 : 81);

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
      for (int dy = -kAbove; dy <= kBelow; ++dy)
        for (int dx = -kLeft; dx <= kRight; ++dx) visit(f, dx, dy);
    } else if constexpr (kUnrolled) {
      runs<0>(f);
    } else {
      for (int i = 0; i < kNumRuns; ++i)
        for (int dx = kRuns[i].first; dx <= kRuns[i].last; ++dx) visit(f, dx, kRuns[i].y);
    }
  }

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
      GSWO_UNROLL for (int dx = kRuns[i].first; dx <= kRuns[i].last; ++dx)
          visit(f, dx, kRuns[i].y);
      runs<i + 1>(f);
    }
  }
  static GSWO_FN auto sum_type() {
    if constexpr (kSumsInFloat)
      return 0.0f;
    else
      return 0u;
  }
  GSWO_FN auto exact_sum() const {
    decltype(sum_type()) s = 0;
    each_level([&](Level level, int, int) { s += static_cast<decltype(s)>(level); });
    return s;
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
};

}  // namespace gswo
