// SPDX-License-Identifier: LGPL-2.1-or-later
// The published kernels of autothreshold: compares their results with an independent implementation
// of the formulas in double precision.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "kernels/autothreshold/baseline.cuh"
#include "kernels/autothreshold/baseline.h"
#include "kernels/autothreshold/decision.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {
namespace {

using Method = AutothresholdMethod;
using Counts = std::array<std::uint32_t, 256>;
using threshold::prahara_threshold;

constexpr Method kMethods[] = {Method::otsu, Method::isodata, Method::mcet};

/// Number of pixels and mean level of the levels [begin, end). Level 0 counts as `first`.
struct Class {
  double pixels = 0, mean = 0;

  Class(const Counts &counts, int begin, int end, int first = 0) {
    for (int i = begin; i < end; ++i) {
      pixels += counts[i];
      mean += double(counts[i]) * (i + first);
    }
    if (pixels > 0) mean /= pixels;
  }
};

/// The variance between the two classes of a threshold.
double variance_between(const Counts &counts, int t) {
  const Class below(counts, 0, t + 1), above(counts, t + 1, 256);
  const double n = below.pixels + above.pixels, d = above.mean - below.mean;
  return below.pixels / n * (above.pixels / n) * d * d;
}

/// The cross entropy of a threshold, without the term that all thresholds have in common. Levels
/// count from 1.
double cross_entropy(const Counts &counts, int t) {
  const Class all(counts, 0, 256, 1), below(counts, 0, t + 1, 1), above(counts, t + 1, 256, 1);
  const auto term = [&](const Class &c) {
    return c.pixels > 0 ? c.pixels / all.pixels * c.mean * std::log2(c.mean) : 0;
  };
  return -term(below) - term(above);
}

/// Starts from the mean level and repeats: the threshold becomes the rounded mean of the means of
/// both classes.
int isodata_threshold(const Counts &counts) {
  int t = static_cast<int>(Class(counts, 0, 256).mean + 0.5);
  for (int i = 0; i < 256; ++i) {
    const Class below(counts, 0, t + 1), above(counts, t + 1, 256);
    t = static_cast<int>((below.mean + above.mean) / 2 + 0.5);
  }
  return t;
}

/// The best of all thresholds; the lowest if several are equally good.
template <typename Better>
int best_threshold(const Counts &counts, double (*value)(const Counts &, int), Better better) {
  int best = 0;
  for (int t = 1; t < 256; ++t)
    if (better(value(counts, t), value(counts, best))) best = t;
  return best;
}

/// A histogram with two peaks and some noise, with about `pixels` pixels.
Counts hills(std::mt19937 &random, double pixels) {
  const auto between = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  const double at[] = {between(20, 110), between(130, 235)},
               wide[] = {between(4, 30), between(4, 30)};
  const double share = between(0.05, 0.95);
  Counts counts;
  for (int i = 0; i < 256; ++i) {
    double density = between(0, 2e-4);
    for (int k : {0, 1}) {
      const double z = (i - at[k]) / wide[k];
      density += (k ? share : 1 - share) * std::exp(-z * z / 2) / wide[k] / 2.5;
    }
    counts[i] = static_cast<std::uint32_t>(density * pixels);
  }
  return counts;
}

TEST(PraharaBaseline, ChoosesWhatTheFormulasChoose) {
  std::mt19937 random(7);
  int otsu_beside = 0, isodata_beside = 0, mcet_beside = 0;
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(testing::Message() << "histogram " << i);
    const Counts counts = hills(random, i % 2 ? 5e4 : 8e6);
    const auto beside = [](int a, int b, int &most) { most = std::max(most, std::abs(a - b)); };

    const int otsu = best_threshold(counts, variance_between, std::greater<>());
    const int got = prahara_threshold(counts.data(), Method::otsu);
    EXPECT_GT(variance_between(counts, got), variance_between(counts, otsu) * (1 - 1e-4));
    beside(got, otsu, otsu_beside);

    beside(prahara_threshold(counts.data(), Method::isodata), isodata_threshold(counts),
           isodata_beside);

    const int mcet = best_threshold(counts, cross_entropy, std::less<>());
    const int got_mcet = prahara_threshold(counts.data(), Method::mcet);
    EXPECT_LT(cross_entropy(counts, got_mcet),
              cross_entropy(counts, mcet) + std::fabs(cross_entropy(counts, mcet)) * 2e-6);
    beside(got_mcet, mcet, mcet_beside);
  }
  EXPECT_LE(otsu_beside, 1);
  EXPECT_LE(isodata_beside, 4);
  EXPECT_LE(mcet_beside, 4);
}

TEST(PraharaBaseline, SeparatesTwoLevels) {
  Counts counts{};
  for (const auto &[low, high] : {std::pair{0, 255}, {10, 200}, {99, 103}, {200, 230}, {0, 1}})
    for (const std::uint32_t n : {1u, 1000u, 8'000'000u}) {
      counts.fill(0);
      counts[low] = 3 * n;
      counts[high] = n;
      for (const Method method : kMethods) {
        SCOPED_TRACE(testing::Message() << low << " and " << high << ", method "
                                        << static_cast<int>(method) << ", " << n);
        const int t = prahara_threshold(counts.data(), method);
        EXPECT_GE(t, low);
        EXPECT_LT(t, high);
      }
    }
}

TEST(PraharaBaseline, StaysWithinTheLevels) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    Counts counts{};
    for (int levels = 1 + i % 7; levels > 0; --levels)
      counts[random() % 256] = random() >> 4 >> i % 28;
    for (const Method method : kMethods) {
      const int t = prahara_threshold(counts.data(), method);
      EXPECT_GE(t, 0);
      EXPECT_LE(t, 255);
    }
  }
}

TEST(PraharaBaseline, RefusesOtherMethods) {
  const Counts counts{};
  EXPECT_THROW(prahara_threshold(counts.data(), Method::triangle), BadSetting);
}

#ifdef HAVE_CUDA

constexpr Size kBaselineSizes[] = {{1, 1}, {1, 37}, {37, 1}, {257, 129}, {1283, 71}, {8209, 3}};

Counts count_samples(Plane<const std::uint8_t> plane, const AutothresholdParams &params) {
  Rectangle roi = params.roi;
  if (roi.width == 0) roi = {0, 0, plane.width, plane.height};
  Counts counts{};
  for (int y = roi.y; y < std::min(roi.y + roi.height, plane.height); ++y)
    for (int x = roi.x; x < std::min(roi.x + roi.width, plane.width); ++x)
      ++counts[plane.row(y)[x]];
  if (params.ignore_black) counts[0] = 0;
  if (params.ignore_white) counts[255] = 0;
  return counts;
}

/// The state that the operator keeps from frame to frame in its history.
class Carried {
 public:
  void clear(Cuda &cuda) { cuda.clear(memory_.data(), kBytes); }
  threshold::BaselineHistory get() const {
    auto *const turns = static_cast<autothreshold::ThresholdHistory *>(memory_.data());
    return {turns, reinterpret_cast<const unsigned *>(turns + 2)};
  }

 private:
  static constexpr std::size_t kBytes =
      2 * sizeof(autothreshold::ThresholdHistory) + sizeof(unsigned);
  cuda::DeviceBuffer memory_{kBytes};
};

TEST(PraharaBaseline, CudaEqualsCpu) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  DeviceCopy in_copy(stream.get()), out_copy(stream.get());
  cuda::DeviceBuffer found(sizeof(int) + sizeof(Counts));
  Carried carried;
  std::size_t turn = 0;
  for (const Size size : kBaselineSizes)
    for (const Content content : kContents)
      for (const Method method : kMethods) {
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << ", content "
                     << static_cast<int>(content) << ", method " << static_cast<int>(method));
        if (++turn % 7 != 0 && !has_time_for(turn, size)) continue;
        const auto samples = make_content<std::uint8_t>(content, size.width, size.height, 255);
        const Image<std::uint8_t> in(samples, size.width, size.height,
                                     kLayouts[turn % std::size(kLayouts)], 255);
        Image<std::uint8_t> out(size.width, size.height, kLayouts[turn / 2 % std::size(kLayouts)],
                                255, 0x5a);
        AutothresholdParams params;
        params.method = method;
        params.invert = turn % 2;
        params.offset = static_cast<int>(turn % 5) - 2;
        params.apply = turn % 3 != 0;
        params.ignore_black = turn % 4 == 0;
        params.ignore_white = turn % 5 == 0;
        if (turn % 2) params.roi = {size.width / 3, size.height / 4, size.width / 2 + 1, 50};
        const Plane<std::uint8_t> device_in = in_copy.upload(in), device_out = out_copy.upload(out);
        int *const device_threshold = static_cast<int *>(found.data());
        carried.clear(cuda);
        threshold::run_prahara(cuda, device_in, device_out, params, carried.get(), device_threshold,
                               reinterpret_cast<std::uint32_t *>(device_threshold + 1));
        struct {
          int threshold;
          Counts counts;
        } got;
        cuda::copy_rows(&got, sizeof got, found.data(), sizeof got, sizeof got, 1, stream.get());
        out_copy.download(out.memory().begin(), out.memory().size());
        cuda.synchronize();

        const Counts counts = count_samples(in.plane(), params);
        EXPECT_EQ(got.counts, counts);
        const int t = autothreshold::with_offset(prahara_threshold(counts.data(), method),
                                                 autothreshold::make_settings(params, 256));
        ASSERT_EQ(got.threshold, t);
        std::vector<std::uint8_t> expected = samples;
        if (params.apply)
          for (std::uint8_t &p : expected) p = (p > t) != params.invert ? 255 : 0;
        ASSERT_TRUE(same(expected, out.samples(), size.width));
        ASSERT_TRUE(out.guards_intact());
      }
}

TEST(PraharaBaseline, CudaGoesOnFromTheFramesBefore) {
  NEED_GPU();
  cuda::Stream stream;
  Cuda cuda(stream.get());
  const int width = 64, height = 9;
  DeviceCopy in_copy(stream.get()), out_copy(stream.get());
  cuda::DeviceBuffer memory(sizeof(int) + sizeof(Counts));
  const auto device_threshold = static_cast<int *>(memory.data());
  Carried carried;
  carried.clear(cuda);
  autothreshold::ThresholdHistory history{};
  AutothresholdParams params;
  params.smoothing = 0.75;
  params.offset = 3;
  for (const Content content : {Content::text, Content::random, Content::gradient}) {
    const auto samples = make_content<std::uint8_t>(content, width, height, 255);
    const Image<std::uint8_t> in(samples, width, height, {}, 255);
    const Image<std::uint8_t> out(width, height, {}, 255, 0x5a);
    const Plane<std::uint8_t> device_in = in_copy.upload(in);
    threshold::run_prahara(cuda, device_in, out_copy.upload(out), params, carried.get(),
                           device_threshold,
                           reinterpret_cast<std::uint32_t *>(device_threshold + 1));
    int got = 0;
    cuda::copy_rows(&got, sizeof got, device_threshold, sizeof got, sizeof got, 1, stream.get());
    cuda.synchronize();
    const int found =
        prahara_threshold(count_samples(in.plane(), params).data(), AutothresholdMethod::otsu);
    EXPECT_EQ(got, autothreshold::step(history, found, autothreshold::make_settings(params, 256),
                                       history));
  }
}

#endif

}  // namespace
}  // namespace cudascan::test
