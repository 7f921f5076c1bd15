// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Lays a user's filter on every pixel of a frame; included behind the user's text. GSWO_FILTER is the name
/// of the function, a member of the namespace gswo_user. On the GPU also
///
///     GSWO_BLOCK_HEIGHT   rows of 32 threads in a block
///     GSWO_CHUNK          rows of pixels for a thread, one below the other
///     GSWO_TILE           1: the block's samples and those around them are read into shared memory first
#pragma once

#if !GSWO_CUDA
#define GSWO_TILE 0
#endif

namespace gswo {

/// What the filter returns, as a number.
template <typename View, bool whole>
GSWO_FN auto result_of(const View &view, const Frame &frame, int x, int y) {
  using Result = decltype(gswo_user::GSWO_FILTER(Window<View, whole>(view, frame, x, y)));
  static_assert(requires(Result r) { to_sample(r); }, "the filter has to return a number");
  const Number<Result> result = gswo_user::GSWO_FILTER(Window<View, whole>(view, frame, x, y));
  return result;
}

/// The samples of a frame, wherever they are.
struct FrameView {
  using Level = GSWO_SAMPLE;
  static constexpr bool often = GSWO_CUDA && !GSWO_TILE;
  const Frame &frame;
  int x, y;
  GSWO_FN Level operator()(int dx, int dy) const { return read(frame, x + dx, y + dy); }
};

#if GSWO_CUDA

constexpr int kBlockWidth = 32, kBlockRows = GSWO_BLOCK_HEIGHT * GSWO_CHUNK;
constexpr int kTileWidth = kBlockWidth + kLeft + kRight, kTileHeight = kBlockRows + kAbove + kBelow;

/// The samples in shared memory.
struct TileView {
  using Level = float;
  static constexpr bool often = true;
  const float *pixel;
  GSWO_FN float operator()(int dx, int dy) const { return pixel[dy * kTileWidth + dx]; }
};

/// Reads the tile whose first sample stands at (x0, y0) of the frame; what is outside is the border's.
template <bool inside>
GSWO_FN void read_tile(float *tile, const Frame &frame, int x0, int y0) {
  for (int row = threadIdx.y; row < kTileHeight; row += GSWO_BLOCK_HEIGHT) {
    const GSWO_SAMPLE *from = inside ? row_of(frame, y0 + row) + x0 : nullptr;
    GSWO_UNROLL for (int column = 0; column < kTileWidth; column += kBlockWidth) {
      const int c = column + threadIdx.x;
      if (column + kBlockWidth <= kTileWidth || c < kTileWidth)
        tile[row * kTileWidth + c] = 
            static_cast<float>(inside ? level_of(from[c]) : read(frame, x0 + c, y0 + row));
    }
  }
}

/// A thread's pixels, from (x, y) downwards.
template <bool inside, bool whole>
GSWO_FN void filter_chunk(const float *pixel, const Frame &in, const Frame &out, int x, int y) {
  GSWO_UNROLL for (int i = 0; i < GSWO_CHUNK; ++i) {
    if (!inside && (x >= in.width || y + i >= in.height)) return;
    GSWO_RESULT *to = reinterpret_cast<GSWO_RESULT *>(static_cast<char *>(out.data) +
                                                      (y + i) * out.stride) + x;
#if GSWO_TILE
    const TileView view{pixel + i * kTileWidth};
#else
    const FrameView view{in, x, y + i};
#endif
    *to = to_sample(result_of<decltype(view), whole>(view, in, x, y + i));
  }
}

#endif

}  // namespace gswo

#if GSWO_CUDA

/// One block filters 32 columns of GSWO_BLOCK_HEIGHT * GSWO_CHUNK rows.
extern "C" __global__ void __launch_bounds__(32 * GSWO_BLOCK_HEIGHT)
    gswo_filter(const gswo::Frame in, const gswo::Frame out) {
  using namespace gswo;
  const int x0 = blockIdx.x * kBlockWidth, y0 = blockIdx.y * kBlockRows;
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y * GSWO_CHUNK;
  const bool inside = x0 >= kLeft && x0 + kBlockWidth + kRight <= in.width && y0 >= kAbove &&
                      y0 + kBlockRows + kBelow <= in.height;
#if GSWO_TILE
  __shared__ float tile[kTileWidth * kTileHeight];
  if (inside)
    read_tile<true>(tile, in, x0 - kLeft, y0 - kAbove);
  else
    read_tile<false>(tile, in, x0 - kLeft, y0 - kAbove);
  __syncthreads();
  const float *pixel =
      tile + (threadIdx.y * GSWO_CHUNK + kAbove) * kTileWidth + threadIdx.x + kLeft;
#else
  const float *pixel = nullptr;
#endif
  if (inside)
    filter_chunk<true, true>(pixel, in, out, x, y);
  else
    filter_chunk<false, !kClips>(pixel, in, out, x, y);
}

#else

namespace gswo {

/// The samples around one whose window lies in the frame.
struct InnerView {
  using Level = GSWO_SAMPLE;
  static constexpr bool often = true;
  const GSWO_SAMPLE *pixel;
  long long stride;
  GSWO_FN Level operator()(int dx, int dy) const {
    return level_of(*reinterpret_cast<const GSWO_SAMPLE *>(
        reinterpret_cast<const char *>(pixel + dx) + dy * stride));
  }
};

/// Pixels [begin, end) of a row whose windows lie in the frame, at most kStrip of them. The results stay in
/// an array that nothing else can see until all are there: so the loop runs over several pixels at once.
constexpr int kStrip = 256;
inline void filter_strip(const Frame &in, GSWO_RESULT *to, int y, int begin, int end) {
  const GSWO_SAMPLE *row = row_of(in, y);
  const Frame frame = in;
  const auto result_at = [&](int x) {
    return result_of<InnerView, true>(InnerView{row + x, frame.stride}, frame, x, y);
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

inline void filter_edge(const Frame &in, GSWO_RESULT *to, int y, int begin, int end) {
  for (int x = begin; x < end; ++x) {
    const FrameView view{in, x, y};
    to[x] = to_sample(result_of<FrameView, !kClips>(view, in, x, y));
  }
}

}  // namespace gswo

/// Filters the rows [begin, end).
extern "C" __attribute__((visibility("default"))) void gswo_filter(const gswo::Frame *in,
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
