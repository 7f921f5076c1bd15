// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that several devices share. On a machine with one GPU it is listed once and twice.
#include "kernels/devices.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <utility>

#include "kernels/autothreshold.h"
#include "kernels/equalize.h"
#include "kernels/linearopen.h"
#include "kernels/nick.h"
#include "kernels/rotate.h"
#include "kernels/swofilter.h"
#include "tests/kernels/base/frames.h"

namespace cudascan {
namespace {

using test::Image;
using Method = AutothresholdMethod;
using Worker = Devices::Worker;

/// Compares with the CPU, one frame after another. check(wanted, got) compares two reports.
template <typename In, typename Out, typename Params, typename Check>
void expect_same_as_cpu(Devices &devices, const Params &params, In in_maximum, Out out_maximum,
                        int n, const Check &check) {
  const auto frames = test::make_frames(in_maximum, n);
  auto expected = test::results_for(frames, out_maximum, 0x5a),
       got = test::results_for(frames, out_maximum, 3);
  std::vector<typename Params::Report> wanted(frames.size()), reports(1);
  Cpu cpu;
  for (std::size_t i = 0; i < frames.size(); ++i)
    run(cpu, frames[i].plane(), expected[i].plane(), params, &wanted[i]);
  run(devices, test::inputs(frames), test::outputs(got), params, &reports);
  ASSERT_EQ(reports.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "frame " << i);
    EXPECT_TRUE(test::same(expected[i].samples(), got[i].samples(), frames[i].width()));
    EXPECT_TRUE(got[i].guards_intact());
    check(wanted[i], reports[i]);
  }
}

void expect_same(const AutothresholdReport &wanted, const AutothresholdReport &got) {
  EXPECT_EQ(wanted.threshold, got.threshold);
  EXPECT_EQ(wanted.thresholds, got.thresholds);
  EXPECT_EQ(wanted.separability, got.separability);
  EXPECT_EQ(wanted.histogram, got.histogram);
}

TEST(CudaDevices, GiveTheThresholdsOfTheCpu) {
  NEED_GPU();
  using std::uint16_t;
  using std::uint8_t;
  const auto check = [](const auto &wanted, const auto &got) { expect_same(wanted, got); };
  const auto lists = test::device_lists();
  for (const std::vector<int> &list : lists) {
    SCOPED_TRACE(testing::Message() << list.size() << " devices, the first is " << list[0]);
    Devices devices(list);
    EXPECT_EQ(devices.workers(), 2 * list.size());
    const int n = static_cast<int>(2 * devices.workers() + 1);
    for (const Method method : {Method::otsu, Method::isodata, Method::mcet}) {
      // The others take long on the emulated GPU: only with all devices.
      if (test::gpu_is_emulated() && method != Method::otsu && &list != &lists.back()) continue;
      SCOPED_TRACE(static_cast<int>(method));
      const AutothresholdParams ours{.method = method};
      AutothresholdParams published = ours;
      published.algorithm = AutothresholdAlgorithm::prahara;
      expect_same_as_cpu<uint8_t, uint8_t>(devices, published, 255, 255, n, check);
      expect_same_as_cpu<uint8_t, uint8_t>(devices, ours, 255, 255, n, check);
      expect_same_as_cpu<uint16_t, uint16_t>(devices, ours, 0x3ff, 0x3ff, n, check);
      expect_same_as_cpu<uint16_t, uint8_t>(devices, ours, 0xffff, 255, n, check);
    }
  }
}

/// The kernels of these need much shared memory, barriers between blocks, or differ with the size
/// of the device.
TEST(CudaDevices, ServeOtherOperators) {
  NEED_GPU();
  Devices devices;
  const auto ignore = [](const auto &, const auto &) {};
  for (const NickParams &params :
       {NickParams{.window = 31}, NickParams{.method = NickMethod::wolf}})
    expect_same_as_cpu<std::uint8_t, std::uint8_t>(
        devices, params, 255, 255, 9, [](const NickReport &wanted, const NickReport &got) {
          EXPECT_EQ(wanted.black_ratio, got.black_ratio);
        });
  expect_same_as_cpu<std::uint16_t, std::uint16_t>(devices, EqualizeParams{}, 0xffff, 0xffff, 9,
                                                   ignore);
  expect_same_as_cpu<std::uint8_t, std::uint8_t>(
      devices, SwoFilterParams{.op = SwoFilterOperator::fill_holes}, 255, 255, 9, ignore);
  expect_same_as_cpu<float, float>(devices, LinearOpenParams{.length = 9, .angle = 30}, 1, 1, 5,
                                   ignore);
}

/// rotate has no report.
TEST(CudaDevices, ServeOperatorsWithoutReports) {
  NEED_GPU();
  Devices devices;
  const auto frames = test::make_frames<std::uint8_t>(255, 9);
  auto expected = test::results_for<std::uint8_t>(frames, 255, 0x5a),
       got = test::results_for<std::uint8_t>(frames, 255, 3);
  const RotateParams params{.angle = 5};
  Cpu cpu;
  for (std::size_t i = 0; i < frames.size(); ++i)
    run(cpu, frames[i].plane(), expected[i].plane(), params);
  run(devices, test::inputs(frames), test::outputs(got), params);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_TRUE(test::same(expected[i].samples(), got[i].samples(), frames[i].width())) << i;
}

/// Work of more than one operator, with a plane between them that stays on the device.
TEST(CudaDevices, ChainOperators) {
  NEED_GPU();
  constexpr int kFrames = 9;
  const auto images = test::make_frames<std::uint8_t>(255, kFrames);
  auto got = test::results_for<std::uint8_t>(images, 255, 3);
  const auto frames = test::inputs(images);
  const auto results = test::outputs(got);
  const SwoFilterParams median{.op = SwoFilterOperator::median, .window = 3};
  const AutothresholdParams params;
  std::vector<AutothresholdReport> reports(kFrames);
  Devices devices;
  devices.for_each(frames.size(), [&](Worker &worker, std::size_t i) {
    const Plane<const std::uint8_t> from = worker.upload(0, frames[i]);
    const Plane<std::uint8_t> between = worker.plane(1, frames[i]),
                              to = worker.plane(2, results[i]);
    run(worker.cuda(), from, between, median);
    run(worker.cuda(), Plane<const std::uint8_t>(between), to, params, &reports[i]);
    worker.download(to, results[i]);
  });
  Cpu cpu;
  for (int i = 0; i < kFrames; ++i) {
    const int width = images[i].width(), height = images[i].height();
    Image<std::uint8_t> between(width, height), expected(width, height);
    AutothresholdReport wanted;
    run(cpu, frames[i], between.plane(), median);
    run(cpu, std::as_const(between).plane(), expected.plane(), params, &wanted);
    EXPECT_TRUE(test::same(expected.samples(), got[i].samples(), width)) << "frame " << i;
    expect_same(wanted, reports[i]);
  }
}

/// A stream in pinned memory, in several calls, like the frames of a camera.
TEST(CudaDevices, CopyFromAndToPinnedMemory) {
  NEED_GPU();
  constexpr int kFrames = 24, kWidth = 64, kHeight = 10, kBytes = kWidth * kHeight;
  cuda::PinnedBuffer in(kFrames * kBytes), out(kFrames * kBytes);
  std::vector<Plane<const std::uint8_t>> frames;
  std::vector<Plane<std::uint8_t>> results;
  for (int i = 0; i < kFrames; ++i) {
    frames.push_back(
        {static_cast<std::uint8_t *>(in.data()) + i * kBytes, kWidth, kHeight, kWidth});
    results.push_back(
        {static_cast<std::uint8_t *>(out.data()) + i * kBytes, kWidth, kHeight, kWidth});
  }
  Devices devices;
  for (int call = 0; call < 4; ++call) {
    const auto content = test::make_content<std::uint8_t>(test::Content::random, kWidth,
                                                          kFrames * kHeight, 255, call);
    std::memcpy(in.data(), content.data(), content.size());
    std::memset(out.data(), 0x5a, kFrames * kBytes);
    std::vector<AutothresholdReport> reports;
    run(devices, frames, results, AutothresholdParams{.method = Method::mean}, &reports);
    for (int i = 0; i < kFrames; ++i) {
      const auto *const first = content.data() + i * kBytes;
      const int mean = std::accumulate(first, first + kBytes, 0) / kBytes;
      EXPECT_EQ(reports[i].threshold, mean) << "call " << call << ", frame " << i;
      for (int p = 0; p < kBytes; ++p)
        ASSERT_EQ(results[i].data[p], first[p] > mean ? 255 : 0) << i << ", " << p;
    }
  }
}

// ---- How frames are shared out ----------------------------------------------------------------

/// Waits until a number of threads have arrived, but no longer than a minute.
class Gathering {
 public:
  explicit Gathering(std::size_t n) : missing_(n) {}
  void arrive() {
    const std::lock_guard lock(mutex_);
    if (--missing_ == 0) all_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return all_.wait_for(lock, std::chrono::minutes(1), [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::size_t missing_;
};

/// Each worker keeps its first frame until all workers have one: so all work at the same time.
TEST(CudaDevices, AllWorkAtTheSameTime) {
  NEED_GPU();
  for (const std::vector<int> &list : test::device_lists()) {
    Devices devices(list, 3);
    ASSERT_EQ(devices.workers(), 3 * list.size());
    Gathering gathering(devices.workers());
    std::vector<int> device_of(devices.workers(), -1), expected;
    std::vector<const Worker *> worker_of(devices.workers());
    devices.for_each(devices.workers(), [&](Worker &worker, std::size_t i) {
      gathering.arrive();
      EXPECT_TRUE(gathering.wait());
      device_of[i] = worker.device();
      worker_of[i] = &worker;
    });
    for (const int device : list) expected.insert(expected.end(), 3, device);
    std::sort(expected.begin(), expected.end());
    std::sort(device_of.begin(), device_of.end());
    EXPECT_EQ(device_of, expected);
    std::sort(worker_of.begin(), worker_of.end());
    EXPECT_EQ(std::unique(worker_of.begin(), worker_of.end()), worker_of.end());
  }
}

/// While one worker is busy with the first frame, the other one processes all the rest.
TEST(CudaDevices, ABusyWorkerGetsNoMoreFrames) {
  NEED_GPU();
  constexpr std::size_t kFrames = 20;
  Devices devices({0, 0}, 1);
  Gathering others(kFrames - 1);
  std::vector<const Worker *> worker_of(kFrames);
  devices.for_each(kFrames, [&](Worker &worker, std::size_t i) {
    EXPECT_EQ(std::exchange(worker_of[i], &worker), nullptr) << i;
    if (i > 0) return others.arrive();
    EXPECT_TRUE(others.wait());
  });
  EXPECT_EQ(std::count(worker_of.begin(), worker_of.end(), worker_of[0]), 1);
  EXPECT_EQ(std::count(worker_of.begin(), worker_of.end(), nullptr), 0);
}

TEST(CudaDevices, NoFramesAreNoWork) {
  NEED_GPU();
  Devices devices;
  std::vector<AutothresholdReport> reports(3);
  run(devices, std::vector<Plane<const std::uint8_t>>(), std::vector<Plane<std::uint8_t>>(),
      AutothresholdParams{}, &reports);
  EXPECT_TRUE(reports.empty());
  devices.for_each(0, [](Worker &, std::size_t) { FAIL() << "there is no frame"; });
}

/// What the calls of for_each() queue is done when it returns, and planes are kept.
TEST(CudaDevices, PlanesOfAWorkerAreKept) {
  NEED_GPU();
  Devices devices({0}, 1);
  std::uint8_t one[12], two[12] = {};
  std::iota(one, one + 12, std::uint8_t{1});
  const void *first = nullptr;
  devices.for_each(2, [&](Worker &worker, std::size_t i) {
    const Plane<const std::uint8_t> from{one, 4, 3, 4, 200, 16, 100};
    const auto device = worker.upload(3, from);
    EXPECT_EQ(device.maximum, 200);
    EXPECT_EQ(device.black, 16);
    EXPECT_EQ(device.white, 100);
    EXPECT_EQ(device.stride % 256, 0);
    if (i == 0) first = device.data;
    EXPECT_EQ(device.data, first);
    EXPECT_NE(worker.plane(2, from).data, device.data);
    worker.download(device, Plane<std::uint8_t>{two, 4, 3, 4});
  });
  EXPECT_TRUE(std::equal(one, one + 12, two));
}

}  // namespace
}  // namespace cudascan
