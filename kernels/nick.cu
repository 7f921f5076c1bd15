// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every thread owns eight neighbouring columns of a strip of rows and keeps their sums over the height
// of the window in registers: a step down adds the row that enters the window and takes off the row
// that leaves it. A sum over the width of the window is then a sum of column sums. With C(i) the sum
// of column i and W the width of the window, the window whose last column is i has
//
//     S(i) = S(i - 1) + C(i) - C(i - W),
//
// the prefix sum of C(i) - C(i - W): within eight columns by their thread, across threads by a scan
// of the block. C(i) is at hand in the thread that computes S(i), which serves the pixel W / 2 to the
// left; only C(i - W) comes from another thread, through shared memory. So a pixel costs the same
// whatever the window, except for the rows that fill the window at the top of a strip: where those are
// many, their sums come from a table that another kernel makes first, StripSums.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda_check.cuh"
#include "kernels/nick_baseline.cuh"
#include "kernels/nick_filter.cuh"
#include "kernels/row_stage.cuh"
#include "kernels/shared_memory.cuh"
#include "kernels/warp_sums.cuh"

namespace cudascan {
namespace {

using nick::deviation;
using nick::excess;
using nick::Filter;
using nick::Formula;
using nick::reciprocal_approx;
using nick::Window;
using nick::WolfStatistics;

constexpr int kColumns = 8;  // columns of one thread
constexpr int kStreams = 3;  // rows that enter the window, leave it, and are decided
constexpr int kMaxThreads = 256;
constexpr int kPitch = 288;  // threads of a block and the zeros in front of them, at most
static_assert(32 * kColumns == kStageColumns);

enum class Task { binary, surface, wolf_statistics };

/// Sums over the rows of every strip, column by column, of which the windows of the strips' first rows are
/// made up. With H rows in a strip and r = a H + m rows above and below the pixel, the window of row i H
/// is the last m rows of strip i - a - 1, the 2 a strips from i - a on, and the first m + 1 rows of strip
/// i + a.
template <typename SumS, typename SumQ>
struct StripSums {
  enum Part { whole, head, tail, kParts };

  SumS *sum;  ///< nullptr if there are none
  SumQ *squares;
  int column;  ///< of the image at which the tables begin
  int pitch;   ///< columns of a table's row, a multiple of kStageColumns
  int strips;

  __device__ std::size_t at(Part part, int strip, int column_of_image) const {
    return (static_cast<std::size_t>(part) * strips + strip) * pitch + (column_of_image - column);
  }
};

/// Everything that is the same for all threads of a launch.
template <typename T, typename SumS, typename SumQ>
struct Job {
  StagedPlane<T> in;
  void *out;
  std::ptrdiff_t out_stride;
  bool out_is_wide;            // 16-bit samples
  bool out_aligned;            // eight samples can be stored at once
  std::uint32_t black, white;  // in every byte or 16-bit half
  int rx, ry;                  // half the window
  int strip_rows;              // rows of a block
  int first;                   // output column of thread 0 in tile 0, at most 0, a multiple of 8
  int step;                    // output columns from one tile to the next, a multiple of 8
  int overlap;                 // output columns that a tile leaves to its left neighbour
  StripSums<SumS, SumQ> strips;
  Formula formula;
  Filter filter;
  const WolfStatistics *wolf;       // of the whole image, unless this launch finds them
  WolfStatistics *wolf_partial;     // one per block, for Task::wolf_statistics
  unsigned long long *black_count;  // or nullptr
};

// ---- Column sums ---------------------------------------------------------------------------------

/// As many numbers as one access to memory takes.
template <typename V>
struct alignas(16) Words {
  static constexpr int kCount = 16 / sizeof(V);
  V v[kCount];
};
template <typename V>
__device__ void add_words(V (&to)[kColumns], const V *from) {
#pragma unroll
  for (int i = 0; i < kColumns; i += Words<V>::kCount) {
    const auto words = *reinterpret_cast<const Words<V> *>(from + i);
#pragma unroll
    for (int k = 0; k < Words<V>::kCount; ++k) to[i + k] += words.v[k];
  }
}
template <typename V>
__device__ void store_words(V *to, const V (&from)[kColumns]) {
#pragma unroll
  for (int i = 0; i < kColumns; i += Words<V>::kCount) {
    Words<V> words;
#pragma unroll
    for (int k = 0; k < Words<V>::kCount; ++k) words.v[k] = from[i + k];
    *reinterpret_cast<Words<V> *>(to + i) = words;
  }
}

/// The sums of a thread's columns over the rows of the window.
template <typename SumS, typename SumQ>
struct ColumnSums {
  SumS sum[kColumns] = {};
  SumQ squares[kColumns] = {};

  template <typename Samples>
  __device__ void add(const Samples &row) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned p = row[j];
      sum[j] += p;
      squares[j] += SumQ{p} * p;
    }
  }
  __device__ void remove(const ColumnSums &other) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      sum[j] -= other.sum[j];
      squares[j] -= other.squares[j];
    }
  }
  /// Adds what store() stored there.
  template <typename Table>
  __device__ void load_add(const Table &table, std::size_t at) {
    add_words(sum, table.sum + at);
    add_words(squares, table.squares + at);
  }
  template <typename Table>
  __device__ void store(const Table &table, std::size_t at) const {
    store_words(table.sum + at, sum);
    store_words(table.squares + at, squares);
  }
  /// One row in, one row out.
  template <typename Samples>
  __device__ void step(const Samples &in, const Samples &out) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const unsigned p = in[j], q = out[j];
      sum[j] += SumS{p} - q;
      if constexpr (sizeof(SumQ) == 4) {  // two multiply-adds, which the compiler would reorder
        unsigned rest;
        asm("mad.lo.u32 %0, %1, %1, %2;" : "=r"(rest) : "r"(q), "r"(-squares[j]));
        asm("mad.lo.u32 %0, %1, %1, %2;" : "=r"(squares[j]) : "r"(p), "r"(-rest));
      } else {
        squares[j] += static_cast<std::int64_t>(static_cast<int>(p - q)) * static_cast<int>(p + q);
      }
    }
  }
};

template <typename SumS, typename SumQ>
struct alignas(sizeof(SumS) + sizeof(SumQ) == 12 ? 8 : sizeof(SumS) + sizeof(SumQ)) Pair {
  SumS sum;
  SumQ squares;
};

/// The column sums of two rows, in shared memory. Column 8 t + j of thread t is at [j][t], so that the
/// threads of a warp meet no bank twice.
template <typename SumS, typename SumQ>
class ColumnBuffer {
 public:
  static constexpr int kCells = 2 * kColumns * kPitch;
  static constexpr int kBytes = kCells * static_cast<int>(sizeof(SumS) + sizeof(SumQ));

  __device__ explicit ColumnBuffer(unsigned char *memory) : address_(shared_address(memory)) {}

  /// Where the cell of column 8 t + j is in the first of the two rows.
  __device__ unsigned place(int j, int t) const {
    return keep(address_ + (j * kPitch + t) * kStep);
  }
  /// The same for another j, a constant, or in the second row.
  static constexpr int kNextColumn = kPitch * (sizeof(SumS) == sizeof(SumQ) ? 2 : 1) * sizeof(SumQ);
  static constexpr int kNextRow = kColumns * kNextColumn;

  __device__ void put(unsigned place, SumS s, SumQ q) const {
    if constexpr (kPaired) {
      store_shared(place, s, q);
    } else {
      store_shared(place, q);
      store_shared(sum_place(place), s);
    }
  }
  __device__ Pair<SumS, SumQ> get(unsigned place) const {
    Pair<SumS, SumQ> pair;
    if constexpr (kPaired) {
      load_shared(place, pair.sum, pair.squares);
    } else {
      load_shared(place, pair.squares);
      load_shared(sum_place(place), pair.sum);
    }
    return pair;
  }

 private:
  static constexpr bool kPaired = sizeof(SumS) == sizeof(SumQ);
  static constexpr int kStep = kPaired ? 2 * sizeof(SumS) : sizeof(SumQ);
  // Unpaired, the sums of half the size lie behind the squares.
  __device__ unsigned sum_place(unsigned place) const {
    return address_ + kCells * sizeof(SumQ) + (place - address_) / 2;
  }
  unsigned address_;
};

/// The rows of a strip, in the order in which they are wanted: first those that fill the window of its
/// first row, then, for every row, the one that enters below it, the one that leaves above the next, and the
/// row itself.
template <typename T, typename SumS, typename SumQ>
class StripRows {
 public:
  using Stage = RowStage<T, kStreams>;
  using Samples = StageSamples<T>;
  static constexpr int kRows = kStageRows<T>;
  static constexpr int kFill = kStreams * kRows;  // rows of a stage that fills the window

  __device__ StripRows(const Job<T, SumS, SumQ> &job, unsigned char *memory,
                       std::uint64_t *barriers, int x, int strip)
      : job_(job),
        stage_(job.in, memory, barriers),
        columns_(job.in.plane, x),
        own_(job.in.plane, x - job.rx),
        x_(x),
        strip_(strip),
        y_(strip * job.strip_rows),
        y_end_(min(y_ + job.strip_rows, job.in.plane.height)) {
    if (!job.strips.sum) {
      fill_begin_ = fill_next_ = max(y_ - job.ry, 0);
      fill_end_ = min(y_ + job.ry + 1, job.in.plane.height);
    }
    request();
    request();
  }

  /// Sums the columns over the window of the strip's first row.
  __device__ void fill(ColumnSums<SumS, SumQ> &sums) {
    if (job_.strips.sum) return fill_from_table(sums);
    for (int y = fill_begin_; y < fill_end_; y += kFill) {
      stage_.wait();
      const int n = min(fill_end_ - y, kFill);
#pragma unroll 4
      for (int i = 0; i < n; ++i) sums.add(columns_.read(row(i / kRows, i % kRows)));
      request();
    }
  }

  /// Waits for the next kRows rows; then read() reads the i-th of them, the row that enters the window
  /// after it and the row that leaves it.
  __device__ void wait() {
    stage_.wait();
  }
  __device__ void read(int i, Samples &own, Samples &entering, Samples &leaving) const {
    own = own_.read_aligned(row(0, i));
    entering = columns_.read(row(1, i));
    leaving = columns_.read(row(2, i));
  }
  /// All rows that were waited for have been read.
  __device__ void release() {
    request();
  }

 private:
  __device__ unsigned row(int piece, int i) const {
    return stage_.current() + piece * kPieceBytes<T> + i * kPieceStride<T>;
  }

  __device__ void request() {
    const int x = columns_.begin;
    if (fill_next_ < fill_end_) {
      const int y = fill_next_;
      stage_.request({x, x, x}, {y, y + kRows, y + 2 * kRows});
      fill_next_ += kFill;
    } else if (y_ < y_end_) {  // no copy may be under way when the block ends
      stage_.request({own_.begin, x, x}, {y_, y_ + job_.ry + 1, y_ - job_.ry});
      y_ += kRows;
    }
  }

  __device__ void fill_from_table(ColumnSums<SumS, SumQ> &sums) const {
    using Table = StripSums<SumS, SumQ>;
    const int a = job_.ry / job_.strip_rows, strips = job_.strips.strips;
    const int column = x_ + kColumns * static_cast<int>(threadIdx.x % 32);
    if (strip_ > a) sums.load_add(job_.strips, job_.strips.at(Table::tail, strip_ - a - 1, column));
    if (strip_ + a < strips)
      sums.load_add(job_.strips, job_.strips.at(Table::head, strip_ + a, column));
    const int end = min(strip_ + a, strips);
#pragma unroll 2
    for (int k = max(strip_ - a, 0); k < end; ++k)
      sums.load_add(job_.strips, job_.strips.at(Table::whole, k, column));
  }

  const Job<T, SumS, SumQ> &job_;
  Stage stage_;
  StageCut<T> columns_, own_;
  int x_, strip_;  // first column of the warp, strip of the block
  int y_, y_end_;  // rows to be requested
  int fill_begin_ = 0, fill_end_ = 0, fill_next_ = 0;  // rows that fill the window
};

/// Makes the tables; a warp takes kStageColumns columns of a strip.
template <typename T, typename SumS, typename SumQ>
__global__ void __launch_bounds__(128)
    strip_sums_kernel(const __grid_constant__ Job<T, SumS, SumQ> job) {
  constexpr int kPieces = 3, kRows = kPieces * kStageRows<T>;
  using Stage = RowStage<T, kPieces>;
  using Table = StripSums<SumS, SumQ>;
  __shared__ __align__(128) unsigned char memory[4][Stage::kBytes];
  __shared__ std::uint64_t barriers[4][2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int x = job.strips.column + (blockIdx.x * 4 + warp) * kStageColumns;
  if (x - job.strips.column >= job.strips.pitch) return;
  const int column = x + kColumns * lane, strip = blockIdx.y;
  const int begin = strip * job.strip_rows;
  const int n = min(job.strip_rows, job.in.plane.height - begin);
  const int m = job.ry % job.strip_rows;

  Stage stage(job.in, memory[warp], barriers[warp]);
  const StageCut<T> cut(job.in.plane, x);
  int requested = 0;
  const auto request = [&] {
    if (requested >= n) return;
    const int y = begin + requested;
    stage.request({cut.begin, cut.begin, cut.begin}, {y, y + kStageRows<T>, y + 2 * kStageRows<T>});
    requested += kRows;
  };
  request();
  request();
  ColumnSums<SumS, SumQ> sums, before_tail;
  for (int first = 0; first < n; first += kRows) {
    stage.wait();
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int i = first + k;
      if (i >= n) break;
      if (i == job.strip_rows - m) before_tail = sums;
      sums.add(cut.read(stage.current() + k / kStageRows<T> * kPieceBytes<T> +
                        k % kStageRows<T> * kPieceStride<T>));
      if (i == m || (i == n - 1 && n <= m))
        sums.store(job.strips, job.strips.at(Table::head, strip, column));
    }
    request();
  }
  sums.store(job.strips, job.strips.at(Table::whole, strip, column));
  if (n <= job.strip_rows - m) before_tail = sums;
  sums.remove(before_tail);
  sums.store(job.strips, job.strips.at(Table::tail, strip, column));
}

// ---- The decision --------------------------------------------------------------------------------

/// The exact decision, out of line: it is rare.
__device__ __noinline__ bool exactly_above(unsigned p, Window w, const Formula &f) {
  return nick::above(2 * static_cast<std::int64_t>(p), w, f);
}

__device__ __noinline__ std::uint32_t exact_threshold(float estimate, Window w, const Formula &f) {
  return nick::rounded_threshold(estimate, w, f);
}

/// The sign bits of four numbers, each spread over a byte.
__device__ unsigned negative_bytes(const float (&u)[kColumns], int first) {
  unsigned pair[2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
    asm("prmt.b32 %0, %1, %2, 0x00fb;"
        : "=r"(pair[i])
        : "r"(__float_as_uint(u[first + 2 * i])), "r"(__float_as_uint(u[first + 2 * i + 1])));
  return __byte_perm(pair[0], pair[1], 0x5410);
}

__device__ __noinline__ bool exactly_busier(Window a, const Window &b) {
  return nick::busier(a, b);
}

__device__ void merge(WolfStatistics &to, const WolfStatistics &from) {
  to.minimum = min(to.minimum, from.minimum);
  if (exactly_busier(from.busiest, to.busiest)) to.busiest = from.busiest;
}

/// Merges the statistics of a block's threads into the first.
__device__ void combine(WolfStatistics *all, int n) {
  for (int half = (n + 1) / 2; n > 1; n = half, half = (n + 1) / 2) {
    if (threadIdx.x + half < n) merge(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
}

template <typename Job>
__device__ void store_sample(const Job &job, int x, int y, std::uint32_t value) {
  auto *row = static_cast<unsigned char *>(job.out) + y * job.out_stride;
  if (job.out_is_wide)
    reinterpret_cast<std::uint16_t *>(row)[x] = value;
  else
    row[x] = value;
}

/// Chooses between black and white by the bytes of a mask.
template <typename Job>
__device__ unsigned paint(const Job &job, unsigned whites) {
  return (whites & job.white) | (~whites & job.black);
}

/// Stores `valid` black or white samples, given the bytes of their mask.
template <typename Job>
__device__ void store_binary(const Job &job, unsigned char *to, int valid,
                             const unsigned (&whites)[2]) {
  if (job.out_is_wide) {
    unsigned words[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      words[k] = paint(job, __byte_perm(whites[k / 2], 0, k % 2 ? 0x3322 : 0x1100));
    if (valid == kColumns && job.out_aligned)
      *reinterpret_cast<uint4 *>(to) = {words[0], words[1], words[2], words[3]};
    else
      for (int j = 0; j < valid; ++j)
        reinterpret_cast<std::uint16_t *>(to)[j] = words[j / 2] >> 16 * (j % 2);
  } else {
    for (int j = 0; j < valid; ++j) to[j] = paint(job, whites[j / 4]) >> 8 * (j % 4);
  }
}

// ---- The kernel ----------------------------------------------------------------------------------

template <typename T, typename SumS, typename SumQ, Task task, NickMethod method>
__global__ void __launch_bounds__(kMaxThreads, sizeof(SumQ) == 4 ? 2 : 1)
    nick_kernel(const __grid_constant__ Job<T, SumS, SumQ> job) {
  using Rows = StripRows<T, SumS, SumQ>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ std::uint64_t barriers[kMaxThreads / 32][2];
  __shared__ SumS warp_sum_totals[2][32];
  __shared__ SumQ warp_squares_totals[2][32];
  __shared__ Formula formula;
  __shared__ Filter filter_shared;

  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int tile = job.first + blockIdx.x * job.step;  // first output column of the block
  const int x0 = tile + kColumns * t;                  // and of the thread
  const int y_begin = blockIdx.y * job.strip_rows;
  const int y_end = min(y_begin + job.strip_rows, height);

  Rows rows(job, memory + warp * Rows::Stage::kBytes, barriers[warp],
            tile + job.rx + warp * kStageColumns, blockIdx.y);
  const ColumnBuffer<SumS, SumQ> buffer(memory + blockDim.x / 32 * Rows::Stage::kBytes);
  const int pad = kPitch - blockDim.x;
  for (int row = warp; row < 2 * kColumns; row += blockDim.x / 32)
    for (int i = lane; i < pad; i += 32) buffer.put(buffer.place(row, i), 0, 0);
  if (t == 0) {
    formula = job.formula;
    filter_shared = job.filter;
    if (job.wolf) {
      formula.busiest = job.wolf->busiest;
      formula.minimum = job.wolf->minimum;
      filter_shared = Filter(formula);
    }
  }

  ColumnSums<SumS, SumQ> sums;
  rows.fill(sums);
  const unsigned own_place = buffer.place(0, pad + t);
  const auto publish = [&](int parity) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      buffer.put(own_place + parity * buffer.kNextRow + j * buffer.kNextColumn, sums.sum[j],
                 sums.squares[j]);
  };
  publish(0);
  __syncthreads();

  // Where C(i - W) of this thread's columns lies.
  const int window_width = 2 * job.rx + 1;
  unsigned left[kColumns];
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    const int b = window_width % kColumns;
    left[j] = buffer.place((j - b) & (kColumns - 1), pad + t - window_width / kColumns - (j < b));
  }
  const unsigned total_place = shared_address(&warp_sum_totals[0][warp]);
  const unsigned squares_total_place = shared_address(&warp_squares_totals[0][warp]);
  const unsigned before_place = shared_address(&warp_sum_totals[0][lane]);
  const unsigned squares_before_place = shared_address(&warp_squares_totals[0][lane]);
  const Filter filter = filter_shared;
  const bool active = x0 < width && (blockIdx.x == 0 ? x0 >= 0 : kColumns * t >= job.overlap);
  const bool inner =
      __all_sync(kWholeWarp, !active || (x0 >= job.rx && x0 + kColumns - 1 + job.rx < width));
  const auto window_columns = [&](int j) {
    return max(min(x0 + j + job.rx, width - 1) - max(x0 + j - job.rx, 0) + 1, 1);
  };
  const int valid = min(width - x0, kColumns);
  unsigned blacks = 0;
  WolfStatistics statistics{{0, 0, 1}, 0xffffffff};
  float most = 0;  // about the largest deviation so far
  const int out_sample = job.out_is_wide ? 2 : 1;
  unsigned char *out =
      static_cast<unsigned char *>(job.out) + y_begin * job.out_stride + x0 * out_sample;
  const bool store_at_once = valid == kColumns && job.out_aligned && !job.out_is_wide;

  const auto do_row = [&](int y, int i, auto parity_constant) {
    constexpr int parity = decltype(parity_constant)::value;
    typename Rows::Samples p, entering, leaving;
    rows.read(i, p, entering, leaving);

    // Sums of the windows that end at this thread's columns, but for what lies left of the thread.
    SumS sum[kColumns];
    SumQ squares[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const auto gone = buffer.get(left[j] + parity * buffer.kNextRow);
      sum[j] = sums.sum[j] - gone.sum + (j ? sum[j - 1] : 0);
      squares[j] = sums.squares[j] - gone.squares + (j ? squares[j - 1] : 0);
    }
    SumS base_sum = inclusive_scan(sum[kColumns - 1]);
    SumQ base_squares = inclusive_scan(squares[kColumns - 1]);
    if (lane == 31) {
      store_shared(total_place + parity * 32 * sizeof(SumS), base_sum);
      store_shared(squares_total_place + parity * 32 * sizeof(SumQ), base_squares);
    }
    base_sum -= sum[kColumns - 1];
    base_squares -= squares[kColumns - 1];

    // The next row's column sums, into the other half of the buffer.
    sums.step(entering, leaving);
    publish(parity ^ 1);
    __syncthreads();
    Pair<SumS, SumQ> before{};
    if (lane < warp) {
      load_shared(before_place + parity * 32 * sizeof(SumS), before.sum);
      load_shared(squares_before_place + parity * 32 * sizeof(SumQ), before.squares);
    }
    base_sum += warp_sum(before.sum);
    base_squares += warp_sum(before.squares);
    if (!active) return;

    const int window_rows = min(y + job.ry, height - 1) - max(y - job.ry, 0) + 1;
    float u[kColumns];  // (T - p) N, or the deviation
    bool near = false;
    const auto estimate = [&]<bool whole>() {
      const unsigned n_whole = window_rows * window_width;
      const float nf_whole = n_whole;
      const float inverse_whole = reciprocal_approx(nf_whole);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const unsigned n = whole ? n_whole : window_rows * window_columns(j);
        const float nf = whole ? nf_whole : n;
        const float inverse_n = whole ? inverse_whole : reciprocal_approx(nf);
        const SumS s = base_sum + sum[j];
        const SumQ q = base_squares + squares[j];
        if constexpr (task == Task::wolf_statistics) {
          u[j] = deviation(s, q, n, nf, inverse_n) * inverse_n;
          near |= u[j] >= most;
        } else {
          u[j] = excess<method>(s, q, p[j], n, nf, inverse_n, filter);
          if constexpr (task == Task::binary) near |= fabsf(u[j]) <= filter.tolerance * nf;
        }
      }
    };
    if (inner)
      estimate.template operator()<true>();
    else
      estimate.template operator()<false>();
    (void)near;  // a surface does not ask
    const auto window = [&](int j) {
      return Window{base_sum + sum[j], base_squares + squares[j],
                    static_cast<std::uint32_t>(window_rows * window_columns(j))};
    };

    if constexpr (task == Task::binary) {
      if (near) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          if (const Window w = window(j); fabsf(u[j]) <= filter.tolerance * w.n)
            u[j] = exactly_above(p[j], w, formula) ? -1 : 1;
      }
      const unsigned whites[2] = {negative_bytes(u, 0), negative_bytes(u, 4)};
      if (job.black_count) {
        const std::uint64_t mask = std::uint64_t{whites[1]} << 32 | whites[0];
        const int above = __popcll(mask << 8 * (kColumns - valid)) / 8;
        blacks += job.white ? valid - above : above;
      }
      unsigned char *const to = out + (y - y_begin) * job.out_stride;
      if (store_at_once)
        *reinterpret_cast<uint2 *>(to) = {paint(job, whites[0]), paint(job, whites[1])};
      else
        store_binary(job, to, valid, whites);
    } else if constexpr (task == Task::surface) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j >= valid) break;
        const Window w = window(j);
        const float threshold = fmaf(u[j], reciprocal_approx(w.n), p[j]);
        const float rounded = floorf(threshold + 0.5f);
        const bool sure = fabsf(threshold - rounded) < 0.5f - filter.tolerance;
        const float limited = fminf(fmaxf(rounded, 0), formula.maximum);
        store_sample(
            job, x0 + j, y,
            sure ? static_cast<std::uint32_t>(limited) : exact_threshold(threshold, w, formula));
      }
    } else {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (j < valid) statistics.minimum = min(statistics.minimum, p[j]);
        if (near && j < valid && u[j] >= most) {
          if (const Window w = window(j); exactly_busier(w, statistics.busiest)) {
            statistics.busiest = w;
            most = u[j] * (1 - 1e-4f) - 1e-3f;
          }
        }
      }
    }
  };
#pragma unroll 1
  for (int y = y_begin, i = 0; y < y_end; y += 2) {
    if (i == 0) rows.wait();
    do_row(y, i, std::integral_constant<int, 0>());
    if (y + 1 == y_end) break;
    do_row(y + 1, i + 1, std::integral_constant<int, 1>());
    i += 2;
    if (i == Rows::kRows) {
      i = 0;
      rows.release();
    }
  }

  if constexpr (task == Task::wolf_statistics) {
    __syncthreads();
    auto *all = reinterpret_cast<WolfStatistics *>(memory);
    all[t] = statistics;
    __syncthreads();
    combine(all, blockDim.x);
    if (t == 0) job.wolf_partial[blockIdx.y * gridDim.x + blockIdx.x] = all[0];
  } else if (job.black_count) {
    const unsigned count = warp_sum(blacks);
    if (lane == 0 && count) atomicAdd(job.black_count, count);
  }
}

/// Combines the statistics of all blocks into the first.
__global__ void wolf_kernel(WolfStatistics *partial, int n) {
  __shared__ WolfStatistics all[256];
  WolfStatistics mine = partial[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) merge(mine, partial[i]);
  all[threadIdx.x] = mine;
  __syncthreads();
  combine(all, blockDim.x);
  if (threadIdx.x == 0) partial[0] = all[0];
}

// ---- The launch ----------------------------------------------------------------------------------

constexpr int round_up(int x, int to) {
  return (x + to - 1) / to * to;
}
constexpr int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

/// Rows that are worth a table of block sums when they fill a window.
constexpr int kManyRows = 101;
constexpr int kLeastRows = 4;

/// The part of the scratch memory that is not yet used.
class Arena {
 public:
  explicit Arena(void *memory) : next_(static_cast<unsigned char *>(memory)) {}
  template <typename U>
  U *take(std::size_t n) {
    auto *taken = reinterpret_cast<U *>(next_);
    next_ += size<U>(n);
    return taken;
  }
  template <typename U>
  static std::size_t size(std::size_t n) {
    return (n * sizeof(U) + 255) / 256 * 256;
  }

 private:
  unsigned char *next_;
};

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Queues everything for one image.
template <NickMethod method, typename SumS, typename SumQ, typename T, typename Out>
void launch(Cuda &cuda, Job<T, SumS, SumQ> job, Plane<Out> out, const NickParams &params,
            NickReport *report) {
  using Rows = StripRows<T, SumS, SumQ>;
  using Buffer = ColumnBuffer<SumS, SumQ>;
  const int width = job.in.plane.width, height = job.in.plane.height;
  const int margin = round_up(job.rx, kColumns);
  job.overlap = round_up(2 * job.rx, kColumns);
  job.first = -margin;

  // As few tiles as fit the shared memory, of equal width.
  const int memory_limit = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048;
  const int fitting = (memory_limit - Buffer::kBytes) / Rows::Stage::kBytes * 32;
  const int zeros = (2 * job.rx + 1) / kColumns + 1;
  const int max_threads = std::min({kMaxThreads, fitting, (kPitch - zeros) / 32 * 32});
  int tiles = 0, threads = 0;
  do {
    ++tiles;
    const int columns = width + margin + (tiles - 1) * job.overlap;
    threads = round_up(divide_up(divide_up(columns, tiles), kColumns), 32);
  } while (threads > max_threads);
  job.step = kColumns * threads - job.overlap;
  const int shared = threads / 32 * Rows::Stage::kBytes + Buffer::kBytes;

  const auto configured = [&](auto kernel) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    return kernel;
  };
  const auto binary = configured(nick_kernel<T, SumS, SumQ, Task::binary, method>);
  int resident = 1;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, binary, threads, shared));
  const int strips = std::max(1, cuda.multiprocessors() * std::max(resident, 1) / tiles);
  job.strip_rows = std::max(divide_up(height, strips), kLeastRows);
  const dim3 grid(tiles, divide_up(height, job.strip_rows));
  const int blocks = static_cast<int>(grid.x * grid.y);

  constexpr bool wolf = method == NickMethod::wolf;
  const bool tabulate = 2 * job.ry + 1 >= kManyRows && job.strip_rows < height;
  job.strips.column = job.first + job.rx;
  job.strips.pitch = round_up((tiles - 1) * job.step + kColumns * threads, kStageColumns);
  job.strips.strips = static_cast<int>(grid.y);
  const std::size_t table = tabulate ? std::size_t{3} * job.strips.strips * job.strips.pitch : 0;

  Arena arena(cuda.scratch(Arena::size<SumS>(table) + Arena::size<SumQ>(table) +
                           Arena::size<WolfStatistics>(blocks) + 256));
  auto *sum = arena.take<SumS>(table);
  auto *squares = arena.take<SumQ>(table);
  auto *statistics = arena.take<WolfStatistics>(blocks);
  auto *black_count = arena.take<unsigned long long>(1);
  if (report) {
    job.black_count = black_count;
    CUDA_CHECK(cudaMemsetAsync(black_count, 0, sizeof *black_count, cuda.stream()));
  }

  const bool fast = params.algorithm == NickAlgorithm::automatic;
  if (tabulate && (fast || wolf)) {
    job.strips.sum = sum;
    job.strips.squares = squares;
    strip_sums_kernel<<<dim3(divide_up(job.strips.pitch, 4 * kStageColumns), grid.y), 128, 0,
                        cuda.stream()>>>(job);
  }
  if constexpr (wolf) {
    job.wolf_partial = statistics;
    configured(nick_kernel<T, SumS, SumQ, Task::wolf_statistics,
                           NickMethod::wolf>)<<<grid, threads, shared, cuda.stream()>>>(job);
    wolf_kernel<<<1, 256, 0, cuda.stream()>>>(statistics, blocks);
    job.wolf = statistics;
  }
  // The single precision of the decision wants a window of two pixels at least.
  if (params.algorithm != NickAlgorithm::automatic || (width == 1 && height == 1))
    nick::run_baseline(cuda, job.in.plane, out, params, job.wolf, job.black_count);
  else if (params.output == NickOutput::threshold)
    configured(nick_kernel<T, SumS, SumQ, Task::surface,
                           method>)<<<grid, threads, shared, cuda.stream()>>>(job);
  else
    binary<<<grid, threads, shared, cuda.stream()>>>(job);
  CUDA_CHECK(cudaGetLastError());

  if (report) {
    auto *host_count = static_cast<unsigned long long *>(cuda.host_scratch(sizeof *black_count));
    CUDA_CHECK(cudaMemcpyAsync(host_count, black_count, sizeof *black_count, cudaMemcpyDeviceToHost,
                               cuda.stream()));
    const double pixels = static_cast<double>(width) * height;
    const bool counted = params.output == NickOutput::binary;
    cuda.on_complete([=] { report->black_ratio = counted ? *host_count / pixels : 0; });
  }
}

template <typename T, typename Out>
void run_all(Cuda &cuda, Plane<const T> in, Plane<Out> out, const NickParams &p,
             NickReport *report) {
  nick::check_call(p, in.width, in.height, out.width, out.height, sizeof(T) == sizeof(Out));
  const auto go = [&]<typename SumS, typename SumQ>() {
    Job<T, SumS, SumQ> job{};
    job.in = stage_plane(in);
    job.out = out.data;
    job.out_stride = out.stride;
    job.out_is_wide = sizeof(Out) == 2;
    job.out_aligned =
        (reinterpret_cast<std::uintptr_t>(out.data) | out.stride) % (kColumns * sizeof(Out)) == 0;
    const std::uint32_t white = out.maximum * (sizeof(Out) == 1 ? 0x01010101u : 0x00010001u);
    job.black = p.invert ? white : 0;
    job.white = p.invert ? 0 : white;
    job.rx = nick::window_width(p) / 2;
    job.ry = nick::window_height(p) / 2;
    job.formula = nick::make_formula(p, in.maximum);
    if (p.method != NickMethod::wolf) job.filter = Filter(job.formula);
    switch (p.method) {
      case NickMethod::nick:
        return launch<NickMethod::nick>(cuda, job, out, p, report);
      case NickMethod::niblack:
        return launch<NickMethod::niblack>(cuda, job, out, p, report);
      case NickMethod::sauvola:
        return launch<NickMethod::sauvola>(cuda, job, out, p, report);
      case NickMethod::wolf:
        return launch<NickMethod::wolf>(cuda, job, out, p, report);
      case NickMethod::bradley:
        return launch<NickMethod::bradley>(cuda, job, out, p, report);
      case NickMethod::phansalkar:
        return launch<NickMethod::phansalkar>(cuda, job, out, p, report);
    }
  };
  const std::int64_t area = std::int64_t{nick::window_width(p)} * nick::window_height(p);
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  if constexpr (sizeof(T) == 1)  // 255^2 * 257^2 < 2^32
    area <= 257 * 257 ? go.template operator()<U32, U32>() : go.template operator()<U32, U64>();
  else  // 65535 * 2^16 < 2^32
    area <= 65536 ? go.template operator()<U32, U64>() : go.template operator()<U64, U64>();
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const NickParams &params, NickReport *report) {
  run_all(cuda, in, out, params, report);
}

}  // namespace cudascan
