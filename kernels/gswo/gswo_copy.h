// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Copies between rows in host memory, which may be anywhere, and an image on the device.
///
/// The device reads and writes only host memory that is locked. One thread cannot move pixels there
/// as fast as the bus takes them, so several threads do: each fills (or empties) two small locked
/// buffers in turn, and the device copies one while the thread works on the other. Up to
/// GSWO_COPY_THREADS threads take part (an environment variable, 4 by default); with 0 the driver
/// copies rows at equal distances itself, by cudaMemcpy2D.
///
/// Slices of a volume go through the buffers together. Rows that nearly touch on the device are
/// copied with what is between them, if nobody needs that; a kernel moves small scattered rows.
#pragma once
#include <algorithm>
#include <cstring>
#include <thread>

#include "gswo_device.h"
#include "gswo_pieces.h"
#include "gswo_rt.h"

namespace gswo {

/// Rows at equal distances, in runs that are at equal distances, too.
struct Rows {
  char *data;
  long long pitch, distance;  ///< from row to row, from run to run
};

#if GSWO_CUDA
/// @param words  of each row
/// @param rows   of each run
/// @param count  words in total
template <class Word>
__global__ void move_words(Rows from, Rows to, unsigned words, unsigned rows, unsigned count) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = first; k < count; k += gridDim.x * blockDim.x) {
    const unsigned row = k / words, column = k % words, run = row / rows;
    const auto place = [&](const Rows &all) {
      return (Word *)(all.data + run * all.distance + row % rows * all.pitch) + column;
    };
    *place(to) = *place(from);
  }
}

template <class Word>
inline void launch_move(const Rows &from, const Rows &to, std::size_t bytes, unsigned rows,
                        int runs) {
  constexpr unsigned kThreads = 256, kMostBlocks = 1024;
  Rows source = from, target = to;
  unsigned words = (unsigned)(bytes / sizeof(Word)), count = words * rows * (unsigned)runs;
  void *arguments[] = {&source, &target, &words, &rows, &count};
  check(cudaLaunchKernel(move_words<Word>, dim3(std::min((count - 1) / kThreads + 1, kMostBlocks)),
                         dim3(kThreads), arguments, 0, 0),
        "a kernel that moves rows");
}
#endif

/// Copies rows; one of the places may be locked memory of the host.
inline void move_rows(const Rows &from, const Rows &to, std::size_t bytes, int rows, int runs,
                      cudaMemcpyKind kind) {
#if GSWO_CUDA
  constexpr std::size_t kNarrow = 256;  // cudaMemcpy2DAsync is slow with such rows
  // The kernel counts words in 32 bits.
  const bool fits = bytes * (std::size_t)rows * (std::size_t)runs <= (std::size_t)1 << 31;
  if (fits && (runs > 1 || (bytes < kNarrow && rows > 1))) {
    unsigned long long all = bytes;
    for (const Rows *r : {&from, &to})
      all |= (unsigned long long)r->data | (unsigned long long)r->pitch |
             (unsigned long long)r->distance;
    if (all % 16 == 0) return launch_move<Vector<unsigned, 4>>(from, to, bytes, rows, runs);
    if (all % 4 == 0) return launch_move<unsigned>(from, to, bytes, rows, runs);
    return launch_move<unsigned char>(from, to, bytes, rows, runs);
  }
#endif
  for (int k = 0; k < runs; k++)
    check(cudaMemcpy2DAsync(to.data + k * to.distance, to.pitch, from.data + k * from.distance,
                            from.pitch, bytes, rows, kind, 0),
          "cudaMemcpy2DAsync");
}

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
    upload({{device, pitch, rows, bytes}}, [&](std::size_t, int k) { return row(k); });
  }
  template <class Row>
  void download(char *device, std::size_t pitch, int rows, std::size_t bytes, const Row &row) {
    download({{device, pitch, rows, bytes}}, [&](std::size_t, int k) { return row(k); });
  }

  /// @param row  row(p, k) is the address of row number k of piece number p on the host
  template <class Row>
  void upload(const std::vector<Piece> &pieces, const Row &row) {
    counts().uploads += (long long)pieces.size();
    for (const Piece &p : pieces) counts().uploaded += (long long)(p.rows * p.bytes);
    copy<true>(pieces, row);
  }
  template <class Row>
  void download(const std::vector<Piece> &pieces, const Row &row) {
    counts().downloads += (long long)pieces.size();
    for (const Piece &p : pieces) counts().downloaded += (long long)(p.rows * p.bytes);
    copy<false>(pieces, row);
  }

 private:
  static constexpr std::size_t kBuffer = 1 << 20;
  static constexpr int kMostThreads = 16;

  struct Buffer {
    char *data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t done = nullptr;  ///< the device's copy from or to it
    int device = 0;              ///< that of the event
    long long part = -1;         ///< the part of the plan that it has for the host, or -1
  };

  static int most_threads() {
    const char *const text = std::getenv("GSWO_COPY_THREADS");
    const int cores = std::max(1, (int)std::thread::hardware_concurrency());
    return text ? std::clamp(std::atoi(text), 0, kMostThreads) : std::min(4, cores);
  }

  template <bool up, class Row>
  void copy(const std::vector<Piece> &pieces, const Row &row) {
    const int most = most_threads();
    std::size_t capacity = kBuffer;
    std::vector<Piece> left = pieces;
    for (std::size_t k = 0; k < left.size(); k++) {
      const auto row_of = [&](int y) { return row(k, y); };
      if (left[k].bytes == 0 || (most == 0 && by_driver<up>(left[k], row_of))) left[k].rows = 0;
      if (left[k].rows > 0) capacity = std::max(capacity, left[k].bytes);
    }
    const CopyPlan plan(left, capacity);
    const int parts = (int)plan.parts.size();
    if (parts == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    const int threads = 1;  // others have other default streams
#else
    const int threads = std::clamp(std::min(most, parts / 2), 1, kMostThreads);
#endif
    int gpu = 0;
    check(cudaGetDevice(&gpu), "cudaGetDevice");
    for (int k = 0; k < 2 * threads; k++) prepare(buffers_[k], capacity, gpu);
    std::atomic<int> next{0};
    const auto work = [&](int thread) {
      Buffer *const mine = buffers_ + 2 * thread;
      int &turn = turns_[thread];
      for (int part = next++; part < parts; part = next++, turn ^= 1) {
        Buffer &b = mine[turn];
        take_out(b, plan, row);
        if constexpr (up)
          each_row(plan, part, [&](const auto &run, int k) {
            std::memcpy(b.data + run.offset + k * run.step, row(run.piece, run.first + k),
                        run.bytes);
          });
        else
          b.part = part;
        move<up>(b, plan, part);
        check(cudaEventRecord(b.done, 0), "cudaEventRecord");
      }
      for (int k = 0; !up && k < 2; k++) take_out(mine[turn ^ k], plan, row);
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

  /// Calls use(run, k) for the rows of a part.
  template <class Use>
  static void each_row(const CopyPlan &plan, long long part, const Use &use) {
    for (std::size_t r = plan.begin_of(part).run_end; r < plan.parts[part].run_end; r++)
      for (int k = 0; k < plan.runs[r].rows; k++) use(plan.runs[r], k);
  }

  /// Queues the device's copies of a part.
  template <bool up>
  static void move(const Buffer &b, const CopyPlan &plan, long long part) {
    for (std::size_t g = plan.begin_of(part).group_end; g < plan.parts[part].group_end; g++) {
      const CopyPlan::Group &group = plan.groups[g];
      char *const host = b.data + group.offset;
      constexpr auto kind = up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
      if (group.is_linear) {
        check(cudaMemcpyAsync(up ? group.device : host, up ? host : group.device, group.bytes, kind,
                              0),
              "cudaMemcpyAsync");
      } else {
        const Rows packed{host, (long long)group.bytes, (long long)(group.rows * group.bytes)},
            spread{group.device, (long long)group.pitch, (long long)group.distance};
        move_rows(up ? packed : spread, up ? spread : packed, group.bytes, group.rows, group.runs,
                  kind);
      }
    }
  }

  /// Waits until the device is done with a buffer; moves its rows to the host, if it has any.
  template <class Row>
  static void take_out(Buffer &b, const CopyPlan &plan, const Row &row) {
    check(cudaEventSynchronize(b.done), "a copy, or a kernel before it");
    if constexpr (!std::is_const_v<std::remove_pointer_t<decltype(row(0, 0))>>)
      if (b.part >= 0)
        each_row(plan, b.part, [&](const auto &run, int k) {
          std::memcpy(row(run.piece, run.first + k), b.data + run.offset + k * run.step, run.bytes);
        });
    b.part = -1;
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
  static bool by_driver(const Piece &p, const Row &row) {
    const std::ptrdiff_t distance = p.rows > 1 ? row(1) - row(0) : (std::ptrdiff_t)p.bytes;
    for (int k = 2; k < p.rows; k++)
      if (row(k) - row(k - 1) != distance) return false;
    if (p.rows < 1 || distance < (std::ptrdiff_t)p.bytes) return false;
    if constexpr (up)
      check(cudaMemcpy2D(p.device, p.pitch, row(0), distance, p.bytes, p.rows,
                         cudaMemcpyHostToDevice),
            "cudaMemcpy2D to the device");
    else
      check(cudaMemcpy2D(row(0), distance, p.device, p.pitch, p.bytes, p.rows,
                         cudaMemcpyDeviceToHost),
            "cudaMemcpy2D to the host");
    return true;
  }

  std::mutex mutex_;
  Buffer buffers_[2 * kMostThreads];
  int turns_[kMostThreads] = {};  ///< which of its two buffers a thread uses next
};

}  // namespace gswo
