// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The annotated sources of examples/gswo, compiled as sequential functions, and the images that
/// they need.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"

using pixel = unsigned short;
void alpha_trimmed_mean(pixel **, pixel **, int, int, int, double);
void camera_fingerprint(const pixel *, pixel *, pixel *, int, int, int, int);
void closing(const pixel *, pixel *, pixel *, int, int, int, int);
void dilation(pixel **, pixel **, int, int, int, int);
void directional_median(pixel **, pixel **, int, int, int);
void document_segmentation(const pixel *, pixel *, pixel *, pixel *, int, int, int, int, int, int);
void erosion(pixel **, pixel **, int, int, int, int);
void hit_or_miss(const pixel *, pixel *, int, int, int);
void max_filter(pixel **, pixel **, int, int, int);
void mean(const pixel *, pixel *, int, int, int);
void median(pixel **, pixel **, int, int, int);
void midpoint(pixel **, pixel **, int, int, int);
void min_filter(pixel **, pixel **, int, int, int);
void mode(pixel **, pixel **, int, int, int);
void opening(const pixel *, pixel *, pixel *, int, int, int, int);
void recursive_dilation(const pixel *, pixel *, pixel *, pixel *, int, int, int, int);
void recursive_erosion(const pixel *, pixel *, pixel *, pixel *, int, int, int, int);
void standard_deviation(const pixel *, pixel *, int, int, int);
void thickening(pixel **, pixel **, pixel **, pixel **, int, int, int, int);
void thinning(pixel **, pixel **, pixel **, pixel **, int, int, int, int);

namespace cudascan::test {

using Pixels = std::vector<pixel>;

/// An image whose rows can also be read outside the image, up to a margin.
template <typename T>
class Rows {
 public:
  explicit Rows(Size size, int margin = 0)
      : size_(size),
        margin_(margin),
        pitch_(size.width + 2 * margin),
        pixels_(std::size_t(pitch_) * (size.height + 2 * margin)) {
    for (int y = 0; y < size.height + 2 * margin; ++y)
      rows_.push_back(pixels_.data() + std::size_t(y) * pitch_ + margin);
  }
  /// @param samples  all samples, row by row
  /// @param outside  the value outside the image with border = constant
  template <typename Sample>
  Rows(const std::vector<Sample> &samples, Size size, int margin, SwoFilterBorder border, T outside)
      : Rows(size, margin) {
    T **const rows = get();
    for (int y = -margin; y < size.height + margin; ++y)
      for (int x = -margin; x < size.width + margin; ++x) {
        const int row = swo::resolve(y, size.height, border),
                  column = swo::resolve(x, size.width, border);
        rows[y][x] = row < 0 || column < 0
                         ? outside
                         : static_cast<T>(samples[std::size_t(row) * size.width + column]);
      }
  }

  /// @param origin  index of the first row, and of the first column in a row
  T **get(int origin = 0) {
    moved_.clear();
    for (T *row : rows_) moved_.push_back(row - origin);
    return moved_.data() + margin_ - origin;
  }
  std::vector<T> samples() {
    std::vector<T> samples;
    T **const rows = get();
    for (int y = 0; y < size_.height; ++y)
      samples.insert(samples.end(), rows[y], rows[y] + size_.width);
    return samples;
  }

 private:
  Size size_;
  int margin_, pitch_;
  std::vector<T> pixels_;
  std::vector<T *> rows_, moved_;
};

inline Pixels fingerprint(const Pixels &picture, Size size, int regions, pixel most) {
  Pixels denoised(picture.size()), out(picture.size());
  camera_fingerprint(picture.data(), denoised.data(), out.data(), size.width, size.height, regions,
                     most);
  return out;
}

inline Pixels segmented(const Pixels &page, Size size, Size window, int threshold, int white) {
  Pixels a(page.size()), b(page.size()), regions(page.size());
  document_segmentation(page.data(), a.data(), b.data(), regions.data(), size.width, size.height,
                        window.width, window.height, threshold, white);
  return regions;
}

/// Samples in the lower half of the range become 0. So all contents except white contain black.
template <typename T>
std::vector<T> with_black(std::vector<T> samples, T most) {
  for (T &sample : samples) sample = sample > most / 2 ? sample : 0;
  return samples;
}

}  // namespace cudascan::test
