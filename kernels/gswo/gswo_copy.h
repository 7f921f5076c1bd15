// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Copies between rows in host memory, which may be anywhere, and an image on the device.
///
/// The device reads and writes only host memory that is locked. One thread cannot move pixels there
/// as fast as the bus takes them, so several threads do: each fills (or empties) two small locked
/// buffers in turn, and the device copies one while the thread works on the other. Up to
/// GSWO_COPY_THREADS threads take part (an environment variable, 4 by default); with 0 the driver
/// copies rows at equal distances itself, by cudaMemcpy2D.
#pragma once
#include <algorithm>
#include <cstring>
#include <thread>

#include "gswo_device.h"

namespace gswo {

/// The locked buffers of all threads.
class Copier {
 public:
  static Copier &get() {
    static Copier *const copier = new Copier;
    return *copier;
  }

  /// @param row  row(k) is the address of row number k on the host
  /// @param bytes  of each row
  template <class Row>
  void upload(char *device, std::size_t pitch, int rows, std::size_t bytes, const Row &row) {
    counts().uploads++;
    counts().uploaded += (long long)(rows * bytes);
    copy<true>(device, pitch, rows, bytes, row);
  }
  template <class Row>
  void download(char *device, std::size_t pitch, int rows, std::size_t bytes, const Row &row) {
    counts().downloads++;
    counts().downloaded += (long long)(rows * bytes);
    copy<false>(device, pitch, rows, bytes, row);
  }

 private:
  static constexpr std::size_t kBuffer = 1 << 20;
  static constexpr int kMostThreads = 16;

  struct Buffer {
    char *data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t done = nullptr;  ///< the device's copy from or to it
    int device = 0;              ///< that of the event
    int first = 0, rows = 0;     ///< rows that it has for the host
  };

  static int most_threads() {
    const char *const text = std::getenv("GSWO_COPY_THREADS");
    const int cores = std::max(1, (int)std::thread::hardware_concurrency());
    return text ? std::clamp(std::atoi(text), 0, kMostThreads) : std::min(4, cores);
  }

  template <bool up, class Row>
  void copy(char *device, std::size_t pitch, int rows, std::size_t bytes, const Row &row) {
    if (rows < 1 || bytes == 0) return;
    const int most = most_threads();
    if (most == 0 && by_driver<up>(device, pitch, rows, bytes, row)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const int rows_of_buffer = (int)std::max<std::size_t>(1, kBuffer / bytes);
    const int parts = (rows - 1) / rows_of_buffer + 1;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    const int threads = 1;  // others have other default streams
#else
    const int threads = std::clamp(std::min(most, parts / 2), 1, kMostThreads);
#endif
    int gpu = 0;
    check(cudaGetDevice(&gpu), "cudaGetDevice");
    for (int k = 0; k < 2 * threads; k++) prepare(buffers_[k], std::max(kBuffer, bytes), gpu);
    std::atomic<int> next{0};
    const auto work = [&](int thread) {
      Buffer *const mine = buffers_ + 2 * thread;
      int turn = 0;
      for (int part = next++; part < parts; part = next++, turn ^= 1) {
        Buffer &b = mine[turn];
        take_out(b, bytes, row);
        const int first = part * rows_of_buffer, n = std::min(rows_of_buffer, rows - first);
        char *const place = device + (std::size_t)first * pitch;
        if constexpr (up) {
          for (int k = 0; k < n; k++) std::memcpy(b.data + k * bytes, row(first + k), bytes);
          check(cudaMemcpy2DAsync(place, pitch, b.data, bytes, bytes, n, cudaMemcpyHostToDevice, 0),
                "cudaMemcpy2DAsync to the device");
        } else {
          check(cudaMemcpy2DAsync(b.data, bytes, place, pitch, bytes, n, cudaMemcpyDeviceToHost, 0),
                "cudaMemcpy2DAsync to the host");
          b.first = first, b.rows = n;
        }
        check(cudaEventRecord(b.done, 0), "cudaEventRecord");
      }
      for (int k = 0; !up && k < 2; k++) take_out(mine[turn ^ k], bytes, row);
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; thread++)
      others.emplace_back([&, thread] {
        check(cudaSetDevice(gpu), "cudaSetDevice");
        work(thread);
      });
    work(0);
    for (std::thread &t : others) t.join();
  }

  /// Waits until the device is done with a buffer; moves its rows to the host, if it has any.
  template <class Row>
  static void take_out(Buffer &b, std::size_t bytes, const Row &row) {
    check(cudaEventSynchronize(b.done), "a copy, or a kernel before it");
    if constexpr (!std::is_const_v<std::remove_pointer_t<decltype(row(0))>>)
      for (int k = 0; k < b.rows; k++) std::memcpy(row(b.first + k), b.data + k * bytes, bytes);
    b.rows = 0;
  }

  static void prepare(Buffer &b, std::size_t bytes, int gpu) {
    if (b.done && b.device != gpu) {  // streams of another device cannot record it
      check(cudaEventSynchronize(b.done), "a copy, or a kernel before it");
      check(cudaEventDestroy(b.done), "cudaEventDestroy");
      b.done = nullptr;
    }
    if (!b.done)
      check(cudaEventCreateWithFlags(&b.done, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    b.device = gpu;
    if (b.bytes >= bytes) return;
    check(cudaEventSynchronize(b.done), "a copy, or a kernel before it");
    check(cudaFreeHost(b.data), "cudaFreeHost");
    check(cudaMallocHost((void **)&b.data, bytes), "cudaMallocHost");
    b.bytes = bytes;
  }

  /// One copy, if the rows are at equal distances of at least their length.
  template <bool up, class Row>
  static bool by_driver(char *device, std::size_t pitch, int rows, std::size_t bytes,
                        const Row &row) {
    const std::ptrdiff_t distance = rows > 1 ? row(1) - row(0) : (std::ptrdiff_t)bytes;
    for (int k = 2; k < rows; k++)
      if (row(k) - row(k - 1) != distance) return false;
    if (distance < (std::ptrdiff_t)bytes) return false;
    if constexpr (up)
      check(cudaMemcpy2D(device, pitch, row(0), distance, bytes, rows, cudaMemcpyHostToDevice),
            "cudaMemcpy2D to the device");
    else
      check(cudaMemcpy2D(row(0), distance, device, pitch, bytes, rows, cudaMemcpyDeviceToHost),
            "cudaMemcpy2D to the host");
    return true;
  }

  std::mutex mutex_;
  Buffer buffers_[2 * kMostThreads];
};

}  // namespace gswo
