// SPDX-License-Identifier: LGPL-2.1-or-later
// Sums over the columns of the window march down the image, a row in and a row out; along a row the
// window is a running sum of them. Cost per pixel does not depend on the window. Pixels are decided
// in single precision (nick_rows.h); where its error bound leaves a doubt, by above().
#include "kernels/nick.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "kernels/nick_baseline.h"
#include "kernels/nick_rows.h"

namespace cudascan {
namespace {

using namespace nick;

/// Memory of a thread, kept between calls.
template <typename T>
struct Scratch {
  std::vector<std::uint32_t> columns[3], count;
  std::vector<std::uint64_t> squares;
  std::vector<float> inverse;
  std::vector<T> no_row;
  Block block;
};

/// Walks down a band of an image with the sums over the windows of its pixels.
template <typename T>
class Band {
 public:
  Band(Plane<const T> in, const NickParams &p, Moments moments)
      : in_(in),
        rx_(window_width(p) / 2),
        ry_(window_height(p) / 2),
        moments_(moments),
        wide_sum_(too_wide(std::numeric_limits<T>::max())),
        wide_square_(too_wide(std::uint64_t{std::numeric_limits<T>::max()} *
                              std::numeric_limits<T>::max())) {
    // Columns outside the image are empty; a few more are for loads past the end.
    const std::size_t margin = rx_ + 1, size = in.width + 2 * margin + kLanes;
    for (auto &c : scratch_.columns) c.assign(size, 0);
    if (sizeof(T) > 1) scratch_.squares.assign(in.width, 0);
    columns_ = {&scratch_.columns[0][margin], &scratch_.columns[1][margin],
                &scratch_.columns[2][margin], scratch_.squares.data()};
    scratch_.count.resize(in.width);
    scratch_.inverse.resize(in.width);
    scratch_.no_row.assign(in.width, 0);
  }

  /// Calls visit(y, x, n, block) for the blocks of the rows [begin, end). base: see Block.
  template <typename Visit>
  void walk(int begin, int end, int base, Visit visit) {
    for (int y = begin - ry_; y < begin + ry_; ++y) slide(row(y), scratch_.no_row.data());
    int rows_before = 0;
    for (int y = begin; y < end; ++y) {
      slide(row(y + ry_), y > begin ? row(y - ry_ - 1) : scratch_.no_row.data());
      const int rows = std::min(in_.height - 1, y + ry_) - std::max(0, y - ry_) + 1;
      if (rows != rows_before)
        rows_.count_pixels(in_.width, rx_, rows, scratch_.count.data(), scratch_.inverse.data());
      rows_before = rows;
      walk_row(y, base, visit);
    }
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
    if constexpr (sizeof(T) == 1)
      rows_.slide8(columns_, enters, leaves, in_.width);
    else
      rows_.slide16(columns_, enters, leaves, in_.width);
  }

  /// A running sum of columns over the window.
  struct Sum {
    const std::uint32_t *columns;
    int shift;
    std::uint32_t *window;
    std::uint32_t carry;
  };

  template <typename Visit>
  void walk_row(int y, int base, Visit visit) {
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
    if (moments_ != Moments::mean) {
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
      const Pixels<T> pixels{in_.row(y) + x, &scratch_.count[x], &scratch_.inverse[x], n};
      if constexpr (sizeof(T) == 1)
        rows_.moments8(moments_, wide_square_, pixels, base, b);
      else
        rows_.moments16(moments_, wide_sum_, pixels, base, b);
      visit(y, x, n, b);
    }
  }

 public:
  /// The window of pixel i of the block that starts at x.
  Window window(int x, int i) const {
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
  static Scratch<T> &scratch() {
    thread_local Scratch<T> s;
    return s;
  }

  const Rows &rows_ = rows();
  Scratch<T> &scratch_ = scratch();
  Plane<const T> in_;
  int rx_, ry_;
  Moments moments_;
  bool wide_sum_, wide_square_;
  Columns columns_;
};

Moments moments_of(NickMethod method) {
  switch (method) {
    case NickMethod::nick:
      return Moments::energy;
    case NickMethod::bradley:
      return Moments::mean;
    default:
      return Moments::variance;
  }
}

/// Rows that make a band worth its warm-up: summing a row up is cheap beside deciding it.
int min_rows(const NickParams &p) {
  return 16 + window_height(p) / 4;
}

/// Completes the formula of wolf.
template <typename T>
void find_extremes(Cpu &cpu, Plane<const T> in, const NickParams &p, Formula &f) {
  f.minimum = in.row(0)[0];
  f.busiest = {0, 0, 1};
  std::mutex mutex;
  cpu.for_bands(in.height, min_rows(p), [&](int begin, int end) {
    Band<T> band(in, p, Moments::variance);
    std::uint32_t minimum = std::numeric_limits<T>::max();
    Window busiest{0, 0, 1};
    float most = 0;
    band.walk(begin, end, 0, [&](int y, int x, int n, const Block &b) {
      if constexpr (sizeof(T) == 1)
        minimum = std::min(minimum, rows().smallest8(in.row(y) + x, n));
      else
        minimum = std::min(minimum, rows().smallest16(in.row(y) + x, n));
      const float largest = rows().largest(b.spread, n);
      // Both are off by 2^-19 of themselves at most.
      if (largest == 0 || largest < most * (1 - 0x1p-17f)) return;
      const float candidate = std::max(most, largest) * (1 - 0x1p-17f);
      for (int i = 0; i < n; ++i)
        if (b.spread[i] >= candidate) {
          const Window w = band.window(x, i);
          if (busier(w, busiest)) busiest = w;
        }
      most = std::max(most, largest);
    });
    const std::lock_guard lock(mutex);
    f.minimum = std::min(f.minimum, minimum);
    if (busier(busiest, f.busiest)) f.busiest = busiest;
  });
}

Weights make_weights(const Formula &f) {
  const double k = double(f.kn) / kKd, r = double(f.rn) / kRd;
  Weights w{};
  w.k = static_cast<float>(k);
  w.slope = static_cast<float>(k / r);
  w.boost = static_cast<float>(-10 / std::log(2.0) / f.maximum);
  w.maximum = static_cast<float>(f.maximum);
  if (f.method == NickMethod::wolf) {
    const double most = std::sqrt(static_cast<double>(f.busiest.v())) / f.busiest.n;
    w.slope = most > 0 ? static_cast<float>(k / most) : 0;
    if (most == 0) w.k = 0;
  }
  return w;
}

/// The exact decision, remembered: flat areas of an image ask the same question again and again.
template <typename Answer>
class Remembered {
 public:
  template <typename Ask>
  Answer operator()(std::int64_t p, const Window &w, Ask ask) {
    if (p != p_ || w.sum != w_.sum || w.squares != w_.squares || w.n != w_.n) {
      answer_ = ask();
      p_ = p;
      w_ = w;
    }
    return answer_;
  }

 private:
  std::int64_t p_ = -1;
  Window w_{};
  Answer answer_{};
};

template <typename Settle>
void for_unsure(const Block &b, int n, Settle settle) {
  for (int i = 0; i < n; ++i)
    if (b.code[i] & kUnsure) settle(i);
}

template <typename T, typename Out>
void paint_band(Plane<const T> in, Plane<Out> out, const NickParams &p, const Formula &f, int begin,
                int end, std::int64_t *whites) {
  const Weights weights = make_weights(f);
  const Rows &loops = rows();
  const int base = f.method == NickMethod::wolf ? f.minimum : 0;
  const Out black = p.invert ? out.maximum : 0, white = p.invert ? 0 : out.maximum;
  Band<T> band(in, p, moments_of(p.method));
  Remembered<bool> is_above;
  Remembered<std::uint32_t> threshold;
  band.walk(begin, end, base, [&](int y, int x, int n, Block &b) {
    Out *to = out.row(y) + x;
    if (p.output == NickOutput::threshold) {
      if (loops.levels(f.method, weights, base, n, b))
        for_unsure(b, n, [&](int i) {
          const Window w = band.window(x, i);
          b.level[i] = threshold(0, w, [&] { return rounded_threshold(estimate(w, f), w, f); });
        });
      std::copy_n(b.level, n, to);
      return;
    }
    if (loops.decide(f.method, weights, n, b))
      for_unsure(b, n, [&](int i) {
        const std::int64_t p2 = 2 * std::int64_t{in.row(y)[x + i]};
        const Window w = band.window(x, i);
        b.code[i] = is_above(p2, w, [&] { return above(p2, w, f); }) ? kWhite : 0;
      });
    if constexpr (sizeof(Out) == 1)
      loops.paint8(b.code, n, black, white, to);
    else
      loops.paint16(b.code, n, black, white, to);
    if (whites) *whites += loops.count_white(b.code, n);
  });
}

template <typename T, typename Out>
void run_any(Cpu &cpu, Plane<const T> in, Plane<Out> out, const NickParams &p, NickReport *report) {
  check_call(p, in.width, in.height, out.width, out.height, sizeof(T) == sizeof(Out));
  const double size = static_cast<double>(in.width) * in.height;
  if (report) *report = {};
  const bool count = report && p.output == NickOutput::binary;
  // The single precision of moments() wants windows of two pixels or more.
  if (p.algorithm != NickAlgorithm::automatic || size == 1) {
    const std::int64_t zeros = run_serial(cpu, in, out, p);
    if (count) report->black_ratio = zeros / size;
    return;
  }
  Formula f = make_formula(p, in.maximum);
  if (p.method == NickMethod::wolf) find_extremes(cpu, in, p, f);
  std::atomic<std::int64_t> whites = 0;
  cpu.for_bands(in.height, min_rows(p), [&](int begin, int end) {
    std::int64_t n = 0;
    paint_band(in, out, p, f, begin, end, count ? &n : nullptr);
    whites += n;
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
