// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings along the lines that divide a plane, as strips of lines or tiles of the plane, with the
// loops of rows.h.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {
namespace {

using lines::Direction;

constexpr int kMinRows = 64, kMinStrips = 4;  // fewer do not justify a thread
constexpr int kMostSkewed = 160;              // longer segments are opened by transposing

template <typename T>
std::int64_t open_strips(Cpu &cpu, Plane<const T> source, T flip, const Direction &seen, int length,
                         const Sink<T> &sink) {
  const auto partition = lines::Partition::of(seen, source.width, source.height);
  const auto open_strip = seen.steep ? rows<T>().open_steep : rows<T>().open_flat;
  std::vector<int> shifts(partition.steps);
  for (int y = 0; y < partition.steps; ++y) shifts[y] = seen.shift(y);
  const int n_strips = (partition.count + kLanes<T> - 1) / kLanes<T>;
  std::atomic<std::uint64_t> sum = 0;
  cpu.for_bands(n_strips, kMinStrips, [&](int first, int last) {
    T *const memory = thread_memory<T>(strip_scratch<T>(std::min(length, 2 * partition.steps - 1)));
    std::uint64_t sum_of_band = 0;
    for (int i = first; i < last; ++i) {
      const int line = partition.first + i * kLanes<T>;
      // The strip is first to the right of the image, then inside, then to the left, or in the
      // opposite order.
      const auto inside = [&](int shift) {
        return line + shift < partition.across && line + shift + kLanes<T> > 0;
      };
      const auto begin = std::find_if(shifts.begin(), shifts.end(), inside);
      const auto end = std::find_if_not(begin, shifts.end(), inside);
      if (begin == end) continue;
      const auto whole = [&](int shift) {
        return line + shift >= 0 && line + shift + kLanes<T> <= partition.across;
      };
      const auto whole_begin = std::find_if(begin, end, whole);
      const auto whole_end = std::find_if_not(whole_begin, end, whole);
      const auto row = [&](auto place) { return static_cast<int>(place - shifts.begin()); };
      const LaneStrip strip{shifts.data(),    line,           row(begin), row(end),
                            row(whole_begin), row(whole_end), length};
      sum_of_band += open_strip(source, flip, strip, sink, memory);
    }
    sum += sum_of_band;
  });
  return static_cast<std::int64_t>(sum.load());
}

/// The same along flat lines of moderate length, without transposing.
template <typename T>
std::int64_t open_tiles(Cpu &cpu, Plane<const T> source, T flip, Direction direction, int length,
                        const Sink<T> &sink) {
  const int width = source.width, height = source.height;
  SkewedTile tile{};
  tile.upwards = !direction.rising;
  direction.rising = true;
  tile.slope = direction.slope;
  tile.fraction = Direction::kFraction;
  tile.length = length;
  std::vector<int> shifts(width + 3 * length + 1);
  for (int i = 0; i < static_cast<int>(shifts.size()); ++i) shifts[i] = direction.shift(i - length);
  tile.shift = shifts.data() + length;
  constexpr int kMostColumns = 4096 / sizeof(T);
  const int n_tiles = (width + kMostColumns - 1) / kMostColumns,
            columns = ((width + n_tiles - 1) / n_tiles + kLine<T> - 1) / kLine<T> * kLine<T>;
  const double slope = std::ldexp(direction.slope, -Direction::kFraction);
  // A band also needs rows around it.
  const int min_rows = kMinRows + 4 * static_cast<int>(length * slope);
  std::atomic<std::uint64_t> sum = 0;
  cpu.for_bands(height, min_rows, [&](int begin, int end) {
    T *const memory = thread_memory<T>(tile_scratch<T>(columns, length, slope));
    std::uint64_t sum_of_band = 0;
    SkewedTile part = tile;
    for (part.x0 = 0; part.x0 < width; part.x0 += columns) {
      part.x1 = std::min(width, part.x0 + columns);
      part.y0 = begin;
      part.y1 = end;
      sum_of_band += rows<T>().open_skewed(source, flip, part, sink, memory);
    }
    sum += sum_of_band;
  });
  return static_cast<std::int64_t>(sum.load());
}

}  // namespace

template <typename T>
std::int64_t open_partition(Cpu &cpu, Plane<const T> source, T flip, const Direction &seen,
                            int length, const Sink<T> &sink) {
  const bool moderate = length > 1 && length <= kMostSkewed;
  if (!seen.steep && moderate) return open_tiles(cpu, source, flip, seen, length, sink);
  return open_strips(cpu, source, flip, seen, length, sink);
}

template std::int64_t open_partition(Cpu &, Plane<const std::uint8_t>, std::uint8_t,
                                     const Direction &, int, const Sink<std::uint8_t> &);
template std::int64_t open_partition(Cpu &, Plane<const std::uint16_t>, std::uint16_t,
                                     const Direction &, int, const Sink<std::uint16_t> &);
template std::int64_t open_partition(Cpu &, Plane<const std::uint32_t>, std::uint32_t,
                                     const Direction &, int, const Sink<std::uint32_t> &);

}  // namespace cudascan::linearopen
