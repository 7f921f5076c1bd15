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
/// Bytes from row 0 to another row.
GSWO_FN unsigned long long row_offset(const Plane &p, int row) {
  return (unsigned long long)(unsigned)row * (unsigned)p.pitch;
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

  struct Row {
    const T *pixels;
    int ox;
    GSWO_FN T operator[](int column) const { return load(pixels + (column - ox)); }
  };
  struct Slice {
    const char *data;
    Plane p;
    GSWO_FN Row operator[](int row) const {
      return Row{(const T *)(data + row_offset(p, row - p.oy)), p.ox};
    }
  };
  GSWO_FN Slice operator[](int slice) const {
    return Slice{slice_address(v, slice - v.oz), v.first};
  }
};
/// The destination.
template <class T>
struct OutSlices {
  Volume v;
  GSWO_FN explicit OutSlices(const Volume &volume) : v(volume) {}

  struct Row {
    T *pixels;
    int ox;
    GSWO_FN T &operator[](int column) const { return pixels[column - ox]; }
  };
  struct Slice {
    char *data;
    Plane p;
    GSWO_FN Row operator[](int row) const {
      return Row{(T *)(data + row_offset(p, row - p.oy)), p.ox};
    }
  };
  GSWO_FN Slice operator[](int slice) const {
    return Slice{slice_address(v, slice - v.oz), v.first};
  }
};

/// The results of a thread, before they are stored.
template <class T, int n>
struct Kept {
  T pixels[n];

  /// The destination of one window, whatever its indices.
  struct View {
    T *pixel;
    struct Slice {
      T *pixel;
      struct Row {
        T *pixel;
        GSWO_FN T &operator[](int) const { return *pixel; }
      };
      GSWO_FN Row operator[](int) const { return Row{pixel}; }
    };
    GSWO_FN Slice operator[](int) const { return Slice{pixel}; }
  };
  GSWO_FN View operator()(int k) { return View{pixels + k}; }
};

/// The slice, row or vector of [0, n) that is nearest to `i`.
GSWO_FN int nearest(int i, int n) {
  const int low = i > 0 ? i : 0, last = n - 1;
  return low < last ? low : last;
}

/// Copies pixels that no window of this kernel writes.
template <class V>
GSWO_FN void copy(V &to, const V *from) {
  using Word = typename WordOf<(int)alignof(V)>::type;
  GSWO_UNROLL for (int k = 0; k < (int)(sizeof(V) / sizeof(Word)); k++)((Word *)&to)[k] =
      __ldg((const Word *)from + k);
}

/// A tile of the source with its halo in shared memory. All threads of the block must construct it.
/// It has all pixels that windows of the loops read; what else it has is not defined.
/// @tparam W,H,D              windows of the block
/// @tparam X0,X1,Y0,Y1,Z0,Z1  offsets that they read
/// @tparam threads            of the block
template <class T, int W, int H, int D, int X0, int X1, int Y0, int Y1, int Z0, int Z1, int threads>
struct VolumeTile {
  static constexpr int size = (int)sizeof(T);
  static constexpr int vector = size < 2 ? 8 : size > 16 || size &(size - 1) ? 1 : 16 / size;
  static constexpr int columns = (W + X1 - X0 + 2 * (vector - 1)) / vector * vector,
                       rows = H + Y1 - Y0, slices = D + Z1 - Z0;
  using Pixels = Vector<T, vector>;
  static constexpr unsigned row_length = columns / vector, slice_length = row_length * rows;
  /// Slices that all threads together read at once; 0 if they are too large.
  static constexpr int at_once = threads / (int)slice_length;
  struct Memory {
    Pixels pixels[slices * slice_length];
  };
  const T *pixels;
  int front, top, left;

  /// The volume's rows begin at multiples of a vector, and so does their distance.
  GSWO_FN VolumeTile(Memory &memory, const Volume &volume, int z, int y, int x)
      : pixels(memory.pixels[0].at), front(z + Z0), top(y + Y0), left(x + X0) {
    const Plane &origin = volume.first;
    // The tile begins at the start of a vector.
    left -= (left - origin.ox) & (vector - 1);
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const auto offset = [&](unsigned k) {
      const int row = nearest(top - origin.oy + (int)(k / row_length), origin.height),
                column = nearest((left - origin.ox) / vector + (int)(k % row_length),
                                 (int)((unsigned)origin.pitch / (unsigned)sizeof(Pixels)));
      return row_offset(origin, row) + (unsigned)column * (unsigned)sizeof(Pixels);
    };
    const auto read = [&](int slice, unsigned long long at, unsigned to) {
      const int z = nearest(front - volume.oz + slice, volume.depth);
      copy(memory.pixels[to], (const Pixels *)(slice_address(volume, z) + at));
    };
    if constexpr (at_once > 0) {
      // Each thread reads the same place of several slices.
      const int slice = (int)(thread / slice_length);
      if (slice < at_once) {
        const unsigned long long at = offset(thread % slice_length);
        _Pragma("unroll 8") for (int z = 0; z < slices; z += at_once) {
          if (z + at_once > slices && z + slice >= slices) break;
          read(z + slice, at, (unsigned)z * slice_length + thread);
        }
      }
    } else {
      _Pragma("unroll 8") for (unsigned first = 0; first < slice_length * slices;
                               first += threads) {
        const unsigned k = first + thread;
        if (k >= slice_length * slices) break;
        read((int)(k / slice_length), offset(k % slice_length), k);
      }
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
