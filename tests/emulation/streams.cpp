// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams and events of the emulated GPUs. Queued work is done when a thread waits or asks for it,
// and sometimes while more work is queued, in any order that streams and events allow.
#include <deque>
#include <map>
#include <mutex>
#include <random>

#include "cuda.h"

struct CUstream_st {};

/// How often it was recorded, and the latest record that was reached.
struct CUevent_st {
  const int device = emulation::current_device();
  struct State {
    unsigned recorded = 0, reached = 0;
    std::chrono::steady_clock::time_point time;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

namespace {

using State = CUevent_st::State;

struct Work {
  std::function<void()> run;
  std::shared_ptr<const State> behind = nullptr;  ///< an event that must be reached first, if any
  unsigned recorded = 0;                          ///< the record of that event

  bool ready() const { return !behind || behind->reached >= recorded; }
};

/// The owner of streams that the emulated driver has made.
constexpr int kAnyDevice = -1;

bool is_of_other_device(int owner) {
  return owner != kAnyDevice && owner != emulation::current_device();
}

class Streams {
 public:
  void add(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    owners_[stream] = emulation::current_device();
  }
  void remove(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    owners_.erase(stream);
  }
  int owner(cudaStream_t stream) const {
    const std::lock_guard lock(mutex_);
    const auto found = owners_.find(stream);
    return found == owners_.end() ? kAnyDevice : found->second;
  }

  void queue(cudaStream_t stream, Work work) {
    const std::lock_guard lock(mutex_);
    if (!stream) {  // the default stream; work of other streams does not wait for it
      if (!work.ready()) emulation::fail("the default stream waits for an event");
      return work.run();
    }
    queues_[stream].push_back(std::move(work));
    if (random_() % 2 == 0) step();
  }
  void finish(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    while (!queues_[stream].empty()) must_step();
  }
  void finish_all() {
    const std::lock_guard lock(mutex_);
    while (std::any_of(queues_.begin(), queues_.end(),
                       [](const auto &queue) { return !queue.second.empty(); }))
      must_step();
  }

  void record(cudaEvent_t event, cudaStream_t stream) {
    unsigned recorded;
    {
      const std::lock_guard lock(mutex_);
      recorded = ++event->state->recorded;
    }
    queue(stream, {[state = event->state, recorded] {
            state->reached = std::max(state->reached, recorded);
            state->time = std::chrono::steady_clock::now();
          }});
  }
  void wait(cudaStream_t stream, cudaEvent_t event) {
    unsigned recorded;
    {
      const std::lock_guard lock(mutex_);
      recorded = event->state->recorded;
    }
    queue(stream, {[] {}, event->state, recorded});
  }
  bool reached(cudaEvent_t event) {
    const std::lock_guard lock(mutex_);
    step();
    return event->state->reached == event->state->recorded;
  }
  bool is_empty(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    if (queues_[stream].empty()) return true;
    step();
    return false;
  }
  std::chrono::steady_clock::time_point time(cudaEvent_t event) {
    const std::lock_guard lock(mutex_);
    return event->state->time;
  }

 private:
  /// Does some work that is ready. Returns false if there is none.
  bool step() {
    std::vector<std::deque<Work> *> ready;
    for (auto &[stream, queue] : queues_)
      if (!queue.empty() && queue.front().ready()) ready.push_back(&queue);
    if (ready.empty()) return false;
    std::deque<Work> &queue = *ready[random_() % ready.size()];
    const Work work = std::move(queue.front());
    queue.pop_front();
    work.run();
    return true;
  }
  void must_step() {
    if (!step()) emulation::fail("streams wait for events that nobody records");
  }

  mutable std::mutex mutex_;
  std::map<cudaStream_t, std::deque<Work>> queues_;
  std::map<cudaStream_t, int> owners_;
  std::mt19937 random_;
};

Streams streams;

}  // namespace

namespace emulation {

cudaError_t queue(cudaStream_t stream, std::function<void()> work) {
  if (has_failed()) return cudaErrorLaunchFailure;
  if (is_of_other_device(streams.owner(stream))) return cudaErrorInvalidResourceHandle;
  streams.queue(stream, {std::move(work)});
  return cudaSuccess;
}
void finish(cudaStream_t stream) {
  streams.finish(stream);
}

void finish_all() {
  streams.finish_all();
}

}  // namespace emulation

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, 0, from, 0, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_stride, const void *from,
                              std::size_t from_stride, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind, cudaStream_t stream) {
  if (emulation::is_foreign(to) || emulation::is_foreign(from)) return cudaErrorInvalidValue;
  const cudaError_t error = emulation::queue(stream, [=] {
    for (std::size_t y = 0; y < rows; ++y)
      std::memcpy(static_cast<char *>(to) + y * to_stride,
                  static_cast<const char *>(from) + y * from_stride, row_bytes);
  });
  if (error != cudaSuccess) return error;
  // The host may change other memory as soon as the call returns.
  if (!emulation::is_allocated(to) || !emulation::is_allocated(from)) emulation::finish(stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  if (emulation::owner_of(to) != to_device || emulation::owner_of(from) != from_device)
    return cudaErrorInvalidValue;
  return emulation::queue(stream, [=] { std::memcpy(to, from, bytes); });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, cudaStream_t stream) {
  const emulation::Driver *driver = emulation::driver();
  const auto from = reinterpret_cast<const char *>(copy->srcDevice);
  const auto to = reinterpret_cast<char *>(copy->dstDevice);
  const auto belongs = [&](const char *p, CUcontext context) {
    return driver && emulation::owner_of(p) == driver->device_of_context(context);
  };
  if (!belongs(from, copy->srcContext) || !belongs(to, copy->dstContext) || copy->Depth != 1 ||
      copy->srcPitch < copy->WidthInBytes || copy->dstPitch < copy->WidthInBytes)
    return CUDA_ERROR_INVALID_VALUE;
  // It needs no current context, so it comes directly.
  streams.queue(stream, {[=, job = *copy] {
                  for (std::size_t y = 0; y < job.Height; ++y)
                    std::memcpy(to + y * job.dstPitch, from + y * job.srcPitch, job.WidthInBytes);
                }});
  return CUDA_SUCCESS;
}
cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream) {
  return cudaMemset2DAsync(to, 0, value, bytes, 1, stream);
}
cudaError_t cudaMemset2DAsync(void *to, std::size_t stride, int value, std::size_t row_bytes,
                              std::size_t rows, cudaStream_t on) {
  if (emulation::is_foreign(to)) return cudaErrorInvalidValue;
  return emulation::queue(on, [=] {
    for (std::size_t y = 0; y < rows; ++y)
      std::memset(static_cast<char *>(to) + y * stride, value, row_bytes);
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  *stream = new CUstream_st;
  streams.add(*stream);
  return cudaSuccess;
}
/// Queued work of the stream still runs. If a new stream has the same address, its work comes after
/// this work.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  streams.remove(stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  emulation::finish(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  return streams.is_empty(stream) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  streams.wait(stream, event);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (emulation::has_failed()) return cudaErrorLaunchFailure;
  const int owner = stream ? streams.owner(stream) : emulation::current_device();
  if (owner != kAnyDevice && owner != event->device) return cudaErrorInvalidResourceHandle;
  streams.record(event, stream);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return streams.reached(event) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  if (begin->device != end->device) return cudaErrorInvalidResourceHandle;
  *ms = std::chrono::duration<float, std::milli>(streams.time(end) - streams.time(begin)).count();
  return cudaSuccess;
}
