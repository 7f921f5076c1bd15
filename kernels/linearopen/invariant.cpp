// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings with the same segment at every pixel, by parts that cover it (cover.h).
#include <algorithm>
#include <cstdlib>
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
  /// @param parts  memory for the extrema of parts
  Extrema(Cpu &cpu, const SegmentCover &cover, const Padded<T> &samples, const Padded<T> &parts)
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
  const SegmentCover &cover_;
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
  const auto cover = SegmentCovers::of(cpu).find(direction, length, width, height);
  const int margin = cover->reach;
  const auto take = [&](int above) {
    return Padded<T>{scratch.take<T>(width + 2 * margin, height + above), margin, above};
  };
  const Padded<T> samples = take(0), eroded = take(0), parts = take(cover->above());
  cpu.for_bands(height, 64, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      rows<T>().order(in.row(y), width, flip, samples.row(y));
      fill_margins(samples, static_cast<T>(~T{0}), y);
      fill_margins(eroded, T{0}, y);
    }
  });
  Extrema<false, T>(cpu, *cover, samples, parts)(width, height,
                                                 [&](int y) { return eroded.row(y); });
  Extrema<true, T>(cpu, cover->turned(), eroded, parts)(width, height,
                                                        [&](int y) { return out.row(y); });
}

template <typename T>
std::size_t invariant_scratch(Cpu &cpu, const lines::Direction &direction, int length, int width,
                              int height) {
  const auto cover = SegmentCovers::of(cpu).find(direction, length, width, height);
  const int padded = width + 2 * cover->reach;
  return 2 * PlaneScratch::bytes_of<T>(padded, height) +
         PlaneScratch::bytes_of<T>(padded, height + cover->above());
}

#define INSTANTIATE(T)                                                                            \
  template void open_invariant(Cpu &, Plane<const T>, T, const lines::Direction &, int, Plane<T>, \
                               PlaneScratch);                                                     \
  template std::size_t invariant_scratch<T>(Cpu &, const lines::Direction &, int, int, int)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
