// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "crew.h"
#include "gpus.h"
#include "options.h"

namespace cudascan::scan {

/// What a process keeps from a run for the next one, as far as that asks for the same: the GPUs
/// with nvJPEG, and the threads with their cleaners and memory. For one thread, one run at a time.
class Kept {
 public:
  /// To be called before anything is read; starts libvips the first time.
  /// @param program  its name
  void start_decoding(const std::string &program);

  /// The GPUs of a run, nullptr = the CPU makes the pages.
  /// @param say  prints a line, until the run ends
  /// @throws Error if a GPU was asked for that is not there
  Gpus *gpus(const Options &options, Gpus::Say say);
  /// The threads that make pages on these GPUs. After gpus(), when it is known what decodes. Memory
  /// for pages of kTooLarge times the size is freed first.
  /// @param pixels  of the largest page that is to be made, 0 = unknown
  Crew &crew(const Outputs &kinds, double pixels);
  /// Seconds of processor time that earlier runs have used.
  double cpu_seconds_before() const { return cpu_seconds_before_; }
  /// A run has ended: nothing is printed for it any more, and the GPUs are at rest.
  void end_run();
  /// Whether a GPU has failed. That lasts as long as the process.
  bool has_failed() const { return gpus_ && gpus_->any_failed(); }

  static constexpr double kTooLarge = 4;

 private:
  /// Options by which GPUs are chosen.
  struct Choice {
    Backend backend;
    std::vector<int> devices;
    bool all, scan;
    DecodeBy decode;
    bool operator==(const Choice &) const = default;
  };

  bool decodes_ = false;
  double cpu_seconds_before_ = 0;
  std::optional<Choice> choice_;
  std::unique_ptr<Gpus> gpus_;
  // Of the crew.
  Outputs kinds_;
  const GpuJpegs *jpegs_ = nullptr;
  const GpuCodecs *codecs_ = nullptr;
  std::unique_ptr<Crew> crew_;
};

}  // namespace cudascan::scan
