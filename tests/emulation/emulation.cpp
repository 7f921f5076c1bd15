// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string_view>

#include "kernels/base/ptx.cuh"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulation {
namespace {

// About what an H200 has.
constexpr int kThreadsPerMultiprocessor = 2048, kThreadsPerBlock = 1024;
int multiprocessor_count = kMultiprocessors;
constexpr std::size_t kSharedPerMultiprocessor = 228 << 10, kReservedShared = 1 << 10;
std::size_t shared_per_block = kSharedPerBlock;
constexpr std::size_t kStack = 256 << 10;
/// Turns of each thread without progress, of which one may need several to see what it waits for.
constexpr int kIdleTurns = 30;

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

Device the_device;

Device &device() {
  return the_device;
}

/// Dynamic shared memory that the blocks of each kernel may have.
class SharedLimits {
 public:
  std::size_t of(const void *kernel) const {
    const std::lock_guard lock(mutex_);
    const auto found = limits_.find(kernel);
    return found == limits_.end() ? 48 << 10 : found->second;
  }
  cudaError_t set(const void *kernel, std::size_t bytes) {
    if (bytes > shared_per_block) return cudaErrorInvalidValue;
    const std::lock_guard lock(mutex_);
    std::size_t &limit = limits_[kernel];
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
  std::map<const void *, std::size_t> limits_;
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

[[gnu::noinline, gnu::no_sanitize_address]] void jump(Place &to) {
  if (const ucontext_t *fresh = std::exchange(to.fresh, nullptr)) setcontext(fresh);
  __builtin_longjmp(to.registers, 1);
}
/// Goes on at `to`; returns when something goes on at `from`.
[[gnu::noinline, gnu::no_sanitize_address]] void change(Place &from, Place &to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_size);
#endif
  if (__builtin_setjmp(from.registers) == 0) jump(to);
}

/// Goes on with the next thread of the block, or with the host if there is none.
void next() {
  Device &d = device();
  Fiber &from = d.current();
  if (d.left == 0) {
    change(from, d.host);
  } else {
    do {
      if (++d.idle > kIdleTurns * static_cast<int>(d.order.size()))
        fail("threads wait for one another for ever");
      if (++d.turn == d.order.size()) d.turn = 0;
      d.now = d.fibers[d.order[d.turn]].get();
    } while (!d.now->ready());
    if (d.now == &from) return;
    change(from, *d.now);
  }
  arrive(device().current());
}

/// What a fiber runs: its thread of one block after another.
void live() {
  arrive(device().current());
  for (;;) {
    Device &d = device();
    (*d.thread)();
    if (!d.current().copies.empty()) fail("a copy is under way when its thread ends");
    d.current().running = false;
    --d.left;
    progress();
    next();
  }
}

void wait_for_others(Meeting &meeting, const char *function) {
  if (meeting.arrived == 0) meeting.function = function;
  if (meeting.function != function && std::strcmp(meeting.function, function) != 0)
    fail(std::string("threads wait for one another in ") + meeting.function + " and in " +
         function);
  if (++meeting.arrived == meeting.expected) {
    meeting.arrived = 0;
    meeting.last_count = std::exchange(meeting.count, 0);
    ++meeting.times;
    progress();
    return;
  }
  Fiber &thread = device().current();
  thread.waits_for = &meeting;
  thread.times = meeting.times;
  next();
  thread.waits_for = nullptr;
}

/// Runs the threads of d.blocks.
void run_blocks() {
  Device &d = device();
  const int n = static_cast<int>(d.block_size.x * d.block_size.y * d.block_size.z);
  const int all = n * static_cast<int>(d.blocks.size());
  while (static_cast<int>(d.fibers.size()) < all)
    d.fibers.push_back(std::make_unique<Fiber>(d.fibers.size()));
  d.order.resize(all);
  std::iota(d.order.begin(), d.order.end(), 0);
  switch (d.random() % 3) {  // neighbours in turn, backwards, or any
    case 1:
      std::reverse(d.order.begin(), d.order.end());
      break;
    case 2:
      std::shuffle(d.order.begin(), d.order.end(), d.random);
      break;
  }
  for (int i = 0; i < all; ++i) {
    Fiber &fiber = *d.fibers[i];
    fiber.block = &d.blocks[i / n];
    const unsigned thread = i % n;
    fiber.index = dim3(thread % d.block_size.x, thread / d.block_size.x % d.block_size.y,
                       thread / d.block_size.x / d.block_size.y);
    fiber.warp = static_cast<int>(thread / 32);
    fiber.lane = static_cast<int>(thread % 32);
    fiber.running = true;
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
  d.turn = 0;
  d.now = d.fibers[d.order[0]].get();
  d.from_host = true;
  change(d.host, d.current());
  d.now = nullptr;
  arrive(d.host);
  if (!d.copies.empty()) fail("a copy is under way when the block ends");
}

}  // namespace

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
  next();
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
  return multiprocessor_count;
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
  if (threads < 1 || threads > kThreadsPerBlock || shared > shared_per_block) return 0;
  return std::min<int>(kThreadsPerMultiprocessor / threads,
                       kSharedPerMultiprocessor / (shared + kReservedShared));
}

void run(const dim3 &blocks, const dim3 &threads, std::size_t shared, bool together,
         const std::function<void()> &thread) {
  Device &d = device();
  const std::lock_guard lock(d.mutex);
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

namespace cudascan {

using emulation::device;
using emulation::fail;

// ---- Shared memory ------------------------------------------------------------------------------

namespace {

constexpr unsigned kDynamic = 0x40000000;  // where the addresses of dynamic shared memory begin
constexpr unsigned kStatic = 0x80000000;   // that of the following
alignas(128) unsigned char anchor;

/// The barrier itself, 8 bytes.
struct Barrier {
  std::int32_t bytes;     ///< that are still to come
  std::int16_t arrivals;  ///< that are still to come
  std::int16_t phase;

  void advance() {
    if (bytes != 0 || arrivals != 0) return;
    phase ^= 1;
    arrivals = 1;
    emulation::progress();
  }
};
static_assert(sizeof(Barrier) == 8);

Barrier &barrier_at(unsigned address) {
  return *reinterpret_cast<Barrier *>(shared_pointer(address));
}

void make(const emulation::PendingCopy &copy) {
  const CUtensorMap &t = copy.tensor;
  unsigned char *to = shared_pointer(copy.to);
  const auto inside = [](int i, cuuint64_t size) {
    return i >= 0 && static_cast<cuuint64_t>(i) < size;
  };
  for (cuuint32_t k = 0; k < t.box[2]; ++k)
    for (cuuint32_t j = 0; j < t.box[1]; ++j)
      for (cuuint32_t i = 0; i < t.box[0]; ++i, to += t.element) {
        const int x = copy.x + i, y = copy.y + j, z = copy.z + k;
        if (inside(x, t.size[0]) && inside(y, t.size[1]) && inside(z, t.size[2]))
          std::memcpy(to, t.data + x * t.element + y * t.stride[0] + z * t.stride[1], t.element);
        else
          std::memset(to, 0, t.element);
      }
  Barrier &barrier = barrier_at(copy.barrier);
  barrier.bytes -= static_cast<std::int32_t>(t.box[0] * t.box[1] * t.box[2] * t.element);
  barrier.advance();
}

}  // namespace

unsigned shared_address(const void *p) {
  const auto *byte = static_cast<const unsigned char *>(p);
  const unsigned char *const shared = emulation::shared_memory();
  if (byte >= shared && byte <= shared + device().shared_size)
    return kDynamic + static_cast<unsigned>(byte - shared);
  const std::ptrdiff_t from_anchor = byte - &anchor;
  if (from_anchor < -0x20000000 || from_anchor > 0x20000000)
    fail("shared_address: not in shared memory");
  return kStatic + static_cast<unsigned>(from_anchor);
}
unsigned char *shared_pointer(unsigned address) {
  if (address < kDynamic + 0x10000000) return emulation::shared_memory() + (address - kDynamic);
  return &anchor + static_cast<std::int32_t>(address - kStatic);
}

void start_copy(unsigned address, const void *global, unsigned bytes) {
  const auto refuse = [&](const char *which) {
    fail("copy_async: " + (which + (" no multiple of " + std::to_string(bytes))) + " bytes");
  };
  if (address % bytes != 0) refuse("to");
  if (reinterpret_cast<std::uintptr_t>(global) % bytes != 0) refuse("from");
  emulation::Fiber &thread = device().current();
  if (device().random() % 2 == 0)
    std::memcpy(shared_pointer(address), global, bytes);
  else
    thread.copies.push_back({address, global, bytes, thread.groups});
}
void commit_copies() {
  ++device().current().groups;
}
void wait_for_latest_copies(int n) {
  emulation::Fiber &thread = device().current();
  std::erase_if(thread.copies, [&](const emulation::StartedCopy &copy) {
    if (thread.groups - copy.group <= static_cast<unsigned>(n)) return false;
    std::memcpy(shared_pointer(copy.to), copy.from, copy.bytes);
    return true;
  });
}

void add_common_bits(int (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  struct Words {
    unsigned a[4], b[2];
  } mine;
  std::copy_n(a, 4, mine.a);
  std::copy_n(b, 2, mine.b);
  const std::uint64_t *const all =
      emulation::exchange(reinterpret_cast<std::uintptr_t>(&mine), "add_common_bits");
  // Word `word` of a row of a, and of a column of b.
  const auto of_lane = [&](int i, int k) {
    return reinterpret_cast<const Words *>(all[4 * i + k]);
  };
  const auto a_word = [&](int row, int word) {
    return of_lane(row % 8, word % 4)->a[word / 4 * 2 + row / 8];
  };
  const auto b_word = [&](int column, int word) { return of_lane(column, word % 4)->b[word / 4]; };
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i)
    for (int word = 0; word < 8; ++word)
      sums[i] += __popc(a_word(lane / 4 + i / 2 * 8, word) & b_word(lane % 4 * 2 + i % 2, word));
  emulation::exchange(0, "add_common_bits");  // the others have read this lane's words
}

void CopyBarrier::init() const {
  if (address_ % 8 != 0) fail("a barrier is at no multiple of 8 bytes");
  barrier_at(address_) = {0, 1, 0};
}
void CopyBarrier::expect(bool mine, int bytes) const {
  if (!mine) return;
  Barrier &barrier = barrier_at(address_);
  barrier.bytes += bytes;
  --barrier.arrivals;
  barrier.advance();
}
void CopyBarrier::copy(bool mine, const CUtensorMap &tensor, unsigned to, int x, int y,
                       int z) const {
  if (!mine) return;
  if (to % 128 != 0) fail("a copy goes to no multiple of 128 bytes");
  if (x * static_cast<int>(tensor.element) % 16 != 0)
    fail("a copy begins at no multiple of 16 bytes");
  const emulation::PendingCopy copy{address_, tensor, to, x, y, z};
  if (device().random() % 2 == 0)
    make(copy);
  else
    device().copies.push_back(copy);
}
void CopyBarrier::wait(unsigned phase) const {
  for (;;) {
    std::erase_if(device().copies, [this](const emulation::PendingCopy &copy) {
      if (copy.barrier != address_) return false;
      make(copy);
      return true;
    });
    if (static_cast<unsigned>(barrier_at(address_).phase) != phase) return;
    emulation::yield();  // the copy may be started only then
  }
}

}  // namespace cudascan

// ---- The runtime --------------------------------------------------------------------------------

cudaError_t cudaGetDevice(int *id) {
  *id = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount
               ? emulation::multiprocessors()
               : static_cast<int>(emulation::shared_per_block);
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  if (std::string_view(name) != "cuTensorMapEncodeTiled") return cudaErrorInvalidValue;
  *function = reinterpret_cast<void *>(cuTensorMapEncodeTiled);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "invalid argument (emulated GPU)";
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensor, CUtensorMapDataType type, cuuint32_t rank,
                                void *data, const cuuint64_t *size, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step,
                                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  constexpr std::size_t kBytes[] = {1, 2, 4, 8};
  if (rank != 3 || reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *tensor = {static_cast<const unsigned char *>(data), kBytes[type], {}, {}, {}};
  for (int i = 0; i < 3; ++i) {
    if (box[i] < 1 || box[i] > 256 || step[i] != 1 || size[i] < 1) return CUDA_ERROR_INVALID_VALUE;
    tensor->size[i] = size[i];
    tensor->box[i] = box[i];
  }
  for (int i = 0; i < 2; ++i) {
    if (stride[i] % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    tensor->stride[i] = stride[i];
  }
  return box[0] * kBytes[type] % 16 == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
