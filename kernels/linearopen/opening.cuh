// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings along steep digital lines, for any length in the same time.
///
/// A block processes a part of a strip (line_strips.cuh), with the rows that its result depends on.
/// The pixels of the strip are next to each other in every row, although the lines are slanted. A
/// thread keeps its piece of the rows of a chunk in registers from beginning to end.
///
/// Minima of segments are combined from minima of chunks of rows (van Herk, Pattern Recognition
/// Letters 13(7), 1992; Gil, Werman, IEEE TPAMI 15(5), 1993): the minimum of one chunk from some
/// row to its end, that of another chunk from its beginning to some row, and those of the chunks
/// between. The maxima of these minima are found in the same way. The minimum of a segment is
/// stored at its last row. For it, a row needs the minimum of its own chunk up to this row, which
/// the thread has, and that of an earlier chunk from the row length - 1 rows before, which is
/// published in shared memory. The maximum is that of the length - 1 rows that follow. For it, a
/// row needs the maximum of its own chunk from this row on, and that of a later chunk up to the row
/// length - 1 rows after.
///
/// The rows that a chunk needs from others are in two neighbouring chunks, and begin with the first
/// row of the second one. A running minimum that goes through them from the end covers all of the
/// second chunk when it reaches the first. So the minimum of the second chunk needs no row of its
/// own.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/base/warp_sums.cuh"
#include "kernels/linearopen/line_strips.cuh"
#include "kernels/linearopen/pieces.cuh"

namespace cudascan::linearopen {

/// The work of the threads of a block on a part of a strip.
/// @tparam lanes  threads side by side
/// @tparam group  rows of the groups that extrema are combined from: those of a chunk, except for
///                segments that are not longer than a chunk. Less than the length, or 1; at least
///                half of the length.
template <typename T, int lanes, int group>
class LineStrip {
  using Shape = Form<T, lanes>;
  static constexpr int kRows = Shape::kRows, kWords = Shape::kWords, kStride = Shape::kStride;

 public:
  using Row = Piece<kWords>;

  /// @param item    number of the strip, of its part and of the direction
  __device__ LineStrip(const OpenJob<T> &job, dim3 item, Row *shared)
      : job_(job),
        direction_{true, job.lines[item.z].rising != 0,
                   static_cast<std::int32_t>(job.lines[item.z].slope)},
        source_(job.source[job.lines[item.z].source]),
        number_(static_cast<int>(item.z)),
        lane_(threadIdx.x % lanes),
        chunk_(threadIdx.x / lanes),
        rows_(shared + kMargin * kStride),
        tables_(shared + (source_.cut.chunks + 2 * kMargin) * kStride + lane_) {
    const int across = source_.in.width, steps = source_.in.height, length = job.length;
    const auto partition = lines::Partition::of(direction_, across, steps);
    const int first_line = static_cast<int>(item.x) * Shape::next(direction_.slope);
    strip_line_ = partition.first + first_line;
    extent_ = extent_of_strip(direction_, strip_line_, Shape::kLines, steps, across);
    out_begin_ = extent_.begin + source_.cut.rows * static_cast<int>(item.y);
    out_end_ = min(out_begin_ + source_.cut.rows, extent_.end);
    if (first_line >= partition.count) out_end_ = out_begin_;
    // Minima are stored at the last rows of segments, which may lie below the image. The first
    // chunk begins where the result begins.
    first_ = max(extent_.begin, out_begin_ - (length + kRows - 2) / kRows * kRows);
    const int end = min(extent_.end + (length - 1) / 2, out_end_ + length - 1);
    chunks_ = ((end - first_ + kRows - 1) / kRows + kTogether - 1) & -kTogether;
  }
  /// Whether there is anything to do.
  __device__ bool any() const { return out_begin_ < out_end_; }

  __device__ void open() {
    // The same for all chunks of a warp.
    const bool is_there = chunk_ < chunks_;
    const bool has_minima = is_there && warp_row() + kWarpRows > out_begin_;
    const bool has_result = has_minima && warp_row() < out_end_;
    Spread rows[kRows];
    if (is_there) {
      read(rows);
      publish_from<Smallest>(rows);
    }
    fill_margin(-kMargin, ~0u);
    Spread between = between_ends<Smallest, -1>(is_there);
    if (has_minima) {
      erode(rows, between);
      blank_outside(rows);
    }
    __syncthreads();
    if (has_minima) publish_up_to<Largest>(rows);
    fill_margin(chunks_, 0);
    between = between_ends<Largest, 1>(has_minima);
    if (has_result) {
      dilate(rows, between);
      write(rows);
    }
  }

 private:
  using Word = Packed<T>;
  using Spread = SpreadPiece<T, kWords>;
  static constexpr int kBytes = sizeof(T);
  static constexpr int kTogether = 32 / lanes, kWarpRows = kTogether * kRows;  // of a warp
  static constexpr int kPadding = kStride - kRows * lanes;

  /// The first row of the warp's chunks.
  __device__ int warp_row() const { return first_ + (chunk_ & -kTogether) * kRows; }
  /// Whether row i of a chunk, 1..kRows-1, is in the same group as the row before it.
  static constexpr __device__ bool continues(int i) { return i % group != 0; }

  /// A row of this thread's chunk, in shared memory.
  __device__ Row &own(int i) const { return rows_[chunk_ * kStride + i * lanes + lane_]; }

  /// Neutral rows for the chunks from `chunk` on.
  __device__ void fill_margin(int chunk, unsigned word) const {
    if (chunk_ >= kMargin) return;
    Row row;
#pragma unroll
    for (unsigned &w : row.word) w = word;
#pragma unroll 1
    for (int i = 0; i < kRows; ++i) rows_[(chunk + chunk_) * kStride + i * lanes + lane_] = row;
  }

  // ---- Reading ----------------------------------------------------------------------------------

  /// Columns of whole words.
  __device__ int whole_width() const {
    return (source_.in.width + Word::kSamples - 1) & -Word::kSamples;
  }
  __device__ void read(Spread (&rows)[kRows]) const {
    const int y0 = first_ + chunk_ * kRows;
    const LineColumns columns(direction_, strip_line_ + lane_ * Shape::kSamples, y0);
    // One more word is read, because a piece may begin within a word.
    const bool inside = y0 + kRows <= source_.in.height &&
                        columns.inside(kRows, Shape::kSamples + Word::kSamples, whole_width());
    if (__all_sync(kWholeWarp, inside))
      read_rows<false>(rows, columns, y0);
    else
      read_rows<true>(rows, columns, y0);
  }
  /// @tparam partly  whether words may be outside of the image
  template <bool partly>
  __device__ void read_rows(Spread (&rows)[kRows], const LineColumns &columns, int y0) const {
    constexpr int kLoaded = kWords + (sizeof(T) < 4 ? 1 : 0);
    const auto *const row = reinterpret_cast<const unsigned char *>(source_.in.row(y0));
    const int stride = static_cast<int>(source_.in.stride), width = whole_width();
    const unsigned outside = as_read(~0u);
    unsigned loaded[kRows][kWords + 1];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int x = columns[i] & -Word::kSamples, end = y0 + i < source_.in.height ? width : 0;
      const int byte = (i * stride + columns[i] * kBytes) & -4;
      // Unsigned where it is known not to be negative.
      const auto *const from = reinterpret_cast<const unsigned *>(
          partly ? row + byte : row + static_cast<unsigned>(byte));
      loaded[i][kWords] = 0;
#pragma unroll
      for (int k = 0; k < kLoaded; ++k) {
        const bool is_there = static_cast<unsigned>(x + k * Word::kSamples) < unsigned(end);
        loaded[i][k] = !partly || is_there ? from[k] : outside;
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const unsigned bits = columns[i] * sizeof(T) * 8;
      Row piece;
#pragma unroll
      for (int k = 0; k < kWords; ++k)
        piece.word[k] = of_sample(__funnelshift_r(loaded[i][k], loaded[i][k + 1], bits));
      rows[i] = Spread::of(piece);
    }
  }
  __device__ unsigned of_sample(unsigned word) const {
    return ordered_word<T>(word, source_.floats, source_.flip);
  }
  /// The sample or samples for this word.
  __device__ unsigned as_read(unsigned word) const {
    return restored_word<T>(word, source_.floats, source_.flip);
  }

  // ---- Extrema ----------------------------------------------------------------------------------

  /// Publishes the extrema from each row to the end of the chunk.
  template <typename Op>
  __device__ void publish_from(const Spread (&rows)[kRows]) const {
    Spread w = rows[kRows - 1];
    own(kRows - 1) = w.piece();
#pragma unroll
    for (int i = kRows - 2; i >= 0; --i) {
      add_or_set<Op>(w, rows[i], continues(i + 1));
      own(i) = w.piece();
    }
    if (Shape::is_long(job_.length)) tables_[chunk_ * lanes] = w.piece();
  }
  /// Publishes the extrema from the beginning of the chunk to each row.
  template <typename Op>
  __device__ void publish_up_to(const Spread (&rows)[kRows]) const {
    Spread w = rows[0];
    own(0) = w.piece();
#pragma unroll
    for (int i = 1; i < kRows; ++i) {
      add_or_set<Op>(w, rows[i], continues(i));
      own(i) = w.piece();
    }
    if (Shape::is_long(job_.length)) tables_[chunk_ * lanes] = w.piece();
  }
  template <typename Op>
  static __device__ void add_or_set(Spread &w, const Spread &row, bool add) {
    if (add)
      w.template add<Op>(row);
    else
      w = row;
  }

  /// Waits until everything has been published. Returns the extremum of the chunks between the ends
  /// of segments that begin in this chunk and go in `direction`.
  template <typename Op, int direction>
  __device__ Spread between_ends(bool is_there) const {
    __syncthreads();
    auto result = Spread::template neutral<Op>();
    if (group < kRows || !Shape::is_long(job_.length)) return result;
    const int n = (job_.length - 1) / kRows - 1;
    const auto add = [&](const Row *table, int chunk) {
      if (chunk >= 0 && chunk < chunks_) result.template add<Op>(Spread::of(table[chunk * lanes]));
    };
    // Entries of the table are for 1, 2, 4... chunks.
    Row *table = tables_, *next = tables_ + source_.cut.chunks * lanes;
    int reach = 1;
#pragma unroll 1
    for (; 2 * reach <= n; reach *= 2) {
      if (is_there) {
        result = Spread::of(table[chunk_ * lanes]);
        add(table, chunk_ + direction * reach);
        next[chunk_ * lanes] = result.piece();
      }
      Row *const swapped = table;
      table = next;
      next = swapped;
      __syncthreads();
    }
    result = Spread::template neutral<Op>();
    add(table, chunk_ + direction);
    add(table, chunk_ + direction * (n - reach + 1));
    return result;
  }

  /// @param z  the minimum of the chunks between
  __device__ void erode(Spread (&rows)[kRows], Spread z) const {
#pragma unroll
    for (int i = 1; i < kRows; ++i)
      if (continues(i)) rows[i].template add<Smallest>(rows[i - 1]);
    // The value that another thread has published for the row length - 1 rows before.
    const int q = (job_.length - 1) / kRows, r = (job_.length - 1) % kRows;
    const Row *const start = rows_ + max(chunk_ - q, -1) * kStride - r * lanes + lane_;
#pragma unroll
    for (int i = kRows - 1; i >= 0; --i) {
      const auto theirs = Spread::of(start[i * lanes - (i < r ? kPadding : 0)]);
      add_or_set<Smallest>(z, theirs, i == kRows - 1 || continues(i + 1));
      rows[i].template add<Smallest>(z);
    }
  }
  /// @param z  the maximum of the chunks between
  __device__ void dilate(Spread (&rows)[kRows], Spread z) const {
#pragma unroll
    for (int i = kRows - 2; i >= 0; --i)
      if (continues(i + 1)) rows[i].template add<Largest>(rows[i + 1]);
    const int q = (job_.length - 1) / kRows, r = (job_.length - 1) % kRows;
    const Row *const end = rows_ + min(chunk_ + q, chunks_) * kStride + r * lanes + lane_;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const auto theirs = Spread::of(end[i * lanes + (i + r >= kRows ? kPadding : 0)]);
      add_or_set<Largest>(z, theirs, i == 0 || continues(i));
      rows[i].template add<Largest>(z);
    }
  }

  /// Makes the minima of segments neutral whose centres are outside the image.
  __device__ void blank_outside(Spread (&rows)[kRows]) const {
    const int y0 = first_ + chunk_ * kRows - (job_.length - 1) / 2, width = source_.in.width;
    const LineColumns columns(direction_, strip_line_ + lane_ * Shape::kSamples, y0);
    if (y0 >= extent_.begin && y0 + kRows <= extent_.end &&
        columns.inside(kRows, Shape::kSamples, width))
      return;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const bool is_row = y0 + i >= extent_.begin && y0 + i < extent_.end;
      const int end = is_row ? width : 0;
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        const unsigned inside = inside_mask<T>(columns[i] + k * Word::kSamples, end);
#pragma unroll
        for (unsigned &part : rows[i].word[k].part) part &= inside;
      }
    }
  }

  // ---- Writing ----------------------------------------------------------------------------------

  /// Writes the result of a chunk.
  __device__ void write(const Spread (&rows)[kRows]) const {
    const int y0 = first_ + chunk_ * kRows;
    const LineColumns columns(direction_, strip_line_ + lane_ * Shape::kSamples, y0);
    const bool inside = y0 >= out_begin_ && y0 + kRows <= out_end_ &&
                        columns.inside(kRows, Shape::kSamples + Word::kSamples, source_.in.width);
    const bool whole = __all_sync(kWholeWarp, inside);
    if (!job_.sums) {
      if (whole)
        write_rows<false, false>(rows, columns, y0);
      else
        write_rows<true, false>(rows, columns, y0);
      return;
    }
    std::uint64_t sum = whole ? write_rows<false, true>(rows, columns, y0)
                              : write_rows<true, true>(rows, columns, y0);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0 && sum != 0)
      atomicAdd(reinterpret_cast<unsigned long long *>(job_.sums + job_.lines[number_].number),
                static_cast<unsigned long long>(sum));
  }
  /// Writes whole words of the image. They differ from the words of the pieces: a piece writes the
  /// words that begin in it.
  /// @tparam partly  whether words may be outside the image, or outside the part that the block
  ///         writes
  /// @returns the sum of the written samples, if wanted
  template <bool partly, bool with_sum>
  __device__ unsigned write_rows(const Spread (&rows)[kRows], const LineColumns &columns,
                                 int y0) const {
    auto *const row =
        reinterpret_cast<unsigned char *>(source_.out.row(y0)) + number_ * job_.out_bytes;
    const int stride = static_cast<int>(source_.out.stride), width = whole_width();
    const bool overlaps = Shape::next(direction_.slope) < Shape::kLines;
    const int n_words = overlaps && lane_ == lanes - 1 ? kWords - 1 : kWords;
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Row piece = rows[i].piece();
      const unsigned next = __shfl_down_sync(kWholeWarp, piece.word[0], 1);
      const int x = (columns[i] + Word::kSamples - 1) & -Word::kSamples;
      const bool is_row = y0 + i >= out_begin_ && y0 + i < out_end_;
      // Strides are multiples of a word, too.
      const int next_byte = i * stride + columns[i] * kBytes + 3, byte = next_byte & -4;
      const unsigned bits = 24 - 8 * next_byte;
      auto *const to =
          reinterpret_cast<unsigned *>(partly ? row + byte : row + static_cast<unsigned>(byte));
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        const unsigned behind = k + 1 < kWords ? piece.word[k + 1] : next;
        const unsigned word =
            sizeof(T) < 4 ? __funnelshift_r(piece.word[k], behind, bits) : piece.word[k];
        const int column = x + k * Word::kSamples;
        const bool is_there =
            !partly || (is_row && static_cast<unsigned>(column) < static_cast<unsigned>(width));
        if (k >= n_words || !is_there) continue;
        to[k] = restored_word<T>(word, job_.out_floats, job_.out_flip);
        if (with_sum)
          sum = plus_samples(partly ? word & inside_mask<T>(column, source_.in.width) : word, sum);
      }
    }
    return sum;
  }
  static __device__ unsigned plus_samples(unsigned word, unsigned sum) {
    if constexpr (sizeof(T) == 1)
      return __dp4a(word, 0x01010101u, sum);
    else if constexpr (sizeof(T) == 2)
      return sum + (word & 0xffff) + (word >> 16);
    else
      return sum + word;
  }

  const OpenJob<T> &job_;
  const lines::Direction direction_;
  const OpenSource<T> &source_;
  const int number_, lane_, chunk_;
  Row *const rows_;    // the first chunk
  Row *const tables_;  // the first chunk's entry for this lane
  int strip_line_;     // the first
  int first_, chunks_, out_begin_, out_end_;
  RowExtent extent_;
};

}  // namespace cudascan::linearopen
