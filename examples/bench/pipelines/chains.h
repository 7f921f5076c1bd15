// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The measured pipelines: the elements with usual settings, chains of them, and their kernels.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

struct Chain {
  std::string text;           ///< launch fragment
  std::vector<Case> kernels;  ///< of its elements, without sizes; empty: unknown

  int elements() const { return static_cast<int>(kernels.size()); }
  /// The same with a queue between every two, so that each element has a thread.
  std::string with_queues() const;
};

/// Each element alone, then chains of two, three, four and all elements.
/// @param quick  three of them, with the longest
std::vector<Chain> chains(bool quick);
/// All elements in a row, the last of chains().
Chain longest_chain();

/// Another element that does the same as the chain.
struct ElementPeer {
  std::string name;  ///< what both do
  Chain chain;
  std::string element;  ///< the peer's launch fragment
  std::string format;
};
std::vector<ElementPeer> element_peers();

/// Microseconds of the bare kernels of a chain for one frame size, NaN if not measured.
struct KernelTimes {
  double sum = kUnknown;      ///< each by itself, on the page
  double chained = kUnknown;  ///< one after another, each on the result of the one before
};

/// Times each kernel of each size once.
class KernelTimer {
 public:
  /// @param cuda  else on all cores of the CPU
  KernelTimer(bool cuda, bool quick);
  ~KernelTimer();

  KernelTimes time(const Chain &chain, Size size);

 private:
  double time(Case c);

  TimeCase timer_;
  std::vector<std::pair<std::string, double>> known_;  ///< by the name of the case
};

}  // namespace cudascan::bench
