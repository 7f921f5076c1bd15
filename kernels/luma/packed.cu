// SPDX-License-Identifier: LGPL-2.1-or-later
// The luma of packed YUV.
#include "kernels/luma/pixel.h"
#include "kernels/luma/units.cuh"

namespace cudascan {
namespace lumas {
namespace {

/// How to take the luma of a unit out of its words, and put it back: selectors for __byte_perm().
struct Selectors {
  unsigned take[4];   ///< the luma so far and word i; for i = 1 words 0 and 1
  unsigned put[4];    ///< word i and the luma
  unsigned alpha[4];  ///< the bits of word i that are alpha
};

template <typename T>
struct YuvJob {
  PackedYuv<const T> in;
  PackedYuv<T> out;
  Plane<const T> luma;
  Plane<T> result;
  bool kept;
  T neutral;
  Selectors selectors;
};

/// @param first, step, alpha  as in PackedYuv, in bytes; the luma has `bytes` of them
Selectors selectors_of(int first, int step, int alpha, int bytes) {
  Selectors selectors{};
  for (int i = 0; i < step / bytes; ++i)
    for (int b = 0; b < 4; ++b) {
      const int at = b / bytes * step + first + b % bytes;  // of byte b of the luma
      const int taken = at / 4 == i ? 4 + at % 4 : i == 1 && at < 4 ? at : b;
      selectors.take[i] |= static_cast<unsigned>(taken) << (4 * b);
      const int place = 4 * i + b, pixel = place / step;  // of byte b of word i
      const bool is_luma = place % step / bytes == first / bytes;
      const int put = is_luma ? 4 + pixel * bytes + place % bytes : b;
      selectors.put[i] |= static_cast<unsigned>(put) << (4 * b);
      if (alpha >= 0 && place % step / bytes == alpha / bytes)
        selectors.alpha[i] |= 0xffU << (8 * b);
    }
  return selectors;
}

template <typename T>
__device__ void set_sample(const YuvJob<T> &job, int i, int y) {
  const int x = (i - job.in.first) / job.in.step;
  T sample = job.neutral;
  if (i >= job.in.first && (i - job.in.first) % job.in.step == 0 && x < job.luma.width)
    sample = job.luma.row(y)[x];
  else if (job.kept || (job.in.alpha >= 0 && (i - job.in.alpha) % job.in.step == 0))
    sample = job.in.samples.row(y)[i];
  job.out.samples.row(y)[i] = sample;
}

/// @tparam step  that of the image, whose rows are aligned for units; or 0: pixel by pixel
template <typename T, int step>
__global__ void get_packed_kernel(const __grid_constant__ YuvJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread();
  if (y >= job.result.height) return;
  const auto single = [&](int x) {
    job.result.row(y)[x] = job.in.samples.row(y)[job.in.first + x * job.in.step];
  };
  if constexpr (step == 0) {
    for_pixels<T>(job.result.width, single);
  } else {
    unsigned words[kUnits][step];
    for_units<T>(
        job.result.width,
        [&](int i, int x) { load_words(job.in.samples.row(y) + x * step, words[i]); }, [](int) {});
    for_units<T>(
        job.result.width,
        [&](int i, int x) {
          unsigned luma[1] = {words[i][0]};
#pragma unroll
          for (int k = 1; k < step; ++k)
            luma[0] = __byte_perm(luma[0], words[i][k], job.selectors.take[k]);
          store_words(luma, job.result.row(y) + x);
        },
        single);
  }
}

template <typename T, int step>
__global__ void set_packed_kernel(const __grid_constant__ YuvJob<T> job) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const int y = row_of_thread(), samples = job.in.samples.width;
  if (y >= job.luma.height) return;
  if constexpr (step == 0) {
    for_pixels<T>(samples, [&](int i) { set_sample(job, i, y); });
  } else {
    const bool reads = job.kept || job.in.alpha >= 0;
    const unsigned neutral = filled_with(job.neutral);
    unsigned words[kUnits][step] = {}, luma[kUnits][1];
    for_units<T>(
        job.luma.width,
        [&](int i, int x) {
          if (reads) load_words(job.in.samples.row(y) + x * step, words[i]);
          load_words(job.luma.row(y) + x, luma[i]);
        },
        [](int) {});
    for_units<T>(
        job.luma.width,
        [&](int i, int x) {
          unsigned result[step];
#pragma unroll
          for (int k = 0; k < step; ++k) {
            const unsigned alpha = job.selectors.alpha[k];
            const unsigned base =
                job.kept ? words[i][k] : (words[i][k] & alpha) | (neutral & ~alpha);
            result[k] = __byte_perm(base, luma[i][0], job.selectors.put[k]);
          }
          store_words(result, job.out.samples.row(y) + x * step);
        },
        [](int) {});
    // What complete units leave: the last pixels of a row, and what pads it.
    if (blockIdx.x > 0) return;
    const int rest = job.luma.width / kPixels<T> * kPixels<T> * step;
    for (int i = rest + static_cast<int>(threadIdx.x); i < samples; i += kBlock.x)
      set_sample(job, i, y);
  }
}

/// Calls of(std::integral_constant) for the step of units, or for 0.
template <typename T, typename Of, typename... Images>
void with_step(const PackedYuv<const T> &in, Plane<const T> luma, const Of &of,
               const Images &...images) {
  const auto fits = [&](auto step) {
    constexpr int kTo = kAlignment<step>;
    return in.step == step && in.first < step && is_aligned(luma, 4) &&
           is_aligned(in.samples, kTo) && (is_aligned(images.samples, kTo) && ... && true);
  };
  if (fits(std::integral_constant<int, 2>())) return of(std::integral_constant<int, 2>());
  if (fits(std::integral_constant<int, 3>())) return of(std::integral_constant<int, 3>());
  if (fits(std::integral_constant<int, 4>())) return of(std::integral_constant<int, 4>());
  of(std::integral_constant<int, 0>());
}

template <typename T>
Selectors selectors_of(const PackedYuv<const T> &in) {
  constexpr int kBytes = sizeof(T);
  return selectors_of(in.first * kBytes, in.step * kBytes, in.alpha < 0 ? -1 : in.alpha * kBytes,
                      kBytes);
}

template <typename T>
void get(Cuda &cuda, const PackedYuv<const T> &in, Plane<T> out) {
  check(in, out);
  const LaunchShape shape = shape_for(cuda, divide_up(out.width, kPixels<T>), out.height);
  with_step<T>(in, out, [&](auto step) {
    launch(cuda, get_packed_kernel<T, step>, shape,
           {in, {}, out, out, false, 0, step ? selectors_of(in) : Selectors()});
  });
}

template <typename T>
void set(Cuda &cuda, const PackedYuv<const T> &in, Plane<const T> luma, Colors colors,
         const PackedYuv<T> &out) {
  check(in, out, luma);
  with_step<T>(
      in, luma,
      [&](auto step) {
        const int pixels = step ? luma.width : in.samples.width;
        launch(cuda, set_packed_kernel<T, step>,
               shape_for(cuda, divide_up(pixels, kPixels<T>), luma.height),
               {in,
                out,
                luma,
                {},
                colors == Colors::kept,
                neutral(luma.maximum),
                step ? selectors_of(in) : Selectors()});
      },
      out);
}

}  // namespace
}  // namespace lumas

void get_luma(Cuda &cuda, const PackedYuv<const std::uint8_t> &in, Plane<std::uint8_t> out) {
  lumas::get(cuda, in, out);
}
void get_luma(Cuda &cuda, const PackedYuv<const std::uint16_t> &in, Plane<std::uint16_t> out) {
  lumas::get(cuda, in, out);
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
