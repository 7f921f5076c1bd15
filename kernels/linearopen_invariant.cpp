// SPDX-License-Identifier: LGPL-2.1-or-later
// A segment consists of runs, in which the rows have the same shift. So its minimum is that of as many
// minima as it has runs; those of a run are found by doubling: two of length n make one of up to 2 n.
#include <algorithm>
#include <vector>

#include "kernels/linearopen_cpu.h"
#include "kernels/linearopen_rows.h"

namespace cudascan::linearopen {
namespace {

/// Consecutive rows of a segment, relative to its centre, and the columns they are in.
struct Run {
  int row, rows, column;
};

std::vector<Run> runs_of(const lines::Direction &direction, int length) {
  std::vector<Run> runs;
  for (int t = -(length / 2); t <= (length - 1) / 2; ++t) {
    const int column = direction.shift(t);
    if (runs.empty() || runs.back().column != column) runs.push_back({t, 0, column});
    ++runs.back().rows;
  }
  return runs;
}

/// Turned around the centre.
std::vector<Run> reflected(std::vector<Run> runs) {
  for (Run &run : runs) run = {1 - run.row - run.rows, run.rows, -run.column};
  return runs;
}

int most_rows(const std::vector<Run> &runs) {
  int rows = 0;
  for (const Run &run : runs) rows = std::max(rows, run.rows);
  return rows;
}

/// Minima or maxima over a set of runs around every pixel. What is outside does not count.
template <bool kLargest, typename T>
class Extrema {
 public:
  Extrema(Cpu &cpu, Plane<const T> in, T flip, const std::vector<Run> &runs, Plane<T> memory)
      : cpu_(cpu), in_(in), flip_(flip), runs_(runs), memory_(memory) {}

  void operator()(Plane<T> out) {
    for_rows(0, out.height, [&](int y) { std::fill_n(out.row(y), out.width, kNeutral); });
    std::vector<int> lengths;
    for (const Run &run : runs_) lengths.push_back(run.rows);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    for (const int rows : lengths) {
      fill_memory(rows);
      for_rows(0, out.height, [&](int y) { combine(rows, y, out.row(y)); });
    }
  }

 private:
  static constexpr T kNeutral = kLargest ? T(0) : static_cast<T>(~T{0});
  static constexpr int kMinRows = 16, kMinColumns = 256;  // fewer are not worth a thread

  template <typename Row>
  void for_rows(int begin, int end, const Row &row) {
    cpu_.for_bands(end - begin, kMinRows, [&](int first, int last) {
      for (int y = begin + first; y < begin + last; ++y) row(y);
    });
  }

  static void pick(const T *source, int n, T *target) {
    if (kLargest)
      rows<T>().accumulate(source, n, target, nullptr, 0);
    else
      rows<T>().lower(source, n, target);
  }

  /// Minima are of samples, maxima of minima.
  void take(const T *source, int n, T *target) const {
    if (kLargest)
      std::copy_n(source, n, target);
    else
      rows<T>().order(source, n, flip_, target);
  }

  /// Row i: the extrema of input rows i - (rows - 1) to i.
  void fill_memory(int length) {
    const int margin = length - 1, height = in_.height + margin;
    cpu_.for_bands(in_.width, kMinColumns, [&](int begin, int end) {
      const int n = end - begin;
      for (int i = 0; i < margin; ++i) std::fill_n(memory_.row(i) + begin, n, kNeutral);
      for (int i = margin; i < height; ++i)
        take(in_.row(i - margin) + begin, n, memory_.row(i) + begin);
      // Each row is taken by the one above it before it is replaced.
      for (int done = 1; done < length;) {
        const int step = std::min(done, length - done);
        for (int i = 0; i + step < height; ++i)
          pick(memory_.row(i + step) + begin, n, memory_.row(i) + begin);
        done += step;
      }
    });
  }

  void combine(int length, int y, T *target) const {
    const int width = in_.width;
    for (const Run &run : runs_) {
      const int i = y + run.row + length - 1;
      if (run.rows != length || i < 0 || i >= in_.height + length - 1) continue;
      const int begin = std::max(0, -run.column), end = std::min(width, width - run.column);
      if (begin < end) pick(memory_.row(i) + begin + run.column, end - begin, target + begin);
    }
  }

  Cpu &cpu_;
  const Plane<const T> in_;
  const T flip_;
  const std::vector<Run> &runs_;
  const Plane<T> memory_;
};

}  // namespace

template <typename T>
void open_invariant(Cpu &cpu, Plane<const T> in, T flip, const lines::Direction &direction,
                    int length, Plane<T> out, Scratch scratch) {
  const std::vector<Run> runs = runs_of(direction, length), around = reflected(runs);
  const Plane<T> eroded = scratch.take<T>(in.width, in.height);
  const Plane<T> memory = scratch.take<T>(in.width, in.height + most_rows(runs) - 1);
  Extrema<false, T>(cpu, in, flip, runs, memory)(eroded);
  Extrema<true, T>(cpu, eroded, 0, around, memory)(out);
}

template <typename T>
std::size_t invariant_scratch(const lines::Direction &direction, int length, int width,
                              int height) {
  return Scratch::bytes_of<T>(width, height) +
         Scratch::bytes_of<T>(width, height + most_rows(runs_of(direction, length)) - 1);
}

#define INSTANTIATE(T)                                                                            \
  template void open_invariant(Cpu &, Plane<const T>, T, const lines::Direction &, int, Plane<T>, \
                               Scratch);                                                          \
  template std::size_t invariant_scratch<T>(const lines::Direction &, int, int, int)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
