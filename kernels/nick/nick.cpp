// SPDX-License-Identifier: LGPL-2.1-or-later
// The sums over the window's columns move down the image: they add a row and subtract a row. Along
// a row, the window is a running sum of them. The cost per pixel does not depend on the window.
// Pixels are decided in single precision (rows.h), or by above() if the error bound leaves a doubt.
#include "kernels/nick.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "kernels/nick/naive.h"
#include "kernels/nick/rows.h"

namespace cudascan {
namespace {

using namespace nick;

/// Memory of a thread, kept between calls.
template <typename T>
struct BandScratch {
  std::vector<std::uint32_t> columns[3], count;
  std::vector<std::uint64_t> squares;
  std::vector<float> inverse;
  std::vector<T> no_row;
  Block block;
};

/// Processes a band of an image from top to bottom with the sums over the windows of its pixels.
template <typename T>
class Band {
 public:
  Band(Plane<const T> in, const NickParams &p)
      : in_(in),
        rx_(window_width(p) / 2),
        ry_(window_height(p) / 2),
        squares_(p.method != NickMethod::bradley),
        wide_sum_(too_wide(std::numeric_limits<T>::max())),
        wide_square_(too_wide(std::uint64_t{std::numeric_limits<T>::max()} *
                              std::numeric_limits<T>::max())) {
    // Columns outside the image are empty; a few more are for loads past the end.
    const std::size_t margin = rx_ + 1, size = in.width + 2 * margin + kPadding;
    for (auto &c : scratch_.columns) c.assign(size, 0);
    if (sizeof(T) > 1) scratch_.squares.assign(in.width, 0);
    columns_ = {&scratch_.columns[0][margin], &scratch_.columns[1][margin],
                &scratch_.columns[2][margin], scratch_.squares.data()};
    scratch_.count.assign(in.width + kPadding, 0);
    scratch_.inverse.assign(in.width + kPadding, 0);
    scratch_.no_row.assign(in.width, 0);
  }

  /// Calls visit(y, x, pixels, block) for the blocks of the rows [begin, end); x is the first
  /// column, and the block has the sums.
  template <typename Visit>
  void walk(int begin, int end, Visit visit) {
    for (int y = begin - ry_; y < begin + ry_; ++y) slide(row(y), scratch_.no_row.data());
    int rows_before = 0;
    for (int y = begin; y < end; ++y) {
      slide(row(y + ry_), y > begin ? row(y - ry_ - 1) : scratch_.no_row.data());
      const int rows = std::min(in_.height - 1, y + ry_) - std::max(0, y - ry_) + 1;
      if (rows != rows_before)
        rows_.count_pixels(in_.width, rx_, rows, scratch_.count.data(), scratch_.inverse.data());
      rows_before = rows;
      walk_row(y, visit);
    }
  }

  /// The parameter of the loops in NickRows.
  bool wide() const { return sizeof(T) == 1 ? wide_square_ : wide_sum_; }

  /// The window of pixel i of the block that starts at x.
  WindowSums window(int x, int i) const {
    const Block &b = scratch_.block;
    const auto join = [i](const std::uint32_t *low, const std::uint32_t *high, bool wide,
                          int shift) {
      if (!wide) return std::uint64_t{low[i]};
      return (std::uint64_t{high[i]} << shift) + (low[i] - (high[i] << shift));
    };
    return {join(b.sum, b.sum_high, wide_sum_, kHighShift),
            join(b.low, b.high, wide_square_, kSquareShift<T>), scratch_.count[x + i]};
  }

 private:
  bool too_wide(std::uint64_t most) const {
    const std::uint64_t n = std::uint64_t(2 * rx_ + 1) * (2 * ry_ + 1);
    return most * n > std::numeric_limits<std::uint32_t>::max();
  }

  const T *row(int y) const {
    return y >= 0 && y < in_.height ? in_.row(y) : scratch_.no_row.data();
  }

  void slide(const T *enters, const T *leaves) {
    if (enters == leaves) return;  // both outside
    rows_.slide(columns_, enters, leaves, in_.width);
  }

  /// A running sum of columns over the window.
  struct Sum {
    const std::uint32_t *columns;
    int shift;
    std::uint32_t *window;
    std::uint32_t carry;
  };

  template <typename Visit>
  void walk_row(int y, Visit visit) {
    Block &b = scratch_.block;
    Sum sums[4];
    int n_sums = 0;
    const auto add = [&](const std::uint32_t *columns, int shift, std::uint32_t *window) {
      // the window of the pixel left of the first
      const std::uint32_t carry = rows_.total(columns, shift, std::min(rx_, in_.width));
      sums[n_sums++] = {columns, shift, window, carry};
    };
    add(columns_.sum, 0, b.sum);
    if (wide_sum_) add(columns_.sum, kHighShift, b.sum_high);
    if (squares_) {
      add(columns_.low, 0, b.low);
      if (sizeof(T) > 1)
        add(columns_.high, 0, b.high);
      else if (wide_square_)
        add(columns_.low, kSquareShift<T>, b.high);
    }
    for (int x = 0; x < in_.width; x += kBlock) {
      const int n = std::min(kBlock, in_.width - x);
      for (Sum *s = sums; s != sums + n_sums; ++s)
        s->carry = rows_.scan(s->columns + x + rx_, s->columns + x - rx_ - 1, s->shift, n, s->carry,
                              s->window);
      rows_.widen(in_.row(y) + x, n, b.value);
      const Pixels pixels{&scratch_.count[x], &scratch_.inverse[x], n};
      visit(y, x, pixels, b);
    }
  }

  static BandScratch<T> &scratch() {
    thread_local BandScratch<T> s;
    return s;
  }

  const NickRows<T> &rows_ = rows<T>();
  BandScratch<T> &scratch_ = scratch();
  Plane<const T> in_;
  int rx_, ry_;
  bool squares_;  // whether to sum squares
  bool wide_sum_, wide_square_;
  ColumnTotals columns_;
};

/// Fewest rows that justify a band's warm-up: summing up a row is cheap compared with deciding it.
int min_rows(const NickParams &p) {
  return 16 + window_height(p) / 4;
}

/// Completes the formula of wolf.
template <typename T>
void find_extremes(Cpu &cpu, Plane<const T> in, const NickParams &p, Formula &f) {
  f.minimum = in.row(0)[0];
  f.busiest = WindowSums{0, 0, 1};
  std::mutex mutex;
  cpu.for_bands(in.height, min_rows(p), [&](int begin, int end) {
    Band<T> band(in, p);
    const NickRows<T> &loops = rows<T>();
    std::uint32_t minimum = std::numeric_limits<T>::max();
    WindowSums busiest{0, 0, 1};
    float most = 0;
    band.walk(begin, end, [&](int y, int x, const Pixels &px, Block &b) {
      minimum = std::min(minimum, loops.smallest(in.row(y) + x, px.n));
      constexpr float slack = 1 - 4 * kTolerance<float>;
      const float largest = loops.variances(band.wide(), px, b);
      if (largest == 0 || largest < most * slack) return;
      most = std::max(most, largest);
      for (int i = 0; i < px.n; ++i) {
        if (b.variance[i] < most * slack) continue;
        const WindowSums w = band.window(x, i);
        if (busier(w, busiest)) busiest = w;
      }
    });
    const std::lock_guard lock(mutex);
    f.minimum = std::min(f.minimum, minimum);
    if (busier(busiest, f.busiest)) f.busiest = busiest;
  });
}

FormulaWeights make_weights(const Formula &f) {
  const double k = double(f.kn) / kKd, r = double(f.rn) / kRd;
  FormulaWeights w{k, k / r, -10 / std::log(2.0) / f.maximum, 0, static_cast<int>(f.maximum)};
  if (f.method == NickMethod::wolf) {
    const double most = std::sqrt(static_cast<double>(f.busiest.v())) / f.busiest.n;
    if (most == 0) w.k = 0;  // every window is constant: T = m
    w.slope = most > 0 ? k / most : 0;
    w.base = static_cast<int>(f.minimum);
  }
  return w;
}

/// The exact decision with a cache, because flat areas of an image repeat the same question.
template <typename Answer>
class Remembered {
 public:
  template <typename Ask>
  Answer operator()(std::int64_t p, const WindowSums &w, Ask ask) {
    if (p != p_ || w.sum != w_.sum || w.squares != w_.squares || w.n != w_.n) {
      answer_ = ask();
      p_ = p;
      w_ = w;
    }
    return answer_;
  }

 private:
  std::int64_t p_ = -1;
  WindowSums w_{};
  Answer answer_{};
};

template <typename Settle>
void for_unsure(const Block &b, int n, Settle settle) {
  for (int i = 0; i < n; ++i)
    if (b.code[i] & kUnsure) settle(i);
}

/// Returns the number of white pixels if `count` asks for it.
template <typename T, typename Out>
std::int64_t paint_band(Plane<const T> in, Plane<Out> out, const NickParams &p, const Formula &f,
                        int begin, int end, bool count) {
  const FormulaWeights weights = make_weights(f);
  const NickRows<T> &loops = rows<T>();
  const Out black = p.invert ? out.maximum : 0, white = p.invert ? 0 : out.maximum;
  Remembered<bool> is_above;
  std::int64_t whites = 0;
  Band<T> band(in, p);
  band.walk(begin, end, [&](int y, int x, const Pixels &px, Block &b) {
    if (loops.decide(f.method, band.wide(), weights, px, b))
      for_unsure(b, px.n, [&](int i) {
        const std::int64_t p2 = 2 * std::int64_t{b.value[i]};
        const WindowSums w = band.window(x, i);
        b.code[i] = is_above(p2, w, [&] { return above(p2, w, f); }) ? kWhite : 0;
      });
    rows<Out>().paint(b.code, px.n, black, white, out.row(y) + x);
    if (count) whites += loops.count_white(b.code, px.n);
  });
  return whites;
}

template <typename T>
void map_band(Plane<const T> in, Plane<T> out, const NickParams &p, const Formula &f, int begin,
              int end) {
  const FormulaWeights weights = make_weights(f);
  Remembered<std::uint32_t> threshold;
  Band<T> band(in, p);
  band.walk(begin, end, [&](int y, int x, const Pixels &px, Block &b) {
    if (rows<T>().levels(f.method, band.wide(), weights, px, b))
      for_unsure(b, px.n, [&](int i) {
        const WindowSums w = band.window(x, i);
        b.level[i] = threshold(0, w, [&] { return rounded_threshold(estimate(w, f), w, f); });
      });
    rows<T>().narrow(b.level, px.n, out.row(y) + x);
  });
}

template <typename T, typename Out>
void run_any(Cpu &cpu, Plane<const T> in, Plane<Out> out, const NickParams &p, NickReport *report) {
  check_call(p, in, out);
  const double size = static_cast<double>(in.width) * in.height;
  if (report) *report = {};
  const bool count = report && p.output == NickOutput::binary;
  // The single precision of moments() needs windows of at least two pixels.
  if (p.algorithm != NickAlgorithm::automatic || size == 1) {
    const std::int64_t zeros = run_serial(cpu, in, out, p);
    if (count) report->black_ratio = zeros / size;
    return;
  }
  Formula f = make_formula(p, in.maximum);
  if (p.method == NickMethod::wolf) find_extremes(cpu, in, p, f);
  std::atomic<std::int64_t> whites = 0;
  cpu.for_bands(in.height, min_rows(p), [&](int begin, int end) {
    if (p.output == NickOutput::binary)
      whites += paint_band(in, out, p, f, begin, end, count);
    else if constexpr (sizeof(T) == sizeof(Out))
      map_band(in, out, p, f, begin, end);
  });
  if (count) report->black_ratio = (p.invert ? double(whites) : size - double(whites)) / size;
}

}  // namespace

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *report) {
  run_any(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out, const NickParams &p,
         NickReport *report) {
  run_any(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *report) {
  run_any(cpu, in, out, p, report);
}

}  // namespace cudascan
