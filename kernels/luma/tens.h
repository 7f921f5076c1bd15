// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the CPU and CUDA implementations for samples of 10 bits in words.
#pragma once
#include "kernels/luma/layout.h"
#include "kernels/luma/pixel.h"

namespace cudascan::lumas {

inline constexpr int kTenBits = 10, kInWord = 3;
inline constexpr std::uint32_t kTenMaximum = (1U << kTenBits) - 1;

/// Reads and writes the luma of an image; the words of `out` are only for a new one.
struct TensJob {
  PackedTens<const std::uint32_t> in;
  Plane<std::uint32_t> out;
  Plane<const std::uint16_t> luma;
  Plane<std::uint16_t> result;  ///< the luma, if it is the result
  bool kept;                    ///< the colours
  bool is_rgb;
  ColourOrder order;
  /// The luma is in every step-th sample of a row, from the first on.
  int first, step;

  CUDASCAN_HD static int shift_of(int sample) { return sample % kInWord * kTenBits; }

  CUDASCAN_HD void load(std::uint32_t word, unsigned (&colours)[3]) const {
    for (int i = 0; i < kInWord; ++i) colours[i] = word >> shift_of(i) & kTenMaximum;
  }

  /// Pixel x of the luma.
  CUDASCAN_HD void get(int x, int y) const {
    const std::uint32_t *const words = in.words.row(y);
    unsigned level;
    if (is_rgb) {
      unsigned colours[3];
      load(words[x], colours);
      level = weighted(colours, order.weights);
    } else {
      const int sample = first + x * step;
      level = words[sample / kInWord] >> shift_of(sample) & kTenMaximum;
    }
    result.row(y)[x] = static_cast<std::uint16_t>(level);
  }

  /// Word i of a result.
  CUDASCAN_HD void set(int i, int y) const {
    const std::uint32_t before = in.words.row(y)[i];
    std::uint32_t word = before & ~0U << (kInWord * kTenBits);
    unsigned colours[3];
    load(before, colours);
    if (is_rgb) {
      const unsigned level = luma.row(y)[i];
      if (kept)
        recolor<std::uint16_t>(colours, weighted(colours, order.weights), level, kTenMaximum);
      else
        colours[0] = colours[1] = colours[2] = level;
    } else {
      for (int k = 0; k < kInWord; ++k) {
        const int distance = kInWord * i + k - first;
        if (distance >= 0 && distance % step == 0) {
          if (distance / step < luma.width) colours[k] = luma.row(y)[distance / step];
        } else if (!kept) {
          colours[k] = (kTenMaximum + 1) / 2;
        }
      }
    }
    for (int k = 0; k < kInWord; ++k) word |= colours[k] << shift_of(k);
    out.row(y)[i] = word;
  }
};

template <typename Word, typename T>
void check(const PackedTens<Word> &tens, Plane<T> luma) {
  check_rows("luma", luma);
  if (tens.width != luma.width)
    refuse("the packed image has ", tens.width, " pixels in a row, the luma ", luma.width,
           ": both must have the same size");
  check_part("packed", tens.words, words_of(tens.samples, tens.width), luma);
}

inline TensJob make_job(const PackedTens<const std::uint32_t> &in, const LumaWeights &weights) {
  TensJob job{};
  job.in = in;
  job.is_rgb = in.samples == Tens::rgb || in.samples == Tens::bgr;
  job.order = in.samples == Tens::rgb
                  ? ColourOrder{{weights.red, weights.green, weights.blue}, 0, 0}
                  : ColourOrder{{weights.blue, weights.green, weights.red}, 0, 2};
  job.first = in.samples == Tens::gray ? 0 : 1;
  job.step = in.samples == Tens::gray ? 1 : in.samples == Tens::yuv422 ? 2 : 3;
  return job;
}

inline TensJob job_to_get(const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
                          Plane<std::uint16_t> out) {
  check(in, out);
  TensJob job = make_job(in, weights);
  job.result = out;
  return job;
}
inline TensJob job_to_set(const PackedTens<const std::uint32_t> &in, const LumaWeights &weights,
                          Plane<const std::uint16_t> luma, Colors colors,
                          const PackedTens<std::uint32_t> &out) {
  check(in, luma);
  check(out, luma);
  if (in.samples != out.samples)
    refuse(
        "the input and the output have samples in different orders: both must have the same "
        "layout");
  TensJob job = make_job(in, weights);
  job.out = out.words;
  job.luma = luma;
  job.kept = colors == Colors::kept;
  return job;
}

}  // namespace cudascan::lumas
