// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where a worker computes its pages. A lane knows where planes are and how they are copied.
#pragma once
#include <exception>
#include <optional>

#include "gpus.h"
#include "image.h"
#include "kernels/exec.h"

namespace cudascan::scan {

/// Planes that the steps write.
enum Room { kPage, kTurned, kBlack, kResult, kPlaces };

/// The page stays in host memory.
class CpuLane {
 public:
  Cpu &exec() { return cpu_; }
  template <typename T>
  Plane<const T> upload(Room, const Image &image) {
    return image.plane<const T>();
  }
  template <typename T>
  Plane<T> room(Room place, int width, int height) {
    rooms_[place].shape(width, height, 8 * sizeof(T));
    return rooms_[place].plane<T>();
  }
  Plane<std::uint8_t> result(Image &image) { return image.plane<std::uint8_t>(); }
  void finish(Image &) {}
  template <typename T>
  Plane<T> target(Image &image) {
    return image.plane<T>();
  }
  template <typename T>
  void fetch(const Plane<T> &, Image &) {}
  void begin_work() {}
  double end_work() { return 0; }

 private:
  Cpu cpu_{1};
  Image rooms_[kPlaces];
};

/// The page is copied to the GPU that is current, with a stream for each lane.
class CudaLane {
 public:
  explicit CudaLane(int device) : device_(device) { cuda_.emplace(stream_.get()); }
  int device() const { return device_; }
  /// To be called after an error.
  /// @return whether the GPU still works; then the next page can be made
  bool recover() {
    try {
      stream_.synchronize();
      cuda_.emplace(stream_.get());  // the reports that the old one would fill in are gone
      return true;
    } catch (const Error &) {
      return false;
    }
  }
  Cuda &exec() { return *cuda_; }
  template <typename T>
  Plane<const T> upload(Room place, const Image &image) {
    const Plane<T> to = room<T>(place, image.width, image.height);
    cuda::copy_rows(to.data, to.stride, image.memory.data(), image.stride(),
                    sizeof(T) * image.width, image.height, stream_.get());
    return to;
  }
  template <typename T>
  Plane<T> room(Room place, int width, int height) {
    constexpr std::ptrdiff_t kTo = 256;
    const std::ptrdiff_t stride =
        (std::ptrdiff_t{1} * width * static_cast<int>(sizeof(T)) + kTo - 1) / kTo * kTo;
    return {static_cast<T *>(rooms_[place].reserve(static_cast<std::size_t>(stride) * height)),
            width, height, stride};
  }
  Plane<std::uint8_t> result(Image &image) {
    return result_ = room<std::uint8_t>(kResult, image.width, image.height);
  }
  void finish(Image &image) {
    cuda::copy_rows(image.memory.data(), image.stride(), result_.data, result_.stride, image.width,
                    image.height, stream_.get());
    cuda_->synchronize();
  }
  /// Room for what fetch() copies to the image.
  template <typename T>
  Plane<T> target(Image &image) {
    return room<T>(kTurned, image.width, image.height);
  }
  template <typename T>
  void fetch(const Plane<T> &from, Image &image) {
    cuda::copy_rows(image.memory.data(), image.stride(), from.data, from.stride,
                    sizeof(T) * image.width, image.height, stream_.get());
    cuda_->synchronize();
  }
  void begin_work() { begin_.record(stream_.get()); }
  /// Milliseconds; waits for the work.
  double end_work() {
    end_.record(stream_.get());
    cuda_->synchronize();
    return end_.elapsed_ns(begin_) / 1e6;
  }

 private:
  const int device_;
  cuda::Stream stream_;
  std::optional<Cuda> cuda_;
  cuda::Event begin_{true}, end_{true};
  cuda::DeviceBuffer rooms_[kPlaces];
  Plane<std::uint8_t> result_{};
};

/// The lane of a worker: on one of the GPUs, on another one when that fails, or on the CPU.
class Lanes {
 public:
  /// @param gpus  nullptr = the CPU
  /// @throws NoGpu
  explicit Lanes(Gpus *gpus) : gpus_(gpus) { change(); }

  bool on_gpu() const { return gpu_.has_value(); }

  /// Calls work(lane), and again from its beginning if a GPU fails in it.
  /// @param device  gets where the work was done
  /// @throws NoGpu; what work throws
  template <typename Work>
  void run(int &device, Work work) {
    while (gpu_) {
      device = gpu_->device();
      try {
        return work(*gpu_);
      } catch (const std::exception &error) {
        if (gpu_->recover()) throw;
        gpus_->failed(device, error.what());
      }
      change();
    }
    device = kCpu;
    work(*cpu_);
  }

 private:
  void change() {
    gpu_.reset();
    while (!gpu_ && !cpu_) {
      const int device = gpus_ ? gpus_->take() : kCpu;
      if (device == kCpu) {
        cpu_.emplace();
        return;
      }
      try {
        cuda::use_device(device);
        gpu_.emplace(device);
      } catch (const Error &error) {
        gpus_->failed(device, error.what(), true);
      }
    }
  }

  Gpus *const gpus_;
  std::optional<CudaLane> gpu_;
  std::optional<CpuLane> cpu_;
};

}  // namespace cudascan::scan
