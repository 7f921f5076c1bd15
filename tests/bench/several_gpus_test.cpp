// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of several GPUs, on the three emulated ones.
#include "bench/several_gpus.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "kernels/cuda_resources.h"

namespace cudascan::bench {
namespace {

/// Paints a frame with a level that depends on the device, so slowly that each gets some.
Runner painter(const std::function<int(Cuda &)> &level) {
  Runner runner;
  runner.cuda = [level](Cuda &cuda, AnyPlane, AnyPlane out) {
    const std::vector<std::uint8_t> row(static_cast<std::size_t>(out.width),
                                        static_cast<std::uint8_t>(level(cuda)));
    cuda::copy_rows(out.data, out.stride, row.data(), 0, row.size(), out.height, cuda.stream());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  return runner;
}

/// The text of all rows of a table of this work.
std::string rows_of(const SharedWork &work) {
  Options options;
  options.quick = true;
  Report report;
  several_gpus_table(options, report, "some table", "SOME", {}, {work});
  const std::string path = testing::TempDir() + "several_gpus_test.json";
  report.write_json(path, {});
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int count(const std::string &text, const std::string &word) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

constexpr char kDiffer[] = "the results differ from those of one GPU";

TEST(CudaSeveralGpus, AreTheFirstOnesThenAll) {
  EXPECT_EQ(device_lists(), (std::vector<std::vector<int>>{{0}, {0, 1}, {0, 1, 2}}));
}

TEST(CudaSeveralGpus, ResultsThatDoNotDependOnTheDeviceAreMeasured) {
  const Runner same = painter([](Cuda &) { return 7; });
  const std::string rows = rows_of({"some", "Same", same, same});
  EXPECT_EQ(count(rows, "\"parameter\": \"GPUs\""), 3);
  EXPECT_EQ(count(rows, "\"copy_us\""), 3);
  EXPECT_EQ(count(rows, "error"), 0) << rows;
}

TEST(CudaSeveralGpus, ResultsThatDependOnTheDeviceAreErrors) {
  const Runner same = painter([](Cuda &) { return 7; });
  const Runner other = painter([](Cuda &cuda) { return cuda.multiprocessors(); });
  EXPECT_EQ(count(rows_of({"some", "Ours", same, other}), kDiffer), 2) << "with 2 and 3 GPUs";
  EXPECT_EQ(count(rows_of({"some", "Published", other, same}), kDiffer), 2);
}

TEST(CudaSeveralGpus, AFailureIsAnErrorOfItsRows) {
  const Runner same = painter([](Cuda &) { return 7; });
  const Runner broken = painter([](Cuda &) -> int { throw Error("broken"); });
  EXPECT_EQ(count(rows_of({"some", "Broken", same, broken}), "\"error\": \"broken\""), 3);
}

}  // namespace
}  // namespace cudascan::bench
