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

/// Runs the frames of one element in one CUDA context. Three streams for upload, operator and
/// download are chained by events, so that one frame is uploaded while another is computed and a
/// third is downloaded. If one of our elements wrote a frame to CUDAMemory, the next element
/// computes on the same stream: a kernel that waits for an event of another stream starts some
/// microseconds later than one that follows directly. If all elements that use a frame do so, no
/// event is recorded after it, because an event between kernels costs as much. A frame in
/// CUDAMemory of another context, usually of another GPU, is copied over by the stream for upload.
/// Pushes the context where needed; only one thread may use it at a time.
class CudaEngine {
 public:
  CudaEngine(GstCudaContext *context, std::shared_ptr<OwnerStream> compute,
             std::shared_ptr<Stats> stats);
  ~CudaEngine();
  CudaEngine(const CudaEngine &) = delete;
  CudaEngine &operator=(const CudaEngine &) = delete;

  void process(const CudaSide::Job &job);

  /// Reads the times of the finished frames and releases their input.
  void collect();
  /// Waits for the frames whose input is still held, and releases it.
  void release_inputs();

 private:
  struct Frame;

  std::unique_ptr<Frame> begin_frame(std::size_t bytes);
  void finish_oldest();
  void wait_for_oldest();
  void wait_for_all();
  void queue(Frame &frame, const CudaSide::Job &job);
  void compute_on(std::shared_ptr<OwnerStream> stream);
  Picture stage(Frame &frame, const Picture &host, int n_planes, guint n_threads);
  Picture upload(Frame &frame, const Picture &from, const GstCudaMemory *owner, int n_planes);
  bool limited_pool(GstBufferPool *pool);

  Ref<GstCudaContext> context_;
  std::shared_ptr<Stats> stats_;
  const std::shared_ptr<OwnerStream> own_;
  std::shared_ptr<OwnerStream> compute_;  // its own, or that of the previous element
  const std::shared_ptr<OwnerStream> upload_, download_;
  std::optional<Cuda> exec_;
  std::optional<Cpu> cpu_;  // copies pageable input to staging memory
  guint cpu_threads_ = 0;

  std::deque<std::unique_ptr<Frame>> under_way_;  // oldest first
  std::vector<std::unique_ptr<Frame>> idle_;
  std::uint64_t frames_ = 0;
  /// All users of the latest finished frame computed after it on the same stream.
  bool followed_ = false;

  Ref<GstBufferPool> known_pool_;  // the last one that limited_pool() was asked about
  bool known_pool_limited_ = false;
};

}  // namespace cudascan::gst
