// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch: histogram/kernel.cuh counts, then each block makes the mapping with a team of its
// threads and applies it to its share. With 65536 levels all blocks are one team.
#include "kernels/equalize.h"

#include "kernels/equalize/baseline.cuh"
#include "kernels/equalize/clahe.cuh"
#include "kernels/equalize/mapping.h"
#include "kernels/histogram/grid_team.cuh"
#include "kernels/histogram/launch.cuh"

namespace cudascan {
namespace {

using namespace equalize;
using histogram::BlockShare;
using histogram::CountJob;
using histogram::VectorPlace;

/// State of a frame with smoothing for the next frame. After the histograms of the State there are
/// two of these, used in turn: these numbers, then the states of the indices.
struct SmoothedStates {
  std::uint32_t pixels;  // N; 0 if the frame had no smoothing
  std::uint32_t unused[3];

  static std::size_t bytes(const Range &range) {
    return sizeof(SmoothedStates) + range.count * sizeof(std::uint32_t);
  }
  __device__ std::uint32_t *states() { return reinterpret_cast<std::uint32_t *>(this + 1); }
};

template <typename T>
struct EqualizeJob {
  CountJob<T> count;
  Plane<T> out;
  Range range;
  EqualizeFormula formula;
  std::uint32_t amount, smoothing;  // weights
  unsigned char *smoothed;          // two SmoothedStates
  std::size_t smoothed_bytes;       // of each
  unsigned char *team_values;       // of the GridTeam
  std::uint16_t *mapping;           // of 65536 levels, in device memory
  std::uint32_t *report_counts;     // if the histogram is wanted
};

/// Statistics of a run of levels.
struct Summary {
  std::uint32_t pixels;
  std::uint32_t lowest_pixels;  // at the lowest index that occurs
  int lowest;                   // that index
  std::uint64_t differences;    // from the histogram of the frame before

  /// @param more  of the levels that follow
  __device__ Summary &operator+=(const Summary &more) {
    if (lowest_pixels == 0) {
      lowest = more.lowest;
      lowest_pixels = more.lowest_pixels;
    } else if (lowest == more.lowest) {
      lowest_pixels += more.lowest_pixels;
    }
    pixels += more.pixels;
    differences += more.differences;
    return *this;
  }
};

/// Calls emit(level, its new sample) for the levels of this member.
template <typename Team, typename T, typename Emit>
__device__ void map_levels(Team &team, const EqualizeJob<T> &job, const histogram::Head &head,
                           bool first_block, const Emit &emit) {
  const Range &range = job.range;
  Summary mine{}, all;
  for (int i = team.begin(); i < team.end(); ++i) {
    const std::uint32_t n = team.count(i), before = job.smoothing > 0 ? head.before[i] : n;
    mine += Summary{n, n, range.index(i), n > before ? n - before : before - n};
  }
  const std::uint32_t below = team.before(mine, all).pixels;

  auto *const before =
      reinterpret_cast<SmoothedStates *>(job.smoothed + head.launch % 2 * job.smoothed_bytes);
  auto *const after =
      reinterpret_cast<SmoothedStates *>(job.smoothed + (head.launch + 1) % 2 * job.smoothed_bytes);
  const bool anew = job.smoothing > 0 && scene_changes(all.pixels, before->pixels, all.differences);
  if (first_block && threadIdx.x == 0) after->pixels = job.smoothing > 0 ? all.pixels : 0;

  const Statistics statistics{all.pixels, all.lowest_pixels};
  std::uint32_t cdf = below;
  for (int level = team.begin(); level < team.end(); ++level) {
    cdf += team.count(level);
    const int i = range.index(level);
    const std::uint32_t cdf_of_index = i == range.count - 1 ? all.pixels
                                       : i > 0              ? cdf
                                       : all.lowest > 0     ? 0
                                                            : all.lowest_pixels;
    int mapped = map(job.formula, range, statistics, i, cdf_of_index);
    if (job.smoothing > 0) {
      const std::uint32_t state =
          anew ? first_state(mapped) : next_state(before->states()[i], mapped, job.smoothing);
      if (first_block && level == range.first + i) after->states()[i] = state;
      mapped = mapped_by(state);
    }
    emit(level, range.sample(blend(i, mapped, job.amount)));
  }
}

/// For 8-bit samples: a mapping for each lane in its own bank. Levels l, l + 64, l + 128 and l +
/// 192 are in one word; the words of the lanes of a warp are adjacent.
class ByteMapping {
 public:
  static __device__ int bytes(int) { return 256 + 64 * 128; }
  __device__ explicit ByteMapping(unsigned char *memory)
      : plain_(memory), lanes_(memory + 256), mine_(lanes_ + threadIdx.x % 32 * 4) {}
  __device__ void set(int level, unsigned sample) {
    plain_[level] = static_cast<unsigned char>(sample);
  }
  /// All threads call it after the levels are set.
  __device__ void finish() {
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
      const int row = i / 32;
      reinterpret_cast<unsigned *>(lanes_)[i] =
          plain_[row] | plain_[row + 64] << 8 | plain_[row + 128] << 16 | plain_[row + 192] << 24;
    }
    __syncthreads();
  }
  __device__ unsigned map(unsigned word, const Levels &) const {
    const unsigned even = (word << 7 & 0x1f801f80) | (word >> 6 & 0x00030003);
    const unsigned odd = (word >> 1 & 0x1f801f80) | (word >> 14 & 0x00030003);
    const unsigned low = __byte_perm(mine_[even & 0xffff], mine_[odd & 0xffff], 0x0040);
    const unsigned high = __byte_perm(mine_[even >> 16], mine_[odd >> 16], 0x0040);
    return __byte_perm(low, high, 0x5410);
  }

 private:
  unsigned char *plain_, *lanes_;
  const unsigned char *mine_;
};

constexpr int kManyLevels = 65536;

/// For 16-bit samples.
class WordMapping {
 public:
  static __device__ int bytes(int levels) { return (2 * levels + 3) / 4 * 4; }
  __device__ explicit WordMapping(unsigned char *memory)
      : samples_(reinterpret_cast<std::uint16_t *>(memory)) {}
  __device__ void set(int level, unsigned sample) {
    samples_[level] = static_cast<std::uint16_t>(sample);
  }
  __device__ void finish() { __syncthreads(); }
  /// Reads the mapping from device memory.
  __device__ void use(std::uint16_t *mapping) { samples_ = mapping; }
  /// Uses the mapping of all levels in device memory.
  __device__ void load(const std::uint16_t *mapping, int levels) {
    auto *const to = reinterpret_cast<uint4 *>(samples_);
    for (int i = threadIdx.x; i < (levels + 7) / 8; i += blockDim.x)
      to[i] = reinterpret_cast<const uint4 *>(mapping)[i];
    __syncthreads();
  }
  __device__ unsigned map(unsigned word, const Levels &levels) const {
    return samples_[levels.level(word & 0xffff)] | samples_[levels.level(word >> 16)] << 16;
  }

 private:
  std::uint16_t *samples_;
};

template <typename T, typename Counters>
__global__ void __launch_bounds__(Counters::kThreads, 1)
    equalize_kernel(const __grid_constant__ EqualizeJob<T> job) {
  unsigned char *const memory = dynamic_shared_memory();
  const Levels levels = job.range.levels;
  Counters counters(memory, levels);
  BlockShare<T, Counters> share(job.count, memory + Counters::kBytes);
  histogram::Head head = count_image(job.count, counters, share, memory);
  if (job.report_counts) copy_counts(head.counts, job.report_counts);

  auto &team_memory = *reinterpret_cast<BlockTeamMemory *>(memory);
  unsigned char *free_memory = memory + sizeof team_memory;
  if constexpr (Counters::kMany) {
    GridTeam team(head.counts.copies, levels.count, team_memory, head.barrier, job.team_values);
    map_levels(team, job, head, true, [&](int level, unsigned sample) {
      job.mapping[level] = static_cast<std::uint16_t>(sample);
    });
    head.barrier.meet();
    free_memory = memory;
  }
  std::conditional_t<sizeof(T) == 1, ByteMapping, WordMapping> mapping(free_memory);
  if constexpr (Counters::kMany) {
    if constexpr (Counters::kBytes >= kManyLevels * sizeof(std::uint16_t))
      mapping.load(job.mapping, levels.count);
    else
      mapping.use(job.mapping);
  } else {
    auto *const counts =
        reinterpret_cast<std::uint32_t *>(free_memory + mapping.bytes(levels.count));
    BlockTeam team(counts, levels.count, team_memory);
    for (int i = team.begin(); i < team.end(); ++i) counts[i] = head.counts[i];
    map_levels(team, job, head, blockIdx.x == 0,
               [&](int level, unsigned sample) { mapping.set(level, sample); });
    mapping.finish();
  }
  share.for_each([&](const VectorPlace &place, uint4 v) {
    if (job.amount > 0)
      v = {mapping.map(v.x, levels), mapping.map(v.y, levels), mapping.map(v.z, levels),
           mapping.map(v.w, levels)};
    store(job.out, place, v);
  });
}

template <typename T>
void run_any(Cuda &cuda, Plane<const T> in, Plane<T> out, const EqualizeParams &p,
             EqualizeReport *report) {
  check_call(p, in, out);
  const Range range = Range::of(in.maximum, in.black, in.white);
  const int levels = range.levels.count;
  const std::size_t state_bytes = histogram::state_bytes<T>(cuda, range.levels);
  const std::size_t counts_bytes = levels * sizeof(std::uint32_t);

  EqualizeJob<T> job{};
  job.smoothed_bytes = (SmoothedStates::bytes(range) + 15) / 16 * 16;
  static const char key = 0;
  auto *const state = static_cast<unsigned char *>(
      cuda.history(&key, state_bytes + 2 * job.smoothed_bytes + counts_bytes));
  const bool aligned = histogram::is_aligned(in, 16) && histogram::is_aligned(out, 16);
  job.count = CountJob<T>(in, {p.roi}, aligned, reinterpret_cast<histogram::State *>(state));
  job.out = out;
  job.range = range;
  job.formula = p.formula;
  job.amount = weight_of(p.amount);
  job.smoothing = weight_of(p.smoothing);
  job.smoothed = state + state_bytes;
  auto *const counts = reinterpret_cast<std::uint32_t *>(job.smoothed + 2 * job.smoothed_bytes);
  if (report) job.report_counts = counts;

  const bool mapped_apart =
      p.method == EqualizeMethod::clahe || p.algorithm != EqualizeAlgorithm::automatic;
  if (mapped_apart) {
    if (report) count_on_device(cuda, in, {}, counts);
    if (p.method == EqualizeMethod::clahe) {
      run_clahe(cuda, in, out, p);
    } else if constexpr (sizeof(T) == 1) {
      run_baseline(cuda, in, out, baseline_variant(p.algorithm));
    }
  } else {
    const std::size_t team_bytes = GridTeam::bytes(cuda.multiprocessors());
    job.team_values =
        static_cast<unsigned char *>(cuda.scratch(team_bytes + levels * sizeof(std::uint16_t)));
    job.mapping = reinterpret_cast<std::uint16_t *>(job.team_values + team_bytes);
    const auto choose = [&]<typename Counters>() { return equalize_kernel<T, Counters>; };
    histogram::launch_counting(cuda, job.count, choose, job);
  }
  if (report) {
    auto *const host = static_cast<std::uint32_t *>(cuda.report_memory(counts_bytes));
    cuda.fetch(host, counts, counts_bytes);
    cuda.on_complete([=] { fill_report(Histogram(host, host + levels), *report); });
  }
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const EqualizeParams &p,
         EqualizeReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const EqualizeParams &p, EqualizeReport *report) {
  run_any(cuda, in, out, p, report);
}

}  // namespace cudascan
