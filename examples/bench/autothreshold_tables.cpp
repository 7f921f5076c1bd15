// SPDX-License-Identifier: LGPL-2.1-or-later
// The future work of Prahara et al., 2021: several GPUs share the frames of a stream.
#include "bench/several_gpus.h"
#include "kernels/autothreshold.h"

namespace cudascan::bench {
namespace {

Runner runner_of(AutothresholdMethod method, AutothresholdAlgorithm algorithm) {
  AutothresholdParams params;
  params.method = method;
  params.algorithm = algorithm;
  return make_runner(params);
}

SharedWork work_of(const char *name, AutothresholdMethod method) {
  return {"autothreshold", name, runner_of(method, AutothresholdAlgorithm::prahara),
          runner_of(method, AutothresholdAlgorithm::automatic)};
}

}  // namespace

void autothreshold_tables(const Options &options, bool with_cuda, Report &report) {
  using Method = AutothresholdMethod;
  const std::string table = "paper 003 several GPUs";
  if (!with_cuda || !options.wants(table)) return;
  several_gpus_table(options, report, table, "SEVERAL GPUS, future work of Prahara et al.",
                     {{1024, 1024, 8}, {4096, 4096, 8}},
                     {work_of("Otsu", Method::otsu), work_of("ISODATA", Method::isodata),
                      work_of("MCET", Method::mcet)});
}

}  // namespace cudascan::bench
