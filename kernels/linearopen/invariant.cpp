// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings with the same segment at every pixel, by parts that cover it (cover.h).
#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/linearopen/cover.h"
#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {
namespace {

/// Rows with neutral samples around them.
template <typename T>
struct Padded {
  Plane<T> memory;
  int margin, above;  ///< columns on each side, rows before the first

  T *row(int y) const { return memory.row(y + above) + margin; }
  bool has(int y) const { return y >= -above && y < memory.height - above; }
};

/// Minima or maxima over a segment around every pixel.
template <bool kLargest, typename T>
class Extrema {
 public:
  /// @param levels  samples, and memory for the extrema of longer parts
  Extrema(Cpu &cpu, const SegmentCover &cover, const std::vector<Padded<T>> &levels)
      : cpu_(cpu), cover_(cover), levels_(levels), none_(levels[0].memory.width, kNone) {}

  /// Calls done(y, x, n) when n columns from x on of a row are in row(y).
  template <typename Row, typename Done>
  void operator()(int width, int height, const Row &row, const Done &done) {
    for (std::size_t level = 1; level < levels_.size(); ++level) fill(level, height);
    constexpr int kColumns = 4096 / sizeof(T),
                  kMinRows = 16;  // so that the rows of a segment stay in the cache
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      std::vector<const T *> places;
      for (int x = 0; x < width; x += kColumns) {
        const int n = std::min(kColumns, width - x);
        for (int y = begin; y < end; ++y) {
          places.clear();
          for (std::size_t level = 0; level < levels_.size(); ++level)
            for (const SegmentPlace &place : cover_.levels[level].places)
              places.push_back(source(levels_[level], y + place.y) + x + place.x);
          extrema(places, n, row(y) + x);
          done(y, x, n);
        }
      }
    });
  }

 private:
  static constexpr T kNone = kLargest ? T(0) : static_cast<T>(~T{0});

  const T *source(const Padded<T> &from, int y) const {
    return from.has(y) ? from.row(y) : none_.data() + from.margin;
  }
  static void extrema(const std::vector<const T *> &places, int n, T *out) {
    (kLargest ? rows<T>().largest : rows<T>().smallest)(places.data(),
                                                        static_cast<int>(places.size()), n, out);
  }

  /// The extrema of the parts that begin at each pixel, within the rows with margins.
  void fill(std::size_t level, int height) {
    constexpr int kMinRows = 64;
    const SegmentLevel &part = cover_.levels[level];
    const Padded<T> &from = levels_[level - 1], &to = levels_[level];
    // Other parts are outside the plane, or reach further than any segment.
    const int margin = to.margin, width = to.memory.width - 2 * margin;
    const int first = part.x > 0 ? -std::min(part.x, margin) : std::max(-part.x - margin, 0);
    const int end_x =
        width - (part.x > 0 ? std::max(part.x - margin, 0) : std::max(part.x, -margin));
    cpu_.for_bands(height + to.above, kMinRows, [&](int begin, int end) {
      std::vector<const T *> places(part.made_of.size());
      for (int y = begin - to.above; y < end - to.above; ++y) {
        std::transform(part.made_of.begin(), part.made_of.end(), places.begin(),
                       [&](const SegmentPlace &p) { return source(from, y + p.y) + first + p.x; });
        extrema(places, end_x - first, to.row(y) + first);
        std::fill_n(to.row(y) - margin, margin + first, kNone);
        std::fill_n(to.row(y) + end_x, width + margin - end_x, kNone);
      }
    });
  }

  Cpu &cpu_;
  const SegmentCover &cover_;
  const std::vector<Padded<T>> &levels_;
  const std::vector<T> none_;
};

/// Fills the margins left and right of the rows.
template <typename T>
void fill_margins(const Padded<T> &plane, T value, int y) {
  const int width = plane.memory.width - 2 * plane.margin;
  std::fill_n(plane.row(y) - plane.margin, plane.margin, value);
  std::fill_n(plane.row(y) + width, plane.margin, value);
}

/// Whether strips are faster than whole planes.
template <typename T>
bool uses_strips(const lines::Direction &direction, int length) {
  constexpr int kLong = sizeof(T) == 1 ? 512 : 64;  // planes of bytes stay in the cache
  return direction.steep && length >= kLong;
}

}  // namespace

template <typename T>
std::int64_t open_invariant(Cpu &cpu, Plane<const T> in, T flip, const lines::Direction &direction,
                            int length, const Sink<T> &sink, PlaneScratch scratch) {
  const int width = in.width, height = in.height;
  const auto cover = SegmentCovers::of(cpu).find(direction, length, width, height);
  if (uses_strips<T>(direction, length))
    return open_in_strips(cpu, in, flip, direction, *cover, sink);
  const int margin = cover->reach;
  const auto take = [&](int above) {
    return Padded<T>{scratch.take<T>(width + 2 * margin, height + above), margin, above};
  };
  std::vector<Padded<T>> levels;
  for (const SegmentLevel &level : cover->levels) levels.push_back(take(level.y));
  const Padded<T> samples = levels[0], eroded = take(0);
  cpu.for_bands(height, 64, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      rows<T>().order(in.row(y), width, flip, samples.row(y));
      fill_margins(samples, static_cast<T>(~T{0}), y);
      fill_margins(eroded, T{0}, y);
    }
  });
  Extrema<false, T>(cpu, *cover, levels)(
      width, height, [&](int y) { return eroded.row(y); }, [](int, int, int) {});
  levels[0] = eroded;
  std::atomic<std::int64_t> sum = 0;
  Extrema<true, T>(cpu, cover->turned(), levels)(
      width, height, [&](int) { return thread_memory<T>(width); },
      [&](int y, int x, int n) {
        const auto part = give(sink, flip, thread_memory<T>(width) + x, n, x, y);
        if (sink.sum) sum += part;
      });
  return sum;
}

template <typename T>
std::size_t invariant_scratch(Cpu &cpu, const lines::Direction &direction, int length, int width,
                              int height) {
  if (uses_strips<T>(direction, length)) return 0;
  const auto cover = SegmentCovers::of(cpu).find(direction, length, width, height);
  const int padded = width + 2 * cover->reach;
  std::size_t bytes = PlaneScratch::bytes_of<T>(padded, height);
  for (const SegmentLevel &level : cover->levels)
    bytes += PlaneScratch::bytes_of<T>(padded, height + level.y);
  return bytes;
}

#define INSTANTIATE(T)                                                                          \
  template std::int64_t open_invariant(Cpu &, Plane<const T>, T, const lines::Direction &, int, \
                                       const Sink<T> &, PlaneScratch);                          \
  template std::size_t invariant_scratch<T>(Cpu &, const lines::Direction &, int, int, int)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
