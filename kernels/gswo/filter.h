// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Applies a user's filter to every pixel of a frame; included after the user's code. GSWO_FILTER
/// is the name of the function in the namespace gswo_user. On the GPU there are also
///
///     GSWO_BLOCK_WIDTH, GSWO_BLOCK_HEIGHT   threads of a block
///     GSWO_CHUNK_WIDTH, GSWO_CHUNK_HEIGHT   pixels of a thread: 1, 2 or 4 in a row, and rows
///     GSWO_TILE       1: read the block's samples and those around it into shared memory first
///     GSWO_TEXTURE    1: read samples through the frame's texture
///     GSWO_SUMS       1: the filter may ask for sums; they are computed before it is called
///
/// A thread filters a chunk of pixels whose windows are inside the frame. Pixels at the edges take
/// longer, so they are divided among separate blocks. These are the first ones of the grid, so they
/// run concurrently with the others.
#pragma once
#include "gswo/chunk_sums.h"

#if !GSWO_CUDA
#define GSWO_TILE 0
#endif

namespace gswo {

/// Otherwise clang++ would not inline a large filter and not compute several pixels at once.
#ifdef __clang__
#define GSWO_INLINES __attribute__((flatten))
#else
#define GSWO_INLINES
#endif

/// The filter's result as a number.
template <typename View, bool whole>
GSWO_INLINES GSWO_FN auto result_of(const View &view, const Frame &frame, const Known &known, int x,
                                    int y) {
  using Result = decltype(gswo_user::GSWO_FILTER(Window<View, whole>(view, frame, known, x, y)));
  // A parameter `Result r` would be an error if Result is void.
  static_assert(
      requires(Result(&r)()) { to_sample(r()); }, "the filter has to return a number");
  const Number<Result> result =
      gswo_user::GSWO_FILTER(Window<View, whole>(view, frame, known, x, y));
  return result;
}

/// The samples of a frame, inside or outside of it.
struct FrameView {
  using Level = GSWO_SAMPLE;
  static constexpr bool often = GSWO_CUDA && !GSWO_TILE, summed = false;
  const Frame &frame;
  int x, y;
  GSWO_FN Level operator()(int dx, int dy) const { return read(frame, x + dx, y + dy); }
  GSWO_FN Level inside(int dx, int dy) const { return level_of(row_of(frame, y + dy)[x + dx]); }
};

/// The samples around a pixel whose window is inside the frame.
struct InnerView {
  using Level = GSWO_SAMPLE;
  static constexpr bool often = true, summed = false;
  const GSWO_SAMPLE *pixel;
  long long stride;
  GSWO_FN Level operator()(int dx, int dy) const {
    return level_of(*reinterpret_cast<const GSWO_SAMPLE *>(
        reinterpret_cast<const char *>(pixel + dx) + dy * stride));
  }
};

#if GSWO_CUDA

constexpr int kColumns = GSWO_CHUNK_WIDTH, kRows = GSWO_CHUNK_HEIGHT;  // of a thread
constexpr int kBlockWidth = GSWO_BLOCK_WIDTH * kColumns, kBlockRows = GSWO_BLOCK_HEIGHT * kRows;
constexpr int kThreads = GSWO_BLOCK_WIDTH * GSWO_BLOCK_HEIGHT;
/// The tile begins and ends at a multiple of a vector.
constexpr int kVector = 4;
constexpr int round_up(int n) {
  return (n + kVector - 1) / kVector * kVector;
}
constexpr int kTileLeft = round_up(kLeft);
constexpr int kTileWidth = kTileLeft + round_up(kBlockWidth) + round_up(kRight);
constexpr int kTileHeight = kBlockRows + kAbove + kBelow;

struct alignas(kVector * sizeof(GSWO_SAMPLE)) Samples {
  GSWO_SAMPLE at[kVector];
};
struct alignas(kVector * sizeof(float)) Levels {
  float at[kVector];
};
GSWO_FN unsigned long long alignment(const Frame &frame) {
  return reinterpret_cast<unsigned long long>(frame.data) | frame.stride;
}

/// The vector type that a thread writes.
struct alignas(kColumns * sizeof(GSWO_RESULT)) Results {
  GSWO_RESULT at[kColumns];
};

/// The samples in shared memory.
struct TileView {
  using Level = float;
  static constexpr bool often = true, summed = false;
  const float *pixel;
  GSWO_FN float operator()(int dx, int dy) const { return pixel[dy * kTileWidth + dx]; }
};

/// Reads the tile whose first sample is at (x0, y0) of the frame, vector by vector. Samples outside
/// the frame are not needed.
/// @tparam inside  whether the whole tile is inside the frame, so that vectors can be read
template <bool inside>
GSWO_FN void read_tile(Levels *tile, const Frame &frame, int x0, int y0) {
  constexpr int kVectors = kTileWidth / kVector, kAll = kVectors * kTileHeight;
  const int thread = threadIdx.y * GSWO_BLOCK_WIDTH + threadIdx.x;
  const bool aligned =
      inside || ((alignment(frame) | x0 * sizeof(GSWO_SAMPLE)) % sizeof(Samples) == 0);
  constexpr int kAtOnce = inside ? 64 : 2;
#pragma unroll kAtOnce
  for (int first = 0; first < kAll; first += kThreads) {
    const int i = first + thread;
    if (first + kThreads > kAll && i >= kAll) break;
    const int y = y0 + i / kVectors, x = x0 + i % kVectors * kVector;
    if (!inside && (y < 0 || y >= frame.height || x + kVector <= 0 || x >= frame.width)) continue;
    const GSWO_SAMPLE *from = row_of(frame, y) + x;
    Samples samples{};
    if (inside || (aligned && x >= 0 && x + kVector <= frame.width)) {
      samples = *reinterpret_cast<const Samples *>(from);
    } else {
      GSWO_UNROLL for (int k = 0; k < kVector; ++k) if (x + k >= 0 && x + k < frame.width)
          samples.at[k] = from[k];
    }
    Levels levels;
    GSWO_UNROLL for (int k = 0; k < kVector; ++k) levels.at[k] =
        static_cast<float>(level_of(samples.at[k]));
    tile[i] = levels;
  }
}

GSWO_FN GSWO_RESULT *sample_at(const Frame &out, int x, int y) {
  return reinterpret_cast<GSWO_RESULT *>(static_cast<char *>(out.data) + y * out.stride) + x;
}

/// The values of planes at a thread's pixels. They are read before any result is written, because
/// for the compiler a result could change them.
struct KnownChunk {
  template <typename T>
  struct alignas(kColumns * sizeof(T)) Row {
    T at[kColumns];

    Row() = default;
    GSWO_FN Row(const Frame &plane, int x, int y)
        : Row(*reinterpret_cast<const Row *>(row_of<T>(plane, y) + x)) {}
  };
  Row<GSWO_SAMPLE> levels[kRows][kLevelPlanes ? kLevelPlanes : 1];
  Row<unsigned> sums[kRows];
  Row<PlaneSquares> squares[kRows];

  /// @param x  a multiple of kColumns
  GSWO_FN KnownChunk([[maybe_unused]] const Input &in, [[maybe_unused]] int x,
                     [[maybe_unused]] int y) {
#if GSWO_PLANES
    GSWO_UNROLL for (int i = 0; i < kRows; ++i) {
      GSWO_UNROLL for (int n = 0; n < kLevelPlanes; ++n) levels[i][n] = {in.planes[n], x, y + i};
      if constexpr (kHasSum) sums[i] = {in.planes[kLevelPlanes], x, y + i};
      if constexpr (kHasSquares) squares[i] = {in.planes[kLevelPlanes + kHasSum], x, y + i};
    }
#endif
  }
  GSWO_FN Known at([[maybe_unused]] int column, [[maybe_unused]] int row) const {
    Known known{};
#if GSWO_PLANES
    GSWO_UNROLL for (int n = 0; n < kLevelPlanes; ++n) known.at[n] =
        level_of(levels[row][n].at[column]);
    if constexpr (kHasSum) known.sum = sums[row].at[column];
    if constexpr (kHasSquares)
      known.squares = static_cast<unsigned long long>(squares[row].at[column]);
#endif
    return known;
  }
};

/// Filters a thread's pixels from (x, y) on; their windows are inside the frame.
/// @param pixel  the sample of the first one in the tile
GSWO_FN void filter_chunk([[maybe_unused]] const float *pixel, const Input &in, const Frame &out,
                          int x, int y) {
  const bool aligned = alignment(out) % sizeof(Results) == 0;
  const KnownChunk known(in, x, y);
  const auto view_of = [&](int k, int i) {
#if GSWO_TILE
    return ChunkView<TileView>{pixel + i * kTileWidth + k};
#elif GSWO_TEXTURE
    return ChunkView<FrameView>{in, x + k, y + i};
#else
    return ChunkView<InnerView>{row_of(in, y + i) + x + k, in.stride};
#endif
  };
  using View = decltype(view_of(0, 0));
  ChunkSums<View, kColumns, kRows> sums(view_of(0, 0));
  GSWO_UNROLL for (int i = 0; i < kRows; ++i) {
    if (i > 0) sums.advance(i - 1);
    Results results;
    GSWO_UNROLL for (int k = 0; k < kColumns; ++k) {
      Known of_pixel = known.at(k, i);
      sums.tell(of_pixel, k);
      results.at[k] = to_sample(result_of<View, true>(view_of(k, i), in, of_pixel, x + k, y + i));
    }
    GSWO_RESULT *to = sample_at(out, x, y + i);
    if (kColumns == 1 || aligned)
      *reinterpret_cast<Results *>(to) = results;
    else
      GSWO_UNROLL for (int k = 0; k < kColumns; ++k) to[k] = results.at[k];
  }
}

/// The pixels of whole chunks whose windows are inside the frame: [left, right) x [top, bottom).
struct Inside {
  int left, top, right, bottom;
  GSWO_FN explicit Inside(const Frame &frame)
      : left((kLeft + kColumns - 1) / kColumns * kColumns),
        top((kAbove + kRows - 1) / kRows * kRows) {
    right = (frame.width - kRight) / kColumns * kColumns;
    bottom = (frame.height - kBelow) / kRows * kRows;
    if (left >= right || top >= bottom) left = right = top = bottom = 0;
  }
  GSWO_FN bool has(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
};

/// Filters every `step`-th of the other pixels of a frame, from number `first` on.
GSWO_FN void filter_edges(const Input &in, const Frame &out, const Inside &inside, int first,
                          int step) {
  const int above = inside.top * in.width, below = (in.height - inside.bottom) * in.width;
  const int beside = in.width - (inside.right - inside.left);
  const int all = above + below + beside * (inside.bottom - inside.top);
#pragma unroll 1
  for (int i = first; i < all; i += step) {
    int x, y;
    if (i < above + below) {
      x = i % in.width;
      y = i / in.width + (i < above ? 0 : inside.bottom - inside.top);
    } else {
      x = (i - above - below) % beside;
      y = (i - above - below) / beside + inside.top;
      if (x >= inside.left) x += inside.right - inside.left;
    }
    const FrameView view{in, x, y};
    *sample_at(out, x, y) =
        to_sample(result_of<FrameView, !kClips>(view, in, known_at(in, x, y), x, y));
  }
}

#endif

}  // namespace gswo

#if GSWO_CUDA

/// The last rows of blocks filter kBlockWidth columns of kBlockRows rows each; the others, the
/// edges.
extern "C" __global__ void __launch_bounds__(GSWO_BLOCK_WIDTH *GSWO_BLOCK_HEIGHT)
    gswo_filter(const gswo::Input in, const gswo::Frame out) {
  using namespace gswo;
  const Inside inside(in);
  const int edge_rows = gridDim.y - (in.height + kBlockRows - 1) / kBlockRows;
  const int block = blockIdx.y - edge_rows;
  if (block < 0) {
    const int thread = (blockIdx.y * gridDim.x + blockIdx.x) * kThreads +
                       threadIdx.y * GSWO_BLOCK_WIDTH + threadIdx.x;
    filter_edges(in, out, inside, thread, edge_rows * gridDim.x * kThreads);
    return;
  }
  const int x0 = blockIdx.x * kBlockWidth, y0 = block * kBlockRows;
  const int dx = threadIdx.x * kColumns, dy = threadIdx.y * kRows;
  const float *pixel = nullptr;
#if GSWO_TILE
  __shared__ Levels tile[kTileWidth / kVector * kTileHeight];
  const int left = x0 - kTileLeft, top = y0 - kAbove;
  if (left >= 0 && left + kTileWidth <= in.width && top >= 0 && top + kTileHeight <= in.height &&
      (alignment(in) | x0 * sizeof(GSWO_SAMPLE)) % sizeof(Samples) == 0)
    read_tile<true>(tile, in, left, top);
  else
    read_tile<false>(tile, in, left, top);
  __syncthreads();
  pixel = reinterpret_cast<const float *>(tile) + (dy + kAbove) * kTileWidth + dx + kTileLeft;
#endif
  if (inside.has(x0 + dx, y0 + dy)) filter_chunk(pixel, in, out, x0 + dx, y0 + dy);
}

#else

namespace gswo {

/// Filters at most kStrip pixels [begin, end) of a row whose windows are inside the frame. The
/// results stay in a local array until all are computed, so that the loop can be vectorised over
/// pixels.
constexpr int kStrip = 256;
inline void filter_strip(const Input &in, GSWO_RESULT *to, int y, int begin, int end) {
  const GSWO_SAMPLE *row = row_of(in, y);
  const Input frame = in;
  const auto result_at = [&](int x) __attribute__((always_inline)) {
    return result_of<InnerView, true>(InnerView{row + x, frame.stride}, frame,
                                      known_at(frame, x, y), x, y);
  };
  decltype(result_at(0)) results[kStrip];
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (int i = 0; i < end - begin; ++i) results[i] = result_at(begin + i);
  for (int i = 0; i < end - begin; ++i) to[begin + i] = to_sample(results[i]);
}

inline void filter_edge(const Input &in, GSWO_RESULT *to, int y, int begin, int end) {
  for (int x = begin; x < end; ++x) {
    const FrameView view{in, x, y};
    to[x] = to_sample(result_of<FrameView, !kClips>(view, in, known_at(in, x, y), x, y));
  }
}

}  // namespace gswo

/// Filters the rows [begin, end).
extern "C" __attribute__((visibility("default"))) void gswo_filter(const gswo::Input *in,
                                                                   const gswo::Frame *out,
                                                                   int begin, int end) {
  using namespace gswo;
  for (int y = begin; y < end; ++y) {
    auto to = reinterpret_cast<GSWO_RESULT *>(static_cast<char *>(out->data) + y * out->stride);
    const bool inner = y >= kAbove && y + kBelow < in->height && in->width > kLeft + kRight;
    const int first = inner ? kLeft : in->width, last = inner ? in->width - kRight : in->width;
    filter_edge(*in, to, y, 0, first);
    for (int x = first; x < last; x += kStrip)
      filter_strip(*in, to, y, x, last - x < kStrip ? last : x + kStrip);
    filter_edge(*in, to, y, last, in->width);
  }
}

#endif
