// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Networks of minima and maxima that put the samples of windows in order. A network is made for a
/// window and for what is asked of its order; rows of pixels run through it as vectors.
///
/// The samples are merged by columns, pairs of columns, pairs of pairs ..., and what is done at one
/// pixel is done for all: what a window has in common with that of a neighbour in the row is
/// computed once (Adams, "Fast median filters using separable sorting networks", ACM Trans.
/// Graphics 40(4), 2021). The windows of several rows are done together, and what all of them cover
/// is merged before what only some do. Merging is Batcher's (Knuth, The Art of Computer Programming
/// 3, 5.3.4), without all samples that are known to be too small or too large, and all minima and
/// maxima that nobody asks for.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// What is asked of the order of the N samples of a window.
struct Question {
  enum Kind : std::uint8_t {
    nth,          ///< number `first` from 0
    mean,         ///< the mean of numbers `first` to `last`
    mode,         ///< the lowest of the most frequent samples
    directional,  ///< that of lines through the middle, see rank.h
  } kind = nth;
  int first = 0, last = 0;
  double inverse = 0;  ///< of mean: 1 / (2 n) for n samples

  friend bool operator==(const Question &, const Question &) = default;
};

/// What a job asks of windows of n samples.
Question question_of(const Job &, int n);

/// A network, as operations on rows in memory. Rows 0 to inputs - 1 are those of the image from the
/// uppermost one of the window of the first output on; the others are for intermediate results.
struct Network {
  /// Row `row`, from the sample `shift` on.
  struct Place {
    std::uint16_t row;
    std::uint8_t shift;
  };
  struct Step {
    enum Kind : std::uint8_t { minimum, maximum, both } kind;
    std::uint8_t excess;  ///< samples that are needed beyond the length of the outputs
    Place a, b;
    std::uint16_t low,
        high;  ///< rows that take the minimum and the maximum; may be those of a and b
  };
  /// An output row. nth, directional: plus[0]. mean: the mean of `plus`, less what is in `minus`.
  /// mode: `plus` is in ascending order.
  struct Output {
    std::vector<Place> plus, minus;
    int steps = 0;  ///< after which it is complete; later ones use its rows for others
  };

  Question question;
  int width = 0;   ///< of the window: the leftmost column of it is sample 0
  int inputs = 0;  ///< rows of the image
  int rows = 0;    ///< all rows
  std::vector<Step> steps;
  std::vector<Output> outputs;  ///< of neighbouring rows of the image

  /// Minima, maxima and additions for a sample of one output.
  int cost() const;
};

/// @param outputs  rows that are computed together, a power of two
Network make_network(const Mask &, const Question &, int outputs);

/// The cheapest network. Those used last are kept in the process, as making one takes about a
/// millisecond.
std::shared_ptr<const Network> find_network(const Mask &, const Question &);

}  // namespace cudascan::swo
