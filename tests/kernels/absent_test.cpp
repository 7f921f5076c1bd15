// SPDX-License-Identifier: LGPL-2.1-or-later
// A build without CUDA says so.
#include <gtest/gtest.h>

#include "kernels/autothreshold.h"
#include "kernels/binarize.h"
#include "kernels/devices.h"
#include "kernels/equalize.h"
#include "kernels/histogram.h"
#include "kernels/linearopen.h"
#include "kernels/nick.h"
#include "kernels/rotate.h"
#include "kernels/runlengths.h"
#include "kernels/swofilter.h"
#include "kernels/usercode/gpu_module.h"
#include "tests/usercode/support.h"

namespace cudascan::test {
namespace {

constexpr const char *kReason = "has no CUDA";

template <typename Params>
void expect_refusal() {
  Cuda cuda;
  std::uint8_t in = 1, out = 2;
  const std::string message = message_of<Error>([&] {
    run(cuda, Plane<const std::uint8_t>{&in, 1, 1, 1}, Plane<std::uint8_t>{&out, 1, 1, 1},
        Params{});
  });
  EXPECT_TRUE(has(message, kReason)) << message;
  EXPECT_EQ(out, 2);
}

TEST(Absent, OperatorsRefuseTheGpu) {
  EXPECT_FALSE(Cuda::available());
  expect_refusal<AutothresholdParams>();
  expect_refusal<BinarizeParams>();
  expect_refusal<EqualizeParams>();
  expect_refusal<LinearOpenParams>();
  expect_refusal<NickParams>();
  expect_refusal<RotateParams>();
  expect_refusal<SwoFilterParams>();
}

TEST(Absent, HistogramsRefuseTheGpu) {
  const std::uint8_t in = 1;
  Cuda cuda;
  Histogram counts;
  EXPECT_TRUE(has(message_of<Error>([&] {
                    count(cuda, Plane<const std::uint8_t>{&in, 1, 1, 1}, {}, counts);
                  }),
                  kReason));
}

TEST(Absent, RunLengthsRefuseTheGpu) {
  const std::uint8_t in = 1;
  Cuda cuda;
  RunLengths counts;
  EXPECT_TRUE(has(message_of<Error>([&] {
                    count_runs(cuda, Plane<const std::uint8_t>{&in, 1, 1, 1}, {}, counts);
                  }),
                  kReason));
}

TEST(Absent, ThereAreNoDevices) {
  EXPECT_TRUE(Devices::all().empty());
  EXPECT_TRUE(has(message_of<Error>([] { Devices(); }), kReason));
  EXPECT_TRUE(has(message_of<Error>([] { Devices({0}); }), kReason));
}

TEST(Absent, ModulesRefuseTheGpu) {
  EXPECT_TRUE(has(message_of<Error>([] { gswo::GpuModule("code"); }), kReason));
}

}  // namespace
}  // namespace cudascan::test
