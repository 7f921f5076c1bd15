// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/page.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "kernels/binarize/extrema.h"
#include "kernels/histogram/roi.h"

namespace cudascan::binarize {
namespace {

constexpr int kMinRows = 32;  // fewer rows do not justify a thread

template <typename T>
void invert_plane(Cpu &cpu, Plane<T> plane, T maximum) {
  cpu.for_bands(plane.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      rows<T>().invert(plane.row(y), plane.width, maximum, plane.row(y));
  });
}

}  // namespace

template <typename T>
void PageImage<T>::shrink(Cpu &cpu) const {
  const int last = in.height - 1, half_width = (in.width + 1) / 2,
            half_height = (in.height + 1) / 2;
  cpu.for_bands(mean.height, kMinRows / 4, [&](int begin, int end) {
    RowMemory memory;
    const BinarizeRows<T> &loops = rows<T>();
    T *const half[] = {memory.row<T>(half_width), memory.row<T>(half_width)};
    for (int y = begin; y < end; ++y) {
      for (int k = 0; k < 2; ++k) {
        const int h = std::min(2 * y + k, half_height - 1);
        const T *four[4];
        for (int i = 0; i < 4; ++i) four[i] = in.row(std::clamp(2 * h - 1 + i, 0, last));
        loops.halve(four, in.width, half[k]);
      }
      loops.mean(half[0], half[1], half_width, mean.row(y));
      loops.pool[true](half[0], half[1], half_width, top.row(y));
      loops.pool[false](half[0], half[1], half_width, low.row(y));
    }
  });
}

template <typename T>
void pool_quarter(Cpu &cpu, Plane<const T> quarter, Plane<T> sixteenth) {
  cpu.for_bands(sixteenth.height, kMinRows / 4, [&](int begin, int end) {
    RowMemory memory;
    const int half = (quarter.width + 1) / 2;
    T *const pooled[] = {memory.row<T>(half), memory.row<T>(half)};
    for (int y = begin; y < end; ++y) {
      const auto row = [&](int i) { return quarter.row(std::min(4 * y + i, quarter.height - 1)); };
      for (int k = 0; k < 2; ++k)
        rows<T>().pool[true](row(2 * k), row(2 * k + 1), quarter.width, pooled[k]);
      rows<T>().pool[true](pooled[0], pooled[1], half, sixteenth.row(y));
    }
  });
}

template <typename T>
bool PageImage<T>::is_light_on_dark(Cpu &cpu, const Rectangle &part) const {
  constexpr int kBlock = kPolarityBlock;
  const int first = part.y / kBlock, last = (part.y + part.height - 1) / kBlock;
  std::atomic<std::uint64_t> above = 0, below = 0;
  cpu.for_bands(last - first + 1, kMinRows / kBlock, [&](int begin, int end) {
    std::uint64_t of_band_above = 0, of_band_below = 0;
    for (int block_y = first + begin; block_y < first + end; ++block_y)
      for (int x = part.x; x < part.x + part.width; x = (x / kBlock + 1) * kBlock) {
        const int x_end = std::min((x / kBlock + 1) * kBlock, part.x + part.width);
        const int y_end = std::min((block_y + 1) * kBlock, part.y + part.height);
        unsigned high = 0, deep = ~0u, sum = 0, n = 0;
        for (int y = std::max(block_y * kBlock, part.y); y < y_end; ++y)
          for (const T *sample = mean.row(y) + x; sample != mean.row(y) + x_end; ++sample, ++n) {
            high = std::max<unsigned>(high, *sample);
            deep = std::min<unsigned>(deep, *sample);
            sum += *sample;
          }
        if (!has_contrast(high, deep, in.maximum)) continue;
        of_band_above += n * high - sum;
        of_band_below += sum - n * deep;
      }
    above += of_band_above;
    below += of_band_below;
  });
  return light_on_dark(above, below);
}

template <typename T>
void PageImage<T>::invert(Cpu &cpu) {
  inverted = true;
  std::swap(top, low);
  for (const Plane<T> &plane : {mean, top, low}) invert_plane(cpu, plane, in.maximum);
}

template <typename T>
void Paper<T>::close(Cpu &cpu, Plane<const T> image, int size) {
  extrema_along_rows<T>(cpu, true, size, image, level);
  PaperSums sums{};
  std::mutex mutex;
  for_strips<T>(cpu, level.width, [&](int x, int columns) {
    PaperSums of_strip{};
    extrema_of_strip<T>(true, size, level, level, x, columns, [](int) {});
    extrema_of_strip<T>(false, size, level, level, x, columns, [&](int y) {
      const PaperSums of_row = rows<T>().sum(level.row(y) + x, columns);
      of_strip.sum += of_row.sum;
      of_strip.squares += of_row.squares;
    });
    const std::lock_guard lock(mutex);
    sums.sum += of_strip.sum;
    sums.squares += of_strip.squares;
  });
  least = least_paper(sums.sum, sums.squares);
  extrema_along_rows<T>(cpu, false, size, level, level);
}

template <typename T>
void Paper<T>::raise(Cpu &cpu) {
  cpu.for_bands(level.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y)
      rows<T>().raise(level.row(y), level.width, static_cast<T>(least));
  });
}

namespace {

/// Counts the samples that count_rows(begin, end, counter) adds, in bands of rows.
template <typename T, typename CountRows>
std::vector<std::uint32_t> count_bands(Cpu &cpu, int height, int levels,
                                       const CountRows &count_rows) {
  std::vector<std::uint32_t> counts(levels);
  std::mutex mutex;
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    LevelCounter<T> counter({0, levels});
    count_rows(begin, end, counter);
    std::vector<std::uint32_t> band(levels);
    counter.take(band.data());
    const std::lock_guard lock(mutex);
    for (int i = 0; i < levels; ++i) counts[i] += band[i];
  });
  return counts;
}

}  // namespace

template <typename T>
std::vector<std::uint32_t> count_details(Cpu &cpu, const PageImage<T> &image, const Paper<T> &paper,
                                         const Rectangle &part, QuarterMemory &memory) {
  const Plane<T> closed = plane_in<T>(memory.closed, image.top.width, image.top.height);
  square_extrema<T>(cpu, true, kDetailClosing, image.top, closed);
  square_extrema<T>(cpu, false, kDetailClosing, closed, closed);
  return count_bands<std::uint16_t>(
      cpu, part.height, kDarkestDetail + 1, [&](int begin, int end, auto &counter) {
        RowMemory row_memory;
        std::uint16_t *const details = row_memory.row<std::uint16_t>(part.width);
        for (int y = part.y + begin; y < part.y + end; ++y) {
          rows<T>().details(closed.row(y) + part.x, image.low.row(y) + part.x,
                            paper.level.row(y) + part.x, part.width, paper.least, details);
          counter.add(details, part.width);
        }
      });
}

template <typename T>
void box_means(Cpu &cpu, Plane<const T> in, int size, Plane<T> out) {
  const int radius = size / 2, last = in.width - 1;
  const std::uint32_t inverse = inverse_area(size);
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    RowMemory memory;
    auto *const columns = memory.take<std::uint32_t>(in.width);
    std::fill_n(columns, in.width, 0);
    const auto add = [&](int y, std::uint32_t times) {
      const T *const row = in.row(std::clamp(y, 0, in.height - 1));
      for (int x = 0; x < in.width; ++x) columns[x] += times * row[x];
    };
    for (int y = begin - radius; y < begin + radius; ++y) add(y, 1);
    for (int y = begin; y < end; ++y) {
      add(y + radius, 1);
      const auto column = [&](int x) { return columns[std::clamp(x, 0, last)]; };
      std::uint32_t sum = 0;
      for (int x = -radius; x < radius; ++x) sum += column(x);
      for (int x = 0; x < in.width; ++x) {
        sum += column(x + radius);
        out.row(y)[x] = static_cast<T>(mean_of(sum, inverse));
        sum -= column(x - radius);
      }
      add(y - radius, ~0u);
    }
  });
}

/// The first column from x on that histograms count in a row.
static int first_counted(int x, int y) {
  return x + (counted_column(y) - x % 4 + 4) % 4;
}

template <typename T>
std::vector<std::uint32_t> darken(Cpu &cpu, const PageImage<T> &image, const Paper<T> &paper,
                                  const Rectangle &part, Plane<T> out,
                                  const DarknessMeans<T> *means) {
  const int width = out.width, height = out.height, half_width = (width + 1) / 2;
  return count_bands<T>(
      cpu, paper.level.height, kDarkest<T> + 1, [&](int begin, int end, auto &counter) {
        RowMemory memory;
        T *const inverted = memory.row<T>(width), *const counted = memory.row<T>(width / 4 + 1);
        T *const half[] = {memory.row<T>(half_width), memory.row<T>(half_width)};
        DarkRows<T> dark(paper, 4, memory);
        for (int q = begin; q < end; ++q) {
          const int last = std::min(4 * q + 3, height - 1);
          for (int y = 4 * q; y <= last; ++y) {
            T *const row = out.row(y);
            dark(image.row(y, inverted), width, y, row);
            std::fill_n(row - kPadding, kPadding, row[0]);
            std::fill_n(row + width, kPadding, row[width - 1]);
            if (y < part.y || y >= part.y + part.height) continue;
            int n = 0;
            for (int x = first_counted(part.x, y); x < part.x + part.width; x += 4)
              counted[n++] = row[x];
            counter.add(counted, n);
          }
          if (!means) continue;
          for (int k = 0; k < 2; ++k) {
            const int y = 4 * q + 2 * k <= last ? 4 * q + 2 * k : 4 * q;
            rows<T>().mean(out.row(y), out.row(std::min(y + 1, last)), width, half[k]);
          }
          rows<T>().pool[true](half[0], half[1], half_width, means->largest.row(q));
          rows<T>().mean(half[0], half[1], half_width, means->cells.row(q));
        }
      });
}

template struct PageImage<std::uint8_t>;
template struct PageImage<std::uint16_t>;
template struct Paper<std::uint8_t>;
template struct Paper<std::uint16_t>;

#define INSTANTIATE(T)                                                                             \
  template void pool_quarter(Cpu &, Plane<const T>, Plane<T>);                                     \
  template std::vector<std::uint32_t> count_details(Cpu &, const PageImage<T> &, const Paper<T> &, \
                                                    const Rectangle &, QuarterMemory &);           \
  template std::vector<std::uint32_t> darken(Cpu &, const PageImage<T> &, const Paper<T> &,        \
                                             const Rectangle &, Plane<T>,                          \
                                             const DarknessMeans<T> *);                            \
  template void box_means(Cpu &, Plane<const T>, int, Plane<T>);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)

}  // namespace cudascan::binarize
