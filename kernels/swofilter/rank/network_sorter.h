// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Sorting by merging.
#pragma once
#include <algorithm>
#include <map>
#include <utility>

#include "kernels/swofilter/rank/network_graph.h"

namespace cudascan::swo::networks {

/// The relevant parts of two sorted sequences for numbers [first, last] of their merged sequence:
/// below a sample are those before it in its sequence, and at most all of the other sequence.
struct Slices {
  Sorted a, b;
  int dropped;  ///< samples before the remaining ones

  static Sorted slice(const Sorted &s, int others, int first, int last) {
    const int begin = std::clamp(first - others, 0, static_cast<int>(s.size()));
    const int end = std::clamp(last + 1, begin, static_cast<int>(s.size()));
    return {s.begin() + begin, s.begin() + end};
  }
  Slices(const Sorted &x, const Sorted &y, int first, int last)
      : a(slice(x, static_cast<int>(y.size()), first, last)),
        b(slice(y, static_cast<int>(x.size()), first, last)),
        dropped(std::max(first - static_cast<int>(y.size()), 0) +
                std::max(first - static_cast<int>(x.size()), 0)) {}
};

/// The k smallest of two sorted sequences, in any order.
Sorted smallest(Graph &, const Sorted &a, const Sorted &b, int k);

/// Sorts sets of cells by merging two subsets each, and only as far as needed.
class Sorter {
 public:
  explicit Sorter(Graph &g) : g_(g) {}

  /// Plans to merge `whole` from `part` and the rest.
  void set_part(const Cells &whole, const Cells &part) {
    parts_.try_emplace(at_origin(whole), at(whole, part));
  }

  /// Requests numbers [first, last]. All requests must come before sorted().
  void need(const Cells &set, int first, int last);
  /// Requests what merging the halves of a set needs for its numbers [first, last].
  void need_halves(const Cells &set, int first, int last);

  Sorted sorted(const Cells &set);

  /// The two subsets that are merged.
  std::pair<Cells, Cells> halves(const Cells &set) const;

 private:
  struct Known {
    int first = 1 << 30, last = -1;
    Sorted sorted;
  };
  static Cells at_origin(const Cells &set) { return moved(set, -set[0].x); }
  static Cells at(const Cells &origin, const Cells &set) { return moved(set, -origin[0].x); }

  Graph &g_;
  std::map<Cells, Cells> parts_;
  std::map<Cells, Known> known_;
};

}  // namespace cudascan::swo::networks
