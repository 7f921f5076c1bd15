// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cudaside.h"

#include <exception>
#include <mutex>
#include <optional>

#include "gst/cudaengine.h"
#include "gst/cudamemory.h"
#include "gst/luma_planes.h"
#include "gst/mapped_frame.h"

namespace cudascan::gst {

namespace {

/// The layout of a frame in device memory, for a CudaLoader, which accesses no memory.
void *nowhere(std::size_t) {
  return reinterpret_cast<void *>(std::uintptr_t{1} << 40);
}
Picture picture_nowhere(const GstVideoInfo &info) {
  return lay_out(info, static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info)), nowhere);
}

}  // namespace

struct CudaSide::Impl {
  GstElement *element;
  std::shared_ptr<Stats> stats;

  /// Guards the members from here to the engine. Never held while the element asks others for a
  /// context, because they may be asking this one.
  std::mutex context_mutex;
  GstCudaContext *context = nullptr;
  GstCudaContext **wanted = nullptr;    // where the running open() wants the context
  std::shared_ptr<OwnerStream> stream;  // of the context

  /// Guards the engine: the streaming thread uses it, others read its times or stop it.
  std::mutex engine_mutex;
  std::unique_ptr<CudaEngine> engine;

  /// Guards the loading of kernels, while frames continue.
  std::mutex loader_mutex;
  Ref<GstCudaContext> loader_context;  // whose kernels the loader knows
  std::optional<CudaLoader> loader;

  Ref<GstCudaContext> current() {
    std::lock_guard lock(context_mutex);
    return add_ref(context);
  }
  std::shared_ptr<OwnerStream> current_stream() {
    std::lock_guard lock(context_mutex);
    if (!stream) stream = std::make_shared<OwnerStream>(context);
    return stream;
  }
};

CudaSide::CudaSide(GstElement *element, std::shared_ptr<Stats> stats) : impl_(new Impl) {
  impl_->element = element;
  impl_->stats = std::move(stats);
}

CudaSide::~CudaSide() {
  close();
}

bool CudaSide::usable() {
  static const bool usable = [] {
    if (!gst_cuda_load_library() || !Cuda::available()) return false;
    gst_cuda_memory_init_once();
    return true;
  }();
  return usable;
}

void CudaSide::open(int device_id) {
  if (is_open()) return;
  if (!usable())
    throw Error(gst_cuda_load_library()
                    ? "no usable CUDA device found; nvidia-smi shows what the driver sees"
                    : "the NVIDIA driver was not found (libcuda.so.1)");
  GstCudaContext *found = nullptr;
  {
    std::lock_guard lock(impl_->context_mutex);
    impl_->wanted = &found;
  }
  const bool ok = gst_cuda_ensure_element_context(impl_->element, device_id, &found);
  {
    std::lock_guard lock(impl_->context_mutex);
    impl_->wanted = nullptr;
    impl_->context = found;
  }
  if (!ok) {
    if (device_id < 0) throw Error("cannot create a CUDA context; is the GPU out of memory?");
    throw Error("cuda-device-id = " + std::to_string(device_id) +
                ": cannot create a CUDA context on this device; -1 takes any");
  }
}

void CudaSide::close() {
  stop();
  {
    std::lock_guard lock(impl_->loader_mutex);
    impl_->loader.reset();
    impl_->loader_context.reset();
  }
  std::lock_guard lock(impl_->context_mutex);
  impl_->stream.reset();
  gst_clear_object(&impl_->context);
}

bool CudaSide::is_open() const {
  std::lock_guard lock(impl_->context_mutex);
  return impl_->context != nullptr;
}

void CudaSide::set_context(GstContext *context, int device_id) {
  std::lock_guard lock(impl_->context_mutex);
  gst_cuda_handle_set_context(impl_->element, context, device_id,
                              impl_->wanted ? impl_->wanted : &impl_->context);
}

bool CudaSide::answer_context_query(GstQuery *query) {
  const Ref<GstCudaContext> context = impl_->current();
  return gst_cuda_handle_context_query(impl_->element, query, context.get());
}

bool CudaSide::follow(GstBuffer *buffer, int device_id) {
  GstMemory *memory = only_memory(buffer);
  if (!memory || !gst_is_cuda_memory(memory)) return false;
  GstCudaContext *context = GST_CUDA_MEMORY_CAST(memory)->context;
  if (impl_->current().get() == context) return false;
  if (device_id >= 0) {
    guint id = 0;
    g_object_get(context, "cuda-device-id", &id, nullptr);
    if (id != static_cast<guint>(device_id)) return false;
  }
  stop();
  std::lock_guard lock(impl_->context_mutex);
  impl_->stream.reset();
  gst_object_replace(reinterpret_cast<GstObject **>(&impl_->context), GST_OBJECT_CAST(context));
  return true;
}

void CudaSide::propose_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory) {
  const Ref<GstCudaContext> context = impl_->current();
  Ref<GstAllocator> allocator;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  if (!cuda_memory) {
    allocator.reset(pinned_allocator_new(context.get(), impl_->stats));
    gst_query_add_allocation_param(query, allocator.get(), &params);
  }

  GstCaps *caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  Ref<GstBufferPool> pool;
  auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  if (need_pool) {
    pool.reset(cuda_memory ? cuda_pool_new(context.get(), impl_->current_stream(), impl_->stats)
                           : gst_video_buffer_pool_new());
    GstStructure *config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
    if (allocator) gst_buffer_pool_config_set_allocator(config, allocator.get(), &params);
    if (!gst_buffer_pool_set_config(pool.get(), config))
      throw Error("the pool offered upstream cannot be configured");
    config = gst_buffer_pool_get_config(pool.get());  // the pool may have enlarged the frames
    gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
    gst_structure_free(config);
  }
  gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
}

void CudaSide::decide_pool(GstQuery *query, const GstVideoInfo &info, bool cuda_memory) {
  const Ref<GstCudaContext> context = impl_->current();
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  Ref<GstAllocator> allocator;
  Ref<GstBufferPool> pool;
  if (cuda_memory) {
    pool.reset(cuda_pool_new(context.get(), impl_->current_stream(), impl_->stats));
  } else {
    allocator.reset(pinned_allocator_new(context.get(), impl_->stats));
    pool.reset(gst_video_buffer_pool_new());
  }
  // Downstream's alignment and padding count, but not its allocator.
  if (gst_query_get_n_allocation_params(query) > 0) {
    gst_query_parse_nth_allocation_param(query, 0, nullptr, &params);
    gst_query_set_nth_allocation_param(query, 0, allocator.get(), &params);
  } else {
    gst_query_add_allocation_param(query, allocator.get(), &params);
  }
  guint size = 0, min = 0, max = 0;
  const auto full = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &size, &min, &max);
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), MAX(size, full), min, 0);
  } else {
    gst_query_add_allocation_pool(query, pool.get(), full, 0, 0);
  }
}

void CudaSide::load_kernels(const GstVideoInfo &in_info, const GstVideoInfo &out_info,
                            const std::function<void(Cuda &, const Luma &)> &run) {
  const Ref<GstCudaContext> context = impl_->current();
  if (!context) return;
  std::lock_guard lock(impl_->loader_mutex);
  try {
    ContextScope scope(context.get());
    if (impl_->loader_context.get() != context.get()) {
      impl_->loader_context = add_ref(context.get());
      impl_->loader.emplace();
    }
    const Picture in = picture_nowhere(in_info), out = picture_nowhere(out_info);
    const LumaPlanes luma(in, out, nowhere, nowhere);
    run(*impl_->loader, luma.fetch(*impl_->loader));
    for (const Chroma chroma : {Chroma::copied, Chroma::neutral, Chroma::hue})
      if (!luma.put(*impl_->loader, chroma) && chroma != Chroma::copied)
        make_chroma(*impl_->loader, chroma, in, out);
  } catch (const std::exception &e) {
    GST_DEBUG_OBJECT(impl_->element, "kernels are not loaded in advance: %s", e.what());
  }
}

void CudaSide::process(const Job &job) {
  std::lock_guard lock(impl_->engine_mutex);
  if (!impl_->engine) {
    const Ref<GstCudaContext> context = impl_->current();
    impl_->engine =
        std::make_unique<CudaEngine>(context.get(), impl_->current_stream(), impl_->stats);
  }
  impl_->engine->process(job);
}

void CudaSide::release_inputs() {
  std::lock_guard lock(impl_->engine_mutex);
  if (impl_->engine) impl_->engine->release_inputs();
}

void CudaSide::stop() {
  std::lock_guard lock(impl_->engine_mutex);
  impl_->engine.reset();
}

void CudaSide::collect_times() {
  // The streaming thread collects with each frame. It may hold the lock most of the time, asleep.
  const std::unique_lock lock(impl_->engine_mutex, std::try_to_lock);
  if (lock && impl_->engine) impl_->engine->collect();
}

}  // namespace cudascan::gst
