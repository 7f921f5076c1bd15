// SPDX-License-Identifier: LGPL-2.1-or-later
// The luma of RGB.
#include "kernels/luma/layout.h"
#include "kernels/luma/pixel.h"
#include "kernels/luma/units.cuh"

namespace cudascan {
namespace lumas {
namespace {

/// Everything that is the same for all threads of a launch.
template <typename T>
struct RgbJob {
  RgbPlanes<const T> in;
  RgbPlanes<T> out;  ///< unless the luma is the result
  LumaWeights weights;
  ColourOrder order;
  Plane<const T> luma;
  Plane<T> result;  ///< the luma, if it is the result
};

/// Words of a unit: of packed pixels, or one of each plane.
template <int step>
inline constexpr int kWords = step == 1 ? 3 : step;

/// The sample of colour c, in the order of memory, of pixel i; c = 3 is the fourth one.
template <typename T, int step>
__device__ inline unsigned colour_of(const unsigned (&words)[kWords<step>], int first, int i,
                                     int c) {
  if constexpr (step == 1) return sample_of<T>(words, c * kPixels<T> + i);
  if constexpr (step == 3) return sample_of<T>(words, 3 * i + c);
  const unsigned after = sample_of<T>(words, step * i + (c + 1) % 4),
                 here = sample_of<T>(words, step * i + c);
  return first ? after : here;
}

/// Puts a pixel's samples into words that are 0 before: three colours and the fourth sample.
template <typename T, int step>
__device__ inline void add_pixel(unsigned (&words)[kWords<step>], int first, int i,
                                 const unsigned (&sample)[4]) {
#pragma unroll
  for (int c = 0; c < kWords<step>; ++c) {
    if constexpr (step == 1)
      add_sample<T>(words, c * kPixels<T> + i, sample[c]);
    else if constexpr (step == 3)
      add_sample<T>(words, 3 * i + c, sample[c]);
    else
      add_sample<T>(words, 4 * i + c, first ? sample[(c + 3) % 4] : sample[c]);
  }
}

/// The words of the unit at pixel x.
/// @param red  the place of red in a packed pixel
template <int step, typename T>
__device__ inline void load_unit(const RgbPlanes<const T> &of, int red, int x, int y,
                                 unsigned (&words)[kWords<step>]) {
  if constexpr (step == 1) {
    const auto word = [&](Plane<const T> plane) {
      return *reinterpret_cast<const unsigned *>(plane.row(y) + x);
    };
    words[0] = word(of.red), words[1] = word(of.green), words[2] = word(of.blue);
  } else {
    load_words(of.red.row(y) + x * step - red, words);
  }
}
template <int step, typename T>
__device__ inline void store_unit(const unsigned (&words)[kWords<step>], int red, int x, int y,
                                  const RgbPlanes<T> &of) {
  if constexpr (step == 1) {
    const auto store = [&](unsigned word, Plane<T> plane) {
      *reinterpret_cast<unsigned *>(plane.row(y) + x) = word;
    };
    store(words[0], of.red), store(words[1], of.green), store(words[2], of.blue);
  } else {
    store_words(words, of.red.row(y) + x * step - red);
  }
}

template <typename T>
__device__ inline void load_pixel(const RgbPlanes<const T> &of, int x, int y, unsigned (&rgb)[3]) {
  rgb[0] = of.red.row(y)[x * of.step];
  rgb[1] = of.green.row(y)[x * of.step];
  rgb[2] = of.blue.row(y)[x * of.step];
}

template <typename T>
__device__ void get_pixel(const RgbJob<T> &job, int x, int y) {
  unsigned rgb[3];
  load_pixel(job.in, x, y, rgb);
  job.result.row(y)[x] = static_cast<T>(luma_of(rgb, job.weights));
}

template <typename T, bool kept>
__device__ void set_pixel(const RgbJob<T> &job, int x, int y) {
  const unsigned level = job.luma.row(y)[x];
  unsigned rgb[3] = {level, level, level};
  if constexpr (kept) {
    load_pixel(job.in, x, y, rgb);
    recolor<T>(rgb, luma_of(rgb, job.weights), level, job.luma.maximum);
  }
  const int at = x * job.in.step;
  job.out.red.row(y)[at] = static_cast<T>(rgb[0]);
  job.out.green.row(y)[at] = static_cast<T>(rgb[1]);
  job.out.blue.row(y)[at] = static_cast<T>(rgb[2]);
  if (job.in.other.data && job.out.other.data)
    job.out.other.row(y)[at] = job.in.is_alpha ? job.in.other.row(y)[at] : job.luma.maximum;
}

/// @tparam step  that of the image, whose rows are aligned for units; or 0: pixel by pixel
template <typename T, int step>
__global__ void get_luma_kernel(const __grid_constant__ RgbJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread();
  if (y >= job.result.height) return;
  const auto single = [&](int x) { get_pixel(job, x, y); };
  if constexpr (step == 0) {
    for_pixels<T>(job.result.width, single);
  } else {
    unsigned words[kUnits][kWords<step>];
    for_units<T>(
        job.result.width,
        [&](int i, int x) { load_unit<step>(job.in, job.order.red, x, y, words[i]); }, [](int) {});
    for_units<T>(
        job.result.width,
        [&](int i, int x) {
          unsigned lumas[1] = {};
#pragma unroll
          for (int k = 0; k < kPixels<T>; ++k) {
            unsigned rgb[3];
#pragma unroll
            for (int c = 0; c < 3; ++c)
              rgb[c] = colour_of<T, step>(words[i], job.order.first, k, c);
            add_sample<T>(lumas, k, weighted(rgb, job.order.weights));
          }
          store_words(lumas, job.result.row(y) + x);
        },
        single);
  }
}

template <typename T, int step, bool kept>
__global__ void set_luma_kernel(const __grid_constant__ RgbJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread();
  if (y >= job.luma.height) return;
  const auto single = [&](int x) { set_pixel<T, kept>(job, x, y); };
  if constexpr (step == 0) {
    for_pixels<T>(job.luma.width, single);
  } else {
    // Gray pixels without alpha need nothing of the input.
    const bool reads = kept || (step == 4 && job.in.is_alpha);
    unsigned words[kUnits][kWords<step>] = {}, lumas[kUnits][1];
    for_units<T>(
        job.luma.width,
        [&](int i, int x) {
          if (reads) load_unit<step>(job.in, job.order.red, x, y, words[i]);
          load_words(job.luma.row(y) + x, lumas[i]);
        },
        [](int) {});
    for_units<T>(
        job.luma.width,
        [&](int i, int x) {
          unsigned result[kWords<step>] = {};
#pragma unroll
          for (int k = 0; k < kPixels<T>; ++k) {
            const unsigned level = sample_of<T>(lumas[i], k);
            unsigned sample[4] = {level, level, level, job.luma.maximum};
            if constexpr (step == 4)
              if (job.in.is_alpha) sample[3] = colour_of<T, step>(words[i], job.order.first, k, 3);
            if constexpr (kept) {
              unsigned rgb[3];
#pragma unroll
              for (int c = 0; c < 3; ++c)
                rgb[c] = colour_of<T, step>(words[i], job.order.first, k, c);
              recolor<T>(rgb, weighted(rgb, job.order.weights), level, job.luma.maximum);
#pragma unroll
              for (int c = 0; c < 3; ++c) sample[c] = rgb[c];
            }
            add_pixel<T, step>(result, job.order.first, k, sample);
          }
          store_unit<step>(result, job.order.red, x, y, job.out);
        },
        single);
  }
}

/// Whether units of this step can be read and written.
template <int step, typename T>
bool fits(const RgbPlanes<T> &rgb) {
  if (!is_dense<step>(rgb)) return false;
  if constexpr (step == 1)
    return is_aligned(rgb.red, 4) && is_aligned(rgb.green, 4) && is_aligned(rgb.blue, 4);
  return is_aligned(pixels_of(rgb), kAlignment<step>);
}

/// Calls of(std::integral_constant) for the step of units, or for 0.
template <typename T, typename Of, typename... Images>
void with_step(Plane<T> luma, const Of &of, const Images &...images) {
  const bool aligned = is_aligned(luma, 4);
  if (aligned && (fits<1>(images) && ...)) return of(std::integral_constant<int, 1>());
  if (aligned && (fits<3>(images) && ...)) return of(std::integral_constant<int, 3>());
  if (aligned && (fits<4>(images) && ...)) return of(std::integral_constant<int, 4>());
  of(std::integral_constant<int, 0>());
}

template <typename T>
void get(Cuda &cuda, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<T> out) {
  check(in, out);
  const LaunchShape shape = shape_for(cuda, divide_up(out.width, kPixels<T>), out.height);
  with_step(
      out,
      [&](auto step) {
        launch(cuda, get_luma_kernel<T, step>, shape,
               {in, {}, weights, step ? order_of(in, weights) : ColourOrder{}, out, out});
      },
      in);
}

template <typename T>
void set(Cuda &cuda, const RgbPlanes<const T> &in, const LumaWeights &weights, Plane<const T> luma,
         Colors colors, const RgbPlanes<T> &out) {
  check(in, out, luma);
  const RgbPlanes<const T> written{out.red, out.green, out.blue, out.other, out.is_alpha, out.step};
  const LaunchShape shape = shape_for(cuda, divide_up(luma.width, kPixels<T>), luma.height);
  const auto run = [&](auto step) {
    const RgbJob<T> job{in, out, weights, step ? order_of(in, weights) : ColourOrder{}, luma, {}};
    if (colors == Colors::kept)
      launch(cuda, set_luma_kernel<T, step, true>, shape, job);
    else
      launch(cuda, set_luma_kernel<T, step, false>, shape, job);
    if (step == 1 && in.other.data && out.other.data) copy(cuda, in.other, out.other);
  };
  if (in.step > 1 && !(Places<const T>(in) == Places<const T>(written)))
    run(std::integral_constant<int, 0>());
  else
    with_step(luma, run, in, written);
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
void set_luma(Cuda &cuda, const RgbPlanes<const std::uint8_t> &in, const LumaWeights &weights,
              Plane<const std::uint8_t> luma, Colors colors, const RgbPlanes<std::uint8_t> &out) {
  lumas::set(cuda, in, weights, luma, colors, out);
}
void set_luma(Cuda &cuda, const RgbPlanes<const std::uint16_t> &in, const LumaWeights &weights,
              Plane<const std::uint16_t> luma, Colors colors, const RgbPlanes<std::uint16_t> &out) {
  lumas::set(cuda, in, weights, luma, colors, out);
}

}  // namespace cudascan
