// SPDX-License-Identifier: LGPL-2.1-or-later
// Steep lines of the image, and of its transposed copy for flat ones, are opened by one launch for many
// directions (line_opening.cuh). Where there are several, each has a plane for its result; the best of
// these are found by a launch of its own.
#include "kernels/linearopen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cuda_check.cuh"
#include "kernels/launch.cuh"
#include "kernels/line_opening.cuh"
#include "kernels/linearopen_baseline.h"
#include "kernels/linearopen_fold.cuh"
#include "kernels/linearopen_spectrum.h"
#include "kernels/refuse.h"

namespace cudascan {
namespace {

using namespace linearopen;
using lines::Direction;

constexpr int kMostThreads = 384;
/// Planes of directions at once: they shall stay in the cache until the best are found.
constexpr std::size_t kPlanesBytes = std::size_t{48} << 20;

template <typename T, int words, bool shared>
__global__ void __launch_bounds__(kMostThreads, 2)
    open_kernel(const __grid_constant__ OpenJob<T> job) {
  const unsigned strips = job.strips, parts = job.cut.parts;
  const unsigned items = strips * parts * job.n_directions;
  unsigned *arrays = reinterpret_cast<unsigned *>(dynamic_shared_memory());
  if (!shared) arrays = job.arrays + blockIdx.x * (job.cut.bytes / sizeof(unsigned));
#pragma unroll 1
  for (unsigned i = blockIdx.x; i < items; i += gridDim.x) {
    Strip<T, words> strip(job, {i % strips, i / strips % parts, i / (strips * parts)}, arrays);
    if (!shared) __syncthreads();
    if (strip.begin()) strip.open();
    if (shared) break;
  }
}

constexpr int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

/// The cut that takes least time for n directions with so many lines at most, by the rows that
/// multiprocessors have to do.
template <typename T>
Cut best_cut(Cuda &cuda, int steps, int lines, int length, int n) {
  constexpr int kBlockReserve = 1024, kRegisters = 84;
  const int room = cuda.most_shared_memory();
  Cut best{};
  double least = 0;
  const auto cut_of = [&](int words, int parts) {
    Cut cut{words, parts, 0, 0, 0, true};
    const int rows =
        std::min(divide_up(steps, parts) + 2 * (length - 1) + kChunk, steps + (length - 1) / 2);
    const int together = 32 / words;
    cut.chunks = divide_up(divide_up(rows, kChunk), together) * together;
    const int wanted = cut.chunks * words;
    cut.threads = divide_up(divide_up(wanted, divide_up(wanted, kMostThreads)), 32) * 32;
    cut.bytes = sizeof(unsigned) * 2 * chunk_stride(words) * cut.chunks;
    if (needs_table(length))
      cut.bytes += 2 * table_words(words, cut.chunks, length) * sizeof(unsigned);
    return cut;
  };
  for (const int words : {32, 8}) {
    for (int parts = 1; parts <= 256 && parts <= steps; ++parts) {
      const Cut cut = cut_of(words, parts);
      if (static_cast<int>(cut.bytes) > room) continue;
      const int blocks = std::min({room / (static_cast<int>(cut.bytes) + kBlockReserve),
                                   65536 / (cut.threads * kRegisters), 2048 / cut.threads});
      const int at_once = std::max(blocks, 1) * cuda.multiprocessors();
      const double items = double(divide_up(lines, words * Packed<T>::kSamples)) * parts * n;
      const double busy = std::min(1.0, std::max(blocks, 1) * cut.threads / 640.0);
      const double time =
          std::ceil(items / at_once) * std::max(blocks, 1) * cut.chunks * words / busy;
      if (least == 0 || time < least) {
        least = time;
        best = cut;
      }
    }
  }
  if (least > 0) return best;
  best = cut_of(8, std::max(1, steps / (2 * length)));
  best.shared = false;
  return best;
}

/// Everything for one run().
template <typename Sample>
class Opening {
 public:
  using T = Ordered<Sample>;

  Opening(Cuda &cuda, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
          LinearOpenReport *report)
      : cuda_(cuda),
        params_(p),
        in_(bits(in)),
        out_(bits(out)),
        maximum_(in.maximum),
        report_(report),
        flip_(flip_of<T>(p.operation)),
        angles_(directions_of(p)) {
    for (std::size_t i = 0; i < angles_.size(); ++i) {
      const Direction d = Direction::of(angles_[i]);
      (transposed(d) ? flat_ : steep_).push_back({d, static_cast<int>(i)});
    }
  }

  void operator()() {
    const bool direct = angles_.size() == 1 && flat_.empty() && !is_difference(params_.operation) &&
                        params_.output == LinearOpenOutput::filtered &&
                        !apart(steep_[0].direction) && !(kFloat && report_);
    take_scratch(direct);
    if (report_) CUDA_CHECK(cudaMemsetAsync(sums_, 0, sums_bytes(), cuda_.stream()));
    if (direct) {
      open({in_, kFloat, flip_}, steep_, 0, 1, out_, 0, true);
    } else {
      if (converted_.data) prepare(converted_, false);
      if (!flat_.empty()) prepare(turned_, true);
      const Source upright =
          converted_.data ? Source{as_input(converted_), false, 0} : Source{in_, kFloat, flip_};
      fold_all(upright, steep_, upright_best_);
      fold_all({as_input(turned_), false, 0}, flat_, turned_best_);
      finish();
    }
    if (report_) queue_report();
  }

 private:
  static constexpr bool kFloat = std::is_same_v<Sample, float>;
  struct Numbered {
    Direction direction;
    int number;
  };
  struct Source {
    Plane<const T> plane;
    bool floats;
    T flip;
  };

  template <typename Any>
  static auto bits(Plane<Any> plane) {
    using Bits = std::conditional_t<std::is_const_v<Any>, const T, T>;
    return Plane<Bits>{reinterpret_cast<Bits *>(plane.data), plane.width, plane.height,
                       plane.stride};
  }
  static Plane<const T> as_input(Plane<T> plane) { return plane; }

  bool baseline() const { return params_.algorithm != LinearOpenAlgorithm::automatic; }
  bool invariant(const Direction &d) const {
    return params_.lines == LinearOpenLines::invariant && d.slope != 0 &&
           d.slope != 1 << Direction::kFraction;
  }
  bool apart(const Direction &d) const { return baseline() || invariant(d); }
  bool transposed(const Direction &d) const { return !d.steep && !baseline(); }

  // ---- Memory ------------------------------------------------------------------------------------

  static std::size_t stride_of(int width) { return (width * sizeof(T) + 255) / 256 * 256; }
  static std::size_t number_stride_of(int width) {
    return (width * sizeof(std::uint16_t) + 255) / 256 * 256;
  }
  static std::size_t plane_bytes(int width, int height) { return stride_of(width) * height; }
  static Plane<T> plane_at(unsigned char *memory, int width, int height) {
    return {reinterpret_cast<T *>(memory), width, height,
            static_cast<std::ptrdiff_t>(stride_of(width))};
  }
  std::size_t sums_bytes() const { return (angles_.size() + 1) * sizeof(std::uint64_t); }

  /// Directions whose planes there is room for.
  int batch(int width, int height) const {
    const std::size_t n = kPlanesBytes / plane_bytes(width, height);
    return static_cast<int>(std::clamp<std::size_t>(n, 4, OpenJob<T>::kMostDirections));
  }

  void take_scratch(bool direct) {
    const int width = in_.width, height = in_.height;
    std::size_t bytes = 0;
    std::vector<std::pair<unsigned char **, std::size_t>> parts;
    const auto want = [&](unsigned char *&at, std::size_t n) {
      parts.push_back({&at, bytes});
      bytes += (n + 255) / 256 * 256;
    };
    unsigned char *sums = nullptr, *converted = nullptr, *turned = nullptr, *best[2]{};
    want(sums, sums_bytes());
    const int steep = static_cast<int>(steep_.size()), flat = static_cast<int>(flat_.size());
    std::size_t planes = 0, arrays = 0;
    const auto add = [&](const std::vector<Numbered> &directions, int w, int h,
                         unsigned char *&at) {
      if (directions.empty()) return;
      const int n = std::min(static_cast<int>(directions.size()), batch(w, h));
      planes = std::max(planes, n * plane_bytes(w, h));
      want(at, plane_bytes(w, h) + number_stride_of(w) * h);
      for (const Numbered &d : directions) {
        if (baseline())
          arrays = std::max(arrays, open_lines_scratch(cuda_, params_.algorithm, d.direction,
                                                       params_.length, width, height, sizeof(T)));
        else if (invariant(d.direction))
          arrays = std::max(arrays, plane_bytes(w, h));
      }
    };
    if (!direct) {
      add(steep_, width, height, best[0]);
      add(flat_, height, width, best[1]);
      if (baseline() && (kFloat || flip_ != 0)) want(converted, plane_bytes(width, height));
      if (flat > 0) want(turned, plane_bytes(height, width));
    }
    if (steep > 0) arrays = std::max(arrays, device_arrays(height, width, steep_));
    if (flat > 0) arrays = std::max(arrays, device_arrays(width, height, flat_));
    want(planes_, planes);
    want(arrays_, arrays);
    auto *const memory = static_cast<unsigned char *>(cuda_.scratch(bytes));
    for (const auto &[at, offset] : parts) *at = memory + offset;
    sums_ = reinterpret_cast<std::uint64_t *>(sums);
    if (converted) converted_ = plane_at(converted, width, height);
    if (turned) turned_ = plane_at(turned, height, width);
    upright_best_ = best_at(best[0], width, height);
    turned_best_ = best_at(best[1], height, width);
  }
  static Best<T> best_at(unsigned char *memory, int width, int height) {
    if (!memory) return {};
    Best<T> best{plane_at(memory, width, height), {}};
    best.number = {reinterpret_cast<std::uint16_t *>(memory + plane_bytes(width, height)), width,
                   height, static_cast<std::ptrdiff_t>(number_stride_of(width))};
    return best;
  }

  /// A segment that is everywhere longer than the image does what one of this length does.
  int length_for(int steps) const { return std::min(params_.length, 2 * steps + 1); }

  /// Lines of a direction, at most.
  static int most_lines(int steps, int across, const std::vector<Numbered> &directions) {
    int lines = 0;
    for (const Numbered &d : directions) {
      Direction steep = d.direction;
      steep.steep = true;
      lines = std::max(lines, lines::Partition::of(steep, across, steps).count);
    }
    return lines;
  }
  /// Looked for once.
  const Cut &cut_for(int steps, int across, const std::vector<Numbered> &directions) {
    Cut &cut = &directions == &flat_ ? flat_cut_ : steep_cut_;
    if (cut.words != 0) return cut;
    const int n = std::min(static_cast<int>(directions.size()), batch(across, steps));
    cut = best_cut<T>(cuda_, steps, most_lines(steps, across, directions), length_for(steps), n);
    return cut;
  }
  std::size_t device_arrays(int steps, int across, const std::vector<Numbered> &directions) {
    const Cut &cut = cut_for(steps, across, directions);
    return cut.shared ? 0 : cut.bytes * 2 * cuda_.multiprocessors();
  }

  // ---- Work --------------------------------------------------------------------------------------

  /// Ordered integers, those of a closing complemented.
  void prepare(Plane<T> to, bool transposed) {
    launch_over(transposed ? prepare_kernel<T, true> : prepare_kernel<T, false>, in_,
                PrepareJob<T>{in_, to, kFloat, flip_});
  }

  template <typename Job>
  void launch_over(void (*kernel)(Job), const Plane<const T> &plane, const Job &job) {
    const dim3 blocks(divide_up(plane.width, kTile), divide_up(plane.height, kTile));
    launch(kernel, {blocks, dim3(kTile, kTileRows)}, cuda_.stream(), job);
  }

  /// Opens along steep lines of a source, n directions from `first` on.
  void open(const Source &source, const std::vector<Numbered> &directions, int first, int n,
            Plane<T> out, std::size_t out_bytes, bool restore) {
    const int steps = source.plane.height, across = source.plane.width;
    OpenJob<T> job{};
    job.in = source.plane;
    job.floats = source.floats;
    job.flip = source.flip ? ~0u : 0;
    job.out = out;
    job.out_bytes = out_bytes;
    job.restore = restore;
    job.length = length_for(steps);
    job.cut = cut_for(steps, across, directions);
    job.arrays = reinterpret_cast<unsigned *>(arrays_);
    job.sums = report_ && !kFloat ? sums_ + directions[first].number : nullptr;
    job.strips =
        divide_up(most_lines(steps, across, directions), job.cut.words * Packed<T>::kSamples);
    job.n_directions = n;
    for (int i = 0; i < n; ++i) {
      const Direction &d = directions[first + i].direction;
      job.directions[i] = static_cast<std::uint32_t>(d.slope) | (d.rising ? 1u << 31 : 0);
    }
    const int items = job.strips * job.cut.parts * n;
    const int blocks = job.cut.shared ? items : std::min(items, 2 * cuda_.multiprocessors());
    const int bytes = job.cut.shared ? static_cast<int>(job.cut.bytes) : 0;
    const auto kernel = !job.cut.shared       ? open_kernel<T, 8, false>
                        : job.cut.words == 32 ? open_kernel<T, 32, true>
                                              : open_kernel<T, 8, true>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    launch(kernel, {blocks, job.cut.threads, bytes}, cuda_.stream(), job);
  }

  /// Opens in all these directions and keeps the best.
  void fold_all(const Source &source, const std::vector<Numbered> &directions,
                const Best<T> &best) {
    if (directions.empty()) return;
    const int width = source.plane.width, height = source.plane.height;
    const int total = static_cast<int>(directions.size()), most = batch(width, height);
    for (int first = 0; first < total;) {
      // Directions that follow one another in number: their sums do, too.
      int n = 1;
      const auto follows = [&](int i) {
        return directions[i].number == directions[first].number + (i - first) &&
               apart(directions[i].direction) == apart(directions[first].direction);
      };
      while (n < most && first + n < total && follows(first + n)) ++n;
      const Plane<T> planes = plane_at(planes_, width, height);
      const std::size_t bytes = plane_bytes(width, height);
      if (apart(directions[first].direction)) {
        for (int i = 0; i < n; ++i)
          open_apart(source, directions[first + i], plane_at(planes_ + i * bytes, width, height));
      } else {
        open(source, directions, first, n, planes, bytes, false);
      }
      if (report_ && (kFloat || apart(directions[first].direction)))
        for (int i = 0; i < n; ++i)
          queue_sum(plane_at(planes_ + i * bytes, width, height), source,
                    directions[first + i].number);
      const FoldJob<T> job{planes, bytes, n, directions[first].number, first == 0, best};
      const int words = divide_up(width, Packed<T>::kSamples);
      launch(fold_kernel<T>, {dim3(divide_up(words, kFoldThreads), height), kFoldThreads},
             cuda_.stream(), job);
      first += n;
    }
  }

  void open_apart(const Source &source, const Numbered &direction, Plane<T> out) {
    if (baseline()) {
      open_lines(cuda_, params_.algorithm, direction.direction, params_.length, source.plane, out,
                 static_cast<void *>(arrays_));
      return;
    }
    Direction steep = direction.direction;
    steep.steep = true;
    const Plane<T> minima = plane_at(arrays_, out.width, out.height);
    InvariantJob<T> job{source.plane, source.floats, source.flip ? ~0u : 0,
                        minima,       steep,         params_.length};
    const int words = divide_up(out.width, Packed<T>::kSamples);
    const LaunchShape shape{dim3(divide_up(words, kFoldThreads), out.height), kFoldThreads};
    launch(invariant_kernel<T, Smallest>, shape, cuda_.stream(), job);
    job = {as_input(minima), false, 0, out, steep, params_.length};
    launch(invariant_kernel<T, Largest>, shape, cuda_.stream(), job);
  }

  /// Adds up a direction's result.
  void queue_sum(Plane<T> opening, const Source &source, int number) {
    SumJob<T> job{as_input(opening),
                  source.plane,
                  source.floats,
                  source.flip,
                  flip_,
                  kFloat,
                  is_difference(params_.operation),
                  sums_ + number};
    launch(
        sum_kernel<T>,
        {dim3(divide_up(opening.width, kFoldThreads), divide_up(opening.height, 16)), kFoldThreads},
        cuda_.stream(), job);
  }

  void finish() {
    FinishJob<T> job{in_,
                     out_,
                     upright_best_,
                     turned_best_,
                     flip_,
                     kFloat,
                     params_.operation,
                     params_.output == LinearOpenOutput::orientation,
                     kFloat ? 0 : unused_low_bits(static_cast<unsigned>(maximum_)),
                     {}};
    for (std::size_t i = 0; i < angles_.size(); ++i)
      job.degrees[i] = static_cast<std::uint8_t>(degree_of(angles_[i]));
    launch_over(finish_kernel<T>, in_, job);
  }

  void queue_report() {
    const bool difference = is_difference(params_.operation);
    // The sum of the input, behind those of the directions.
    if (difference && !kFloat)
      queue_sum({const_cast<T *>(in_.data), in_.width, in_.height, in_.stride}, {in_, false, 0},
                static_cast<int>(angles_.size()));
    auto *const host = static_cast<std::uint64_t *>(cuda_.report_memory(sums_bytes()));
    CUDA_CHECK(cudaMemcpyAsync(host, sums_, sums_bytes(), cudaMemcpyDeviceToHost, cuda_.stream()));
    const auto pixels = std::int64_t{in_.width} * in_.height;
    cuda_.on_complete([=, angles = angles_, params = params_, flip = flip_, maximum = maximum_,
                       report = report_] {
      report->angles = angles;
      report->spectrum.assign(host, host + angles.size());
      if (!kFloat) {
        // Sums are of samples ^ flip; a closing is the complement of that.
        const std::int64_t all = pixels * static_cast<T>(~T{0});
        const auto sum = static_cast<std::int64_t>(host[angles.size()]);
        for (std::int64_t &s : report->spectrum) {
          if (difference)
            s = (flip ? all - sum : sum) - s;
          else if (flip)
            s = all - s;
        }
      }
      analyse_spectrum(params, static_cast<double>(pixels), kFloat ? maximum * 65536. : maximum,
                       *report);
    });
  }

  Cuda &cuda_;
  const LinearOpenParams &params_;
  const Plane<const T> in_;
  const Plane<T> out_;
  const double maximum_;
  LinearOpenReport *const report_;
  const T flip_;
  const std::vector<double> angles_;
  std::vector<Numbered> steep_, flat_;
  Cut steep_cut_{}, flat_cut_{};
  std::uint64_t *sums_ = nullptr;
  unsigned char *planes_ = nullptr, *arrays_ = nullptr;
  Plane<T> converted_{}, turned_{};
  Best<T> upright_best_{}, turned_best_{};
};

template <typename Sample>
void run_any(Cuda &cuda, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
             LinearOpenReport *report) {
  validate(p);
  check_sizes(in.width, in.height, out.width, out.height);
  Opening<Sample>(cuda, in, out, p, report)();
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const LinearOpenParams &p, LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const LinearOpenParams &p, LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const float> in, Plane<float> out, const LinearOpenParams &p,
         LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}

}  // namespace cudascan
