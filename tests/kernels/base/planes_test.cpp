// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/planes.h"

#include <climits>
#include <concepts>
#include <mutex>

#include "all_operators.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;

TEST(Plane, RowsAreStrideBytesApart) {
  std::uint16_t samples[12] = {};
  const Plane<std::uint16_t> plane{samples, 3, 3, 8};
  EXPECT_EQ(plane.row(0), samples);
  EXPECT_EQ(plane.row(2), samples + 8);
  EXPECT_EQ(plane.maximum, 65535);
  const Plane<const std::uint16_t> view = plane;
  EXPECT_EQ(view.row(1), samples + 4);
}

TEST(Plane, BitDepthOfAMaximum) {
  EXPECT_EQ(bit_depth(255), 8);
  EXPECT_EQ(bit_depth(1023), 10);
  EXPECT_EQ(bit_depth(4095), 12);
  EXPECT_EQ(bit_depth(0xffc0), 16);
  EXPECT_EQ(bit_depth(65535), 16);
}

TEST(Plane, UnusedLowBitsOfAMaximum) {
  EXPECT_EQ(unused_low_bits(255), 0);
  EXPECT_EQ(unused_low_bits(4095), 0);
  EXPECT_EQ(unused_low_bits(0xffc0), 6);
  EXPECT_EQ(unused_low_bits(0xfff0), 4);
  EXPECT_EQ(unused_low_bits(0), 0);
}

TEST(Cpu, BandsCoverEveryRowOnce) {
  for (int threads : {1, 2, 3, 7})
    for (int rows : {1, 2, 5, 64, 1000})
      for (int min_rows : {0, 1, 16, 5000}) {
        Cpu cpu(threads);
        EXPECT_EQ(cpu.threads(), threads);
        std::vector<int> visits(rows);
        cpu.for_bands(rows, min_rows, [&](int begin, int end) {
          EXPECT_LT(begin, end);
          EXPECT_GE(end - begin, std::min(min_rows, rows));
          for (int y = begin; y < end; ++y) ++visits[y];
        });
        EXPECT_EQ(visits, std::vector<int>(rows, 1)) << threads << " threads";
      }
}

TEST(Cpu, ExceptionOfABandReachesTheCaller) {
  for (int threads : {1, 4}) {
    Cpu cpu(threads);
    EXPECT_THROW(cpu.for_bands(64, 1, [](int, int) { throw BadSetting("no"); }), BadSetting);
    int rows = 0;
    cpu.for_bands(1, 1, [&](int begin, int end) { rows += end - begin; });
    EXPECT_EQ(rows, 1) << "the executor cannot be used after an exception";
  }
}

TEST(Cpu, ZeroThreadsAndLessMeanAllCores) {
  EXPECT_GE(Cpu(0).threads(), 1);
  EXPECT_EQ(Cpu(-1).threads(), Cpu(0).threads());
  EXPECT_EQ(Cpu(INT_MIN).threads(), Cpu(0).threads());
}

/// Ten million threads once needed more memory than there is.
TEST(Cpu, AnyNumberOfThreadsWillDo) {
  for (const int threads : {65, 10'000'000, INT_MAX}) {
    Cpu cpu(threads);
    EXPECT_EQ(cpu.threads(), std::max(64, Cpu(0).threads()));
    int rows = 0;
    std::mutex mutex;
    cpu.for_bands(1000, 1, [&](int begin, int end) {
      const std::lock_guard lock(mutex);
      rows += end - begin;
    });
    EXPECT_EQ(rows, 1000);
    cpu.set_threads(2);
    cpu.set_threads(threads);
    EXPECT_EQ(cpu.threads(), std::max(64, Cpu(0).threads()));
  }
}

TEST(CudaExecutor, ScratchGrowsAndIsAligned) {
  NEED_GPU();
  Cuda cuda;
  for (const std::size_t bytes : {1, 1000, 100, 1'000'000}) {
    void *const device = cuda.scratch(bytes);
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device) % 256, 0u);
  }
  void *const largest = cuda.scratch(1'000'000);
  EXPECT_EQ(cuda.scratch(5), largest) << "scratch memory was freed";
  EXPECT_GT(cuda.multiprocessors(), 0);
  EXPECT_GE(cuda.code_architecture(), 50);
}

TEST(CudaExecutor, ReportMemoryIsNotSharedBeforeSynchronize) {
  NEED_GPU();
  Cuda cuda;
  void *const first = cuda.report_memory(100), *const second = cuda.report_memory(100);
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first, second);
  std::memset(first, 1, 100);
  cuda.synchronize();
  EXPECT_EQ(cuda.report_memory(100), first) << "the memory was freed";
}

TEST(CudaExecutor, SynchronizeCallsBackOnce) {
  NEED_GPU();
  Cuda cuda;
  int calls = 0;
  cuda.on_complete([&] { ++calls; });
  cuda.on_complete([&] { calls += 10; });
  EXPECT_EQ(calls, 0);
  cuda.synchronize();
  EXPECT_EQ(calls, 11);
  cuda.synchronize();
  EXPECT_EQ(calls, 11);
}

TEST(CudaExecutor, SynchronizeWaitsAsleepToo) {
  NEED_GPU();
  constexpr std::size_t bytes = 1 << 24;
  cuda::DeviceBuffer device(bytes);
  cuda::PinnedBuffer in(bytes), out(bytes);
  Cuda cuda;
  cuda.sleep_while_waiting();
  for (int round = 1; round < 4; ++round) {
    std::memset(in.data(), round, bytes);
    bool is_there = false;
    cuda::copy_rows(device.data(), bytes, in.data(), bytes, bytes, 1, cuda.stream());
    cuda.fetch(out.data(), device.data(), bytes);
    cuda.on_complete([&] { is_there = std::memcmp(in.data(), out.data(), bytes) == 0; });
    cuda.synchronize();
    EXPECT_TRUE(is_there) << "round " << round;
  }
}

TEST(CudaResources, EventsOrderStreams) {
  NEED_GPU();
  constexpr std::size_t bytes = 1 << 24;
  cuda::Stream producer, consumer;
  cuda::DeviceBuffer device(bytes);
  cuda::PinnedBuffer in(bytes), out(bytes);
  std::memset(in.data(), 0x5a, bytes);
  std::memset(out.data(), 0, bytes);
  cuda::Event begin(true), end(true);
  EXPECT_TRUE(begin.done()) << "an event must be done before the first record()";
  begin.record(producer.get());
  cuda::copy_rows(device.data(), bytes, in.data(), bytes, bytes, 1, producer.get());
  end.record(producer.get());
  end.make_wait(consumer.get());
  cuda::copy_rows(out.data(), bytes, device.data(), bytes, bytes, 1, consumer.get());
  consumer.synchronize();
  EXPECT_TRUE(end.done());
  EXPECT_GT(end.elapsed_ns(begin), 0);
  EXPECT_EQ(std::memcmp(in.data(), out.data(), bytes), 0);
}

TEST(CudaResources, RowsAreCopiedFromAnywhereAndInAnyOrder) {
  NEED_GPU();
  constexpr int kRow = 5, kHeight = 7, kPitch = 9;
  std::vector<unsigned char> in(kPitch * kHeight), out(kPitch * kHeight);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i);
  cuda::Stream stream;
  cuda::DeviceBuffer device(kPitch * kHeight);
  const auto upside_down = [](auto *data) { return data + (kHeight - 1) * kPitch; };
  cuda::copy_rows(static_cast<unsigned char *>(device.data()) + 1, kRow, upside_down(in.data()),
                  -kPitch, kRow, kHeight, stream.get());
  cuda::copy_rows(upside_down(out.data()), -kPitch, static_cast<unsigned char *>(device.data()) + 1,
                  kRow, kRow, kHeight, stream.get());
  stream.synchronize();
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kPitch; ++x)
      ASSERT_EQ(out[y * kPitch + x], x < kRow ? in[y * kPitch + x] : 0) << x << ", " << y;
}

TEST(CudaResources, ABufferIsEmptyAfterItCouldNotGrow) {
  NEED_GPU();
  // exceeds the address space
  constexpr std::size_t kTooMuch = std::size_t{1} << 60;
  const auto check = [](auto buffer) {
    buffer.reserve(16);
    EXPECT_THROW(buffer.reserve(kTooMuch), Error);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(buffer.size(), 0u);
    EXPECT_NE(buffer.reserve(8), nullptr);
    EXPECT_EQ(buffer.size(), 8u);
  };
  check(cuda::DeviceBuffer());
  check(cuda::PinnedBuffer());
}

/// Without a device, each use of one throws an Error and does not crash.
TEST(ResourcesWithoutADevice, ThrowErrors) {
  if (Cuda::available()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(cuda::DeviceBuffer(16), Error);
  EXPECT_THROW(cuda::PinnedBuffer(16), Error);
  EXPECT_THROW(cuda::Stream(), Error);
  EXPECT_THROW(cuda::Event(), Error);
  Cuda cuda;
  EXPECT_THROW(cuda.scratch(16), Error);
  EXPECT_THROW(cuda.multiprocessors(), Error);
  EXPECT_THROW(cuda.cache_bytes(), Error);
  EXPECT_THROW(cuda.code_architecture(), Error);
}

/// copy() and fill() as operators, so that they are tested like operators.
struct CopyParams {};
struct FillParams {
  int value = 0;
};
template <typename Exec, std::unsigned_integral T>
void run(Exec &exec, Plane<const T> in, Plane<T> out, const CopyParams &) {
  copy(exec, in, out);
}
template <typename Exec, std::unsigned_integral T>
void run(Exec &exec, Plane<const T>, Plane<T> out, const FillParams &params) {
  fill(exec, out, static_cast<T>(params.value));
}

CHECK_OPERATOR(Copy, CopyParams, {});
CHECK_OPERATOR(Fill, FillParams, {0}, {128}, {0x1234}, {0xffff});

template <typename T>
class PlanesOf : public testing::Test {};
using Samples = testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(PlanesOf, Samples);

TYPED_TEST(PlanesOf, CopyCopiesAndFillFills) {
  const auto samples =
      test::make_content<TypeParam>(test::Content::random, 101, 203, Plane<TypeParam>{}.maximum);
  const Image<TypeParam> in(samples, 101, 203, {.padding = 5});
  Image<TypeParam> out(101, 203, {.padding = 2, .offset = 3});
  Cpu cpu;
  copy(cpu, in.plane(), out.plane());
  EXPECT_TRUE(test::same(out.samples(), samples, 101));
  fill(cpu, out.plane(), TypeParam{200});
  EXPECT_EQ(out.samples(), std::vector<TypeParam>(samples.size(), 200));
  EXPECT_TRUE(out.guards_intact());
}

template <typename Params>
class PlanesOfOperator : public testing::Test {};
#define AND_PARAMS(op, Name) , Name##Params
using AllParams = testing::Types<HistogramParams CUDASCAN_ALL_OPERATORS(AND_PARAMS)>;
TYPED_TEST_SUITE(PlanesOfOperator, AllParams);

/// count() as an operator that counts the input and the output.
template <typename T>
void run(Cpu &cpu, Plane<const T> in, Plane<T> out, const HistogramParams &params) {
  Histogram counts;
  count(cpu, in, params, counts);
  count(cpu, Plane<const T>(out), params, counts);
}

/// The message of a run on two planes anywhere in a large memory; empty if there is none.
template <typename Params, typename T>
std::string refusal(Plane<T> in, Plane<T> out) {
  Cpu cpu(1);
  try {
    run(cpu, Plane<const T>(in), out, Params{});
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

template <typename T>
Plane<T> shifted(Plane<T> plane, int bytes, std::ptrdiff_t stride) {
  plane.data = reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(plane.data) + bytes);
  plane.stride = stride;
  return plane;
}

TYPED_TEST(PlanesOfOperator, ThatAreNotAlignedAreRefused) {
  Image<std::uint16_t> a(20, 8, {.padding = 40}), b(20, 8, {.padding = 40});
  const Plane<std::uint16_t> in = a.plane(), out = b.plane();
  EXPECT_EQ(refusal<TypeParam>(in, out), "");
  EXPECT_EQ(refusal<TypeParam>(shifted(in, 2, 42), shifted(out, 6, 46)), "");
  EXPECT_PRED2(contains, refusal<TypeParam>(shifted(in, 1, 42), out), "data of the input plane");
  EXPECT_PRED2(contains, refusal<TypeParam>(shifted(in, 0, 43), out),
               "the stride of the input plane, 43, must be a multiple of 2");
  if constexpr (std::is_same_v<TypeParam, HistogramParams>) return;
  EXPECT_PRED2(contains, refusal<TypeParam>(in, shifted(out, 1, 42)), "data of the output plane");
  EXPECT_PRED2(contains, refusal<TypeParam>(in, shifted(out, 0, 43)),
               "stride of the output plane, 43");
}

TYPED_TEST(PlanesOfOperator, WithRowsThatOverlapOrGoUpAreRefused) {
  Image<std::uint8_t> a(20, 8, {.padding = 40}), b(20, 8, {.padding = 40});
  const Plane<std::uint8_t> in = a.plane(), out = b.plane();
  for (const int stride : {19, 0, -1, -20, -60})
    EXPECT_PRED2(
        contains, refusal<TypeParam>(shifted(in, 0, stride), out),
        "the stride of the input plane, " + std::to_string(stride) + ", must be at least 20");
  Plane<std::uint8_t> one_row_in = shifted(in, 1, 0), one_row_out = shifted(out, 1, 0);
  one_row_in.height = one_row_out.height = 1;
  EXPECT_EQ(refusal<TypeParam>(one_row_in, one_row_out), "");
}

}  // namespace
}  // namespace cudascan
