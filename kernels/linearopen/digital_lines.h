// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Digital lines at any angle, for both backends.
///
/// A steep line (nearer to the y axis) has one pixel in each row: line number j of a direction has
/// column j + shift(y). A flat line has one pixel in each column, in row j + shift(x). shift(t) is
/// t times the slope, rounded to the nearest integer: these are Bresenham's lines. All lines of a
/// direction are translations of one another, and each pixel is on exactly one. With t from 0 on
/// they divide an image into lines (section 4.3 of the publication in linearopen.h); t from -length
/// / 2 to (length - 1) / 2 gives a segment around a pixel.
///
/// Halves are rounded away from 0. So shift(-t) = -shift(t), and the opposite slope gives opposite
/// shifts: mirroring or transposing an image mirrors or transposes its lines.
#pragma once
#include <cstdint>

#include "common/api.h"

namespace cudascan::lines {

/// The lines of one direction.
struct Direction {
  static constexpr int kFraction = 20;  ///< bits of the slope

  bool steep;
  bool rising;  ///< whether shift() grows with t
  /// |cot(angle)| of steep lines, |tan(angle)| of flat ones, in units of 2^-kFraction; at most
  /// 2^kFraction.
  std::int32_t slope;

  /// @param angle  in degrees, counter-clockwise from the x axis as seen on the screen; any number
  static CUDASCAN_API Direction of(double angle);

  /// @param t  row of a steep line, column of a flat one, |t| <= 2^16
  CUDASCAN_HD int shift(int t) const {
    const bool negative = t < 0;
    const auto distance = static_cast<std::int64_t>(negative ? -t : t);
    const auto n =
        static_cast<int>((distance * slope + (std::int64_t{1} << (kFraction - 1))) >> kFraction);
    return negative == rising ? -n : n;
  }

  friend bool operator==(const Direction &, const Direction &) = default;
};

/// The lines that divide an image of width x height. For flat lines, rows and columns are those of
/// the transposed image.
struct Partition {
  Direction direction;
  int steps;         ///< pixels along the axis: height for steep lines, width for flat ones
  int across;        ///< pixels across: width for steep lines, height for flat ones
  int first, count;  ///< the line with the lowest number, and how many lines there are (equation 4)

  static CUDASCAN_HD Partition of(const Direction &direction, int width, int height) {
    const int steps = direction.steep ? height : width, across = direction.steep ? width : height;
    const int last_shift = direction.shift(steps - 1);
    return {direction, steps, across, last_shift > 0 ? -last_shift : 0,
            across + (last_shift > 0 ? last_shift : -last_shift)};
  }
};

}  // namespace cudascan::lines
