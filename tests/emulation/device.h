// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The emulated devices, shared by the files of this folder.
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

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace emulation {

inline constexpr std::size_t kStack = 256 << 10;

struct Fiber;

/// A point at which threads wait until all have arrived.
struct Meeting {
  Fiber *first = nullptr, *last = nullptr;  ///< the threads that wait, in the order of arrival
  int expected = 0, arrived = 0, count = 0, last_count = 0;
  unsigned times = 0;
  const char *function = nullptr;
  std::uint64_t values[2][32];  ///< of the current meeting and of the previous one
};

void live();

/// The state in which something with a stack of its own is to continue.
struct Place {
  void *registers[5] = {};            ///< saved by __builtin_setjmp(), which makes no system call
  const ucontext_t *fresh = nullptr;  ///< set for a stack on which nothing has run yet
  void *fiber = nullptr;              ///< for the thread sanitizer
  void *fake_stack = nullptr;         ///< for the address sanitizer
  const void *stack = nullptr;
  std::size_t stack_size = 0;
};

struct Block;

/// An asynchronous copy to shared memory that a thread has started and that is not done yet.
struct StartedCopy {
  unsigned to;
  const void *from;
  unsigned bytes, group;
};

/// Runs a thread of a block, then the thread with the same index of the next block. What is needed
/// to change threads is together at the beginning: a kernel has up to 1024 threads, and the cache
/// has to hold it for all of them.
struct alignas(64) Fiber : Place {
  Fiber *before = nullptr, *after = nullptr;  ///< in the ring of threads that can run, or waiting
  Block *block = nullptr;
  int warp = 0, lane = 0;
  dim3 index;
  unsigned groups = 0;  ///< complete groups of copies
  std::vector<StartedCopy> copies;
  void *memory;
  ucontext_t context;

  /// @param number  gives each stack a different start address modulo the size of a cache, so that
  ///                a cache holds the tops of many stacks
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
#ifdef __SANITIZE_THREAD__
    fiber = __tsan_create_fiber(0);
#endif
  }
  ~Fiber() {
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(fiber);
#endif
    munmap(memory, kStack);
  }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
};

/// A copy of the copy engine that is not done yet. It holds its own tensor: the original is a
/// parameter of the kernel. Each thread here has a copy of it, and that thread may end first.
struct PendingCopy {
  unsigned barrier;
  CUtensorMap tensor;
  unsigned to;
  int x, y, z;
};

/// Frees shared memory. A block's memory has exactly the requested size, so that a sanitizer
/// detects accesses beyond it.
struct Free {
  void operator()(unsigned char *memory) const { std::free(memory); }
};

struct Block {
  dim3 index;
  std::vector<Meeting> warps;
  Meeting all;
  std::unique_ptr<unsigned char, Free> shared;
  std::vector<PendingCopy> copies;
};

/// What runs kernels, those of all devices. Only one thread of the process at a time may use it.
struct Device {
  std::mutex mutex;
  std::vector<std::unique_ptr<Fiber>> fibers;
  Fiber *now = nullptr;  ///< the running thread
  int left = 0;          ///< threads that have not ended
  int idle = 0;          ///< turns since a thread last made progress
  dim3 grid, block_size;
  std::vector<Block> blocks;  ///< the running blocks: one, or all blocks of a cooperative launch
  std::mt19937 random;
  const std::function<void()> *thread = nullptr;
  std::size_t shared_size = 0;
  Place host;
  bool from_host = false;  ///< the host has just been left

  Fiber &current() { return *now; }
  Block &block() { return *current().block; }
};

extern Device the_device;
inline Device &device() {
  return the_device;
}
/// As long as it exists, an access to memory of other devices ends the program.
struct OnlyMemoryOf {
  explicit OnlyMemoryOf(int device);
  ~OnlyMemoryOf();
  OnlyMemoryOf(const OnlyMemoryOf &) = delete;
  OnlyMemoryOf &operator=(const OnlyMemoryOf &) = delete;
};

/// The shared memory that a block may have.
std::size_t shared_memory_of(int device);
int multiprocessors_of(int device);

}  // namespace emulation
