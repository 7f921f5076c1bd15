// SPDX-License-Identifier: LGPL-2.1-or-later
// The minimum over a segment around a pixel is that of as many samples as the segment has pixels. Where it
// has runs, pixels next to each other along an axis, minima of 2^n of them are made beforehand, by
// doubling, and a run takes few of these, which may overlap.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include "kernels/linearopen_cpu.h"
#include "kernels/linearopen_rows.h"

namespace cudascan::linearopen {
namespace {

/// What is looked at, relative to a pixel: a sample, or the extremum of a part of a run.
struct Place {
  int x, y;
  bool part;  ///< that begins here
};

/// The places that cover a segment.
struct Cover {
  std::vector<Place> places;
  int part = 1;      ///< pixels of a part, a power of two
  int reach = 0;     ///< columns that it needs beside the pixel, less than the width of the plane
  bool steep = false;
};

/// @param around  whether to turn the segment around the pixel
Cover cover_with(const lines::Direction &direction, int length, int width, int height, bool around,
                 int part) {
  Cover cover;
  cover.part = part;
  cover.steep = direction.steep;
  const int before = around ? (length - 1) / 2 : length / 2, most = direction.steep ? height : width;
  // What is further away than the plane is large is outside, wherever the pixel is.
  const int begin = std::max(-before, 1 - most), end = std::min(length - before, most);
  const auto shift = [&](int t) { return around ? -direction.shift(-t) : direction.shift(t); };
  const auto add = [&](int t, bool is_part) {
    const Place place = direction.steep ? Place{shift(t), t, is_part} : Place{t, shift(t), is_part};
    if (std::abs(place.x) >= width || std::abs(place.y) >= height) return;
    const int last = is_part && !direction.steep ? place.x + part - 1 : place.x;
    cover.reach = std::max({cover.reach, -place.x, last});
    cover.places.push_back(place);
  };
  for (int t = begin; t < end;) {
    int run = t + 1;
    while (run < end && shift(run) == shift(t)) ++run;
    if (part == 1 || run - t < part)
      for (; t < run; ++t) add(t, false);
    else
      for (; t < run; t += part) add(std::min(t, run - part), true);
    t = run;
  }
  return cover;
}

/// The cover that takes least time.
Cover cover_of(const lines::Direction &direction, int length, int width, int height, bool around) {
  constexpr std::size_t kDoubling = 5;  // takes as long as so many places
  Cover best = cover_with(direction, length, width, height, around, 1);
  for (int n = 1; n < 12; ++n) {
    Cover cover = cover_with(direction, length, width, height, around, 1 << n);
    if (cover.places.size() + n * kDoubling <
        best.places.size() + std::countr_zero(unsigned(best.part)) * kDoubling)
      best = std::move(cover);
  }
  return best;
}

/// Columns beside the plane that both passes need.
int margin_of(const Cover &forward, const Cover &around) {
  return std::max(forward.reach, around.reach);
}
int rows_above(const Cover &cover) {
  return cover.steep ? cover.part - 1 : 0;
}

/// Rows with what does not count around them.
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
  /// @param parts  memory for those of parts
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
    constexpr int kColumns = 4096 / sizeof(T), kMinRows = 16;  // what a segment reaches stays in the cache
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      std::vector<const T *> places(cover_.places.size());
      for (int x = 0; x < width; x += kColumns) {
        const int n = std::min(kColumns, width - x);
        for (int y = begin; y < end; ++y) {
          std::size_t i = 0;
          for (const Place &place : cover_.places)
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

  /// The extrema of cover_.part pixels from each on.
  void fill_parts(int height) {
    const int margin = parts_.margin, width = parts_.memory.width;
    constexpr int kMinColumns = 256, kMinRows = 64;
    if (cover_.steep) {
      cpu_.for_bands(width, kMinColumns, [&](int begin, int end) {
        const int n = end - begin, at = begin - margin;
        for (int y = -parts_.above; y < height; ++y)
          std::copy_n(source(samples_, y) + at, n, parts_.row(y) + at);
        for (int done = 1; done < cover_.part; done *= 2)
          for (int y = -parts_.above; y + done < height; ++y)
            extrema({parts_.row(y) + at, parts_.row(y + done) + at}, n, parts_.row(y) + at);
      });
    } else {
      cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
        for (int y = begin; y < end; ++y) {
          T *const row = parts_.row(y) - margin;
          std::copy_n(samples_.row(y) - margin, width, row);
          for (int done = 1; done < cover_.part; done *= 2)
            extrema({row, row + done}, std::max(width - done, 0), row);
        }
      });
    }
  }

  Cpu &cpu_;
  const Cover &cover_;
  const Padded<T> &samples_, &parts_;
  const std::vector<T> none_;
};

/// Fills what is beside the rows of a plane.
template <typename T>
void fill_margins(const Padded<T> &plane, T value, int y) {
  const int width = plane.memory.width - 2 * plane.margin;
  std::fill_n(plane.row(y) - plane.margin, plane.margin, value);
  std::fill_n(plane.row(y) + width, plane.margin, value);
}

}  // namespace

template <typename T>
void open_invariant(Cpu &cpu, Plane<const T> in, T flip, const lines::Direction &direction,
                    int length, Plane<T> out, Scratch scratch) {
  const int width = in.width, height = in.height;
  const Cover cover = cover_of(direction, length, width, height, false),
              around = cover_of(direction, length, width, height, true);
  const int margin = margin_of(cover, around);
  const auto take = [&](int above) {
    return Padded<T>{scratch.take<T>(width + 2 * margin, height + above), margin, above};
  };
  const Padded<T> samples = take(0), eroded = take(0);
  const int above = std::max(rows_above(cover), rows_above(around));
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
  const int padded = width + 2 * margin_of(cover, around);
  return 2 * Scratch::bytes_of<T>(padded, height) +
         Scratch::bytes_of<T>(padded, height + std::max(rows_above(cover), rows_above(around)));
}

#define INSTANTIATE(T)                                                                            \
  template void open_invariant(Cpu &, Plane<const T>, T, const lines::Direction &, int, Plane<T>, \
                               Scratch);                                                          \
  template std::size_t invariant_scratch<T>(const lines::Direction &, int, int, int)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
