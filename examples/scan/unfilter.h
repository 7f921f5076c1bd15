// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudascan::scan {

/// Undoes the filters of PNG rows (W3C PNG, 9.2: None, Sub, Up, Average and Paeth).
///
/// Each byte needs the one to the left, so a row alone cannot use SIMD. But 32 rows can: each is 8
/// bytes further back than the row above, whose bytes it needs. The filters of the rows need not be
/// the same.
class Unfilter {
 public:
  static constexpr int kRows = 32;

  /// @param row_bytes    bytes of a row, without its filter type
  /// @param pixel_bytes  1..8
  Unfilter(int row_bytes, int pixel_bytes);

  /// Undoes the next rows.
  /// @param filtered  so many times a filter type and the bytes of a row
  /// @param count     1..kRows
  /// @param to        rows that are `stride` bytes apart
  /// @return false for a filter type that does not exist
  bool next(const std::uint8_t *filtered, int count, std::uint8_t *to, std::ptrdiff_t stride);

 private:
  int row_bytes_, pixel_bytes_;
  std::vector<std::uint8_t> above_;  ///< the last row
};

}  // namespace cudascan::scan
