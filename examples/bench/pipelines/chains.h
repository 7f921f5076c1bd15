// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The measured pipelines: the elements with usual settings, chains of them, and their kernels.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace cudascan::bench {

/// A chain whose elements name their GPUs.
struct Spread {
  const char *label;
  std::string text;  ///< launch fragment
};

struct Chain {
  std::string text;           ///< launch fragment
  std::vector<Case> kernels;  ///< the kernels of its elements, without sizes; empty: unknown

  int elements() const { return static_cast<int>(kernels.size()); }
  /// The same with a queue between each pair of elements, so that each element has a thread.
  std::string with_queues() const;
  /// The chain with a queue in its middle, its elements on one GPU and on two in all ways that are
  /// measured.
  std::vector<Spread> over_gpus() const;
};

/// Elements that cameras often need: each alone, then all three in a row.
std::vector<Chain> camera_chains();

/// Each element alone, then chains of two, three, four and all elements.
/// @param quick  three of them, with the longest
std::vector<Chain> chains(bool quick);
/// All elements in a row, the last of chains().
Chain longest_chain();

/// An element of another plugin that does the same as the chain.
struct ElementPeer {
  std::string name;  ///< name of the work
  Chain chain;
  std::string element;  ///< the peer's launch fragment
  std::string format;

  bool is_installed() const;
};
std::vector<ElementPeer> element_peers();

/// Microseconds of the bare kernels of a chain for one frame size, NaN if not measured.
struct KernelTimes {
  double sum = kUnknown;      ///< each kernel alone, on the page
  double chained = kUnknown;  ///< all in sequence; each works on the result of the previous one
};

/// Times each kernel of each size once.
class KernelTimer {
 public:
  /// @param cuda  measure on the GPU, otherwise on all cores of the CPU
  KernelTimer(bool cuda, bool quick);
  ~KernelTimer();

  KernelTimes time(const Chain &chain, Size size);

 private:
  double time(Case c);

  TimeCase timer_;
  std::vector<std::pair<std::string, double>> known_;  ///< key: name of the case
};

}  // namespace cudascan::bench
