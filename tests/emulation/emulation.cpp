// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <cstdio>
#include <map>

#include "device.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

// For tests/kernels/operator_test.h.
extern "C" void cudascan_gpu_is_emulated();
void cudascan_gpu_is_emulated() {}

namespace emulation {
namespace {

// Similar to an H200.
constexpr int kThreadsPerMultiprocessor = 2048, kThreadsPerBlock = 1024;
int multiprocessor_count = kMultiprocessors;
constexpr std::size_t kSharedPerMultiprocessor = 228 << 10, kReservedShared = 1 << 10;
std::size_t shared_per_block = kSharedPerBlock;
std::atomic<bool> kernels_run = true;
/// Turns of each thread without progress before a deadlock is assumed. A thread may need several
/// turns to see what it waits for.
constexpr int kIdleTurns = 30;

/// Dynamic shared memory that the blocks of each kernel may have, on each device.
class SharedLimits {
 public:
  std::size_t of(const void *kernel) const {
    const std::lock_guard lock(mutex_);
    const auto found = limits_.find({current_device(), kernel});
    return found == limits_.end() ? 48 << 10 : found->second;
  }
  cudaError_t set(const void *kernel, std::size_t bytes) {
    if (bytes > shared_memory_of(current_device())) return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex_);
    std::size_t &limit = limits_[{current_device(), kernel}];
    if (bytes < limit) fail("a kernel's limit of shared memory is lowered");
    limit = bytes;
    return cudaSuccess;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return limits_.size();
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    limits_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<int, const void *>, std::size_t> limits_;
};

SharedLimits shared_limits;

/// Tells the address sanitizer that the stack has changed.
void arrive([[maybe_unused]] const Place &place) {
#ifdef __SANITIZE_ADDRESS__
  const void *from = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(place.fake_stack, &from, &size);
  Device &d = device();
  if (!d.from_host) return;
  d.from_host = false;
  d.host.stack = from;
  d.host.stack_size = size;
#endif
}

/// Continues at `to`. Returns when something continues at `from`.
[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]] void change(Place &from,
                                                                                 Place &to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_size);
#endif
#ifdef __SANITIZE_THREAD__
  from.fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
  if (__builtin_setjmp(from.registers) != 0) return;
  // No function in between: returns of the other thread are predicted from calls of this one.
  if (const ucontext_t *fresh = std::exchange(to.fresh, nullptr)) setcontext(fresh);
  __builtin_longjmp(to.registers, 1);
}

/// Puts threads, linked from `first` to `last`, into the ring after another.
void insert_after(Fiber &thread, Fiber *first, Fiber *last) {
  first->before = &thread;
  last->after = thread.after;
  thread.after->before = last;
  thread.after = first;
}

/// Takes a thread out of the ring. Returns the next one, or null if there is none.
Fiber *take_out(Fiber &thread) {
  if (thread.after == &thread) return nullptr;
  thread.after->before = thread.before;
  thread.before->after = thread.after;
  return thread.after;
}

/// Continues with another thread, or with the host.
void continue_with(Place &to, Fiber *thread) {
  Device &d = device();
  Fiber &from = d.current();
  d.now = thread;
  change(from, to);
  arrive(device().current());
}

[[noreturn]] void fail_of_deadlock() {
  fail("threads wait for one another forever");
}

}  // namespace

Device the_device;

/// The function of a fiber: runs its thread of one block after another.
void live() {
  arrive(device().current());
  for (;;) {
    Device &d = device();
    (*d.thread)();
    Fiber &thread = d.current();
    if (!thread.copies.empty()) fail("a copy is unfinished when its thread ends");
    --d.left;
    progress();
    Fiber *const other = take_out(thread);
    if (!other && d.left > 0) fail_of_deadlock();
    if (other)
      continue_with(*other, other);
    else
      continue_with(d.host, &thread);
  }
}

namespace {

void wait_for_others(Meeting &meeting, const char *function) {
  Fiber &thread = device().current();
  if (meeting.arrived == 0) meeting.function = function;
  if (meeting.function != function && std::strcmp(meeting.function, function) != 0)
    fail(std::string("threads wait for one another in ") + meeting.function + " and in " +
         function);
  if (++meeting.arrived == meeting.expected) {
    meeting.arrived = 0;
    meeting.last_count = std::exchange(meeting.count, 0);
    ++meeting.times;
    if (meeting.first) insert_after(thread, meeting.first, meeting.last);
    meeting.first = meeting.last = nullptr;
    progress();
    return;
  }
  Fiber *const other = take_out(thread);
  if (!other) fail_of_deadlock();
  thread.before = meeting.last;
  (meeting.last ? meeting.last->after : meeting.first) = &thread;
  meeting.last = &thread;
  continue_with(*other, other);
}

/// Runs the threads of d.blocks.
void run_blocks() {
  Device &d = device();
  const int n = static_cast<int>(d.block_size.x * d.block_size.y * d.block_size.z);
  const int all = n * static_cast<int>(d.blocks.size());
  while (static_cast<int>(d.fibers.size()) < all)
    d.fibers.push_back(std::make_unique<Fiber>(d.fibers.size()));
  std::vector<Fiber *> order(all);
  for (int i = 0; i < all; ++i) order[i] = d.fibers[i].get();
  switch (d.random() % 3) {  // in order, in reverse order, or in any order
    case 1:
      std::reverse(order.begin(), order.end());
      break;
    case 2:
      std::shuffle(order.begin(), order.end(), d.random);
      break;
  }
  for (int i = 0; i < all; ++i) {
    order[i]->before = order[(i + all - 1) % all];
    order[i]->after = order[(i + 1) % all];
  }
  for (int i = 0; i < all; ++i) {
    Fiber &fiber = *d.fibers[i];
    fiber.block = &d.blocks[i / n];
    const unsigned thread = i % n;
    fiber.index = dim3(thread % d.block_size.x, thread / d.block_size.x % d.block_size.y,
                       thread / d.block_size.x / d.block_size.y);
    fiber.warp = static_cast<int>(thread / 32);
    fiber.lane = static_cast<int>(thread % 32);
  }
  for (Block &block : d.blocks) {
    block.warps.assign((n + 31) / 32, {});
    for (int i = 0; i < static_cast<int>(block.warps.size()); ++i)
      block.warps[i].expected = std::min(n - 32 * i, 32);
    block.all = {};
    block.all.expected = n;
    std::memset(block.shared.get(), 0xcd, d.shared_size);
  }
  d.left = all;
  d.idle = 0;
  d.now = order[0];
  d.from_host = true;
  change(d.host, d.current());
  d.now = nullptr;
  arrive(d.host);
  for (const Block &block : d.blocks)
    if (!block.copies.empty()) fail("a copy is unfinished when the block ends");
}

}  // namespace

std::size_t shared_memory_of(int device) {
  return device == 1 ? std::min(shared_per_block, kSharedPerBlockOfDevice1) : shared_per_block;
}
int multiprocessors_of(int device) {
  return multiprocessor_count + device;
}

const dim3 &thread_index() {
  return device().current().index;
}
const dim3 &block_index() {
  return device().block().index;
}
const dim3 &block_size() {
  return device().block_size;
}
const dim3 &grid_size() {
  return device().grid;
}
unsigned char *shared_memory() {
  return device().block().shared.get();
}

const std::uint64_t *exchange(std::uint64_t value, const char *function) {
  const Fiber &fiber = device().current();
  Meeting &warp = fiber.block->warps[fiber.warp];
  std::uint64_t *const values = warp.values[warp.times % 2];
  values[fiber.lane] = value;
  wait_for_others(warp, function);
  return values;
}

int meet(bool value) {
  Meeting &all = device().block().all;
  all.count += value;
  wait_for_others(all, "__syncthreads");
  return all.last_count;
}

void yield() {
  Device &d = device();
  if (++d.idle > kIdleTurns * d.left) fail_of_deadlock();
  Fiber *const other = d.current().after;
  if (other != d.now) continue_with(*other, other);
}
void progress() {
  device().idle = 0;
}

void fail(const std::string &what) {
  std::fputs("emulated GPU", stderr);
  if (device().now) {
    const dim3 &block = device().block().index;
    std::fprintf(stderr, ", block (%u, %u)", block.x, block.y);
  }
  std::fprintf(stderr, ": %s\n", what.c_str());
  std::abort();
}

int multiprocessors() {
  return multiprocessors_of(current_device());
}
void run_kernels(bool yes) {
  kernels_run = yes;
}
void set_multiprocessors(int n) {
  multiprocessor_count = n;
}
void limit_shared_memory(std::size_t bytes) {
  shared_per_block = bytes;
  shared_limits.clear();
}
std::size_t shared_limit(const void *kernel) {
  return shared_limits.of(kernel);
}
cudaError_t set_shared_limit(const void *kernel, std::size_t bytes) {
  return shared_limits.set(kernel, bytes);
}
std::size_t kernels_with_limit() {
  return shared_limits.size();
}
int blocks_per_multiprocessor(int threads, std::size_t shared) {
  if (threads < 1 || threads > kThreadsPerBlock || shared > shared_memory_of(current_device()))
    return 0;
  return std::min<int>(kThreadsPerMultiprocessor / threads,
                       kSharedPerMultiprocessor / (shared + kReservedShared));
}

void run(int number, const dim3 &blocks, const dim3 &threads, std::size_t shared, bool together,
         const std::function<void()> &thread) {
  if (!kernels_run) return;
  Device &d = device();
  const std::lock_guard lock(d.mutex);
  const OnlyMemoryOf memory(number);
  d.grid = blocks;
  d.block_size = threads;
  d.thread = &thread;
  d.shared_size = shared;
  const auto all = static_cast<std::size_t>(blocks.x) * blocks.y * blocks.z;
  d.blocks.resize(together ? all : 1);
  for (Block &block : d.blocks) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 128, shared) != 0) fail("no memory for shared memory");
    block.shared.reset(static_cast<unsigned char *>(memory));
  }
  std::size_t n = 0;
  for (unsigned z = 0; z < blocks.z; ++z)
    for (unsigned y = 0; y < blocks.y; ++y)
      for (unsigned x = 0; x < blocks.x; ++x) {
        d.blocks[n].index = dim3(x, y, z);
        n = (n + 1) % d.blocks.size();
        if (n == 0) run_blocks();
      }
}

}  // namespace emulation
