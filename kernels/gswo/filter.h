// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Lays a user's filter on every pixel of a frame; included behind the user's text. GSWO_FILTER is the name
/// of the function, a member of the namespace gswo_user. On the GPU also
///
///     GSWO_BLOCK_WIDTH, GSWO_BLOCK_HEIGHT   threads of a block
///     GSWO_CHUNK          rows of pixels for a thread, one below the other
///     GSWO_TILE           1: the block's samples and those around them are read into shared memory first
///     GSWO_TEXTURE        1: samples are read through the frame's texture
#pragma once

#if !GSWO_CUDA
#define GSWO_TILE 0
#endif

namespace gswo {

/// What the filter returns, as a number.
template <typename View, bool whole>
GSWO_FN auto result_of(const View &view, const Frame &frame, int x, int y) {
  using Result = decltype(gswo_user::GSWO_FILTER(Window<View, whole>(view, frame, x, y)));
  static_assert(
      requires(Result r) { to_sample(r); }, "the filter has to return a number");
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

constexpr int kBlockWidth = GSWO_BLOCK_WIDTH, kBlockRows = GSWO_BLOCK_HEIGHT * GSWO_CHUNK;
constexpr int kThreads = kBlockWidth * GSWO_BLOCK_HEIGHT;
/// The tile begins and ends at a multiple of a vector.
constexpr int kVector = 4;
constexpr int kTileLeft = (kLeft + kVector - 1) / kVector * kVector;
constexpr int kTileWidth = kTileLeft + (kBlockWidth + kVector - 1) / kVector * kVector +
                           (kRight + kVector - 1) / kVector * kVector;
constexpr int kTileHeight = kBlockRows + kAbove + kBelow;

struct alignas(kVector * sizeof(GSWO_SAMPLE)) Samples {
  GSWO_SAMPLE at[kVector];
};
struct alignas(kVector * sizeof(float)) Levels {
  float at[kVector];
};

/// The samples in shared memory.
struct TileView {
  using Level = float;
  static constexpr bool often = true;
  const float *pixel;
  GSWO_FN float operator()(int dx, int dy) const { return pixel[dy * kTileWidth + dx]; }
};

/// Reads the tile whose first sample stands at (x0, y0) of the frame, vector by vector.
GSWO_FN void read_vectors(float *tile, const Frame &frame, int x0, int y0) {
  constexpr int kColumns = kTileWidth / kVector, kVectors = kColumns * kTileHeight;
  const int thread = threadIdx.y * kBlockWidth + threadIdx.x;
  GSWO_UNROLL for (int first = 0; first < kVectors; first += kThreads) {
    const int i = first + thread;
    if (first + kThreads > kVectors && i >= kVectors) break;
    const int row = i / kColumns, column = i % kColumns;
    const Samples samples = reinterpret_cast<const Samples *>(row_of(frame, y0 + row) + x0)[column];
    Levels levels;
    GSWO_UNROLL for (int k = 0; k < kVector; ++k) levels.at[k] =
        static_cast<float>(level_of(samples.at[k]));
    reinterpret_cast<Levels *>(tile)[i] = levels;
  }
}

/// The same sample by sample; what is outside of the frame is the border's.
GSWO_FN void read_samples(float *tile, const Frame &frame, int x0, int y0) {
  for (int row = threadIdx.y; row < kTileHeight; row += GSWO_BLOCK_HEIGHT)
    for (int column = threadIdx.x; column < kTileWidth; column += kBlockWidth)
      tile[row * kTileWidth + column] = static_cast<float>(read(frame, x0 + column, y0 + row));
}

/// A thread's pixels, from (x, y) downwards.
template <bool inside, bool whole>
GSWO_FN void filter_chunk([[maybe_unused]] const float *pixel, const Frame &in, const Frame &out,
                          int x, int y) {
  char *to = static_cast<char *>(out.data) + y * out.stride + x * sizeof(GSWO_RESULT);
  constexpr int kAtOnce = whole ? GSWO_CHUNK : 1;  // what is at an edge stays short
#pragma unroll kAtOnce
  for (int i = 0; i < GSWO_CHUNK; ++i) {
    if (!inside && (x >= in.width || y + i >= in.height)) return;
#if GSWO_TILE
    using View = TileView;
    const View view{pixel + i * kTileWidth};
#else
    using View = FrameView;
    const View view{in, x, y + i};
#endif
    *reinterpret_cast<GSWO_RESULT *>(to) = to_sample(result_of<View, whole>(view, in, x, y + i));
    to += out.stride;
  }
}

#endif

}  // namespace gswo

#if GSWO_CUDA

/// One block filters GSWO_BLOCK_WIDTH columns of GSWO_BLOCK_HEIGHT * GSWO_CHUNK rows.
extern "C" __global__ void __launch_bounds__(GSWO_BLOCK_WIDTH *GSWO_BLOCK_HEIGHT)
    gswo_filter(const gswo::Frame in, const gswo::Frame out) {
  using namespace gswo;
  const int x0 = blockIdx.x * kBlockWidth, y0 = blockIdx.y * kBlockRows;
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y * GSWO_CHUNK;
  const bool inside = x0 >= kTileLeft && x0 - kTileLeft + kTileWidth <= in.width && y0 >= kAbove &&
                      y0 + kBlockRows + kBelow <= in.height;
#if GSWO_TILE
  __shared__ Levels vectors[kTileWidth / kVector * kTileHeight];
  float *tile = vectors[0].at;
  const auto address = reinterpret_cast<unsigned long long>(in.data) | in.stride;
  if (inside && kBlockWidth % kVector == 0 && address % sizeof(Samples) == 0)
    read_vectors(tile, in, x0 - kTileLeft, y0 - kAbove);
  else
    read_samples(tile, in, x0 - kTileLeft, y0 - kAbove);
  __syncthreads();
  const float *pixel =
      tile + (threadIdx.y * GSWO_CHUNK + kAbove) * kTileWidth + threadIdx.x + kTileLeft;
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
