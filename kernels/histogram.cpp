// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting is bound by the increments: one that follows another of the same counter waits for it. So
// neighbours go to different tables, and words of equal samples, which most of a scanned page
// consists of, are counted at once.
#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "kernels/histogram_cpu.h"
#include "kernels/refuse.h"

namespace cudascan {
namespace {

/// Adds samples to `kTables` tables of `size` counts, neighbours to different ones.
template <int kTables, typename T, typename Level, typename Size>
void count_row(const T *row, int n, const Level &level, std::uint32_t *tables, Size size) {
  constexpr int kBits = 8 * sizeof(T), kStep = 16 / sizeof(T);
  int x = 0;
  for (; x + kStep <= n; x += kStep) {
    std::uint64_t a, b;
    std::memcpy(&a, row + x, 8);
    std::memcpy(&b, row + x + kStep / 2, 8);
    if (a == b && a == std::rotl(a, kBits)) {
      tables[level(row[x])] += kStep;
      continue;
    }
    for (int i = 0; i < kStep / 2; ++i) {
      ++tables[2 * i % kTables * size + level(static_cast<T>(a >> (kBits * i)))];
      ++tables[(2 * i + 1) % kTables * size + level(static_cast<T>(b >> (kBits * i)))];
    }
  }
  for (; x < n; ++x) ++tables[level(row[x])];
}

/// Rows that make a band worth its table, which has to be cleared and added to the others.
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
    refuse_roi(
        "must be x, y, width and height of 0 or more; a width or height of 0 stands for the ",
        "whole picture");
  if (roi.width && roi.height && (roi.x >= width || roi.y >= height))
    refuse_roi("lies outside of the picture, which is ", width, "x", height,
               "; x must be below its width and y below its height");
}

Rectangle clip_to_plane(const Rectangle &roi, int width, int height) {
  if (roi.width == 0 || roi.height == 0) return {0, 0, width, height};
  return {roi.x, roi.y, std::min(roi.width, width - roi.x), std::min(roi.height, height - roi.y)};
}

template <typename T>
Histogram count_levels(Cpu &cpu, Plane<const T> in, const Rectangle &roi) {
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

// More tables of many levels would not stay in the nearest cache.
template <typename T>
LevelCounter<T>::LevelCounter(const Levels &levels)
    : levels_(levels),
      size_(sizeof(T) == 1 ? 256 : levels.count),
      n_tables_(sizeof(T) == 1         ? 8
                : levels.count <= 4096 ? 4
                                       : 1),
      tables_(std::size_t(size_) * n_tables_) {}

template <typename T>
void LevelCounter<T>::add(const T *samples, int n) {
  if constexpr (sizeof(T) == 1) {
    count_row<8>(
        samples, n, [](T sample) { return sample; }, tables_.data(),
        std::integral_constant<int, 256>());
  } else {
    const auto level = [this](T sample) { return levels_.level(sample); };
    if (n_tables_ > 1)
      count_row<4>(samples, n, level, tables_.data(), size_);
    else
      count_row<1>(samples, n, level, tables_.data(), size_);
  }
}

template <typename T>
void LevelCounter<T>::take(std::uint32_t *counts) {
  for (int t = 1; t < n_tables_; ++t)
    for (int i = 0; i < size_; ++i) tables_[i] += tables_[std::size_t(t) * size_ + i];
  std::copy_n(tables_.begin(), levels_.count, counts);
  if (sizeof(T) == 1 && levels_.count < size_) {  // tables are by sample
    std::fill_n(counts, levels_.count, 0);
    for (int i = 0; i < size_; ++i) counts[levels_.level(i)] += tables_[i];
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
#ifndef HAVE_CUDA  // stands in for histogram.cu
void count(Cuda &, Plane<const std::uint8_t>, const HistogramParams &, Histogram &) {
  refuse_cuda();
}
void count(Cuda &, Plane<const std::uint16_t>, const HistogramParams &, Histogram &) {
  refuse_cuda();
}
#endif

}  // namespace cudascan
