// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg_batches.h"

#include <algorithm>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr int kBatches = 2;
constexpr unsigned kEnginesIfUnknown = 8;

/// Pictures that the GPU decodes at a time.
std::size_t count_engines(const NvjpegFunctions &f, void *handle) {
  unsigned engines = 0, cores = 0;
  if (!f.get_engines || f.get_engines(handle, &engines, &cores) != 0 || engines == 0)
    return kEnginesIfUnknown;
  return std::size_t{engines} * std::max(cores, 1U);
}

}  // namespace

JpegBatches::JpegBatches(GpuJpegs &shared, int device, void *handle)
    : shared_(shared), handle_(handle), engines_(count_engines(shared.functions(), handle)) {
  for (int i = 0; i < kBatches; ++i) {
    Batch &batch = batches_.emplace_back(shared.load(), device);
    batch.pages.reserve(engines_);
    batch.data.resize(engines_);
    batch.sizes.resize(engines_);
    batch.images.resize(engines_);
    if (const int status = shared.functions().create_state(handle, &batch.state)) {
      batch.state = nullptr;
      throw Error(call_failed("nvjpegJpegStateCreate", status));
    }
  }
}

JpegBatches::~JpegBatches() {
  for (const Batch &batch : batches_)
    if (batch.state) shared_.functions().destroy_state(batch.state);
}

/// The batch that pages that wait can begin now, or nullptr.
JpegBatches::Batch *JpegBatches::next_batch() {
  const auto is_free = [](const Batch &batch) { return batch.is_free; };
  const auto free = std::find_if(batches_.begin(), batches_.end(), is_free);
  const bool none_works = std::all_of(batches_.begin(), batches_.end(), is_free);
  const bool begins = waiting_.size() >= engines_ || (none_works && !waiting_.empty());
  return begins && free != batches_.end() ? &*free : nullptr;
}

/// The worker of the first page that waits begins a batch, if it can.
void JpegBatches::wake_next() {
  if (next_batch()) waiting_.front()->wake.notify_one();
}

std::string JpegBatches::decode(const CodedPage &page, const Plane<std::uint8_t> &to,
                                const cuda::Event &free) {
  Waiting mine{page, to, free};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  while (!mine.is_done) {
    Batch *const batch = next_batch();
    if (!batch) {
      mine.wake.wait(lock);
      continue;
    }
    batch->is_free = false;
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), engines_));
    batch->pages.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    wake_next();
    lock.unlock();
    run(*batch);
    lock.lock();
    batch->is_free = true;
    for (Waiting *const waiting : batch->pages) {
      waiting->is_done = true;
      waiting->wake.notify_one();
    }
    wake_next();
  }
  if (mine.error) std::rethrow_exception(mine.error);
  return std::move(mine.problem);
}

/// Decodes the pages of a batch. None of them is left without an answer.
void JpegBatches::run(Batch &batch) {
  const std::size_t count = batch.pages.size();
  try {
    for (const Waiting *const waiting : batch.pages) waiting->free.make_wait(batch.stream.get());
    make_room(batch);
    const std::string problem = queue(batch, 0, count);
    batch.done.record(batch.stream.get());
    batch.done.synchronize();
    if (problem.empty()) return;
    // Nobody knows which of the pages it is.
    shared_.note("gpu-engines: a batch of " + std::to_string(count) + ": " + problem);
    for (std::size_t i = 0; i < count; ++i) {
      batch.pages[i]->problem = count == 1 ? problem : queue(batch, i, 1);
      batch.done.record(batch.stream.get());
      batch.done.synchronize();
    }
  } catch (const std::exception &) {
    batch.prepared = 0;
    for (Waiting *const waiting : batch.pages) waiting->error = std::current_exception();
    try {
      batch.stream.synchronize();  // nothing may write to the pages any more
    } catch (const Error &) {
    }
  }
}

/// So that nvJPEG need not allocate for each batch.
void JpegBatches::make_room(Batch &batch) {
  const NvjpegFunctions &f = shared_.functions();
  if (batch.has_room || !f.preallocate) return;
  batch.has_room = true;
  int width = 0, height = 0;
  for (const Waiting *const waiting : batch.pages) {
    width = std::max(width, waiting->to.width);
    height = std::max(height, waiting->to.height);
  }
  if (const int status =
          f.preallocate(handle_, batch.state, engines(), width, height, kNvjpeg444, kNvjpegY))
    shared_.note("gpu-engines: " + call_failed("nvjpegDecodeBatchedPreAllocate", status));
}

/// Queues the decoding of some pages of a batch. No other page of it is being decoded.
/// @return why not, or ""
std::string JpegBatches::queue(Batch &batch, std::size_t first, std::size_t count) {
  const NvjpegFunctions &f = shared_.functions();
  if (batch.prepared != count) {
    batch.prepared = 0;
    if (const int status = f.initialize(handle_, batch.state, static_cast<int>(count), 1, kNvjpegY))
      return call_failed("nvjpegDecodeBatchedInitialize", status);
    batch.prepared = count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Waiting &waiting = *batch.pages[first + i];
    batch.data[i] = waiting.page.data();
    batch.sizes[i] = waiting.page.size();
    batch.images[i] = image_of(waiting.to);
  }
  if (const int status = f.decode(handle_, batch.state, batch.data.data(), batch.sizes.data(),
                                  batch.images.data(), batch.stream.get())) {
    batch.prepared = 0;
    return call_failed("nvjpegDecodeBatched", status);
  }
  return "";
}

}  // namespace cudascan::scan
