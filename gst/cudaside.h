// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The CUDA half of an element: context, streams, pools, transfers. Two files implement it:
/// cudaside.cpp with libgstcuda and cudaside_absent.cpp without it, so that no other code needs to
/// know how the plugin was built.
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

  /// Switches to the context of the memory in `buffer`, unless `device_id` forbids it.
  /// @return whether the context changed; then pools must be negotiated again
  bool follow(GstBuffer *buffer, int device_id);

  /// Offers upstream a pool of CUDAMemory, or of pinned memory for fast uploads.
  void propose_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory);
  /// Puts our own pool first: CUDAMemory, or pinned memory for fast downloads.
  void decide_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory);

  /// Makes an operator load its kernels for frames of these formats, so that frames need not wait
  /// for that. Any thread may call it. It reports no errors; the frame will.
  void load_kernels(const GstVideoInfo &in_info, const GstVideoInfo &out_info,
                    const std::function<void(Cuda &, const Luma &)> &run);

  struct Job {
    const GstVideoInfo &in_info;
    GstBuffer *in;
    const GstVideoInfo &out_info;
    GstBuffer *out;
    Chroma chroma;
    bool wait;        ///< return when the operator is done and its report is valid
    guint n_threads;  ///< threads for work on the CPU
    const std::function<void(Cuda &, const Luma &)> &run;
  };
  /// Queues one frame: upload, operator, download, as needed for the memories of its buffers.
  /// Returns at once unless too many frames are in flight. Mapping `out` waits for it.
  void process(const Job &job);

  /// Waits for the frames whose input buffers are held, and releases these.
  void release_inputs();
  /// Waits for the frames in flight and frees everything except the context.
  void stop();

  /// Updates `stats` with the finished frames; while a frame is processed, with those finished when
  /// it came. Never waits.
  void collect_times();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cudascan::gst
