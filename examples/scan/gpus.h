// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "gpu_load.h"
#include "nvimgcodec.h"
#include "nvjpeg.h"

namespace cudascan::scan {

struct Options;

/// No GPU is left to make pages.
class NoGpu : public Error {
 public:
  using Error::Error;
};

/// The GPUs of runs, which their workers share. Each worker uses one GPU, and takes the next page
/// when it is ready: so a faster GPU makes more pages. A GPU that has failed stays so. Any thread.
class Gpus {
 public:
  using Say = std::function<void(const std::string &)>;

  /// @param devices  their numbers, at least one
  /// @param then_cpu  whether the CPU makes the pages when no GPU is left
  Gpus(const std::vector<int> &devices, bool then_cpu);

  /// A run begins, without any work on the GPUs: their time is counted from here on.
  /// @param say  prints a line
  void begin_run(Say say);
  /// A run has ended, and no work is left.
  void end_run();

  /// A GPU for a worker: the one with the fewest workers of those that have not failed, or kCpu.
  /// @throws NoGpu
  int take();
  /// A GPU cannot be opened, or no longer works: no further worker gets it. Says so once.
  /// @param opening  it could not be opened
  void failed(int device, const std::string &why, bool opening = false);
  /// Whether one has failed. Not during a run.
  bool any_failed() const;
  /// How long they have had work.
  GpuLoad &load() { return load_; }
  /// Seconds in which each has had work in this run.
  std::map<int, double> busy_seconds() const;
  int count() const { return static_cast<int>(gpus_.size()); }
  /// What decodes JPEG pages on them; nullptr = nothing does. Set before there are workers.
  GpuJpegs *jpegs() const { return jpegs_.get(); }
  void set_jpegs(std::unique_ptr<GpuJpegs> jpegs) { jpegs_ = std::move(jpegs); }
  /// The same for JPEG 2000 and TIFF pages.
  GpuCodecs *codecs() const { return codecs_.get(); }
  void set_codecs(std::unique_ptr<GpuCodecs> codecs) { codecs_ = std::move(codecs); }

 private:
  struct Gpu {
    int device, workers = 0;
    bool works = true;
  };
  const bool then_cpu_;
  Say say_;
  std::mutex mutex_;
  std::vector<Gpu> gpus_;
  GpuLoad load_;
  std::unique_ptr<GpuJpegs> jpegs_;
  std::unique_ptr<GpuCodecs> codecs_;
};

/// The GPUs that the options ask for, nullptr = the CPU makes the pages. Makes the first GPU
/// current in the calling thread.
/// @throws Error if one was asked for that is not there
std::unique_ptr<Gpus> choose_gpus(const Options &options);

/// Pages at a time: what --jobs says, or the number of cores, and with a GPU 3/2 of it, since
/// workers sleep while it works. If GPUs decode, at most 32 for each: more take memory and time to
/// start, and make it no faster.
/// @param gpus  nullptr = the CPU
int jobs_of(const Options &options, const Gpus *gpus);

}  // namespace cudascan::scan
