// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/swofilter/geodesic.h"

namespace cudascan::test {
namespace {

using namespace geodesic;

TEST(SwoFilterGeodesic, FillsHoles) {
  const Picture p = drawn({"00000000",  //
                           "09990990",  //
                           "09190909",  //
                           "09990999",  //
                           "00000000"});
  SwoFilterParams params{.op = Op::fill_holes, .connectivity = 4};
  // The ring on the right is open only diagonally.
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
  // With the largest height, domes reach down to 0.
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
  // After the pass that reaches the end there is one that changes nothing.
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
    const bool tall = random() % 8 == 0;  // tall images are divided into bands for several threads
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
    // The result is between marker and mask.
    const SwoFilterParams params{.op = Op::reconstruct, .height = 40, .connectivity = connectivity};
    const Result once = filtered(p, params);
    for (std::size_t i = 0; i < p.samples.size(); ++i) {
      EXPECT_LE(once.samples[i], p.samples[i]);
      EXPECT_GE(once.samples[i], p.samples[i] - 40);
    }
    // Idempotent, if the marker does not depend on the image.
    const SwoFilterParams border{
        .op = Op::reconstruct, .marker = Marker::border, .connectivity = connectivity};
    const Result first = filtered(p, border);
    EXPECT_EQ(filtered({p.width, p.height, first.samples}, border), first);
    // Increasing: a larger mask makes no sample smaller.
    Picture larger = p;
    for (int &v : larger.samples) v = std::min<int>(v + random() % 30, 255);
    const Result more = filtered(larger, params);
    for (std::size_t i = 0; i < p.samples.size(); ++i) EXPECT_GE(more.samples[i], once.samples[i]);
    // The dome is the image minus the reconstruction.
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
  // A tile costs the same even if only few of its pixels are in the image.
  constexpr Size kFew[] = {{1, 1}, {1, 37}, {37, 1}, {33, 7}, {65, 40}, {129, 130}, {700, 3}};
  if (gpu_is_emulated())
    expect_cuda_equals_cpu(kParams, kFew);
  else
    expect_cuda_equals_cpu(kParams);
#endif
}

#ifdef HAVE_CUDA
/// There are more tiles than warps that run at a time.
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
  NEED_REAL_GPU();
  for (const SwoFilterParams &params :
       {SwoFilterParams{.op = Op::fill_holes}, SwoFilterParams{.op = Op::h_dome}}) {
    expect_cuda_equals_cpu_on_many_tiles<std::uint8_t>(params);
    expect_cuda_equals_cpu_on_many_tiles<std::uint16_t>(params);
  }
}
#endif

}  // namespace
}  // namespace cudascan::test
