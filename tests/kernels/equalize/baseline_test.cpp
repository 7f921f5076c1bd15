// SPDX-License-Identifier: LGPL-2.1-or-later
// The published kernels of equalize.
#include "kernels/equalize/baseline.h"

#include <array>
#include <numeric>

#include "kernels/equalize/baseline.cuh"
#include "tests/kernels/equalize/oracle.h"

namespace cudascan::test {
namespace {

using namespace equalize;

TEST(EqualizeBaseline, FactorGivesTheQuotientOrTheLevelBeside) {
  std::mt19937 random(5);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t pixels = 1 + random() % (i % 2 ? 1u << 30 : 3000u);
    const std::uint32_t cdf = i % 10 ? random() % pixels + 1 : pixels;
    const int exact = static_cast<int>(std::uint64_t{cdf} * 255 / pixels);
    const int got = baseline_map(cdf, baseline_factor(pixels));
    ASSERT_NEAR(got, exact, 1) << cdf << " of " << pixels;
    const double fraction = 255. * cdf / pixels - exact;
    if (fraction > 1e-4 && fraction < 1 - 1e-4) {
      ASSERT_EQ(got, exact) << cdf << " of " << pixels;
    }
  }
}

TEST(EqualizeBaseline, FactorIsRoundedToSinglePrecision) {
  EXPECT_EQ(baseline_map(5, baseline_factor(10)), 127);
  int below = 0;
  for (std::uint32_t n = 1; n < 5000; ++n) {
    const int white = baseline_map(n, baseline_factor(n));
    EXPECT_GE(white, 254);
    below += white == 254;
  }
  EXPECT_GT(below, 0) << "single precision must change some results";
}

TEST(EqualizeBaseline, NaiveDividesIntegers) {
  EXPECT_EQ(naive_map(5, 10), 127);
  EXPECT_EQ(naive_map(1, 255), 1);
  EXPECT_EQ(naive_map(254, 255), 254);
  EXPECT_EQ(naive_map(1u << 30, 1u << 30), 255) << "the product needs more than 32 bits";
  for (std::uint32_t n = 1; n < 5000; ++n) ASSERT_EQ(naive_map(n, n), 255);
}

TEST(EqualizeBaseline, AlgorithmsOnTheCpu) {
  const Image<std::uint8_t> in(make_content<std::uint8_t>(Content::text, 300, 200, 255), 300, 200);
  const auto levels = [&](EqualizeAlgorithm algorithm) {
    return equalized(in, {.formula = EqualizeFormula::cdf, .algorithm = algorithm});
  };
  const auto exact = levels(EqualizeAlgorithm::automatic);
  EXPECT_EQ(levels(EqualizeAlgorithm::naive), exact);
  const auto got = levels(EqualizeAlgorithm::shared);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], exact[i], 1);
}

#ifdef HAVE_CUDA

using Counts = std::array<std::uint32_t, 256>;

/// The published variants, and other numbers of pixels a thread.
constexpr BaselineVariant kVariants[] = {
    kNaive, kHistogramOnly, kBothOptimizations, {true, true, 1, 1}, {true, true, 2, 256}};

Counts counts_of(const std::vector<std::uint8_t> &samples) {
  Counts counts{};
  for (const std::uint8_t p : samples) ++counts[p];
  return counts;
}

/// The levels as the table in equalize.h defines them: in double precision, whose quotients are not
/// rounded up to the next integer at these sizes; or with a factor in single precision.
std::vector<std::uint8_t> mapped(const std::vector<std::uint8_t> &samples, bool float_factor) {
  const Counts counts = counts_of(samples);
  const float factor = 255.f / static_cast<float>(samples.size());
  std::vector<std::uint8_t> levels;
  for (const std::uint8_t p : samples) {
    const auto cdf = std::accumulate(counts.begin(), counts.begin() + p + 1, 0u);
    levels.push_back(static_cast<std::uint8_t>(
        float_factor ? static_cast<float>(cdf) * factor : std::floor(255. * cdf / samples.size())));
  }
  return levels;
}

TEST(EqualizeBaseline, CudaEqualsTheFormula) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  DeviceCopy in_copy(stream.get()), out_copy(stream.get());
  cuda::DeviceBuffer counts(sizeof(Counts));
  std::size_t turn = 0;
  for (const Size size :
       {Size{1, 1}, Size{1, 37}, Size{37, 1}, Size{257, 129}, Size{1283, 71}, Size{8209, 3}})
    for (const Content content : kContents)
      for (const BaselineVariant &variant : kVariants) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", content "
                                        << static_cast<int>(content) << ", turn " << turn);
        if (++turn % 7 != 0 && !has_time_for(turn, size)) continue;
        const auto samples = make_content<std::uint8_t>(content, size.width, size.height, 255);
        const Image<std::uint8_t> in(samples, size.width, size.height,
                                     kLayouts[turn % std::size(kLayouts)], 255);
        Image<std::uint8_t> out(size.width, size.height, kLayouts[turn / 2 % std::size(kLayouts)],
                                255, 0x5a);
        const Plane<std::uint8_t> device_in = in_copy.upload(in), device_out = out_copy.upload(out);
        run_baseline(cuda, device_in, device_out, variant);
        out_copy.download(out.memory().begin(), out.memory().size());
        cuda.clear(counts.data(), sizeof(Counts) / 2);
        count_baseline(cuda, device_in, static_cast<std::uint32_t *>(counts.data()), variant);
        Counts counted{};
        cuda::copy_rows(counted.data(), sizeof counted, counts.data(), sizeof counted,
                        sizeof counted, 1, stream.get());
        cuda.synchronize();
        ASSERT_TRUE(same(mapped(samples, variant.float_factor), out.samples(), size.width));
        ASSERT_TRUE(out.guards_intact());
        ASSERT_EQ(counts_of(samples), counted);
      }
}

#endif

}  // namespace
}  // namespace cudascan::test
