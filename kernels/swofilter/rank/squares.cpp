// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/squares.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/base/simd.h"
#include "kernels/swofilter/rank/network.h"
#include "kernels/swofilter/rank/places.h"
#include "kernels/swofilter/rank/tiling.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/swofilter/rank/square_loops.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::swo {

SquareShape::SquareShape(const Mask &mask)
    : columns(mask.width + kSquare - 1),
      rows(mask.height + kSquare - 1),
      pixels(std::size_t(columns) * rows) {
  std::vector<std::uint64_t> above(columns);
  auto *to = pixels.data();
  for (int row = 0; row < rows; ++row) {
    unsigned in_row = 0;  // pixels of a row for which the sample is in this row of their windows
    for (int column = 0; column < columns; ++column) {
      const bool is_on =
          row < mask.height && column < mask.width && mask.at(column, row) == Mask::on;
      in_row = (in_row << 1 | is_on) & 255;
      *to++ = above[column] = above[column] << 8 | in_row;
    }
  }
}

SquareSteps::SquareSteps(const SquareShape &shape, const Mask &mask, std::ptrdiff_t pitch) {
  const int rows = shape.rows, columns = shape.columns;
  const auto is_common = [&](int column, int row) {
    return column >= 0 && column < columns && row >= 0 && row < rows &&
           shape.pixels[std::size_t(row) * columns + column] == SquareShape::kAll;
  };
  const auto steps = [&](int dx, int dy) {
    std::vector<WindowStep> steps(common.size());
    std::size_t leaving = 0, entering = 0;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        if (!is_common(column, row)) continue;
        const auto place =
            static_cast<std::int32_t>((row - mask.ry()) * pitch + column - mask.rx());
        const auto step = static_cast<std::int32_t>(dy * pitch + dx);
        if (!is_common(column - dx, row - dy)) steps[leaving++].leaving = place;
        if (!is_common(column + dx, row + dy)) steps[entering++].entering = place + step;
      }
    steps.resize(leaving);
    return steps;
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      if (is_common(column, row))
        common.push_back(static_cast<std::int32_t>((row - mask.ry()) * pitch + column - mask.rx()));
  right = steps(kSquare, 0), left = steps(-kSquare, 0), down = steps(0, kSquare);
}

PlaceGroups::PlaceGroups(const std::vector<std::int32_t> &places) {
  for (std::size_t i = 0; i < places.size();) {
    const bool is_group =
        i + kTogether <= places.size() && places[i + kTogether - 1] - places[i] == kTogether - 1;
    (is_group ? groups : others).push_back(places[i]);
    i += is_group ? kTogether : 1;
  }
}

ByteSquares::Step::Step(const std::vector<WindowStep> &steps) {
  std::vector<std::int32_t> out, in;
  for (const WindowStep &step : steps) out.push_back(step.leaving), in.push_back(step.entering);
  leaving = PlaceGroups(out), entering = PlaceGroups(in);
}

ByteSquares::ByteSquares(const Mask &mask, std::ptrdiff_t pitch)
    : ByteSquares(SquareShape(mask), SquareSteps(SquareShape(mask), mask, pitch), mask, pitch) {}
ByteSquares::ByteSquares(const SquareShape &shape, const SquareSteps &steps, const Mask &mask,
                         std::ptrdiff_t pitch)
    : common(steps.common), right(steps.right), left(steps.left), down(steps.down), pitch(pitch) {
  struct Group {
    std::int32_t place;
    std::array<std::uint64_t, kTogether> pixels;
  };
  std::vector<Group> groups;
  const std::uint64_t *some = shape.pixels.data();
  for (int row = 0; row < shape.rows; ++row)
    for (int column = 0, begin = -kTogether; column < shape.columns; ++column, ++some) {
      if (*some == 0 || *some == SquareShape::kAll) continue;
      if (column >= begin + kTogether) {
        begin = column;
        groups.push_back(
            {static_cast<std::int32_t>((row - mask.ry()) * pitch + column - mask.rx()), {}});
      }
      groups.back().pixels[column - begin] = *some;
    }
  // Samples far from one another by turns, as those side by side often are equal: a counter has to
  // be stored before it is read again.
  constexpr std::size_t kParts = 4;
  const std::size_t n = (groups.size() + kParts - 1) / kParts;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = i; k < groups.size(); k += n)
      places.push_back(groups[k].place), pixels.push_back(groups[k].pixels);
}

SortedSquares::SortedSquares(const Mask &mask, bool is_mode, std::ptrdiff_t pitch)
    : SortedSquares(SquareShape(mask), mask, is_mode, pitch) {}
SortedSquares::SortedSquares(const SquareShape &shape, const Mask &mask, bool is_mode,
                             std::ptrdiff_t pitch)
    : columns(shape.columns), rows(shape.rows), steps(shape, mask, pitch), pitch(pitch) {
  const std::uint64_t *some = shape.pixels.data();
  for (int row = 0; row < rows; ++row) {
    Reach reach{columns, -1};
    for (int column = 0; column < columns; ++column, ++some) {
      const bool is_listed = *some != 0 && !(is_mode && *some == SquareShape::kAll);
      numbers.push_back(is_listed ? static_cast<std::uint16_t>(pixels.size()) : kNone);
      if (!is_listed) continue;
      pixels.push_back(*some);
      reach = {std::min(reach.first, column), column};
    }
    reaches.push_back(reach);
  }
}

namespace {

/// Of the largest ellipses of 8-bit samples whose means take longer if they are followed.
constexpr int kMostMeanLength = 100;
/// Of the largest windows of 16-bit samples whose modes are not looked for among frequent values.
constexpr int kMostModeCells = 512;

void ask_tiles_of(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
                  const FilterJob &job, const TileBox &area) {
  constexpr int kMostWidth = 256, kMostHeight = 128;
  const Mask &mask = job.mask();
  const int rx = mask.rx(), ry = mask.ry();
  const int columns = up_to_multiple(std::min(kMostWidth, area.width()), kSquare) + 2 * rx;
  const int rows = up_to_multiple(std::min(kMostHeight, area.height()), kSquare) + 2 * ry;
  // An odd number of lines, so that the columns of the window spread over the cache.
  const int pitch = (up_to_multiple(columns * 2, kTileLine) / kTileLine | 1) * kTileLine / 2;
  const ByteSquares window(mask, pitch);
  const std::size_t samples = std::size_t(pitch) * rows + kTogether;
  const std::size_t bytes = up_to_multiple<std::size_t>(samples * 2, kTileLine);
  for_tiles(cpu, area, kMostWidth, kMostHeight,
            bytes + up_to_multiple<std::size_t>(kByteSquareMemory, kTileLine),
            [&](const TileBox &pixels, unsigned char *memory) {
              const auto to = reinterpret_cast<std::uint16_t *>(memory);
              const TileBox all = samples_of(pixels, mask);
              const TileBox valid = present(all, in.width, in.height, job);
              std::fill_n(to, samples, kAbsentByte);
              copy_samples(in, job, valid, to + (valid.x0 - all.x0) + (valid.y0 - all.y0) * pitch,
                           1, pitch);
              CUDASCAN_FASTEST(kSquareLoops)
                  .bytes({to + ry * pitch + rx, memory + bytes, pixels.width(), pixels.height(),
                          valid != all, out.row(pixels.y0) + pixels.x0, out.stride},
                         window, job);
            });
}

/// Sorts the samples of a tile that are in some window, by the lower byte, then by the upper one.
/// @param reach  columns of these samples in each row
int sort(const std::uint16_t *samples, std::ptrdiff_t pitch, const TileBox &box,
         const std::vector<std::pair<int, int>> &reach, std::uint32_t *half_sorted,
         std::uint32_t *order) {
  DigitPlaces next;
  const auto for_samples = [&](const auto &visit) {
    for (int y = box.y0; y < box.y1; ++y) {
      const int end = std::min(box.x1, reach[y].second);
      for (int x = std::max(box.x0, reach[y].first); x < end; ++x) visit(x, y);
    }
  };
  int n = 0;
  for_samples([&](int x, int y) { next.count(samples[y * pitch + x]), ++n; });
  next.begin();
  for_samples([&](int x, int y) {
    half_sorted[next.lower[samples[y * pitch + x] & 255]++] =
        static_cast<std::uint32_t>(y << 16 | x);
  });
  for (int i = 0; i < n; ++i) {
    const std::uint32_t at = half_sorted[i];
    order[next.upper[samples[(at >> 16) * pitch + (at & 0xffff)] >> 8]++] = at;
  }
  return n;
}

void ask_tiles_of(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
                  const FilterJob &job, const TileBox &area) {
  constexpr int kMost = 64;
  const Mask &mask = job.mask();
  const int rx = mask.rx(), ry = mask.ry();
  const int width = up_to_multiple(std::min(kMost, area.width()), kSquare);
  const int height = up_to_multiple(std::min(kMost, area.height()), kSquare);
  const int rows = height + 2 * ry;
  const int pitch = up_to_multiple(width + 2 * rx, kTileLine / 2) + kTileLine / 2;
  const bool is_mode = job.op == SwoFilterOperator::mode;
  const SortedSquares window(mask, is_mode, pitch);
  const bool has_codes = is_mode && !window.steps.common.empty();
  std::vector<std::pair<int, int>> reach(rows, {1 << 20, 0});
  for (const Run &run : mask.runs())
    for (int y = run.y + ry; y < run.y + ry + height; ++y)
      reach[y] = {std::min(reach[y].first, run.first + rx),
                  std::max(reach[y].second, run.last + rx + width)};
  const std::size_t samples = std::size_t(pitch) * rows;
  const std::size_t squares = std::size_t(width / kSquare) * (height / kSquare);
  const std::size_t sizes[] = {samples * 2,
                               samples * 4,
                               samples * 4,
                               squares * (window.pixels.size() + 1) * 4,
                               has_codes ? samples * 4 : 0,
                               has_codes ? samples * 2 : 0,
                               has_codes ? std::size_t{3 * 65536} : 0};
  std::size_t places[std::size(sizes)], bytes = 0;
  for (std::size_t i = 0; i < std::size(sizes); ++i)
    places[i] = bytes, bytes += up_to_multiple<std::size_t>(sizes[i], kTileLine);
  for_tiles(cpu, area, width, height, bytes, [&](const TileBox &pixels, unsigned char *memory) {
    const auto words = [&](int i) { return reinterpret_cast<std::uint32_t *>(memory + places[i]); };
    const auto to = reinterpret_cast<std::uint16_t *>(memory + places[0]);
    const TileBox all = samples_of(pixels, mask);
    TileBox valid = present(all, in.width, in.height, job);
    const bool is_clipped = valid != all;
    copy_samples(in, job, valid, to + (valid.x0 - all.x0) + (valid.y0 - all.y0) * pitch, 1, pitch);
    valid = {valid.x0 - all.x0, valid.x1 - all.x0, valid.y0 - all.y0, valid.y1 - all.y0};
    const int n = sort(to, pitch, valid, reach, words(1), words(2));
    const std::ptrdiff_t middle = ry * pitch + rx;
    if (has_codes) std::fill_n(words(4), samples, 65536u);
    CUDASCAN_FASTEST(kSquareLoops)
        .sorted({to + middle, words(2), n, words(3), has_codes ? words(4) + middle : nullptr,
                 reinterpret_cast<std::uint16_t *>(words(5)), words(6), pixels.width(),
                 pixels.height(), is_clipped, out.row(pixels.y0) + pixels.x0, out.stride / 2},
                window, job);
  });
}

}  // namespace

template <typename T>
bool has_squares(const FilterJob &job) {
  const Mask &mask = job.mask();
  if (!CUDASCAN_FASTEST(kSquareLoops).bytes || mask.rectangle) return false;
  // A histogram that slides takes time for runs, squares for the length of the border.
  const std::size_t runs = std::min(mask.runs().size(), mask.transposed().runs().size());
  const int length = mask.width + mask.height;
  if (5 * static_cast<int>(runs) < length) return false;
  const bool is_mode = job.op == SwoFilterOperator::mode;
  const bool is_followed =
      is_mode ? mask == Mask::make_ellipse(mask.width, mask.height) : has_followed_shape(mask);
  if (sizeof(T) > 1)
    return !is_followed && !mask.is_cross() && !(is_mode && mask.count() > kMostModeCells);
  if (is_mode || !is_followed) return true;
  const bool is_mean = job.op == SwoFilterOperator::alpha_trimmed_mean;
  return (is_mean && length < kMostMeanLength) || !can_follow<T>(job);
}
template bool has_squares<std::uint8_t>(const FilterJob &);
template bool has_squares<std::uint16_t>(const FilterJob &);

template <typename T>
void ask_squares(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job, int x0, int x1,
                 int y0, int y1) {
  if (x0 < x1 && y0 < y1) ask_tiles_of(cpu, in, out, job, {x0, x1, y0, y1});
}
template void ask_squares(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                          int, int, int, int);
template void ask_squares(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                          const FilterJob &, int, int, int, int);

}  // namespace cudascan::swo
