// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/lines.h"

#include <algorithm>

#include "kernels/swofilter/rank/line_bands.cuh"
#include "kernels/swofilter/rank/line_network.cuh"

namespace cudascan::swo {
namespace {

template <typename T>
class LineMedians {
 public:
  LineMedians(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job)
      : cuda_(cuda),
        in_(in, job),
        out_(out),
        reach_{job.mask().rx(), job.mask().ry(), std::min(job.mask().rx(), job.mask().ry())} {}

  void operator()() {
    switch (const int reach = std::max(reach_.row, reach_.column)) {
      case 0:
      case 1:
        return network<1>();
      case 2:
        return network<2>();
      case 3:
        return network<3>();
      case 4:
        return network<4>();
      default:
        for_line_bands(cuda_, in_, out_, reach_, divide_up(reach, kLineTile), kLines - 1,
                       [&](const LineBitsJob<T> &job) { band(job); });
    }
  }

 private:
  template <int r>
  void network() {
    const dim3 blocks(divide_up(out_.width, kLineTileWidth),
                      divide_up(out_.height, kLineTileHeight));
    launch(cuda_, line_network_kernel<T, r>, {blocks, kLineNetworkThreads},
           LineNetworkJob<T>{in_, out_, reach_});
  }

  void band(const LineBitsJob<T> &job) {
    const LineBits<T> &bits = job.bits;
    const LaunchShape shape{
        dim3(divide_up(out_.width, kLineTile), divide_up(bits.row_count, kLineTile)),
        kLineMediansThreads};
    switch (bits.side_words) {
      case 1:
        return launch(cuda_, line_medians_kernel<T, 1>, shape, job);
      case 2:
        return launch(cuda_, line_medians_kernel<T, 2>, shape, job);
      case 3:
        return launch(cuda_, line_medians_kernel<T, 3>, shape, job);
      default:
        return launch(cuda_, line_medians_kernel<T, 4>, shape, job);
    }
  }

  Cuda &cuda_;
  const Source<T> in_;
  const Plane<T> out_;
  const LineReach reach_;
};

}  // namespace

template <typename T>
void ask_lines(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  LineMedians<T>(cuda, in, out, job)();
}

template void ask_lines(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void ask_lines(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                        const FilterJob &);

}  // namespace cudascan::swo
