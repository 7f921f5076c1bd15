// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cudaengine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "gst/luma_planes.h"
#include "gst/mapped_frame.h"

namespace cudascan::gst {
namespace {

/// Most frames in flight: enough for one in each direction and one in the operator while the
/// feeding thread is late, but no more than this much memory for large frames.
constexpr std::size_t kMaxFrames = 6;
constexpr std::size_t kMinFrames = 3;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

/// Times are measured for so many first frames, then for one in so many. Measuring costs the
/// feeding thread about as much as a kernel launch, and the GPU some microseconds.
constexpr std::uint64_t kTimedAtFirst = 16, kTimedEvery = 16;

/// How often, and at which interval, to check whether a frame without an event after it is done.
constexpr int kLooks = 25;
constexpr std::chrono::microseconds kBetweenLooks{20};

/// The end of the work that has just been queued on a stream.
std::shared_ptr<Moment> moment_on(const std::shared_ptr<OwnerStream> &stream) {
  return std::make_shared<Moment>(OwnerStream::timeline(stream));
}

/// Queues copies of planes between host and device.
void copy_plane_rows(const Picture &from, const Picture &to, int plane, CUstream_st *stream) {
  const PlaneShape shape = plane_shape(*to.info, plane);
  cuda::copy_rows(to.data[plane], to.stride[plane], from.data[plane], from.stride[plane],
                  shape.row_bytes(), shape.height, stream);
}
void copy_planes(const Picture &from, const Picture &to, int n_planes, CUstream_st *stream) {
  for (int i = 0; i < n_planes; ++i) copy_plane_rows(from, to, i, stream);
}

CUctx_st *handle_of(GstCudaContext *context) {
  return static_cast<CUctx_st *>(gst_cuda_context_get_handle(context));
}

template <typename Buffer>
auto room_in(Buffer &buffer) {
  return [&buffer](std::size_t bytes) { return buffer.reserve(bytes); };
}

}  // namespace

/// One frame in flight: its device memory, if a side is in system memory, and the end of its work.
struct CudaEngine::Frame {
  struct Span {
    cuda::Event begin{true}, end{true};
    bool timed = false;

    void start(CUstream_st *stream, bool with_time) {
      if (with_time) begin.record(stream);
      timed = with_time;
    }
    void finish(CUstream_st *stream) {
      if (timed) end.record(stream);
    }
  };

  cuda::DeviceBuffer in, out, luma_in, luma_out;
  cuda::PinnedBuffer staging;
  Span spans[Stats::kStages];
  cuda::Event owner;  // of foreign input, see order_after_owner()
  std::shared_ptr<Moment> computed, last;
  bool timed = false;
  GstBuffer *held = nullptr;  // foreign input that the GPU still reads

  void release() { gst_clear_buffer(&held); }
  /// Prepares it for the next use.
  void reset() {
    computed.reset();
    last.reset();
    for (Span &span : spans) span.timed = false;
  }
  ~Frame() { release(); }
};

CudaEngine::CudaEngine(GstCudaContext *context, std::shared_ptr<OwnerStream> compute,
                       std::shared_ptr<Stats> stats)
    : context_(add_ref(context)),
      stats_(std::move(stats)),
      own_(std::move(compute)),
      compute_(own_),
      upload_(std::make_shared<OwnerStream>(context)),
      download_(std::make_shared<OwnerStream>(context)) {
  ContextScope scope(context_.get());
  exec_.emplace(compute_->get());
}

CudaEngine::~CudaEngine() {
  std::optional<ContextScope> scope;
  try {
    scope.emplace(context_.get());
    wait_for_all();
    while (!under_way_.empty()) finish_oldest();
  } catch (const Error &) {
    // The context is lost, and so is its work.
  }
  under_way_.clear();
  idle_.clear();
  exec_.reset();
}

void CudaEngine::wait_for_all() {
  moment_on(upload_)->synchronize();
  exec_->synchronize();
  moment_on(download_)->synchronize();
}

void CudaEngine::collect() {
  ContextScope scope(context_.get());
  while (!under_way_.empty() && under_way_.front()->last->done()) finish_oldest();
}

void CudaEngine::release_inputs() {
  ContextScope scope(context_.get());
  while (std::any_of(under_way_.begin(), under_way_.end(), [](auto &f) { return f->held; })) {
    if (!under_way_.front()->last->done()) {
      stats_->add_host_synchronisation();
      under_way_.front()->last->synchronize();
    }
    finish_oldest();
  }
}

/// The oldest frame is done.
void CudaEngine::finish_oldest() {
  std::unique_ptr<Frame> frame = std::move(under_way_.front());
  under_way_.pop_front();
  frame->release();
  for (int i = 0; i < Stats::kStages; ++i)
    if (Frame::Span &span = frame->spans[i]; span.timed)
      stats_->add_time(static_cast<Stats::Stage>(i), span.end.elapsed_ns(span.begin));
  followed_ = frame->computed->only_followed();
  frame->reset();
  idle_.push_back(std::move(frame));
}

void CudaEngine::wait_for_oldest() {
  const std::shared_ptr<Moment> &last = under_way_.front()->last;
  // Later users of the stream will record events, so no event is needed here.
  for (int i = 0; i < kLooks && !last->done(); ++i) std::this_thread::sleep_for(kBetweenLooks);
  last->synchronize();
}

std::unique_ptr<CudaEngine::Frame> CudaEngine::begin_frame(std::size_t bytes) {
  collect();
  if (idle_.empty()) {
    const std::size_t limit =
        std::clamp(kMaxBytes / std::max<std::size_t>(bytes, 1), kMinFrames, kMaxFrames);
    if (under_way_.size() < limit) return std::make_unique<Frame>();
    stats_->add_throttled();
    wait_for_oldest();
    finish_oldest();
  }
  std::unique_ptr<Frame> frame = std::move(idle_.back());
  idle_.pop_back();
  return frame;
}

void CudaEngine::process(const CudaSide::Job &job) {
  ContextScope scope(context_.get());
  std::unique_ptr<Frame> frame = begin_frame(job.in_info.size + job.out_info.size);
  frame->timed = frames_ < kTimedAtFirst || frames_ % kTimedEvery == 0;
  ++frames_;
  try {
    queue(*frame, job);
  } catch (...) {
    // Queued work must not outlive its buffers.
    try {
      wait_for_all();
    } catch (const Error &) {
    }
    throw;
  }
  under_way_.push_back(std::move(frame));
}

/// Computes on this stream from now on, or on its own stream if there is none.
void CudaEngine::compute_on(std::shared_ptr<OwnerStream> stream) {
  if (!stream) stream = own_;
  exec_->move_to(stream->get());
  compute_ = std::move(stream);
}

void CudaEngine::queue(Frame &frame, const CudaSide::Job &job) {
  Frame::Span &kernel = frame.spans[Stats::kernel];
  const int n_planes = static_cast<int>(GST_VIDEO_INFO_N_PLANES(&job.out_info));
  // Planes of chroma that go from the input to the output as they are.
  const bool copied_chroma = job.chroma == Chroma::copied && has_luma_plane(job.out_info.finfo);
  const int n_in_planes = !has_luma_plane(job.in_info.finfo)
                              ? static_cast<int>(GST_VIDEO_INFO_N_PLANES(&job.in_info))
                          : copied_chroma ? n_planes
                                          : 1;

  // Input: in CUDAMemory of this or another context, in our pinned memory, or anywhere else.
  GstMemory *in_memory = only_memory(job.in), *out_memory = only_memory(job.out);
  MemoryState *in_state = in_memory ? state_of(in_memory) : nullptr;
  GstCudaMemory *in_device =
      in_memory && gst_is_cuda_memory(in_memory) ? GST_CUDA_MEMORY_CAST(in_memory) : nullptr;
  const bool in_cuda = in_device && in_device->context == context_.get();
  const MappedFrame in_frame(
      job.in_info, job.in,
      GST_MAP_READ | (in_device ? GST_MAP_CUDA : 0) | (in_state ? kMapQueued : 0));
  Picture in = in_frame.picture();
  compute_on(in_cuda && in_state ? in_state->written_on() : nullptr);
  CUstream_st *compute = compute_->get(), *down = download_->get();
  if (!in_cuda) {
    if (in_state && in_state->context() != context_.get()) {
      ContextScope scope(in_state->context());
      in_state->usage().mark_writer();
    }
    if (in_state) in_state->usage().begin_read(upload_->get());
    if (in_device && !in_state && wait_for_owner(in_device)) stats_->add_host_synchronisation();
    if (!in_device && !in_state) in = stage(frame, in, n_in_planes, job.n_threads);
    in = upload(frame, in, in_device, n_in_planes);
    const std::shared_ptr<Moment> uploaded = moment_on(upload_);
    uploaded->make_wait(compute);
    if (in_state) in_state->usage().end_read(uploaded);
  } else {
    if (in_state) in_state->usage().begin_read(compute);
    order_after_owner(in_device, frame.owner, compute);
    if (!is_aligned(in, n_in_planes)) {
      const Picture aligned = lay_out(job.in_info, n_in_planes, room_in(frame.in));
      copy_planes(in, aligned, n_in_planes, compute);
      in = aligned;
    }
  }

  // Output: in CUDAMemory, or in system memory through the frame's device memory.
  MemoryState *out_state = out_memory ? state_of(out_memory) : nullptr;
  if (out_state && out_state->context() != context_.get()) out_state = nullptr;
  const bool out_cuda = out_memory && gst_is_cuda_memory(out_memory) &&
                        GST_CUDA_MEMORY_CAST(out_memory)->context == context_.get();
  const MappedFrame out_frame(
      job.out_info, job.out,
      GST_MAP_WRITE | (out_cuda ? GST_MAP_CUDA : 0) | (out_state ? kMapQueued : 0));
  const Picture host = out_frame.picture();
  Picture out = host;
  if (!out_cuda)
    out = lay_out(job.out_info, copied_chroma ? 1 : n_planes, room_in(frame.out));
  else if (out_state)
    out_state->usage().begin_write(compute);

  const LumaPlanes luma(in, out, room_in(frame.luma_in), room_in(frame.luma_out));
  {
    const std::lock_guard lock(compute_->queueing());
    kernel.start(compute, frame.timed);
    job.run(*exec_, luma.fetch(*exec_));
    if (!luma.put(*exec_, job.chroma) && (out_cuda || !copied_chroma))
      make_chroma(*exec_, job.chroma, in, out);
    kernel.finish(compute);
    frame.computed = frame.last = moment_on(compute_);
    if (!followed_ || frame.timed) frame.computed->mark();
  }
  std::shared_ptr<Moment> last_read = frame.computed;

  if (!out_cuda) {
    Frame::Span &span = frame.spans[Stats::download];
    frame.computed->make_wait(down);
    if (out_state) out_state->usage().begin_write(down);
    span.start(down, frame.timed);
    for (int i = 0; i < n_planes; ++i)
      copy_plane_rows(i == 0 || !copied_chroma ? out : in, host, i, down);
    span.finish(down);
    frame.last = moment_on(download_);
    frame.last->mark();
    if (out_state) out_state->usage().end_write(frame.last);
    if (n_in_planes > 1) last_read = frame.last;
  } else if (out_state) {
    out_state->usage().end_write(frame.computed);
    out_state->set_written_on(compute_);
  }

  if (in_cuda && in_state)
    in_state->usage().end_read(std::move(last_read));
  else if (in_device && !in_state)
    frame.held = gst_buffer_ref(job.in);

  if (job.wait) {
    stats_->add_host_synchronisation();
    frame.computed->synchronize();  // sleeps; the executor would spin
    exec_->synchronize();
  }
  const bool starving = frame.held && job.in->pool && limited_pool(job.in->pool);
  if ((!out_state || starving) && !frame.last->done()) {
    stats_->add_host_synchronisation();
    frame.last->synchronize();
  }
  if (starving) frame.release();
}

/// Copies the first planes of a frame to pinned memory.
Picture CudaEngine::stage(Frame &frame, const Picture &host, int n_planes, guint n_threads) {
  const Picture staged = lay_out(*host.info, n_planes, room_in(frame.staging));
  if (!cpu_ || cpu_threads_ != n_threads) {
    cpu_.emplace(static_cast<int>(MIN(n_threads, static_cast<guint>(G_MAXINT))));
    cpu_threads_ = n_threads;
  }
  for (int i = 0; i < n_planes; ++i) copy_plane(*cpu_, host, staged, i);
  return staged;
}

/// Queues the copy of the first planes to this context and returns their location on the device.
/// @param owner  the memory if it is in another context, nullptr = host memory
Picture CudaEngine::upload(Frame &frame, const Picture &from, const GstCudaMemory *owner,
                           int n_planes) {
  const Picture device = lay_out(*from.info, n_planes, room_in(frame.in));
  Frame::Span &span = frame.spans[Stats::upload];
  span.start(upload_->get(), frame.timed);
  if (owner) {
    for (int i = 0; i < n_planes; ++i) {
      const PlaneShape shape = plane_shape(*device.info, i);
      cuda::copy_rows_between(handle_of(context_.get()), device.data[i], device.stride[i],
                              handle_of(owner->context), from.data[i], from.stride[i],
                              shape.row_bytes(), shape.height, upload_->get());
    }
    stats_->add_peer_copy();
  } else {
    copy_planes(from, device, n_planes, upload_->get());
  }
  span.finish(upload_->get());
  return device;
}

/// Whether a pool has a maximum. Then its owner may be waiting for the buffer held here.
bool CudaEngine::limited_pool(GstBufferPool *pool) {
  if (known_pool_.get() != pool) {
    GstStructure *config = gst_buffer_pool_get_config(pool);
    guint max = 0;
    gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &max);
    gst_structure_free(config);
    known_pool_ = add_ref(pool);
    known_pool_limited_ = max > 0;
  }
  return known_pool_limited_;
}

}  // namespace cudascan::gst
