// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>

#include "kernels/nick.h"
#include "kernels/nick_baseline.h"

namespace cudascan {
namespace {
template <typename T, typename Out>
void run_all(Cpu &cpu, Plane<const T> in, Plane<Out> out, const NickParams &p, NickReport *report) {
  nick::check_call(p, in.width, in.height, out.width, out.height, sizeof(T) == sizeof(Out));
  nick::Formula f = nick::make_formula(p, in.maximum);
  const int rx = nick::window_width(p) / 2, ry = nick::window_height(p) / 2;
  if (p.method == NickMethod::wolf) {
    f.minimum = in.maximum;
    f.busiest = {0, 0, 1};
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) {
        f.minimum = std::min<std::uint32_t>(f.minimum, in.row(y)[x]);
        const auto w = nick::sum_window(in, x, y, rx, ry);
        if (nick::busier(w, f.busiest)) f.busiest = w;
      }
  }
  const Out white = p.invert ? 0 : out.maximum, black = p.invert ? out.maximum : 0;
  std::atomic<std::int64_t> blacks = 0;
  cpu.for_bands(in.height, 1, [&](int y0, int y1) {
    for (int y = y0; y < y1; ++y)
      for (int x = 0; x < in.width; ++x)
        if ((out.row(y)[x] = nick::result(in.row(y)[x], nick::sum_window(in, x, y, rx, ry), f,
                                          p.output, black, white)) == 0)
          ++blacks;
  });
  if (report)
    report->black_ratio =
        p.output == NickOutput::binary ? double(blacks) / in.width / in.height : 0;
}
}  // namespace

void run(Cpu &c, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}
void run(Cpu &c, Plane<const std::uint16_t> in, Plane<std::uint16_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}
void run(Cpu &c, Plane<const std::uint16_t> in, Plane<std::uint8_t> out, const NickParams &p,
         NickReport *r) {
  run_all(c, in, out, p, r);
}

}  // namespace cudascan
