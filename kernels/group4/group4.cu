// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread codes a row, first only to count its bits: then it is known where they begin.
#include "kernels/group4.h"

#include <algorithm>
#include <memory>

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/base/warp_sums.cuh"
#include "kernels/group4/row.h"
#include "kernels/runlengths/runs.cuh"

namespace cudascan {
namespace group4 {
namespace {

constexpr int kThreads = 64;       // rows of a block
constexpr int kSumThreads = 1024;  // of the only block that sums up
constexpr int kKey = 0;

using Row = PackedRow<std::uint32_t>;

struct Group4Job {
  runlengths::DeviceBits bits;
  std::uint32_t *lengths;  ///< bits of the code of each row
  std::uint64_t *begins;   ///< where it begins, and after the last row the sum
  std::uint32_t *code;     ///< zero at first
  std::uint64_t room;      ///< bits; if they are too few, nothing is written
  Codes codes;

  __device__ Row row(int y) const { return {y < 0 ? nullptr : bits.row(y), bits.width}; }
};

/// Bits of the code of a page.
CUDASCAN_HD std::uint64_t length_of(std::uint64_t rows) {
  return rows + 2 * kEndOfLine.length;
}

/// The codes in shared memory, where threads look up different ones at the same time.
__device__ inline const Codes &shared_codes(const Codes &from) {
  __shared__ Codes codes;
  for (unsigned i = threadIdx.x; i < sizeof(Codes); i += blockDim.x)
    reinterpret_cast<std::uint8_t *>(&codes)[i] = reinterpret_cast<const std::uint8_t *>(&from)[i];
  __syncthreads();
  return codes;
}

__global__ void __launch_bounds__(kThreads)
    count_code_kernel(const __grid_constant__ Group4Job job) {
  let_next_kernel_start();
  const Codes &codes = shared_codes(job.codes);
  wait_for_kernels_before();
  const int y = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (y >= job.bits.height) return;
  unsigned length = 0;
  encode_row(job.row(y), job.row(y - 1), codes, [&](Code code) { length += code.length; });
  job.lengths[y] = length;
}

/// Finds where the rows begin; the last number is the length of the whole code.
__global__ void __launch_bounds__(kSumThreads)
    sum_up_kernel(const __grid_constant__ Group4Job job) {
  constexpr int kWarps = kSumThreads / 32;
  __shared__ std::uint32_t sums[2][kWarps];
  let_next_kernel_start();
  wait_for_kernels_before();
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  std::uint64_t before = 0;  // rows of earlier rounds
  int turn = 0;
  for (int begin = 0; begin < job.bits.height; begin += kSumThreads, turn = 1 - turn) {
    const int y = begin + t;
    const std::uint32_t mine = y < job.bits.height ? job.lengths[y] : 0;
    const std::uint32_t up_to_lane = warp_scan(mine);
    if (lane == 31) sums[turn][warp] = up_to_lane;
    __syncthreads();
    const std::uint32_t up_to_warp = warp_scan(sums[turn][lane]);
    std::uint64_t sum = before + up_to_lane - mine;
    const std::uint32_t earlier = __shfl_sync(~0u, up_to_warp, max(warp - 1, 0));
    if (warp > 0) sum += earlier;
    if (y < job.bits.height) job.begins[y] = sum;
    before += __shfl_sync(~0u, up_to_warp, kWarps - 1);
  }
  if (t == 0) job.begins[job.bits.height] = before;
}

/// Writes codes from some bit on. The first and the last word may have bits of other rows, too.
class CodeWriter {
 public:
  __device__ CodeWriter(std::uint32_t *code, std::uint64_t begin)
      : word_(code + begin / 32), count_(static_cast<int>(begin % 32)) {}

  __device__ void put(Code code) {
    pending_ = pending_ << code.length | code.bits;
    count_ += code.length;
    if (count_ < 32) return;
    count_ -= 32;
    const std::uint32_t word = in_memory(static_cast<std::uint32_t>(pending_ >> count_));
    if (is_first_)
      atomicOr(word_, word);
    else
      *word_ = word;
    is_first_ = false;
    ++word_;
    pending_ &= (1ULL << count_) - 1;
  }
  __device__ void finish() {
    if (count_ > 0)
      atomicOr(word_, in_memory(static_cast<std::uint32_t>(pending_ << (32 - count_))));
  }

 private:
  /// The highest byte comes first in memory.
  __device__ static std::uint32_t in_memory(std::uint32_t word) {
    return __byte_perm(word, 0, 0x0123);
  }

  std::uint32_t *word_;
  std::uint64_t pending_ = 0;
  int count_;
  bool is_first_ = true;
};

__global__ void __launch_bounds__(kThreads)
    write_code_kernel(const __grid_constant__ Group4Job job) {
  let_next_kernel_start();
  const Codes &codes = shared_codes(job.codes);
  wait_for_kernels_before();
  const int y = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (y > job.bits.height || length_of(job.begins[job.bits.height]) > job.room) return;
  CodeWriter writer(job.code, job.begins[y]);
  if (y == job.bits.height) {
    writer.put(kEndOfLine);
    writer.put(kEndOfLine);
  } else {
    encode_row(job.row(y), job.row(y - 1), codes, [&](Code code) { writer.put(code); });
  }
  writer.finish();
}

}  // namespace
}  // namespace group4

std::vector<std::uint8_t> encode_group4(Cuda &cuda, Plane<const std::uint8_t> in) {
  using namespace group4;
  check_sizes(in.width, in.height, in.width, in.height);
  check_rows("input", in);
  const int stride = runlengths::DeviceBits::stride_of(in.width);
  const std::size_t begins = sizeof(std::uint64_t) * (in.height + 1),
                    lengths = sizeof(std::uint32_t) * in.height,
                    bits = sizeof(std::uint32_t) * stride * in.height;
  auto *const memory = static_cast<unsigned char *>(cuda.scratch(begins + lengths + bits));
  Group4Job job{};
  job.begins = reinterpret_cast<std::uint64_t *>(memory);
  job.lengths = reinterpret_cast<std::uint32_t *>(memory + begins);
  job.bits = {reinterpret_cast<std::uint32_t *>(memory + begins + lengths), in.width, in.height,
              stride};
  job.codes = kCodes;
  const auto shape_of = [&](unsigned blocks, int threads) {
    LaunchShape shape{blocks, static_cast<unsigned>(threads)};
    shape.overlap = cuda.code_architecture() >= 90;
    return shape;
  };
  runlengths::queue_pack(cuda, in, 0, job.bits);
  launch(cuda, count_code_kernel, shape_of(divide_up(in.height, kThreads), kThreads), job);
  launch(cuda, sum_up_kernel, shape_of(1, kSumThreads), job);

  // With room for the code of most pages, so that they need to be waited for only once.
  constexpr int kUsual = 64;  // pixels for a byte
  std::shared_ptr<void> &kept = cuda.kept(&kKey);
  if (!kept) kept = std::make_shared<cuda::DeviceBuffer>();
  auto &code = *static_cast<cuda::DeviceBuffer *>(kept.get());
  std::size_t bytes = std::size_t{1} * in.width * in.height / kUsual;
  for (;;) {
    const std::size_t room = std::max((bytes + 255) / 256 * 256, code.size());
    job.code = static_cast<std::uint32_t *>(code.reserve(room));
    job.room = 8 * room;
    cuda.clear(job.code, room);
    launch(cuda, write_code_kernel, shape_of(divide_up(in.height + 1, kThreads), kThreads), job);
    if (cuda.only_loads()) return {};
    auto *const sum = static_cast<std::uint64_t *>(cuda.report_memory(sizeof(std::uint64_t)));
    auto *const host = static_cast<std::uint8_t *>(cuda.report_memory(room));
    cuda.fetch(sum, job.begins + in.height, sizeof *sum);
    cuda.fetch(host, job.code, room);
    cuda.synchronize();
    bytes = (length_of(*sum) + 7) / 8;
    if (bytes <= room) return {host, host + bytes};
  }
}

}  // namespace cudascan
