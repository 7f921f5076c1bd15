// SPDX-License-Identifier: LGPL-2.1-or-later
// The published code of Najafi et al. Its thresholds are floats: a pixel may differ from the exact
// decision if it is nearer to the threshold than the float's error. With the rounded divisions and
// roots of the CPU and of the emulated GPU this error is below 1e-4 levels, with those of
// -use_fast_math on a GPU below 3e-4: a few units of 2^-24 in the mean, the quotient and the root,
// all of at most 255 levels. As samples are integers, about one pixel in a million is so near.
#include "kernels/nick/baseline.h"

#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

using nick::PublishedKernel;
using test::Content;
using test::Image;
using test::Size;

constexpr Size kSizes[] = {{1, 1}, {37, 1}, {5, 40}, {64, 64}, {131, 97}};
constexpr double kWeights[] = {-0.2, -0.19, -0.1};  // of the paper's range

/// The listing, with the corrections that baseline.h names. Integers are added in another order.
std::vector<std::uint8_t> transcribed(const Image<std::uint8_t> &in, int window, float k) {
  std::vector<std::uint8_t> out;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x) {
      std::int32_t n = 0, sum = 0, squares = 0;
      for (int dx = -window / 2; dx <= window / 2; ++dx)
        for (int dy = -window / 2; dy <= window / 2; ++dy) {
          if (x + dx < 0 || x + dx >= in.width() || y + dy < 0 || y + dy >= in.height()) continue;
          const std::int32_t p = in.at(x + dx, y + dy);
          ++n, sum += p, squares += p * p;
        }
      const float mean = float(sum) / float(n);
      const float t = mean + k * std::sqrt((float(squares) - mean * mean) / float(n));
      out.push_back(t < float(in.at(x, y)) ? 255 : 0);
    }
  return out;
}

/// How far each pixel is from its exact threshold, in levels.
std::vector<double> distances(const Image<std::uint8_t> &in, int window, double k) {
  const auto moments = test::moments_by_loops(in.plane(), window, window);
  const auto image = test::extremes(in.plane(), moments);
  const NickParams params{.window = window, .k = k};
  std::vector<double> all;
  for (int y = 0, i = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x, ++i)
      all.push_back(double(in.at(x, y) - test::threshold(moments[i], image, params, 255u)));
  return all;
}

/// Counts the pixels whose decision is not the exact one. They must be nearer to the threshold than
/// `error`.
int wrong_decisions(const std::vector<std::uint8_t> &got, const std::vector<double> &distance,
                    double error) {
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == (distance[i] > 1e-12 ? 255 : 0)) continue;
    EXPECT_LT(std::abs(distance[i]), error) << "pixel " << i << " is " << int(got[i]);
    ++wrong;
  }
  return wrong;
}

/// Calls check(image, window, k) for many contents.
template <typename Check>
void for_each_setting(const Check &check) {
  for (const Size size : kSizes)
    for (const Content content : {Content::random, Content::black, Content::white, Content::text,
                                  Content::clipped, Content::near_white})
      for (const int window : nick::kPublishedWindows) {
        const double k = kWeights[(static_cast<int>(content) + window / 6) % 3];
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << ", content "
                     << static_cast<int>(content) << ", window " << window << ", k " << k);
        check(Image<std::uint8_t>(
                  test::make_content<std::uint8_t>(content, size.width, size.height, 255),
                  size.width, size.height, {.padding = 3}),
              window, k);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(NickBaseline, SerialEqualsTheTranscription) {
  std::size_t pixels = 0, wrong = 0;
  for_each_setting([&](const Image<std::uint8_t> &in, int window, double k) {
    Image<std::uint8_t> out(in.width(), in.height(), {.padding = 5});
    nick::run_published_serial(in.plane(), out.plane(), window, static_cast<float>(k));
    EXPECT_TRUE(
        test::same(transcribed(in, window, static_cast<float>(k)), out.samples(), in.width()));
    EXPECT_TRUE(out.guards_intact());
    wrong += wrong_decisions(out.samples(), distances(in, window, k), 1e-4);
    pixels += out.samples().size();
  });
  EXPECT_LE(wrong, 1 + pixels / 100'000);
}

TEST(NickBaseline, FloatsDecideSomePixelsWrongly) {
  // The threshold 4/3 + k sqrt((10 - 16/9) / 3) is within 1e-6 of the middle pixel, on both sides.
  const Image<std::uint8_t> in({0, 1, 3}, 3, 1);
  const double root = std::sqrt((10 - 16. / 9) / 3);
  int wrong = 0;
  for (int i = -50; i <= 50; ++i) {
    const float k = static_cast<float>(-1 / 3. / root * (1 + i * 1e-8));
    const bool above = 1 > 4. / 3 + double(k) * root;
    Image<std::uint8_t> out(3, 1);
    nick::run_published_serial(in.plane(), out.plane(), 9, k);
    wrong += (out.at(1, 0) == 255) != above;
  }
  EXPECT_GT(wrong, 0) << "a float cannot decide all of these";
}

TEST(NickBaseline, KernelsAreThoseOfThePaper) {
  int kernels = 0;
  for (const auto kernel :
       {PublishedKernel::global, PublishedKernel::global_shared, PublishedKernel::shared})
    for (const int block : nick::kPublishedBlocks)
      for (const int window : nick::kPublishedWindows)
        kernels += nick::is_published(kernel, block, window);
  EXPECT_EQ(kernels, 9 + 9 + 4);
  EXPECT_TRUE(nick::is_published(PublishedKernel::shared, 16, 15));
  EXPECT_FALSE(nick::is_published(PublishedKernel::shared, 32, 9));
  EXPECT_FALSE(nick::is_published(PublishedKernel::global, 64, 9));
  EXPECT_FALSE(nick::is_published(PublishedKernel::global, 16, 11));
}

#ifdef HAVE_CUDA

TEST(NickBaseline, CudaEqualsTheTranscription) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy in_copy(stream.get()), out_copy(stream.get());
  std::size_t pixels = 0, wrong = 0;
  for_each_setting([&](const Image<std::uint8_t> &in, int window, double k) {
    const auto expected = transcribed(in, window, static_cast<float>(k));
    const auto distance = distances(in, window, k);
    const Plane<std::uint8_t> device_in = in_copy.upload(in);
    for (const auto kernel :
         {PublishedKernel::global, PublishedKernel::global_shared, PublishedKernel::shared})
      for (const int block : nick::kPublishedBlocks) {
        if (!nick::is_published(kernel, block, window)) continue;
        SCOPED_TRACE(testing::Message()
                     << "kernel " << static_cast<int>(kernel) << ", block " << block);
        Image<std::uint8_t> out(in.width(), in.height(), {.padding = 5}, 255, 0x5a);
        const Plane<std::uint8_t> device_out = out_copy.upload(out);
        nick::run_published(cuda, device_in, device_out, kernel, block, window,
                            static_cast<float>(k));
        out_copy.download(out.memory().begin(), out.memory().size());
        cuda.synchronize();
        EXPECT_TRUE(out.guards_intact());
        if (test::gpu_is_emulated()) {
          EXPECT_TRUE(test::same(expected, out.samples(), in.width()));
        }
        wrong += wrong_decisions(out.samples(), distance, 3e-4);
        pixels += out.samples().size();
      }
  });
  EXPECT_LE(wrong, 1 + pixels / 100'000);
}

TEST(NickBaseline, RefusesOtherBlocksAndWindows) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  const auto run = [&](PublishedKernel kernel, int block, int window) {
    nick::run_published(cuda, {nullptr, 8, 8, 8}, {nullptr, 8, 8, 8}, kernel, block, window, -0.2f);
  };
  EXPECT_THROW(run(PublishedKernel::shared, 16, 33), BadSetting);
  EXPECT_THROW(run(PublishedKernel::global, 12, 9), BadSetting);
  EXPECT_THROW(run(PublishedKernel::global, 16, 10), BadSetting);
}

#endif

}  // namespace
}  // namespace cudascan
