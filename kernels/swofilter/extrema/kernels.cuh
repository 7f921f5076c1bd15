// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The kernels of extrema; each family has its own file. Op is Smallest or Largest.
#pragma once
#include <cuda_runtime.h>

#include "common/plane.h"
#include "kernels/base/packed_samples.cuh"
#include "kernels/exec.h"
#include "kernels/swofilter/extrema/sink.cuh"
#include "kernels/swofilter/extrema/word_columns.cuh"
#include "kernels/swofilter/window.h"

namespace cudascan::swo::extremes {

template <typename T>
struct RectangleJob {
  WordPlane<T> in;
  ExtremaSink<T> sink;
  int width, height;  // of the window
  bool constant;      // samples outside the image count as `outside`
  unsigned outside;   // the same in all samples of a word
};

/// Queues rectangles whose sides are both at most kMostInOneGo. See rectangles.cu.
template <typename T, typename Op>
void queue_rectangle(Cuda &, const RectangleJob<T> &);

/// Queues both extrema of such rectangles, in one launch. The sink makes one result of them; it
/// does not read its other image.
template <typename T>
void queue_range(Cuda &, const RectangleJob<T> &);

/// The same for squares of 3x3 and 5x5. Rows of the input are aligned to 16 bytes. See
/// square_ranges.cu.
void queue_square_range(Cuda &, const RectangleJob<std::uint16_t> &);

/// Extrema along columns. Column x of the input is row x of the result, unless `straight`.
template <typename T>
struct ExtremaColumnsJob {
  WordPlane<T> in;
  ExtremaSink<T> sink;
  int side;  // of the window
  /// Set by queue_columns(): chunks of kWindows rows that a block writes, at least 2.
  int chunks;
  /// Also set by queue_columns(): 2^32 divided by the number of 16-byte units in which a column is
  /// written, rounded up.
  unsigned reciprocal;
  bool constant;
  unsigned outside;
  bool straight = false;  // the result is not transposed
  Plane<const T> also{};  // if straight: extrema that are combined with these; aligned like words
};

/// Queues windows along columns. See columns.cu.
template <typename T, typename Op>
void queue_columns(Cuda &, ExtremaColumnsJob<T>);

template <typename T>
struct ExtremaMaskJob {
  Plane<const T> in;
  ExtremaSink<T> sink;
  const Mask *mask;
  const FilterJob *filter;
  bool keeps_empty;  // windows without samples leave the pixel as it is
};

/// Queues windows of any form. See masks.cu.
template <typename T, typename Op>
void queue_mask(Cuda &, const ExtremaMaskJob<T> &);

}  // namespace cudascan::swo::extremes
