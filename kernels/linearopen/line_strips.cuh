// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How images are divided to be opened along steep digital lines: into strips of adjacent lines,
/// strips into parts for the blocks, parts into chunks of rows, and chunks into pieces for the
/// threads.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/packed_samples.cuh"
#include "kernels/base/ptx.cuh"
#include "kernels/linearopen/digital_lines.h"
#include "kernels/linearopen/samples.h"

namespace cudascan::linearopen {

constexpr int kMargin = 2;      ///< chunks with neutral rows before the first and after the last
constexpr int kMostLanes = 16;  ///< most threads across a strip

/// A thread's part of a strip: a piece of each row of a chunk.
/// @tparam lanes  threads across a strip
template <typename T, int lanes>
struct Form {
  static constexpr int kRows = 16, kWords = 2;
  static constexpr int kSamples = kWords * Packed<T>::kSamples;
  static constexpr int kLines = lanes * kSamples;  ///< of a strip
  /// Distance of strips in lines. A strip writes whole words: those that begin in its columns.
  /// Where lines are not vertical, these may end in the next strip's columns.
  static constexpr CUDASCAN_HD int next(std::uint32_t slope) {
    return kLines - (Packed<T>::kSamples > 1 && slope != 0 ? Packed<T>::kSamples : 0);
  }
  /// Distance of chunks in pieces, chosen so that neighbours are in different banks.
  static constexpr int kStride = kRows * lanes + (lanes < 16 ? lanes : 0);
  /// Threads of a block, and of all blocks of a multiprocessor; a piece takes 64 or 32 registers.
  static constexpr int kMostThreads = sizeof(T) == 1 ? 768 : 1024;

  /// Whether there are whole chunks between the ends of a segment.
  static constexpr CUDASCAN_HD bool is_long(int length) { return length > 2 * kRows; }

  /// Bytes of shared memory: the chunks with margins, and two tables with an entry for each chunk.
  static constexpr CUDASCAN_HD int shared_bytes(int chunks, int length) {
    const int pieces = (chunks + 2 * kMargin) * kStride;
    const int entries = is_long(length) ? 2 * chunks * lanes : 0;
    return (pieces + entries) * kWords * static_cast<int>(sizeof(unsigned));
  }
};

template <typename T>
__device__ unsigned ordered_word(unsigned word, bool floats, unsigned flip) {
  if (sizeof(T) == 4 && floats) word = ordered_of_bits(word);
  return word ^ flip;
}
template <typename T>
__device__ unsigned restored_word(unsigned word, bool floats, unsigned flip) {
  word ^= flip;
  return sizeof(T) == 4 && floats ? bits_of_ordered(word) : word;
}

/// The parts of strips.
struct Cut {
  int rows;    ///< of a part: whole chunks
  int parts;   ///< of a strip, at most
  int chunks;  ///< of a block, at most
};

/// Steep lines of the image or of its transposed copy; each has its own planes and division.
template <typename T>
struct OpenSource {
  /// Rows are steps along the lines. They begin and end at whole words; the last word is filled up
  /// with neutral samples.
  Plane<const T> in;
  bool floats;    ///< samples are floats, not ordered yet
  unsigned flip;  ///< XORed with words that are read
  Plane<T> out;   ///< of the first direction; rows have room for whole words
  Cut cut;
};

template <typename T>
struct OpenJob {
  OpenSource<T> source[2];
  bool out_floats;        ///< whether to convert the result back to floats
  unsigned out_flip;      ///< XORed with words that are written
  std::size_t out_bytes;  ///< from one direction's result to the next
  int length;
  std::uint64_t *sums;  ///< of the directions' results, by their numbers; or nullptr
  static constexpr int kMostDirections = 256;
  struct Line {
    std::uint32_t slope : 21, rising : 1, source : 1;
    std::uint16_t number;
  } lines[kMostDirections];
};

/// Rows [begin, end).
struct RowExtent {
  int begin, end;
};
/// Rows in which a strip is inside the image, and a few more.
/// @param line  the strip's first, of `lines`
__device__ inline RowExtent extent_of_strip(const lines::Direction &direction, int line, int lines,
                                            int steps, int across) {
  const float rows = static_cast<float>(1 << lines::Direction::kFraction) *
                     reciprocal_approx(static_cast<float>(direction.slope));
  // The strip is first on one side of the image, then inside, then on the other: find entry and
  // exit.
  const int in = direction.rising ? 1 - line - lines : line - across + 1;
  const int gone = direction.rising ? across - line : line + lines;
  const auto row_of_shift = [&](int shift) {
    return static_cast<int>(
        fminf((static_cast<float>(shift) - 0.5f) * rows, static_cast<float>(steps)));
  };
  constexpr int kMore = 2;  // allows for rounding
  return {in <= 0 ? 0 : max(row_of_shift(in) - kMore, 0),
          gone <= 0 ? 0 : min(row_of_shift(gone) + kMore, steps)};
}

/// The columns of a line in a few successive rows.
class LineColumns {
 public:
  /// @param y  the first row
  __device__ LineColumns(const lines::Direction &direction, int line, int y) {
    const std::int64_t position =
        static_cast<std::int64_t>(y) * direction.slope + (std::int64_t{1} << (kBits - 1));
    const int whole = static_cast<int>(position >> kBits);
    const int rest = static_cast<int>(position & ((1 << kBits) - 1));
    // A falling line has the negative shift, which is rounded up where the shift of a rising line
    // is rounded down.
    slope_ = direction.rising ? direction.slope : -direction.slope;
    rest_ = direction.rising ? rest : (1 << kBits) - 1 - rest;
    first_ = direction.rising ? line + whole : line - whole;
  }
  /// The column in row i, counted from the first, 0..1023.
  __device__ int operator[](int i) const { return first_ + ((rest_ + i * slope_) >> kBits); }

  /// Whether `columns` columns from the line on are in the image in all of so many rows.
  __device__ bool inside(int rows, int columns, int width) const {
    const int x0 = (*this)[0], x1 = (*this)[rows - 1];  // it moves only in one direction
    return min(x0, x1) >= 0 && max(x0, x1) + columns <= width;
  }

 private:
  static constexpr int kBits = lines::Direction::kFraction;
  int first_, rest_, slope_;
};

}  // namespace cudascan::linearopen
