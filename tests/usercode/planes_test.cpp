// SPDX-License-Identifier: LGPL-2.1-or-later
// For large windows, the built-in operators compute minima, maxima and medians. The pictures must
// equal those of filters that compute them themselves, as with a value of `reads`.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/headers.h"
#include "kernels/usercode/window_calls.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

using Border = SwoFilterBorder;
using Reads = UserFilterReads;

SwoFilterParams formula(const std::string &expression, int width, int height,
                        Border border = Border::clip) {
  SwoFilterParams p{.op = SwoFilterOperator::custom,
                    .window_width = width,
                    .window_height = height,
                    .border = border,
                    .border_value = 77};
  p.custom.expression = expression;
  p.custom.constants = {{"gain", 0.75}};
  p.custom.cache_dir = "";
  return p;
}

SwoFilterParams without_planes(SwoFilterParams p) {
  p.custom.reads = Reads::global;
  return p;
}

// ---- The planes that a text needs ---------------------------------------------------------------

gswo::WindowCalls calls(const std::string &names) {
  const auto has = [&](const char *name) { return names.find(name) != names.npos; };
  return {has("min"),   has("max"),    has("median"),
          has("order"), has("sums"),   has("squares"),
          has("count"), has("others"), {}};
}

TEST(GswoPlanes, AreAskedForInTheText) {
  const struct {
    const char *text, *asks;
  } kTexts[] = {
      {"p", ""},
      {"p.min()", "min"},
      {"p.max() - p . min (\n)", "min max"},
      {"sqrt(p.median()) + p", "median"},
      {"maximum - p.median() / min(x, y)", "median"},
      {"p.min() + p(1, 0)", "min others"},
      {"p.max() * p.mean()", "max sums"},
      {"p.deviation() + p(0, 1)", "sums squares others"},
      {"p.variance() / p.count()", "sums squares count"},
      {"sum + variance() - count", ""},
      {"p.max() + p.rank(p.count() / 3)", "max order count others"},
      {"p.rank(-1)", "order others"},
      {"rank(3)", "order others"},
      {"std::min(p, 3.f)", ""},
      {"p.min", ""},
      {"p.min(3)", ""},
      {"min()", ""},
      {"std::numeric_limits<float>::min()", ""},
      {"// p.min()\np", ""},
      {"p // p.min()", ""},
      {"/* p.min()\n p.max() */ p.median()", "median"},
      {"p /* p.min()", ""},
      {"p.min(/* of all */)", "min"},
      {"f(\"p.min()\") + p.max()", "max"},
      {"f(\"\\\"p.min()\") + p.max()", "max"},
      {"f('\"') + p.max()", "max"},
      {"1'000 + p.max() + 1'0", "max"},
      {"1.5.min() + p.max()", "max"},
      {"f(R\"(p.min() \" )\") + p.max()", "max"},
      {"f(R\"x(p.min() )\" )x\") + p.max()", "max"},
      {"f(R\"x(p.min() ", ""},
      {"\"p.min()", ""},
      {"p.max() + 'p", "max"},
      {"\\", ""},
      {"\"\\", ""},
      {"float filter(auto w) { return w.min() + w(1, 1); }", "min others"},
      {"float filter(const auto &w) { return w.min() + w; }", "min"},
      {"float filter(auto const& w) { return w(0, 1) + w.max(); }", "max others"},
      {"float filter(auto p) { float v[9]; sort(v, v + 9); return p.max(); }", "max order others"},
      {"float filter(auto p) { p.each([&](float, int, int) {}); return p.max(); }", "max others"},
      {"float filter(auto p) { float sum = p.max(); return sum; }", "max"},
  };
  for (const auto &[text, asks] : kTexts)
    EXPECT_EQ(gswo::window_calls(text), calls(asks)) << text << ": not " << asks;
}

TEST(GswoPlanes, OfRanksAreAskedForInTheText) {
  using Ranks = std::vector<gswo::RankCall>;
  const auto ranks = [](const char *text) { return gswo::window_calls(text).ranks; };
  EXPECT_EQ(ranks("p.rank(3) + p.percentile( 2.5f ) + p.rank(k)"),
            (Ranks{{false, "3"}, {true, "2.5f"}, {false, "k"}}));
  EXPECT_EQ(ranks("p.rank(k + 1) + rank(3) // p.rank(3)"), Ranks{});
}

/// The filter's code for the GPU.
std::string code(const SwoFilterParams &p) {
  Cpu cpu(1);
  const auto in = picture({4, 4});
  Image<std::uint8_t> out(4, 4);
  run(cpu, in.plane(), out.plane(), p);
  return code_of(cpu)->cuda_source;
}

TEST(GswoPlanes, AreInTheCode) {
  const char *const kAlone =
      "#define GSWO_CHUNK_WIDTH 4\n#define GSWO_CHUNK_HEIGHT 4\n"
      "#define GSWO_TILE 0\n#define GSWO_TEXTURE 0\n";
  const std::string both = code(formula("p.median() - p.min() + p", 31, 31));
  EXPECT_TRUE(has(both, "#ifndef GSWO_PLANES\n#define GSWO_PLANES 5\n#endif\n"));
  EXPECT_TRUE(has(both, "With -DGSWO_PLANES=0"));
  EXPECT_TRUE(has(both, kAlone)) << "the rest needs no tile";
  EXPECT_TRUE(has(code(formula("p.max()", 3, 5)), "#define GSWO_PLANES 2\n"));
  const std::string more = code(formula("p.max() - p.mean()", 5, 5));
  EXPECT_TRUE(has(more, "#define GSWO_PLANES 2\n"));
  EXPECT_TRUE(has(more, "#define GSWO_TILE 1\n"));
  EXPECT_TRUE(has(code(formula("p.median() + p(1, 0)", 5, 5)),
                  "#define GSWO_CHUNK_WIDTH 2\n#define GSWO_CHUNK_HEIGHT 8\n"))
      << "the rest sorts nothing";

  std::vector<SwoFilterParams> none{formula("p.max()", 3, 3), formula("p.rank(3)", 3, 5),
                                    formula("p /* p.max() */", 5, 5)};
  for (const Reads reads : {Reads::global, Reads::shared, Reads::texture}) {
    none.push_back(formula("p.max()", 5, 5));
    none.back().custom.reads = reads;
  }
  for (const char *shape : {"ellipse", "cross", "11111;11111;11011"}) {
    none.push_back(formula("p.max()", 5, 5));
    none.back().shape = shape;
  }
  for (const SwoFilterParams &p : none)
    EXPECT_FALSE(has(code(p), "GSWO_PLANES")) << p.custom.expression << ", shape " << p.shape
                                              << ", reads " << static_cast<int>(p.custom.reads);
}

// ---- Equal pictures -----------------------------------------------------------------------------

constexpr Border kBorders[] = {Border::clip, Border::replicate, Border::reflect, Border::constant};
/// Frames with more pixels, and with fewer pixels, than the windows.
constexpr Size kFrames[] = {{131, 71}, {70, 9}, {9, 40}, {64, 32}, {5, 4}, {1, 33}, {1, 1}};
constexpr Layout kLayouts[] = {{.unit = 256}, {5, 3}, {5, 0, true}};

const char *const kExpressions[] = {"p.min()", "maximum - p.median() + p.min() / 3",
                                    "p.max() - p.min() > p.median() * gain ? p(2, -1) : p.max()",
                                    "p.median() + p.mean() / 4 + p(3, 0) / 8",
                                    "x < 0.5 ? p.max() : p"};
constexpr Size kWindows[] = {{5, 5}, {15, 3}, {11, 1}, {1, 13}, {3, 9}, {7, 7}, {31, 31}, {9, 25}};

/// @param step  tests one of this many combinations of window and border
template <typename T, typename Runner>
void expect_same(Runner &runner, T maximum, int step) {
  CpuRunner cpu;
  int turn = 0;
  for (const char *expression : kExpressions)
    for (const Size window : kWindows)
      for (const Border border : kBorders) {
        if (turn++ % step != 0) continue;
        const SwoFilterParams p = formula(expression, window.width, window.height, border);
        for (const Size size : kFrames) {
          const Layout layout = kLayouts[turn % 3];
          SCOPED_TRACE(testing::Message()
                       << expression << ", window " << window.width << " x " << window.height
                       << ", border " << static_cast<int>(border) << ", maximum " << +maximum
                       << ", frame " << size.width << " x " << size.height);
          const Content content = turn % 2 ? Content::random : Content::text;
          const Image<T> in(make_content<T>(content, size.width, size.height, maximum), size.width,
                            size.height, layout, maximum);
          ASSERT_TRUE(
              same(filtered(cpu, in, without_planes(p)), filtered(runner, in, p), size.width));
        }
      }
}

TEST(GswoPlanes, ChangeNoPicture) {
  CpuRunner cpu(2);
  expect_same<std::uint8_t>(cpu, 0xff, 13);
  expect_same<std::uint16_t>(cpu, 0xffff, 53);
  expect_same<std::uint16_t>(cpu, 0xffc0, 81);
  expect_same<std::uint16_t>(cpu, 0x3ff, 107);
}
#ifdef HAVE_CUDA
TEST(GswoPlanesCuda, ChangeNoPicture) {
  NEED_GPU();
  CudaRunner cuda;
  expect_same<std::uint8_t>(cuda, 0xff, 13);
  expect_same<std::uint16_t>(cuda, 0xffff, 53);
  expect_same<std::uint16_t>(cuda, 0xffc0, 81);
  expect_same<std::uint16_t>(cuda, 0x3ff, 107);
}
#endif

/// The unused low bits of samples have no effect.
template <typename Runner>
void expect_unused_bits_unused(Runner &runner) {
  constexpr Size kSize{40, 30};
  auto samples = make_content<std::uint16_t>(Content::random, kSize.width, kSize.height, 0xffc0);
  const Image<std::uint16_t> clean(samples, kSize.width, kSize.height, {}, 0xffc0);
  std::mt19937 random(5);
  for (std::uint16_t &sample : samples) sample = static_cast<std::uint16_t>(sample | random() % 64);
  const Image<std::uint16_t> noisy(samples, kSize.width, kSize.height, {}, 0xffc0);
  const SwoFilterParams p = formula("p.max() - p.median() / 2 - p.min() / 4", 5, 7);
  EXPECT_TRUE(same(filtered(runner, clean, p), filtered(runner, noisy, p), kSize.width));
}
TEST(GswoPlanes, DoNotSeeUnusedBits) {
  CpuRunner cpu(1);
  expect_unused_bits_unused(cpu);
}
#ifdef HAVE_CUDA
TEST(GswoPlanesCuda, DoNotSeeUnusedBits) {
  NEED_GPU();
  CudaRunner cuda;
  expect_unused_bits_unused(cuda);
}
#endif

/// Each frame has another picture, size, window, formula and real number.
template <typename Runner>
void expect_changes_to_be_followed(Runner &runner) {
  CpuRunner cpu;
  SwoFilterParams ellipse = formula("p.max() * gain", 5, 5), texture = formula("p.max()", 5, 5);
  ellipse.shape = "ellipse";
  texture.custom.reads = Reads::texture;
  const SwoFilterParams kParams[] = {formula("p.max() * gain", 5, 5),
                                     formula("p.max() * gain", 7, 5),
                                     ellipse,
                                     formula("p.max() * gain", 3, 3),
                                     texture,
                                     formula("p.median() - p.min()", 5, 5, Border::constant),
                                     formula("p", 5, 5)};
  const Size kSizes[] = {{33, 20}, {70, 41}, {3, 2}};
  unsigned frame = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (SwoFilterParams p : kParams) {
      p.border_value = static_cast<int>(50 + frame);
      p.custom.constants = {{"gain", 0.25 + frame / 32.}};
      const Size size = kSizes[frame / 2 % 3];
      const Image<std::uint8_t> in(
          make_content<std::uint8_t>(Content::random, size.width, size.height, 0xff, frame),
          size.width, size.height);
      EXPECT_TRUE(same(filtered(cpu, in, without_planes(p)), filtered(runner, in, p), size.width))
          << "frame " << frame << ", " << p.custom.expression;
      ++frame;
    }
}
TEST(GswoPlanes, FollowWhatChanges) {
  CpuRunner cpu(2);
  expect_changes_to_be_followed(cpu);
}
#ifdef HAVE_CUDA
TEST(GswoPlanesCuda, FollowWhatChanges) {
  NEED_GPU();
  CudaRunner cuda;
  expect_changes_to_be_followed(cuda);
}
#endif

/// Runs a file, changes its text, and runs it until the new text is in use.
template <typename Runner>
void expect_files_to_be_followed(Runner &runner) {
  CpuRunner cpu;
  const Files files;
  const auto in = picture({40, 30}, Content::random);
  SwoFilterParams p = formula("", 7, 5);
  p.custom.reload = true;
  for (const char *result : {"p.min()", "p + 1", "p.median() - p.max() / 2 + gain", "hidden(p)"}) {
    const std::string text =
        "#define hidden(p) p.LARGEST\n#define LARGEST max()\n"
        "float filter(auto p) { return " +
        std::string(result) + "; }\n";
    p.custom.source = files.write("f.cpp", text);
    SwoFilterParams q = without_planes(p);
    q.custom.source = files.write("g.cpp", text);
    q.custom.reload = false;
    CpuRunner fresh;
    const auto expected = filtered(fresh, in, q);
    bool seen = false;
    for (int i = 0; i < 600 && !seen; ++i) {
      seen = static_cast<bool>(same(expected, filtered(runner, in, p), in.width()));
      if (!seen) usleep(50000);
    }
    EXPECT_TRUE(seen) << result;
  }
}
TEST(GswoPlanes, FollowTheFile) {
  CpuRunner cpu(1);
  expect_files_to_be_followed(cpu);
}
#ifdef HAVE_CUDA
TEST(GswoPlanesCuda, FollowTheFile) {
  NEED_GPU();
  CudaRunner cuda;
  expect_files_to_be_followed(cuda);
}

TEST(GswoPlanesCuda, StayWhenTilesAreTuned) {
  NEED_GPU();
  const gswo::PrivateFolder folder, emitted;
  CudaRunner cuda;
  CpuRunner cpu;
  for (const char *expression : {"p.median() - p.min()", "p.max() - p.mean()"}) {
    SwoFilterParams p = formula(expression, 5, 5);
    const auto in = picture({67, 31}, Content::random);
    const auto expected = filtered(cpu, in, without_planes(p));
    p.custom.tune = true;
    p.custom.cache_dir = folder.path();
    p.custom.emit_cuda = emitted.path() + "/x.cu";
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(same(expected, filtered(cuda, in, p), in.width()));
    EXPECT_TRUE(has(read_file(p.custom.emit_cuda), "#define GSWO_PLANES ")) << expression;
  }
}

/// The emitted code also works without planes.
TEST(GswoPlanesCuda, CanBeLeftOutOfTheCode) {
  NEED_GPU();
  constexpr Size kSize{128, 64};  // two blocks of the tile in the code, and some for the edges
  struct Frame {
    void *data;
    long long stride;
    int width, height;
    unsigned long long texture;
  };
  SwoFilterParams p = formula("p.median() - p.min() / 2", 5, 5);
  p.custom.tile_width = 32;
  p.custom.tile_height = 16;
  const auto in = picture(kSize, Content::random);
  CpuRunner cpu;
  const auto expected = filtered(cpu, in, without_planes(p));
  const std::string text = "#define GSWO_PLANES 0\n" + code(p);
  ASSERT_TRUE(has(text, "#define GSWO_PLANES 4") || has(text, "#define GSWO_PLANES 5"));
  ASSERT_TRUE(has(text, "#define GSWO_BLOCK_WIDTH 8\n#define GSWO_BLOCK_HEIGHT 4\n"));
  gswo::GpuModule module(gswo::compile_for_gpu({{"emitted.cu", text}, gswo::headers(), {}},
                                               gswo::gpu_architecture(), {""}));
  const cuda::Stream stream;
  DeviceCopy from(stream.get()), to(stream.get());
  Image<std::uint8_t> out(kSize.width, kSize.height);
  const auto frame = [](const Plane<std::uint8_t> &plane) {
    return Frame{plane.data, plane.stride, plane.width, plane.height, 0};
  };
  Frame source = frame(from.upload(in)), result = frame(to.upload(out));
  void *args[] = {&source, &result};
  module.launch("gswo_filter", kSize.width / 32, kSize.height / 16 + 2, 8, 4, stream.get(), args);
  to.download(out.memory().begin(), out.memory().size());
  stream.synchronize();
  EXPECT_TRUE(same(expected, out.samples(), kSize.width));
}
#endif

}  // namespace
}  // namespace cudascan::test
