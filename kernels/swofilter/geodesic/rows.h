// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of geodesic operators on the CPU, compiled for several instruction sets. Rows
/// have a cell before the first and one behind the last, where mask and marker are 0.
#pragma once
#include <cstdint>

namespace cudascan::swo {

/// A row and those above and below it.
template <typename T>
struct RowsAround {
  const T *above, *marker, *below, *mask;
  int n;
};

template <typename T>
struct GeodesicRows {
  /// Lets the marker of a row meet that of a neighbouring row.
  void (*meet)(const T *neighbour, const T *mask, T *marker, int n, bool eight);
  /// Lets it grow along the row, to the right and to the left, until nothing changes.
  void (*walk)(const T *mask, T *marker, int n);
  /// The first pixel from `from` on that would grow, or one of a few before it; n if there is none.
  int (*find)(const RowsAround<T> &, int from, bool eight);
  /// A pass from one image to another; returns whether anything changes.
  bool (*pass)(const RowsAround<T> &, T *to, bool eight);
};

/// The loops for the processor that runs.
template <typename T>
const GeodesicRows<T> &geodesic_rows();

}  // namespace cudascan::swo
