// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Host side of stand-alone programs that gswo-cc writes: images on the device, and the memory and
/// textures of memory pragmas. An error ends the program with a message.
#pragma once
#include "gswo_reduce.h"
#include "gswo_region.h"

namespace gswo {

/// Number of blocks of `tile` windows for `turns` iterations of a loop.
inline unsigned blocks(long long turns, int tile) {
  return turns <= 0 ? 0 : (unsigned)((turns + tile - 1) / tile);
}

/// copyMalloc1DArray and copyByTexture: memory of width x height pixels, allocated at the first
/// use, with its pitch and, if wanted, a texture.
template <class T>
class Memory {
 public:
  Memory() = default;
  ~Memory() {
    if (texture_) {
      cudaDeviceSynchronize();  // kernels may still read it
      cudaDestroyTextureObject(texture_);
    }
    if (array_) cudaFreeArray(array_);
    Pool::get().give(memory_);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// The memory of cudaMallocPitch, which is kept for the next call.
  void allocate(int width, int height) {
    Pool::get().give(memory_);
    width_ = width, height_ = height;
    pitch_ = (width * sizeof(T) + 511) / 512 * 512;
    memory_ = Pool::get().take(pitch_ * height, "copyMalloc1DArray");
  }
  /// cudaMemcpy2D from or to rows without gaps.
  void upload(const T *host, int width, int height) {
    Copier::get().upload(memory_.data, pitch_, height, width * sizeof(T), rows_of(host, width));
  }
  void download(T *host, int width, int height) const {
    Copier::get().download(memory_.data, pitch_, height, width * sizeof(T), rows_of(host, width));
  }
  /// cudaMemcpy2DToArray from the memory of allocate().
  void to_array(int width, int height) {
    make_array(width, height);
    check(cudaMemcpy2DToArray(array_, 0, 0, memory_.data, pitch_, width * sizeof(T), height,
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

  Plane plane() const { return Plane{memory_.data, (long long)pitch_, width_, height_, 0, 0}; }
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

  template <class Pixel>
  static auto rows_of(Pixel *host, int width) {
    return [=](int y) { return (Bytes<Pixel> *)(host + (std::size_t)y * width); };
  }
  template <class Pixel>
  using Bytes = std::conditional_t<std::is_const_v<Pixel>, const char, char>;

  Block memory_;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  std::size_t pitch_ = 0;
  int width_ = 0, height_ = 0, array_width_ = 0, array_height_ = 0;
};

}  // namespace gswo
