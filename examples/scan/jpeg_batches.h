// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coded.h"
#include "common/plane.h"
#include "gpu_load.h"
#include "kernels/cuda_resources.h"
#include "nvjpeg.h"

namespace cudascan::scan {

/// Decodes pages of the workers of a GPU on its engines for JPEG. The first picture of every batch
/// goes to the first engine, the second one to the second, and so on, so pages have to come in
/// batches. They form by themselves: when no batch is at work, a worker takes all pages that wait,
/// its own included, up to the number of engines, and decodes them for the others, which sleep. A
/// page that comes alone does not wait.
///
/// A second batch begins meanwhile if there are pages for all engines: a smaller one would wait for
/// the first engines, while the others have nothing to do.
///
/// Made, used and destroyed while the GPU is current.
class JpegBatches {
 public:
  /// @param handle  of nvJPEG with the backend for the engines; lives longer
  /// @throws Error
  JpegBatches(GpuJpegs &shared, int device, void *handle);
  ~JpegBatches();
  JpegBatches(const JpegBatches &) = delete;
  JpegBatches &operator=(const JpegBatches &) = delete;

  /// Decodes a page that the engines take, and waits until that is done. Any thread.
  /// @param free  after it, `to` may be written
  /// @return why the page is not decoded, or ""
  /// @throws Error when the GPU fails
  std::string decode(const CodedPage &page, const Plane<std::uint8_t> &to, const cuda::Event &free);
  /// Pictures that the GPU decodes at a time.
  int engines() const { return static_cast<int>(engines_); }

 private:
  /// A page whose worker sleeps in decode().
  struct Waiting {
    const CodedPage &page;
    const Plane<std::uint8_t> &to;
    const cuda::Event &free;
    std::string problem = {};
    std::exception_ptr error = nullptr;
    bool is_done = false;
    std::condition_variable wake = {};
  };
  struct Batch {
    Batch(GpuLoad &load, int device) : watched(load, device, stream) {}
    cuda::Stream stream;
    GpuLoad::Watched watched;
    cuda::Event done;
    void *state = nullptr;
    bool is_free = true;
    bool has_room = false;     ///< whether nvJPEG was told how large pages are
    std::size_t prepared = 0;  ///< pages that `state` is prepared for
    std::vector<Waiting *> pages;
    std::vector<const unsigned char *> data;
    std::vector<std::size_t> sizes;
    std::vector<NvjpegImage> images;
  };
  Batch *next_batch();
  void wake_next();
  void run(Batch &batch);
  void make_room(Batch &batch);
  std::string queue(Batch &batch, std::size_t first, std::size_t count);

  GpuJpegs &shared_;
  void *const handle_;
  std::size_t engines_;
  std::mutex mutex_;
  std::deque<Waiting *> waiting_;
  std::deque<Batch> batches_;
};

}  // namespace cudascan::scan
