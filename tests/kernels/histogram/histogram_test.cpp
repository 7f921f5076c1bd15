// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/histogram.h"

#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::make_content;

template <typename T>
Histogram counted(Plane<const T> in, const HistogramParams &params = {}, int threads = 0) {
  Cpu cpu(threads);
  Histogram counts;
  count(cpu, in, params, counts);
  return counts;
}

/// Counts sample by sample, as the text of kernels/histogram.h says.
template <typename T>
Histogram expected(Plane<const T> in, const HistogramParams &p = {}) {
  const Rectangle &roi = p.roi;
  const int shift = std::countr_zero(in.maximum), highest = in.maximum >> shift;
  Histogram counts(highest + 1);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      if (roi.width == 0 || roi.height == 0 ||
          (x >= roi.x && x < roi.x + roi.width && y >= roi.y && y < roi.y + roi.height))
        ++counts[std::min(in.row(y)[x] >> shift, highest)];
  if (p.ignore_black) counts.front() = 0;
  if (p.ignore_white) counts.back() = 0;
  return counts;
}

template <typename T>
void check_format(T maximum) {
  const HistogramParams all_params[] = {{},
                                        {.ignore_black = true},
                                        {.ignore_white = true},
                                        {.roi = {0, 0, 1, 1}},
                                        {.roi = {0, 0, 9, 10000}, .ignore_black = true},
                                        {.roi = {0, 1, 10000, 30}},
                                        {.roi = {5, 0, 0, 7}}};
  for (const auto [width, height] : test::kSizes)
    for (const test::Content content : test::kContents) {
      SCOPED_TRACE(testing::Message() << "maximum " << +maximum << ", " << width << "x" << height
                                      << ", content " << static_cast<int>(content));
      const Image<T> in(make_content(content, width, height, maximum), width, height, {5, 3, true},
                        maximum);
      for (const HistogramParams &params : all_params) {
        if (params.roi.y >= height) continue;
        ASSERT_EQ(counted(in.plane(), params, 1 + static_cast<int>(content) % 3),
                  expected(in.plane(), params));
      }
    }
}
TEST(Histogram, CountsEveryLevel) {
  check_format<std::uint8_t>(0xff);
  check_format<std::uint16_t>(0xffff);
  check_format<std::uint16_t>(0x3ff);
  check_format<std::uint16_t>(0xffc0);
  check_format<std::uint16_t>(0xfff0);
}

TEST(Histogram, SamplesAboveTheLargestAndLowBits) {
  const Image<std::uint16_t> in({0, 63, 64, 0xffbf, 0xffc0, 0xffff}, 6, 1, {}, 0xffc0);
  const Histogram high = counted(in.plane());
  ASSERT_EQ(high.size(), 1024u);
  EXPECT_EQ(high[0], 2u);
  EXPECT_EQ(high[1], 1u);
  EXPECT_EQ(high[1022], 1u);
  EXPECT_EQ(high[1023], 2u);
  const Image<std::uint16_t> low({0, 1022, 1023, 1024, 0xffff}, 5, 1, {}, 0x3ff);
  EXPECT_EQ(counted(low.plane())[1023], 3u);
  const Image<std::uint8_t> seven({0, 127, 128, 255}, 4, 1, {}, 127);
  const Histogram counts = counted(seven.plane());
  ASSERT_EQ(counts.size(), 128u);
  EXPECT_EQ(counts[127], 3u);
}

TEST(Histogram, SamplesAboveTheLargestInLongRows) {
  const int width = 203, height = 3;
  for (const std::uint16_t maximum : {0x3ff, 0xfff, 0x3e7, 0x1f40, 1}) {
    std::vector<std::uint16_t> samples(width * height);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::uint16_t>(i / width == 1 ? 0xffff : i * 40503 >> i % 16);
    const Image<std::uint16_t> in(samples, width, height, {3, 1}, maximum);
    EXPECT_EQ(counted(in.plane()), expected(in.plane())) << "maximum " << maximum;
  }
}

TEST(Histogram, NumberOfThreadsDoesNotMatter) {
  const int width = 1283, height = 719;
  const Image<std::uint16_t> in(
      make_content<std::uint16_t>(test::Content::text, width, height, 0xffff), width, height);
  const Histogram wanted = expected(in.plane());
  for (const int threads : {1, 2, 3, 16}) EXPECT_EQ(counted(in.plane(), {}, threads), wanted);
}

TEST(Histogram, RefusesRectangles) {
  const auto refusal = [](const Rectangle &roi) -> std::string {
    try {
      check_roi(roi, 20, 10);
    } catch (const BadSetting &e) {
      return e.what();
    }
    return "accepted";
  };
  for (const Rectangle &roi : {Rectangle{-1, 0, 5, 5}, Rectangle{0, -1, 5, 5},
                               Rectangle{0, 0, -5, 5}, Rectangle{0, 0, 5, -5}}) {
    EXPECT_TRUE(refusal(roi).starts_with("roi = <")) << refusal(roi);
    EXPECT_NE(refusal(roi).find("0 or more"), std::string::npos) << refusal(roi);
  }
  EXPECT_NE(refusal({20, 0, 1, 1}).find("20x10"), std::string::npos);
  EXPECT_NE(refusal({0, 10, 1, 1}).find("20x10"), std::string::npos);
  EXPECT_EQ(refusal({19, 9, 1, 1}), "accepted");
  EXPECT_EQ(refusal({0, 0, 1000, 1000}), "accepted");
  EXPECT_EQ(refusal({100, 100, 0, 0}), "accepted");
  const Image<std::uint8_t> in(20, 10);
  EXPECT_THROW(counted(in.plane(), {.roi = {20, 0, 1, 1}}), BadSetting);
}

#ifdef HAVE_CUDA
/// Compares the counts of CUDA and the CPU, repeatedly with one executor.
class CudaCounts {
 public:
  template <typename T>
  void check_sizes(T maximum) {
    for (const test::Size size : {test::Size{1, 1}, {31, 7}, {257, 129}})
      check(maximum, size, {test::Content::text, test::Content::clipped},
            {{},
             {.ignore_black = true},
             {.roi = {17, 2, 100, 100}, .ignore_white = true},
             {.roi = {5, 3, 0, 7}},
             {.roi = {5, 3, 7, 0}}});
    // One level has more samples than a small counter can hold.
    check(maximum, test::many_samples(), {test::Content::white, test::Content::text},
          {{}, {.roi = {1, 1, test::many_samples().width - 2, 32768}}});
  }

 private:
  template <typename T>
  void check(T maximum, test::Size size, std::initializer_list<test::Content> contents,
             std::initializer_list<HistogramParams> all_params) {
    const auto [width, height] = size;
    for (const test::Content content : contents) {
      const auto samples = make_content(content, width, height, maximum);
      for (const test::Layout &layout : {test::Layout{.unit = 64}, test::Layout{3, 1}}) {
        const Image<T> in(samples, width, height, layout, maximum);
        const Plane<T> on_device = copy_.upload(in);
        for (const HistogramParams &params : all_params) {
          if (params.roi.x >= width || params.roi.y >= height) continue;
          SCOPED_TRACE(testing::Message()
                       << "maximum " << +maximum << ", " << width << "x" << height << ", content "
                       << static_cast<int>(content) << ", offset " << layout.offset << ", roi from "
                       << params.roi.x << ", " << params.roi.y);
          Histogram got;
          count(cuda_, Plane<const T>(on_device), params, got);
          cuda_.synchronize();
          ASSERT_EQ(got, counted(in.plane(), params));
        }
      }
    }
  }

  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  test::DeviceCopy copy_{stream_.get()};
};

TEST(Histogram, CudaEqualsCpu) {
  NEED_GPU();
  CudaCounts cuda;
  cuda.check_sizes<std::uint8_t>(0xff);
  cuda.check_sizes<std::uint8_t>(0x7f);
  cuda.check_sizes<std::uint16_t>(0x3ff);
  cuda.check_sizes<std::uint16_t>(0xffc0);
  cuda.check_sizes<std::uint16_t>(0x0fff);
  cuda.check_sizes<std::uint16_t>(0xfff0);
  cuda.check_sizes<std::uint16_t>(0xffff);
}
#endif

}  // namespace
}  // namespace cudascan
