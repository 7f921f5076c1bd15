// SPDX-License-Identifier: LGPL-2.1-or-later
// The published algorithms: compared with the oracle and with each other, and on the GPU.
#include "kernels/linearopen/baseline.h"

#include <cstdlib>
#include <optional>

#include "common/error.h"
#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using linearopen::choose_zones;
using linearopen::open_lines;
using linearopen::PublishedOpening;
using linearopen::ZoneSettings;
using lines::Direction;
using test::Content;
using test::Image;
using test::Layout;
using test::make_content;
using enum linearopen::PublishedOpening;

constexpr PublishedOpening kOnCpu[] = {morard, bartovsky, bartovsky_rows, clienti,
                                       van_droogenbroeck};
constexpr PublishedOpening kOnGpu[] = {morard, bartovsky, morard_zones, bartovsky_zones};

/// Van Droogenbroeck's histogram cannot have 2^32 bins.
template <typename T>
bool supports(PublishedOpening algorithm) {
  return algorithm != van_droogenbroeck || sizeof(T) <= 2;
}
constexpr double kAngles[] = {0,    3,   11.25, 30,  44.9, 45,  45.1,   60,   85,      90,
                              97.3, 120, 134.9, 135, 150,  178, 179.99, -350, 45 - 720};
constexpr int kLengths[] = {1, 2, 3, 4, 5, 8, 13, 50, 200, 4096};
constexpr test::Size kSmallSizes[] = {{1, 1}, {1, 23}, {29, 1}, {2, 2}, {17, 12}, {9, 31}};

/// Few levels, so that flat zones and equal peaks are frequent, or many levels.
template <typename T>
std::vector<T> noise(int width, int height, unsigned levels, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> samples(std::size_t(width) * height);
  for (T &sample : samples)
    sample = static_cast<T>(levels ? random() % levels * 7 : static_cast<unsigned>(random()));
  return samples;
}

template <typename T>
std::vector<T> opened(PublishedOpening algorithm, double angle, int length, const Image<T> &in,
                      Layout layout = {}, int threads = 1) {
  Cpu cpu(threads);
  Image<T> out(in.width(), in.height(), layout);
  open_lines(cpu, algorithm, Direction::of(angle), length, in.plane(), out.plane());
  EXPECT_TRUE(out.guards_intact());
  return out.samples();
}

/// Calls check(samples, width, height, angle, length, levels) for many combinations.
template <typename T, typename Check>
void for_each_case(const Check &check) {
  for (const auto [width, height] : kSmallSizes)
    for (const double angle : kAngles)
      for (const int length : kLengths)
        for (const unsigned levels : {2u, 9u, 0u}) {
          SCOPED_TRACE(testing::Message()
                       << width << "x" << height << ", angle " << angle << ", length " << length
                       << ", levels " << levels << ", " << sizeof(T) << " bytes");
          check(noise<T>(width, height, levels, static_cast<unsigned>(length + levels)), width,
                height, angle, length);
          if (testing::Test::HasFatalFailure()) return;
        }
}

template <typename T>
void compare_with_oracle() {
  for_each_case<T>([](const std::vector<T> &samples, int width, int height, double angle,
                      int length) {
    const test::OracleSegments segments(width, height, angle, length, LinearOpenLines::partition);
    const auto expected = segments.filter(samples, false);
    const Image<T> in(samples, width, height, {3, 5});
    for (const auto algorithm : kOnCpu) {
      if (!supports<T>(algorithm)) continue;
      ASSERT_TRUE(test::same(expected, opened(algorithm, angle, length, in, {2, 1}), width))
          << "algorithm " << static_cast<int>(algorithm);
    }
  });
}
TEST(LinearOpenBaseline, EqualsTheOracle) {
  compare_with_oracle<std::uint8_t>();
  compare_with_oracle<std::uint16_t>();
  compare_with_oracle<std::uint32_t>();
}

TEST(LinearOpenBaseline, AlgorithmsAgreeOnAllContents) {
  constexpr int kWidth = test::kSanitized ? 130 : 230, kHeight = test::kSanitized ? 51 : 171;
  for (const Content content : test::kContents)
    for (const double angle : {0., 20., 45., 77., 90., 135., 166.6})
      for (const int length : {2, 7, 41, 300}) {
        SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content) << ", angle "
                                        << angle << ", length " << length);
        const Image<std::uint16_t> in(make_content<std::uint16_t>(content, kWidth, kHeight, 0xffff),
                                      kWidth, kHeight);
        const auto expected = opened(bartovsky, angle, length, in, {}, 2);
        for (const auto algorithm : kOnCpu)
          ASSERT_TRUE(test::same(expected, opened(algorithm, angle, length, in, {}, 3), kWidth))
              << "algorithm " << static_cast<int>(algorithm);
      }
}

/// The algorithms store positions in 16 bits, so the largest positions are tested.
TEST(LinearOpenBaseline, LongestLinesAndSegments) {
  constexpr int kMost = 32768;
  for (const auto [width, height] : {test::Size{kMost, 2}, test::Size{2, kMost}}) {
    const double angle = width > height ? 0 : 90;
    for (const unsigned levels : {2u, 0u}) {
      auto samples = noise<std::uint8_t>(width, height, levels, 3);
      // White runs with many lengths, up to more than 4096.
      for (std::size_t i = 0, run = 1; i + run < samples.size(); i += run, run += 97)
        std::fill_n(samples.begin() + static_cast<std::ptrdiff_t>(i), run - 1, 255);
      const Image<std::uint8_t> in(samples, width, height);
      const auto expected = opened(bartovsky, angle, 4096, in);
      for (const auto algorithm : kOnCpu)
        ASSERT_TRUE(test::same(expected, opened(algorithm, angle, 4096, in), width))
            << "algorithm " << static_cast<int>(algorithm);
    }
  }
  // Zones whose levels rise, or fall, to the end.
  std::vector<std::uint16_t> rising(kMost), falling(kMost);
  for (int i = 0; i < kMost; ++i) {
    rising[i] = static_cast<std::uint16_t>(i);
    falling[kMost - 1 - i] = static_cast<std::uint16_t>(i);
  }
  for (const auto algorithm : kOnCpu) {
    auto expected = rising;
    std::fill(expected.end() - 2049, expected.end(), static_cast<std::uint16_t>(kMost - 2049));
    EXPECT_TRUE(test::same(
        expected, opened(algorithm, 0, 4096, Image<std::uint16_t>(rising, kMost, 1)), kMost));
    expected = falling;
    std::fill(expected.begin(), expected.begin() + 2048, static_cast<std::uint16_t>(kMost - 2048));
    EXPECT_TRUE(test::same(
        expected, opened(algorithm, 0, 4096, Image<std::uint16_t>(falling, kMost, 1)), kMost));
  }
}

TEST(LinearOpenBaseline, SaysWhatItDoesNotSupport) {
  const Image<std::uint32_t> in(std::vector<std::uint32_t>(12), 4, 3);
  EXPECT_THROW(opened(van_droogenbroeck, 0, 3, in), BadSetting);
  EXPECT_NO_THROW(opened(clienti, 0, 3, in));
}

TEST(LinearOpenBaseline, ElementsHaveThreeOfThem) {
  EXPECT_EQ(linearopen::published_opening(LinearOpenAlgorithm::morard), morard);
  EXPECT_EQ(linearopen::published_opening(LinearOpenAlgorithm::bartovsky), bartovsky);
  EXPECT_EQ(linearopen::published_opening(LinearOpenAlgorithm::bartovsky_zones), bartovsky_zones);
}

/// Values of the rules of section 5.4, calculated by hand.
TEST(LinearOpenZones, AreChosenByTheRules) {
  // 2 multiprocessors: small blocks below 128 lines. 64 lines, 32 * 32 * 2 threads: 32 zones. Rule
  // 3 allows 900 / 22.
  const linearopen::ZoneProblem few{64, 900, 11, 4, 2, 65536};
  ZoneSettings s = choose_zones({}, few);
  EXPECT_EQ(s.threads, 32);
  EXPECT_EQ(s.zones, 32);
  EXPECT_EQ(s.recent, 16);  // 65536 / (32 * 4 * 32)
  EXPECT_FALSE(s.texture);
  // 200 lines: 96 * 21 * 2 threads, rounded up; 65536 / (96 * 4 * 21) = 8.1.
  s = choose_zones({}, {200, 900, 11, 4, 2, 65536});
  EXPECT_EQ(s.threads, 96);
  EXPECT_EQ(s.zones, 21);
  EXPECT_EQ(s.recent, 8);
  // Rule 3 wins over rule 2; a long segment leaves one zone.
  EXPECT_EQ(choose_zones({}, {64, 900, 45, 4, 2, 65536}).zones, 10);
  EXPECT_EQ(choose_zones({}, {64, 900, 451, 4, 2, 65536}).zones, 1);
  // What is given stays.
  s = choose_zones({.zones = 3, .threads = 160, .recent = 2, .texture = true}, few);
  EXPECT_EQ(s.zones, 3);
  EXPECT_EQ(s.threads, 160);
  EXPECT_EQ(s.recent, 2);
  EXPECT_TRUE(s.texture);
}
TEST(LinearOpenZones, AreChecked) {
  const linearopen::ZoneProblem problem{64, 900, 11, 4, 2, 65536};
  for (const ZoneSettings &wrong :
       {ZoneSettings{.zones = -1}, ZoneSettings{.zones = 901}, ZoneSettings{.threads = 33},
        ZoneSettings{.threads = 288}, ZoneSettings{.threads = -32}, ZoneSettings{.recent = 3},
        ZoneSettings{.recent = -2}, ZoneSettings{.threads = 32, .recent = 1024}})
    EXPECT_THROW(choose_zones(wrong, problem), BadSetting)
        << wrong.zones << " " << wrong.threads << " " << wrong.recent;
  EXPECT_EQ(choose_zones({.threads = 32, .recent = 512}, problem).recent, 512);
  EXPECT_EQ(choose_zones({.zones = 900}, problem).zones, 900);
}
/// Equation 5.
TEST(LinearOpenZones, PredictedSpeedup) {
  EXPECT_EQ(linearopen::predicted_speedup(1, 41, 640), 1);
  EXPECT_DOUBLE_EQ(linearopen::predicted_speedup(2, 41, 640), 2 * (1 - 81. / 640));
  EXPECT_DOUBLE_EQ(linearopen::predicted_speedup(4, 11, 1280), 4 * (1 - 63. / 1280));
}

#ifdef HAVE_CUDA

class LinearOpenBaselineOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    NEED_GPU();
    gpu_.emplace();
  }

  /// Opens along directions in one call. Checks the bytes around the outputs.
  template <typename T>
  std::vector<std::vector<T>> opened(PublishedOpening algorithm, const std::vector<double> &angles,
                                     int length, const Image<T> &in, Layout layout,
                                     const ZoneSettings &settings) {
    // A plane for each direction, one below the other.
    const int n = static_cast<int>(angles.size());
    Image<T> out(in.width(), n * in.height(), layout);
    std::vector<Direction> directions;
    for (const double angle : angles) directions.push_back(Direction::of(angle));
    const Plane<T> from = gpu_->in.upload(in), to = gpu_->out.upload(out);
    void *const scratch = gpu_->scratch.reserve(linearopen::open_lines_scratch(
        gpu_->cuda, algorithm, directions, length, in.width(), in.height(), sizeof(T), settings));
    Plane<T> first = to;
    first.height = in.height();
    open_lines(gpu_->cuda, algorithm, directions, length, Plane<const T>(from),
               {first, std::size_t(to.stride) * in.height()}, scratch, settings);
    gpu_->out.download(out.memory().begin(), out.memory().size());
    gpu_->cuda.synchronize();
    EXPECT_TRUE(out.guards_intact());
    const std::vector<T> all = out.samples();
    std::vector<std::vector<T>> results;
    const auto pixels = static_cast<std::ptrdiff_t>(in.width()) * in.height();
    for (int i = 0; i < n; ++i)
      results.emplace_back(all.begin() + i * pixels, all.begin() + (i + 1) * pixels);
    return results;
  }

  template <typename T>
  void expect_cpu(const std::vector<T> &samples, int width, int height,
                  const std::vector<double> &angles, int length,
                  const ZoneSettings &settings = {}) {
    const Image<T> in(samples, width, height, next_layout());
    std::vector<std::vector<T>> expected;
    for (const double angle : angles)
      expected.push_back(cudascan::opened(bartovsky, angle, length, in));
    for (const auto algorithm : kOnGpu) {
      const auto results = opened(algorithm, angles, length, in, next_layout(), settings);
      for (std::size_t i = 0; i < angles.size(); ++i)
        ASSERT_TRUE(test::same(expected[i], results[i], width))
            << "algorithm " << static_cast<int>(algorithm) << ", angle " << angles[i];
    }
  }

 private:
  struct Gpu {
    cuda::Stream stream;
    Cuda cuda{stream.get()};
    test::DeviceCopy in{stream.get()}, out{stream.get()};
    cuda::DeviceBuffer scratch;
  };
  Layout next_layout() { return test::kLayouts[turn_++ % std::size(test::kLayouts)]; }

  std::optional<Gpu> gpu_;
  std::size_t turn_ = 0;
};

TEST_F(LinearOpenBaselineOnGpu, CudaEqualsCpu) {
  std::size_t turn = 0;
  const auto compare = [&]<typename T>(T) {
    for_each_case<T>(
        [&](const std::vector<T> &samples, int width, int height, double angle, int length) {
          if (test::has_time_for(++turn, {width, height}))
            expect_cpu(samples, width, height, {angle}, length);
        });
  };
  compare(std::uint8_t{});
  compare(std::uint16_t{});
  compare(std::uint32_t{});
}

/// The lines have several zones, and their queues exceed the shared memory.
TEST_F(LinearOpenBaselineOnGpu, CudaZonesEqualCpu) {
  std::size_t turn = 0;
  for (const auto [width, height] :
       {test::Size{57, 301}, test::Size{301, 57}, test::Size{33, 900}, test::Size{900, 65}})
    for (const double angle : kAngles)
      for (const int length : {2, 9, 41, 77, 140, 500})
        for (const Content content : {Content::random, Content::text, Content::gradient}) {
          SCOPED_TRACE(testing::Message()
                       << width << "x" << height << ", angle " << angle << ", length " << length
                       << ", content " << static_cast<int>(content));
          if (!test::has_time_for(++turn, {1, 1})) continue;
          expect_cpu(make_content<std::uint8_t>(content, width, height, 255), width, height,
                     {angle}, length);
          expect_cpu(make_content<std::uint16_t>(content, width, height, 0xffff), width, height,
                     {angle}, length);
          if (HasFatalFailure()) return;
        }
}

/// There are more lines than the smaller blocks of bartovsky_zones are meant for.
TEST_F(LinearOpenBaselineOnGpu, CudaManyLinesEqualCpu) {
  const int lines = test::gpu_is_emulated() ? 450 : 32768;
  for (const double angle : {90., 60., 4.}) {
    const auto samples = make_content<std::uint8_t>(Content::text, lines, 70, 255);
    expect_cpu(samples, lines, 70, {angle}, 11);
    expect_cpu(samples, 70, lines, {angle - 90}, 11);
  }
}

/// Each parameter of section 5.4, at its limits and between.
TEST_F(LinearOpenBaselineOnGpu, CudaSettingsOfZones) {
  const auto samples = noise<std::uint8_t>(61, 97, 0, 5);
  for (const ZoneSettings &settings :
       {ZoneSettings{.zones = 1}, ZoneSettings{.zones = 2, .threads = 64},
        ZoneSettings{.zones = 4, .recent = 1}, ZoneSettings{.zones = 61, .recent = 2},
        ZoneSettings{.threads = 256, .recent = 4}, ZoneSettings{.texture = true},
        ZoneSettings{.zones = 7, .threads = 32, .recent = 8, .texture = true}})
    for (const int length : {1, 5, 31}) {
      SCOPED_TRACE(testing::Message() << settings.zones << " zones, " << settings.threads
                                      << " threads, " << settings.recent << " recent, texture "
                                      << settings.texture << ", length " << length);
      expect_cpu(samples, 61, 97, {60}, length, settings);
      expect_cpu(samples, 61, 97, {162}, length, settings);
    }
  expect_cpu(noise<std::uint16_t>(61, 97, 0, 5), 61, 97, {25}, 9, {.texture = true});
  expect_cpu(noise<std::uint32_t>(61, 97, 0, 5), 61, 97, {95}, 9, {.zones = 2, .texture = true});
}

/// Steep and flat lines, and one direction twice.
TEST_F(LinearOpenBaselineOnGpu, CudaDirectionsTogether) {
  const std::vector<double> angles{0, 33, 60, 90, 140, 60, 178};
  for (const ZoneSettings &settings : {ZoneSettings{}, ZoneSettings{.zones = 3, .texture = true}}) {
    expect_cpu(noise<std::uint8_t>(53, 40, 9, 5), 53, 40, angles, 7, settings);
    expect_cpu(noise<std::uint16_t>(40, 53, 0, 5), 40, 53, angles, 12, settings);
  }
  // Several launches.
  std::vector<double> many(linearopen::kMostPublishedDirections + 3, 45);
  many.front() = 10;
  many.back() = 100;
  expect_cpu(noise<std::uint8_t>(5, 6, 9, 5), 5, 6, many, 3);
}

TEST_F(LinearOpenBaselineOnGpu, CudaSaysWhatItDoesNotSupport) {
  const Image<std::uint8_t> in(std::vector<std::uint8_t>(12), 4, 3);
  for (const auto algorithm : {bartovsky_rows, van_droogenbroeck, clienti})
    EXPECT_THROW(opened(algorithm, {0}, 3, in, {}, {}), BadSetting);
  EXPECT_THROW(opened(morard_zones, {0}, 3, in, {}, {.zones = 5}), BadSetting);
}

#endif

}  // namespace
}  // namespace cudascan
