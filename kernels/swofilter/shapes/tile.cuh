// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The samples of a block for windows of any shape (plan.h), and what threads read of them.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/swofilter/cells.cuh"
#include "kernels/swofilter/shapes/plan.h"

namespace cudascan::swo {

/// The image for ShapeTile.
template <typename T>
struct ShapeSource {
  Source<T> image;
  unsigned none;  ///< what is read where there is no sample
  /// Columns outside the image beyond which there is no sample, either; other samples outside are
  /// those of the border.
  int beside;
  bool aligned;  ///< rows begin at multiples of 16 bytes

  ShapeSource(Plane<const T> in, const FilterJob &job, unsigned none, int beside)
      : image(in, job),
        none(none),
        beside(beside),
        aligned((reinterpret_cast<std::uintptr_t>(in.data) | in.stride) % 16 == 0) {}

  /// The word from column x on of row y, which is resolved. All samples are loaded before the first
  /// is used.
  __device__ __noinline__ unsigned word(int x, int y) const {
    constexpr int kSamples = Packed<T>::kSamples, kBits = 8 * sizeof(T);
    const int width = image.plane.width;
    const T *const row = image.plane.row(max(y, 0));
    if (y >= 0 && x >= 0 && x + kSamples <= width) return load_word(row, width, x, 0u);
    unsigned samples[kSamples];
    bool inside[kSamples];
#pragma unroll
    for (int i = 0; i < kSamples; ++i) {
      const int column = this->column(x + i);
      inside[i] = column >= 0 && y >= 0;
      samples[i] = row[max(column, 0)];
    }
    const unsigned outside = image.border == SwoFilterBorder::constant ? image.outside : none;
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < kSamples; ++i) {
      const bool is_none = x + i < -beside || x + i >= width + beside;
      word |= (is_none ? none : inside[i] ? samples[i] : outside) << (kBits * i);
    }
    return word;
  }

 private:
  /// As resolve(), without a division for columns that are less than a width away.
  __device__ int column(int x) const {
    const int width = image.plane.width;
    if (image.border == SwoFilterBorder::reflect) {
      const int reflected = x < 0 ? -1 - x : 2 * width - 1 - x;
      if (static_cast<unsigned>(x) >= static_cast<unsigned>(width) &&
          static_cast<unsigned>(reflected) < static_cast<unsigned>(width))
        return reflected;
    }
    return resolve(x, width, image.border);
  }
};

/// Words of a thread.
inline constexpr int kShapeWords = ShapePlan::kThreadBytes / 4;

/// The tile of a block, with the samples around it.
template <typename T>
class ShapeTile {
 public:
  static constexpr int kSamples = Packed<T>::kSamples, kUnit = 16 / sizeof(T);

  /// @param x  the column of the first tile, a multiple of kUnit
  __device__ ShapeTile(const ShapePlan &plan, int x)
      : plan_(plan),
        memory_(dynamic_shared_memory()),
        x_(x + static_cast<int>(blockIdx.x * plan.across * (ShapePlan::kWarpBytes / sizeof(T)))),
        y_(blockIdx.y * plan.down * ShapePlan::kWarpRows) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / plan.across * ShapePlan::kWarpRows + lane / 4,
              bytes = (warp % plan.across * 4 + lane % 4) * ShapePlan::kThreadBytes;
    own_x_ = x_ + bytes / static_cast<int>(sizeof(T));
    own_y_ = y_ + row;
    own_ = memory_ + row * plan.pitch * 16 + bytes;
  }

  /// The first pixel of the thread.
  __device__ int x() const { return own_x_; }
  __device__ int y() const { return own_y_; }

  /// Fills the tile; all threads of the block must be done with it.
  __device__ void load(const ShapeSource<T> &source, int first_row, int rows) const {
    const Plane<const T> &in = source.image.plane;
    const int warps = blockDim.x / 32, lane = threadIdx.x % 32;
    // Units begin to end - 1 of a row are inside the image.
    const int x0 = x_ - plan_.left / static_cast<int>(sizeof(T));
    const int begin = x0 >= 0 ? 0 : min((kUnit - 1 - x0) / kUnit, plan_.pitch),
              end = min(max((in.width - x0) / kUnit, begin), plan_.pitch);
    for (int row = threadIdx.x / 32; row < rows; row += warps) {
      const int y = resolve(y_ + first_row + row, in.height, source.image.border);
      const bool copies = source.aligned && y >= 0;
      if (copies)
        for (int u = begin + lane; u < end; u += 32)
          copy_async(shared_address(&unit(row, u)), in.row(y) + x0 + u * kUnit);
      const int copied = copies ? end - begin : 0;
      for (int i = lane; i < 4 * (plan_.pitch - copied); i += 32) {
        const int word = i < 4 * begin ? i : i + 4 * copied;
        reinterpret_cast<unsigned *>(&unit(row, 0))[word] = source.word(x0 + word * kSamples, y);
      }
    }
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
  }

  /// Calls f(words, words) with the words of the thread for two reads of a list at a time, and
  /// f(words) for a last one. If f takes four, most come four at a time.
  /// @param words  the list in the plan
  /// @return the end of the list
  template <typename F>
  __device__ const std::uint32_t *visit(const std::uint32_t *words, F &f) const {
    const std::uint32_t low = words[0], high = words[1];
    words += 2;
    words = visit_distance<0>(words, low & 0xffff, f);
    words = visit_distance<1>(words, low >> 16, f);
    words = visit_distance<2>(words, high & 0xffff, f);
    return visit_distance<3>(words, high >> 16, f);
  }

  /// Replaces each word by combine(word, word `bytes` later), where `bytes` is a power of two.
  template <typename Combine>
  __device__ void widen(int rows, int bytes, const Combine &combine) const {
    __syncthreads();
    const int warps = blockDim.x / 32, lane = threadIdx.x % 32, last = plan_.pitch - 1;
    for (int row = threadIdx.x / 32; row < rows; row += warps) {
      uint4 result[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int u = lane + 32 * k;
        if (u > last) continue;
        const uint4 a = unit(row, u), b = unit(row, min(u + max(bytes / 16, 1), last));
        result[k] = combine(a, bytes < 16 ? later(a, b, bytes) : b);
      }
      __syncwarp();
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if (const int u = lane + 32 * k; u <= last) unit(row, u) = result[k];
    }
    __syncthreads();
  }

 private:
  __device__ uint4 &unit(int row, int u) const {
    return reinterpret_cast<uint4 *>(memory_)[row * plan_.pitch + u];
  }

  /// The unit that begins `bytes` after the beginning of a, of which b is the next.
  static __device__ uint4 later(const uint4 &a, const uint4 &b, int bytes) {
    switch (bytes) {
      case 8:
        return {a.z, a.w, b.x, b.y};
      case 4:
        return {a.y, a.z, a.w, b.x};
      default:
        return {__funnelshift_r(a.x, a.y, 8 * bytes), __funnelshift_r(a.y, a.z, 8 * bytes),
                __funnelshift_r(a.z, a.w, 8 * bytes), __funnelshift_r(a.w, b.x, 8 * bytes)};
    }
  }

  struct Words {
    unsigned word[kShapeWords];
  };
  template <int distance>
  __device__ Words read(unsigned where) const {
    const auto *const units = reinterpret_cast<const uint4 *>(own_ + (where & ~15u));
    const uint4 a = units[0], b = units[1], c = units[2];
    const unsigned all[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
    Words words;
#pragma unroll
    for (int k = 0; k < kShapeWords; ++k)
      words.word[k] = __funnelshift_r(all[distance + k], all[distance + k + 1], (where & 3) * 8);
    return words;
  }
  template <int distance, typename F>
  __device__ const std::uint32_t *visit_distance(const std::uint32_t *words, int count,
                                                 F &f) const {
    const std::uint32_t *const end = words + count;
    if constexpr (requires(const Words &w) { f(w.word, w.word, w.word, w.word); }) {
#pragma unroll 1
      for (; words + 3 < end; words += 4)
        f(read<distance>(words[0]).word, read<distance>(words[1]).word,
          read<distance>(words[2]).word, read<distance>(words[3]).word);
    }
    for (; words + 1 < end; words += 2)
      f(read<distance>(words[0]).word, read<distance>(words[1]).word);
    if (words < end) f(read<distance>(words[0]).word);
    return end;
  }

  const ShapePlan &plan_;
  unsigned char *const memory_;
  const int x_, y_;
  int own_x_, own_y_;
  const unsigned char *own_;
};

}  // namespace cudascan::swo
