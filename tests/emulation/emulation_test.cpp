// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated GPU itself: what it computes, and that it finds the mistakes that it is meant to
// find.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "kernels/base/launch.cuh"

namespace cudascan {
namespace {

constexpr int kThreads = 96;
using Order = std::array<int, kThreads>;

/// On the default stream. Never destroyed, as the emulated GPU may be destroyed before it.
Cuda &cuda = *new Cuda;

// ---- Threads and lanes --------------------------------------------------------------------------

__global__ void sum_kernel(int *sums) {
  __shared__ int values[kThreads];
  values[threadIdx.x] = threadIdx.x * (blockIdx.x + 1);
  __syncthreads();
  int sum = 0;
  for (const int value : values) sum += value;
  atomicAdd(sums + blockIdx.x, sum);
}

TEST(CudaEmulation, ThreadsSeeWhatOthersWroteBeforeABarrier) {
  int sums[5] = {};
  launch(cuda, sum_kernel, {5, kThreads}, sums);
  const int sum = kThreads * (kThreads - 1) / 2;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sums[i], kThreads * sum * (i + 1)) << "block " << i;
}

__global__ void limited_kernel() {}

TEST(CudaEmulation, AKernelsLimitOfSharedMemoryIsHeldAndNeverLowered) {
  const auto kernel = reinterpret_cast<const void *>(limited_kernel);
  ASSERT_EQ(emulation::set_shared_limit(kernel, 100 << 10), cudaSuccess);
  EXPECT_DEATH(emulation::set_shared_limit(kernel, 99 << 10), "limit of shared memory is lowered");
  EXPECT_NE(emulation::set_shared_limit(kernel, emulation::kSharedPerBlock + 1), cudaSuccess);

  cudaLaunchConfig_t config{1, kThreads, 101 << 10, nullptr, nullptr, 0};
  EXPECT_NE(cudaLaunchKernelEx(&config, limited_kernel), cudaSuccess);
  config.dynamicSmemBytes = 100 << 10;
  EXPECT_EQ(cudaLaunchKernelEx(&config, limited_kernel), cudaSuccess);
}

__global__ void order_kernel(Order *orders) {
  __shared__ int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  orders[blockIdx.x][atomicAdd(&turn, 1)] = threadIdx.x;
}

TEST(CudaEmulation, TheOrderOfTheThreadsDiffersFromBlockToBlock) {
  std::array<Order, 64> orders;
  launch(cuda, order_kernel, {64, kThreads}, orders.data());
  EXPECT_GT(std::set(orders.begin(), orders.end()).size(), 3u);
}

__global__ void lanes_kernel(unsigned *results) {
  const unsigned lane = threadIdx.x % 32;
  unsigned scan = lane;
  scan_step<1>(scan);
  results[0] = __reduce_add_sync(0xffffffff, lane);
  results[1] = __shfl_sync(0xffffffff, lane, 7);
  if (lane == 9) results[2] = scan;
  if (lane == 9) results[3] = __popc(lane);
  const unsigned other = __shfl_xor_sync(0xffffffff, lane, 3);
  if (lane == 9) results[4] = other;
  const bool any = __any_sync(0xffffffff, lane == 31), all = __all_sync(0xffffffff, lane == 31);
  results[5] = any && !all;
}

TEST(CudaEmulation, LanesExchangeValues) {
  unsigned results[6] = {};
  launch(cuda, lanes_kernel, {1, 32}, results);
  EXPECT_EQ(std::vector(results, results + 6), (std::vector<unsigned>{496, 7, 9 + 8, 2, 10, 1}));
}

__global__ void divided_kernel() {
  if (threadIdx.x < 16)
    __syncwarp();
  else
    __any_sync(0xffffffff, true);
}
__global__ void lonely_kernel() {
  if (threadIdx.x == 0) __syncthreads();
}

TEST(CudaEmulationDeathTest, LanesThatDoNotMeetAreFound) {
  EXPECT_DEATH(launch(cuda, divided_kernel, {1, 32}), "threads wait for one another in __");
}
TEST(CudaEmulationDeathTest, ThreadsThatWaitForEverAreFound) {
  EXPECT_DEATH(launch(cuda, lonely_kernel, {1, 64}), "wait for one another forever");
}

__global__ void arithmetic_kernel(unsigned *results) {
  results[0] = __vcmpgeu4(0x80ff0102, 0x7f800103);
  results[1] = __vcmpgeu2(0x8000ffff, 0x80010000);
  results[2] = min(threadIdx.x, 5) + max(7, threadIdx.x) + min(gridDim.x, blockDim.x);
}

TEST(CudaEmulation, Arithmetic) {
  unsigned results[3] = {};
  launch(cuda, arithmetic_kernel, {3, 1}, results);
  EXPECT_EQ(std::vector(results, results + 3),
            (std::vector<unsigned>{0xffffff00, 0x0000ffff, 0 + 7 + 1}));
}

// ---- Copies of threads --------------------------------------------------------------------------

constexpr int kCopies = 3;  // per thread; each copy is a group
using Units = std::array<uint4, 32 * kCopies>;

/// @param unfinished  this many groups may be unfinished when the units are read
template <int unfinished>
__global__ void copies_kernel(const Units &from, int offset, Units *result) {
  auto *const units = reinterpret_cast<uint4 *>(dynamic_shared_memory());
  for (int i = 0; i < kCopies; ++i) {
    const unsigned at = 32 * i + threadIdx.x;
    copy_async(shared_address(units + at), reinterpret_cast<const char *>(&from[at]) + offset);
    commit_copies();
  }
  wait_for_copies<unfinished>();
  __syncthreads();
  if (threadIdx.x == 0) std::memcpy(result, units, sizeof *result);
  wait_for_copies<0>();
}

/// How many units of each group had been copied.
template <int unfinished>
std::array<int, kCopies> copied() {
  Units from, result;
  for (unsigned i = 0; i < from.size(); ++i) from[i] = {i, i, i, i};
  launch(cuda, copies_kernel<unfinished>, {1, 32, sizeof from}, from, 0, &result);
  std::array<int, kCopies> n{};
  for (unsigned i = 0; i < from.size(); ++i) n[i / 32] += result[i].x == i;
  return n;
}

TEST(CudaEmulation, CopiesAreThereWhenTheirGroupHasBeenWaitedFor) {
  EXPECT_EQ(copied<0>(), (std::array{32, 32, 32}));
  const auto [first, second, third] = copied<2>();
  EXPECT_EQ(first, 32);
  EXPECT_LT(second, 32);
  EXPECT_LT(third, 32);
}

__global__ void forgotten_kernel(const uint4 &from) {
  for (int i = 0; i < 32; ++i) copy_async(shared_address(dynamic_shared_memory()), &from);
  wait_for_copies<0>();  // no group is complete, so this waits for nothing
}

TEST(CudaEmulationDeathTest, WrongCopiesOfThreadsAreFound) {
  const Units from{};
  Units result;
  EXPECT_DEATH(launch(cuda, copies_kernel<0>, {1, 32, sizeof from}, from, 4, &result),
               "from no multiple of 16 bytes");
  EXPECT_DEATH(launch(cuda, forgotten_kernel, {1, 32, 16}, from[0]),
               "a copy is unfinished when its thread ends");
}

// ---- Blocks that run together -------------------------------------------------------------------

/// Each block waits for what the others write.
__global__ void together_kernel(unsigned *arrived, unsigned *results) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (load_acquire(arrived) < gridDim.x) {
    }
    results[blockIdx.x] = *arrived;
  }
  __syncthreads();
}

TEST(CudaEmulation, BlocksLaunchedTogetherSeeOneAnother) {
  unsigned arrived = 0, results[4] = {};
  LaunchShape shape{4, 64};
  shape.together = true;
  launch(cuda, together_kernel, shape, &arrived, results);
  EXPECT_EQ(std::vector(results, results + 4), std::vector<unsigned>(4, 4));
}
TEST(CudaEmulationDeathTest, BlocksThatWaitForLaterOnesAreFound) {
  unsigned arrived = 0, results[4] = {};
  EXPECT_DEATH(launch(cuda, together_kernel, {4, 64}, &arrived, results),
               "wait for one another forever");
}

// ---- The copy engine ----------------------------------------------------------------------------

/// 2 rows of 4 units of 16 bytes. Both 8-byte elements of a unit have the number of the unit,
/// which begins at 1.
struct Tensor {
  alignas(16) std::uint64_t elements[16];
  CUtensorMap map;

  Tensor() {
    for (std::uint64_t i = 0; i < 16; ++i) elements[i] = i / 2 + 1;
    const cuuint64_t size[] = {2, 4, 2}, stride[] = {16, 64};
    const cuuint32_t box[] = {2, 2, 2}, step[] = {1, 1, 1};
    EXPECT_EQ(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT64, 3, elements, size,
                                     stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
  }
};
constexpr int kBox = 64;  // bytes

__global__ void copy_kernel(const CUtensorMap &tensor, int unit, int row, bool wait,
                            std::uint64_t *result) {
  __shared__ std::uint64_t barrier;
  unsigned char *const memory = dynamic_shared_memory();
  const CopyBarrier arrival(shared_address(&barrier));
  const bool mine = elect();
  if (mine) arrival.init();
  publish_barriers();
  arrival.expect(mine, kBox);
  arrival.copy(mine, tensor, shared_address(memory), 0, unit, row);
  if (!wait) return;
  arrival.wait(0);
  if (mine) std::memcpy(result, memory, kBox);
}

TEST(CudaEmulation, TheEngineCopiesBoxesAndZeroesWhatIsOutside) {
  const Tensor tensor;
  std::uint64_t box[8];
  launch(cuda, copy_kernel, {1, 32, kBox}, tensor.map, 1, 0, true, box);
  EXPECT_EQ(std::vector(box, box + 8), (std::vector<std::uint64_t>{2, 2, 3, 3, 6, 6, 7, 7}));
  launch(cuda, copy_kernel, {1, 32, kBox}, tensor.map, -1, 1, true, box);
  EXPECT_EQ(std::vector(box, box + 8), (std::vector<std::uint64_t>{0, 0, 5, 5, 0, 0, 0, 0}));
}

/// The first warp starts the copy and ends; the second waits for it.
__global__ void handed_over_kernel(CUtensorMap tensor, std::uint64_t *results) {
  __shared__ std::uint64_t barrier;
  unsigned char *const memory = dynamic_shared_memory();
  const CopyBarrier arrival(shared_address(&barrier));
  const bool mine = threadIdx.x == 0;
  if (mine) arrival.init();
  publish_barriers();
  __syncthreads();
  arrival.expect(mine, kBox);
  arrival.copy(mine, tensor, shared_address(memory), 0, 1, 0);
  if (threadIdx.x < 32) return;
  arrival.wait(0);
  if (threadIdx.x == 32) std::memcpy(results + 8 * blockIdx.x, memory, kBox);
}

TEST(CudaEmulation, TheEngineCopiesAfterTheThreadThatBeganItHasEnded) {
  const Tensor tensor;
  std::vector<std::uint64_t> boxes(64 * 8), expected;
  for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {2, 2, 3, 3, 6, 6, 7, 7});
  launch(cuda, handed_over_kernel, {64, 64, kBox}, tensor.map, boxes.data());
  EXPECT_EQ(boxes, expected);
}

TEST(CudaEmulationDeathTest, CopiesThatNobodyWaitsForAreFound) {
  const Tensor tensor;
  EXPECT_DEATH(launch(cuda, copy_kernel, {64, 32, kBox}, tensor.map, 0, 0, false, nullptr),
               "a copy is unfinished when the block ends");
}

}  // namespace
}  // namespace cudascan
