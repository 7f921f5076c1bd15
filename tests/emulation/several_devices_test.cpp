// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated machine has several devices, and finds what is used on the wrong one.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

#include "kernels/base/launch.cuh"
#include "kernels/devices.h"

namespace cudascan {
namespace {

/// Makes a device current until it is destroyed.
class On {
 public:
  explicit On(int device) : before_(emulation::current_device()) {
    EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
  }
  ~On() { cudaSetDevice(before_); }

 private:
  int before_;
};

constexpr std::size_t kBytes = 64;

/// A stream, memory and an event of a device.
struct Owned {
  explicit Owned(int device) {
    const On on(device);
    stream.emplace();
    memory = cuda::DeviceBuffer(kBytes);
    EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDefault), cudaSuccess);
  }
  ~Owned() { cudaEventDestroy(event); }

  std::optional<cuda::Stream> stream;
  cuda::DeviceBuffer memory;
  cudaEvent_t event = nullptr;
};

struct Job {
  int number;
  char *memory;
};
__global__ void write_kernel(char *memory) {
  memory[0] = 5;
}
__global__ void job_kernel(Job job) {
  job.memory[0] = static_cast<char>(job.number);
}
struct ReadJob {
  const char *from;
  char *to;
};
__global__ void read_kernel(ReadJob job) {
  *job.to = *job.from;
}
__global__ void empty_kernel() {}
__global__ void limited_kernel() {}

TEST(CudaSeveralDevices, EachThreadHasACurrentDevice) {
  const On on(2);
  std::thread([] {
    EXPECT_EQ(emulation::current_device(), 0);
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  }).join();
  int current = 0;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 2);
  for (const int wrong : {-1, emulation::kDevices}) {
    int value = 0;
    EXPECT_EQ(cudaSetDevice(wrong), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, wrong),
              cudaErrorInvalidDevice);
  }
  EXPECT_EQ(emulation::current_device(), 2);
}

TEST(CudaSeveralDevices, DevicesDiffer) {
  Cuda zero;
  EXPECT_EQ(zero.multiprocessors(), emulation::kMultiprocessors);
  EXPECT_EQ(zero.most_shared_memory(), 227 << 10);
  const On on(1);
  Cuda one;
  EXPECT_EQ(one.multiprocessors(), emulation::kMultiprocessors + 1);
  EXPECT_EQ(one.most_shared_memory(), 99 << 10);
}

TEST(CudaSeveralDevices, StreamsOfOthersAreRefused) {
  Owned mine(1);
  const Owned other(0);
  const On on(1);
  cudaStream_t stream = other.stream->get();
  char *const memory = static_cast<char *>(mine.memory.data());
  char host[kBytes] = {};
  Cuda cuda(stream);
  EXPECT_THROW(launch(cuda, empty_kernel, {1, 32}), Error);
  EXPECT_THROW(cuda.clear(memory, kBytes), Error);
  EXPECT_THROW(cuda.fetch(host, memory, kBytes), Error);
  EXPECT_EQ(cudaMemcpy2DAsync(memory, 8, host, 8, 8, 8, cudaMemcpyDefault, stream),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(mine.event, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(other.event, mine.stream->get()), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(other.event, nullptr), cudaErrorInvalidResourceHandle);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, mine.event, other.event), cudaErrorInvalidResourceHandle);
  // CUDA allows these, and devices wait for one another in this way.
  EXPECT_EQ(cudaEventRecord(other.event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(mine.stream->get(), other.event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  mine.stream->synchronize();
}

TEST(CudaSeveralDevices, MemoryOfOthersIsRefused) {
  Owned mine(1), other(0);
  cuda::PinnedBuffer pinned(kBytes);  // made while another device is current
  const On on(1);
  Cuda cuda(mine.stream->get());
  char *const inside = static_cast<char *>(other.memory.data()) + kBytes - 1;
  EXPECT_THROW(cuda.clear(inside, 1), Error);
  EXPECT_THROW(cuda.fetch(pinned.data(), inside, 1), Error);
  EXPECT_EQ(cudaMemcpyAsync(inside, pinned.data(), 1, cudaMemcpyDefault, mine.stream->get()),
            cudaErrorInvalidValue);

  char *const memory = static_cast<char *>(mine.memory.data());
  launch(cuda, job_kernel, {1, 1}, Job{7, memory});
  launch(cuda, job_kernel, {1, 1}, Job{9, memory + kBytes - 1});
  cuda.fetch(pinned.data(), memory, kBytes);
  cuda.synchronize();
  EXPECT_EQ(static_cast<char *>(pinned.data())[0], 7);
  EXPECT_EQ(static_cast<char *>(pinned.data())[kBytes - 1], 9);
}

TEST(CudaSeveralDevices, CopiesFromDeviceToDeviceNameTheOwners) {
  const Owned one(1), two(2);
  const On on(1);
  char *const from = static_cast<char *>(one.memory.data());
  char *const to = static_cast<char *>(two.memory.data());
  *from = 7;
  EXPECT_EQ(cudaMemcpyPeerAsync(to, 2, from, 1, kBytes, one.stream->get()), cudaSuccess);
  one.stream->synchronize();
  EXPECT_EQ(*to, 7);
  EXPECT_EQ(cudaMemcpyPeerAsync(to, 1, from, 1, kBytes, one.stream->get()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeerAsync(to, 2, from, 0, kBytes, one.stream->get()), cudaErrorInvalidValue);
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, 2), cudaSuccess);
  EXPECT_TRUE(can);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, emulation::kDevices), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice) << "itself";
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorPeerAccessAlreadyEnabled);
}

TEST(CudaSeveralDevicesDeathTest, KernelsThatUseMemoryOfOthersAreFound) {
  const Owned mine(1), other(0);
  const On on(1);
  Cuda cuda(mine.stream->get());
  char *const inside = static_cast<char *>(other.memory.data()) + kBytes - 1;
  constexpr const char *kMessage = "a kernel uses memory of device 0, another one than its own";
  const auto run_kernel = [&](auto *kernel, const auto &parameter) {
    launch(cuda, kernel, {1, 1}, parameter);
    cuda.synchronize();
  };
  EXPECT_DEATH(run_kernel(write_kernel, inside), kMessage);
  EXPECT_DEATH(run_kernel(job_kernel, Job{7, inside}), kMessage);
  EXPECT_DEATH(run_kernel(read_kernel, ReadJob{inside, static_cast<char *>(mine.memory.data())}),
               kMessage);
  std::memset(inside, 3, 1);  // the host of the emulated device can access it again
}

/// In a process of its own, as the device stays failed.
TEST(CudaSeveralDevicesDeathTest, ADeviceThatFailsRefusesEverythingAndTheOthersGoOn) {
  const auto fail = [] {
    const Owned zero(0), one(1);
    emulation::fail_at(1, 2);
    const On on(1);
    Cuda cuda(one.stream->get());
    launch(cuda, empty_kernel, {1, 1});
    cuda.synchronize();
    void *memory = nullptr;
    bool refused = true;
    try {
      launch(cuda, empty_kernel, {1, 1});
      refused = false;
    } catch (const Error &) {
    }
    refused = refused && cudaMalloc(&memory, 1) != cudaSuccess &&
              cudaMallocHost(&memory, 1) != cudaSuccess &&
              cudaStreamSynchronize(one.stream->get()) != cudaSuccess &&
              cudaEventRecord(one.event, one.stream->get()) != cudaSuccess &&
              cudaSetDevice(1) != cudaSuccess;
    cudaSetDevice(0);
    Cuda other(zero.stream->get());
    launch(other, empty_kernel, {1, 1});
    other.synchronize();
    std::_Exit(refused ? 0 : 1);
  };
  EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "");
}

TEST(CudaSeveralDevices, AKernelsLimitOfSharedMemoryIsThatOfADevice) {
  constexpr int kMuch = 60 << 10;
  cudaLaunchConfig_t config{1, 32, kMuch, nullptr, nullptr, 0};
  Cuda zero;
  launch(zero, limited_kernel, {1, 32, kMuch});
  EXPECT_EQ(cudaLaunchKernelEx(&config, limited_kernel), cudaSuccess);
  const On on(1);
  EXPECT_NE(cudaLaunchKernelEx(&config, limited_kernel), cudaSuccess);
  Cuda one;
  launch(one, limited_kernel, {1, 32, kMuch});
  EXPECT_EQ(cudaLaunchKernelEx(&config, limited_kernel), cudaSuccess);
  EXPECT_THROW(launch(one, limited_kernel, {1, 32, 100 << 10}), Error) << "more than device 1 has";
}

/// Each worker runs with its device current, and its kernels run there.
TEST(CudaSeveralDevices, FramesRunOnTheDeviceOfTheirWorker) {
  const On on(2);
  Devices devices({0, 1});
  const long before[] = {emulation::launches(0), emulation::launches(1), emulation::launches(2)};
  std::atomic<long> frames[2] = {};
  devices.for_each(200, [&](Devices::Worker &worker, std::size_t) {
    const int device = worker.device();
    EXPECT_EQ(emulation::current_device(), device);
    EXPECT_EQ(worker.cuda().multiprocessors(), emulation::kMultiprocessors + device);
    launch(worker.cuda(), write_kernel, {1, 1}, static_cast<char *>(worker.cuda().scratch(kBytes)));
    ++frames[device];
  });
  EXPECT_EQ(emulation::current_device(), 2) << "that of the calling thread";
  EXPECT_EQ(frames[0] + frames[1], 200);
  EXPECT_EQ(emulation::launches(0), before[0] + frames[0]);
  EXPECT_EQ(emulation::launches(1), before[1] + frames[1]);
  EXPECT_EQ(emulation::launches(2), before[2]);
}

}  // namespace
}  // namespace cudascan
