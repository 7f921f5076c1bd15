// SPDX-License-Identifier: LGPL-2.1-or-later
// Binarization of many images, of streams of frames, and on CUDA.
#include "tests/kernels/binarize/pages.h"

namespace cudascan {
namespace {

using test::Image;
using test::Page;

constexpr auto kFast = BinarizeLevel::fast, kSized = BinarizeLevel::sized;

CHECK_OPERATOR(Binarize, BinarizeParams, {}, {.level = BinarizeLevel::fast},
               {.level = BinarizeLevel::sized}, {.invert = BinarizeInvert::on},
               {.invert = BinarizeInvert::off, .roi = {0, 0, 1, 1}},
               {.output = BinarizeOutput::darkness},
               {.level = BinarizeLevel::fast, .output = BinarizeOutput::darkness},
               {.roi = {0, 0, 30, 70}});

#ifdef HAVE_CUDA
/// Binarizes frames on the CPU and with CUDA. Both carry levels along.
class BinarizeOnBoth {
 public:
  template <typename Out, typename In>
  void run_on_both(const Image<In> &in, const BinarizeParams &params, Out maximum) {
    SCOPED_TRACE(testing::Message() << params << ", maximum " << +in.plane().maximum << ", to "
                                    << 8 * sizeof(Out) << " bits");
    const int width = in.width(), height = in.height();
    Image<Out> wanted(width, height, {}, maximum), out(width, height, {}, maximum);
    BinarizeReport wanted_report, report;
    run(cpu_, in.plane(), wanted.plane(), params, &wanted_report);
    const Plane<In> from = in_.upload(in);
    run(cuda_, Plane<const In>(from), out_.upload(out), params, &report);
    out_.download(out.memory().begin(), out.memory().size());
    cuda_.synchronize();
    ASSERT_TRUE(test::same(wanted.samples(), out.samples(), width));
    ASSERT_EQ(test::all_of(wanted_report), test::all_of(report));
  }
  void operator()(const Page &page, const BinarizeParams &params) {
    ASSERT_NO_FATAL_FAILURE(run_on_both<std::uint8_t>(page.image(), params, 255));
    const auto deep = page.image<std::uint16_t>(0xffff);
    ASSERT_NO_FATAL_FAILURE(run_on_both<std::uint16_t>(deep, params, 0xffff));
    if (params.output == BinarizeOutput::binary) run_on_both<std::uint8_t>(deep, params, 255);
  }
  void forget() { cpu_.forget(), cuda_.forget(); }

 private:
  Cpu cpu_;
  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  test::DeviceCopy in_{stream_.get()}, out_{stream_.get()};
};

TEST(Binarize, CudaReportsWhatTheCpuReports) {
  NEED_GPU();
  BinarizeOnBoth both;
  const Page rich = test::rich_page().noise(3);
  const Page pages[] = {rich, Page(rich).invert(), Page(244, 190, 200).noise(4), Page(244, 190, 90),
                        Page(244, 190, 220).fill(50, 60, 70, 3, 150).noise(2)};
  for (const Page &page : pages) {
    for (const auto level : {kFast, kSized, BinarizeLevel::full})
      ASSERT_NO_FATAL_FAILURE(both(page, {.level = level}));
    for (const auto invert : {BinarizeInvert::on, BinarizeInvert::off})
      ASSERT_NO_FATAL_FAILURE(both(page, {.invert = invert}));
    for (const Rectangle roi : {Rectangle{0, 0, 130, 190}, {33, 47, 101, 66}, {241, 187, 3, 3}})
      ASSERT_NO_FATAL_FAILURE(both(page, {.roi = roi}));
    ASSERT_NO_FATAL_FAILURE(both(page, {.output = BinarizeOutput::darkness}));
  }
}

TEST(Binarize, CudaCarriesAlongWhatTheCpuDoes) {
  NEED_GPU();
  BinarizeOnBoth both;
  constexpr auto kFull = BinarizeLevel::full;
  const Page blank = Page(200, 100, 210).noise(2);
  const Page thin = Page(200, 100, 210).strokes(8, 6, 180, 88, 2, 60).noise(2);
  const Page wide = Page(200, 100, 190).strokes(8, 6, 180, 88, 7, 120).noise(2);
  const Page light = Page(wide).invert(), faint = Page(200, 100, 210).fill(30, 40, 90, 2, 160);
  struct Frame {
    const Page &page;
    BinarizeLevel level;
    BinarizeInvert invert = BinarizeInvert::automatic;
    Rectangle roi = {};
  };
  const Frame frames[] = {
      {blank, kFull},
      {thin, kFull},
      {wide, kFull},
      {faint, kFull},
      {blank, kFull},
      {wide, kFull},
      {thin, kFast},
      {wide, kSized},
      {thin, kFull},
      {light, kFull},
      {light, kSized, BinarizeInvert::off},
      {light, kFull, BinarizeInvert::on},
      {thin, kFull, BinarizeInvert::automatic, {20, 10, 90, 70}},
      {wide, kFull, BinarizeInvert::automatic, {90, 10, 100, 90}},
      {blank, kFast},
      {thin, kFast},
      {wide, kFull},
  };
  for (const double smoothing : {0.6, 0.99}) {
    for (int i = 0; const auto &[page, level, invert, roi] : frames) {
      SCOPED_TRACE(testing::Message() << "frame " << i++);
      ASSERT_NO_FATAL_FAILURE(
          both(page, {.level = level, .invert = invert, .smoothing = smoothing, .roi = roi}));
    }
    both.forget();
  }
}

TEST(Binarize, CudaEqualsCpuOnManySamples) {
  NEED_GPU();
  test::expect_cuda_equals_cpu_on_many_samples(BinarizeParams{});
}

TEST(Binarize, CudaEqualsCpuOnPages) {
  NEED_GPU();
  for (Page page : {test::rich_page(), test::rich_page().noise(4), test::rich_page().invert(),
                    test::rich_page().shade(0.3).transposed(), Page(90, 61, 200).noise(5),
                    test::edge_page(), test::edge_page().transposed()})
    for (const auto level : {kFast, kSized, BinarizeLevel::full}) {
      test::expect_cuda_equals_cpu_on(BinarizeParams{.level = level}, page.image());
      test::expect_cuda_equals_cpu_on(BinarizeParams{.level = level},
                                      page.image<std::uint16_t>(0xffff));
    }
}

TEST(Binarize, CudaFollowsCpu) {
  NEED_GPU();
  using test::Content;
  const Content contents[] = {Content::text,  Content::text,   Content::gradient, Content::clipped,
                              Content::white, Content::random, Content::text};
  for (const auto level : {kFast, kSized, BinarizeLevel::full})
    test::expect_cuda_follows_cpu<BinarizeReport, std::uint8_t>(
        BinarizeParams{.level = level, .smoothing = 0.6}, 0xff, 7, 5,
        [&](int frame) { return contents[frame]; },
        [](const BinarizeReport &wanted, const BinarizeReport &got) {
          ASSERT_EQ(test::all_of(wanted), test::all_of(got));
        });
}
#endif

// ---- Smoothing ---------------------------------------------------------------------------------

class BinarizeSmoothing : public testing::Test {
 protected:
  BinarizeReport report(const Page &page, const BinarizeParams &params) {
    const auto in = page.image();
    Image<std::uint8_t> out(page.width(), page.height());
    BinarizeReport report;
    run(cpu_, in.plane(), out.plane(), params, &report);
    samples_ = out.samples();
    return report;
  }
  BinarizeReport smoothed(const Page &page, BinarizeLevel level = BinarizeLevel::full) {
    return report(page, {.level = level, .smoothing = 0.75});
  }

  static Page page(int stroke, int level) {
    return Page(260, 160, 200).strokes(20, 10, 220, 140, stroke, level);
  }
  /// Numbers that are smoothed.
  static std::vector<double> numbers(const BinarizeReport &r) {
    return {r.threshold, r.stroke_width, r.paper_deviation};
  }

  Cpu cpu_;
  std::vector<std::uint8_t> samples_;
  const Page thin_ = page(3, 40), wide_ = page(8, 120), blank_ = Page(260, 160, 200);
};

TEST_F(BinarizeSmoothing, MovesAlong) {
  constexpr double kStep = 1.0 / 256;
  const auto thin = report(thin_, {}), wide = report(wide_, {});
  ASSERT_GT(wide.stroke_width, thin.stroke_width + 3);
  ASSERT_GT(thin.threshold, wide.threshold);
  cpu_.forget();
  EXPECT_EQ(numbers(smoothed(thin_)), numbers(thin));
  const auto next = smoothed(wide_);
  EXPECT_NEAR(next.stroke_width, 0.75 * thin.stroke_width + 0.25 * wide.stroke_width, kStep);
  EXPECT_NEAR(next.threshold, 0.75 * thin.threshold + 0.25 * wide.threshold, kStep / 255);
  const auto after = smoothed(wide_);
  EXPECT_NEAR(after.stroke_width, 0.75 * next.stroke_width + 0.25 * wide.stroke_width, kStep);
  EXPECT_NEAR(after.threshold, 0.75 * next.threshold + 0.25 * wide.threshold, kStep / 255);
  // The decision whether there is ink is that of the frame.
  EXPECT_EQ(after.confidence, wide.confidence);
  EXPECT_EQ(numbers(report(thin_, {})), numbers(thin));
}

TEST_F(BinarizeSmoothing, StartsAnewAfterForget) {
  smoothed(thin_);
  cpu_.forget();
  EXPECT_EQ(numbers(smoothed(wide_)), numbers(report(wide_, {})));
}

TEST_F(BinarizeSmoothing, StartsAnewAfterABlankPage) {
  const auto wide = report(wide_, {});
  smoothed(thin_);
  EXPECT_TRUE(smoothed(blank_).blank);
  EXPECT_EQ(samples_, std::vector<std::uint8_t>(samples_.size(), 255));
  EXPECT_EQ(numbers(smoothed(wide_)), numbers(wide));
}

TEST_F(BinarizeSmoothing, StartsAnewWhenThePolarityChanges) {
  Page light = page(8, 120);
  light.invert();
  const auto alone = report(light, {});
  EXPECT_TRUE(alone.inverted);
  cpu_.forget();
  smoothed(thin_);
  EXPECT_EQ(numbers(smoothed(light)), numbers(alone));
}

TEST_F(BinarizeSmoothing, TheFirstRoundGoesOnFromOtherLevels) {
  const auto thin = report(thin_, {.level = kFast}), wide = report(wide_, {.level = kFast});
  const auto sized = report(wide_, {.level = kSized});
  cpu_.forget();
  smoothed(thin_, kSized);
  EXPECT_NEAR(smoothed(wide_, kFast).threshold, 0.75 * thin.threshold + 0.25 * wide.threshold,
              1 / 256. / 255);
  // The second round has nothing to go on from, after a frame of level fast.
  EXPECT_EQ(smoothed(wide_, kSized).threshold, sized.threshold);
}

TEST_F(BinarizeSmoothing, DoesNotDependOnWhatIsWanted) {
  const BinarizeParams shown{.output = BinarizeOutput::darkness, .smoothing = 0.75};
  const auto plain = [&](const Page &page) {
    const auto in = page.image();
    Image<std::uint8_t> out(page.width(), page.height());
    run(cpu_, in.plane(), out.plane(), shown);
  };
  smoothed(thin_);
  const auto want = smoothed(wide_);
  cpu_.forget();
  plain(thin_);
  EXPECT_EQ(numbers(report(wide_, shown)), numbers(want));
}

}  // namespace
}  // namespace cudascan
