// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Memory of the threads that filter bands of an image on the CPU; it is kept from frame to frame.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/base/aligned_memory.h"

namespace cudascan::swo {

class ThreadScratch {
 public:
  /// The memory of the calling thread, reset so that all of it is free.
  static ThreadScratch &of_thread() {
    thread_local ThreadScratch scratch;
    scratch.taken_ = 0;
    return scratch;
  }

  /// Room for n elements, uninitialised and aligned to a cache line.
  template <typename T>
  T *take(std::size_t n) {
    if (taken_ == pieces_.size()) pieces_.emplace_back();
    return static_cast<T *>(pieces_[taken_++].reserve(n * sizeof(T)));
  }

  /// Distance in elements of rows of n: an odd number of cache lines, so that the lines of a column
  /// do not all map to the same few sets.
  template <typename T>
  static std::size_t stride(std::size_t n) {
    return ((n * sizeof(T) + kLine - 1) / kLine | 1) * kLine / sizeof(T);
  }

 private:
  static constexpr std::size_t kLine = AlignedMemory::kAlignment;
  std::vector<AlignedMemory> pieces_;
  std::size_t taken_ = 0;
};

}  // namespace cudascan::swo
