// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Prefix sums of an image, from which strips with very large windows start (prefix_strip.cuh). So
/// a strip reads few rows of its first windows, whatever their size.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/plane.h"
#include "kernels/exec.h"

namespace cudascan::windowsums {

template <typename T>
struct StripJob;

/// Sums of samples and of their squares.
struct alignas(16) SumPair {
  std::uint64_t sum, squares;

  __host__ __device__ SumPair operator+(const SumPair &b) const {
    return {sum + b.sum, squares + b.squares};
  }
  __host__ __device__ SumPair operator-(const SumPair &b) const {
    return {sum - b.sum, squares - b.squares};
  }
};

/// The image is in parts of kPartRows rows, these are in bands of kBandRows rows, and its columns
/// are in tiles of kTileColumns columns.
template <typename T>
class PrefixSums {
 public:
  static constexpr int kBandRows = 8, kPartRows = 128, kTileColumns = 256;
  static constexpr int kPartBands = kPartRows / kBandRows;
  using Squares = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

  /// Sums over parts of a row of a tile: all of its columns, and those in front of the column where
  /// the window before some tile begins, or ends. That is the window of the column to the left of
  /// the tile.
  enum Piece { whole, before_begin, before_end, kPieces };

  PrefixSums() = default;
  PrefixSums(int width, int height)
      : tiles_((width + kTileColumns - 1) / kTileColumns),
        parts_((height + kPartRows - 1) / kPartRows),
        height_(height) {}

  /// Bytes of device memory for them.
  std::size_t bytes() const {
    return columns() * (sizeof(Squares) + sizeof(std::uint32_t)) +
           std::size_t(tiles_) * (kPieces * height_ + height_ + 1) * sizeof(SumPair);
  }
  /// @param memory  of bytes(), aligned to 16
  void use(void *memory) {
    pieces_ = static_cast<SumPair *>(memory);
    fronts_ = pieces_ + std::size_t(tiles_) * kPieces * height_;
    squares_ = reinterpret_cast<Squares *>(fronts_ + std::size_t(tiles_) * (height_ + 1));
    sums_ = reinterpret_cast<std::uint32_t *>(squares_ + columns());
  }

  int tiles() const { return tiles_; }
  int parts() const { return parts_; }

  /// Index of the sums of column 8 i + j over the first bands of a part. Where there are none, it
  /// has the sums over all earlier parts.
  __device__ std::size_t index(int part, int bands, int i, int j) const {
    return (std::size_t(part) * (kPartBands + 1) + bands) * stride() + j * groups() + i;
  }
  __device__ std::uint32_t &sum(std::size_t index) const { return sums_[index]; }
  __device__ Squares &squares(std::size_t index) const { return squares_[index]; }

  /// Adds the sums over the bands [begin, end) of all parts to those of the eight columns of a
  /// lane, from `column` + 8 lane on. Columns outside the image are 0.
  template <typename Sums>
  __device__ void add(Sums &to, int column, int begin, int end) const {
    const auto add = [&](int part, int bands, int sign) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int x = column + j, i = (x >> 3) + static_cast<int>(threadIdx.x % 32);
        if (i < 0 || i >= groups()) continue;
        const std::size_t at = index(part, bands, i, x & 7);
        to.sum[j] += sign * sums_[at];
        to.squares[j] += sign * squares_[at];
      }
    };
    add(end / kPartBands, 0, 1);
    add(begin / kPartBands, 0, -1);
    if (end % kPartBands > 0) add(end / kPartBands, end % kPartBands, 1);
    if (begin % kPartBands > 0) add(begin / kPartBands, begin % kPartBands, -1);
  }

  __device__ SumPair &piece(Piece piece, int tile, int y) const {
    return pieces_[(std::size_t(piece) * tiles_ + tile) * height_ + y];
  }
  /// The sums of all rows above y over the columns of the window before a tile.
  __device__ SumPair &front(int tile, int y) const {
    return fronts_[std::size_t(tile) * (height_ + 1) + y];
  }

 private:
  __host__ __device__ int groups() const {
    return tiles_ * (kTileColumns / 8);
  }
  __host__ __device__ int stride() const {
    return tiles_ * kTileColumns;
  }
  /// There is one part more, which begins below the image.
  std::size_t columns() const {
    return std::size_t(parts_ + 1) * (kPartBands + 1) * stride();
  }

  std::uint32_t *sums_ = nullptr;
  Squares *squares_ = nullptr;
  SumPair *pieces_ = nullptr, *fronts_ = nullptr;
  int tiles_ = 0, parts_ = 0, height_ = 0;
};

/// Queues the computation of job.prefix for the windows of a job.
template <typename T>
void queue_prefix(Cuda &cuda, const StripJob<T> &job);

}  // namespace cudascan::windowsums
