// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors of frames that several devices share.
#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "kernels/autothreshold.h"
#include "kernels/equalize.h"
#include "tests/kernels/base/frames.h"

namespace cudascan {
namespace {

using Worker = Devices::Worker;

template <typename Exception, typename Call>
std::string message_of(const Call &call) {
  try {
    call();
  } catch (const Exception &e) {
    return e.what();
  }
  return "nothing was thrown";
}
#define EXPECT_HAS(text, part) EXPECT_PRED_FORMAT2(testing::IsSubstring, part, text)

/// Frames 4, 7 and 8 have an output of a wrong size each: the first one is reported, every time.
TEST(CudaDevices, TheFirstFrameThatFailsIsReported) {
  NEED_GPU();
  const auto frames = test::make_frames<std::uint8_t>(255, 11);
  for (const std::vector<int> &list : test::device_lists()) {
    Devices devices(list);
    for (int repeat = test::gpu_is_emulated() ? 8 : 0; repeat < 10; ++repeat) {
      auto results = test::results_for<std::uint8_t>(frames, 255, 0x5a);
      auto planes = test::outputs(results);
      std::vector<AutothresholdReport> reports;
      const auto go = [&] {
        run(devices, test::inputs(frames), planes, AutothresholdParams{}, &reports);
      };
      for (const int i : {4, 7, 8}) planes[i].width = i;
      EXPECT_HAS(message_of<BadSetting>(go), "the output plane is 4x");
      for (const int i : {4, 7, 8}) planes[i].width = frames[i].width();
      go();
      for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_GT(reports[i].histogram.size(), 0u);
    }
  }
}

/// Two frames fail at the same time, in both orders.
TEST(CudaDevices, TheFirstFrameIsReportedEvenIfItFailsLast) {
  NEED_GPU();
  Devices devices({0}, 2);
  for (const std::size_t last : {0, 1}) {
    std::latch both(2);
    EXPECT_HAS(message_of<Error>([&] {
                 devices.for_each(2, [&](Worker &, std::size_t i) {
                   both.arrive_and_wait();
                   if (i == last) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                   throw Error("frame " + std::to_string(i));
                 });
               }),
               "frame 0");
  }
}

TEST(CudaDevices, NoMoreFramesAreBegunAfterAnError) {
  NEED_GPU();
  Devices devices({0, 0});
  std::atomic<int> calls = 0;
  EXPECT_HAS(message_of<std::out_of_range>([&] {
               devices.for_each(1'000'000, [&](Worker &, std::size_t i) {
                 ++calls;
                 if (i == 10) throw std::out_of_range("the tenth");
               });
             }),
             "the tenth");
  EXPECT_LT(calls, 100'000);
  EXPECT_THROW(devices.for_each(5, [](Worker &, std::size_t) { throw 17; }), int);
}

/// A report that was asked for before an exception may be gone by the next frame.
TEST(CudaDevices, ReportsOfAFrameThatFailedAreDropped) {
  NEED_GPU();
  Devices devices({0}, 1);
  bool called = false;
  EXPECT_THROW(devices.for_each(1,
                                [&](Worker &worker, std::size_t) {
                                  worker.cuda().on_complete([&] { called = true; });
                                  throw Error("a fault");
                                }),
               Error);
  devices.for_each(1, [](Worker &, std::size_t) {});
  EXPECT_FALSE(called);
}

TEST(CudaDevices, DevicesThatDoNotExistAreRefused) {
  NEED_GPU();
  const int n = static_cast<int>(Devices::all().size());
  const std::string last = std::to_string(n - 1);
  EXPECT_HAS(message_of<BadSetting>([&] {
               Devices({0, n});
             }),
             "device " + std::to_string(n) + " does not exist: the devices are 0 to " + last);
  EXPECT_HAS(message_of<BadSetting>([] { Devices({-1}); }), "device -1 does not exist");
  EXPECT_HAS(message_of<BadSetting>([] { Devices(std::vector<int>()); }),
             "the list of devices is empty");
  EXPECT_HAS(message_of<BadSetting>([] { Devices({0}, 0); }), "workers = 0: must be 1 to 16");
  EXPECT_HAS(message_of<BadSetting>([] { Devices({0}, 17); }), "workers = 17: must be 1 to 16");
}

TEST(CudaDevices, SettingsThatNeedTheFramesBeforeAreRefused) {
  NEED_GPU();
  Devices devices;
  const auto refusal = [&](const auto &params) {
    return message_of<BadSetting>([&] {
      run(devices, std::vector<Plane<const std::uint8_t>>(), std::vector<Plane<std::uint8_t>>(),
          params);
    });
  };
  EXPECT_HAS(refusal(AutothresholdParams{.smoothing = 0.5}),
             "smoothing = 0.5 needs the frames before");
  EXPECT_HAS(refusal(AutothresholdParams{.hysteresis = 3}), "hysteresis = 3 needs");
  EXPECT_HAS(refusal(EqualizeParams{.smoothing = 0.9}), "smoothing = 0.9 needs");
}

TEST(CudaDevices, WrongPlanesAreRefused) {
  NEED_GPU();
  Devices devices;
  std::uint8_t samples[64] = {}, result[64] = {};
  const auto refusal = [&](std::vector<Plane<const std::uint8_t>> in, Plane<std::uint8_t> out) {
    return message_of<BadSetting>(
        [&] { run(devices, in, std::vector<Plane<std::uint8_t>>{out}, AutothresholdParams{}); });
  };
  EXPECT_HAS(refusal({}, {result, 8, 8, 8}), "there are 0 frames and 1 planes for results");
  EXPECT_HAS(refusal({{samples, 0, 8, 8}}, {result, 8, 8, 8}), "the plane is 0x8");
  EXPECT_HAS(refusal({{samples, -8, 8, 8}}, {result, 8, 8, 8}), "the plane is -8x8");
  EXPECT_HAS(refusal({{samples, 8, 8, 7}}, {result, 8, 8, 8}), "the stride of the input plane, 7");
  EXPECT_HAS(refusal({{samples, 8, 8, 8}}, {result, 8, 8, 7}), "the stride of the output plane, 7");
  EXPECT_HAS(refusal({{samples, 8, 8, 8}}, {result, 8, 1 << 20, 8}), "the plane is 8x1048576");
}

TEST(Devices, WithoutAGpuThereAreNone) {
  if (Cuda::available()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_TRUE(Devices::all().empty());
  EXPECT_HAS(message_of<Error>([] { Devices(); }), "CUDA");
  EXPECT_HAS(message_of<Error>([] { Devices({0}); }), "CUDA");
}

}  // namespace
}  // namespace cudascan
