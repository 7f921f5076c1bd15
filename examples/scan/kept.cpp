// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kept.h"

#include <utility>

#include "decode.h"
#include "progress.h"

namespace cudascan::scan {

void Kept::start_decoding(const std::string &program) {
  if (!decodes_) scan::start_decoding(program.c_str());
  decodes_ = true;
}

Gpus *Kept::gpus(const Options &options, Gpus::Say say) {
  Choice choice{options.backend, options.gpus, options.all_gpus, options.scan, options.decode};
  if (choice_ != choice) {
    choice_.reset();
    crew_.reset();
    gpus_.reset();
    gpus_ = choose_gpus(options);
    choice_ = std::move(choice);
  }
  if (gpus_) gpus_->begin_run(std::move(say));
  return gpus_.get();
}

Crew &Kept::crew(const Outputs &kinds, double pixels) {
  const GpuJpegs *const jpegs = gpus_ ? gpus_->jpegs() : nullptr;
  const GpuCodecs *const codecs = gpus_ ? gpus_->codecs() : nullptr;
  const bool is_too_large = crew_ && pixels > 0 && crew_->largest() >= kTooLarge * pixels;
  if (!crew_ || kinds != kinds_ || jpegs != jpegs_ || codecs != codecs_ || is_too_large) {
    crew_.reset();
    crew_ = std::make_unique<Crew>(gpus_.get(), kinds);
    kinds_ = kinds;
    jpegs_ = jpegs;
    codecs_ = codecs;
  }
  return *crew_;
}

void Kept::end_run() {
  if (gpus_) gpus_->end_run();
  cpu_seconds_before_ = cpu_seconds();
}

}  // namespace cudascan::scan
