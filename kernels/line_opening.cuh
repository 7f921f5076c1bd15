// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings along steep digital lines, for any length in the same time.
///
/// A block has a strip of lines side by side and some of its rows, with what the result there depends
/// on. In row y the pixels of the strip are side by side, too, wherever the lines have got to. Minima of
/// segments are put together from minima of chunks of rows (van Herk, Pattern Recognition Letters
/// 13(7), 1992; Gil, Werman, IEEE TPAMI 15(5), 1993): that of the rows of a chunk from some row on, that
/// up to some row, and the chunks between. The maxima of these minima are found in the same way. All
/// chunks are worked on at the same time.
///
/// Minima are kept in the last row of their segment: a row needs what its own chunk has up to it, and
/// what another chunk has from length - 1 rows before on. Maxima are those of the length - 1 rows that
/// follow: a row needs what its own chunk has from it on, and what another has up to length - 1 rows
/// behind. So two arrays do: one for what a row itself needs, one for what others need of it.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/digital_lines.h"
#include "kernels/linearopen_samples.h"
#include "kernels/packed_samples.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan::linearopen {

constexpr int kChunk = 16;  ///< rows that a thread works on at once

/// How an image is cut up for the blocks.
struct Cut {
  int words;          ///< side by side in a strip, 32 or 8
  int parts;          ///< that the rows of a strip are cut into
  int chunks;         ///< at most, of a block
  int threads;        ///< of a block
  std::size_t bytes;  ///< of the arrays of a block
  bool shared;        ///< whether these are in shared memory
};

/// Lengths that are put together from other chunks than those of kChunk rows.
constexpr CUDASCAN_HD bool is_short(int length) {
  return length <= kChunk;
}
/// Rows of the chunks that minima are put together from: no more than the length.
constexpr CUDASCAN_HD int rows_of_chunk(int length) {
  int rows = kChunk;
  while (rows > length) rows /= 2;
  return rows;
}

/// Words between the beginnings of chunks. Those of 16 rows of 8 words would be in the same banks.
constexpr CUDASCAN_HD int chunk_stride(int words) {
  return kChunk * words + (words < 32 ? words : 0);
}

/// A table of chunks' extrema with as many neutral ones on either side as a segment may reach.
constexpr CUDASCAN_HD int table_margin(int length) {
  return (length - 1) / kChunk + 1;
}
constexpr CUDASCAN_HD std::size_t table_words(int words, int chunks, int length) {
  return static_cast<std::size_t>(chunks + 2 * table_margin(length)) * words;
}
/// Whether segments have so many chunks between their ends that these are looked up in a table.
constexpr CUDASCAN_HD bool needs_table(int length) {
  return (length - 1) / kChunk > 2;
}

template <typename T>
struct OpenJob {
  Plane<const T> in;  ///< rows are steps along the lines
  bool floats;        ///< samples are floats, not ordered yet
  unsigned flip;      ///< xored to words that are read
  Plane<T> out;       ///< of the first direction; the others follow
  std::size_t out_bytes;
  bool restore;  ///< whether the result is made samples again
  int length;
  Cut cut;
  unsigned *arrays;          ///< where shared memory does not do
  std::uint64_t *sums;       ///< of each direction's results; or nullptr
  int strips, n_directions;  ///< strips of a direction, at most
  static constexpr int kMostDirections = 256;
  /// Slope, and whether the line rises in the top bit.
  std::uint32_t directions[kMostDirections];

  CUDASCAN_HD lines::Direction direction(int i) const {
    return {true, directions[i] >> 31 != 0, static_cast<std::int32_t>(directions[i] & 0x7fffffff)};
  }
};

/// Rows of a strip that are in the image, from the first to before the last.
struct Extent {
  int begin, end;
};
__device__ inline Extent extent_of_strip(const lines::Direction &direction, int first_line,
                                         int lines, int steps, int across) {
  // Shifts grow, or fall, from row to row: the strip is to one side of the image, in it, to the other.
  const auto search = [&](auto before) {
    int low = 0, high = steps;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (before(first_line + direction.shift(middle)))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  const bool rising = direction.rising;
  return {search([&](int x) { return rising ? x + lines <= 0 : x >= across; }),
          search([&](int x) { return rising ? x < across : x + lines > 0; })};
}

/// What the threads of a block do with a strip.
/// @tparam words  Cut::words
template <typename T, int words>
class Strip {
 public:
  using Word = Packed<T>;
  static constexpr int kSamples = words * Word::kSamples, kStride = chunk_stride(words);

  /// @param item    number of the direction, of its strip and of the part of that
  /// @param arrays  as Cut::bytes says
  __device__ Strip(const OpenJob<T> &job, dim3 item, unsigned *arrays)
      : job_(job),
        item_(item),
        direction_(job.direction(static_cast<int>(item.z))),
        own_(arrays + threadIdx.x % words),
        others_(own_ + job.cut.chunks * kStride),
        tables_(arrays + 2 * job.cut.chunks * kStride),
        word_(threadIdx.x % words),
        chunk_(threadIdx.x / words),
        at_once_(blockDim.x / words) {}

  /// Finds out what there is to do. False: nothing.
  __device__ bool begin() {
    const int across = job_.in.width, steps = job_.in.height, length = job_.length;
    const auto partition = lines::Partition::of(direction_, across, steps);
    const int number = static_cast<int>(item_.x) * kSamples;
    if (number >= partition.count) return false;
    line_ = partition.first + number;
    extent_ = extent_of_strip(direction_, line_, kSamples, steps, across);
    const int rows = extent_.end - extent_.begin, part = static_cast<int>(item_.y);
    out_begin_ = extent_.begin + rows * part / job_.cut.parts;
    out_end_ = extent_.begin + rows * (part + 1) / job_.cut.parts;
    if (out_begin_ >= out_end_) return false;
    // Minima are in the last rows of segments, which may lie behind the image. Chunks begin where the
    // result does.
    first_ = max(extent_.begin, out_begin_ - (length + kChunk - 2) / kChunk * kChunk);
    const int end = min(extent_.end + (length - 1) / 2, out_end_ + length - 1);
    constexpr int together = 32 / words;  // chunks of a warp
    chunks_ = ((end - first_ + kChunk - 1) / kChunk + together - 1) / together * together;
    return true;
  }

  __device__ void open() {
    if (needs_table(job_.length)) clear_tables(Word::highest());
    for_chunks([&](int chunk) { load(chunk); });
    __syncthreads();
    const unsigned *table = combine_table<Smallest>();
    for_chunks([&](int chunk) { erode(chunk, table); });
    __syncthreads();
    if (needs_table(job_.length)) clear_tables(Word::lowest());
    for_chunks([&](int chunk) { spread(chunk); });
    __syncthreads();
    table = combine_table<Largest>();
    std::uint64_t sum = 0;
    for_chunks([&](int chunk) { dilate(chunk, table, sum); });
    if (job_.sums) {
      sum = warp_sum(sum);
      if (threadIdx.x % 32 == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(job_.sums + item_.z),
                  static_cast<unsigned long long>(sum));
    }
  }

 private:
  template <typename F>
  __device__ void for_chunks(const F &f) const {
#pragma unroll 1
    for (int chunk = chunk_; chunk < chunks_; chunk += at_once_) f(chunk);
  }
  /// Where the strip begins in the rows of a chunk.
  class Columns {
   public:
    /// @param y  the first row, >= 0
    __device__ Columns(const Strip &strip, int y)
        : direction_(strip.direction_), line_(strip.line_) {
      const std::int64_t position =
          static_cast<std::int64_t>(y) * direction_.slope + (std::int64_t{1} << (kBits - 1));
      first_ = static_cast<int>(position >> kBits);
      rest_ = static_cast<int>(position & ((1 << kBits) - 1));
    }
    /// In row i of the chunk, 0..kChunk.
    __device__ int operator[](int i) const {
      const int shift = first_ + ((rest_ + i * direction_.slope) >> kBits);
      return direction_.rising ? line_ + shift : line_ - shift;
    }

   private:
    static constexpr int kBits = lines::Direction::kFraction;
    const lines::Direction &direction_;
    int line_, first_, rest_;
  };
  /// Whether the strip is in the image in all rows of a chunk, and so many samples more on both sides.
  __device__ bool is_inside(const Columns &columns, int margin) const {
    const int x0 = columns[0], x1 = columns[kChunk - 1];  // it moves in one direction only
    return min(x0, x1) >= margin && max(x0, x1) + kSamples + margin <= job_.in.width;
  }
  /// The word of this thread in some row.
  static __device__ unsigned *row_at(unsigned *array, int row) {
    return array + (row >> 4) * kStride + (row & (kChunk - 1)) * words;
  }

  __device__ unsigned table_size() const {
    return static_cast<unsigned>(table_words(words, chunks_, job_.length));
  }
  __device__ unsigned *table_at(unsigned *table, int chunk) const {
    return table + (chunk + table_margin(job_.length)) * words + word_;
  }

  /// Both tables.
  __device__ void clear_tables(const Word &neutral) const {
    for (unsigned i = threadIdx.x; i < 2 * table_size(); i += blockDim.x)
      tables_[i] = neutral.word();
    __syncthreads();
  }

  /// Chunks that a look-up in the table combines.
  __device__ int reach() const {
    const int between = (job_.length - 1) / kChunk - 1;  // or one more
    return needs_table(job_.length) ? 1 << (31 - __clz(between)) : 1;
  }
  /// Makes each entry that of the reach() chunks from it on. Returns which of the tables has them.
  template <typename Op>
  __device__ const unsigned *combine_table() const {
    if (!needs_table(job_.length)) return nullptr;
    unsigned *from = tables_, *to = tables_ + table_size();
    const int entries = chunks_ + 2 * table_margin(job_.length);
    for (int distance = 1; distance < reach(); distance *= 2) {
      for (int i = threadIdx.x; i < entries * words; i += blockDim.x) {
        Word w = Word::of(from[i]);
        if (i / words + distance < entries) w = Op()(w, Word::of(from[i + distance * words]));
        to[i] = w.word();
      }
      __syncthreads();
      unsigned *const swapped = from;
      from = to;
      to = swapped;
    }
    return from;
  }
  /// The extremum over `n` chunks from `chunk` on. In `others_`, `row` of a chunk has that of the whole
  /// chunk.
  template <typename Op>
  __device__ Word between(const unsigned *table, int chunk, int n, int row) const {
    Word result = Op::template neutral<T>();
    if (table) {
      const int last = chunk + n - reach();
      result = Word::of(*table_at(const_cast<unsigned *>(table), chunk));
      return Op()(result, Word::of(*table_at(const_cast<unsigned *>(table), last)));
    }
#pragma unroll 1
    for (int k = max(chunk, 0); k < min(chunk + n, chunks_); ++k)
      result = Op()(result, Word::of(others_[k * kStride + row * words]));
    return result;
  }

  /// Extrema of a thread's chunk up to each row, for `up_to`, and from each row on, for `from`.
  template <typename Op>
  __device__ void scan(const Word (&rows)[kChunk], int chunk, unsigned *up_to,
                       unsigned *from) const {
    up_to += chunk * kStride;
    from += chunk * kStride;
    Word w = rows[0];
    up_to[0] = w.word();
#pragma unroll
    for (int i = 1; i < kChunk; ++i) {
      w = Op()(w, rows[i]);
      up_to[i * words] = w.word();
    }
    if (needs_table(job_.length)) *table_at(tables_, chunk) = w.word();
    w = rows[kChunk - 1];
    from[(kChunk - 1) * words] = w.word();
#pragma unroll
    for (int i = kChunk - 2; i >= 0; --i) {
      w = Op()(w, rows[i]);
      from[i * words] = w.word();
    }
  }
  /// The same over smaller chunks, of what is in `rows`, which is `up_to` or `from`.
  template <typename Op>
  __device__ void scan_short(unsigned *rows, unsigned *up_to, unsigned *from) const {
    const int size = rows_of_chunk(job_.length);
    unsigned *const other = rows == up_to ? from : up_to;
    for (int i = 0; i < kChunk; ++i) other[i * words] = rows[i * words];
    for (int i = 1; i < kChunk; ++i)
      if ((i & (size - 1)) != 0) combine<Op>(up_to + i * words, up_to[(i - 1) * words]);
    for (int i = kChunk - 2; i >= 0; --i)
      if (((i + 1) & (size - 1)) != 0) combine<Op>(from + i * words, from[(i + 1) * words]);
  }
  template <typename Op>
  static __device__ void combine(unsigned *word, unsigned with) {
    *word = Op()(Word::of(*word), Word::of(with)).word();
  }
  /// scan() of the rows that are in `own_`.
  template <typename Op>
  __device__ void scan_own(int chunk, unsigned *up_to, unsigned *from) const {
    if (is_short(job_.length)) {
      scan_short<Op>(own_ + chunk * kStride, up_to + chunk * kStride, from + chunk * kStride);
      return;
    }
    Word rows[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) rows[i] = Word::of(own_[chunk * kStride + i * words]);
    scan<Op>(rows, chunk, up_to, from);
  }

  /// Reads a chunk and makes minima of it.
  __device__ void load(int chunk) const {
    const int y0 = first_ + chunk * kChunk, width = job_.in.width;
    unsigned *const own = own_ + chunk * kStride;
    const Columns columns(*this, y0);
    const auto *row = reinterpret_cast<const unsigned char *>(job_.in.row(y0));
    // Two whole words have the samples of one that begins anywhere.
    if (y0 + kChunk <= extent_.end && is_inside(columns, 2 * Word::kSamples)) {
      unsigned loaded[kChunk];
#pragma unroll
      for (int i = 0; i < kChunk; ++i, row += job_.in.stride) {
        const auto address = reinterpret_cast<std::uintptr_t>(row) +
                             (columns[i] + word_ * Word::kSamples) * sizeof(T);
        const auto *const from = reinterpret_cast<const unsigned *>(address & ~std::uintptr_t{3});
        const auto bits = static_cast<unsigned>(address & 3) * 8;
        loaded[i] = __funnelshift_r(from[0], sizeof(T) < 4 ? from[1] : 0, bits);
      }
#pragma unroll
      for (int i = 0; i < kChunk; ++i) own[i * words] = of_sample(loaded[i]);
    } else {
#pragma unroll 1
      for (int i = 0; i < kChunk; ++i, row += job_.in.stride) {
        const int x = columns[i] + word_ * Word::kSamples;
        unsigned word = ~0u;
        if (y0 + i < extent_.end) {
          word = of_sample(load_word(reinterpret_cast<const T *>(row), width, x, ~job_.flip));
          word |= ~inside_mask<T>(x, width);
        }
        own[i * words] = word;
      }
    }
    scan_own<Smallest>(chunk, own_, others_);
  }
  __device__ unsigned of_sample(unsigned word) const {
    if (sizeof(T) == 4 && job_.floats) word = ordered_of_bits(word);
    return word ^ job_.flip;
  }

  /// Minima of segments, where their centres are in the image.
  __device__ void erode(int chunk, const unsigned *table) const {
    const int reach_back = job_.length - 1;
    const int q = reach_back / kChunk, r = reach_back % kChunk;
    unsigned *const own = own_ + chunk * kStride;
    if (is_short(job_.length)) {
      const int size = rows_of_chunk(job_.length);
#pragma unroll 1
      for (int i = 0; i < kChunk; ++i) {
        const int row = chunk * kChunk + i, start = row - reach_back;
        if (start >= 0) combine<Smallest>(own + i * words, *row_at(others_, start));
        const int middle = (start & -size) + size;  // the chunk behind that of the start
        if (middle >= 0 && middle + size <= (row & -size))
          combine<Smallest>(own + i * words, *row_at(others_, middle));
      }
    } else {
      // What is between the ends, for rows before the r-th and from it on.
      const Word early = between<Smallest>(table, chunk - q, q, 0);
      const Word late = between<Smallest>(table, chunk - q + 1, q - 1, 0);
      const unsigned *const start = others_ + (chunk - q) * kStride - r * words;
      const int first = chunk * kChunk - reach_back;  // row that `start` begins with
      unsigned theirs[kChunk];
#pragma unroll
      for (int i = 0; i < kChunk; ++i)
        theirs[i] =
            first + i >= 0 ? start[i * words - (i < r ? kStride - kChunk * words : 0)] : ~0u;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        const Word w = Smallest()(Word::of(own[i * words]), i < r ? early : late);
        own[i * words] = Smallest()(w, Word::of(theirs[i])).word();
      }
    }
    const int centre = first_ + chunk * kChunk - (job_.length - 1) / 2;  // of the first row
    if (centre >= extent_.begin && centre + kChunk <= extent_.end &&
        is_inside(Columns(*this, centre), 0))
      return;
#pragma unroll 1
    for (int i = 0; i < kChunk; ++i) {
      const int y = centre + i;
      unsigned mask = 0;
      if (y >= extent_.begin && y < extent_.end)
        mask = inside_mask<T>(line_ + direction_.shift(y) + word_ * Word::kSamples, job_.in.width);
      own[i * words] &= mask;
    }
  }

  __device__ void spread(int chunk) const {
    scan_own<Largest>(chunk, others_, own_);
  }

  /// Maxima of these minima, which are the result.
  __device__ void dilate(int chunk, const unsigned *table, std::uint64_t &sum) const {
    const int reach_on = job_.length - 1, rows = chunks_ * kChunk;
    const int q = reach_on / kChunk, r = reach_on % kChunk;
    unsigned *const own = own_ + chunk * kStride;
    const int y0 = first_ + chunk * kChunk;
    const bool any = y0 + kChunk > out_begin_ && y0 < out_end_;
    if (__all_sync(kWholeWarp, !any)) return;
    if (is_short(job_.length)) {
      const int size = rows_of_chunk(job_.length);
#pragma unroll 1
      for (int i = 0; i < kChunk; ++i) {
        const int row = chunk * kChunk + i, end = row + reach_on;
        if (end < rows) combine<Largest>(own + i * words, *row_at(others_, end));
        const int middle = (row & -size) + size;  // the chunk behind that of the row
        if (middle + size <= (end & -size) && middle + size <= rows)
          combine<Largest>(own + i * words, *row_at(others_, middle + size - 1));
      }
    } else {
      // What is between the ends, for rows before row kChunk - r and from it on.
      const Word early = between<Largest>(table, chunk + 1, q - 1, kChunk - 1);
      const Word late = between<Largest>(table, chunk + 1, q, kChunk - 1);
      const unsigned *const end = others_ + (chunk + q) * kStride + r * words;
      const int last = chunk * kChunk + reach_on;  // row that `end` begins with
      unsigned theirs[kChunk];
#pragma unroll
      for (int i = 0; i < kChunk; ++i)
        theirs[i] =
            last + i < rows ? end[i * words + (i + r >= kChunk ? kStride - kChunk * words : 0)] : 0;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        const Word w = Largest()(Word::of(own[i * words]), i + r >= kChunk ? late : early);
        own[i * words] = Largest()(w, Word::of(theirs[i])).word();
      }
    }
    write(chunk, y0, sum);
  }

  /// Writes the result of a chunk, which is in own_.
  __device__ void write(int chunk, int y0, std::uint64_t &sum) const {
    const unsigned *const own = own_ + chunk * kStride;
    const Columns columns(*this, y0);
    auto *row = reinterpret_cast<unsigned char *>(job_.out.row(y0)) + item_.z * job_.out_bytes;
    // In all chunks of the warp, so that lanes can exchange words.
    const bool all = __all_sync(
        kWholeWarp, y0 >= out_begin_ && y0 + kChunk <= out_end_ && is_inside(columns, 0));
    if (all) {
#pragma unroll 4
      for (int i = 0; i < kChunk; ++i, row += job_.out.stride) {
        const unsigned word = own[i * words];
        if (job_.sums) sum += sum_of(word);
        store_strip(reinterpret_cast<T *>(row) + columns[i] + word_ * Word::kSamples,
                    of_result(word));
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < kChunk; ++i, row += job_.out.stride) {
        if (y0 + i < out_begin_ || y0 + i >= out_end_) continue;
        const int x = columns[i] + word_ * Word::kSamples;
        const unsigned word = own[i * words];
        if (job_.sums) sum += sum_of(word & inside_mask<T>(x, job_.out.width));
        store_word(reinterpret_cast<T *>(row), job_.out.width, x, of_result(word));
      }
    }
  }
  __device__ unsigned of_result(unsigned word) const {
    if (!job_.restore) return word;
    word ^= job_.flip;
    return sizeof(T) == 4 && job_.floats ? bits_of_ordered(word) : word;
  }

  /// Writes the words of a strip that is in the image; all its threads call it.
  __device__ void store_strip(T *to, unsigned word) const {
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    const unsigned before = static_cast<unsigned>(address & 3);  // bytes, from a whole word on
    // Whole words have samples of two threads.
    const unsigned left =
        __shfl_sync(kWholeWarp, word, max(static_cast<int>(threadIdx.x % 32) - 1, 0));
    if (before == 0) {
      *reinterpret_cast<unsigned *>(to) = word;
      return;
    }
    if (word_ > 0)
      *reinterpret_cast<unsigned *>(address - before) =
          __funnelshift_r(left, word, 32 - 8 * before);
    constexpr int kBits = 8 * sizeof(T);
    const int in_left = static_cast<int>(before / sizeof(T));  // samples of a word
    if (word_ == 0)
      for (int k = 0; k < Word::kSamples - in_left; ++k)
        to[k] = static_cast<T>(word >> (kBits * k % 32));
    if (word_ == words - 1)
      for (int k = Word::kSamples - in_left; k < Word::kSamples; ++k)
        to[k] = static_cast<T>(word >> (kBits * k % 32));
  }
  static __device__ std::uint64_t sum_of(unsigned word) {
    if constexpr (sizeof(T) == 1)
      return (word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24);
    else if constexpr (sizeof(T) == 2)
      return (word & 0xffff) + (word >> 16);
    else
      return word;
  }

  const OpenJob<T> &job_;
  dim3 item_;
  lines::Direction direction_;
  unsigned *own_, *others_;  // this thread's word of the first row
  unsigned *tables_;
  int word_, chunk_, at_once_;
  int line_, first_, chunks_, out_begin_, out_end_;
  Extent extent_;
};

}  // namespace cudascan::linearopen
