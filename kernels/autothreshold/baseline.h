// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published implementation of otsu, isodata and mcet on a GPU, kept as the baseline for
/// benchmarks: Prahara, Pranolo, Anwar, Mao, "Parallel Approach of Adaptive Image Thresholding
/// Algorithm on GPU", Knowledge Engineering and Data Science 4(2), 2021. Histograms of 256 levels,
/// single precision, a thread for each level.
///
/// Corrected errors in the listings:
/// - Algorithm 3 uses p and q of the sweeps where it writes the sums; here they have their initial
///   values.
/// - Algorithm 5 sets the threshold before it checks how much it changes, so it stops after one
///   step. It also leaves level t + 1 out of both means of t.
/// - Algorithm 6 starts its reduction at half the block's index instead of half its threads. It
///   counts levels from 1 (0 has no logarithm), but its means count from 0; here both count from 1.
/// - In Algorithm 8 the threshold itself is white; elsewhere in the paper, and here, white is above
///   it.
/// - In Algorithm 5, rounding may leave the range of levels; here it is clamped.
///
/// Remaining differences from the methods of autothreshold.h:
/// - Sums are rounded to single precision. So if several thresholds are nearly equally good, or
///   equal because the levels between them are empty, another one may win.
/// - Of equally good thresholds, the reduction takes the one it meets first, not the lowest.
/// - isodata rounds both means and their mean, so it may stop a few levels off.
/// - mcet gives the result for the image one level brighter.
/// - Two adjacent bright levels differ too little for mcet, and isodata goes from 255 to 0.
/// - For an image of one level, otsu gives 0 and isodata gives half the level.
///
/// The paper gives no values for EPSILON, which keeps divisors from 0, and for the maximum number
/// of steps of Algorithm 5.
///
/// Each function below is the work of one thread between two barriers of the block. The CPU runs
/// the threads one after another, so both compute the same bits. The logarithm is log2_of(),
/// rounded to single precision; its base cancels out.
#pragma once
#include <cstdint>

#include "common/api.h"
#include "kernels/autothreshold.h"
#include "kernels/base/refuse.h"
#include "kernels/histogram/log2.h"

namespace cudascan::threshold {

/// Computes the threshold of the kernels on the CPU.
/// @param counts  pixels of each of 256 levels, at most 2^32 - 1 in all
/// @throws BadSetting for other methods than otsu, isodata and mcet
CUDASCAN_API int prahara_threshold(const std::uint32_t *counts, AutothresholdMethod method);

namespace prahara {

inline constexpr int kLevels = 256;
inline constexpr int kIterations = 256;
/// Larger than the rounding error of a share that should be 0.
inline constexpr float kEpsilon = 1e-5f;

/// Shares of the levels and their moments, or their sums up to each level. isodata uses pixel
/// counts instead of shares.
struct Moments {
  float order0[kLevels], order1[kLevels], entropy[kLevels];
};

/// Throws BadSetting for a method that the paper does not have.
inline void check_method(AutothresholdMethod method) {
  if (method != AutothresholdMethod::otsu && method != AutothresholdMethod::isodata &&
      method != AutothresholdMethod::mcet)
    refuse("algorithm=prahara does not support this method: set method to otsu, isodata or mcet");
}

/// Memory that a block shares.
struct Shared {
  float a[kLevels + kLevels / 16], b[kLevels];
  int index[kLevels];
};

/// An index of the scan, shifted so that threads a power of two apart use different banks.
CUDASCAN_HD inline int spread(int i) {
  return i + (i >> 4);
}

CUDASCAN_HD inline float log_of(float x) {
  return static_cast<float>(log2_of(x));
}

/// Computes the shares and moments for the methods.
template <typename Block>
CUDASCAN_HD void weigh(Block &block, const std::uint32_t *counts, std::uint32_t pixels,
                       AutothresholdMethod method, Moments &moments) {
  block.each(kLevels, [&](int t) {
    const bool shares = method != AutothresholdMethod::isodata;
    const bool from_one = method == AutothresholdMethod::mcet;
    const float level = static_cast<float>(from_one ? t + 1 : t);
    const float count = static_cast<float>(counts[t]);
    moments.order0[t] = shares ? count / static_cast<float>(pixels ? pixels : 1) : count;
    moments.order1[t] = level * moments.order0[t];
    moments.entropy[t] = from_one ? moments.order1[t] * log_of(level) : 0;
  });
}

/// Algorithm 3, the scan of Harris, Sengupta and Owens: sums[t] is the sum of values[0] to
/// values[t]. Uses half as many threads as levels.
template <typename Block>
CUDASCAN_HD void scan(Block &block, float *memory, const float *values, float *sums) {
  constexpr int kHalf = kLevels / 2;
  block.each(kHalf, [&](int t) {
    memory[spread(t)] = values[t];
    memory[spread(t + kHalf)] = values[t + kHalf];
  });
  int offset = 1;
  for (int d = kHalf; d > 0; d /= 2, offset *= 2)
    block.each(d, [&](int t) {
      const int p = offset * (2 * t + 1) - 1, q = offset * (2 * t + 2) - 1;
      memory[spread(q)] += memory[spread(p)];
    });
  block.each(1, [&](int) {
    sums[kLevels - 1] = memory[spread(kLevels - 1)];
    memory[spread(kLevels - 1)] = 0;
  });
  for (int d = 1; d < kLevels; d *= 2) {
    offset /= 2;
    block.each(d, [&](int t) {
      const int p = offset * (2 * t + 1) - 1, q = offset * (2 * t + 2) - 1;
      const float below = memory[spread(p)];
      memory[spread(p)] = memory[spread(q)];
      memory[spread(q)] += below;
    });
  }
  block.each(kHalf, [&](int t) {
    sums[t] = memory[spread(t + 1)];
    if (t + kHalf < kLevels - 1) sums[t + kHalf] = memory[spread(t + kHalf + 1)];
  });
}

/// Finds the best value of shared.a; its index is in shared.index[0].
template <typename Block, typename Better>
CUDASCAN_HD void find_best(Block &block, Shared &shared, const Better &better) {
  for (int s = kLevels / 2; s > 0; s /= 2)
    block.each(s, [&](int t) {
      if (!better(shared.a[t + s], shared.a[t])) return;
      shared.a[t] = shared.a[t + s];
      shared.index[t] = shared.index[t + s];
    });
}

/// Algorithm 4: the index of the largest variance between the classes.
template <typename Block>
CUDASCAN_HD int otsu(Block &block, Shared &shared, const Moments &sums) {
  block.each(kLevels, [&](int t) {
    const float share = sums.order0[t];
    const float difference = sums.order1[kLevels - 1] * share - sums.order1[t];
    shared.a[t] = difference * difference / (share * (1 - share) + kEpsilon);
    shared.index[t] = t;
  });
  find_best(block, shared, [](float a, float b) { return a > b; });
  return shared.index[0];
}

/// The nearest level.
CUDASCAN_HD inline float rounded(float mean) {
  const float limited = mean > 0 ? mean < kLevels - 1 ? mean : kLevels - 1 : 0;
  return static_cast<float>(static_cast<int>(limited + 0.5f));
}

/// Algorithm 5: starts at the mean and moves to the mean of the two classes' means until it stays.
template <typename Block>
CUDASCAN_HD int isodata(Block &block, Shared &shared, const Moments &sums) {
  const float pixels = sums.order0[kLevels - 1], total = sums.order1[kLevels - 1];
  block.each(kLevels, [&](int t) {
    float below = 0, above = 0;
    if (t < kLevels - 1) {
      below = rounded(sums.order1[t] / (sums.order0[t] + kEpsilon));
      above = rounded((total - sums.order1[t]) / (pixels - sums.order0[t] + kEpsilon));
    }
    shared.a[t] = rounded((below + above) / 2);
  });
  block.each(1, [&](int) {
    int threshold = static_cast<int>(rounded(total / (pixels + kEpsilon)));
    for (int i = 0; i < kIterations; ++i) {
      const int next = static_cast<int>(shared.a[threshold]);
      if (next == threshold) break;
      threshold = next;
    }
    shared.index[0] = threshold;
  });
  return shared.index[0];
}

/// Algorithm 6: the cross entropy of the threshold b, valid after a barrier.
template <typename Block>
CUDASCAN_HD void cross_entropy(Block &block, Shared &shared, int b, const Moments &moments,
                               const Moments &sums, float *result) {
  constexpr int kLast = kLevels - 1;
  const float below = sums.order1[b] / (sums.order0[b] + kEpsilon);
  const float above =
      (sums.order1[kLast] - sums.order1[b]) / (sums.order0[kLast] - sums.order0[b] + kEpsilon);
  block.each(kLevels, [&](int t) {
    const float weight = static_cast<float>(t + 1) * moments.order0[t];
    shared.a[t] = t > b && above > 0 ? weight * log_of(above) : 0;
    shared.b[t] = t <= b && below > 0 ? weight * log_of(below) : 0;
  });
  for (int s = kLevels / 2; s > 0; s /= 2)
    block.each(s, [&](int t) {
      shared.a[t] += shared.a[t + s];
      shared.b[t] += shared.b[t + s];
    });
  block.each(1, [&](int) { result[b] = sums.entropy[kLast] - shared.a[0] - shared.b[0]; });
}

/// Algorithm 7: the index of the smallest value.
template <typename Block>
CUDASCAN_HD int minimum(Block &block, Shared &shared, const float *values) {
  block.each(kLevels, [&](int t) {
    shared.a[t] = values[t];
    shared.index[t] = t;
  });
  find_best(block, shared, [](float a, float b) { return a < b; });
  return shared.index[0];
}

}  // namespace prahara
}  // namespace cudascan::threshold
