// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "gst/cudamemory.h"
#include "gst/cudaside.h"

namespace cudascan::gst {

/// Runs the frames of one element in one CUDA context: three streams for upload, operator and
/// download, chained by events, so that one frame goes up while another is computed and a third
/// comes down. Frames that an element of ours wrote to CUDAMemory are computed on its stream: a
/// kernel that waits for an event of another stream begins some microseconds later than one that
/// follows. And where all elements that take a frame do so, nothing is recorded behind it: an event
/// between kernels costs as much. Has the context pushed wherever it needs it; used by one thread
/// at a time.
class CudaEngine {
 public:
  CudaEngine(GstCudaContext *context, std::shared_ptr<OwnerStream> compute,
             std::shared_ptr<Stats> stats);
  ~CudaEngine();
  CudaEngine(const CudaEngine &) = delete;
  CudaEngine &operator=(const CudaEngine &) = delete;

  void process(const CudaSide::Job &job);

  /// Takes the times of the frames that are done, and lets go of their input.
  void collect();
  /// Waits for the frames whose input is still held, and lets go of it.
  void release_inputs();

 private:
  struct Frame;

  std::unique_ptr<Frame> begin_frame(std::size_t bytes);
  void finish_oldest();
  void wait_for_oldest();
  void wait_for_all();
  void queue(Frame &frame, const CudaSide::Job &job);
  void compute_on(std::shared_ptr<OwnerStream> stream);
  Picture upload(Frame &frame, const Picture &host, bool pinned, int n_planes, guint n_threads);
  bool limited_pool(GstBufferPool *pool);

  Ref<GstCudaContext> context_;
  std::shared_ptr<Stats> stats_;
  const std::shared_ptr<OwnerStream> own_;
  std::shared_ptr<OwnerStream> compute_;  // its own one, or that of the element before
  const std::shared_ptr<OwnerStream> upload_, download_;
  std::optional<Cuda> exec_;
  std::optional<Cpu> cpu_;  // copies pageable input to staging memory
  guint cpu_threads_ = 0;

  std::deque<std::unique_ptr<Frame>> under_way_;  // oldest first
  std::vector<std::unique_ptr<Frame>> idle_;
  std::uint64_t frames_ = 0;
  /// Those who took the latest frame that is done all computed behind it on the same stream.
  bool followed_ = false;

  Ref<GstBufferPool> known_pool_;  // the last one that limited_pool() was asked about
  bool known_pool_limited_ = false;
};

}  // namespace cudascan::gst
