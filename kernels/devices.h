// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Several CUDA devices share the frames of a stream:
///
///     Devices devices;  // all of this machine; Devices({0, 2}) for some
///     run(devices, frames, results, params, &reports);
///
/// with frames in host memory. It serves every operator that has a run() on Cuda. A frame is
/// processed by one device as a whole, so results are those of one device, bit for bit.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

/// Workers on one or several devices. Each has a thread, a stream, an executor and device memory of
/// its own; with two workers for each device, copies of one frame overlap with the kernels of
/// another. The next frame goes to the next worker that is free, so a faster device processes more
/// frames. Nothing here changes which device or context is current in the calling thread.
///
/// Threads run only during a call; streams and memory are kept until the object is destroyed. Only
/// one thread may use the object at a time.
class CUDASCAN_API Devices {
 public:
  /// What one worker works with.
  class CUDASCAN_API Worker {
   public:
    explicit Worker(int device) : device_(device) {}
    /// The number of its device.
    int device() const { return device_; }
    /// Its executor, on a stream that does not synchronise with the default stream.
    Cuda &cuda() { return *cuda_; }

    /// Device memory for a plane like this one, number `i` of the worker, which counts from 0. Kept
    /// and grown, so that frames of one size allocate once. Throws BadSetting for wrong sizes.
    template <typename T>
    Plane<std::remove_const_t<T>> plane(std::size_t i, const Plane<T> &like) {
      const auto stride = stride_of(like.width * sizeof(T));
      return {static_cast<std::remove_const_t<T> *>(memory(i, like.width, like.height, stride)),
              like.width,
              like.height,
              stride,
              like.maximum,
              like.black,
              like.white};
    }
    /// Queues a copy from host memory to plane number `i`, and returns that. The copy overlaps with
    /// other work only if the host memory is pinned.
    template <typename T>
    Plane<T> upload(std::size_t i, const Plane<const T> &host) {
      check_host("input", host.width, host.height, host.stride, sizeof(T));
      const Plane<T> device = plane(i, host);
      cuda::copy_rows(device.data, device.stride, host.data, host.stride, host.width * sizeof(T),
                      host.height, cuda().stream());
      return device;
    }
    /// Queues a copy to host memory.
    template <typename T>
    void download(const Plane<T> &device, const Plane<T> &host) {
      check_host("output", host.width, host.height, host.stride, sizeof(T));
      cuda::copy_rows(host.data, host.stride, device.data, device.stride, host.width * sizeof(T),
                      host.height, cuda().stream());
    }

   private:
    friend Devices;
    void start();
    void start_again();
    void stop();
    static std::ptrdiff_t stride_of(std::size_t row_bytes);
    static void check_host(const char *name, int width, int height, std::ptrdiff_t stride,
                           std::size_t sample);
    void *memory(std::size_t i, int width, int height, std::ptrdiff_t stride);

    int device_;
    std::unique_ptr<cuda::Stream> stream_;
    std::unique_ptr<Cuda> cuda_;
    std::vector<cuda::DeviceBuffer> planes_;
  };

  /// The devices of this machine, 0, 1, 2 and so on; none without a GPU or a driver, or in a build
  /// without CUDA. Never throws.
  static std::vector<int> all();

  /// @param devices   numbers of devices; one that is listed twice gets twice as many workers
  /// @param workers   for each device, 1..16
  /// @throws BadSetting for a list that is empty or names a device that does not exist; Error in a
  ///         build without CUDA, and when CUDA fails
  explicit Devices(const std::vector<int> &devices = all(), int workers = 2);
  ~Devices();
  Devices(const Devices &) = delete;
  Devices &operator=(const Devices &) = delete;

  /// The number of workers of all devices.
  std::size_t workers() const { return workers_.size(); }

  /// Calls work(worker, i) for i = 0, 1, 2, ..., n - 1, each once, in that order and in whichever
  /// worker is free, with the worker's device current. After each call it waits for what the call
  /// has queued on worker.cuda().
  /// An executor sees only some of the frames: an operator must not use the frames before.
  /// After an exception no more frames are begun. Those under way are finished, then the exception
  /// of the first of the frames that failed is thrown again. The object can still be used.
  void for_each(std::size_t n, const std::function<void(Worker &worker, std::size_t i)> &work);

 private:
  void in_all(const std::function<void(Worker &)> &work);
  void stop() noexcept;

  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Parts of run() below.
namespace sharing {

struct NoReport {};

CUDASCAN_API void check_counts(std::size_t frames, std::size_t results);
[[noreturn]] CUDASCAN_API void refuse_history(const char *setting, double value);

/// Refuses settings with which a frame's result depends on the frames before.
template <typename Params>
void check_history(const Params &params) {
  if constexpr (requires { params.smoothing; })
    if (params.smoothing != 0) refuse_history("smoothing", params.smoothing);
  if constexpr (requires { params.hysteresis; })
    if (params.hysteresis != 0) refuse_history("hysteresis", params.hysteresis);
}

}  // namespace sharing

/// Runs an operator on frames in host memory: out[i] is the result of in[i]. Frames may differ in
/// size. Copies overlap with other work if the memory is pinned; other memory takes longer.
///
/// An operator that uses the frames before, as `smoothing` and `hysteresis` do, needs all frames on
/// one executor, one after another.
///
/// @param reports  if given, gets a report for each frame
/// @throws BadSetting for different numbers of frames and results, and for smoothing and
///         hysteresis; what run() of the first frame that failed has thrown
template <typename T, typename Out, typename Params, typename Report = sharing::NoReport>
void run(Devices &devices, const std::vector<Plane<const T>> &in,
         const std::vector<Plane<Out>> &out, const Params &params,
         std::vector<Report> *reports = nullptr) {
  sharing::check_counts(in.size(), out.size());
  sharing::check_history(params);
  if (reports) reports->assign(in.size(), Report());
  devices.for_each(in.size(), [&](Devices::Worker &worker, std::size_t i) {
    const Plane<const T> from = worker.upload(0, in[i]);
    const Plane<Out> to = worker.plane(1, out[i]);
    if constexpr (std::is_same_v<Report, sharing::NoReport>)
      run(worker.cuda(), from, to, params);
    else
      run(worker.cuda(), from, to, params, reports ? &(*reports)[i] : nullptr);
    worker.download(to, out[i]);
  });
}

}  // namespace cudascan
