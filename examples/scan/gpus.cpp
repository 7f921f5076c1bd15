// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpus.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <thread>

#include "kernels/devices.h"
#include "options.h"

namespace cudascan::scan {

Gpus::Gpus(const std::vector<int> &devices, bool then_cpu) : then_cpu_(then_cpu) {
  for (const int device : devices) gpus_.push_back({device});
}

void Gpus::begin_run(Say say) {
  say_ = std::move(say);
  load_.begin();
}

void Gpus::end_run() {
  load_.end();
  if (jpegs_) jpegs_->begin_run(nullptr);
  if (codecs_) codecs_->begin_run(nullptr);
  say_ = nullptr;
}

bool Gpus::any_failed() const {
  return std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu &gpu) { return !gpu.works; });
}

std::map<int, double> Gpus::busy_seconds() const {
  std::map<int, double> seconds = load_.seconds();
  for (const Gpu &gpu : gpus_) seconds[gpu.device];
  return seconds;
}

int Gpus::take() {
  const std::lock_guard lock(mutex_);
  Gpu *best = nullptr;
  for (Gpu &gpu : gpus_)
    if (gpu.works && (!best || gpu.workers < best->workers)) best = &gpu;
  if (best) {
    ++best->workers;
    return best->device;
  }
  if (!then_cpu_) throw NoGpu("no GPU is left");
  return kCpu;
}

void Gpus::failed(int device, const std::string &why, bool opening) {
  const std::lock_guard lock(mutex_);
  const auto gpu =
      std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu &g) { return g.device == device; });
  if (!gpu->works) return;
  gpu->works = false;
  const bool others = std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu &g) { return g.works; });
  say_("GPU " + std::to_string(device) + (opening ? " cannot be opened: " : " has failed: ") + why +
       "; " +
       (others      ? "the other GPUs make its pages"
        : then_cpu_ ? "the CPU makes the remaining pages"
                    : "no GPU is left, and --backend=cuda does not use the CPU"));
}

std::unique_ptr<Gpus> choose_gpus(const Options &options) {
  if (options.backend == Backend::cpu) return nullptr;
  // With the 8 queues that are usual, work of different workers shares some, where it waits for
  // each other. This is read when CUDA starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  const std::vector<int> all = Devices::all();
  if (all.empty()) {
    const bool must = options.backend == Backend::cuda || !options.gpus.empty();
    if (must)
      throw Error(std::string(options.gpus.empty() ? "--backend=cuda" : "--cuda-device") +
                  ": no CUDA device can be opened; is there a driver (nvidia-smi), and was this "
                  "built with CUDA? --backend=cpu gives the same pages");
    return nullptr;
  }
  for (const int device : options.gpus)
    if (std::find(all.begin(), all.end(), device) == all.end())
      throw Error("--cuda-device=" + std::to_string(device) +
                  ": there is no such device; the devices are 0 to " + std::to_string(all.back()));
  const std::vector<int> devices = options.all_gpus       ? all
                                   : options.gpus.empty() ? std::vector<int>{0}
                                                          : options.gpus;
  try {
    cuda::use_device(devices.front());  // this thread pins the memory of scanned pages
  } catch (const Error &) {             // its workers say why
  }
  // A sheet that was scanned cannot be read again.
  return std::make_unique<Gpus>(devices, options.backend != Backend::cuda || options.scan);
}

int jobs_of(const Options &options, const Gpus *gpus) {
  if (options.jobs > 0) return options.jobs;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!gpus) return cores;
  constexpr int kMostOfGpu = 32;
  const int most = options.decode == DecodeBy::cpu ? INT_MAX : kMostOfGpu * gpus->count();
  return std::min(cores + cores / 2, most);
}

}  // namespace cudascan::scan
