// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The emulated device, for the files of this folder.
#pragma once
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "kernels/base/ptx.cuh"

namespace emulation {

inline constexpr std::size_t kStack = 256 << 10;

/// Somewhere threads wait until all have come.
struct Meeting {
  int expected = 0, arrived = 0, count = 0, last_count = 0;
  unsigned times = 0;
  const char *function = nullptr;
  std::uint64_t values[2][32];  ///< of this time and the last
};

void live();

/// Where something on a stack of its own goes on.
struct Place {
  void *registers[5];                 ///< as __builtin_setjmp() keeps them: no call of the system
  const ucontext_t *fresh = nullptr;  ///< for a stack on which nothing has run yet
  void *fake_stack = nullptr;         ///< the address sanitizer's
  const void *stack = nullptr;
  std::size_t stack_size = 0;
};

struct Block;

/// A copy to shared memory that its thread has started and that has not been made.
struct StartedCopy {
  unsigned to;
  const void *from;
  unsigned bytes, group;
};

/// A thread of a block, and then of the next.
struct Fiber : Place {
  ucontext_t context;
  void *memory;
  Block *block = nullptr;
  dim3 index;
  int warp = 0, lane = 0;
  bool running = false;
  const Meeting *waits_for = nullptr;
  unsigned times = 0;  ///< of that meeting before it waited
  std::vector<StartedCopy> copies;
  unsigned groups = 0;  ///< of them that are complete

  /// @param number  places the beginnings of stacks differently, so that a cache holds those of
  ///                many
  explicit Fiber(std::size_t number) {
    memory = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("no memory for the stack of a thread");
    getcontext(&context);
    context.uc_stack.ss_sp = memory;
    context.uc_stack.ss_size = kStack - number * 13 * 64 % (kStack / 4);
    makecontext(&context, live, 0);
    fresh = &context;
    stack = memory;
    stack_size = context.uc_stack.ss_size;
  }
  ~Fiber() { munmap(memory, kStack); }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Whether it has something to do.
  bool ready() const { return running && (!waits_for || waits_for->times != times); }
};

/// A copy of the engine that has not been made. Its tensor is a parameter of the kernel, of which
/// each thread here has one of its own: the copy keeps it, as its thread may end first.
struct PendingCopy {
  unsigned barrier;
  CUtensorMap tensor;
  unsigned to;
  int x, y, z;
};

/// Frees shared memory, which is exactly as large as was asked for, so that a sanitizer sees its
/// end.
struct Free {
  void operator()(unsigned char *memory) const { std::free(memory); }
};

struct Block {
  dim3 index;
  std::vector<Meeting> warps;
  Meeting all;
  std::unique_ptr<unsigned char, Free> shared;
};

/// The device; one thread of the process at a time may use it.
struct Device {
  std::mutex mutex;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<int> order;  ///< in which the threads under way run
  std::size_t turn = 0;    ///< in `order`
  Fiber *now = nullptr;    ///< whose turn it is
  int left = 0;            ///< threads under way
  int idle = 0;            ///< turns since the last progress
  dim3 grid, block_size;
  std::vector<Block> blocks;  ///< under way: one, or all that were launched together
  std::vector<PendingCopy> copies;
  std::mt19937 random;
  const std::function<void()> *thread = nullptr;
  std::size_t shared_size = 0;
  Place host;
  bool from_host = false;  ///< the host has just been left

  Fiber &current() { return *now; }
  Block &block() { return *current().block; }
};

Device &device();
/// What a block may have of shared memory.
std::size_t most_shared_memory();

}  // namespace emulation
