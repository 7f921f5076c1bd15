// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The inner loops of geodesic operators on the CPU, compiled for several instruction sets. Rows
/// have a cell before the first and one after the last, where mask and marker are 0.
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
  /// Grows the marker of a row from a neighbouring row.
  void (*meet)(const T *neighbour, const T *mask, T *marker, int n, bool eight);
  /// Grows it along the row, to the right and to the left, until nothing changes.
  void (*walk)(const T *mask, T *marker, int n);
  /// The first pixel from `from` on that would grow, or one shortly before it; n if there is none.
  int (*find)(const RowsAround<T> &, int from, bool eight);
  /// A pass from one image to another; returns whether anything changes.
  bool (*pass)(const RowsAround<T> &, T *to, bool eight);
};

/// The loops for this processor.
template <typename T>
const GeodesicRows<T> &geodesic_rows();

}  // namespace cudascan::swo
