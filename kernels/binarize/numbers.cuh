// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the kernels of binarize pass on to one another on the GPU, besides planes.
#pragma once
#include <cuda_runtime.h>

#include "kernels/binarize/formula.h"
#include "kernels/runlengths/runs.cuh"

namespace cudascan::binarize {

/// The coarse round and the second one.
enum Round { kCoarse, kFine };
/// Closings that are papers.
enum PaperKind { kCoarsePaper, kFinePaper, kWidePaper, kWidestPaper, kPapers };

struct SampleSums {
  std::uint64_t sum, squares;
};

/// All zero at the start of a frame.
struct Numbers {
  // What the report is made of, up to `paper`.
  std::uint64_t above, below;      ///< distances to maxima and minima, for the polarity
  int threshold[2], deviation[2];  ///< of the rounds, Q8, smoothed
  unsigned clear[2];               ///< of the rounds
  unsigned blank;
  int third_detail, detail_level, noise;
  int run;            ///< Q8, smoothed
  int ink_darkness;   ///< D; 0 without ink
  std::uint64_t ink;  ///< pixels of the result

  SampleSums paper[kPapers];                               ///< closings before their last step
  std::uint32_t details[kDarkestDetail + 1];               ///< counts; those of 0 are left out
  std::uint32_t darkness[2][kDarkest<std::uint16_t> + 1];  ///< counts, of the rounds
  unsigned ended[2];                                       ///< blocks that have counted darkness
  runlengths::RunCounts runs;
  StrokeSizes sizes;
  InkWeights weights;
  unsigned any_open;               ///< whether there is ink that tiles alone cannot decide on
  unsigned counted;                ///< blocks that have counted the darkness of ink
  unsigned any_thick, any_opened;  ///< whether there may be wide things, and margins
  std::uint32_t ink_counts[kDarkest<std::uint16_t> + 1];  ///< ink of each darkness

  __device__ int least_paper(PaperKind kind) const {
    return binarize::least_paper(paper[kind].sum, paper[kind].squares);
  }
  /// Whether wide things are looked for.
  __device__ bool has_ink() const { return !blank && ink_darkness > 0; }
};

/// Whether a page counts as inverted.
CUDASCAN_HD inline bool is_inverted(BinarizeInvert invert, const Numbers &numbers) {
  return invert == BinarizeInvert::on ||
         (invert == BinarizeInvert::automatic && light_on_dark(numbers.above, numbers.below));
}

/// A page and what is to be done with it, for kernels.
struct Page {
  Numbers *numbers;
  BinarizeHistory *history;
  BinarizeInvert invert;
  unsigned maximum;  ///< of the input
  int weight;        ///< of the past, Q16
  int samples;       ///< of the quarter, in the part where things are measured

  __device__ bool inverted() const { return is_inverted(invert, *numbers); }
};

__device__ inline bool is_in(const Rectangle &part, int x, int y) {
  return x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height;
}

/// A sample, or its distance to the largest if the page is inverted.
__device__ inline unsigned upright(unsigned sample, bool inverted, unsigned maximum) {
  return inverted ? maximum - min(sample, maximum) : sample;
}
/// The same for two samples of 16 bits.
__device__ inline unsigned upright_pair(unsigned pair, bool inverted, unsigned maximum) {
  const unsigned both = maximum * 0x00010001;
  return inverted ? both - __vminu2(pair, both) : pair;
}

}  // namespace cudascan::binarize
