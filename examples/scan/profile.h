// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sums of a page along slanted lines (projection profiles). Where the slant is that of the lines
/// of text, the sums jump at the upper and lower ends of the letters; elsewhere they are even. So
/// the sum of the squared differences of neighbouring sums has a sharp peak at the page's angle.
/// After W. Postl, "Detection of linear oblique structures and skew scan in digitized documents",
/// ICPR 1986.
///
/// Here the differences are taken first, pixel by pixel, since sums and differences may be
/// exchanged. That allows to leave out and to limit some: differences at the dark surround of a
/// sheet, those as small as noise, and those of a logo, which count no more than those of text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "image.h"
#include "sheet.h"

namespace cudascan::scan {

/// Numbers of the pixels of a page, stored by columns.
class ByColumns {
 public:
  static constexpr int kAround = 4;  ///< zeros before and after each column

  ByColumns() = default;
  /// They are 0.
  ByColumns(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  std::int8_t *column(int x) { return numbers_.data() + begin_of(x); }
  const std::int8_t *column(int x) const { return numbers_.data() + begin_of(x); }

 protected:
  /// Makes room; the numbers are any, but for the zeros between columns.
  void shape(int width, int height);

 private:
  std::size_t begin_of(int x) const { return std::size_t{1} * x * (height_ + kAround) + kAround; }

  int width_ = 0, height_ = 0;
  std::vector<std::int8_t> numbers_;
};

/// Differences of vertically neighbouring pixels. It keeps its memory for the next page.
class Slopes : public ByColumns {
 public:
  static constexpr int kLimit = 32;  ///< differences are -32..32

  Slopes() = default;
  explicit Slopes(const Image &page) { measure(page); }

  /// @param page  8 bits
  void measure(const Image &page);

 private:
  int noise_of(const Image &page);

  Sheet sheet_;
  std::vector<std::uint8_t> sampled_;      ///< differences of some rows
  std::vector<std::int8_t> rows_, space_;  ///< differences of 16 rows
};

/// Puts the numbers of each column together.
/// @param numbers  16 rows of `width` numbers become `width` columns of 16
/// @param space    as many, overwritten
void transpose_16(std::int8_t *numbers, int width, std::int8_t *space);

/// How far a line at this angle rises from a column to the next.
/// @param squeeze  how many times smaller the columns of the page are than its rows
/// @param angle    degrees counter-clockwise
double slope_of(int squeeze, double angle);
/// Lines above and below a page of so many columns that lines up to the steepest angle reach.
int margin_of(int width, int squeeze, double steepest);

/// Sums of numbers along parallel lines, in strips next to each other.
class Profiles {
 public:
  /// @param squeeze  how many times smaller the columns of the page are than its rows
  /// @param steepest degrees, the largest angle that is asked for
  Profiles(const ByColumns &page, int squeeze, double steepest);

  /// Sums along lines at `angle` degrees counter-clockwise.
  /// @param strips   1..8, a power of 2; each strip's sums are for the same lines
  void sum(double angle, int strips);
  /// Adds each two neighbouring strips. Sums must fit into 16 bits.
  void pair_up();

  int strips() const { return static_cast<int>(strips_.size()); }
  int rows() const { return rows_; }
  const std::vector<std::int16_t> &strip(int i) const { return strips_[i]; }

 private:
  const ByColumns &page_;
  int squeeze_, margin_, rows_;
  std::vector<std::vector<std::int16_t>> strips_;
};

/// The sum of squares of `count` numbers.
double sum_of_squares(const std::int16_t *numbers, int count);

}  // namespace cudascan::scan
