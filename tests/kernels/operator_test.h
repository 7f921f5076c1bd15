// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Requirements for every operator: it stays inside its planes, its result depends only on samples
/// and parameters, and CUDA equals the CPU bit for bit.
///
///     CHECK_OPERATOR(Nick, NickParams, {}, {.window = 3}, {.window = 31, .k = -0.2});
///
/// defines three tests, for every sample type that the operator has a run() for.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/exec.h"
#include "tests/kernels/content.h"
#include "tests/kernels/images.h"

/// Defined by the emulated GPU alone.
extern "C" [[gnu::weak]] void cudascan_gpu_is_emulated();

namespace cudascan::test {

/// Whether the GPU is the emulated one, which needs 1 us or more for each pixel.
inline bool gpu_is_emulated() {
  return cudascan_gpu_is_emulated != nullptr;
}

/// Whether the operator has a run() from In to Out on an executor.
template <typename Params, typename In, typename Out>
concept Runs = requires(Cpu &cpu, Plane<const In> in, Plane<Out> out, const Params &params) {
  run(cpu, in, out, params);
};

/// Runs an operator on images in host memory, on the CPU.
class CpuRunner {
 public:
  explicit CpuRunner(int n_threads = 0) : cpu_(n_threads) {}

  template <typename In, typename Out, typename Params>
  void operator()(const Image<In> &in, Image<Out> &out, const Params &params) {
    run(cpu_, in.plane(), out.plane(), params);
  }

 private:
  Cpu cpu_;
};

/// A copy of an image in device memory, with the same guards and alignment.
class DeviceCopy {
 public:
  explicit DeviceCopy(CUstream_st *stream) : stream_(stream) {}

  template <typename T>
  Plane<T> upload(const Image<T> &image) {
    const auto bytes = image.memory().size();
    const auto begin = static_cast<unsigned char *>(buffer_.reserve(bytes));
    cuda::copy_rows(begin, bytes, image.memory().begin(), bytes, bytes, 1, stream_);
    const Plane<const T> plane = image.plane();
    return {reinterpret_cast<T *>(begin + image.offset()), plane.width, plane.height, plane.stride,
            plane.maximum};
  }
  /// Downloads the image including its guards.
  void download(unsigned char *to, std::size_t bytes) const {
    cuda::copy_rows(to, bytes, buffer_.data(), bytes, bytes, 1, stream_);
  }

 private:
  CUstream_st *stream_;
  cuda::DeviceBuffer buffer_;
};

/// Runs an operator on copies of images in device memory. All runs use the same copies, so scratch
/// memory and buffers hold data of the previous run.
class CudaRunner {
 public:
  template <typename In, typename Out, typename Params>
  void operator()(const Image<In> &in, Image<Out> &out, const Params &params) {
    const Plane<In> device_in = in_.upload(in);
    const Plane<Out> device_out = out_.upload(out);
    run(cuda_, Plane<const In>(device_in), device_out, params);
    out_.download(out.memory().begin(), out.memory().size());
    std::vector<unsigned char> in_after(in.memory().size());
    in_.download(in_after.data(), in_after.size());
    cuda_.synchronize();
    EXPECT_TRUE(std::equal(in_after.begin(), in_after.end(), in.memory().begin()))
        << "the input has changed";
  }

 private:
  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  DeviceCopy in_{stream_.get()}, out_{stream_.get()};
};

/// The outcome of a run: a result, or the message of a refusal.
template <typename Out>
struct Outcome {
  std::vector<Out> samples;
  std::string refused;
};

/// Runs an operator and checks that it changes only the samples of the output.
template <typename Out, typename In, typename Runner, typename Params>
Outcome<Out> outcome(Runner &runner, const Image<In> &in, Layout layout, Out maximum,
                     const Params &params, unsigned char fill) {
  Image<Out> out(in.width(), in.height(), layout, maximum, fill);
  try {
    runner(in, out, params);
  } catch (const BadSetting &e) {
    return {{}, e.what()};
  }
  EXPECT_TRUE(out.guards_intact());
  return {out.samples(), {}};
}

template <typename Params>
std::string describe(const Params &params, int index) {
  std::ostringstream s;
  s << "parameters " << index;
  if constexpr (requires { s << params; }) s << ": " << params;
  return s.str();
}

struct Size {
  int width, height;
};

/// Whether the address sanitizer is on. It makes tests many times slower, and finds wrong accesses
/// to memory in fewer and smaller images.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Single pixels, lines, narrower and wider than a warp, larger than a block, wide, high.
inline constexpr Size kSizes[] = {{1, 1},    {2, 2},    {1, 37},    {37, 1},    {31, 7},
                                  {33, 7},   {65, 40},  {257, 129}, {640, 480}, {1283, 719},
                                  {8209, 3}, {3, 8209}, {32768, 1}};
/// The sizes for the tests of an operator, which may specialise it.
template <typename Params>
std::span<const Size> sizes_of() {
  return kSizes;
}
inline constexpr Layout kLayouts[] = {
    {0, 0},        {1, 0},           {5, 3},       {64, 0},  {0, 1},
    {64, 16},      {0, 0, true},     {5, 0, true}, {3, 127}, {0, 16, false, 16},
    {.unit = 256}, {16, 0, true, 64}};

/// Calls check.operator()<In, Out>(maximum of In, maximum of Out, name) for each pair of formats
/// that the operator has a run() for.
template <typename Params, typename Check>
void for_each_format(const Check &check) {
  using std::uint16_t;
  using std::uint8_t;
  if constexpr (Runs<Params, uint8_t, uint8_t>)
    check.template operator()<uint8_t, uint8_t>(0xff, 0xff, "8 bit");
  if constexpr (Runs<Params, uint16_t, uint16_t>) {
    check.template operator()<uint16_t, uint16_t>(0xffff, 0xffff, "16 bit");
    check.template operator()<uint16_t, uint16_t>(0x3ff, 0x3ff, "10 low bits");
    check.template operator()<uint16_t, uint16_t>(0xffc0, 0xffc0, "10 high bits");
  }
  if constexpr (Runs<Params, uint16_t, uint8_t>) {
    check.template operator()<uint16_t, uint8_t>(0xffff, 0xff, "16 to 8 bit");
    check.template operator()<uint16_t, uint8_t>(0x3ff, 0xff, "10 low bits to 8 bit");
  }
  if constexpr (Runs<Params, float, float>)
    check.template operator()<float, float>(1, 1, "floating point");
}

/// All layouts of input and output and all numbers of threads give the same picture.
template <typename Params>
void expect_result_of_samples_alone(const std::vector<Params> &all_params) {
  CpuRunner one(1), two(2), three(3), seven(7);
  CpuRunner *const runners[] = {&one, &two, &three, &seven};
  for (int i = 0; const Params &params : all_params) {
    SCOPED_TRACE(describe(params, i++));
    int results = 0;
    for_each_format<Params>(
        [&]<typename In, typename Out>(In in_max, Out out_max, const char *name) {
          for (const auto [width, height] : kSizes) {
            if (width * height > 200'000) continue;
            SCOPED_TRACE(testing::Message() << name << ", " << width << "x" << height);
            const auto samples = make_content(Content::text, width, height, in_max);
            const Image<In> plain(samples, width, height, {}, in_max);
            const auto expected = outcome<Out>(one, plain, {}, out_max, params, 0x5a);
            results += expected.refused.empty();
            for (std::size_t l = 0; l < std::size(kLayouts); ++l) {
              if (kSanitized && width * height > 5000 && (l + l / 4 + i) % 4 != 0) continue;
              const Image<In> in(samples, width, height, kLayouts[l], in_max, 0x3c);
              const Layout out_layout = kLayouts[(2 * l + 1) % std::size(kLayouts)];
              const auto got = outcome<Out>(*runners[l % 4], in, out_layout, out_max, params, 0xc3);
              ASSERT_TRUE(same(expected.samples, got.samples, width)) << "layout " << l;
              ASSERT_EQ(expected.refused, got.refused);
              ASSERT_TRUE(in.guards_intact());
              ASSERT_TRUE(same(in.samples(), samples, width)) << "the input has changed";
            }
          }
        });
    EXPECT_GT(results, 0) << "every format was refused";
  }
}

#ifdef HAVE_CUDA
/// Whether there is time for a case. An emulated GPU runs few cases, on images that few warps
/// share.
inline bool has_time_for(std::size_t turn, Size size) {
  if (!gpu_is_emulated()) return true;
  constexpr int kOneOf = kSanitized ? 199 : 37;
  return turn % kOneOf == 0 && (size.width / 256 + 1) * size.height <= 400;
}

/// CUDA equals the CPU for all formats, contents and sizes, in changing layouts.
template <typename Params>
void expect_cuda_equals_cpu(const std::vector<Params> &all_params,
                            std::span<const Size> sizes = sizes_of<Params>()) {
  CpuRunner cpu;
  CudaRunner cuda;
  std::mt19937 random(1);
  std::vector<int> results(all_params.size());
  std::size_t turn = 0, skipped = 0;
  for_each_format<Params>([&]<typename In, typename Out>(In in_max, Out out_max, const char *name) {
    for (const auto [width, height] : sizes)
      for (const Content content : kContents) {
        std::vector<In> samples;
        for (std::size_t i = 0; i < all_params.size(); ++i) {
          if (testing::Test::HasFailure()) return;
          if (!has_time_for(++turn, {width, height})) {
            ++skipped;
            continue;
          }
          const Layout in_layout = kLayouts[random() % std::size(kLayouts)];
          const Layout out_layout = kLayouts[random() % std::size(kLayouts)];
          SCOPED_TRACE(testing::Message() << describe(all_params[i], static_cast<int>(i)) << ", "
                                          << name << ", " << width << "x" << height << ", content "
                                          << static_cast<int>(content) << ", turn " << turn);
          if (samples.empty()) samples = make_content(content, width, height, in_max);
          const Image<In> in(samples, width, height, in_layout, in_max);
          const auto expected = outcome<Out>(cpu, in, out_layout, out_max, all_params[i], 0x5a);
          const auto got = outcome<Out>(cuda, in, out_layout, out_max, all_params[i], 0xc3);
          ASSERT_TRUE(same(expected.samples, got.samples, width)) << "(CPU and CUDA)";
          ASSERT_EQ(expected.refused, got.refused);
          results[i] += expected.refused.empty();
        }
      }
  });
  if (skipped > 0 || testing::Test::HasFailure()) return;
  for (std::size_t i = 0; i < all_params.size(); ++i)
    EXPECT_GT(results[i], 0) << describe(all_params[i], static_cast<int>(i))
                             << ": every format was refused";
}

/// CUDA equals the CPU for one image. Results have this layout.
template <typename T, typename Params>
void expect_cuda_equals_cpu_on(const Params &params, const Image<T> &in, Layout layout = {}) {
  const T maximum = in.plane().maximum;
  SCOPED_TRACE(testing::Message() << params << ", maximum " << +maximum << ", " << in.width() << "x"
                                  << in.height() << ", offset " << layout.offset);
  CpuRunner cpu(1);
  CudaRunner cuda;
  EXPECT_TRUE(same(outcome<T>(cpu, in, layout, maximum, params, 0x5a).samples,
                   outcome<T>(cuda, in, layout, maximum, params, 0xc3).samples, in.width()));
}

/// CUDA equals the CPU for one image of all levels up to a maximum, in one layout.
template <typename T, typename Params>
void expect_cuda_equals_cpu_of(const Params &params, Size size, Layout layout = {},
                               T maximum = std::numeric_limits<T>::max(),
                               Content content = Content::random) {
  SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content));
  const Image<T> in(make_content<T>(content, size.width, size.height, maximum), size.width,
                    size.height, layout, maximum);
  expect_cuda_equals_cpu_on<T>(params, in, layout);
}

/// More samples than the threads of all blocks hold at a time.
inline Size many_samples() {
  return gpu_is_emulated() ? Size{1283, 719} : Size{5003, 3400};
}

/// CUDA equals the CPU for all formats on images of many_samples(). Rows begin at multiples of a
/// vector, then anywhere; an emulated GPU skips some of the deeper formats.
template <typename Params>
void expect_cuda_equals_cpu_on_many_samples(const Params &params) {
  CpuRunner cpu;
  CudaRunner cuda;
  const auto [width, height] = many_samples();
  int turn = 0;
  for_each_format<Params>([&]<typename In, typename Out>(In in_max, Out out_max, const char *name) {
    const auto samples = make_content(Content::text, width, height, in_max);
    for (const Layout layout : {Layout{.unit = 256}, Layout{0, 1}}) {
      if (gpu_is_emulated() && sizeof(In) > 1 && ++turn % 3 != 0) continue;
      SCOPED_TRACE(testing::Message() << name << ", offset " << layout.offset);
      const Image<In> in(samples, width, height, layout, in_max);
      const auto expected = outcome<Out>(cpu, in, layout, out_max, params, 0x5a);
      const auto got = outcome<Out>(cuda, in, layout, out_max, params, 0xc3);
      ASSERT_TRUE(same(expected.samples, got.samples, width));
      ASSERT_EQ(expected.refused, got.refused);
    }
  });
}

/// A stream of frames gives the same pictures on the CPU and with CUDA, and reports that
/// check(wanted, got) finds equal.
/// @param content_of  the content of a frame, by its number
/// @param forget_at   the frame before which the executors forget earlier frames
template <typename Report, typename T, typename Params, typename ContentOf, typename Check>
void expect_cuda_follows_cpu(const Params &params, T maximum, int frames, int forget_at,
                             const ContentOf &content_of, const Check &check) {
  constexpr int kWidth = 60, kHeight = 40;
  Cpu cpu;
  cuda::Stream stream;
  Cuda cuda(stream.get());
  DeviceCopy device_in(stream.get()), device_out(stream.get());
  for (int frame = 0; frame < frames; ++frame) {
    SCOPED_TRACE(testing::Message() << "maximum " << +maximum << ", frame " << frame);
    if (frame == forget_at) cpu.forget(), cuda.forget();
    const Image<T> in(make_content<T>(content_of(frame), kWidth, kHeight, maximum, frame), kWidth,
                      kHeight, {}, maximum);
    Image<T> expected(kWidth, kHeight, {}, maximum), out(kWidth, kHeight, {}, maximum);
    Report wanted, got;
    run(cpu, in.plane(), expected.plane(), params, &wanted);
    const Plane<T> from = device_in.upload(in), to = device_out.upload(out);
    run(cuda, Plane<const T>(from), to, params, &got);
    device_out.download(out.memory().begin(), out.memory().size());
    cuda.synchronize();
    ASSERT_TRUE(same(expected.samples(), out.samples(), kWidth));
    check(wanted, got);
  }
}

#endif

}  // namespace cudascan::test

/// Skips a CUDA test if there is no GPU. With REQUIRE_GPU=1 in the environment it fails instead.
#define NEED_GPU()                                               \
  if (!::cudascan::Cuda::available()) {                          \
    const char *const require_gpu = std::getenv("REQUIRE_GPU");  \
    if (require_gpu && std::string_view(require_gpu) == "1")     \
      FAIL() << "REQUIRE_GPU=1, but no CUDA device can be used"; \
    GTEST_SKIP() << "no CUDA device can be used";                \
  }                                                              \
  static_assert(true)

/// Skips a CUDA test that takes long on the emulated GPU, too.
#define NEED_REAL_GPU()                                                                    \
  NEED_GPU();                                                                              \
  if (::cudascan::test::gpu_is_emulated()) GTEST_SKIP() << "too slow on the emulated GPU"; \
  static_assert(true)

#ifdef HAVE_CUDA
#define CHECK_CUDA_OPERATOR(Name, Params, ...)                       \
  TEST(Name, CudaEqualsCpu) {                                        \
    NEED_GPU();                                                      \
    ::cudascan::test::expect_cuda_equals_cpu<Params>({__VA_ARGS__}); \
  }                                                                  \
  static_assert(true)
#else
#define CHECK_CUDA_OPERATOR(Name, Params, ...) static_assert(true)
#endif

/// Defines the tests that every operator must pass, with a list of parameters for them.
#define CHECK_OPERATOR(Name, Params, ...)                                    \
  TEST(Name, CpuResultDependsOnSamplesAlone) {                               \
    ::cudascan::test::expect_result_of_samples_alone<Params>({__VA_ARGS__}); \
  }                                                                          \
  CHECK_CUDA_OPERATOR(Name, Params, __VA_ARGS__)
