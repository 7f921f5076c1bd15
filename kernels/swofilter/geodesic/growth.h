// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// All geodesic operators in one form: a marker that is nowhere above a mask grows by dilations
/// under the mask. For eroding operators, mask and marker are complements, maximum - sample.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

struct Growth {
  bool complement;  ///< the mask is the complement of the input
  bool border;      ///< the marker is the mask on the edges of the image and 0 elsewhere
  bool difference;  ///< the result is the mask minus the marker
  unsigned height;  ///< how far the marker starts below the mask, at least 0
  unsigned maximum;
  bool eight;      ///< neighbours, otherwise four
  int iterations;  ///< 0: until nothing changes

  explicit Growth(const FilterJob &job)
      : complement(false),
        border(job.marker == SwoFilterMarker::border),
        difference(false),
        height(job.height),
        maximum(job.maximum),
        eight(job.connectivity == 8),
        iterations(job.iterations) {
    using Op = SwoFilterOperator;
    const Op op = job.op;
    complement = op == Op::geodesic_erode || op == Op::h_basin || op == Op::fill_holes;
    difference = op == Op::h_dome || op == Op::h_basin || op == Op::clear_border;
    if (op == Op::h_dome || op == Op::h_basin) border = false;
    if (op == Op::fill_holes || op == Op::clear_border) border = true;
  }

  template <typename T>
  CUDASCAN_HD T mask(T sample) const {
    return complement ? static_cast<T>(maximum - sample) : sample;
  }
  template <typename T>
  CUDASCAN_HD T marker(T mask, bool on_edge) const {
    if (border) return on_edge ? mask : T{0};
    return mask > height ? static_cast<T>(mask - height) : T{0};
  }
  template <typename T>
  CUDASCAN_HD T result(T mask, T marker) const {
    if (difference) return static_cast<T>(mask - marker);
    return complement ? static_cast<T>(maximum - marker) : marker;
  }
};

}  // namespace cudascan::swo
