// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where an operator runs. Every operator overloads
///
///     void run(Cpu &, in, out, const Params &, Report * = nullptr);
///     void run(Cuda &, in, out, const Params &, Report * = nullptr);
///
/// so that generic code calls run(exec, ...) and need not know the backend.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/api.h"
#include "common/error.h"
#include "common/plane.h"
#include "kernels/cuda_resources.h"

namespace cudascan {

/// Runs an operator on the CPU, in the calling thread and in threads of a pool that all executors
/// of the process share. run() returns when the work is done. Only one thread may use an executor
/// at a time.
class CUDASCAN_API Cpu {
 public:
  /// @param n_threads  threads that one run() may use; 0 or less: the number of cores. The limit is
  ///                   64 or the number of cores, whichever is larger Throws BadSetting if the
  ///                   environment variable CUDASCAN_MAX_CPU_ISA was wrong, see isa().
  explicit Cpu(int n_threads = 0);
  ~Cpu();
  Cpu(const Cpu &) = delete;
  Cpu &operator=(const Cpu &) = delete;

  int threads() const;
  /// Changes how many threads one run() may use, as in the constructor. The history is kept.
  void set_threads(int n_threads);

  /// The instruction set of the loops that run here: "baseline", "avx2", "avx512" or "avx512vbmi",
  /// the best one that the processor supports. The environment variable CUDASCAN_MAX_CPU_ISA, read
  /// once when the library is loaded, may name a lower one; results are the same. Throws BadSetting
  /// if its value is not one of these names.
  static const char *isa();

  /// Splits the rows [0, rows) into bands, at most one per thread and none smaller than `min_rows`
  /// (unless there are fewer rows), and calls band(begin, end) for each, concurrently. Returns when
  /// all have returned; rethrows the first exception.
  void for_bands(int rows, int min_rows, const std::function<void(int begin, int end)> &band);

  /// At least `bytes` of memory, aligned to 64 bytes and not cleared, whose contents last until the
  /// next call or the next run() on this executor. Kept and grown, so that a stream of frames of
  /// one size allocates once; forget() does not touch it.
  void *scratch(std::size_t bytes);

  /// What an operator carries from one run() to the next: `bytes` of memory for the owner that
  /// `key` names, zero at first, after forget(), and when the owner asks for another size.
  void *history(const void *key, std::size_t bytes);
  /// Makes the next run() start without a history, as at the start of a stream of frames.
  void forget();

  /// What the owner that `key` names keeps as long as this executor lives; empty at first.
  std::shared_ptr<void> &kept(const void *key);

  /// Does nothing; exists so that generic code can call it on both executors.
  void synchronize() {}

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Queues an operator on one stream of the CUDA context that is current in the calling thread.
/// run() returns before the work is done. The context must also be current when the executor is
/// destroyed. Only one thread may use an executor at a time.
class CUDASCAN_API Cuda {
 public:
  /// @param stream  stream to queue on, nullptr = the default stream; not owned
  explicit Cuda(CUstream_st *stream = nullptr) : stream_(stream) {}
  Cuda(const Cuda &) = delete;
  Cuda &operator=(const Cuda &) = delete;

  /// Whether a CUDA device can be used in this process. Never throws; false without a driver.
  static bool available();

  CUstream_st *stream() const { return stream_; }
  /// Queues on another stream from now on, after the work queued before.
  void move_to(CUstream_st *stream);

  /// At least `bytes` of device memory, aligned to 256 bytes, whose contents last until the next
  /// run() on this executor. Kept and grown, so that a stream of frames of one size allocates once.
  void *scratch(std::size_t bytes);
  /// Pinned host memory for the report of one run(); it belongs to that run() until synchronize().
  void *report_memory(std::size_t bytes);

  /// What an operator carries from one run() to the next: `bytes` of device memory, aligned to 256
  /// bytes, for the owner that `key` names; zero at first, after forget(), and when the owner asks
  /// for another size.
  void *history(const void *key, std::size_t bytes);
  /// Makes the next run() start without a history, as at the start of a stream of frames.
  void forget();

  /// What the owner that `key` names keeps as long as this executor lives; empty at first.
  std::shared_ptr<void> &kept(const void *key) { return kept_[key]; }

  /// Multiprocessors of the device.
  int multiprocessors();
  /// Dynamic shared memory that a block may have, in bytes.
  int most_shared_memory();
  /// Bytes of the cache that all multiprocessors share.
  int cache_bytes();
  /// The architecture that the kernels were compiled for: 90 for sm_90 and compute_90. It may be
  /// older than the device's; then the driver has recompiled them.
  int code_architecture();

  /// The first call for a kernel loads it into the context and allows its blocks as much shared
  /// memory as the device supports; later calls do nothing. This limit is state of the kernel that
  /// all threads share, so every executor sets the same value, whatever a launch needs.
  void load(const void *kernel);

  /// Whether this is a CudaLoader, which queues nothing.
  bool only_loads() const { return only_loads_; }

  /// Queues setting so many bytes of device memory to 0.
  void clear(void *device, std::size_t bytes);
  /// Queues a copy from device memory to report_memory().
  void fetch(void *host, const void *device, std::size_t bytes);

  /// The next synchronize() calls `done`: this is how an operator fills in its report.
  void on_complete(std::function<void()> done) {
    if (!only_loads_) on_complete_.push_back(std::move(done));
  }

  /// Waits until the work queued so far is done, then fills in the requested reports.
  void synchronize();
  /// From now on synchronize() lets its thread sleep, and so it may return late: by a quarter of
  /// the time that it waits, and by 70 us at least. Otherwise it keeps a core busy. For programs
  /// that have more threads than cores.
  void sleep_while_waiting() { sleeps_ = true; }

 protected:
  struct OnlyLoads {};
  explicit Cuda(OnlyLoads) : stream_(nullptr), only_loads_(true) {}

 private:
  CUstream_st *stream_;
  const bool only_loads_ = false;
  bool sleeps_ = false;               // in synchronize()
  std::optional<cuda::Event> moved_;  // the end on the stream before
  cuda::DeviceBuffer scratch_;
  std::vector<cuda::PinnedBuffer> report_memory_;  // one per report since synchronize()
  std::size_t reports_ = 0;                        // of them in use
  std::map<const void *, cuda::DeviceBuffer> histories_;
  std::map<const void *, std::shared_ptr<void>> kept_;
  std::vector<const void *> loaded_;  // kernels, sorted
  int multiprocessors_ = 0, most_shared_memory_ = 0, cache_bytes_ = 0, code_architecture_ = 0;
  std::vector<std::function<void()>> on_complete_;
};

/// Loads kernels ahead of time. The CUDA runtime loads a kernel into the context at its first
/// launch, which takes up to tens of milliseconds. run() on this executor loads the kernels that it
/// would launch and does nothing else: it allocates no memory and touches no plane. The size,
/// alignment and format of the planes matter because they determine the kernels; their addresses
/// need not be valid. The operator custom, whose code is compiled, loads nothing here.
class CUDASCAN_API CudaLoader : public Cuda {
 public:
  CudaLoader() : Cuda(OnlyLoads()) {}
};

}  // namespace cudascan
