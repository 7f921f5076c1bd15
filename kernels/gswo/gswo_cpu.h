// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What generated filters need on the CPU only; gswo_rt.h includes it.
#pragma once

namespace gswo {

/// Limits columns [low, high) to those whose windows are in the `width` columns from `origin` on.
/// @param x      the user's index of column 0
/// @param x0,x1  offsets that windows use
inline void limit_columns(int origin, int width, int x, int x0, int x1, int &low, int &high) {
  const int column = x - origin;
  if (low < -(column + x0)) low = -(column + x0);
  if (high > width - column - x1) high = width - column - x1;
}

/// Limits the columns [low, high) of a row to those whose windows are inside an image.
/// @param y,x          the user's indices of the row and of its column 0
/// @param y0,y1,x0,x1  offsets that windows use
inline void limit(const Plane &p, int y, int x, int y0, int y1, int x0, int x1, int &low,
                  int &high) {
  if (!is_inside(y + y0, y + y1, p.oy, p.height)) high = 0;
  limit_columns(p.ox, p.width, x, x0, x1, low, high);
}

/// Limits them to the iterations of the user's loop and to [first, last).
inline void limit_turns(long long turns, int first, int last, int &low, int &high) {
  if (high > turns) high = (int)turns;
  if (high > last) high = last;
  if (high < first) high = first;
  if (low < first) low = first;
  if (low > high) low = high;
}
inline void limit_turns(long long turns, int columns, int &low, int &high) {
  limit_turns(turns, 0, columns, low, high);
}

/// A part of the source in the user's type, with what is around it, beyond the edges of the image,
/// too: windows read it without conversions and without questions about edges.
/// @tparam T            type of the user's code
/// @tparam S            type in memory
/// @tparam H,W          the most rows and columns of windows
/// @tparam Y0,Y1,X0,X1  offsets that windows read
/// @tparam inside       no window reads outside the image
template <class T, class S, int H, int W, int Y0, int Y1, int X0, int X1, bool inside = false>
struct Part {
  static constexpr int pitch = W + X1 - X0;
  T pixels[(H + Y1 - Y0) * pitch];

  struct Row {
    const T *pixels;
    int left;
    GSWO_FN T operator[](int column) const { return pixels[column - left]; }
  };
  struct View {
    const T *pixels;
    int top, left;
    GSWO_FN Row operator[](int row) const { return Row{pixels + (row - top) * pitch, left}; }
  };
  /// Reads what some windows need.
  /// @param y,x  the user's indices of the first window
  View read(const Plane &plane, int y, int x, int rows, int columns) {
    const int first = x + X0 - plane.ox, count = columns + X1 - X0;
    const int low = between(-first, count), high = between(plane.width - first, count);
    for (int k = 0; k < rows + Y1 - Y0; k++) {
      T *const to = pixels + k * pitch;
      const int row = border_index(y + Y0 + k - plane.oy, plane.height);
      const S *const from =
          (const S *)((const char *)plane.data + (row < 0 ? 0 : row) * plane.pitch);
      const auto outside = [&](int column) {
        const int at = border_index(column, plane.width);
        return row < 0 || at < 0 ? (T)(GSWO_BORDER_VALUE) : (T)from[at];
      };
      for (int c = 0; c < low; c++) to[c] = outside(first + c);
      if (row < 0) {
        for (int c = low; c < high; c++) to[c] = (T)(GSWO_BORDER_VALUE);
      } else {
        GSWO_VECTORIZE
        for (int c = low; c < high; c++) to[c] = (T)from[first + c];
      }
      for (int c = high; c < count; c++) to[c] = outside(first + c);
    }
    return View{pixels, y + Y0, x + X0};
  }

 private:
  static int between(int at, int most) { return at < 0 ? 0 : at > most ? most : at; }
};

/// Then no copy is needed if the types are the same.
template <class T, int H, int W, int Y0, int Y1, int X0, int X1>
struct Part<T, T, H, W, Y0, Y1, X0, X1, true> {
  GSWO_FN Inner<T, T> read(const Plane &plane, int, int, int, int) const {
    return Inner<T, T>(plane);
  }
};

/// Offsets of a rectangle of samples around a window's own pixel.
template <int Y0, int Y1, int X0, int X1>
struct Box {
  static constexpr int y0 = Y0, y1 = Y1, x0 = X0, x1 = X1, width = X1 - X0 + 1;
  static constexpr long long samples = (long long)(Y1 - Y0 + 1) * width;
};

/// Pixels that are whole numbers from 0 on, of few bits.
template <class S>
struct LevelBits {
  static constexpr int value = 64;
};
template <>
struct LevelBits<unsigned char> {
  static constexpr int value = 8;
};
template <>
struct LevelBits<unsigned short> {
  static constexpr int value = 16;
};
#ifdef GSWO_LEVEL_T
template <>
struct LevelBits<Level> : LevelBits<GSWO_LEVEL_T> {};
#endif
/// Bits of the whole numbers that a type holds exactly.
template <class T>
struct ExactBits {
  static constexpr int value = 31;
};
template <>
struct ExactBits<float> {
  static constexpr int value = 24;
};
template <>
struct ExactBits<double> {
  static constexpr int value = 53;
};

template <class T>
struct SumOf {
  using type = int;
};
template <>
struct SumOf<float> {
  using type = float;
};
template <>
struct SumOf<double> {
  using type = double;
};

/// Sums of samples in rectangles around the pixels of a row. Neighbours share the sums of columns,
/// so samples are not added in the order of the user's loops: sums are there only if all of them,
/// and all their parts, are whole numbers that their type holds exactly.
/// @tparam T      type of the user's code
/// @tparam S      type in memory
/// @tparam W      the most windows of a row
/// @tparam Boxes  the rectangles
template <class T, class S, int W, class... Boxes>
struct Sums {
  using Sum = typename SumOf<T>::type;
  static constexpr bool are_there = LevelBits<S>::value <= 16;
  Sum sums[are_there ? sizeof...(Boxes) : 1][are_there ? W : 1];

  /// The image for windows of the row.
  template <class View>
  struct Image : View {
    const Sum (*sums)[W];
    int left;

    template <class A>
    static constexpr bool is_exact(int box) {
      constexpr long long samples[] = {Boxes::samples...};
      constexpr int a = ExactBits<A>::value, b = ExactBits<Sum>::value, bits = a < b ? a : b;
      return samples[box] <= 1LL << (bits - LevelBits<S>::value);
    }
    /// The sum of rectangle number `box` around a pixel, for a variable of type A.
    template <int box, class A>
    GSWO_FN Sum sum(int column) const requires(is_exact<A>(box)) {
      return sums[box][column - left];
    }
  };

  /// Adds up the rectangles of a row.
  /// @param y,x      the user's indices of the first window
  /// @param columns  windows
  template <class View>
  GSWO_FN auto add(const View &view, int y, int x, int columns) {
    if constexpr (are_there) {
      int box = 0;
      if (columns > 0) (add_box<Boxes>(view, y, x, columns, sums[box++]), ...);
      return Image<View>{view, sums, x};
    } else {
      return view;
    }
  }

 private:
  template <class B, class View>
  static inline void add_box(const View &view, int y, int x, int columns, Sum *to) {
    Sum above[W + B::width - 1];
    GSWO_VECTORIZE
    for (int k = 0; k < columns + B::width - 1; k++) {
      Sum sum = 0;
      GSWO_UNROLL for (int dy = B::y0; dy <= B::y1; dy++) sum += (Sum)view[y + dy][x + B::x0 + k];
      above[k] = sum;
    }
    GSWO_VECTORIZE
    for (int k = 0; k < columns; k++) {
      Sum sum = 0;
      GSWO_UNROLL for (int dx = 0; dx < B::width; dx++) sum += above[k + dx];
      to[k] = sum;
    }
  }
};

/// The destination for windows inside the image that all set their pixel. Pixels of another type
/// than the user's are converted row by row: compilers then compute as many pixels at once as the
/// user's type allows, not as many as the smaller one of memory does, for which registers are too
/// few.
/// @tparam W  the most windows of a row
template <class T, class S, int W, bool = IsSame<T, S>::value>
struct OutRow {
  const Plane &plane;
  T pixels[W];

  GSWO_FN explicit OutRow(const Plane &p) : plane(p) {}

  struct Row {
    T *pixels;
    int left;
    GSWO_FN T &operator[](int column) const { return pixels[column - left]; }
  };
  struct View {
    T *pixels;
    int left;
    GSWO_FN Row operator[](int) const { return Row{pixels, left}; }
  };
  /// @param x  the user's index of the first column
  GSWO_FN View view(int x) { return View{pixels, x}; }
  /// @param y,x  the user's indices of the first pixel
  GSWO_FN void store(int y, int x, int columns) const {
    S *const to = (S *)((char *)plane.data + (y - plane.oy) * plane.pitch) + (x - plane.ox);
    GSWO_VECTORIZE
    for (int k = 0; k < columns; k++) to[k] = stored<S, T>(pixels[k]);
  }
};
template <class T, class S, int W>
struct OutRow<T, S, W, true> {
  InnerOut<T, S> out;
  GSWO_FN explicit OutRow(const Plane &p) : out(p) {}
  GSWO_FN const InnerOut<T, S> &view(int) const { return out; }
  GSWO_FN void store(int, int, int) const {}
};

/// Copies pixels [first, last) of a row to an image whose pixels may have a different type.
template <class S, class D>
inline void copy_row(const Plane &from, const Plane &to, int y, int first, int last) {
  const S *const source = (const S *)((const char *)from.data + y * from.pitch);
  D *const target = (D *)((char *)to.data + y * to.pitch);
  GSWO_VECTORIZE
  for (int x = first; x < last; x++) target[x] = stored<D>(number(source[x]));
}

}  // namespace gswo

/// A function that copies rows of an image to another one.
#define GSWO_COPY_KERNEL(name, S, D)                                                  \
  extern "C" void name(void **arguments, int first, int last, int columns) {          \
    const gswo::Plane &from = *(const gswo::Plane *)arguments[0];                     \
    const gswo::Plane &to = *(const gswo::Plane *)arguments[1];                       \
    for (int y = first; y < last; y++) gswo::copy_row<S, D>(from, to, y, 0, columns); \
  }

/// The same for the pixels at the edges, where no window of a filter writes: so many rows above and
/// below, and columns to the left and to the right.
#define GSWO_COPY_EDGES(name, S, D, above, below, left, right)               \
  extern "C" void name(void **arguments, int first, int last, int columns) { \
    const gswo::Plane &from = *(const gswo::Plane *)arguments[0];            \
    const gswo::Plane &to = *(const gswo::Plane *)arguments[1];              \
    for (int y = first; y < last; y++) {                                     \
      const bool whole = y < above || y >= to.height - below;                \
      const int low = whole || left > columns ? columns : left;              \
      gswo::copy_row<S, D>(from, to, y, 0, low);                             \
      const int high = columns - right;                                      \
      gswo::copy_row<S, D>(from, to, y, high > low ? high : low, columns);   \
    }                                                                        \
  }
