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

/// Where rows of words are: 16 rows of 8 words end at the same bank, so there is room between them.
struct Rows {
  unsigned *memory;
  int words;

  static constexpr CUDASCAN_HD int padding(int words) { return words < 32 ? words : 0; }
  static constexpr CUDASCAN_HD std::size_t size(int words, int chunks) {
    return static_cast<std::size_t>(chunks) * (kChunk * words + padding(words));
  }
  __device__ unsigned *at(int row) const {
    return memory + row * words + row / kChunk * padding(words);
  }
};

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
template <typename T>
class Strip {
 public:
  using Word = Packed<T>;

  /// @param item    number of the direction, of its strip and of the part of that
  /// @param arrays  as Cut::bytes says
  __device__ Strip(const OpenJob<T> &job, dim3 item, unsigned *arrays)
      : job_(job),
        item_(item),
        direction_(job.direction(static_cast<int>(item.z))),
        own_{arrays, job.cut.words},
        others_{arrays + Rows::size(job.cut.words, job.cut.chunks), job.cut.words},
        tables_(others_.memory + Rows::size(job.cut.words, job.cut.chunks)),
        word_(threadIdx.x % job.cut.words),
        chunk_(threadIdx.x / job.cut.words),
        at_once_(blockDim.x / job.cut.words) {}

  /// Finds out what there is to do. False: nothing.
  __device__ bool begin() {
    const int across = job_.in.width, steps = job_.in.height, length = job_.length;
    const auto partition = lines::Partition::of(direction_, across, steps);
    const int lines = job_.cut.words * Word::kSamples;
    if (static_cast<int>(item_.x) * lines >= partition.count) return false;
    line_ = partition.first + static_cast<int>(item_.x) * lines;
    extent_ = extent_of_strip(direction_, line_, lines, steps, across);
    const int rows = extent_.end - extent_.begin, part = static_cast<int>(item_.y);
    out_begin_ = extent_.begin + rows * part / job_.cut.parts;
    out_end_ = extent_.begin + rows * (part + 1) / job_.cut.parts;
    if (out_begin_ >= out_end_) return false;
    // Minima are in the last rows of segments, which may lie behind the image.
    first_ = max(extent_.begin, out_begin_ - (length - 1));
    const int end = min(extent_.end + (length - 1) / 2, out_end_ + length - 1);
    const int together = 32 / job_.cut.words;  // chunks of a warp
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
  /// The column of this thread's word in a row.
  __device__ int column(int y) const {
    return line_ + direction_.shift(y) + word_ * Word::kSamples;
  }
  __device__ unsigned table_size() const {
    return static_cast<unsigned>(table_words(job_.cut.words, chunks_, job_.length));
  }
  __device__ unsigned *table_at(unsigned *table, int chunk) const {
    return table + (chunk + table_margin(job_.length)) * job_.cut.words + word_;
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
      for (int i = threadIdx.x; i < entries * job_.cut.words; i += blockDim.x) {
        Word w = Word::of(from[i]);
        if (i / job_.cut.words + distance < entries)
          w = Op()(w, Word::of(from[i + distance * job_.cut.words]));
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
    for (int k = max(chunk, 0); k < min(chunk + n, chunks_); ++k)
      result = Op()(result, Word::of(others_.at(k * kChunk + row)[word_]));
    return result;
  }

  /// Extrema of a thread's chunk up to each row, for `up_to`, and from each row on, for `from`.
  template <typename Op>
  __device__ void scan(Word (&rows)[kChunk], int chunk, const Rows &up_to, const Rows &from) const {
    const int size = rows_of_chunk(job_.length);
    Word w = rows[0];
    up_to.at(chunk * kChunk)[word_] = w.word();
#pragma unroll
    for (int i = 1; i < kChunk; ++i) {
      w = (i & (size - 1)) == 0 ? rows[i] : Op()(w, rows[i]);
      up_to.at(chunk * kChunk + i)[word_] = w.word();
    }
    if (needs_table(job_.length)) *table_at(tables_, chunk) = w.word();
    w = rows[kChunk - 1];
    from.at(chunk * kChunk + kChunk - 1)[word_] = w.word();
#pragma unroll
    for (int i = kChunk - 2; i >= 0; --i) {
      w = ((i + 1) & (size - 1)) == 0 ? rows[i] : Op()(w, rows[i]);
      from.at(chunk * kChunk + i)[word_] = w.word();
    }
  }

  __device__ void load(int chunk) const {
    Word rows[kChunk];
    const int y0 = first_ + chunk * kChunk;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      unsigned word = ~0u;
      if (y0 + i < extent_.end) {
        const int x = column(y0 + i);
        word = load_word(job_.in.row(y0 + i), job_.in.width, x, ~job_.flip);
        if constexpr (sizeof(T) == 4) {
          if (x < 0 || x >= job_.in.width)
            word = ~job_.flip;
          else if (job_.floats)
            word = ordered_of_bits(word);
        }
        word ^= job_.flip;
      }
      rows[i] = Word::of(word);
    }
    scan<Smallest>(rows, chunk, own_, others_);
  }

  /// Minima of segments, where their centres are in the image.
  __device__ void erode(int chunk, const unsigned *table) const {
    const int reach_back = job_.length - 1, size = rows_of_chunk(job_.length);
    const int q = reach_back / kChunk, r = reach_back % kChunk;
    const bool is_short = linearopen::is_short(job_.length);
    Word early{}, late{};  // what is between the ends, for rows before the r-th and from it on
    if (!is_short) {
      early = between<Smallest>(table, chunk - q, q, 0);
      late = between<Smallest>(table, chunk - q + 1, q - 1, 0);
    }
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const int row = chunk * kChunk + i, start = row - reach_back;
      Word w = Word::of(own_.at(row)[word_]);
      if (start >= 0) w = Smallest()(w, Word::of(others_.at(start)[word_]));
      if (!is_short) {
        w = Smallest()(w, i < r ? early : late);
      } else {
        const int middle = (start & -size) + size;  // the chunk behind that of the start
        if (middle >= 0 && middle + size <= (row & -size))
          w = Smallest()(w, Word::of(others_.at(middle)[word_]));
      }
      const int centre = first_ + row - (job_.length - 1) / 2;
      unsigned word = 0;
      if (centre >= extent_.begin && centre < extent_.end)
        word = w.word() & inside_mask<T>(column(centre), job_.in.width);
      own_.at(row)[word_] = word;
    }
  }

  __device__ void spread(int chunk) const {
    Word rows[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) rows[i] = Word::of(own_.at(chunk * kChunk + i)[word_]);
    scan<Largest>(rows, chunk, others_, own_);
  }

  /// Maxima of these minima, which are the result.
  __device__ void dilate(int chunk, const unsigned *table, std::uint64_t &sum) const {
    const int reach_on = job_.length - 1, size = rows_of_chunk(job_.length);
    const int q = reach_on / kChunk, r = reach_on % kChunk;
    const bool is_short = linearopen::is_short(job_.length);
    Word early{}, late{};  // for rows before row kChunk - r, and from it on
    if (!is_short) {
      early = between<Largest>(table, chunk + 1, q - 1, kChunk - 1);
      late = between<Largest>(table, chunk + 1, q, kChunk - 1);
    }
    Plane<T> out = job_.out;
    out.data = reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(out.data) +
                                     item_.z * job_.out_bytes);
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const int row = chunk * kChunk + i, end = row + reach_on, y = first_ + row;
      if (y < out_begin_ || y >= out_end_) continue;
      Word w = Word::of(own_.at(row)[word_]);
      if (end < chunks_ * kChunk) w = Largest()(w, Word::of(others_.at(end)[word_]));
      if (!is_short) {
        w = Largest()(w, i + r < kChunk ? early : late);
      } else {
        const int middle = (row & -size) + size;  // the chunk behind that of the row
        if (middle + size <= (end & -size) && middle + size <= chunks_ * kChunk)
          w = Largest()(w, Word::of(others_.at(middle + size - 1)[word_]));
      }
      const int x = column(y);
      unsigned word = w.word();
      if (job_.sums) sum += sum_of(word & inside_mask<T>(x, job_.in.width));
      if (job_.restore) {
        word ^= job_.flip;
        if (sizeof(T) == 4 && job_.floats) word = bits_of_ordered(word);
      }
      store_word(out.row(y), out.width, x, word);
    }
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
  Rows own_, others_;
  unsigned *tables_;
  int word_, chunk_, at_once_;
  int line_, first_, chunks_, out_begin_, out_end_;
  Extent extent_;
};

}  // namespace cudascan::linearopen
