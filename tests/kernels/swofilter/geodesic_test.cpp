// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {
namespace {

using Op = SwoFilterOperator;
using Marker = SwoFilterMarker;

constexpr Op kDilating[] = {Op::geodesic_dilate, Op::reconstruct, Op::h_dome, Op::clear_border};
constexpr Op kAll[] = {Op::geodesic_erode, Op::geodesic_dilate, Op::reconstruct, Op::h_dome,
                       Op::h_basin,        Op::fill_holes,      Op::clear_border};

struct Result {
  std::vector<int> samples;
  int iterations;
  bool operator==(const Result &) const = default;
};

/// Rows of samples.
struct Picture {
  int width, height;
  std::vector<int> samples;

  int at(int x, int y) const { return samples[y * width + x]; }
};

/// One for each character: digits are themselves.
Picture drawn(const std::vector<std::string> &rows) {
  Picture p{static_cast<int>(rows[0].size()), static_cast<int>(rows.size()), {}};
  for (const std::string &row : rows)
    for (const char c : row) p.samples.push_back(c - '0');
  return p;
}
std::vector<std::string> drawing(const std::vector<int> &samples, int width) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < samples.size(); i += width) {
    rows.emplace_back();
    for (int x = 0; x < width; ++x) rows.back() += static_cast<char>('0' + samples[i + x]);
  }
  return rows;
}

template <typename T>
Result filtered(const Picture &p, const SwoFilterParams &params, T maximum, int threads = 1) {
  const Image<T> in(std::vector<T>(p.samples.begin(), p.samples.end()), p.width, p.height, {},
                    maximum);
  Image<T> out(p.width, p.height, {}, maximum);
  Cpu cpu(threads);
  SwoFilterReport report{-1};
  run(cpu, in.plane(), out.plane(), params, &report);
  EXPECT_TRUE(out.guards_intact());
  const auto samples = out.samples();
  return {{samples.begin(), samples.end()}, report.iterations};
}
Result filtered(const Picture &p, const SwoFilterParams &params) {
  return filtered<std::uint8_t>(p, params, 255);
}

/// Passes as swofilter/geodesic.h has them, until one changes nothing if no number is given.
Result naive(const Picture &p, const SwoFilterParams &params, int maximum) {
  const bool dilates =
      std::find(std::begin(kDilating), std::end(kDilating), params.op) != std::end(kDilating);
  const bool by_marker = params.op == Op::geodesic_dilate || params.op == Op::geodesic_erode ||
                         params.op == Op::reconstruct;
  const bool border = by_marker ? params.marker == Marker::border
                                : params.op == Op::fill_holes || params.op == Op::clear_border;
  const int shift = unused_low_bits(maximum);
  const auto limit = [&](int grown, int mask) {
    return dilates ? std::min(grown, mask) : std::max(grown, mask);
  };
  Picture marker = p;
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      int &v = marker.samples[y * p.width + x];
      const bool edge = x == 0 || y == 0 || x == p.width - 1 || y == p.height - 1;
      const int height = params.height << shift;
      if (border && !edge) v = dilates ? 0 : maximum;
      if (!border) v = dilates ? std::max(v - height, 0) : std::min(v + height, maximum);
    }
  int passes = 0;
  for (bool change = true; change && (params.iterations == 0 || passes < params.iterations);
       ++passes) {
    Picture next = marker;
    for (int y = 0; y < p.height; ++y)
      for (int x = 0; x < p.width; ++x) {
        int v = marker.at(x, y);
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            if (params.connectivity == 4 && dx != 0 && dy != 0) continue;
            if (x + dx < 0 || x + dx >= p.width || y + dy < 0 || y + dy >= p.height) continue;
            const int other = marker.at(x + dx, y + dy);
            v = dilates ? std::max(v, other) : std::min(v, other);
          }
        next.samples[y * p.width + x] = limit(v, p.at(x, y));
      }
    change = next.samples != marker.samples;
    marker = next;
  }
  Result result{marker.samples, params.iterations == 0 ? 0 : passes};
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    if (params.op == Op::h_dome || params.op == Op::clear_border)
      result.samples[i] = p.samples[i] - result.samples[i];
    if (params.op == Op::h_basin) result.samples[i] -= p.samples[i];
  }
  return result;
}

/// A corridor of one pixel that winds inwards from the upper left corner, with walls as wide.
Picture spiral(int width, int height, int corridor, int wall, int *length = nullptr) {
  Picture p{width, height, std::vector<int>(std::size_t(width) * height, wall)};
  int left = 0, top = 2, right = width - 1, bottom = height - 1, x = 0, y = 0, n = 1;
  p.samples[0] = corridor;
  const auto go = [&](int to_x, int to_y) {
    for (; x != to_x || y != to_y; ++n) {
      x += (to_x > x) - (to_x < x);
      y += (to_y > y) - (to_y < y);
      p.samples[y * width + x] = corridor;
    }
  };
  for (;;) {
    if (right <= x) break;
    go(right, y), right -= 2;
    if (bottom <= y) break;
    go(x, bottom), bottom -= 2;
    if (left >= x) break;
    go(left, y), left += 2;
    if (top >= y) break;
    go(x, top), top += 2;
  }
  if (length) *length = n;
  return p;
}

/// The same surrounded by walls but for the pixel where it begins.
Picture walled_spiral(int width, int height, int corridor, int wall, int *length) {
  const Picture inner = spiral(width - 2, height - 2, corridor, wall, length);
  Picture p{width, height, std::vector<int>(std::size_t(width) * height, wall)};
  for (int y = 0; y < inner.height; ++y)
    std::copy_n(inner.samples.begin() + y * inner.width, inner.width,
                p.samples.begin() + (y + 1) * width + 1);
  p.samples[1] = corridor;
  ++*length;
  return p;
}

Picture random_picture(std::mt19937 &random, int width, int height, int levels, int shift) {
  Picture p{width, height, {}};
  const int kind = random() % 3, few = 1 + random() % levels;
  for (int i = 0; i < width * height; ++i) {
    const int v = random() % levels;
    p.samples.push_back((kind == 0 ? v : kind == 1 ? v % few : v % 4 ? few - 1 : v) << shift);
  }
  return p;
}

TEST(SwoFilterGeodesic, FillsHoles) {
  const Picture p = drawn({"00000000",  //
                           "09990990",  //
                           "09190909",  //
                           "09990999",  //
                           "00000000"});
  SwoFilterParams params{.op = Op::fill_holes, .connectivity = 4};
  // The opening of the ring on the right is diagonal.
  EXPECT_EQ(drawing(filtered(p, params).samples, 8),
            (std::vector<std::string>{"00000000",  //
                                      "09990990",  //
                                      "09990999",  //
                                      "09990999",  //
                                      "00000000"}));
  params.connectivity = 8;
  EXPECT_EQ(drawing(filtered(p, params).samples, 8),
            (std::vector<std::string>{"00000000",  //
                                      "09990990",  //
                                      "09990909",  //
                                      "09990999",  //
                                      "00000000"}));
}

TEST(SwoFilterGeodesic, FillsToTheLowestPass) {
  const Picture p = drawn({"9999999",  //
                           "9121739",  //
                           "9101549",  //
                           "9999969"});
  EXPECT_EQ(drawing(filtered(p, {.op = Op::fill_holes, .connectivity = 4}).samples, 7),
            (std::vector<std::string>{"9999999",  //
                                      "9666769",  //
                                      "9666669",  //
                                      "9999969"}));
}

TEST(SwoFilterGeodesic, ClearsTheBorder) {
  const Picture p = drawn({"0500000",  //
                           "0500770",  //
                           "0000600",  //
                           "0770000",  //
                           "0007300"});
  EXPECT_EQ(drawing(filtered(p, {.op = Op::clear_border, .connectivity = 4}).samples, 7),
            (std::vector<std::string>{"0000000",  //
                                      "0000770",  //
                                      "0000600",  //
                                      "0770000",  //
                                      "0000000"}));
  EXPECT_EQ(drawing(filtered(p, {.op = Op::clear_border, .connectivity = 8}).samples, 7),
            (std::vector<std::string>{"0000000",  //
                                      "0000770",  //
                                      "0000600",  //
                                      "0000000",  //
                                      "0000000"}));
}

TEST(SwoFilterGeodesic, FindsDomesAndBasins) {
  const Picture p = drawn({"012345432123454321"});
  EXPECT_EQ(drawing(filtered(p, {.op = Op::h_dome, .height = 2}).samples, 18),
            std::vector<std::string>{"000012100000121000"});
  EXPECT_EQ(drawing(filtered(p, {.op = Op::h_basin, .height = 2}).samples, 18),
            std::vector<std::string>{"210000001210000012"});
  // Domes of the whole height stand on 0.
  EXPECT_EQ(drawing(filtered(p, {.op = Op::h_dome, .height = 9}).samples, 18),
            std::vector<std::string>{"012345432123454321"});
}

TEST(SwoFilterGeodesic, GoesAStepAPass) {
  int length = 0;
  const Picture p = walled_spiral(151, 97, 200, 10, &length);
  for (const int n : {1, 2, 63, 64, 65, 1000}) {
    const Result result = filtered(
        p,
        {.op = Op::geodesic_dilate, .iterations = n, .marker = Marker::border, .connectivity = 4});
    EXPECT_EQ(std::count(result.samples.begin(), result.samples.end(), 200), n + 1);
    EXPECT_EQ(result.iterations, n);
  }
  // The pass that reaches the end is followed by one that changes nothing.
  const SwoFilterParams all{.op = Op::geodesic_dilate,
                            .iterations = length + 50,
                            .marker = Marker::border,
                            .connectivity = 4};
  const Result result = filtered(p, all);
  EXPECT_EQ(result.iterations, length);
  EXPECT_EQ(std::count(result.samples.begin(), result.samples.end(), 200), length);
}

TEST(SwoFilterGeodesic, GoesThroughASpiral) {
  for (const auto [width, height] : {Size{300, 203}, Size{65, 700}, Size{64, 64}, Size{3, 129}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    int length = 0;
    const Picture p = walled_spiral(width, height, 200, 10, &length);
    const SwoFilterParams params{
        .op = Op::reconstruct, .marker = Marker::border, .connectivity = 4};
    for (const int threads : {1, 3})
      EXPECT_EQ(filtered<std::uint8_t>(p, params, 255, threads), (Result{p.samples, 0}));
  }
}

TEST(SwoFilterGeodesic, EqualsPasses) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const bool bytes = random() % 2;
    const int maximum = bytes ? 255 : std::array{0xffff, 0x3ff, 0xffc0}[random() % 3];
    const int shift = unused_low_bits(maximum), levels = (maximum >> shift) + 1;
    const bool tall = random() % 8 == 0;  // so that threads have bands
    const Picture p =
        random_picture(random, 1 + random() % (random() % 5 ? 30 : 2),
                       tall ? 200 : 1 + random() % (random() % 5 ? 30 : 2), levels, shift);
    const SwoFilterParams params{.op = kAll[random() % std::size(kAll)],
                                 .iterations = random() % 2 ? 0 : static_cast<int>(random() % 30),
                                 .marker = random() % 2 ? Marker::shifted : Marker::border,
                                 .height = static_cast<int>(random() % levels),
                                 .connectivity = random() % 2 ? 4 : 8};
    SCOPED_TRACE(testing::Message() << i << ": operator " << static_cast<int>(params.op) << ", "
                                    << p.width << "x" << p.height << ", maximum " << maximum);
    const int threads = 1 + random() % 4;
    const Result result =
        bytes ? filtered<std::uint8_t>(p, params, 255, threads)
              : filtered<std::uint16_t>(p, params, static_cast<std::uint16_t>(maximum), threads);
    ASSERT_EQ(result, naive(p, params, maximum));
  }
}

TEST(SwoFilterGeodesic, ReconstructionIsAnOpening) {
  std::mt19937 random(2);
  const auto content = make_content<std::uint8_t>(Content::text, 130, 90, 255);
  const Picture p{130, 90, {content.begin(), content.end()}};
  for (const int connectivity : {4, 8}) {
    // Between marker and mask.
    const SwoFilterParams params{.op = Op::reconstruct, .height = 40, .connectivity = connectivity};
    const Result once = filtered(p, params);
    for (std::size_t i = 0; i < p.samples.size(); ++i) {
      EXPECT_LE(once.samples[i], p.samples[i]);
      EXPECT_GE(once.samples[i], p.samples[i] - 40);
    }
    // Idempotent, for a marker that does not change with the image.
    const SwoFilterParams border{
        .op = Op::reconstruct, .marker = Marker::border, .connectivity = connectivity};
    const Result first = filtered(p, border);
    EXPECT_EQ(filtered({p.width, p.height, first.samples}, border), first);
    // Increasing: a larger mask gives nowhere less.
    Picture larger = p;
    for (int &v : larger.samples) v = std::min<int>(v + random() % 30, 255);
    const Result more = filtered(larger, params);
    for (std::size_t i = 0; i < p.samples.size(); ++i) EXPECT_GE(more.samples[i], once.samples[i]);
    // What is not in the marker is the dome.
    const Result dome = filtered(p, {.op = Op::h_dome, .height = 40, .connectivity = connectivity});
    for (std::size_t i = 0; i < p.samples.size(); ++i)
      EXPECT_EQ(dome.samples[i], p.samples[i] - once.samples[i]);
  }
}

TEST(SwoFilterGeodesic, ErosionIsDual) {
  const auto content = make_content<std::uint16_t>(Content::text, 70, 90, 1023);
  const Picture p{70, 90, {content.begin(), content.end()}};
  Picture complement = p;
  for (int &v : complement.samples) v = 1023 - v;
  for (const Marker marker : {Marker::shifted, Marker::border})
    for (const int iterations : {0, 1, 7}) {
      SwoFilterParams params{
          .op = Op::geodesic_dilate, .iterations = iterations, .marker = marker, .height = 99};
      Result dilated = filtered<std::uint16_t>(p, params, 1023);
      params.op = Op::geodesic_erode;
      for (int &v : dilated.samples) v = 1023 - v;
      EXPECT_EQ(filtered<std::uint16_t>(complement, params, 1023), dilated);
    }
}

TEST(SwoFilterGeodesic, CudaReportsPasses) {
  NEED_GPU();
#ifdef HAVE_CUDA
  int length = 0;
  const Picture p = walled_spiral(67, 11, 200, 10, &length);
  const Image<std::uint8_t> in({p.samples.begin(), p.samples.end()}, p.width, p.height);
  cuda::Stream stream;
  Cuda cuda(stream.get());
  DeviceCopy device_in(stream.get()), device_out(stream.get());
  Image<std::uint8_t> out(p.width, p.height);
  for (const int n : {1, 2, 70, length - 1, length, length + 9, 0}) {
    const SwoFilterParams params{
        .op = Op::geodesic_dilate, .iterations = n, .marker = Marker::border, .connectivity = 4};
    const Plane<std::uint8_t> from = device_in.upload(in), to = device_out.upload(out);
    SwoFilterReport report{-1};
    run(cuda, Plane<const std::uint8_t>(from), to, params, &report);
    device_out.download(out.memory().begin(), out.memory().size());
    cuda.synchronize();
    const auto samples = out.samples();
    EXPECT_EQ((Result{{samples.begin(), samples.end()}, report.iterations}), filtered(p, params));
  }
#endif
}

TEST(SwoFilterGeodesic, CudaGoesThroughASpiral) {
  NEED_GPU();
#ifdef HAVE_CUDA
  CudaRunner cuda;
  for (const auto [width, height] : {Size{300, 203}, Size{65, 500}, Size{64, 64}, Size{3, 129}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    int length = 0;
    const Picture p = walled_spiral(width, height, 200, 10, &length);
    const Image<std::uint8_t> in({p.samples.begin(), p.samples.end()}, width, height);
    Image<std::uint8_t> out(width, height);
    cuda(in, out,
         SwoFilterParams{.op = Op::reconstruct, .marker = Marker::border, .connectivity = 4});
    EXPECT_TRUE(same(out.samples(), in.samples(), width));
  }
#endif
}

const std::vector<SwoFilterParams> kParams = {
    {.op = Op::reconstruct},
    {.op = Op::geodesic_erode, .marker = Marker::border, .connectivity = 4},
    {.op = Op::geodesic_dilate, .iterations = 3, .height = 100},
    {.op = Op::geodesic_erode, .iterations = 7, .connectivity = 4},
    {.op = Op::h_dome, .height = 200, .connectivity = 4},
    {.op = Op::h_basin},
    {.op = Op::fill_holes},
    {.op = Op::fill_holes, .connectivity = 4},
    {.op = Op::clear_border}};

TEST(SwoFilterGeodesicOperator, CpuResultDependsOnSamplesAlone) {
  expect_result_of_samples_alone(kParams);
}

TEST(SwoFilterGeodesicOperator, CudaEqualsCpu) {
  NEED_GPU();
#ifdef HAVE_CUDA
#ifdef EMULATED_GPU
  // Tiles cost the same when few pixels of them are in the image.
  constexpr Size kFew[] = {{1, 1}, {1, 37}, {37, 1}, {33, 7}, {65, 40}, {129, 130}, {700, 3}};
  expect_cuda_equals_cpu(kParams, kFew);
#else
  expect_cuda_equals_cpu(kParams);
#endif
#endif
}

#if defined(HAVE_CUDA) && !defined(EMULATED_GPU)
/// More tiles than there are warps at a time.
template <typename T>
void expect_cuda_equals_cpu_on_many_tiles(const SwoFilterParams &params) {
  constexpr int kSide = 4001;
  constexpr T kMaximum = std::numeric_limits<T>::max();
  const Image<T> in(make_content<T>(Content::text, kSide, kSide, kMaximum), kSide, kSide);
  CpuRunner cpu;
  CudaRunner cuda;
  EXPECT_TRUE(same(outcome<T>(cpu, in, {}, kMaximum, params, 0x5a).samples,
                   outcome<T>(cuda, in, {}, kMaximum, params, 0xc3).samples, kSide));
}
TEST(SwoFilterGeodesicOperator, CudaEqualsCpuOnManyTiles) {
  NEED_GPU();
  for (const SwoFilterParams &params :
       {SwoFilterParams{.op = Op::fill_holes}, SwoFilterParams{.op = Op::h_dome}}) {
    expect_cuda_equals_cpu_on_many_tiles<std::uint8_t>(params);
    expect_cuda_equals_cpu_on_many_tiles<std::uint16_t>(params);
  }
}
#endif

}  // namespace
}  // namespace cudascan::test
