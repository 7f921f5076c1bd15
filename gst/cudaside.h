// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA half of an element: context, streams, pools, transfers. Two files implement it:
/// cudaside.cpp with libgstcuda, cudaside_absent.cpp without, so that nothing else asks how the
/// plugin was built.
#pragma once
#include <gst/video/video.h>

#include <functional>
#include <memory>

#include "gst/picture.h"
#include "gst/stats.h"
#include "kernels/exec.h"

namespace cudascan::gst {

class CudaSide {
 public:
  CudaSide(GstElement *element, std::shared_ptr<Stats> stats);
  ~CudaSide();
  CudaSide(const CudaSide &) = delete;
  CudaSide &operator=(const CudaSide &) = delete;

  /// Whether CUDA can be used in this process at all; decides whether CUDAMemory is offered.
  static bool usable();

  /// Finds or makes a context on a device (-1 = any), if there is none yet.
  /// @throws Error that says what is missing
  void open(int device_id);
  void close();
  bool is_open() const;

  void set_context(GstContext *context, int device_id);
  bool answer_context_query(GstQuery *query);

  /// Moves to the context of the memory in `buffer`, unless `device_id` forbids it.
  /// @return whether the context changed; pools must then be negotiated again
  bool follow(GstBuffer *buffer, int device_id);

  /// Offers upstream a pool: of CUDAMemory, or of pinned memory that uploads run out of.
  void propose_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory);
  /// Puts a pool of our own first: CUDAMemory, or pinned memory that downloads run into.
  void decide_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory);

  /// Has an operator load the kernels that it will launch in frames of these formats, so that the
  /// frames do not wait for that. Called by any thread. What fails here, fails when a frame comes.
  void load_kernels(const GstVideoInfo &in_info, const GstVideoInfo &out_info,
                    const std::function<void(Cuda &, const Luma &)> &run);

  struct Job {
    const GstVideoInfo &in_info;
    GstBuffer *in;
    const GstVideoInfo &out_info;
    GstBuffer *out;
    Chroma chroma;
    bool wait;        ///< return when the operator is done, with what it reports
    guint n_threads;  ///< CPU threads for what the CPU has to do
    const std::function<void(Cuda &, const Luma &)> &run;
  };
  /// Queues one frame: upload, operator, download, as far as the memories of its buffers need them.
  /// Returns at once unless too many frames are under way. Whoever maps `out` waits for it.
  void process(const Job &job);

  /// Waits for the frames whose input buffers are held, and lets go of them.
  void release_inputs();
  /// Waits for the frames under way and frees everything but the context.
  void stop();

  /// Brings `stats` up to date with the frames that are done; while a frame is processed, with
  /// those that were when it came. Never waits.
  void collect_times();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudascan::gst
