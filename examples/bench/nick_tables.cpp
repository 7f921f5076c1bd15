// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of Najafi et al., 2015, on several GPUs that share the frames of a stream.
#include "bench/nick_published.h"
#include "bench/several_gpus.h"
#include "kernels/nick.h"
#include "kernels/nick/baseline.h"

namespace cudascan::bench {
namespace {

using nick::PublishedKernel;

/// A published kernel in blocks of 16*16, the paper's best, and ours with the same window.
SharedWork work_of(const std::string &name, PublishedKernel kernel, int window) {
  constexpr int kBlock = 16;
  NickParams params;
  params.window = window;
  Runner published;
  published.cuda = [=, k = static_cast<float>(k_in_use(NickParams()))](Cuda &cuda, AnyPlane in,
                                                                       AnyPlane out) {
    nick::run_published(cuda, in.as<const std::uint8_t>(), out.as<std::uint8_t>(), kernel, kBlock,
                        window, k);
  };
  return {"nick", name + " " + square(window), published, make_runner(params)};
}

}  // namespace

void nick_tables(const Options &options, bool with_cuda, Report &report) {
  const std::string table = "paper 000 several GPUs";
  if (!with_cuda || !options.wants(table)) return;
  several_gpus_table(options, report, table, "SEVERAL GPUS, the kernels of Najafi et al.",
                     {{1000, 1000, 8}, {2500, 4000, 8}},
                     {work_of("Shared", PublishedKernel::shared, 9),
                      work_of("Shared", PublishedKernel::shared, 15),
                      work_of("Global", PublishedKernel::global, 33)});
}

}  // namespace cudascan::bench
