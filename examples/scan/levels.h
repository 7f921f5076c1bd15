// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages in gray levels or in colour, for outputs that are not black and white.
#pragma once
#include <array>
#include <cstring>
#include <string>

#include "image.h"

namespace cudascan::scan {

/// A page in its levels: a plane of gray, or planes of red, green and blue of one size and depth.
struct PageLevels {
  explicit PageLevels(bool pinned = false) : planes{Image(pinned), Image(pinned), Image(pinned)} {}

  bool wants_colour = true;  ///< false: readers keep only the profile
  int samples = 0;           ///< 1 or 3; 0 = there are none
  std::array<Image, 3> planes;
  std::string profile;  ///< ICC profile of the levels, or ""

  int width() const { return planes[0].width; }
  int height() const { return planes[0].height; }
  int depth() const { return planes[0].depth; }
};

/// Shapes the planes of the page's colours like the page and makes them white, unless they are so
/// already.
void make_room_for_colour(Image &page);

/// Keeps red, green and blue of interleaved samples if the page is wanted in colour and has three
/// samples a pixel.
/// @param left, y, width  where the samples belong
template <typename T>
void keep_colour(Image &page, const T *samples, int samples_per_pixel, int left, int y, int width) {
  if (!page.colour || !page.colour->wants_colour || samples_per_pixel != 3) return;
  make_room_for_colour(page);
  for (int i = 0; i < 3; ++i) {
    T *to = page.colour->planes[i].plane<T>().row(y) + left;
    for (int x = 0; x < width; ++x) to[x] = samples[3 * x + i];
  }
}

/// Keeps an ICC profile if it is one for so many samples a pixel.
void keep_profile(PageLevels &levels, const void *profile, std::size_t size, int samples);

/// Copies a plane.
void copy_plane(const Image &from, Image &to);

/// Makes 16 bits of a sample 8, rounded. @return `to`
const PageLevels &to_8_bits(const PageLevels &from, PageLevels &to);

/// The samples of a row one pixel after another: gray, or red, green, blue.
/// @param to  width * samples
template <typename T>
void interleave(const PageLevels &levels, int y, T *to) {
  const int n = levels.samples, width = levels.width();
  for (int i = 0; i < n; ++i) {
    const T *from = levels.planes[i].plane<const T>().row(y);
    for (int x = 0; x < width; ++x) to[n * x + i] = from[x];
  }
}

}  // namespace cudascan::scan
