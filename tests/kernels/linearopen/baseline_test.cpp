// SPDX-License-Identifier: LGPL-2.1-or-later
// The published algorithms, one direction at a time: compared with the oracle and with each other,
// and on the GPU.
#include "kernels/linearopen/baseline.h"

#include <cstdlib>
#include <optional>

#include "tests/kernels/linearopen/oracle.h"

namespace cudascan {
namespace {

using linearopen::open_lines;
using lines::Direction;
using test::Content;
using test::Image;
using test::Layout;
using test::make_content;
using enum LinearOpenAlgorithm;

constexpr LinearOpenAlgorithm kAlgorithms[] = {morard, bartovsky, bartovsky_zones};
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
std::vector<T> opened(LinearOpenAlgorithm algorithm, double angle, int length, const Image<T> &in,
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
    for (const auto algorithm : kAlgorithms)
      ASSERT_TRUE(test::same(expected, opened(algorithm, angle, length, in, {2, 1}), width))
          << "algorithm " << static_cast<int>(algorithm);
  });
}
TEST(LinearOpenBaseline, EqualsTheOracle) {
  compare_with_oracle<std::uint8_t>();
  compare_with_oracle<std::uint16_t>();
  compare_with_oracle<std::uint32_t>();
}

TEST(LinearOpenBaseline, AlgorithmsAgreeOnAllContents) {
  for (const Content content : test::kContents)
    for (const double angle : {0., 20., 45., 77., 90., 135., 166.6})
      for (const int length : {2, 7, 41, 300}) {
        SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content) << ", angle "
                                        << angle << ", length " << length);
        const Image<std::uint16_t> in(make_content<std::uint16_t>(content, 230, 171, 0xffff), 230,
                                      171);
        ASSERT_TRUE(test::same(opened(morard, angle, length, in, {}, 3),
                               opened(bartovsky, angle, length, in, {}, 2), 230));
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
      ASSERT_TRUE(
          test::same(opened(morard, angle, 4096, in), opened(bartovsky, angle, 4096, in), width));
    }
  }
  // Zones whose levels rise, or fall, to the end.
  std::vector<std::uint16_t> rising(kMost), falling(kMost);
  for (int i = 0; i < kMost; ++i) {
    rising[i] = static_cast<std::uint16_t>(i);
    falling[kMost - 1 - i] = static_cast<std::uint16_t>(i);
  }
  for (const auto algorithm : {morard, bartovsky}) {
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

#ifdef HAVE_CUDA

class LinearOpenBaselineOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    NEED_GPU();
    gpu_.emplace();
  }

  /// The result of the GPU. Checks that the input and the bytes around the output are unchanged.
  template <typename T>
  std::vector<T> opened(LinearOpenAlgorithm algorithm, double angle, int length, const Image<T> &in,
                        Layout layout) {
    Image<T> out(in.width(), in.height(), layout);
    const Direction direction = Direction::of(angle);
    const Plane<T> from = gpu_->in.upload(in), to = gpu_->out.upload(out);
    void *const scratch = gpu_->scratch.reserve(linearopen::open_lines_scratch(
        gpu_->cuda, algorithm, direction, length, in.width(), in.height(), sizeof(T)));
    open_lines(gpu_->cuda, algorithm, direction, length, Plane<const T>(from), to, scratch);
    gpu_->out.download(out.memory().begin(), out.memory().size());
    gpu_->cuda.synchronize();
    EXPECT_TRUE(out.guards_intact());
    return out.samples();
  }

  template <typename T>
  void expect_cpu(const std::vector<T> &samples, int width, int height, double angle, int length) {
    const Image<T> in(samples, width, height, test::kLayouts[turn_ % std::size(test::kLayouts)]);
    const auto expected = cudascan::opened(bartovsky, angle, length, in);
    for (const auto algorithm : kAlgorithms)
      ASSERT_TRUE(test::same(
          expected,
          opened(algorithm, angle, length, in, test::kLayouts[++turn_ % std::size(test::kLayouts)]),
          width))
          << "algorithm " << static_cast<int>(algorithm);
  }

 private:
  struct Gpu {
    cuda::Stream stream;
    Cuda cuda{stream.get()};
    test::DeviceCopy in{stream.get()}, out{stream.get()};
    cuda::DeviceBuffer scratch;
  };
  std::optional<Gpu> gpu_;
  std::size_t turn_ = 0;
};

TEST_F(LinearOpenBaselineOnGpu, CudaEqualsCpu) {
  std::size_t turn = 0;
  const auto compare = [&]<typename T>(T) {
    for_each_case<T>(
        [&](const std::vector<T> &samples, int width, int height, double angle, int length) {
          if (test::has_time_for(++turn, {width, height}))
            expect_cpu(samples, width, height, angle, length);
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
          expect_cpu(make_content<std::uint8_t>(content, width, height, 255), width, height, angle,
                     length);
          expect_cpu(make_content<std::uint16_t>(content, width, height, 0xffff), width, height,
                     angle, length);
          if (HasFatalFailure()) return;
        }
}

/// There are more lines than the smaller blocks of bartovsky_zones are meant for.
TEST_F(LinearOpenBaselineOnGpu, CudaManyLinesEqualCpu) {
  const int lines = test::gpu_is_emulated() ? 450 : 32768;
  for (const double angle : {90., 60., 4.}) {
    const auto samples = make_content<std::uint8_t>(Content::text, lines, 70, 255);
    expect_cpu(samples, lines, 70, angle, 11);
    expect_cpu(samples, 70, lines, angle - 90, 11);
  }
}

#endif

}  // namespace
}  // namespace cudascan
