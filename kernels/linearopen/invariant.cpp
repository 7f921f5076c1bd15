// SPDX-License-Identifier: LGPL-2.1-or-later
// The minimum over a segment needs as many samples as the segment has pixels. But a segment nearly
// repeats itself: after most of its pixels, others follow at equal distances. So minima of such
// parts are computed first, and a few overlapping parts cover a segment.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {
namespace {

/// A position relative to a pixel: a sample, or the extremum of a part that begins there.
struct SegmentPlace {
  int x, y;
  bool part;  ///< a part begins here
};

/// The positions that cover a segment.
struct Cover {
  std::vector<SegmentPlace> places;
  int part = 1;                ///< pixels of a part
  int step_x = 0, step_y = 0;  ///< from one pixel to the next; not upwards
  int reach = 0;  ///< columns needed on each side of the pixel, less than the plane's width

  /// Number of rows before the first one in which parts begin.
  int above() const { return (part - 1) * step_y; }
  /// About how many samples and extrema are read for a pixel.
  std::size_t cost() const { return places.size() + (part > 1 ? part + 4 : 0); }
};

/// The pixels of a segment, relative to its centre.
/// @param turned  rotated by 180 degrees
std::vector<SegmentPlace> pixels_of(const lines::Direction &direction, int length, int width,
                                    int height, bool turned) {
  std::vector<SegmentPlace> pixels;
  for (int i = 0; i < length; ++i) {
    const int t = i - length / 2, along = turned ? -t : t,
              across = turned ? -direction.shift(t) : direction.shift(t);
    const SegmentPlace pixel =
        direction.steep ? SegmentPlace{across, along, false} : SegmentPlace{along, across, false};
    // Pixels further away than the size of the plane are always outside.
    if (std::abs(pixel.x) < width && std::abs(pixel.y) < height) pixels.push_back(pixel);
  }
  std::sort(pixels.begin(), pixels.end(), [](const SegmentPlace &a, const SegmentPlace &b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  return pixels;
}

/// @param pixels    from the top to the bottom
/// @param distance  from a pixel of a part to the next, in the order of pixels
Cover cover_with(const std::vector<SegmentPlace> &pixels, int part, int distance) {
  const int n = static_cast<int>(pixels.size());
  Cover cover;
  cover.part = part;
  // Taken from the middle of the segment.
  const int middle = distance == 0 ? 0 : (n - distance) / 2;
  const SegmentPlace &from = pixels[middle], &to = pixels[middle + distance];
  cover.step_x = to.x - from.x;
  cover.step_y = to.y - from.y;
  // The number of pixels of a part from each pixel on.
  std::vector<int> follow(n, 1);
  for (int i = n - 1 - distance; part > 1 && i >= 0; --i)
    if (pixels[i + distance].x - pixels[i].x == cover.step_x &&
        pixels[i + distance].y - pixels[i].y == cover.step_y)
      follow[i] = follow[i + distance] + 1;
  std::vector<bool> covered(n);
  for (int i = 0; i < n; ++i) {
    if (covered[i]) continue;
    // Earlier pixels are covered already, so a part may begin there if too few pixels follow.
    int begin = i;
    while (follow[begin] < part && begin >= distance && follow[begin - distance] > follow[begin])
      begin -= distance;
    const bool whole = part > 1 && follow[begin] >= part;
    if (!whole) begin = i;
    cover.places.push_back({pixels[begin].x, pixels[begin].y, whole});
    for (int k = 0; k < (whole ? part : 1); ++k) covered[begin + k * distance] = true;
  }
  for (const SegmentPlace &pixel : pixels) cover.reach = std::max(cover.reach, std::abs(pixel.x));
  return cover;
}

/// The fastest cover.
Cover cover_of(const lines::Direction &direction, int length, int width, int height, bool turned) {
  constexpr int kMostDistance = 32;
  const std::vector<SegmentPlace> pixels = pixels_of(direction, length, width, height, turned);
  const int n = static_cast<int>(pixels.size());
  Cover best = cover_with(pixels, 1, 0);
  for (const int part : {2, 3, 4, 6, 8, 12, 16, 24, 32})
    for (int distance = 1; distance <= kMostDistance && distance * (part - 1) < n; ++distance) {
      Cover cover = cover_with(pixels, part, distance);
      if (cover.cost() < best.cost()) best = std::move(cover);
    }
  return best;
}

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
  /// @param parts  memory for the extrema of parts
  Extrema(Cpu &cpu, const Cover &cover, const Padded<T> &samples, const Padded<T> &parts)
      : cpu_(cpu),
        cover_(cover),
        samples_(samples),
        parts_(parts),
        none_(samples.memory.width, kLargest ? T(0) : static_cast<T>(~T{0})) {}

  /// Calls give(y, x, n) when n columns from x on of a row are in row(y).
  template <typename Row>
  void operator()(int width, int height, const Row &row) {
    if (cover_.part > 1) fill_parts(height);
    constexpr int kColumns = 4096 / sizeof(T),
                  kMinRows = 16;  // so that the rows of a segment stay in the cache
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      std::vector<const T *> places(cover_.places.size());
      for (int x = 0; x < width; x += kColumns) {
        const int n = std::min(kColumns, width - x);
        for (int y = begin; y < end; ++y) {
          std::size_t i = 0;
          for (const SegmentPlace &place : cover_.places)
            places[i++] = source(place.part ? parts_ : samples_, y + place.y) + x + place.x;
          extrema(places, n, row(y) + x);
        }
      }
    });
  }

 private:
  const T *source(const Padded<T> &from, int y) const {
    return from.has(y) ? from.row(y) : none_.data() + from.margin;
  }
  static void extrema(const std::vector<const T *> &places, int n, T *out) {
    (kLargest ? rows<T>().largest : rows<T>().smallest)(places.data(),
                                                        static_cast<int>(places.size()), n, out);
  }

  /// The extrema of the parts that begin at each pixel, within the rows with margins.
  void fill_parts(int height) {
    constexpr int kMinRows = 64;
    const int margin = parts_.margin, across = (cover_.part - 1) * cover_.step_x,
              n = parts_.memory.width - std::abs(across), x = (across < 0 ? -across : 0) - margin;
    cpu_.for_bands(height + parts_.above, kMinRows, [&](int begin, int end) {
      std::vector<const T *> places(cover_.part);
      for (int y = begin - parts_.above; y < end - parts_.above; ++y) {
        for (int i = 0; i < cover_.part; ++i)
          places[i] = source(samples_, y + i * cover_.step_y) + x + i * cover_.step_x;
        extrema(places, n, parts_.row(y) + x);
      }
    });
  }

  Cpu &cpu_;
  const Cover &cover_;
  const Padded<T> &samples_, &parts_;
  const std::vector<T> none_;
};

/// Fills the margins left and right of the rows.
template <typename T>
void fill_margins(const Padded<T> &plane, T value, int y) {
  const int width = plane.memory.width - 2 * plane.margin;
  std::fill_n(plane.row(y) - plane.margin, plane.margin, value);
  std::fill_n(plane.row(y) + width, plane.margin, value);
}

}  // namespace

template <typename T>
void open_invariant(Cpu &cpu, Plane<const T> in, T flip, const lines::Direction &direction,
                    int length, Plane<T> out, PlaneScratch scratch) {
  const int width = in.width, height = in.height;
  const Cover cover = cover_of(direction, length, width, height, false),
              around = cover_of(direction, length, width, height, true);
  const int margin = std::max(cover.reach, around.reach);
  const auto take = [&](int above) {
    return Padded<T>{scratch.take<T>(width + 2 * margin, height + above), margin, above};
  };
  const Padded<T> samples = take(0), eroded = take(0);
  const int above = std::max(cover.above(), around.above());
  const Padded<T> parts = take(above);
  cpu.for_bands(height, 64, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      rows<T>().order(in.row(y), width, flip, samples.row(y));
      fill_margins(samples, static_cast<T>(~T{0}), y);
      fill_margins(eroded, T{0}, y);
    }
  });
  Extrema<false, T>(cpu, cover, samples, parts)(width, height,
                                                [&](int y) { return eroded.row(y); });
  Extrema<true, T>(cpu, around, eroded, parts)(width, height, [&](int y) { return out.row(y); });
}

template <typename T>
std::size_t invariant_scratch(const lines::Direction &direction, int length, int width,
                              int height) {
  const Cover cover = cover_of(direction, length, width, height, false),
              around = cover_of(direction, length, width, height, true);
  const int padded = width + 2 * std::max(cover.reach, around.reach);
  return 2 * PlaneScratch::bytes_of<T>(padded, height) +
         PlaneScratch::bytes_of<T>(padded, height + std::max(cover.above(), around.above()));
}

#define INSTANTIATE(T)                                                                            \
  template void open_invariant(Cpu &, Plane<const T>, T, const lines::Direction &, int, Plane<T>, \
                               PlaneScratch);                                                     \
  template std::size_t invariant_scratch<T>(const lines::Direction &, int, int, int)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
