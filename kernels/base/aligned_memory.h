// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Memory of the CPU that is kept and grown.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace cudascan {

class AlignedMemory {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< a line of the cache

  /// At least `bytes`, aligned and not cleared. Growing loses the contents; when it fails, the
  /// memory is empty.
  void *reserve(std::size_t bytes) {
    if (bytes_ < bytes) {
      memory_.reset();
      bytes_ = 0;
      const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset(std::aligned_alloc(kAlignment, whole));
      if (!memory_) throw std::bad_alloc();
      bytes_ = whole;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace cudascan
