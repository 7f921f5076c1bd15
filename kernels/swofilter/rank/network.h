// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Networks of minima and maxima that sort the samples of windows. A network is made for a window
/// and a requested result; rows of pixels run through it as vectors.
///
/// The samples are merged by columns, pairs of columns, pairs of pairs and so on. The common part
/// of a window and its neighbour in the row is computed only once (Adams, "Fast median filters
/// using separable sorting networks", ACM Trans. Graphics 40(4), 2021). The windows of several rows
/// are processed together: the part that all of them cover is merged before the parts of only some.
/// Merging is Batcher's (Knuth, The Art of Computer Programming 3, 5.3.4), without samples that are
/// known to be too small or too large and without unused minima and maxima.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// The requested result from the N sorted samples of a window.
struct Question {
  enum Kind : std::uint8_t {
    nth,          ///< number `first` from 0
    mean,         ///< the mean of numbers `first` to `last`
    mode,         ///< the lowest of the most frequent samples
    directional,  ///< directional median of lines through the middle, see rank.h
  } kind = nth;
  int first = 0, last = 0;
  double inverse = 0;  ///< of mean: 1 / (2 n) for n samples

  friend bool operator==(const Question &, const Question &) = default;
};

/// The result that a job needs from windows of n samples.
Question question_of(const FilterJob &, int n);

/// A network as operations on rows in memory. Rows 0 to inputs - 1 are rows of the image, starting
/// with the uppermost one of the first output's window; the others are for intermediate results.
struct Network {
  /// Row `row`, from the sample `shift` on.
  struct Place {
    std::uint16_t row;
    std::uint8_t shift;
  };
  struct Step {
    enum Kind : std::uint8_t { minimum, maximum, both } kind;
    std::uint8_t excess;  ///< samples needed beyond the length of the outputs
    Place a, b;
    std::uint16_t low,
        high;  ///< rows for the minimum and the maximum; may be those of a and b
  };
  /// An output row. nth, directional: plus[0]. mean: the mean of `plus` without `minus`. mode:
  /// `plus` is in ascending order.
  struct Output {
    std::vector<Place> plus, minus;
    int steps = 0;  ///< steps until it is complete; later steps reuse its rows
  };

  Question question;
  int width = 0;   ///< of the window; its leftmost column is sample 0
  int inputs = 0;  ///< rows of the image
  int rows = 0;    ///< all rows
  std::vector<Step> steps;
  std::vector<Output> outputs;  ///< of neighbouring rows of the image

  /// Minima, maxima and additions per sample of one output.
  int cost() const;
};

/// @param outputs  rows computed together, a power of two
Network make_network(const Mask &, const Question &, int outputs);

/// The cheapest network. The process caches recent ones, because making one takes about a
/// millisecond.
std::shared_ptr<const Network> find_network(const Mask &, const Question &);

}  // namespace cudascan::swo
