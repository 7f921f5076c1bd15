// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA implementations of recursive erosion and dilation. Erosions are dilations of
/// complements.
#pragma once
#include "kernels/swofilter/recursive/form.h"
#include "kernels/swofilter/recursive/steps.h"

namespace cudascan::swo {

/// What results are made of, and where they go.
template <typename T>
struct RecursiveTarget {
  Plane<T> out;
  bool complement;
  T maximum;
  T outside;  ///< complemented if `complement`; 0 if there are no samples outside

  RecursiveTarget(Plane<T> out, const FilterJob &job)
      : out(out),
        complement(job.op == SwoFilterOperator::recursive_erode),
        maximum(static_cast<T>(job.maximum)),
        outside(job.border == SwoFilterBorder::constant ? complemented(static_cast<T>(job.outside))
                                                        : T{0}) {}

  CUDASCAN_HD T complemented(T v) const { return complement ? static_cast<T>(maximum - v) : v; }
};

/// Windows of form.h, in bands of rows.
template <typename T>
void recursive_bands(Cuda &, Plane<const T> in, const RecursiveTarget<T> &, const RecursiveForm &);

/// Any window of at most 31 rows and columns, as a wave from the upper left to the lower right.
/// @param has_rest  whether `out` has the extrema of the samples that are still input
template <typename T>
void recursive_wave(Cuda &, const RecursiveTarget<T> &, const RecursiveSteps &, bool has_rest);

/// The same for few cells, row by row.
/// @return false if there are too many, or the image is too wide
template <typename T>
bool recursive_row_by_row(Cuda &, const RecursiveTarget<T> &, const RecursiveSteps &,
                          bool has_rest);

}  // namespace cudascan::swo
