// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cudamemory.h"

#include <cstring>

#include "common/error.h"
#include "gst/picture.h"

namespace cudascan::gst {
namespace {

/// C++ members of a GObject: created in instance_init, deleted in finalize.
struct AllocatorOwn {
  Ref<GstCudaContext> context;
  std::shared_ptr<Stats> stats;
  std::shared_ptr<OwnerStream> owner;  // of CUDAMemory
};

template <typename Instance>
void finalize(GObject *object) {
  auto instance = reinterpret_cast<Instance *>(object);
  delete instance->own;
  G_OBJECT_CLASS(g_type_class_peek_parent(G_OBJECT_GET_CLASS(object)))->finalize(object);
}

template <typename Instance>
GType register_type(GType parent, const char *name, gsize class_size, GClassInitFunc class_init,
                    GInstanceInitFunc instance_init) {
  return g_type_register_static_simple(parent, g_intern_static_string(name),
                                       static_cast<guint>(class_size), class_init, sizeof(Instance),
                                       instance_init, static_cast<GTypeFlags>(0));
}

// CUDAMemory --------------------------------------------------------------------------------------

/// libgstcuda's allocator with a map function that waits first. A memory is mapped by its
/// allocator, so this covers all memory from here, whoever maps it.
struct CudaAllocator {
  GstCudaAllocator parent;
  AllocatorOwn *own;
  GstMemoryMapFunction parent_map;

  static GType type();
};

GQuark state_quark() {
  static const GQuark quark = g_quark_from_static_string("cudascan-memory-state");
  return quark;
}

/// Allocates a frame with its planes below each other, all with one pitch, which is libgstcuda's
/// layout. libgstcuda does not support gray formats (1.22 aborts) and gives NV21 of odd height one
/// row too few. So this asks for ARGB with as many bytes in a row and as many rows, and then
/// corrects the public description of the memory.
GstMemory *alloc_frame(CudaAllocator *allocator, GstCudaContext *context,
                       const GstVideoInfo &info) {
  int row_bytes = 0, rows = 0;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    const PlaneShape shape = plane_shape(info, i);
    row_bytes = MAX(row_bytes, shape.row_bytes());
    rows += shape.height;
  }
  GstVideoInfo argb;
  gst_video_info_init(&argb);
  argb.finfo = gst_video_format_get_info(GST_VIDEO_FORMAT_ARGB);
  argb.width = (row_bytes + 3) / 4;
  argb.height = rows;
  argb.stride[0] = argb.width * 4;
  argb.size = static_cast<gsize>(argb.stride[0]) * rows;
  auto state = std::make_unique<MemoryState>(context, allocator->own->stats);
  GstMemory *memory = libgstcuda_alloc(&allocator->parent, context, *allocator->own->owner, argb);
  if (!memory) return nullptr;

  GstVideoInfo &described = GST_CUDA_MEMORY_CAST(memory)->info;
  const gsize size = described.size;
  const int pitch = described.stride[0];
  described = info;
  described.size = size;
  gsize offset = 0;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    described.stride[i] = pitch;
    described.offset[i] = offset;
    offset += static_cast<gsize>(pitch) * plane_shape(info, i).height;
  }
  // libgstcuda's memory cannot be shared, but it does not declare that.
  GST_MINI_OBJECT_FLAG_SET(memory, GST_MEMORY_FLAG_NO_SHARE);
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), state_quark(), state.release(),
                            [](gpointer state) { delete static_cast<MemoryState *>(state); });
  return memory;
}

gpointer cuda_map(GstMemory *memory, gsize max_size, GstMapFlags flags) {
  if (!(flags & kMapQueued) && !state_of(memory)->wait(flags)) return nullptr;
  return reinterpret_cast<CudaAllocator *>(memory->allocator)->parent_map(memory, max_size, flags);
}

/// Queues a copy of the whole memory.
/// @throws Error when CUDA refuses
void queue_copy(GstMemory *from, const GstMapInfo &in, GstMemory *to, const GstMapInfo &out) {
  ContextScope scope(GST_CUDA_MEMORY_CAST(from)->context);
  const auto &owner = reinterpret_cast<CudaAllocator *>(from->allocator)->own->owner;
  state_of(from)->usage().begin_read(owner->get());
  cuda::copy_rows(out.data, 0, in.data, 0, MIN(in.size, out.size), 1, owner->get());
  const auto end = std::make_shared<Moment>(OwnerStream::timeline(owner));
  state_of(from)->usage().end_read(end);
  state_of(to)->usage().end_write(end);
}

/// The copy function of libgstcuda does not support all our formats either.
GstMemory *cuda_copy(GstMemory *memory, gssize offset, gssize size) {
  const bool whole = offset == 0 && (size == -1 || static_cast<gsize>(size) == memory->size);
  GstMemory *copy =
      whole ? alloc_frame(reinterpret_cast<CudaAllocator *>(memory->allocator),
                          GST_CUDA_MEMORY_CAST(memory)->context, GST_CUDA_MEMORY_CAST(memory)->info)
            : gst_allocator_alloc(nullptr, size == -1 ? memory->size - offset : size, nullptr);
  if (!copy) return nullptr;
  const guint flags = whole ? GST_MAP_CUDA | kMapQueued : 0;
  GstMapInfo in, out;
  bool done = false;
  if (gst_memory_map(memory, &in, static_cast<GstMapFlags>(GST_MAP_READ | flags))) {
    if (gst_memory_map(copy, &out, static_cast<GstMapFlags>(GST_MAP_WRITE | flags))) {
      try {
        if (whole)
          queue_copy(memory, in, copy, out);
        else
          std::memcpy(out.data, in.data + offset, out.size);
        done = true;
      } catch (const Error &e) {
        GST_ERROR_OBJECT(memory->allocator, "CUDA memory could not be copied: %s", e.what());
      }
      gst_memory_unmap(copy, &out);
    }
    gst_memory_unmap(memory, &in);
  }
  if (!done) g_clear_pointer(&copy, gst_memory_unref);
  return copy;
}

GType CudaAllocator::type() {
  static const GType type = register_type<CudaAllocator>(
      GST_TYPE_CUDA_ALLOCATOR, "GstCudaScanAllocator", sizeof(GstCudaAllocatorClass),
      [](gpointer klass, gpointer) {
        static_cast<GObjectClass *>(klass)->finalize = finalize<CudaAllocator>;
      },
      [](GTypeInstance *instance, gpointer) {
        auto self = reinterpret_cast<CudaAllocator *>(instance);
        self->own = new AllocatorOwn();
        GstAllocator *allocator = GST_ALLOCATOR_CAST(self);
        self->parent_map = allocator->mem_map;  // set by the parent's init, which ran before
        allocator->mem_map = cuda_map;
        allocator->mem_copy = cuda_copy;
      });
  return type;
}

struct PoolOwn {
  Ref<GstCudaContext> context;
  Ref<CudaAllocator> allocator;
  GstVideoInfo info;
};

struct CudaPool {
  GstBufferPool parent;
  PoolOwn *own;

  static GType type();
};

gboolean pool_set_config(GstBufferPool *pool, GstStructure *config) {
  PoolOwn &own = *reinterpret_cast<CudaPool *>(pool)->own;
  GstCaps *caps = nullptr;
  guint min = 0, max = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, &min, &max) || !caps ||
      !gst_video_info_from_caps(&own.info, caps))
    return FALSE;
  // Only an allocation tells the pitch, and a pool needs the exact size of its buffers.
  GstMemory *memory = alloc_frame(own.allocator.get(), own.context.get(), own.info);
  if (!memory) return FALSE;
  const auto size = static_cast<guint>(gst_memory_get_sizes(memory, nullptr, nullptr));
  gst_memory_unref(memory);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  auto parent = GST_BUFFER_POOL_CLASS(g_type_class_peek_parent(G_OBJECT_GET_CLASS(pool)));
  return parent->set_config(pool, config);
}

GstFlowReturn pool_alloc(GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *) {
  PoolOwn &own = *reinterpret_cast<CudaPool *>(pool)->own;
  GstMemory *memory = alloc_frame(own.allocator.get(), own.context.get(), own.info);
  if (!memory) return GST_FLOW_ERROR;
  GstVideoInfo &info = GST_CUDA_MEMORY_CAST(memory)->info;
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, memory);
  gst_buffer_add_video_meta_full(*buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 info.width, info.height, GST_VIDEO_INFO_N_PLANES(&info),
                                 info.offset, info.stride);
  return GST_FLOW_OK;
}

GType CudaPool::type() {
  static const GType type = register_type<CudaPool>(
      GST_TYPE_BUFFER_POOL, "GstCudaScanBufferPool", sizeof(GstBufferPoolClass),
      [](gpointer klass, gpointer) {
        static_cast<GObjectClass *>(klass)->finalize = finalize<CudaPool>;
        auto pool_class = static_cast<GstBufferPoolClass *>(klass);
        pool_class->get_options = [](GstBufferPool *) {
          static const gchar *options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
          return options;
        };
        pool_class->set_config = pool_set_config;
        pool_class->alloc_buffer = pool_alloc;
      },
      [](GTypeInstance *instance, gpointer) {
        reinterpret_cast<CudaPool *>(instance)->own = new PoolOwn();
      });
  return type;
}

// Pinned memory
// ------------------------------------------------------------------------------------

struct PinnedAllocator {
  GstAllocator parent;
  AllocatorOwn *own;

  static GType type();
};

struct PinnedMemory {
  GstMemory memory;
  MemoryState state;
  cuda::PinnedBuffer buffer;
};

/// Ordinary memory, for when no more can be pinned: copies are slower, and the host waits for them.
GstMemory *pinned_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params) {
  AllocatorOwn &own = *reinterpret_cast<PinnedAllocator *>(allocator)->own;
  try {
    ContextScope scope(own.context.get());
    const gsize max_size = params->prefix + size + params->padding + params->align;
    std::unique_ptr<PinnedMemory> pinned(
        new PinnedMemory{{}, {own.context.get(), own.stats}, cuda::PinnedBuffer(MAX(max_size, 1))});
    const auto address = reinterpret_cast<guintptr>(pinned->buffer.data());
    const gsize skip = -(address + params->prefix) & params->align;
    const gsize offset = skip + params->prefix;
    if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
      std::memset(pinned->buffer.data(), 0, offset);
    if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
      std::memset(static_cast<guint8 *>(pinned->buffer.data()) + offset + size, 0,
                  max_size - offset - size);
    gst_memory_init(&pinned->memory,
                    static_cast<GstMemoryFlags>(params->flags | GST_MEMORY_FLAG_NO_SHARE),
                    allocator, nullptr, max_size, params->align, offset, size);
    return &pinned.release()->memory;
  } catch (const Error &e) {
    GST_WARNING_OBJECT(allocator, "%" G_GSIZE_FORMAT " bytes are not pinned: %s", size, e.what());
    return gst_allocator_alloc(nullptr, size, params);
  }
}

void pinned_free(GstAllocator *, GstMemory *memory) {
  auto pinned = reinterpret_cast<PinnedMemory *>(memory);
  pinned->state.wait(GST_MAP_WRITE);
  Ref<GstCudaContext> context = add_ref(pinned->state.context());
  try {
    ContextScope scope(context.get());
    delete pinned;
  } catch (const Error &e) {
    // Only a lost context cannot be made current; its memory is lost, too.
    GST_ERROR_OBJECT(context.get(), "%s", e.what());
  }
}

GType PinnedAllocator::type() {
  static const GType type = register_type<PinnedAllocator>(
      GST_TYPE_ALLOCATOR, "GstCudaScanPinnedAllocator", sizeof(GstAllocatorClass),
      [](gpointer klass, gpointer) {
        static_cast<GObjectClass *>(klass)->finalize = finalize<PinnedAllocator>;
        static_cast<GstAllocatorClass *>(klass)->alloc = pinned_alloc;
        static_cast<GstAllocatorClass *>(klass)->free = pinned_free;
      },
      [](GTypeInstance *instance, gpointer) {
        auto self = reinterpret_cast<PinnedAllocator *>(instance);
        self->own = new AllocatorOwn();
        self->parent.mem_type = "cudascan-pinned";
        self->parent.mem_map = [](GstMemory *memory, gsize, GstMapFlags flags) -> gpointer {
          auto pinned = reinterpret_cast<PinnedMemory *>(memory);
          if (!(flags & kMapQueued) && !pinned->state.wait(flags)) return nullptr;
          return pinned->buffer.data();
        };
        self->parent.mem_unmap = [](GstMemory *) {};
      });
  return type;
}

}  // namespace

MemoryState::~MemoryState() {
  wait(GST_MAP_WRITE);
}

bool MemoryState::wait(guint map_flags) {
  const auto count = [this] { stats_->add_host_synchronisation(); };
  try {
    ContextScope scope(context_.get());
    if (map_flags & GST_MAP_WRITE)
      usage_.wait_to_write(count);
    else
      usage_.wait_to_read(count);
    return true;
  } catch (const Error &e) {
    GST_ERROR_OBJECT(context_.get(), "%s", e.what());
    stats_->set_failure(e.what());
    return false;
  }
}

MemoryState *state_of(GstMemory *memory) {
  if (G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, PinnedAllocator::type()))
    return &reinterpret_cast<PinnedMemory *>(memory)->state;
  if (G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, CudaAllocator::type()))
    return static_cast<MemoryState *>(
        gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), state_quark()));
  return nullptr;
}

GstMemory *only_memory(GstBuffer *buffer) {
  return gst_buffer_n_memory(buffer) == 1 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
}

GstAllocator *pinned_allocator_new(GstCudaContext *context, std::shared_ptr<Stats> stats) {
  auto self = static_cast<PinnedAllocator *>(g_object_new(PinnedAllocator::type(), nullptr));
  gst_object_ref_sink(self);
  *self->own = {add_ref(context), std::move(stats), nullptr};
  return GST_ALLOCATOR_CAST(self);
}

GstBufferPool *cuda_pool_new(GstCudaContext *context, std::shared_ptr<OwnerStream> owner,
                             std::shared_ptr<Stats> stats) {
  auto allocator = static_cast<CudaAllocator *>(g_object_new(CudaAllocator::type(), nullptr));
  gst_object_ref_sink(allocator);
  *allocator->own = {add_ref(context), std::move(stats), std::move(owner)};
  auto self = static_cast<CudaPool *>(g_object_new(CudaPool::type(), nullptr));
  gst_object_ref_sink(self);
  self->own->context = add_ref(context);
  self->own->allocator.reset(allocator);
  return GST_BUFFER_POOL_CAST(self);
}

}  // namespace cudascan::gst
