// SPDX-License-Identifier: LGPL-2.1-or-later
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "kernels/base/aligned_memory.h"
#include "kernels/base/simd.h"
#include "kernels/exec.h"

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
#endif

namespace cudascan {
namespace {

/// Tells the thread sanitizer what oneTBB, which is not compiled for it, guarantees: what happened
/// before parallel_for() is seen by its bands, and what bands do is seen after it.
class Handover {
 public:
#ifdef __SANITIZE_THREAD__
  void release() {
    __tsan_release(&place_);
  }
  void acquire() {
    __tsan_acquire(&place_);
  }

 private:
  char place_ = 0;
#else
  void release() {}
  void acquire() {}
#endif
};

}  // namespace

// oneTBB keeps one pool of workers for the process; an arena limits how many of them join in.
struct Cpu::Impl {
  int threads = 1;
  oneapi::tbb::task_arena arena;
  AlignedMemory scratch;
  std::map<const void *, std::vector<unsigned char>> histories;
  std::map<const void *, std::shared_ptr<void>> kept;
};

/// More threads than cores gain nothing, but operators need memory for a band for each thread.
constexpr int kMostThreads = 64;

Cpu::Cpu(int n_threads) {
  check_isa();
  impl_ = std::make_unique<Impl>();
  set_threads(n_threads);
}
Cpu::~Cpu() = default;

int Cpu::threads() const {
  return impl_->threads;
}

void Cpu::set_threads(int n_threads) {
  const int cores = oneapi::tbb::info::default_concurrency();
  impl_->threads = n_threads > 0 ? std::min(n_threads, std::max(cores, kMostThreads)) : cores;
  impl_->arena.terminate();
  // oneTBB prints a warning if there are more workers than it has.
  impl_->arena.initialize(std::min(impl_->threads, cores));
}

void Cpu::for_bands(int rows, int min_rows, const std::function<void(int, int)> &band) {
  const int n = std::clamp(rows / std::max(min_rows, 1), 1, threads());
  if (n == 1) return band(0, rows);
  Handover begin, end;
  begin.release();
  impl_->arena.execute([&] {
    oneapi::tbb::parallel_for(
        0, n,
        [&](int i) {
          begin.acquire();
          band(static_cast<int>(std::int64_t{rows} * i / n),
               static_cast<int>(std::int64_t{rows} * (i + 1) / n));
          end.release();
        },
        oneapi::tbb::static_partitioner());
  });
  end.acquire();
}

void *Cpu::scratch(std::size_t bytes) {
  return impl_->scratch.reserve(bytes);
}

void *Cpu::history(const void *key, std::size_t bytes) {
  auto &history = impl_->histories[key];
  if (history.size() != bytes) history.assign(bytes, 0);
  return history.data();
}

void Cpu::forget() {
  impl_->histories.clear();
}

std::shared_ptr<void> &Cpu::kept(const void *key) {
  return impl_->kept[key];
}

}  // namespace cudascan
