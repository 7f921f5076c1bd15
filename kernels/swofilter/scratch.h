// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Memory of the threads that filter bands of an image on the CPU; it is kept from frame to frame.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace cudascan::swo {

class Scratch {
 public:
  /// The memory of the calling thread, reset so that all of it is free.
  static Scratch &of_thread() {
    thread_local Scratch scratch;
    scratch.taken_ = 0;
    return scratch;
  }

  /// Room for n elements, uninitialised and aligned to a cache line.
  template <typename T>
  T *take(std::size_t n) {
    if (taken_ == pieces_.size()) pieces_.emplace_back();
    Piece &piece = pieces_[taken_++];
    const std::size_t bytes = (n * sizeof(T) + kLine - 1) / kLine * kLine;
    if (piece.bytes < bytes) {
      piece.memory.reset();
      piece.bytes = 0;
      piece.memory.reset(static_cast<unsigned char *>(std::aligned_alloc(kLine, bytes)));
      if (!piece.memory) throw std::bad_alloc();
      piece.bytes = bytes;
    }
    return reinterpret_cast<T *>(piece.memory.get());
  }

  /// Distance in elements of rows of n: an odd number of cache lines, so that the lines of a column
  /// do not all map to the same few sets.
  template <typename T>
  static std::size_t stride(std::size_t n) {
    return ((n * sizeof(T) + kLine - 1) / kLine | 1) * kLine / sizeof(T);
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  struct Piece {
    std::unique_ptr<unsigned char[], Free> memory;
    std::size_t bytes = 0;
  };
  std::vector<Piece> pieces_;
  std::size_t taken_ = 0;
};

}  // namespace cudascan::swo
