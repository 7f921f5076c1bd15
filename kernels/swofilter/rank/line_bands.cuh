// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The words of line_bits.cuh for an image of any size.
#pragma once
#include <algorithm>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/rank/line_bits.cuh"

namespace cudascan::swo {

/// Makes the words of a band of rows and calls act(job), for all bands.
/// @param side_words      as in LineBits
/// @param down_lines  directions down: 1 for the column, 3 for the diagonals as well
template <typename T, typename Act>
void for_line_bands(Cuda &cuda, const Source<T> &in, const Plane<T> &out, const LineReach &reach,
                    int side_words, int down_lines, const Act &act) {
  // Large images are processed in bands, to limit the memory for bits, and so that most of it is
  // still in the cache when it is used.
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  constexpr int kFewestRows = 8 * kLineTile, kMostRows = 1 << 15;
  const auto bytes = [&](int rows) {
    return LineBits<T>(out.width, rows, side_words).bytes(down_lines);
  };
  int rows = std::min(divide_up(out.height, kLineTile) * kLineTile, kMostRows);
  while (rows > kFewestRows && bytes(rows) > kMostBytes)
    rows = divide_up(rows / 2, kLineTile) * kLineTile;
  void *const memory = cuda.scratch(bytes(rows));
  for (int begin = 0; begin < out.height; begin += rows) {
    LineBits<T> bits(out.width, std::min(rows, out.height - begin), side_words);
    bits.row_bits = static_cast<unsigned *>(memory);
    bits.down_bits = bits.row_bits + bits.row_size();
    const LineBitsJob<T> job{in, out, reach, begin, bits};
    launch(cuda, row_bits_kernel<T>,
           {dim3(divide_up(bits.row_words, kRowBitsThreads / 32 * kRowBitsWords), bits.row_count),
            kRowBitsThreads},
           job);
    launch(cuda, down_bits_kernel<T>,
           {dim3(divide_up(bits.down_columns, kDownBitsThreads), bits.down_count, down_lines),
            kDownBitsThreads},
           job);
    act(job);
  }
}

}  // namespace cudascan::swo
