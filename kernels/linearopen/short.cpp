// SPDX-License-Identifier: LGPL-2.1-or-later
// Short segments that are the same at every pixel are compared sample by sample, in all directions
// at once. The samples and minima for a row of the result stay in the fastest cache.
#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {
namespace {

struct Offset {
  int x, y;
};

/// The rows around the current one; a new row replaces one that is no longer needed.
template <typename T>
class Ring {
 public:
  /// @param memory  advanced by rows * stride samples
  Ring(int rows, std::size_t stride, T *&memory) : rows_(rows), stride_(stride), memory_(memory) {
    memory += rows * stride;
  }
  T *row(int y) const {
    const int i = y % rows_;
    return memory_ + (i < 0 ? i + rows_ : i) * stride_;
  }

 private:
  int rows_;
  std::size_t stride_;
  T *memory_;
};

/// Data shared by all bands.
template <typename T>
struct Task {
  Plane<const T> in;
  T flip;
  std::vector<std::vector<Offset>> segments;  ///< pixels of one in each direction
  int reach;                                  ///< of segments, in rows and columns
  bool last;
  Plane<T> out;
};

/// A band: some columns and rows of a plane.
template <typename T>
class ColumnBand {
 public:
  static constexpr int kMostColumns = 2048 / sizeof(T);

  static std::size_t stride(const Task<T> &task) {
    constexpr int kLine = 64 / sizeof(T);
    return (kMostColumns + 4 * task.reach + kLine - 1) / kLine * kLine;
  }
  /// Samples of memory.
  static std::size_t memory(const Task<T> &task) {
    const std::size_t n = task.segments.size();
    return stride(task) * ((2 * task.reach + 1) * (n + 1) + n);
  }

  ColumnBand(const Task<T> &task, int x, T *memory)
      : task_(task),
        x_(x),
        n_(std::min(kMostColumns, task.in.width - x)),
        rows_(2 * task.reach + 1),
        samples_(rows_, stride(task), memory),
        openings_(static_cast<int>(task.segments.size()), stride(task), memory) {
    for (std::size_t i = 0; i < task.segments.size(); ++i)
      minima_.emplace_back(rows_, stride(task), memory);
  }

  /// @param sums  of the openings of each direction, added to unless nullptr
  void open(int begin, int end, std::uint64_t *sums) {
    const int reach = task_.reach;
    for (int y = begin - 2 * reach; y < end + 2 * reach; ++y) {
      read(y);
      if (y - reach >= begin - reach) erode(y - reach);
      if (y - 2 * reach >= begin) write(y - 2 * reach, sums);
    }
  }

 private:
  /// Ordered integers of row y, with 2 * reach more columns on each side; samples outside are
  /// neutral.
  void read(int y) {
    constexpr T kNone = static_cast<T>(~T{0});
    const int x = x_ - 2 * task_.reach, n = n_ + 4 * task_.reach;
    T *const row = samples_.row(y);
    if (y < 0 || y >= task_.in.height) {
      std::fill_n(row, n, kNone);
      return;
    }
    const int begin = std::max(0, -x), end = std::min(n, task_.in.width - x);
    std::fill_n(row, begin, kNone);
    rows<T>().order(task_.in.row(y) + x + begin, end - begin, task_.flip, row + begin);
    std::fill(row + end, row + n, kNone);
  }

  /// The minima of segments around the pixels of row y, with reach more columns on each side. Only
  /// centres in the plane count.
  void erode(int y) {
    const int reach = task_.reach, x = x_ - reach, n = n_ + 2 * reach;
    const int begin = std::max(0, -x), end = std::min(n, task_.in.width - x);
    for (std::size_t i = 0; i < minima_.size(); ++i) {
      T *const row = minima_[i].row(y);
      if (y < 0 || y >= task_.in.height) {
        std::fill_n(row, n, T{0});
        continue;
      }
      places_.clear();
      for (const Offset &o : task_.segments[i])
        places_.push_back(samples_.row(y + o.y) + reach + o.x);
      rows<T>().smallest(places_.data(), static_cast<int>(places_.size()), n, row);
      std::fill_n(row, begin, T{0});
      std::fill(row + end, row + n, T{0});
    }
  }

  /// The largest minimum of the segments that contain a pixel.
  void write(int y, std::uint64_t *sums) {
    T *const out = task_.out.row(y) + x_;
    places_.clear();
    for (std::size_t i = 0; i < minima_.size(); ++i) {
      for (const Offset &o : task_.segments[i])
        places_.push_back(minima_[i].row(y - o.y) + task_.reach - o.x);
      if (!sums) continue;
      T *const opening = openings_.row(static_cast<int>(i));
      const auto n = static_cast<int>(task_.segments[i].size());
      rows<T>().largest(places_.data() + places_.size() - n, n, n_, opening);
      sums[i] += rows<T>().sum(opening, n_);
    }
    rows<T>().largest(places_.data(), static_cast<int>(places_.size()), n_, out);
    if (task_.last) rows<T>().restore(out, n_, task_.flip);
  }

  const Task<T> &task_;
  const int x_, n_, rows_;
  Ring<T> samples_, openings_;
  std::vector<Ring<T>> minima_;
  std::vector<const T *> places_;
};

std::vector<Offset> pixels_of(const lines::Direction &direction, int length) {
  std::vector<Offset> pixels;
  for (int t = -(length / 2); t < length - length / 2; ++t) {
    const int shift = direction.shift(t);
    pixels.push_back(direction.steep ? Offset{shift, t} : Offset{t, shift});
  }
  return pixels;
}

}  // namespace

template <typename T>
void open_short(Cpu &cpu, Plane<const T> in, T flip,
                const std::vector<lines::Direction> &directions, int length, bool last,
                Plane<T> out, std::vector<std::int64_t> *sums) {
  constexpr int kMinRows = 64;
  Task<T> task{in, flip, {}, length / 2, last, out};
  for (const auto &direction : directions) task.segments.push_back(pixels_of(direction, length));
  std::vector<std::atomic<std::uint64_t>> totals(directions.size());
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    T *const memory = thread_memory<T>(ColumnBand<T>::memory(task));
    std::vector<std::uint64_t> of_band(directions.size());
    for (int x = 0; x < in.width; x += ColumnBand<T>::kMostColumns)
      ColumnBand<T>(task, x, memory).open(begin, end, sums ? of_band.data() : nullptr);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += of_band[i];
  });
  if (sums) sums->assign(totals.begin(), totals.end());
}

#define INSTANTIATE(T)                                                                           \
  template void open_short(Cpu &, Plane<const T>, T, const std::vector<lines::Direction> &, int, \
                           bool, Plane<T>, std::vector<std::int64_t> *)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
