// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/luma.h"

#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/luma/pixel.h"
#include "kernels/luma/quads.cuh"
#include "kernels/planes.h"

namespace cudascan {
namespace lumas {
namespace {

constexpr dim3 kBlock(32, 8);

/// Everything that is the same for all threads of a launch.
template <typename T>
struct RgbJob {
  RgbPlanes<const T> in;
  RgbPlanes<T> out;  ///< unless the luma is the result
  LumaWeights weights;
  Plane<const T> luma;
  Plane<T> result;  ///< the luma, if it is the result
  bool kept;        ///< the colours
  QuadLayout layout;

  /// The first samples of a quad, or of its pixels.
  template <int step, typename Planes>
  __device__ auto quad(const Planes &of, int x, int y) const {
    using Pointer = decltype(of.red.data);
    struct {
      Pointer of[4];
    } at{};
    at.of[0] = of.red.row(y) + x * step - (step == 1 ? 0 : layout.offset[0]);
    if constexpr (step == 1) {
      at.of[1] = of.green.row(y) + x;
      at.of[2] = of.blue.row(y) + x;
    }
    return at;
  }

  __device__ void load(int x, int y, unsigned (&rgb)[3]) const {
    rgb[0] = in.red.row(y)[x * in.step];
    rgb[1] = in.green.row(y)[x * in.step];
    rgb[2] = in.blue.row(y)[x * in.step];
  }
  __device__ void get(int x, int y) const {
    unsigned rgb[3];
    load(x, y, rgb);
    result.row(y)[x] = static_cast<T>(luma_of(rgb, weights));
  }
  __device__ void paint(unsigned (&rgb)[3], unsigned level) const {
    if (kept)
      recolor(rgb, weights, level, luma.maximum);
    else
      rgb[0] = rgb[1] = rgb[2] = level;
  }
  __device__ void set(int x, int y) const {
    unsigned rgb[3];
    load(x, y, rgb);
    paint(rgb, luma.row(y)[x]);
    out.red.row(y)[x * in.step] = static_cast<T>(rgb[0]);
    out.green.row(y)[x * in.step] = static_cast<T>(rgb[1]);
    out.blue.row(y)[x * in.step] = static_cast<T>(rgb[2]);
    if (in.other.data && out.other.data)
      out.other.row(y)[x * in.step] = in.is_alpha ? in.other.row(y)[x * in.step] : luma.maximum;
  }
};

/// The pixel (or, if there is a step, the first pixel of the quad) of this thread.
template <int step>
__device__ inline int2 place() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * (step ? kQuad : 1),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

/// @tparam step  that of the image, whose rows are aligned for quads; or 0: pixel by pixel
template <typename T, int step>
__global__ void get_luma_kernel(const __grid_constant__ RgbJob<T> job) {
  const int x = place<step>().x, y = place<step>().y;
  if (x >= job.result.width || y >= job.result.height) return;
  if constexpr (step == 0) {
    job.get(x, y);
  } else if (x + kQuad > job.result.width) {
    for (int i = x; i < job.result.width; ++i) job.get(i, y);
  } else {
    const Quad quad = load_quad<T, step>(job.template quad<step>(job.in, x, y).of, job.layout);
    unsigned words[kWords<T>] = {};
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      const unsigned rgb[3] = {quad.sample[i][0], quad.sample[i][1], quad.sample[i][2]};
      add_sample<T>(words, i, luma_of(rgb, job.weights));
    }
    store_words(words, job.result.row(y) + x);
  }
}

template <typename T, int step>
__global__ void set_luma_kernel(const __grid_constant__ RgbJob<T> job) {
  const int x = place<step>().x, y = place<step>().y;
  if (x >= job.luma.width || y >= job.luma.height) return;
  if constexpr (step == 0) {
    job.set(x, y);
  } else if (x + kQuad > job.luma.width) {
    for (int i = x; i < job.luma.width; ++i) job.set(i, y);
  } else {
    // Gray pixels without alpha need nothing of the input.
    Quad quad{};
    if (job.kept || (job.in.other.data && job.in.is_alpha))
      quad = load_quad<T, step>(job.template quad<step>(job.in, x, y).of, job.layout);
    unsigned words[kWords<T>];
    load_words(job.luma.row(y) + x, words);
#pragma unroll
    for (int i = 0; i < kQuad; ++i) {
      unsigned rgb[3] = {quad.sample[i][0], quad.sample[i][1], quad.sample[i][2]};
      job.paint(rgb, sample_of<T>(words, i));
#pragma unroll
      for (int c = 0; c < 3; ++c) quad.sample[i][c] = rgb[c];
      if (!job.in.is_alpha) quad.sample[i][3] = job.luma.maximum;
    }
    store_quad<T, step>(quad, job.layout, job.template quad<step>(job.out, x, y).of);
  }
}

template <typename T>
struct YuvJob {
  PackedYuv<const T> in;
  PackedYuv<T> out;
  Plane<const T> luma;
  Plane<T> result;
  bool kept;
  T neutral;
};

template <typename T>
__global__ void get_packed_kernel(const __grid_constant__ YuvJob<T> job) {
  const int x = place<0>().x, y = place<0>().y;
  if (x < job.result.width && y < job.result.height)
    job.result.row(y)[x] = job.in.samples.row(y)[job.in.first + x * job.in.step];
}

/// Each thread writes a sample.
template <typename T>
__global__ void set_packed_kernel(const __grid_constant__ YuvJob<T> job) {
  const int i = place<0>().x, y = place<0>().y;
  if (i >= job.in.samples.width || y >= job.luma.height) return;
  const int x = (i - job.in.first) / job.in.step;
  T sample;
  if (i >= job.in.first && (i - job.in.first) % job.in.step == 0 && x < job.luma.width)
    sample = job.luma.row(y)[x];
  else if (job.kept || (job.in.alpha >= 0 && (i - job.in.alpha) % job.in.step == 0))
    sample = job.in.samples.row(y)[i];
  else
    sample = job.neutral;
  job.out.samples.row(y)[i] = sample;
}

bool is_aligned(const void *data, std::ptrdiff_t stride, int height, std::ptrdiff_t to) {
  return reinterpret_cast<std::uintptr_t>(data) % to == 0 && (height == 1 || stride % to == 0);
}

template <typename T>
bool is_aligned(Plane<T> plane, std::ptrdiff_t to) {
  return is_aligned(plane.data, plane.stride, plane.height, to);
}

/// Where the pixels of a packed image begin, given the places of its samples.
template <typename T>
Plane<T> pixels_of(const RgbPlanes<T> &rgb) {
  Plane<T> pixels = rgb.red;
  pixels.data = std::min({rgb.red.data, rgb.green.data, rgb.blue.data,
                          rgb.other.data ? rgb.other.data : rgb.red.data});
  return pixels;
}

template <typename T>
QuadLayout layout_of(const RgbPlanes<T> &rgb) {
  const T *const first = pixels_of(rgb).data;
  const auto place = [&](const T *data) { return static_cast<int>(data - first); };
  return {{place(rgb.red.data), place(rgb.green.data), place(rgb.blue.data),
           place(rgb.other.data ? rgb.other.data : rgb.red.data)}};
}

/// Whether quads of this step can be read and written.
template <int step, typename T>
bool fits(const RgbPlanes<T> &rgb) {
  constexpr int kTo = kAlignment<step * kWords<T>>;
  if constexpr (step == 1)
    return is_aligned(rgb.red, kTo) && is_aligned(rgb.green, kTo) && is_aligned(rgb.blue, kTo);
  const QuadLayout layout = layout_of(rgb);
  const bool complete = (step == 4) == (rgb.other.data != nullptr);
  return complete && is_aligned(pixels_of(rgb), kTo) && rgb.red.stride == rgb.green.stride &&
         rgb.red.stride == rgb.blue.stride &&
         *std::max_element(layout.offset, layout.offset + 4) == step - 1;
}

/// The step for quads, or 0.
template <typename T, typename... More>
int step_for(Plane<T> luma, const RgbPlanes<T> &rgb, const More &...more) {
  if (!is_aligned(luma, kAlignment<kWords<T>>)) return 0;
  const auto all = [&](auto step) {
    return rgb.step == step && fits<step>(rgb) && (fits<step>(more) && ... && true);
  };
  if (all(std::integral_constant<int, 1>())) return 1;
  if (all(std::integral_constant<int, 3>())) return 3;
  if (all(std::integral_constant<int, 4>())) return 4;
  return 0;
}

dim3 grid_of(int width, int height) {
  return {static_cast<unsigned>(divide_up(width, kBlock.x)),
          static_cast<unsigned>(divide_up(height, kBlock.y))};
}

/// Launches the kernel of a step: select.operator()<step>().
template <typename T, typename Select>
void launch_rgb(Cuda &cuda, int step, int width, int height, const RgbJob<T> &job,
                const Select &select) {
  const dim3 grid = grid_of(step ? divide_up(width, kQuad) : width, height);
  const auto run = [&](auto constant) { launch(cuda, select(constant), {grid, kBlock}, job); };
  if (step == 1) return run(std::integral_constant<int, 1>());
  if (step == 3) return run(std::integral_constant<int, 3>());
  if (step == 4) return run(std::integral_constant<int, 4>());
  run(std::integral_constant<int, 0>());
}

template <typename T>
void get(Cuda &cuda, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<T> out) {
  check(in, out);
  const int step = step_for<const T>(out, in);
  launch_rgb(cuda, step, out.width, out.height,
             RgbJob<T>{in, {}, weights, out, out, false, layout_of(in)},
             [](auto s) { return get_luma_kernel<T, s>; });
}

template <typename T>
void set(Cuda &cuda, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<const T> luma,
         Colors colors, const RgbPlanes<T> &out) {
  check(in, out, luma);
  const RgbPlanes<const T> written{out.red, out.green, out.blue, out.other, out.is_alpha, out.step};
  int step = step_for(luma, in, written);
  const QuadLayout from = layout_of(in), to = layout_of(written);
  if (step > 1 && !std::equal(from.offset, from.offset + 4, to.offset)) step = 0;
  launch_rgb(cuda, step, luma.width, luma.height,
             RgbJob<T>{in, out, weights, luma, {}, colors == Colors::kept, from},
             [](auto s) { return set_luma_kernel<T, s>; });
  if (step == 1 && in.other.data && out.other.data) copy(cuda, in.other, out.other);
}

template <typename T>
void get(Cuda &cuda, const PackedYuv<const T> &in, Plane<T> out) {
  check(in, out);
  launch(cuda, get_packed_kernel<T>, {grid_of(out.width, out.height), kBlock},
         YuvJob<T>{in, {}, {}, out, false, 0});
}

template <typename T>
void set(Cuda &cuda, const PackedYuv<const T> &in, Plane<const T> luma, Colors colors,
         const PackedYuv<T> &out) {
  check(in, out, luma);
  launch(cuda, set_packed_kernel<T>, {grid_of(in.samples.width, luma.height), kBlock},
         YuvJob<T>{in, out, luma, {}, colors == Colors::kept, neutral(luma.maximum)});
}

}  // namespace
}  // namespace lumas

void get_luma(Cuda &cuda, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &weights,
              Plane<std::uint8_t> out) {
  lumas::get(cuda, in, weights, out);
}
void get_luma(Cuda &cuda, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &weights,
              Plane<std::uint16_t> out) {
  lumas::get(cuda, in, weights, out);
}
void get_luma(Cuda &cuda, const PackedYuv<const std::uint8_t> &in, Plane<std::uint8_t> out) {
  lumas::get(cuda, in, out);
}
void get_luma(Cuda &cuda, const PackedYuv<const std::uint16_t> &in, Plane<std::uint16_t> out) {
  lumas::get(cuda, in, out);
}
void set_luma(Cuda &cuda, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &weights,
              Plane<const std::uint8_t> luma, Colors colors, const RgbPlanes<std::uint8_t> &out) {
  lumas::set(cuda, in, weights, luma, colors, out);
}
void set_luma(Cuda &cuda, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &weights,
              Plane<const std::uint16_t> luma, Colors colors, const RgbPlanes<std::uint16_t> &out) {
  lumas::set(cuda, in, weights, luma, colors, out);
}
void set_luma(Cuda &cuda, const PackedYuv<const std::uint8_t> &in, Plane<const std::uint8_t> luma,
              Colors colors, const PackedYuv<std::uint8_t> &out) {
  lumas::set(cuda, in, luma, colors, out);
}
void set_luma(Cuda &cuda, const PackedYuv<const std::uint16_t> &in, Plane<const std::uint16_t> luma,
              Colors colors, const PackedYuv<std::uint16_t> &out) {
  lumas::set(cuda, in, luma, colors, out);
}

}  // namespace cudascan
