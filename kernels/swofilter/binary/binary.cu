// SPDX-License-Identifier: LGPL-2.1-or-later
// Thinning packs the image, thins it in one launch and unpacks it. hit-or-miss needs one launch for
// small masks, and one launch per plane for others.
#include "kernels/swofilter/binary/binary.h"

#include <algorithm>
#include <cstring>

#include "kernels/base/launch.cuh"
#include "kernels/swofilter/binary/patterns.cuh"
#include "kernels/swofilter/binary/thinning.cuh"

namespace cudascan::swo {
namespace {

using packed::Bits;
using packed::Meaning;
using packed::WordThreads;

/// @param left, top  word and row of the image for the first bits; may be outside
template <typename T>
__global__ void __launch_bounds__(WordThreads::kThreads)
    pack_kernel(Plane<const T> in, Bits to, const __grid_constant__ Meaning meaning, int left,
                int top) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const int column = WordThreads::column(), row = WordThreads::row();
  if (column < to.columns && row < to.rows)
    *to.at(column, row) =
        packed::pack_word(in, (left + column) * packed::kBits, top + row, meaning);
}

template <typename Out>
__global__ void __launch_bounds__(WordThreads::kThreads)
    unpack_kernel(Bits even, Bits odd, const thinning::Result *result, Plane<Out> out,
                  bool inverted) {
  wait_for_kernels_before();
  let_next_kernel_start();
  const int column = WordThreads::column(), row = WordThreads::row();
  if (column >= even.columns || row >= out.height) return;
  const unsigned bits = result->buffer == 0 ? *even.at(column, row) : *odd.at(column, row);
  packed::unpack_word(inverted ? ~bits : bits, out, column * packed::kBits, row);
}

/// Words that are passed to the device as kernel arguments, which a graph stores.
struct Chunk {
  static constexpr int kMost = 960;
  int count;
  unsigned words[kMost];
};

__global__ void upload_kernel(const __grid_constant__ Chunk chunk, unsigned *to) {
  for (int i = threadIdx.x; i < chunk.count; i += blockDim.x) to[i] = chunk.words[i];
}

/// Queues a copy of a few elements to device memory.
template <typename Element>
void upload(Cuda &cuda, const std::vector<Element> &elements, Element *to) {
  static_assert(sizeof(Element) == sizeof(unsigned));
  for (std::size_t i = 0; i < elements.size(); i += Chunk::kMost) {
    Chunk chunk{};
    chunk.count = static_cast<int>(std::min<std::size_t>(elements.size() - i, Chunk::kMost));
    std::memcpy(chunk.words, &elements[i], chunk.count * sizeof(Element));
    launch(cuda, upload_kernel, {1, 256}, chunk, reinterpret_cast<unsigned *>(to + i));
  }
}

/// Allocates parts of an executor's scratch memory. All sizes are added up first.
class Layout {
 public:
  /// Returns the start of a part.
  std::size_t add(std::size_t bytes) {
    const std::size_t begin = bytes_;
    bytes_ += (bytes + 255) / 256 * 256;
    return begin;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// A launch after which the next one may start early.
LaunchShape overlapped(Cuda &cuda, dim3 blocks, int threads) {
  LaunchShape shape{blocks, threads};
  shape.overlap = cuda.code_architecture() >= 90;
  return shape;
}

template <typename T>
void queue_pack(Cuda &cuda, Plane<const T> in, const Bits &to, const Meaning &meaning, int left,
                int top) {
  launch(cuda, pack_kernel<T>,
         overlapped(cuda, WordThreads::blocks(to.columns, to.rows), WordThreads::kThreads), in, to,
         meaning, left, top);
}

template <typename T>
Meaning meaning_of(const FilterJob &job) {
  return {static_cast<T>(~0u << job.shift), job.border, false, false};
}

// ---- Thinning
// ------------------------------------------------------------------------------------

/// The tile size with the lowest estimated time per step. The costs are in clock cycles: for blocks
/// that wait for one another and for memory, for threads of a block that wait in each step, and for
/// each thread when most of them are idle.
thinning::Tiling choose_tiling(const Bits &image, int blocks) {
  using thinning::Tiling;
  constexpr double kRound = 6000, kStep = 300, kThread = 0.8;
  constexpr int kRows = Tiling::kRows;
  const auto parts = [](int n, int each) { return (n + each - 1) / each; };
  Tiling best{};
  double least = 0;
  for (int steps = 8; steps <= Tiling::kMostSteps; steps += 8)
    for (int columns = 1; columns <= std::min(image.columns, 62); ++columns) {
      if (columns > 1 && parts(image.columns, columns) == parts(image.columns, columns - 1))
        continue;
      const int most_rows = (Tiling::kMostThreads / (columns + 2)) * kRows - 2 * steps;
      if (most_rows < steps) continue;
      const int across = parts(image.columns, columns);
      // As few blocks as necessary, and then as many rows of tiles as these can process.
      const int turns = parts(across * parts(image.rows, most_rows), blocks);
      const int down = std::max(turns * blocks / across, 1);
      const int rows = std::clamp(parts(parts(image.rows, down), kRows) * kRows, steps, most_rows);
      Tiling t{columns, rows, steps, across, parts(image.rows, rows), 0};
      t.threads = parts((columns + 2) * t.groups(), 32) * 32;
      const double cost = kRound / steps + parts(t.tiles(), blocks) * (kStep + kThread * t.threads);
      if (least > 0 && cost >= least) continue;
      least = cost;
      best = t;
    }
  return best;
}

void queue_thin(Cuda &cuda, const thinning::ThinJob &job) {
  using Method = SwoFilterThinning;
  const auto kernel =
      job.schedule.method == Method::zhang_suen ? thinning::thin_kernel<Method::zhang_suen>
      : job.schedule.method == Method::guo_hall ? thinning::thin_kernel<Method::guo_hall>
                                                : thinning::thin_kernel<Method::templates>;
  LaunchShape shape =
      overlapped(cuda, std::min(job.tiling.tiles(), cuda.multiprocessors()), job.tiling.threads);
  shape.shared = thinning::TileMemory::kBytes;
  shape.together = true;
  launch(cuda, kernel, shape, job);
}

template <typename T, typename Out>
void thin(Cuda &cuda, Plane<const T> in, Plane<Out> out, const FilterJob &job,
          SwoFilterReport *report) {
  const std::vector<thinning::Template> templates = thinning::make_templates(job.masks);
  thinning::ThinJob thinning{};
  Bits &even = thinning.buffers[0], &odd = thinning.buffers[1];
  even = odd = Bits::of(packed::words_of(in.width), in.height);
  thinning.tiling = choose_tiling(even, cuda.multiprocessors());
  thinning.schedule = thinning::Schedule::of(job, templates.size());

  Layout layout;
  const std::size_t result_at = layout.add(sizeof(thinning::Result));
  const std::size_t templates_at = layout.add(templates.size() * sizeof(thinning::Template));
  const std::size_t last_bytes = thinning.tiling.tiles() * sizeof(std::int64_t);
  const std::size_t last_at[2] = {layout.add(last_bytes), layout.add(last_bytes)};
  const std::size_t bits_at[2] = {layout.add(even.bytes()), layout.add(even.bytes())};
  auto *const memory = static_cast<unsigned char *>(cuda.scratch(layout.bytes()));
  thinning.result = reinterpret_cast<thinning::Result *>(memory + result_at);
  auto *const device_templates = reinterpret_cast<thinning::Template *>(memory + templates_at);
  thinning.templates = device_templates;
  for (int i = 0; i < 2; ++i) {
    thinning.last[i] = reinterpret_cast<std::int64_t *>(memory + last_at[i]);
    thinning.buffers[i].words = reinterpret_cast<unsigned *>(memory + bits_at[i]);
  }
  static const char key = 0;
  thinning.barrier = static_cast<unsigned *>(cuda.history(&key, sizeof(unsigned)));

  if (job.thinning == SwoFilterThinning::templates) upload(cuda, templates, device_templates);
  Meaning meaning = meaning_of<T>(job);
  meaning.border = SwoFilterBorder::constant;
  meaning.inverted = job.op == SwoFilterOperator::thicken;
  queue_pack(cuda, in, even, meaning, 0, 0);
  queue_thin(cuda, thinning);
  launch(cuda, unpack_kernel<Out>,
         overlapped(cuda, WordThreads::blocks(even.columns, in.height), WordThreads::kThreads),
         even, odd, thinning.result, out, meaning.inverted);
  if (!report) return;
  auto *const result =
      static_cast<thinning::Result *>(cuda.report_memory(sizeof(thinning::Result)));
  cuda.fetch(result, thinning.result, sizeof *result);
  cuda.on_complete([=] { report->iterations = static_cast<int>(result->passes); });
}

// ---- Hit-or-miss
// ---------------------------------------------------------------------------------

template <typename T, typename Out>
void match_small(Cuda &cuda, Plane<const T> in, Plane<Out> out, const FilterJob &job,
                 const patterns::SmallMasks &masks) {
  Meaning meaning = meaning_of<T>(job);
  meaning.outside = job.border == SwoFilterBorder::constant && job.outside != 0;
  using Tile = patterns::SmallTile<T>;
  launch(cuda, patterns::match_small_kernel<T, Out>,
         overlapped(cuda, Tile::blocks(in.width, in.height), 32 * Tile::kWarps), in, out, meaning,
         masks);
}

/// Processes one slab of rows after another, so that the planes need limited memory.
template <typename T, typename Out>
void match(Cuda &cuda, Plane<const T> in, Plane<Out> out, const FilterJob &job) {
  using patterns::Plan;
  const Plan plan = patterns::make_plan(job.masks);
  const int margin = packed::words_of(plan.rx);
  const int columns = margin + packed::words_of(in.width) + margin;
  constexpr std::size_t kMostBytes = 128 << 20;
  const auto most_rows =
      static_cast<int>(kMostBytes / sizeof(unsigned) / plan.planes() / columns) - 2 * plan.ry;
  const int slab = std::min(std::max(most_rows, 4 * plan.ry + 64), in.height);
  const Bits shape = Bits::of(columns, slab + 2 * plan.ry);

  Layout layout;
  const std::size_t probes_at = layout.add(plan.probes.size() * sizeof(patterns::Probe));
  const std::size_t planes_at = layout.add(plan.planes() * shape.bytes());
  auto *const memory = static_cast<unsigned char *>(cuda.scratch(layout.bytes()));
  auto *const probes = reinterpret_cast<patterns::Probe *>(memory + probes_at);
  upload(cuda, plan.probes, probes);
  const auto plane = [&](int i) {
    Bits bits = shape;
    bits.words = reinterpret_cast<unsigned *>(memory + planes_at + i * shape.bytes());
    return bits;
  };
  const auto shape_of = [&](int columns, int rows) {
    return overlapped(cuda, WordThreads::blocks(columns, rows), WordThreads::kThreads);
  };
  for (int first = 0; first < in.height; first += slab) {
    for (const int i : {Plan::kWhite, Plan::kBlack}) {
      if (i == Plan::kBlack && !plan.asks_for_black) continue;
      Meaning meaning = meaning_of<T>(job);
      meaning.outside = patterns::outside_of(job, i);
      meaning.inverted = i == Plan::kBlack;
      queue_pack(cuda, in, plane(i), meaning, -margin, first - plan.ry);
    }
    int made = 2;
    for (const patterns::Doubling &d : plan.doublings)
      launch(cuda, patterns::double_kernel, shape_of(shape.columns, shape.rows), plane(d.from),
             plane(made++), d.x, d.y);
    const int rows = std::min(slab, in.height - first);
    const patterns::MatchJob match{
        plane(0), probes, static_cast<int>(plan.probes.size()), margin, plan.ry, first, rows};
    launch(cuda, patterns::match_kernel<Out>, shape_of(packed::words_of(in.width), rows), match,
           out);
  }
}

}  // namespace

template <typename T, typename Out>
void binary(Cuda &cuda, Plane<const T> in, Plane<Out> out, const FilterJob &job,
            SwoFilterReport *report) {
  patterns::SmallMasks masks;
  if (job.op != SwoFilterOperator::hit_or_miss)
    thin(cuda, in, out, job, report);
  else if (patterns::are_small(job.masks, masks))
    match_small(cuda, in, out, job, masks);
  else
    match(cuda, in, out, job);
}
template void binary(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                     SwoFilterReport *);
template void binary(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &,
                     SwoFilterReport *);
template void binary(Cuda &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const FilterJob &,
                     SwoFilterReport *);

}  // namespace cudascan::swo
