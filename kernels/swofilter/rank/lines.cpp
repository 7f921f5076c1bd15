// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/lines.h"

#include <algorithm>

#include "kernels/swofilter/scratch.h"

namespace cudascan::swo {

template <typename T>
void ask_lines(const Area<T> &area, int rx, int ry) {
  const int width = area.x1 - area.x0, height = area.y1 - area.y0;
  if (width <= 0 || height <= 0) return;
  ThreadScratch &scratch = ThreadScratch::of_thread();
  const auto take = [&] {
    const std::size_t stride = ThreadScratch::stride<T>(width);
    return Strided<T>(Plane<T>{scratch.take<T>(stride * height), width, height,
                               static_cast<std::ptrdiff_t>(stride * sizeof(T))});
  };
  LinePass<T> pass{area.in, area.left + area.x0, area.top + area.y0, width, height, take(), take()};
  pass.first = true;
  pass.reach = ry;
  rank_loops<T>().line_medians(pass);
  pass.first = false;
  pass.reach = std::min(rx, ry);
  for (pass.step = -1; pass.step <= 1; pass.step += 2) rank_loops<T>().line_medians(pass);
  rank_loops<T>().line_medians({area.in.transposed(), pass.top, pass.left, height, width,
                                pass.lowest.transposed(), pass.highest.transposed(), 0, rx, false});
  for (int y = 0; y < height; ++y) {
    const T *const in = area.in.row(y + pass.top) + pass.left * area.in.dx;
    T *const out = area.out.row(y + area.y0) + area.x0 * area.out.dx;
    const T *const low = pass.lowest.row(y), *const high = pass.highest.row(y);
    for (int x = 0; x < width; ++x)
      out[x * area.out.dx] = std::clamp(in[x * area.in.dx], low[x], high[x]);
  }
}

template void ask_lines(const Area<std::uint8_t> &, int rx, int ry);
template void ask_lines(const Area<std::uint16_t> &, int rx, int ry);

}  // namespace cudascan::swo
