// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Volumes and sequences of frames in stand-alone programs that gswo-cc writes: the slices are
/// images of their own, so they may be anywhere on the host, and programs may exchange them. On the
/// device they are at equal distances, unless they were exchanged.
#pragma once
#include "gswo_rt.h"

namespace gswo {

/// Slices oz, oz + 1, ... of a volume, passed by value.
struct Volume {
  Plane first;               ///< slice oz; the others differ from it only in `data`
  unsigned distance;         ///< bytes from slice to slice
  const long long *offsets;  ///< or, if not nullptr, bytes from the first slice to each
  int depth, oz;
};

#if GSWO_CUDA

/// The address of a slice. It is computed from a parameter of the kernel, so compilers know that it
/// is in global memory.
GSWO_FN char *slice_address(const Volume &v, int z) {
  return (char *)v.first.data + (v.offsets
                                     ? __ldg(v.offsets + z)
                                     : (long long)((unsigned long long)(unsigned)z * v.distance));
}
GSWO_FN Plane slice_of(const Volume &v, int z) {
  Plane slice = v.first;
  slice.data = slice_address(v, z);
  return slice;
}

/// The source: every index gives a pixel.
template <class T>
struct InSlices {
  Volume v;
  GSWO_FN explicit InSlices(const Volume &volume) : v(volume) {}
  GSWO_FN In<T, T> operator[](int slice) const {
    return In<T, T>(slice_of(v, border_index(slice - v.oz, v.depth)));
  }
};
/// The source for windows that read only what is there.
template <class T>
struct InnerSlices {
  Volume v;
  GSWO_FN explicit InnerSlices(const Volume &volume) : v(volume) {}
  GSWO_FN Inner<T, T> operator[](int slice) const { return Inner<T, T>(slice_of(v, slice - v.oz)); }
};
/// The destination.
template <class T>
struct OutSlices {
  Volume v;
  GSWO_FN explicit OutSlices(const Volume &volume) : v(volume) {}
  GSWO_FN InnerOut<T, T> operator[](int slice) const {
    return InnerOut<T, T>(slice_of(v, slice - v.oz));
  }
};

/// A tile of the source with its halo in shared memory. All threads of the block must construct it.
/// @tparam W,H,D              windows of the block
/// @tparam X0,X1,Y0,Y1,Z0,Z1  offsets that they read
/// @tparam threads            of the block
template <class T, int W, int H, int D, int X0, int X1, int Y0, int Y1, int Z0, int Z1, int threads>
struct VolumeTile {
  static constexpr int columns = W + X1 - X0, rows = H + Y1 - Y0, slices = D + Z1 - Z0;
  struct Memory {
    T pixels[slices * rows * columns];
  };
  const T *pixels;
  int front, top, left;

  GSWO_FN VolumeTile(Memory &memory, const Volume &volume, int z, int y, int x)
      : pixels(memory.pixels), front(z + Z0), top(y + Y0), left(x + X0) {
    const InSlices<T> source(volume);
    const int first = (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    for (int k = first; k < slices * rows * columns; k += threads) {
      const int slice = k / (rows * columns), rest = k % (rows * columns);
      memory.pixels[k] = source[front + slice][top + rest / columns][left + rest % columns];
    }
    __syncthreads();
  }

  struct Row {
    const T *pixels;
    int left;
    GSWO_FN T operator[](int column) const { return pixels[column - left]; }
  };
  struct Slice {
    const T *pixels;
    int top, left;
    GSWO_FN Row operator[](int row) const { return Row{pixels + (row - top) * columns, left}; }
  };
  GSWO_FN Slice operator[](int slice) const {
    return Slice{pixels + (slice - front) * rows * columns, top, left};
  }
};

#endif

}  // namespace gswo
