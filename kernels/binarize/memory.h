// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes and rows in memory of the executor, kept from frame to frame.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/base/aligned_memory.h"
#include "kernels/binarize/rows.h"

namespace cudascan::binarize {

/// Samples of a row in memory, so that loops may run past both ends.
constexpr std::size_t row_stride(int width) {
  return static_cast<std::size_t>((width + kSlack - 1) / kSlack + 1) * kSlack;
}

/// A plane whose rows have kSlack samples before and after them.
template <typename T>
Plane<T> plane_in(AlignedMemory &memory, int width, int height) {
  const std::size_t stride = row_stride(width);
  T *const data = static_cast<T *>(memory.reserve((stride * height + 2 * kSlack) * sizeof(T)));
  return {data + kSlack, width, height, static_cast<std::ptrdiff_t>(stride * sizeof(T))};
}

inline runlengths::BitPlane bits_in(AlignedMemory &memory, int width, int height) {
  runlengths::BitPlane bits{nullptr, width, height};
  bits.data = static_cast<Word *>(
      memory.reserve(sizeof(Word) * bits.words() * static_cast<std::size_t>(height)));
  return bits;
}

/// Memory for rows of a band. It belongs to the thread, which keeps it for the next band.
class RowMemory {
 public:
  RowMemory() : pieces_(of_thread()), first_(pieces_.taken) {}
  ~RowMemory() { pieces_.taken = first_; }
  RowMemory(const RowMemory &) = delete;
  RowMemory &operator=(const RowMemory &) = delete;

  /// A row of this width with kSlack samples before and after it.
  template <typename T>
  T *row(int width) {
    return take<T>(row_stride(width) + kSlack) + kSlack;
  }
  template <typename T>
  T *take(std::size_t n) {
    if (pieces_.taken == pieces_.memory.size()) pieces_.memory.emplace_back();
    return static_cast<T *>(pieces_.memory[pieces_.taken++].reserve(n * sizeof(T)));
  }

 private:
  struct Pieces {
    std::vector<AlignedMemory> memory;
    std::size_t taken = 0;
  };
  static Pieces &of_thread() {
    thread_local Pieces pieces;
    return pieces;
  }

  Pieces &pieces_;
  const std::size_t first_;
};

}  // namespace cudascan::binarize
