// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of order statistics on the CPU, compiled for several instruction sets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/plane.h"
#include "kernels/swofilter/rank/frequent.h"
#include "kernels/swofilter/rank/network.h"
#include "kernels/swofilter/rank/places.h"
#include "kernels/swofilter/rank/tiles.h"

namespace cudascan::swo {

/// Lengths of rows of networks are rounded up to so many bytes.
inline constexpr int kNetworkVector = 64;

/// Pixels at (x, y), with their distance in memory in both directions; these may be exchanged.
template <typename T>
struct Strided {
  T *data;
  std::ptrdiff_t dx, dy;  ///< in samples
  int width, height;

  explicit Strided(const Plane<T> &plane)
      : data(plane.data),
        dx(1),
        dy(plane.stride / static_cast<std::ptrdiff_t>(sizeof(T))),
        width(plane.width),
        height(plane.height) {}
  Strided transposed() const {
    Strided t = *this;
    std::swap(t.dx, t.dy);
    std::swap(t.width, t.height);
    return t;
  }
  T *row(int y) const { return data + y * dy; }
};

/// The area of windows. They are clipped to `in`, which may include a margin around the image.
template <typename T>
struct Area {
  Strided<const T> in;
  Strided<T> out;
  int left, top;       ///< position of pixel (0, 0) of `out` in `in`
  int x0, x1, y0, y1;  ///< computes pixels [x0, x1) x [y0, y1) of `out`
};

/// Medians along lines of an area that go on by `step` columns in each row.
template <typename T>
struct LinePass {
  Strided<const T> in;
  int left, top, width, height;  ///< the area, in `in`
  /// Results, from the area's first pixel on: smaller medians replace those in `lowest`, and larger
  /// ones those in `highest`.
  Strided<T> lowest, highest;
  int step = 0, reach = 0;  ///< samples on each side of a pixel
  bool first = false;       ///< all medians replace
};

template <typename T>
struct RankLoops {
  /// Steps of a network on `length` samples and the additional ones they need, rounded up to
  /// vectors.
  void (*steps)(const Network::Step *, std::size_t n, T *const *rows, int length);
  /// Medians of 3x3, from three rows.
  void (*median3)(const T *const *rows, T *out, int length);
  /// The rounded mean of `count` samples: those in `plus` without those in `minus`.
  /// @param shift   low bits that levels do not have
  /// @param length  a multiple of kNetworkVector
  void (*mean)(const T *const *plus, int n_plus, const T *const *minus, int n_minus, int count,
               int shift, T *out, int length);
  /// The most frequent of n samples in ascending order.
  void (*mode)(const T *const *sorted, int n, T *out, int length);
  /// The pixels of a tile from a histogram that slides through it.
  void (*slide)(const RankTile<T> &, const SlidingWindow &, const FilterJob &);
  /// The pixels of a tile, followed from row to row.
  void (*follow)(const PlaceTile<T> &, const FollowedWindow &, const FilterJob &);
  /// Missing samples do not count.
  void (*line_medians)(const LinePass<T> &);
};
template <typename T>
const RankLoops<T> &rank_loops();

/// Modes of rectangles, and of crosses, of up to mode_rows() rows of a tile at the same time.
void slide_rows(const RankTile<std::uint16_t> &, const SlidingWindow &);
void slide_crosses(const RankTile<std::uint16_t> &, const SlidingWindow &);
int mode_rows();
/// Modes from frequent values. See frequent.h.
/// @param box     the samples that there are, from the tile's first pixel on
/// @param memory  of FrequentMemory::bytes()
/// @return false if sliding is faster; some pixels have their results then
template <typename T>
bool find_frequent(const RankTile<T> &, std::ptrdiff_t pitch, const TileBox &box,
                   const FrequentWindow &, void *memory);
/// Ranks and trimmed means of crosses. Rows are not exchanged.
template <typename T>
void ask_cross(const Area<T> &, const FilterJob &);
/// Results for rectangles of 8-bit samples from histograms of columns. Rows are not exchanged.
void ask_columns(const Area<std::uint8_t> &, const FilterJob &);

}  // namespace cudascan::swo
