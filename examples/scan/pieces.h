// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <vector>

namespace cudascan::scan {

/// Pieces of runs that are found to be connected, by union and find.
class Pieces {
 public:
  int add() {
    parents_.push_back(static_cast<int>(parents_.size()));
    return parents_.back();
  }
  int root(int piece) {
    while (parents_[piece] != piece) piece = parents_[piece] = parents_[parents_[piece]];
    return piece;
  }
  void join(int a, int b) { parents_[root(a)] = root(b); }
  int count() const { return static_cast<int>(parents_.size()); }

 private:
  std::vector<int> parents_;
};

}  // namespace cudascan::scan
