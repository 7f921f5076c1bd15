// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/lines.h"

#include <algorithm>

#include "kernels/swofilter/scratch.h"

namespace cudascan::swo {

/// @param pitch  samples from row to row
template <typename T>
void transpose(const T *from, std::ptrdiff_t pitch, T *to, std::ptrdiff_t to_pitch, int width,
               int height) {
  constexpr int kTile = 16;
  for (int left = 0; left < width; left += kTile)
    for (int y = 0; y < height; ++y)
      for (int x = left; x < std::min(left + kTile, width); ++x)
        to[x * to_pitch + y] = from[y * pitch + x];
}

/// Medians along rows. Some rows at a time are transposed: they become neighbouring columns.
/// @param samples, medians  memory for these columns
template <typename T>
void row_medians(const LinePass<T> &pass, T *samples, T *medians) {
  constexpr int kRows = AlignedMemory::kAlignment / sizeof(T);
  constexpr auto kStride = static_cast<std::ptrdiff_t>(AlignedMemory::kAlignment);
  const int first = std::max(pass.left - pass.reach, 0),
            last = std::min(pass.left + pass.width + pass.reach, pass.in.width);
  const Strided<T> out(Plane<T>{medians, kRows, pass.width, kStride});
  const Strided<const T> in(Plane<const T>{samples, kRows, last - first, kStride});
  for (int y = 0; y < pass.height; y += kRows) {
    const int rows = std::min(kRows, pass.height - y);
    transpose(pass.in.row(pass.top + y) + first, pass.in.dy, samples, kRows, last - first, rows);
    rank_loops<T>().line_medians(
        {in, 0, pass.left - first, kRows, pass.width, out, out, 0, pass.reach, true});
    for (const Strided<T> &to : {pass.lowest, pass.highest})
      transpose(medians, kRows, to.row(y), to.dy, rows, pass.width);
  }
}

template <typename T>
void ask_lines(const Area<T> &area, int rx, int ry) {
  const int width = area.x1 - area.x0, height = area.y1 - area.y0;
  if (width <= 0 || height <= 0) return;
  if (std::min(rx, ry) == 0) {  // lines of one sample leave it as it is
    for (int y = area.y0; y < area.y1; ++y)
      std::copy_n(area.in.row(y + area.top) + area.left + area.x0, width,
                  area.out.row(y) + area.x0);
    return;
  }
  ThreadScratch &scratch = ThreadScratch::of_thread();
  const auto take = [&] {
    const std::size_t stride = ThreadScratch::stride<T>(width);
    return Strided<T>(Plane<T>{scratch.take<T>(stride * height), width, height,
                               static_cast<std::ptrdiff_t>(stride * sizeof(T))});
  };
  LinePass<T> pass{area.in, area.left + area.x0, area.top + area.y0, width, height, take(), take()};
  pass.first = true;
  pass.reach = rx;
  const auto n = static_cast<std::size_t>(width + 2 * rx);
  row_medians(pass, scratch.take<T>(n * AlignedMemory::kAlignment),
              scratch.take<T>(n * AlignedMemory::kAlignment));
  pass.first = false;
  pass.reach = ry;
  rank_loops<T>().line_medians(pass);
  pass.reach = std::min(rx, ry);
  for (pass.step = -1; pass.step <= 1; pass.step += 2) rank_loops<T>().line_medians(pass);
  for (int y = 0; y < height; ++y) {
    const T *const in = area.in.row(y + pass.top) + pass.left;
    T *const out = area.out.row(y + area.y0) + area.x0;
    const T *const low = pass.lowest.row(y), *const high = pass.highest.row(y);
    for (int x = 0; x < width; ++x) out[x] = std::min(std::max(in[x], low[x]), high[x]);
  }
}

template void ask_lines(const Area<std::uint8_t> &, int rx, int ry);
template void ask_lines(const Area<std::uint16_t> &, int rx, int ry);

}  // namespace cudascan::swo
