// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/nick/naive.h"

#include <algorithm>
#include <atomic>

namespace cudascan::nick {

template <typename T, typename Out>
std::int64_t run_serial(Cpu &cpu, Plane<const T> in, Plane<Out> out, const NickParams &params) {
  Formula f = make_formula(params, in.maximum);
  const int rx = window_width(params) / 2, ry = window_height(params) / 2;
  if (params.method == NickMethod::wolf) {
    f.minimum = in.row(0)[0];
    f.busiest = sum_window(in, 0, 0, rx, ry);
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) {
        f.minimum = std::min<std::uint32_t>(f.minimum, in.row(y)[x]);
        const WindowSums w = sum_window(in, x, y, rx, ry);
        if (busier(w, f.busiest)) f.busiest = w;
      }
  }
  const Out black = params.invert ? out.maximum : 0, white = params.invert ? 0 : out.maximum;
  std::atomic<std::int64_t> zeros = 0;
  cpu.for_bands(in.height, 1, [&](int begin, int end) {
    std::int64_t n = 0;
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < in.width; ++x) {
        const WindowSums w = sum_window(in, x, y, rx, ry);
        const Out p = result(in.row(y)[x], w, f, params.output, black, white);
        out.row(y)[x] = p;
        n += p == 0;
      }
    zeros += n;
  });
  return zeros;
}

using std::uint16_t, std::uint8_t;
template std::int64_t run_serial(Cpu &, Plane<const uint8_t>, Plane<uint8_t>, const NickParams &);
template std::int64_t run_serial(Cpu &, Plane<const uint16_t>, Plane<uint16_t>, const NickParams &);
template std::int64_t run_serial(Cpu &, Plane<const uint16_t>, Plane<uint8_t>, const NickParams &);

}  // namespace cudascan::nick
