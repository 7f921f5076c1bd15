// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory of the emulated GPUs, and pinned memory.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "device.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace {

/// The owners of pinned memory, and of memory that was not made here.
constexpr int kAllDevices = -1, kNone = -2;

struct Allocation {
  char *begin;
  std::size_t size;
  int owner;

  bool has(const void *p) const { return p >= begin && p < begin + size; }
  bool is_foreign_to(int device) const { return owner != kAllDevices && owner != device; }
};

/// Each allocation has whole pages, so that it can be made inaccessible.
class Allocations {
 public:
  cudaError_t allocate(void **p, std::size_t bytes, int owner) {
    // The copy engine reads whole units of 16 bytes.
    const std::size_t size = (bytes + 15) / 16 * 16;
    if (posix_memalign(p, page_, pages(size)) != 0) return cudaErrorInvalidValue;
    std::memset(*p, 0xcd, size);
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(static_cast<char *>(*p) + size, pages(size) - size);
#endif
    const std::lock_guard lock(mutex_);
    all_[*p] = {static_cast<char *>(*p), size, owner};
    return cudaSuccess;
  }
  void free(void *p) {
    emulation::finish_all();
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(p);
    if (found == all_.end()) return;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(p, pages(found->second.size));
#endif
    all_.erase(found);
    std::free(p);
  }
  bool has(const void *p) const {
    const std::lock_guard lock(mutex_);
    return find(p) != nullptr;
  }
  int owner_of(const void *p) const {
    const std::lock_guard lock(mutex_);
    const Allocation *const found = find(p);
    return found ? found->owner : kNone;
  }

  /// Makes the memory of other devices inaccessible until show(). Until then nobody allocates or
  /// frees.
  void hide_from(int device) {
    mutex_.lock();
    for (const auto &[begin, allocation] : all_)
      if (allocation.is_foreign_to(device)) hidden_.push_back(allocation);
    if (const emulation::Driver *driver = emulation::driver()) driver->hide_memory_from(device);
    if (hidden_.empty() && !emulation::driver()) return;
    protect(PROT_NONE);
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = explain;
    sigaction(SIGSEGV, &action, &before_);
  }
  void show() {
    if (!hidden_.empty() || emulation::driver()) {
      sigaction(SIGSEGV, &before_, nullptr);
      protect(PROT_READ | PROT_WRITE);
      hidden_.clear();
    }
    if (const emulation::Driver *driver = emulation::driver()) driver->show_memory();
    mutex_.unlock();
  }

 private:
  std::size_t pages(std::size_t size) const {
    return std::max<std::size_t>((size + page_ - 1) / page_, 1) * page_;
  }
  const Allocation *find(const void *p) const {
    const auto next = all_.upper_bound(p);
    if (next == all_.begin() || !std::prev(next)->second.has(p)) return nullptr;
    return &std::prev(next)->second;
  }
  void protect(int access) {
    for (const Allocation &allocation : hidden_)
      if (mprotect(allocation.begin, pages(allocation.size), access) != 0)
        emulation::fail("the memory of a device could not be protected");
  }
  /// Of a wrong access. If it is not to hidden memory, it is repeated, and the handler from before
  /// is called.
  static void explain(int, siginfo_t *info, void *);

  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mutable std::mutex mutex_;
  std::map<const void *, Allocation> all_;
  std::vector<Allocation> hidden_;
  struct sigaction before_ {};
};

Allocations allocations;

[[noreturn]] void fail_for(int owner) {
  emulation::fail("a kernel uses memory of device " + std::to_string(owner) +
                  ", another one than its own");
}

void Allocations::explain(int, siginfo_t *info, void *) {
  sigaction(SIGSEGV, &allocations.before_, nullptr);
  if (const emulation::Driver *driver = emulation::driver())
    if (const int owner = driver->device_of(info->si_addr); owner >= 0) fail_for(owner);
  for (const Allocation &allocation : allocations.hidden_)
    if (allocation.has(info->si_addr)) fail_for(allocation.owner);
}

}  // namespace

namespace emulation {

bool is_allocated(const void *p) {
  return allocations.has(p) || owner_of(p) >= 0;
}
int owner_of(const void *p) {
  const int owner = allocations.owner_of(p);
  return owner == kNone && driver() ? driver()->device_of(p) : owner;
}
bool is_foreign(const void *p) {
  const int owner = owner_of(p);
  return owner >= 0 && owner != current_device();
}
OnlyMemoryOf::OnlyMemoryOf(int device) {
  allocations.hide_from(device);
}
OnlyMemoryOf::~OnlyMemoryOf() {
  allocations.show();
}

}  // namespace emulation

cudaError_t cudaMalloc(void **p, std::size_t bytes) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  return allocations.allocate(p, bytes, emulation::current_device());
}
cudaError_t cudaMallocHost(void **p, std::size_t bytes) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  return allocations.allocate(p, bytes, kAllDevices);
}
cudaError_t cudaFree(void *p) {
  allocations.free(p);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void *p) {
  allocations.free(p);
  return cudaSuccess;
}
