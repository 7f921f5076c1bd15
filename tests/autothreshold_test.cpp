// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of a threshold: classes, history, offset, what is left out, reports, refusals. What the
// methods find on a histogram is tested with them.
#include "kernels/autothreshold.h"

#include <cmath>
#include <initializer_list>
#include <numeric>

#include "operator_test.h"

namespace cudascan {
namespace {

using test::Content;
using test::Image;
using Gray8 = std::vector<std::uint8_t>;
using Gray16 = std::vector<std::uint16_t>;
using Method = AutothresholdMethod;
using Params = AutothresholdParams;

constexpr Method kMethods[] = {Method::otsu,     Method::isodata,     Method::mcet,
                               Method::triangle, Method::max_entropy, Method::yen,
                               Method::li,       Method::minimum,     Method::intermodes,
                               Method::moments,  Method::huang,       Method::renyi_entropy,
                               Method::shanbhag, Method::percentile,  Method::mean};

CHECK_OPERATOR(
    Autothreshold, AutothresholdParams, {}, {.method = Method::isodata}, {.method = Method::mcet},
    {.method = Method::triangle}, {.method = Method::max_entropy}, {.method = Method::yen},
    {.method = Method::li}, {.method = Method::minimum}, {.method = Method::intermodes},
    {.method = Method::moments}, {.method = Method::huang}, {.method = Method::renyi_entropy},
    {.method = Method::shanbhag}, {.method = Method::percentile}, {.method = Method::mean},
    {.classes = 3}, {.classes = 4, .invert = true}, {.classes = 3, .offset = -20}, {.apply = false},
    {.method = Method::mean, .invert = true}, {.offset = 7}, {.offset = -65535}, {.offset = 65535},
    {.ignore_black = true}, {.ignore_white = true},
    {.method = Method::huang, .ignore_black = true, .ignore_white = true}, {.roi = {0, 0, 5, 1}},
    {.method = Method::li, .roi = {3, 2, 1000, 7}}, {.algorithm = AutothresholdAlgorithm::prahara},
    {.method = Method::isodata, .offset = 3, .algorithm = AutothresholdAlgorithm::prahara},
    {.method = Method::mcet, .algorithm = AutothresholdAlgorithm::prahara});

template <typename Out>
struct Result {
  std::vector<Out> samples;
  AutothresholdReport report;
};

/// One frame on the CPU, as a stream of its own.
template <typename Out = std::uint8_t, typename In>
Result<Out> result(const Image<In> &in, const Params &params,
                   Out maximum = std::numeric_limits<Out>::max()) {
  Image<Out> out(in.width(), in.height(), {}, maximum);
  Result<Out> r;
  Cpu cpu;
  run(cpu, in.plane(), out.plane(), params, &r.report);
  r.samples = out.samples();
  return r;
}

Image<std::uint8_t> row(const Gray8 &samples) {
  return {samples, static_cast<int>(samples.size()), 1};
}
Image<std::uint16_t> row(const Gray16 &samples, std::uint16_t maximum = 65535) {
  return {samples, static_cast<int>(samples.size()), 1, {}, maximum};
}

/// Otsu's threshold by its definition, in quadruple precision on counts per sample.
template <typename T>
int otsu_by_hand(const std::vector<T> &samples) {
  std::vector<std::int64_t> counts(std::numeric_limits<T>::max() + 1);
  for (const T sample : samples) ++counts[sample];
  __float128 best = -1, n = 0, sum = 0, all = samples.size();
  const __float128 total = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  int threshold = *std::min_element(samples.begin(), samples.end());
  for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
    n += counts[t], sum += static_cast<__float128>(counts[t]) * t;
    if (n == 0 || n == all) continue;
    const __float128 distance = sum / n - (total - sum) / (all - n);
    const __float128 variance = n * (all - n) * distance * distance;
    if (variance > best) best = variance, threshold = t;
  }
  return threshold;
}

// ---- The picture -----------------------------------------------------------------------------

template <typename T>
void expect_otsu_of_contents() {
  for (const Content content : test::kContents) {
    const auto samples = test::make_content<T>(content, 97, 61, std::numeric_limits<T>::max());
    const auto got = result<T>(Image<T>(samples, 97, 61), {});
    const int threshold = otsu_by_hand(samples);
    EXPECT_EQ(got.report.threshold, threshold) << "content " << static_cast<int>(content);
    for (std::size_t i = 0; i < samples.size(); ++i)
      ASSERT_EQ(got.samples[i], samples[i] > threshold ? std::numeric_limits<T>::max() : 0);
  }
}

TEST(Autothreshold, OtsuIsThatOfItsDefinition) {
  expect_otsu_of_contents<std::uint8_t>();
  expect_otsu_of_contents<std::uint16_t>();
}

TEST(Autothreshold, KnownValues) {
  const auto threshold = [](const Gray8 &samples, Method method) {
    return result(row(samples), {.method = method}).report.threshold;
  };
  const Gray8 two = {50, 50, 50, 200};
  EXPECT_EQ(threshold(two, Method::otsu), 50) << "the lowest of equally good ones";
  EXPECT_EQ(threshold(two, Method::isodata), 125);
  EXPECT_EQ(threshold(two, Method::mcet), 50);
  EXPECT_EQ(threshold({10, 20, 30, 200}, Method::mean), 65);
  // n (N - n) d^2 is 5 * 36 after 0, 8 * 6.75^2 = 364.5 after 1, 9 * 8^2 = 576 after 2.
  EXPECT_EQ(threshold({0, 1, 2, 8, 9, 10}, Method::otsu), 2);
}

TEST(Autothreshold, TheThresholdItselfIsBlack) {
  EXPECT_EQ(result(row(Gray8{50, 51, 200, 50}), {.offset = 0}).samples, Gray8({0, 0, 255, 0}));
  EXPECT_EQ(result(row(Gray8{50, 51, 200, 50}), {.invert = true}).samples,
            Gray8({255, 255, 0, 255}));
}

TEST(Autothreshold, ImagesOfOneLevelAreBlack) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    for (const int level : {0, 1, 127, 254, 255})
      for (const int pixels : {1, 100}) {
        const auto got = result(row(Gray8(pixels, level)), {.method = method});
        EXPECT_EQ(got.samples, Gray8(pixels, 0));
        EXPECT_EQ(got.report.threshold, level);
        EXPECT_EQ(got.report.mean_below, level);
        EXPECT_EQ(got.report.mean_above, 0);
        EXPECT_EQ(got.report.separability, 0);
      }
    for (const int level : {0, 12345, 65535}) {
      const auto got = result<std::uint16_t>(row(Gray16(9, level)), {.method = method});
      EXPECT_EQ(got.samples, Gray16(9, 0));
      EXPECT_GE(got.report.threshold, level);
      EXPECT_LT(got.report.threshold, level + 256);
    }
  }
}

TEST(Autothreshold, TwoLevelsAreToldApart) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    for (const auto &[dark, bright] : {std::pair{50, 200}, std::pair{0, 255}}) {
      Gray8 samples(100, dark), expected(100, 0);
      std::fill_n(samples.begin(), 50, bright);
      std::fill_n(expected.begin(), 50, 255);
      const auto got = result(row(samples), {.method = method});
      EXPECT_EQ(got.samples, expected) << got.report.threshold;
      EXPECT_EQ(got.report.mean_below, dark);
      EXPECT_EQ(got.report.mean_above, bright);
      EXPECT_EQ(got.report.separability, 1);
    }
  }
}

TEST(Autothreshold, NothingCountedIsAThresholdOfZero) {
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    const auto got = result(row(Gray8{0, 255, 0, 255}),
                            {.method = method, .ignore_black = true, .ignore_white = true});
    EXPECT_EQ(got.report.threshold, 0);
    EXPECT_EQ(got.samples, Gray8({0, 255, 0, 255}));
    EXPECT_EQ(got.report.separability, 0);
  }
}

TEST(Autothreshold, LevelsLieWhereTheFormatPutsThem) {
  Gray16 low, high;
  Gray8 eight;
  for (const int level : {100, 120, 110, 900, 920, 100})
    low.push_back(level), high.push_back(level << 6);
  for (const Method method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    const auto a = result<std::uint16_t>(row(low, 1023), {.method = method}, 1023);
    const auto b = result<std::uint16_t>(row(high, 0xffc0), {.method = method}, 0xffc0);
    EXPECT_EQ(a.report.threshold, b.report.threshold);
    EXPECT_EQ(a.report.histogram, b.report.histogram);
    EXPECT_EQ(a.report.histogram.size(), 1024u);
    const int t = a.report.threshold;
    for (std::size_t i = 0; i < low.size(); ++i) {
      EXPECT_EQ(a.samples[i], low[i] > t ? 1023 : 0);
      EXPECT_EQ(b.samples[i], low[i] > t ? 0xffc0 : 0);
    }
    EXPECT_EQ(result<std::uint8_t>(row(low, 1023), {.method = method}).samples,
              result<std::uint8_t>(row(high, 0xffc0), {.method = method}).samples);
  }
}

TEST(Autothreshold, SamplesAboveTheLargestAreOfTheHighestLevel) {
  const auto got =
      result<std::uint16_t>(row(Gray16{10, 1023, 5000, 65535}, 1023), {.offset = 65535}, 1023);
  EXPECT_EQ(got.report.threshold, 1023);
  EXPECT_EQ(got.samples, Gray16({0, 0, 0, 0}));
  EXPECT_EQ(got.report.histogram[1023], 3u);
  EXPECT_EQ(result<std::uint16_t>(row(Gray16{0, 63, 64, 5000}, 0xffc0), {.offset = -65535}, 0xffc0)
                .samples,
            Gray16(4, 0xffc0))
      << "T = -1";
}

TEST(Autothreshold, StepsOfLevelsWhereAMethodLooksAtFew) {
  for (const Method method :
       {Method::huang, Method::shanbhag, Method::minimum, Method::intermodes}) {
    const auto samples = test::make_content<std::uint16_t>(Content::text, 90, 70, 1023);
    const auto got = result<std::uint16_t>(Image<std::uint16_t>(samples, 90, 70, {}, 1023),
                                           {.method = method}, 1023);
    EXPECT_EQ(got.report.threshold % 4, 3) << "the last level of a step of four";
    Gray8 steps;
    for (const auto sample : samples) steps.push_back(sample / 4);
    EXPECT_EQ(got.report.threshold / 4,
              result(Image<std::uint8_t>(steps, 90, 70), {.method = method}).report.threshold);
  }
}

TEST(Autothreshold, ClassesArePaintedInEqualSteps) {
  const Gray8 samples = {0, 2, 1, 100, 102, 250, 252, 101};
  const auto three = result(row(samples), {.classes = 3});
  EXPECT_EQ(three.samples, Gray8({0, 0, 0, 128, 128, 255, 255, 128}));
  EXPECT_EQ(three.report.thresholds, std::vector<int>({2, 102}));
  EXPECT_EQ(three.report.threshold, 2);
  EXPECT_GT(three.report.separability, 0.99);
  EXPECT_EQ(result(row(samples), {.classes = 3, .invert = true}).samples,
            Gray8({255, 255, 255, 128, 128, 0, 0, 128}));
  const auto four = result(row(Gray8{0, 1, 80, 81, 160, 161, 240, 241}), {.classes = 4});
  EXPECT_EQ(four.samples, Gray8({0, 0, 85, 85, 170, 170, 255, 255}));
  EXPECT_EQ(four.report.thresholds, std::vector<int>({1, 81, 161}));
  const auto deep = result<std::uint8_t>(row(Gray16{0, 30000, 60000, 30001}), {.classes = 3});
  EXPECT_EQ(deep.samples, Gray8({0, 128, 255, 128}));
}

TEST(Autothreshold, ClassesThatOffsetsEmptyAreNotPainted) {
  const Gray8 samples = {0, 1, 100, 101, 250, 251};
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = -2}).samples,
            Gray8({128, 128, 255, 255, 255, 255}));
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = -300}).samples, Gray8(6, 255));
  EXPECT_EQ(result(row(samples), {.classes = 3, .offset = 300}).samples, Gray8(6, 0));
}

TEST(Autothreshold, OffsetMovesTheThresholdWithinTheLevels) {
  const Gray8 samples = {50, 60, 190, 200};
  for (const int offset : {-300, -51, -50, -10, 0, 5, 139, 140, 150, 300}) {
    const int t = std::clamp(60 + offset, -1, 255);
    const auto got = result(row(samples), {.offset = offset});
    EXPECT_EQ(got.report.threshold, t);
    EXPECT_EQ(got.report.thresholds, std::vector<int>({t}));
    for (std::size_t i = 0; i < samples.size(); ++i)
      EXPECT_EQ(got.samples[i], samples[i] > t ? 255 : 0) << offset;
  }
}

TEST(Autothreshold, WithoutApplyTheFrameIsCopied) {
  const auto samples = test::make_content<std::uint16_t>(Content::text, 60, 40, 1023);
  const Image<std::uint16_t> in(samples, 60, 40, {5, 0}, 1023);
  const auto measured = result<std::uint16_t>(in, {.apply = false}, 1023);
  EXPECT_EQ(measured.samples, samples);
  EXPECT_EQ(measured.report.threshold, result<std::uint16_t>(in, {}, 1023).report.threshold);
}

// ---- What is counted -------------------------------------------------------------------------

TEST(Autothreshold, ExtremesCanBeLeftOut) {
  // A black frame around dark and bright pixels, and white holes.
  Gray8 samples(1000, 0);
  std::fill_n(samples.begin(), 50, 60);
  std::fill_n(samples.begin() + 50, 50, 120);
  std::fill_n(samples.begin() + 100, 300, 255);
  EXPECT_EQ(result(row(samples), {}).report.threshold, 120);
  const auto got = result(row(samples), {.ignore_black = true, .ignore_white = true});
  EXPECT_EQ(got.report.threshold, 60);
  EXPECT_EQ(got.report.histogram[0], 0u);
  EXPECT_EQ(got.report.histogram[255], 0u);
  EXPECT_EQ(got.report.histogram[60], 50u);
  EXPECT_EQ(got.samples[0], 0);
  EXPECT_EQ(got.samples[50], 255);
  EXPECT_EQ(got.samples[999], 0) << "what is left out is painted all the same";
  EXPECT_EQ(result(row(samples), {.ignore_black = true}).report.histogram[255], 300u);
  EXPECT_EQ(result(row(samples), {.ignore_white = true}).report.histogram[0], 600u);
}

TEST(Autothreshold, StatisticsAreFromTheRoi) {
  Gray8 samples(40 * 30, 250);
  for (int y = 10; y < 15; ++y)
    for (int x = 20; x < 30; ++x) samples[y * 40 + x] = x < 25 ? 10 : 90;
  const Image<std::uint8_t> in(samples, 40, 30);
  const auto got = result(in, {.roi = {20, 10, 10, 5}});
  EXPECT_EQ(got.report.threshold, 10);
  EXPECT_EQ(std::accumulate(got.report.histogram.begin(), got.report.histogram.end(), 0u), 50u);
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(got.samples[i], samples[i] > 10 ? 255 : 0);
  EXPECT_EQ(result(in, {.roi = {25, 10, 100, 100}}).report.histogram[90], 25u) << "cut off";
  EXPECT_EQ(result(in, {.roi = {0, 0, 0, 0}}).report.threshold, result(in, {}).report.threshold);
}

TEST(Autothreshold, ReportOfAnUnevenFrame) {
  // Means 2 and 9 of 3 and 2 pixels: between 3 (2 - 4.8)^2 + 2 (9 - 4.8)^2 = 58.8, within 2 + 2.
  const auto got = result(row(Gray8{1, 2, 3, 8, 10}), {});
  EXPECT_EQ(got.report.threshold, 3);
  EXPECT_EQ(got.report.mean_below, 2);
  EXPECT_EQ(got.report.mean_above, 9);
  EXPECT_DOUBLE_EQ(got.report.separability, 58.8 / 62.8);
  EXPECT_EQ(got.report.histogram.size(), 256u);
  EXPECT_EQ(got.report.histogram[8], 1u);
}

// ---- From frame to frame ---------------------------------------------------------------------

/// The thresholds that mean finds on frames of one level each.
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
  for (const Params &params :
       {Params{.smoothing = 0.9}, Params{.method = Method::mean, .hysteresis = 5},
        Params{.method = Method::huang, .offset = -3, .smoothing = 0.3, .hysteresis = 2}}) {
    Cpu cpu;
    cuda::Stream stream;
    Cuda cuda(stream.get());
    test::DeviceCopy device_in(stream.get()), device_out(stream.get());
    for (int frame = 0; frame < 24; ++frame) {
      if (frame == 16) cpu.forget(), cuda.forget();
      const auto content = test::kContents[frame * 7 % std::size(test::kContents)];
      const Image<std::uint8_t> in(test::make_content<std::uint8_t>(content, 60, 40, 255, frame),
                                   60, 40);
      Image<std::uint8_t> expected(60, 40), out(60, 40);
      AutothresholdReport wanted, got;
      run(cpu, in.plane(), expected.plane(), params, &wanted);
      const Plane<std::uint8_t> from = device_in.upload(in), to = device_out.upload(out);
      run(cuda, Plane<const std::uint8_t>(from), to, params, &got);
      device_out.download(out.memory().begin(), out.memory().size());
      cuda.synchronize();
      ASSERT_TRUE(test::same(expected.samples(), out.samples(), 60)) << "frame " << frame;
      EXPECT_EQ(wanted.threshold, got.threshold);
      EXPECT_EQ(wanted.thresholds, got.thresholds);
      EXPECT_EQ(wanted.mean_below, got.mean_below);
      EXPECT_EQ(wanted.mean_above, got.mean_above);
      EXPECT_EQ(wanted.separability, got.separability);
      EXPECT_EQ(wanted.histogram, got.histogram);
    }
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

#if defined(HAVE_CUDA) && !defined(EMULATED_GPU)
TEST(Autothreshold, CudaAWholePageThatIsNearlyWhite) {
  NEED_GPU();
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

// ---- Settings that make no sense -------------------------------------------------------------

/// The message that the parameters are refused with; both validate() and run() must give it.
std::string refusal(const Params &params) {
  std::string of_validate = "accepted", of_run = "accepted";
  try {
    validate(params);
  } catch (const BadSetting &e) {
    of_validate = e.what();
  }
  try {
    result(Image<std::uint8_t>(20, 20), params);
  } catch (const BadSetting &e) {
    of_run = e.what();
  }
  EXPECT_EQ(of_validate, of_run);
  return of_run;
}

/// The message has these words: the setting, its value and what would be right.
void expect_refusal(const Params &params, std::initializer_list<const char *> words) {
  const std::string message = refusal(params);
  for (const char *word : words)
    EXPECT_NE(message.find(word), std::string::npos) << '"' << word << "\" is not in: " << message;
}

TEST(AutothresholdRefuses, NumbersOutOfRange) {
  expect_refusal({.classes = 1}, {"classes = 1", "2 to 4"});
  expect_refusal({.classes = 5}, {"classes = 5", "2 to 4"});
  expect_refusal({.offset = 65536}, {"offset = 65536", "-65535 to 65535"});
  expect_refusal({.offset = -65536}, {"offset = -65536", "-65535 to 65535"});
  expect_refusal({.smoothing = 1}, {"smoothing = 1", "0 to 0.999"});
  expect_refusal({.smoothing = -0.1}, {"smoothing = -0.1", "0 to 0.999"});
  expect_refusal({.smoothing = NAN}, {"smoothing = nan", "0 to 0.999"});
  expect_refusal({.hysteresis = -1}, {"hysteresis = -1", "0 to 65535"});
  expect_refusal({.hysteresis = 65536}, {"hysteresis = 65536", "0 to 65535"});
  expect_refusal({.method = static_cast<Method>(15)}, {"method = 15", "no such method"});
  expect_refusal({.method = static_cast<Method>(-1)}, {"method = -1", "no such method"});
  expect_refusal({.algorithm = static_cast<AutothresholdAlgorithm>(2)},
                 {"algorithm = 2", "no such algorithm"});
  EXPECT_EQ(refusal({.offset = 65535, .smoothing = 0.999, .hysteresis = 65535}), "accepted");
}

TEST(AutothresholdRefuses, WhatDoesNotGoTogether) {
  for (const Method method : kMethods)
    if (method != Method::otsu)
      expect_refusal({.method = method, .classes = 3}, {"classes = 3", "otsu"});
  expect_refusal({.classes = 3, .smoothing = 0.5}, {"classes = 3", "smoothing = 0.5", "set 0"});
  expect_refusal({.classes = 4, .hysteresis = 2}, {"classes = 4", "hysteresis = 2", "set 0"});
  const auto prahara = AutothresholdAlgorithm::prahara;
  expect_refusal({.classes = 3, .algorithm = prahara}, {"classes = 3", "algorithm = prahara"});
  for (const Method method : kMethods) {
    const bool known = method <= Method::mcet;
    if (known)
      EXPECT_EQ(refusal({.method = method, .algorithm = prahara}), "accepted");
    else
      expect_refusal({.method = method, .algorithm = prahara},
                     {"algorithm = prahara", "otsu, isodata and mcet", "auto"});
  }
}

TEST(AutothresholdRefuses, Rois) {
  expect_refusal({.roi = {-1, 0, 5, 5}}, {"roi = <-1, 0, 5, 5>", "0 or more"});
  expect_refusal({.roi = {0, 0, -5, 5}}, {"roi = <0, 0, -5, 5>", "0 or more"});
}

template <typename In, typename Out>
std::string refusal_of_planes(test::Size in_size, test::Size out_size, const Params &params,
                              In in_maximum = std::numeric_limits<In>::max()) {
  const Image<In> in(in_size.width, in_size.height, {}, in_maximum);
  Image<Out> out(out_size.width, out_size.height);
  const auto before = out.samples();
  Cpu cpu;
  try {
    run(cpu, in.plane(), out.plane(), params);
  } catch (const BadSetting &e) {
    EXPECT_EQ(out.samples(), before) << "the output was written";
    return e.what();
  }
  return "accepted";
}

TEST(AutothresholdRefuses, Planes) {
  using std::uint16_t;
  using std::uint8_t;
  const auto expect = [](const std::string &message, std::initializer_list<const char *> words) {
    for (const char *word : words)
      EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  };
  expect(refusal_of_planes<uint8_t, uint8_t>({20, 10}, {20, 11}, {}),
         {"20x10", "20x11", "same size"});
  expect(refusal_of_planes<uint8_t, uint8_t>({32769, 1}, {32769, 1}, {}), {"32769x1", "32768"});
  expect(refusal_of_planes<uint8_t, uint8_t>({20, 10}, {20, 10}, {.roi = {20, 0, 5, 5}}),
         {"roi = <20, 0, 5, 5>", "20x10"});
  expect(refusal_of_planes<uint16_t, uint8_t>({20, 10}, {20, 10}, {.apply = false}),
         {"apply = false", "depth of the input"});
  expect(refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10}, {.apply = false}, 1023),
         {"apply = false", "depth of the input"});
  expect(refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10},
                                               {.algorithm = AutothresholdAlgorithm::prahara}),
         {"algorithm = prahara", "8-bit", "auto"});
  EXPECT_EQ((refusal_of_planes<uint16_t, uint16_t>({20, 10}, {20, 10}, {.apply = false})),
            "accepted");
}

#ifndef HAVE_CUDA
TEST(AutothresholdRefuses, TheGpuInABuildWithoutIt) {
  Cuda cuda;
  std::uint8_t in = 1, out = 2;
  EXPECT_THROW(run(cuda, Plane<const std::uint8_t>{&in, 1, 1, 1},
                   Plane<std::uint8_t>{&out, 1, 1, 1}, Params{}),
               Error);
}
#endif

}  // namespace
}  // namespace cudascan
