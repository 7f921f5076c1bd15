// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/binarize/things.cuh"

#include "kernels/base/launch.cuh"

namespace cudascan::binarize {
namespace {

constexpr int kThreads = 128;

/// The pixel of a thread of a kernel with a thread for each pixel, whole words of bits in a row.
struct PixelPlace {
  int x = blockIdx.x * kThreads + threadIdx.x, y = blockIdx.y;
};

__device__ int darkness_below(int sample, int paper, int least_paper, int darkest) {
  const int level = max(paper, least_paper);
  return darkness(sample, level, darkness_factor(darkest, level, least_paper));
}

/// Dark enough for a margin, too; otherwise a dark pixel is 1.
constexpr std::uint16_t kMargin = 2;

__global__ void __launch_bounds__(kThreads) dark_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const PixelPlace at;
  if (!numbers.has_ink() || at.x >= planes.quarter.width) return;
  const int sample = static_cast<int>(
      upright(planes.quarter.row(at.y)[at.x], planes.page.inverted(), planes.page.maximum));
  const int far = darkness_below(sample, planes.widest_paper.row(at.y)[at.x],
                                 numbers.least_paper[kWidestPaper], planes.darkest);
  const int near = darkness_below(sample, planes.wide_paper.row(at.y)[at.x],
                                  numbers.least_paper[kWidePaper], planes.darkest);
  planes.darkness.row(at.y)[at.x] = far;
  planes.dark.row(at.y)[at.x] = is_dark_margin(far, numbers.ink_darkness, planes.darkest)
                                    ? kMargin
                                    : is_dark(far, numbers.ink_darkness);
  planes.thick.row(at.y)[at.x] = is_dark(near, numbers.ink_darkness);
}

/// Packs pixels into bits, and clears the counts of things.
/// @param opened  the opening of the dark pixels
__global__ void __launch_bounds__(kThreads)
    pack_kernel(const ThingPlanes planes, const SmallPlane dark, const SmallPlane opened) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  if (!numbers.has_ink()) return;
  const PixelPlace at;
  const bool inside = at.x < dark.width;
  bool is_thing = false, is_thick = false, is_edge = false, fades = false, is_opened = false;
  if (inside) {
    is_thing = dark.row(at.y)[at.x];
    is_opened = opened.row(at.y)[at.x] == kMargin;
    if (is_thing) {
      is_thick = planes.thick.row(at.y)[at.x];
      for (int y = max(at.y - 1, 0); y <= min(at.y + 1, dark.height - 1); ++y)
        for (int x = max(at.x - 1, 0); x <= min(at.x + 1, dark.width - 1); ++x)
          is_edge |= !dark.row(y)[x];
      fades = is_edge && is_soft(planes.step_high.row(at.y)[at.x] - planes.step_low.row(at.y)[at.x],
                                 numbers.ink_darkness);
    }
  }
  const std::uint32_t thing = __ballot_sync(~0u, is_thing), thick = __ballot_sync(~0u, is_thick),
                      edge = __ballot_sync(~0u, is_edge), soft = __ballot_sync(~0u, fades),
                      open = __ballot_sync(~0u, is_opened);
  const int i = at.x / 32, lane = at.x % 32;
  if ((thing & ~(thing << 1)) >> lane & 1) {  // a run begins
    const std::uint32_t node = planes.thing.node(i, at.y, lane);
    planes.edge_counts[node] = planes.soft_counts[node] = 0;
  }
  if (lane != 0 || !inside) return;
  planes.thing.bits.row(at.y)[i] = thing;
  planes.thick_bits.row(at.y)[i] = thick;
  planes.edge_bits.row(at.y)[i] = edge;
  planes.soft_bits.row(at.y)[i] = soft;
  planes.opened.bits.row(at.y)[i] = open;
}

/// The word of a thread, in kernels with a thread for each word, or some.
template <int threads = 1>
struct WordPlace {
  int i = (blockIdx.x * kThreads + threadIdx.x) / threads, y = blockIdx.y;
};

/// Marks thick things and what touches the edge of the image, and counts the pixels of edges.
__global__ void __launch_bounds__(kThreads) mark_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (!planes.page.numbers->has_ink()) return;
  const WordPlace<kThreadsOfWord> at;
  const DeviceBits &bits = planes.thing.bits;
  if (at.i >= bits.stride) return;
  std::uint32_t border = at.y == 0 || at.y == bits.height - 1 ? ~0u : 0;
  if (at.i == 0) border |= 1;
  if (at.i == bits.stride - 1) border |= 1u << (bits.width - 1) % 32;
  planes.opened.keep(planes.opened.bits.row(at.y)[at.i], border, at.i, at.y);

  const std::uint32_t thing = bits.row(at.y)[at.i], thick = planes.thick_bits.row(at.y)[at.i],
                      edge = planes.edge_bits.row(at.y)[at.i],
                      soft = planes.soft_bits.row(at.y)[at.i];
  planes.thing.keep(thing, thick, at.i, at.y);
  for_own_runs(thing, [&](const WordRun &run) {
    if ((run.bits & edge) == 0) return;
    const std::uint32_t root = planes.thing.forest.root(planes.thing.node(at.i, at.y, run.first));
    atomicAdd(&planes.edge_counts[root], static_cast<std::uint32_t>(__popc(run.bits & edge)));
    if (run.bits & soft)
      atomicAdd(&planes.soft_counts[root], static_cast<std::uint32_t>(__popc(run.bits & soft)));
  });
}

/// Leaves the things that become ink, and the margins.
__global__ void __launch_bounds__(kThreads) choose_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  if (!planes.page.numbers->has_ink()) return;
  const WordPlace<kThreadsOfWord> at;
  const DeviceBits &bits = planes.thing.bits;
  const std::uint32_t opened = planes.opened.bits.at(at.i, at.y);
  const std::uint32_t margin = bits_of_all(planes.opened.kept(opened, at.i, at.y));
  std::uint32_t ink = 0;
  for_own_runs(bits.at(at.i, at.y), [&](const WordRun &run) {
    const std::uint32_t root = planes.thing.forest.root(planes.thing.node(at.i, at.y, run.first));
    if (planes.thing.is_kept(root) && !fades(planes.soft_counts[root], planes.edge_counts[root]))
      ink |= run.bits;
  });
  ink = bits_of_all(ink);
  if (at.i >= bits.stride || threadIdx.x % kThreadsOfWord != 0) return;
  planes.opened.bits.row(at.y)[at.i] = margin;
  planes.thick_bits.row(at.y)[at.i] = ink;
}

/// The ones within `radius` of each bit of a word, along the row.
__device__ std::uint32_t smear(std::uint32_t left, std::uint32_t own, std::uint32_t right,
                               int radius) {
  std::uint32_t result = own;
  for (int k = 1; k <= radius; ++k)
    result |= __funnelshift_r(own, right, k) | __funnelshift_r(left, own, 32 - k);
  return result;
}

/// Dilates by a square.
__device__ std::uint32_t dilated(const DeviceBits &bits, int i, int y, int radius) {
  std::uint32_t left = 0, own = 0, right = 0;
  for (int k = -radius; k <= radius; ++k) {
    left |= bits.at(i - 1, y + k);
    own |= bits.at(i, y + k);
    right |= bits.at(i + 1, y + k);
  }
  return smear(left, own, right, radius) &
         (i == bits.stride - 1 && bits.width % 32 ? (1u << bits.width % 32) - 1 : ~0u);
}

__global__ void __launch_bounds__(kThreads) margin_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const Numbers &numbers = *planes.page.numbers;
  const WordPlace<> at;
  if (at.i >= planes.margin.stride) return;
  std::uint32_t margin = 0;
  if (numbers.has_ink()) {
    margin = dilated(planes.opened.bits, at.i, at.y, numbers.sizes.margin / 2);
    planes.thick_bits.row(at.y)[at.i] &= ~margin;
  }
  planes.margin.row(at.y)[at.i] = margin;
}

__global__ void __launch_bounds__(kThreads) near_kernel(const ThingPlanes planes) {
  let_next_kernel_start();
  wait_for_kernels_before();
  const WordPlace<> at;
  if (at.i >= planes.near.stride) return;
  planes.near.row(at.y)[at.i] =
      planes.page.numbers->has_ink() ? dilated(planes.thick_bits, at.i, at.y, 1) : 0;
}

}  // namespace

void queue_things(Cuda &cuda, const ThingPlanes &planes) {
  const SmallPlane &quarter = planes.quarter;
  const auto shape = [&](int columns) {
    LaunchShape s{dim3(divide_up(columns, kThreads), quarter.height), kThreads};
    s.overlap = cuda.code_architecture() >= 90;
    return s;
  };
  launch(cuda, dark_kernel, shape(quarter.width), planes);

  const StrokeSizes &sizes = planes.page.numbers->sizes;
  WindowJobs jobs{};
  jobs.page = planes.page;
  jobs.transposed = true;
  const auto add = [&](SmallPlane in, SmallPlane out, const int &window, bool largest) {
    jobs.add(in, out, RowWindow{&window, 1, largest});
  };
  add(planes.dark, planes.spare[0], sizes.core, false);
  add(planes.thick, planes.spare[1], sizes.core, false);
  add(planes.darkness, planes.spare[2], sizes.edge, true);
  add(planes.darkness, planes.spare[3], sizes.edge, false);
  queue_windows(cuda, jobs, kMostClosing, 1);
  jobs.n = 0;
  // The darkness is not needed any more: its plane takes the erosion.
  add(planes.spare[0], planes.darkness, sizes.core, false);
  add(planes.spare[1], planes.thick, sizes.core, false);
  add(planes.spare[2], planes.step_high, sizes.edge, true);
  add(planes.spare[3], planes.step_low, sizes.edge, false);
  queue_windows(cuda, jobs, kMostClosing, 1);
  jobs.n = 0;
  add(planes.darkness, planes.spare[0], sizes.core, true);
  queue_windows(cuda, jobs, kMostClosing, 1);
  jobs.n = 0;
  add(planes.spare[0], planes.darkness, sizes.core, true);
  queue_windows(cuda, jobs, kMostClosing, 1);

  const int stride = planes.thing.bits.stride;
  launch(cuda, pack_kernel, shape(32 * stride), planes, planes.dark, planes.darkness);
  queue_join(cuda, planes.page, planes.thing, &planes.opened, true);
  launch(cuda, mark_kernel, shape(kThreadsOfWord * stride), planes);
  launch(cuda, choose_kernel, shape(kThreadsOfWord * stride), planes);
  launch(cuda, margin_kernel, shape(stride), planes);
  launch(cuda, near_kernel, shape(stride), planes);
}

}  // namespace cudascan::binarize
