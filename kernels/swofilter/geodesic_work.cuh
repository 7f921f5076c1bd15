// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What blocks that run at the same time have to do: lists in device memory, of items that are on a
/// list once.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

#include "common/api.h"

namespace cudascan::swo {

/// Lists of items of one kind: the one that is read, and the next, to which items are added. All threads
/// call next() in the same places, and all blocks meet before it: after the last item was added, and
/// after the open list was read.
class Work {
 public:
  /// Words of device memory.
  static CUDASCAN_HD std::size_t words(int items) {
    return std::size_t{1 + kLists} * items + kLists;
  }

  __device__ Work(unsigned *words, int items)
      : counts_(words), stamps_(words + kLists), lists_(stamps_ + items), items_(items) {}

  /// Empties all lists; done by the threads of all blocks, before they meet.
  __device__ void reset(unsigned thread, unsigned threads) const {
    for (unsigned i = thread; i < kLists + static_cast<unsigned>(items_); i += threads)
      counts_[i] = 0;
  }

  /// Of the open list.
  __device__ unsigned count() const { return counts_[open_ % kLists]; }
  __device__ unsigned item(unsigned i) const { return list(open_)[i]; }

  /// Adds an item to the next list, unless it is there.
  __device__ void add(unsigned item) const {
    // A stamp is the number of the list. Who reads an old one asks once more.
    const unsigned number = open_ + 1;
    if (stamps_[item] == number || atomicExch(&stamps_[item], number) == number) return;
    list(number)[atomicAdd(&counts_[number % kLists], 1u)] = item;
  }

  /// Opens the next list.
  __device__ void next() {
    ++open_;
    // The list that was open becomes the one after the next: nobody reads it any more, and nobody adds to
    // it before the blocks meet again.
    if (blockIdx.x == 0 && threadIdx.x == 0) counts_[(open_ + 2) % kLists] = 0;
  }

 private:
  static constexpr int kLists = 3;

  __device__ unsigned *list(unsigned number) const {
    return lists_ + std::size_t{number % kLists} * items_;
  }

  unsigned *counts_, *stamps_, *lists_;
  int items_;
  unsigned open_ = 0;
};

}  // namespace cudascan::swo
