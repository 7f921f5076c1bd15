// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where a worker computes its pages. A lane knows where planes are and how they are copied.
#pragma once
#include <exception>
#include <optional>

#include "coded.h"
#include "cuda_pixels.h"
#include "gpu_decoder.h"
#include "gpus.h"
#include "image.h"
#include "kernels/exec.h"
#include "lines.h"
#include "pixels.h"

namespace cudascan::scan {

/// Planes that the steps write.
enum Room { kPage, kTurned, kBlack, kResult, kPlaces };

/// The page stays in host memory.
class CpuLane {
 public:
  Cpu &exec() { return cpu_; }
  LineMeter &lines() { return lines_; }
  /// The page, decoded.
  Pixels &hold(Image &page, Findings &found) {
    if (is_coded(page)) found.decoder = "cpu";
    need_pixels(page);
    return pixels_.emplace(page);
  }
  template <typename T>
  Plane<const T> held(const Image &page) {
    return page.plane<const T>();
  }
  void bring_back(Image &) {}
  template <typename T>
  Plane<const T> upload(Room, const Image &image) {
    return image.plane<const T>();
  }
  template <typename T>
  Plane<T> room(Room place, int width, int height) {
    rooms_[place].shape(width, height, 8 * sizeof(T));
    return rooms_[place].plane<T>();
  }
  /// Where the steps leave a page of black and white levels.
  Plane<std::uint8_t> result(Image &image) {
    image.shape(image.width, image.height, 8);
    return image.plane<std::uint8_t>();
  }
  /// Brings that to the image.
  void finish(Image &) {}
  template <typename T>
  Plane<T> target(Image &image) {
    return image.plane<T>();
  }
  template <typename T>
  void fetch(const Plane<T> &, Image &) {}
  void end_work() {}

 private:
  Cpu cpu_{1};
  CpuLineMeter lines_;
  std::optional<HostPixels> pixels_;
  Image rooms_[kPlaces];
};

/// The page is copied to the GPU that is current, with a stream for each lane.
class CudaLane {
 public:
  CudaLane(int device, Gpus &gpus) : device_(device), watched_(gpus.load(), device, stream_) {
    open();
    if (gpus.jpegs() || gpus.codecs()) decoder_.emplace(gpus, device);
  }
  int device() const { return device_; }
  /// To be called after an error.
  /// @return whether the GPU still works; then the next page can be made
  bool recover() {
    try {
      stream_.synchronize();
      pixels_.reset();
      open();  // the reports that the old executor would fill in are gone
      return true;
    } catch (const Error &) {
      return false;
    }
  }
  Cuda &exec() { return *cuda_; }
  LineMeter &lines() { return *lines_; }
  /// Copies the page to the GPU, or decodes it there, unless it is there already.
  Pixels &hold(Image &page, Findings &found) {
    if (pixels_) return *pixels_;
    bool is_here = false;
    if (is_coded(page) && decoder_) {
      const std::ptrdiff_t stride = stride_of(page.width, page.depth);
      void *const to = rooms_[kPage].reserve(static_cast<std::size_t>(stride) * page.height);
      is_here = decoder_->decode(page, to, stride, *cuda_, stream_.get(), found);
    }
    if (!is_here) {
      if (is_coded(page)) found.decoder = "cpu";
      need_pixels(page);
      if (page.depth == 8)
        upload<std::uint8_t>(kPage, page);
      else
        upload<std::uint16_t>(kPage, page);
    }
    return pixels_.emplace(page, *cuda_, rooms_[kPage].data(), stride_of(page.width, page.depth));
  }
  /// Copies the page that is held to host memory.
  void bring_back(Image &page) {
    page.shape(page.width, page.height, page.depth);
    cuda::copy_rows(
        page.memory.data(), page.stride(), rooms_[kPage].data(), stride_of(page.width, page.depth),
        static_cast<std::size_t>(page.width) * (page.depth / 8), page.height, stream_.get());
    cuda_->synchronize();
  }
  /// The page that hold() has taken.
  template <typename T>
  Plane<const T> held(const Image &page) {
    return room<T>(kPage, page.width, page.height);
  }
  /// The page that is held has changed in host memory, or another one comes.
  void let_go() { pixels_.reset(); }
  template <typename T>
  Plane<const T> upload(Room place, const Image &image) {
    const Plane<T> to = room<T>(place, image.width, image.height);
    cuda::copy_rows(to.data, to.stride, image.memory.data(), image.stride(),
                    sizeof(T) * image.width, image.height, stream_.get());
    return to;
  }
  template <typename T>
  Plane<T> room(Room place, int width, int height) {
    const std::ptrdiff_t stride = stride_of(width, 8 * sizeof(T));
    return {static_cast<T *>(rooms_[place].reserve(static_cast<std::size_t>(stride) * height)),
            width, height, stride};
  }
  Plane<std::uint8_t> result(Image &image) {
    return result_ = room<std::uint8_t>(kResult, image.width, image.height);
  }
  void finish(Image &image) {
    image.shape(image.width, image.height, 8);
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
  /// Waits for the work.
  void end_work() { cuda_->synchronize(); }

 private:
  void open() {
    cuda_.emplace(stream_.get());
    cuda_->sleep_while_waiting();
    lines_.emplace(*cuda_);
  }
  static std::ptrdiff_t stride_of(int width, int depth) {
    constexpr std::ptrdiff_t kTo = 256;
    return (std::ptrdiff_t{1} * width * (depth / 8) + kTo - 1) / kTo * kTo;
  }

  const int device_;
  cuda::Stream stream_;
  GpuLoad::Watched watched_;
  std::optional<Cuda> cuda_;
  std::optional<CudaLineMeter> lines_;
  std::optional<CudaPixels> pixels_;
  std::optional<GpuDecoder> decoder_;
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
  /// The page that the lane holds has changed in host memory, or another one comes.
  void let_go() {
    if (gpu_) gpu_->let_go();
  }

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
        gpu_.emplace(device, *gpus_);
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
