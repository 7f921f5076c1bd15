// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA and the CPU, streams of frames, and a frame of a whole page.
#include "tests/kernels/autothreshold/result.h"

namespace cudascan {
namespace {

using test::Gray16;
using test::Gray8;
using test::Image;
using test::Method;
using test::otsu_by_hand;
using test::row;
using Params = AutothresholdParams;

// Methods that differ in how threads share the work.
CHECK_OPERATOR(
    Autothreshold, Params, {}, {.method = Method::mean, .invert = true},
    {.method = Method::huang, .ignore_black = true, .ignore_white = true},
    {.method = Method::li, .roi = {3, 2, 1000, 7}}, {.classes = 3, .offset = -20},
    {.classes = 4, .invert = true}, {.apply = false}, {.offset = -65535}, {.offset = 65535},
    {.offset = 7, .ignore_black = true}, {.ignore_white = true, .roi = {0, 0, 5, 1}},
    {.algorithm = AutothresholdAlgorithm::prahara},
    {.method = Method::isodata, .offset = 3, .algorithm = AutothresholdAlgorithm::prahara},
    {.method = Method::mcet, .algorithm = AutothresholdAlgorithm::prahara});

#ifdef HAVE_CUDA
TEST(Autothreshold, CudaEqualsCpuWithEveryMethod) {
  NEED_GPU();
  // For these methods many blocks share the work, even on small images. That is slow on the
  // emulated GPU.
  std::vector<Params> small, others;
  for (const Method method : test::kMethods) {
    const bool smooths = method == Method::minimum || method == Method::intermodes;
    // Thousands of times; CudaEqualsCpuOnHumps tests them.
    if (smooths && test::gpu_is_emulated()) continue;
    const bool few_levels = smooths || method == Method::huang || method == Method::shanbhag;
    (few_levels ? small : others).push_back({.method = method});
  }
  constexpr test::Size kFewSizes[] = {{33, 7}, {257, 129}};
  constexpr test::Size kSizes[] = {{33, 7}, {257, 129}, {640, 480}};
  test::expect_cuda_equals_cpu(small, kFewSizes);
  test::expect_cuda_equals_cpu(others, kSizes);
}

/// Samples with `n` peaks of levels and valleys of different depth between them.
Gray8 humps(unsigned seed, int n) {
  std::mt19937 random(seed);
  Gray8 samples(20'000);
  std::vector<std::normal_distribution<double>> normal;
  for (int i = 0; i < n; ++i)
    normal.emplace_back(random() % 256, 3 + static_cast<double>(random() % 1000) / 30);
  for (auto &sample : samples)
    sample = static_cast<std::uint8_t>(std::clamp(normal[random() % n](random), 0.0, 255.0));
  return samples;
}

TEST(Autothreshold, CudaEqualsCpuOnHumps) {
  NEED_GPU();
  test::CpuRunner cpu;
  test::CudaRunner cuda;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Image<std::uint8_t> in(humps(seed, 1 + seed % 5), 200, 100);
    for (const Params &params :
         {Params{.method = Method::minimum}, Params{.method = Method::intermodes},
          Params{.method = Method::huang}, Params{.method = Method::shanbhag},
          Params{.method = Method::li}, Params{.classes = 3}, Params{.classes = 4}}) {
      Image<std::uint8_t> expected(200, 100), got(200, 100);
      cpu(in, expected, params);
      cuda(in, got, params);
      EXPECT_TRUE(expected.samples() == got.samples())
          << "seed " << seed << ", method " << static_cast<int>(params.method);
    }
  }
}

TEST(Autothreshold, CudaEqualsCpuOnManySamples) {
  NEED_GPU();
  test::expect_cuda_equals_cpu_on_many_samples(Params{.roi = {5, 1, 4950, 3390}});
}
#endif

// ---- From frame to frame ---------------------------------------------------------------------

/// The thresholds of the method mean for frames that have one level each.
std::vector<int> sequence(Cpu &cpu, const Params &params, std::initializer_list<int> levels) {
  std::vector<int> thresholds;
  for (const int level : levels) {
    const Image<std::uint8_t> in = row(Gray8(4, level));
    Image<std::uint8_t> out(4, 1);
    AutothresholdReport report;
    run(cpu, in.plane(), out.plane(), params, &report);
    thresholds.push_back(report.threshold);
  }
  return thresholds;
}

using Thresholds = std::vector<int>;

TEST(AutothresholdHistory, SmoothingApproachesAChange) {
  Cpu cpu;
  const Params params = {.method = Method::mean, .smoothing = 0.5};
  EXPECT_EQ(sequence(cpu, params, {100, 200, 200, 200, 200, 200, 200, 200, 200, 200}),
            Thresholds({100, 150, 175, 188, 194, 197, 198, 199, 200, 200}));
  EXPECT_EQ(sequence(cpu, params, {100}), Thresholds({150}));
  cpu.forget();
  EXPECT_EQ(sequence(cpu, params, {80}), Thresholds({80})) << "the history was forgotten";
}

TEST(AutothresholdHistory, TheStrongestSmoothingStillArrives) {
  Cpu cpu;
  const Params params = {.method = Method::mean, .smoothing = 0.999};
  sequence(cpu, params, {10});
  for (int i = 0; i < 20000; ++i) sequence(cpu, params, {11});
  EXPECT_EQ(sequence(cpu, params, {11}), Thresholds({11}));
  for (int i = 0; i < 20000; ++i) sequence(cpu, params, {10});
  EXPECT_EQ(sequence(cpu, params, {10}), Thresholds({10}));
}

TEST(AutothresholdHistory, HysteresisHoldsSmallChangesBack) {
  Cpu cpu;
  const Params params = {.method = Method::mean, .hysteresis = 3};
  EXPECT_EQ(sequence(cpu, params, {100, 103, 97, 100, 104, 101, 100, 50}),
            Thresholds({100, 100, 100, 100, 104, 104, 100, 50}));
}

TEST(AutothresholdHistory, HysteresisLooksAtTheSmoothedThreshold) {
  Cpu cpu;
  EXPECT_EQ(sequence(cpu, {.method = Method::mean, .smoothing = 0.5, .hysteresis = 12},
                     {100, 120, 120, 120, 120}),
            Thresholds({100, 100, 115, 115, 115}));
}

TEST(AutothresholdHistory, OffsetComesLast) {
  Cpu cpu;
  EXPECT_EQ(sequence(cpu, {.method = Method::mean, .offset = -20, .smoothing = 0.5},
                     {100, 120, 20, 0, 0}),
            Thresholds({80, 90, 45, 13, -1}));
}

TEST(AutothresholdHistory, SettingsMayChangeBetweenFrames) {
  Cpu cpu;
  EXPECT_EQ(sequence(cpu, {.method = Method::mean}, {100, 200}), Thresholds({100, 200}));
  EXPECT_EQ(sequence(cpu, {.method = Method::mean, .smoothing = 0.75}, {100}), Thresholds({175}));
  EXPECT_EQ(sequence(cpu, {.method = Method::mean}, {30}), Thresholds({30}));
}

TEST(AutothresholdHistory, AnotherDepthStartsAnew) {
  Cpu cpu;
  const Params params = {.method = Method::mean, .smoothing = 0.5};
  sequence(cpu, params, {100});
  const Image<std::uint16_t> deep = row(Gray16(4, 40000));
  Image<std::uint16_t> out(4, 1);
  AutothresholdReport report;
  run(cpu, deep.plane(), out.plane(), params, &report);
  EXPECT_EQ(report.threshold, 40000);
  EXPECT_EQ(sequence(cpu, params, {60}), Thresholds({60}));
}

TEST(AutothresholdHistory, ExecutorsHaveTheirOwn) {
  Cpu one, two;
  const Params params = {.method = Method::mean, .smoothing = 0.5};
  EXPECT_EQ(sequence(one, params, {100}), Thresholds({100}));
  EXPECT_EQ(sequence(two, params, {200}), Thresholds({200}));
  EXPECT_EQ(sequence(one, params, {200}), Thresholds({150}));
}

#ifdef HAVE_CUDA
TEST(AutothresholdHistory, CudaHasThatOfTheCpu) {
  NEED_GPU();
  const auto content_of = [](int frame) {
    return test::kContents[frame * 7 % std::size(test::kContents)];
  };
  const auto check = [](const AutothresholdReport &wanted, const AutothresholdReport &got) {
    EXPECT_EQ(wanted.threshold, got.threshold);
    EXPECT_EQ(wanted.thresholds, got.thresholds);
    EXPECT_EQ(wanted.mean_below, got.mean_below);
    EXPECT_EQ(wanted.mean_above, got.mean_above);
    EXPECT_EQ(wanted.separability, got.separability);
    EXPECT_EQ(wanted.histogram, got.histogram);
  };
  for (const Params &params :
       {Params{.smoothing = 0.9}, Params{.method = Method::mean, .hysteresis = 5},
        Params{.method = Method::huang, .offset = -3, .smoothing = 0.3, .hysteresis = 2}}) {
    const auto follow = [&]<typename T>(T maximum, int frames, int forget_at) {
      test::expect_cuda_follows_cpu<AutothresholdReport>(params, maximum, frames, forget_at,
                                                         content_of, check);
    };
    follow(std::uint8_t{255}, 20, 16);
    follow(std::uint16_t{1023}, 7, 5);
    follow(std::uint16_t{0xffff}, 7, 5);
  }
}

TEST(AutothresholdHistory, CudaGoesOnFromSettingsToSettings) {
  NEED_GPU();
  constexpr auto kPrahara = AutothresholdAlgorithm::prahara;
  const Params settings[] = {{.smoothing = 0.9},
                             {.classes = 3},
                             {.smoothing = 0.5},
                             {.hysteresis = 20, .algorithm = kPrahara},
                             {.method = Method::mean, .smoothing = 0.5},
                             {.method = Method::isodata, .smoothing = 0.7, .algorithm = kPrahara},
                             {.classes = 4},
                             {.method = Method::huang, .smoothing = 0.5}};
  constexpr int kWidth = 60, kHeight = 40;
  Cpu cpu(1);
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy in_copy(stream.get()), out_copy(stream.get());
  Image<std::uint8_t> out(kWidth, kHeight);
  for (int frame = 0; frame < 24; ++frame) {
    const Params &params = settings[frame * 5 % std::size(settings)];
    const Image<std::uint8_t> in(
        test::make_content<std::uint8_t>(test::kContents[frame * 7 % std::size(test::kContents)],
                                         kWidth, kHeight, 255, frame),
        kWidth, kHeight);
    AutothresholdReport wanted, got;
    run(cpu, in.plane(), out.plane(), params, &wanted);
    run(cuda, Plane<const std::uint8_t>(in_copy.upload(in)), out_copy.upload(out), params, &got);
    cuda.synchronize();
    EXPECT_EQ(wanted.thresholds, got.thresholds) << "frame " << frame;
  }
}

TEST(AutothresholdHistory, CudaGoesOnFromStreamToStream) {
  NEED_GPU();
  constexpr int kWidth = 60, kHeight = 40, kFrames = 16;
  const Params params{.method = Method::mean, .smoothing = 0.5};
  struct Frame {
    explicit Frame(CUstream_st *stream) : device_in(stream), device_out(stream) {}
    Image<std::uint8_t> out{kWidth, kHeight};
    test::DeviceCopy device_in, device_out;
    Plane<std::uint8_t> from, to;
  };
  Cpu cpu;
  std::vector<Gray8> expected;
  cuda::Stream streams[3];
  std::vector<std::unique_ptr<Frame>> frames;
  for (int i = 0; i < kFrames; ++i) {
    const Image<std::uint8_t> in(
        test::make_content<std::uint8_t>(test::Content::gradient, kWidth, kHeight, 255 - 13 * i),
        kWidth, kHeight);
    Image<std::uint8_t> out(kWidth, kHeight);
    run(cpu, in.plane(), out.plane(), params);
    expected.push_back(out.samples());
    Frame &frame = *frames.emplace_back(std::make_unique<Frame>(streams[i % 3].get()));
    frame.from = frame.device_in.upload(in);
    frame.to = frame.device_out.upload(frame.out);
  }
  for (const cuda::Stream &stream : streams) stream.synchronize();
  Cuda cuda(streams[0].get());
  for (int i = 0; i < kFrames; ++i) {
    cuda.move_to(streams[i % 3].get());
    run(cuda, Plane<const std::uint8_t>(frames[i]->from), frames[i]->to, params);
  }
  cuda.synchronize();
  for (int i = 0; i < kFrames; ++i) {
    Image<std::uint8_t> &out = frames[i]->out;
    frames[i]->device_out.download(out.memory().begin(), out.memory().size());
    streams[i % 3].synchronize();
    EXPECT_TRUE(test::same(expected[i], out.samples(), kWidth)) << "frame " << i;
  }
}
#endif

// ---- A whole page ----------------------------------------------------------------------------

constexpr int kPageWidth = 7016, kPageHeight = 9921;  // A3 at 600 dpi

/// Paper of 240 to 255, 97 of 100 pixels, and ink of 20 to 83.
const Gray8 &white_page() {
  static const Gray8 page = [] {
    Gray8 samples(std::size_t{kPageWidth} * kPageHeight);
    std::uint32_t state = 1;
    for (auto &sample : samples) {
      state = state * 1664525u + 1013904223u;
      const unsigned noise = state >> 16;
      sample = noise % 100 < 3 ? 20 + noise / 128 % 64 : 240 + noise / 128 % 16;
    }
    return samples;
  }();
  return page;
}

/// The counts of a white page make sums that do not fit 32 bits.
void check_page_report(const AutothresholdReport &report) {
  EXPECT_EQ(report.threshold, otsu_by_hand(white_page()));
  EXPECT_GE(report.threshold, 83);
  EXPECT_LT(report.threshold, 240);
  EXPECT_NEAR(report.mean_below, 51.5, 0.5);
  EXPECT_NEAR(report.mean_above, 247.5, 0.5);
  EXPECT_GT(report.separability, 0.9);
}

TEST(Autothreshold, AWholePageThatIsNearlyWhite) {
  const Gray8 &page = white_page();
  Gray8 out(page.size());
  Cpu cpu;
  AutothresholdReport report;
  run(cpu, Plane<const std::uint8_t>{page.data(), kPageWidth, kPageHeight, kPageWidth},
      Plane<std::uint8_t>{out.data(), kPageWidth, kPageHeight, kPageWidth}, Params{}, &report);
  check_page_report(report);
}

#ifdef HAVE_CUDA
TEST(Autothreshold, CudaAWholePageThatIsNearlyWhite) {
  NEED_REAL_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  cuda::DeviceBuffer in, out;
  const std::size_t bytes = white_page().size();
  auto *from = static_cast<std::uint8_t *>(in.reserve(bytes));
  auto *to = static_cast<std::uint8_t *>(out.reserve(bytes));
  cuda::copy_rows(from, kPageWidth, white_page().data(), kPageWidth, kPageWidth, kPageHeight,
                  stream.get());
  AutothresholdReport report;
  run(cuda, Plane<const std::uint8_t>{from, kPageWidth, kPageHeight, kPageWidth},
      Plane<std::uint8_t>{to, kPageWidth, kPageHeight, kPageWidth}, Params{}, &report);
  cuda.synchronize();
  check_page_report(report);
}
#endif

}  // namespace
}  // namespace cudascan
