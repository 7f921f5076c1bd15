// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings as an erosion and a dilation, each in constant time a sample: the algorithm of van
/// Herk, and of Gil and Werman, in the form of Clienti, Bilodeau, Beucher, "An efficient hardware
/// architecture without line memories for morphological image processing", ACIVS 2008, as the
/// publication in linearopen.h describes it: without a backward scan of the image. It scans
/// backwards only within a buffer of `length` samples. So the dilation takes the erosion's samples
/// as they come.
///
/// A Line is as in scan.h. Segments have their centres in it, as in linearopen.h.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace cudascan::linearopen {

/// The extremum of the latest `length` samples. The samples are divided into blocks of that many. A
/// window is the end of a block and the beginning of the next one.
template <typename T, bool kMaximum>
class RunningExtremum {
 public:
  explicit RunningExtremum(int length) : block_(length) { start(); }

  /// Makes all samples before the next one neutral.
  void start() {
    std::fill(block_.begin(), block_.end(), kNeutral);
    at_ = 0;
  }
  T next(T sample) {
    beginning_ = at_ == 0 ? sample : best(beginning_, sample);
    block_[at_] = sample;
    if (++at_ < block_.size()) return best(beginning_, block_[at_]);
    for (std::size_t i = block_.size() - 1; i > 0; --i)
      block_[i - 1] = best(block_[i - 1], block_[i]);
    at_ = 0;
    return beginning_;
  }

  static constexpr T kNeutral = kMaximum ? 0 : std::numeric_limits<T>::max();

 private:
  static T best(T a, T b) { return kMaximum ? std::max(a, b) : std::min(a, b); }

  /// Samples of this block, then extrema of the last block from there to its end.
  std::vector<T> block_;
  std::size_t at_ = 0;
  T beginning_ = 0;  // the extremum of this block so far
};

/// The two stages, kept from line to line.
template <typename T>
struct ErosionAndDilation {
  explicit ErosionAndDilation(int length) : erosion(length), dilation(length) {}

  RunningExtremum<T, false> erosion;
  RunningExtremum<T, true> dilation;
};

/// Opens a line.
template <typename Line>
void open_by_two_stages(const Line &line, int length,
                        ErosionAndDilation<typename Line::Sample> &stages) {
  const int n = line.size(), before = length / 2, after = (length - 1) / 2;
  auto &[erosion, dilation] = stages;
  erosion.start();
  dilation.start();
  // The erosion at i is known after sample i + after, the opening after the erosion at i + before.
  for (int i = 0; i < n + length - 1; ++i) {
    const auto eroded =
        i < n + after ? erosion.next(i < n ? line.read(i) : erosion.kNeutral) : dilation.kNeutral;
    if (i < after) continue;
    const auto opened = dilation.next(eroded);
    if (i >= after + before) line.write(i - after - before, opened);
  }
}

}  // namespace cudascan::linearopen
