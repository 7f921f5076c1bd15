// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/devices.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "kernels/base/current_device.h"
#include "kernels/base/refuse.h"

namespace cudascan {

// ---- A worker -----------------------------------------------------------------------------------

void Devices::Worker::start() {
  stream_ = std::make_unique<cuda::Stream>();
  cuda_ = std::make_unique<Cuda>(stream_->get());
}

/// After an exception: reports that were asked for may be gone, and what operators keep from one
/// run() to the next may be half written.
void Devices::Worker::start_again() {
  try {
    stream_->synchronize();  // what was queued may still use the caller's memory
  } catch (const Error &) {  // the exception before it says more
  }
  cuda_ = std::make_unique<Cuda>(stream_->get());
}

void Devices::Worker::stop() {
  planes_.clear();
  cuda_.reset();
  stream_.reset();
}

std::ptrdiff_t Devices::Worker::stride_of(std::size_t row_bytes) {
  constexpr std::size_t kUnit = 256;  // the operators read whole vectors of such rows
  return static_cast<std::ptrdiff_t>((row_bytes + kUnit - 1) / kUnit * kUnit);
}

void Devices::Worker::check_host(const char *name, int width, int height, std::ptrdiff_t stride,
                                 std::size_t sample) {
  check_sizes(width, height, width, height);
  // Copies move bytes, whatever the alignment of samples.
  check_rows(name,
             Plane<const std::uint8_t>{nullptr, width * static_cast<int>(sample), height, stride});
}

void *Devices::Worker::memory(std::size_t i, int width, int height, std::ptrdiff_t stride) {
  check_sizes(width, height, width, height);
  if (i >= planes_.size()) planes_.resize(i + 1);
  return planes_[i].reserve(static_cast<std::size_t>(stride) * height);
}

// ---- All of them --------------------------------------------------------------------------------

std::vector<int> Devices::all() {
  std::vector<int> devices(Cuda::available() ? device_count() : 0);
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

Devices::Devices(const std::vector<int> &devices, int workers) {
  constexpr int kMostWorkers = 16;
  const int n = device_count();
  if (devices.empty()) refuse("the list of devices is empty: name some of 0 to ", n - 1);
  for (const int device : devices)
    if (device < 0 || device >= n)
      refuse("device ", device, " does not exist: the devices are 0 to ", n - 1);
  if (workers < 1 || workers > kMostWorkers)
    refuse("workers = ", workers, ": must be 1 to ", kMostWorkers);
  for (int i = 0; i < workers; ++i)
    for (const int device : devices) workers_.push_back(std::make_unique<Worker>(device));
  try {
    in_all([](Worker &worker) { worker.start(); });
  } catch (...) {
    stop();
    throw;
  }
}

Devices::~Devices() {
  stop();
}

/// Streams and memory are freed with their device current.
void Devices::stop() noexcept {
  try {
    in_all([](Worker &worker) { worker.stop(); });
  } catch (...) {  // no thread, or the device has failed: CUDA frees the rest with the process
  }
}

/// Calls work(worker) for each worker, in a thread of its own, with its device current. Threads of
/// the caller may have a context of another owner current. Rethrows the first worker's exception.
void Devices::in_all(const std::function<void(Worker &)> &work) {
  std::vector<std::exception_ptr> errors(workers_.size());
  {
    std::vector<std::jthread> threads;  // all have ended when this is destroyed
    threads.reserve(workers_.size());
    for (std::size_t i = 0; i < workers_.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          cuda::use_device(workers_[i]->device());
          work(*workers_[i]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr &error : errors)
    if (error) std::rethrow_exception(error);
}

void Devices::for_each(std::size_t n, const std::function<void(Worker &, std::size_t)> &work) {
  if (n == 0) return;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;  // protects the two below
  std::size_t first = n;
  std::exception_ptr error;
  in_all([&](Worker &worker) {
    // A frame that has a number is always processed. So the first one that fails is the same in
    // every run, whichever is noticed first.
    while (!failed) {
      const std::size_t i = next++;
      if (i >= n) return;
      try {
        work(worker, i);
        worker.cuda().synchronize();
      } catch (...) {
        failed = true;
        {
          const std::lock_guard lock(mutex);
          if (i < first) {
            first = i;
            error = std::current_exception();
          }
        }
        worker.start_again();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

void sharing::check_counts(std::size_t frames, std::size_t results) {
  if (frames != results)
    refuse("there are ", frames, " frames and ", results,
           " planes for results: each frame needs one");
}

void sharing::refuse_history(const char *setting, double value) {
  refuse(setting, " = ", value,
         " needs the frames before, but several workers share the frames; set it to 0, or run all "
         "frames one after another on one executor");
}

}  // namespace cudascan
