// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/lines.h"

#include <algorithm>
#include <cstring>

namespace cudascan::swo {
namespace {

constexpr int kMostSamples = 255;

/// The samples of a line in the window, sorted in ascending order.
template <typename T>
class SortedLine {
 public:
  T median() const { return samples_[n_ / 2]; }

  /// Starts with the pixels `first` to `last` steps away from (x, y) that are inside the image.
  void fill(const Strided<const T> &in, int x, int y, int step_x, int step_y, int reach) {
    n_ = 0;
    for (int i = -reach; i <= reach; ++i)
      if (const T *sample = find(in, x + i * step_x, y + i * step_y)) samples_[n_++] = *sample;
    std::sort(samples_, samples_ + n_);
  }

  /// Moves one step, to (x, y).
  void advance(const Strided<const T> &in, int x, int y, int step_x, int step_y, int reach) {
    const T *const entering = find(in, x + reach * step_x, y + reach * step_y);
    const T *const leaving = find(in, x - (reach + 1) * step_x, y - (reach + 1) * step_y);
    if (entering && leaving) {
      replace(*leaving, *entering);
    } else if (entering) {
      T *const at = position(*entering);
      std::memmove(at + 1, at, (samples_ + n_++ - at) * sizeof(T));
      *at = *entering;
    } else if (leaving) {
      T *const at = position(*leaving);
      std::memmove(at, at + 1, (samples_ + --n_ - at) * sizeof(T));
    }
  }

 private:
  static const T *find(const Strided<const T> &in, int x, int y) {
    const bool is_inside = x >= 0 && x < in.width && y >= 0 && y < in.height;
    return is_inside ? in.row(y) + x * in.dx : nullptr;
  }
  T *position(T sample) { return std::lower_bound(samples_, samples_ + n_, sample); }
  void replace(T old, T sample) {
    if (old == sample) return;
    T *const from = position(old), *const to = position(sample);
    if (from < to) {
      std::memmove(from, from + 1, (to - 1 - from) * sizeof(T));
      to[-1] = sample;
    } else {
      std::memmove(to + 1, to, (from - to) * sizeof(T));
      *to = sample;
    }
  }

  int n_ = 0;
  T samples_[kMostSamples];
};

}  // namespace

template <typename T>
void ask_lines(const Area<T> &area, int rx, int ry) {
  const int width = area.x1 - area.x0, reach = std::min(rx, ry);
  if (width <= 0 || area.y0 >= area.y1) return;
  // A line that leaves the area on one side is replaced by one that enters on the other.
  std::vector<SortedLine<T>> columns(width), falling(width), rising(width);
  SortedLine<T> row;
  for (int y = area.y0; y < area.y1; ++y) {
    const T *const middle = area.in.row(y + area.top);
    T *const out = area.out.row(y);
    const int turn = (y - area.y0) % width;
    for (int i = 0; i < width; ++i) {
      const int x = area.x0 + i;
      const auto median = [&](SortedLine<T> &line, bool is_new, int step_x, int step_y, int reach) {
        if (is_new)
          line.fill(area.in, x + area.left, y + area.top, step_x, step_y, reach);
        else
          line.advance(area.in, x + area.left, y + area.top, step_x, step_y, reach);
        return line.median();
      };
      const bool is_top = y == area.y0, is_first = i == 0, is_last = i == width - 1;
      const int fall = i >= turn ? i - turn : i - turn + width;
      const int rise = i + turn < width ? i + turn : i + turn - width;
      const T medians[] = {median(row, is_first, 1, 0, rx), median(columns[i], is_top, 0, 1, ry),
                           median(falling[fall], is_top || is_first, 1, 1, reach),
                           median(rising[rise], is_top || is_last, -1, 1, reach)};
      const auto [low, high] = std::minmax_element(std::begin(medians), std::end(medians));
      out[x * area.out.dx] = std::clamp(middle[(x + area.left) * area.in.dx], *low, *high);
    }
  }
}

template void ask_lines(const Area<std::uint8_t> &, int rx, int ry);
template void ask_lines(const Area<std::uint16_t> &, int rx, int ry);

}  // namespace cudascan::swo
