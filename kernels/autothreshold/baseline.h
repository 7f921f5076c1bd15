// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The published implementation of otsu, isodata and mcet on a GPU, kept as the baseline that
/// benchmarks compare with: Prahara, Pranolo, Anwar, Mao, "Parallel Approach of Adaptive Image
/// Thresholding Algorithm on GPU", Knowledge Engineering and Data Science 4(2), 2021. Histograms of
/// 256 levels, single precision, a thread for each level.
///
/// Mended in the listings:
/// - Algorithm 3 uses p and q of the sweeps where it writes the sums; they are those of the start.
/// - Algorithm 5 sets the threshold before it looks by how much it changes, and so stops after one
///   step; and counts level t + 1 to neither of the means of t.
/// - Algorithm 6 starts its reduction at half the number of the block, not at half its threads, and
///   has levels from 1 on (there is no logarithm of 0) with means that do not say so: here means
///   have, too.
/// - Algorithm 8 has white from the threshold on; elsewhere in the paper, and here, it is above.
/// - What rounding carries beyond the levels in Algorithm 5 is limited to them.
///
/// What remains different from the methods of autothreshold.h:
/// - Sums are rounded to single precision, so where several thresholds are nearly equally good
///   another may win; where levels are empty, any threshold between the same pixels.
/// - Of equally good thresholds the reduction takes that which it meets first, not the lowest.
/// - isodata rounds both means and their mean, and so may stop some levels beside.
/// - mcet is that of the image one level brighter.
/// - Two bright levels side by side differ too little for mcet, and isodata leads from 255 to 0.
/// - An image of one level gets 0 of otsu, and half its level of isodata.
///
/// EPSILON, which keeps divisors from 0, and the most steps of Algorithm 5 have no value in the
/// paper.
///
/// The steps below are those that the threads of a block take between two meetings; the CPU takes
/// them thread by thread, so both compute the same bits. The logarithm is log2_of(),
/// rounded to single precision; its base cancels out.
#pragma once
#include <cstdint>

#include "common/api.h"
#include "kernels/autothreshold.h"
#include "kernels/base/refuse.h"
#include "kernels/histogram/log2.h"

namespace cudascan::threshold {

/// The threshold that the kernels find, computed on the CPU.
/// @param counts  pixels of each of 256 levels, 2^32 - 1 at most together
/// @throws BadSetting for other methods than otsu, isodata and mcet
CUDASCAN_API int prahara_threshold(const std::uint32_t *counts, AutothresholdMethod method);

namespace prahara {

inline constexpr int kLevels = 256;
inline constexpr int kIterations = 256;
/// More than what rounding makes of a share that is 0.
inline constexpr float kEpsilon = 1e-5f;

/// Shares of the levels and their moments, or their sums up to each level. isodata has pixels
/// instead of shares.
struct Moments {
  float order0[kLevels], order1[kLevels], entropy[kLevels];
};

/// Throws BadSetting for a method that the paper has not.
inline void check_method(AutothresholdMethod method) {
  if (method != AutothresholdMethod::otsu && method != AutothresholdMethod::isodata &&
      method != AutothresholdMethod::mcet)
    refuse("algorithm=prahara has no such method: set method to otsu, isodata or mcet");
}

/// Memory that a block shares.
struct Shared {
  float a[kLevels + kLevels / 16], b[kLevels];
  int index[kLevels];
};

/// An index of the scan, moved so that threads with a power of two between them meet other banks.
CUDASCAN_HD inline int spread(int i) {
  return i + (i >> 4);
}

CUDASCAN_HD inline float log_of(float x) {
  return static_cast<float>(log2_of(x));
}

/// The moments that the methods start from.
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

/// Algorithm 3, the scan of Harris, Sengupta and Owens: sums[t] of values[0] to values[t]. Half as
/// many threads as levels.
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

/// Reduces shared.a to the best of its values, at shared.index[0].
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

/// Algorithm 5: the mean of the means on both sides of each threshold, followed from the mean of
/// all until it stays.
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

/// Algorithm 6: the cross entropy of the threshold b, there after a meeting.
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
