// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces cudaside.cpp in a build without CUDA or libgstcuda.
#include "gst/cudaside.h"

namespace cudascan::gst {

struct CudaSide::Impl {};

CudaSide::CudaSide(GstElement *, std::shared_ptr<Stats>) {}
CudaSide::~CudaSide() = default;

bool CudaSide::usable() {
  return false;
}
void CudaSide::open(int) {
#ifdef HAVE_CUDA
  throw Error(
      "the plugin was built without gstreamer-cuda-1.0, so its elements run only on the CPU");
#else
  throw Error("the plugin was built without CUDA; build it where nvcc is installed");
#endif
}
void CudaSide::close() {}
bool CudaSide::is_open() const {
  return false;
}
void CudaSide::set_context(GstContext *, int) {}
bool CudaSide::answer_context_query(GstQuery *) {
  return false;
}
bool CudaSide::follow(GstBuffer *, int) {
  return false;
}
void CudaSide::propose_pool(GstQuery *, const GstVideoInfo &, bool) {}
void CudaSide::decide_pool(GstQuery *, const GstVideoInfo &, bool) {}
void CudaSide::load_kernels(const GstVideoInfo &, const GstVideoInfo &,
                            const std::function<void(Cuda &, const Luma &)> &) {}
void CudaSide::process(const Job &) {
  open(-1);
}
void CudaSide::release_inputs() {}
void CudaSide::stop() {}
void CudaSide::collect_times() {}

}  // namespace cudascan::gst
