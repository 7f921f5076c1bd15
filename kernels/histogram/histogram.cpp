// SPDX-License-Identifier: LGPL-2.1-or-later
// Each sample stores its counter, and processors complete about one such store per clock. To
// approach that limit:
// - An increment waits for an earlier one of the same counter, so neighbours use different tables
//   (Y. Collet, "Counting bytes fast - little trick from FSE", 2014).
// - Many processors also delay a load if its address differs from that of an earlier store by a
//   multiple of 4 KiB (Intel 64 and IA-32 Architectures Optimization Reference Manual; the metric
//   "4K Aliasing" of VTune). So the counters of a level are not at such distances.
// - A mispredicted branch costs more than the increments that a short run of equal samples saves.
//   So only 32 equal bytes are counted at once: blank paper has many of these runs, edges of text
//   hardly any.
#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "kernels/base/refuse.h"
#include "kernels/histogram/roi.h"

namespace cudascan {
namespace {

constexpr int kByteTables = 16;
/// More tables of many levels would not stay in the fastest caches.
int tables_of(const Levels &levels) {
  return levels.count <= 1024 ? 8 : levels.count <= 4096 ? 4 : 1;
}

/// Distance of tables in counters. With it, the starts of tables of 256, 1024 and 4096 levels are
/// spread evenly over 4 KiB.
constexpr int stride_of(int size, int n_tables) {
  return size + 1024 / n_tables;
}

/// The levels of 8-bit samples, for tables indexed by sample.
struct ByteLevels {
  int of(std::uint8_t sample) const { return sample; }
  std::uint64_t of_word(std::uint64_t samples) const { return samples; }
  bool beyond(std::uint64_t /*levels*/) const { return false; }
};

/// The levels of 16-bit samples, one or four at once.
class WordLevels {
 public:
  explicit WordLevels(const Levels &levels)
      : levels_(levels),
        kept_(kOnes * (0xffff >> levels.shift)),
        beyond_(kOnes * (0x10000 - std::bit_floor(static_cast<unsigned>(levels.count)))) {}
  int of(std::uint16_t sample) const { return levels_.level(sample); }
  /// Does not clamp levels above the last.
  std::uint64_t of_word(std::uint64_t samples) const { return samples >> levels_.shift & kept_; }
  /// Whether there may be levels above the last.
  bool beyond(std::uint64_t levels) const { return levels & beyond_; }

 private:
  static constexpr std::uint64_t kOnes = 0x0001000100010001;
  Levels levels_;
  std::uint64_t kept_, beyond_;
};

template <typename T>
std::uint64_t load_word(const T *samples) {
  std::uint64_t word;
  std::memcpy(&word, samples, sizeof word);
  return word;
}

/// Adds samples to `kTables` tables of counts.
template <int kTables, typename T, typename Level, typename Stride>
void count_row(const T *row, int n, const Level &level, std::uint32_t *tables, Stride stride) {
  constexpr int kBits = 8 * sizeof(T), kWord = 8 / sizeof(T), kStep = 4 * kWord;
  const auto add = [=](int table, std::uint64_t level_and_more) {
    ++(tables + table % kTables * stride)[static_cast<T>(level_and_more)];
  };
  int x = 0;
  for (; x + kStep <= n; x += kStep) {
    // Not an array, because GCC would keep that in memory.
    std::uint64_t a = load_word(row + x), b = load_word(row + x + kWord),
                  c = load_word(row + x + 2 * kWord), d = load_word(row + x + 3 * kWord);
    if (((a ^ std::rotl(a, kBits)) | (a ^ b) | (a ^ c) | (a ^ d)) == 0) {
      tables[level.of(row[x])] += kStep;
      continue;
    }
    a = level.of_word(a), b = level.of_word(b), c = level.of_word(c), d = level.of_word(d);
    if (level.beyond(a | b | c | d)) {
      for (int i = 0; i < kStep; ++i) add(i, level.of(row[x + i]));
      continue;
    }
    for (int i = 0; i < kWord; ++i) {
      add(4 * i, a >> kBits * i);
      add(4 * i + 1, b >> kBits * i);
      add(4 * i + 2, c >> kBits * i);
      add(4 * i + 3, d >> kBits * i);
    }
  }
  for (; x < n; ++x) add(x, level.of(row[x]));
}

/// Fewest rows for which a band justifies its own table, which must be cleared and added.
int min_rows(const Rectangle &part, const Levels &levels) {
  return std::max(65536, 4 * levels.count) / part.width + 1;
}

template <typename T>
void count_plane(Cpu &cpu, Plane<const T> in, const HistogramParams &params, Histogram &counts) {
  counts = count_levels(cpu, in, params.roi);
  if (params.ignore_black) counts.front() = 0;
  if (params.ignore_white) counts.back() = 0;
}

}  // namespace

void check_roi(const Rectangle &roi, int width, int height) {
  const auto refuse_roi = [&](const auto &...why) {
    refuse("roi = <", roi.x, ", ", roi.y, ", ", roi.width, ", ", roi.height, ">: ", why...);
  };
  if (roi.x < 0 || roi.y < 0 || roi.width < 0 || roi.height < 0)
    refuse_roi("must be x, y, width and height of 0 or more; a width or height of 0 means the ",
               "whole picture");
  if (roi.width && roi.height && (roi.x >= width || roi.y >= height))
    refuse_roi("lies outside the picture, which is ", width, "x", height,
               "; x must be below its width and y below its height");
}

Rectangle clip_to_plane(const Rectangle &roi, int width, int height) {
  if (roi.width == 0 || roi.height == 0) return {0, 0, width, height};
  return {roi.x, roi.y, std::min(roi.width, width - roi.x), std::min(roi.height, height - roi.y)};
}

template <typename T>
Histogram count_levels(Cpu &cpu, Plane<const T> in, const Rectangle &roi) {
  check_rows("input", in);
  check_roi(roi, in.width, in.height);
  const Rectangle part = clip_to_plane(roi, in.width, in.height);
  const Levels levels = Levels::of(in.maximum);
  Histogram counts;
  std::mutex mutex;
  cpu.for_bands(part.height, min_rows(part, levels), [&](int begin, int end) {
    LevelCounter<T> counter(levels);
    for (int y = begin; y < end; ++y) counter.add(in.row(part.y + y) + part.x, part.width);
    Histogram band(levels.count);
    counter.take(band.data());
    const std::lock_guard lock(mutex);
    if (counts.empty())
      counts.swap(band);
    else
      for (int i = 0; i < levels.count; ++i) counts[i] += band[i];
  });
  return counts;
}

template <typename T>
LevelCounter<T>::LevelCounter(const Levels &levels)
    : levels_(levels),
      size_(sizeof(T) == 1 ? 256 : levels.count),
      n_tables_(sizeof(T) == 1 ? kByteTables : tables_of(levels)),
      stride_(stride_of(size_, n_tables_)),
      tables_(std::size_t(stride_) * n_tables_) {}

template <typename T>
void LevelCounter<T>::add(const T *samples, int n) {
  std::uint32_t *const tables = tables_.data();
  if constexpr (sizeof(T) == 1) {
    constexpr std::integral_constant<int, stride_of(256, kByteTables)> kStride;
    count_row<kByteTables>(samples, n, ByteLevels(), tables, kStride);
  } else {
    const WordLevels levels(levels_);
    if (n_tables_ == 8)
      count_row<8>(samples, n, levels, tables, stride_);
    else if (n_tables_ == 4)
      count_row<4>(samples, n, levels, tables, stride_);
    else
      count_row<1>(samples, n, levels, tables, stride_);
  }
}

template <typename T>
void LevelCounter<T>::take(std::uint32_t *counts) {
  std::uint32_t *const sums = tables_.data();
  const int size = size_;  // a local copy: the member might alias the sums
  for (int t = 1; t < n_tables_; ++t) {
    const std::uint32_t *const table = sums + std::ptrdiff_t{t} * stride_;
    for (int i = 0; i < size; ++i) sums[i] += table[i];
  }
  std::copy_n(sums, levels_.count, counts);
  if (sizeof(T) == 1 && levels_.count < size) {  // tables are indexed by sample
    std::fill_n(counts, levels_.count, 0);
    for (int i = 0; i < size; ++i) counts[levels_.level(i)] += sums[i];
  }
  std::fill(tables_.begin(), tables_.end(), 0);
}

template class LevelCounter<std::uint8_t>;
template class LevelCounter<std::uint16_t>;
template Histogram count_levels(Cpu &, Plane<const std::uint8_t>, const Rectangle &);
template Histogram count_levels(Cpu &, Plane<const std::uint16_t>, const Rectangle &);

void count(Cpu &cpu, Plane<const std::uint8_t> in, const HistogramParams &params,
           Histogram &counts) {
  count_plane(cpu, in, params, counts);
}
void count(Cpu &cpu, Plane<const std::uint16_t> in, const HistogramParams &params,
           Histogram &counts) {
  count_plane(cpu, in, params, counts);
}

}  // namespace cudascan
