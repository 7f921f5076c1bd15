// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Follows which bits the samples of a stream use.
#pragma once
#include <atomic>
#include <cstdint>

#include "kernels/used_bits.h"

namespace cudascan::gst {

/// The bits of a stream's samples, as far as its frames have shown them. The first frames are
/// measured before they are processed. After that every kEvery-th frame is measured, and counts
/// only kEvery frames later. By then the GPU is done with it, so nobody waits, and on the CPU the
/// result is the same. Nothing is measured once all 16 bits are in use.
class BitWatch {
 public:
  static constexpr int kFirst = 16, kEvery = 8;

  /// Begins a new stream with the next frame. Any thread may call it.
  void restart() { restart_ = true; }

  /// Looks at the next frame, if that is needed.
  /// @return whether it waited for the result
  template <typename Exec>
  bool look(Exec &exec, const SignificantBits &wanted, Plane<const std::uint16_t> in) {
    if (restart_.exchange(false)) used_ = 0, frames_ = 0, pending_ = false;
    if (!wanted.are_measured() || all_bits()) {
      pending_ = false;
      return false;
    }
    const bool first = frames_ < kFirst, now = first || frames_ % kEvery == 0;
    if (now) {
      if (pending_) used_ |= used_bits(exec);
      find_used_bits(exec, in);
      if (first) used_ |= used_bits(exec);
      pending_ = !first;
    }
    ++frames_;
    return first;
  }

  /// The used bits, as for bit_range().
  unsigned used() const { return used_; }

 private:
  /// Whether both ends of the words are in use, so that nothing more can be learned.
  bool all_bits() const { return (used_ & 0x8001) == 0x8001; }

  std::atomic<bool> restart_ = true;
  // Of the streaming thread.
  unsigned used_ = 0;
  std::uint64_t frames_ = 0;
  bool pending_ = false;  // a frame was measured and does not count yet
};

}  // namespace cudascan::gst
