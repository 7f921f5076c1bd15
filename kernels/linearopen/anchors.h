// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings by anchors, after Van Droogenbroeck, Buckley, "Morphological erosions and openings:
/// fast algorithms based on anchors", Journal of Mathematical Imaging and Vision 22, 2005. An
/// anchor is a sample that the opening does not change.
///
/// If a sample that is not larger than an anchor is at most `length` samples after it, it is an
/// anchor as well, and the opening of the samples between them is the first anchor's value.
/// Otherwise a segment fits right after the anchor and above it. Then the opening is the smallest
/// sample of a segment that moves on until it meets a sample that is not larger: an anchor again.
/// The smallest sample comes from a histogram. It never falls while the segment moves, so searching
/// for it goes only upwards.
///
/// A Line is as in scan.h, with larger samples around it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudascan::linearopen {

/// A histogram of 8-bit or 16-bit samples.
template <typename T>
class SampleCounts {
 public:
  SampleCounts() : counts_(std::size_t{1} << 8 * sizeof(T)) {}

  void add(T value) { ++counts_[value]; }
  void remove(T value) { --counts_[value]; }
  /// The smallest sample, which is not less than `from`. There must be one.
  T smallest(T from) const {
    while (counts_[from] == 0) ++from;
    return from;
  }

 private:
  std::vector<std::uint32_t> counts_;
};

/// One line, from left to right.
template <typename Line>
class AnchorOpening {
 public:
  using T = typename Line::Sample;

  /// @param counts  empty; empty again after operator()
  AnchorOpening(const Line &line, int length, SampleCounts<T> &counts)
      : line_(line),
        counts_(counts),
        length_(length),
        n_(line.size()),
        last_(n_ - 1 + (length - 1) / 2) {}

  void operator()() {
    // No segment begins before this one, so the line starts like the samples after an anchor.
    int anchor = move_segment(-(length_ / 2));
    while (anchor < n_) {
      const T value = line_.read(anchor);
      int next = anchor + 1;
      const int end = std::min(anchor + length_, n_ - 1);
      while (next <= end && line_.read(next) > value) ++next;
      if (next <= end) {
        fill(anchor, next, value);
        anchor = next;
      } else if (anchor + length_ > last_) {
        fill(anchor, n_, value);
        return;
      } else {
        line_.write(anchor, value);
        anchor = move_segment(anchor + 1);
      }
    }
  }

 private:
  /// Moves a segment from its first sample `begin` on. Returns the next anchor, or the line's end.
  int move_segment(int begin) {
    for (int i = std::max(begin, 0); i < std::min(begin + length_, n_); ++i)
      counts_.add(line_.read(i));
    T value = counts_.smallest(0);
    for (;; ++begin) {
      const int next = begin + length_;
      if (next > last_) return leave(begin, n_, value);
      if (next < n_) {
        const T sample = line_.read(next);
        if (sample <= value) return leave(begin, next, value);
        counts_.add(sample);
      }
      if (begin >= 0) {
        line_.write(begin, value);
        counts_.remove(line_.read(begin));
      }
      value = counts_.smallest(value);
    }
  }
  int leave(int begin, int end, T value) {
    begin = std::max(begin, 0);
    for (int i = begin; i < end; ++i) counts_.remove(line_.read(i));
    fill(begin, end, value);
    return end;
  }
  void fill(int begin, int end, T value) {
    for (int i = begin; i < end; ++i) line_.write(i, value);
  }

  const Line &line_;
  SampleCounts<T> &counts_;
  const int length_, n_, last_;  // last_: the end of the last segment
};

}  // namespace cudascan::linearopen
