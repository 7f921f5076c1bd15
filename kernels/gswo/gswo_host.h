// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Host side of stand-alone programs that gswo-cc writes: CUDA memory, copies and textures with
/// error checks. An error ends the program with a message.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gswo_rt.h"

namespace gswo {

inline void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Waits for a kernel.
inline void check_kernel(const char *name) {
  check(cudaGetLastError(), name);
  check(cudaDeviceSynchronize(), name);
}

/// Number of blocks of `tile` windows for `turns` iterations of a loop.
inline unsigned blocks(long long turns, int tile) {
  return turns <= 0 ? 0 : (unsigned)((turns + tile - 1) / tile);
}

/// The rows y0..y1 and columns x0..x1 of a user's image on the device.
template <class T>
class DeviceImage {
 public:
  DeviceImage(long long y0, long long y1, long long x0, long long x1)
      : y0_((int)y0), x0_((int)x0), height_((int)(y1 - y0) + 1), width_((int)(x1 - x0) + 1) {
    if (height_ < 1 || width_ < 1) height_ = width_ = 0;
    if (width_)
      check(cudaMallocPitch((void **)&data_, &pitch_, width_ * sizeof(T), height_),
            "cudaMallocPitch");
  }
  ~DeviceImage() { cudaFree(data_); }
  DeviceImage(const DeviceImage &) = delete;
  DeviceImage &operator=(const DeviceImage &) = delete;

  Plane plane() const { return Plane{data_, (long long)pitch_, width_, height_, x0_, y0_}; }

  /// @param at  at(row, column) is a pixel of the user's image
  template <class At>
  void upload(At at) {
    std::vector<T> pixels((std::size_t)width_ * height_);
    for (int y = 0; y < height_; y++)
      for (int x = 0; x < width_; x++) pixels[(std::size_t)y * width_ + x] = at(y0_ + y, x0_ + x);
    if (width_)
      check(cudaMemcpy2D(data_, pitch_, pixels.data(), width_ * sizeof(T), width_ * sizeof(T),
                         height_, cudaMemcpyHostToDevice),
            "cudaMemcpy2D to the device");
  }
  template <class At>
  void download(At at) const {
    std::vector<T> pixels((std::size_t)width_ * height_);
    if (width_)
      check(cudaMemcpy2D(pixels.data(), width_ * sizeof(T), data_, pitch_, width_ * sizeof(T),
                         height_, cudaMemcpyDeviceToHost),
            "cudaMemcpy2D to the host");
    for (int y = 0; y < height_; y++)
      for (int x = 0; x < width_; x++) at(y0_ + y, x0_ + x) = pixels[(std::size_t)y * width_ + x];
  }

 private:
  T *data_ = nullptr;
  std::size_t pitch_ = 0;
  int y0_, x0_, height_, width_;
};

/// copyMalloc1DArray and copyByTexture: memory of width x height pixels, allocated at the first
/// use, with its pitch and, if wanted, a texture.
template <class T>
class Memory {
 public:
  Memory() = default;
  ~Memory() {
    if (texture_) cudaDestroyTextureObject(texture_);
    if (array_) cudaFreeArray(array_);
    cudaFree(data_);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// cudaMallocPitch. @return bytes from row to row
  std::size_t allocate(int width, int height) {
    cudaFree(data_);
    data_ = nullptr;
    width_ = width, height_ = height;
    check(cudaMallocPitch((void **)&data_, &pitch_, width * sizeof(T), height), "cudaMallocPitch");
    return pitch_;
  }
  /// cudaMemcpy2D from or to rows without gaps.
  void upload(const T *host, int width, int height) {
    check(cudaMemcpy2D(data_, pitch_, host, width * sizeof(T), width * sizeof(T), height,
                       cudaMemcpyHostToDevice),
          "cudaMemcpy2D to the device");
  }
  void download(T *host, int width, int height) const {
    check(cudaMemcpy2D(host, width * sizeof(T), data_, pitch_, width * sizeof(T), height,
                       cudaMemcpyDeviceToHost),
          "cudaMemcpy2D to the host");
  }
  /// cudaMemcpy2DToArray from the memory of allocate().
  void to_array(int width, int height) {
    make_array(width, height);
    check(cudaMemcpy2DToArray(array_, 0, 0, data_, pitch_, width * sizeof(T), height,
                              cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArray");
  }
  /// copyByTexture. @param at  at(row, column) is a pixel of the user's image
  template <class At>
  void by_texture(int width, int height, At at) {
    make_array(width, height);
    std::vector<T> pixels((std::size_t)width * height);
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) pixels[(std::size_t)y * width + x] = at(y, x);
    check(cudaMemcpy2DToArray(array_, 0, 0, pixels.data(), width * sizeof(T), width * sizeof(T),
                              height, cudaMemcpyHostToDevice),
          "cudaMemcpy2DToArray");
    bind();
  }
  /// copyBindTexture: a texture object for the array. CUDA 12 removed the texture references of the
  /// paper's Table C1.
  void bind() {
    if (texture_) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    check(cudaCreateTextureObject(&texture_, &resource, &how, nullptr), "cudaCreateTextureObject");
  }

  Plane plane() const { return Plane{data_, (long long)pitch_, width_, height_, 0, 0}; }
  Texture texture() const { return Texture{texture_, width_, height_, 0, 0}; }

 private:
  void make_array(int width, int height) {
    if (array_ && width == array_width_ && height == array_height_) return;
    if (texture_) cudaDestroyTextureObject(texture_), texture_ = 0;
    if (array_) cudaFreeArray(array_);
    width_ = array_width_ = width, height_ = array_height_ = height;
    const cudaChannelFormatDesc pixel = cudaCreateChannelDesc<T>();
    check(cudaMallocArray(&array_, &pixel, width, height), "cudaMallocArray");
  }

  T *data_ = nullptr;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  std::size_t pitch_ = 0;
  int width_ = 0, height_ = 0, array_width_ = 0, array_height_ = 0;
};

}  // namespace gswo
