// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources with pragmas in the library, compared with their own functions. These are compiled
// unchanged and run on an image with a margin of border pixels. The sources have features that
// those of examples/gswo do not have.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/usercode/examples.h"
#include "tests/usercode/pragmas.h"

// The functions of tests/gswo/sources.
extern "C" {
void convolve(float **, float **, int, int, float);
void denoise(float **, float *, float **, int, int, int);
void language(float **, float **, int, int, int, float);
void rank(const unsigned char *, unsigned char *, int, int, int, int);
void shift(float **, float **, int, int);
void steps(int **, int **, int, int);
void swapped(float **, float **, std::size_t, std::size_t);
}

// Functions of examples/gswo/loops.
void bilateral(float **, float **, int, int);
void census(unsigned short **, unsigned short **, int, int);
void diffusion(float **, float **, int, int, float, float);
void kuwahara(unsigned char **, unsigned char **, int, int);

namespace sequential {
#include "tests/gswo/sources/opening.c"
#undef H
#undef W
#undef MIN2
}  // namespace sequential

namespace cudascan::test {
namespace {

using Border = SwoFilterBorder;

constexpr int kMargin = 6;
constexpr int kOutside = 9;
constexpr Size kSizes[] = {{1, 1}, {3, 2}, {37, 23}, {61, 40}};

std::string source(const std::string &name) {
  return GSWO_SOURCES "/" + name;
}

/// Converts a result of the user's type to a sample.
template <typename Sample>
Sample stored(double v) {
  const double highest = std::numeric_limits<Sample>::max();
  return std::isnan(v) ? Sample(0) : static_cast<Sample>(std::round(std::clamp(v, 0.0, highest)));
}

/// Compares a filter with a function `call(in, out, size)` on rows of T; `out` starts as a copy of
/// the input.
template <typename Sample, typename T, typename Runner, typename Call>
void expect_function(Runner &runner, SwoFilterParams p, Call call) {
  p.border_value = p.border == Border::constant ? kOutside : 0;
  const Border border = p.border == Border::clip ? Border::replicate : p.border;
  for (const Size size : kSizes) {
    SCOPED_TRACE(testing::Message() << p.custom.source << ", border " << static_cast<int>(p.border)
                                    << ", " << size.width << "x" << size.height);
    const auto in = picture<Sample>(size, Content::random);
    Rows<T> from(in.samples(), size, kMargin, border, kOutside),
        to(in.samples(), size, kMargin, border, kOutside);
    call(from, to, size);
    std::vector<Sample> expected;
    for (const T v : to.samples()) expected.push_back(stored<Sample>(static_cast<double>(v)));
    ASSERT_TRUE(same(expected, filtered(runner, in, p), size.width));
  }
}

SwoFilterParams sources(const std::string &name, Border border, Constants constants = {}) {
  SwoFilterParams p = source_filter(source(name), std::move(constants));
  p.border = border;
  return p;
}

constexpr std::int64_t operator""_whole(unsigned long long n) {
  return static_cast<std::int64_t>(n);
}

/// A default argument, a real number, and a table of the window; accumulates in the output.
template <typename Runner>
void expect_accumulate(Runner &runner) {
  for (const float k : {40.f, 90.f})
    expect_function<std::uint8_t, float>(
        runner,
        sources("accumulate.cpp", Border::constant,
                k == 40 ? Constants{} : Constants{{"k", double{k}}}),
        [&](auto &in, auto &out, Size size) {
          convolve(in.get(), out.get(), size.width, size.height, k);
        });
}

/// Indices that begin at 1, a loop around the kernel, and an integer parameter without a default.
template <typename Runner>
void expect_camera(Runner &runner) {
  for (const Constants &times : {Constants{{"n_roi", 2_whole}}, Constants{{"n_roi", 2.9}}})
    expect_function<std::uint8_t, float>(
        runner, sources("camera.cpp", Border::reflect, times), [](auto &in, auto &out, Size size) {
          denoise(in.get(1), nullptr, out.get(1), size.width, size.height, 2);
        });
}

/// Structures, enumerations, templates; pixels that keep the input's value; parameters without
/// defaults.
template <typename Runner>
void expect_language(Runner &runner) {
  for (const int mode : {0, 1})
    expect_function<std::uint8_t, float>(
        runner, sources("language.cpp", Border::reflect, {{"mode", double(mode)}, {"gain", 0.75}}),
        [&](auto &in, auto &out, Size size) {
          language(in.get(), out.get(), size.width, size.height, mode, 0.75f);
        });
}

/// Offsets that depend on the pixels.
template <typename Runner>
void expect_shift(Runner &runner) {
  for (const Border border : {Border::clip, Border::replicate, Border::reflect, Border::constant})
    expect_function<std::uint8_t, float>(runner, sources("shift.cpp", border),
                                         [](auto &in, auto &out, Size size) {
                                           shift(in.get(), out.get(), size.width, size.height);
                                         });
}

/// Two kernels, steps of 2, and loops that count down.
template <typename Runner>
void expect_steps(Runner &runner) {
  expect_function<std::uint16_t, int>(
      runner, sources("steps.cpp", Border::constant),
      [](auto &in, auto &out, Size size) { steps(in.get(), out.get(), size.width, size.height); });
}

/// Columns in the outer loop; width and height are of type size_t.
template <typename Runner>
void expect_swapped(Runner &runner) {
  expect_function<std::uint8_t, float>(runner, sources("swapped.cpp", Border::clip),
                                       [](auto &in, auto &out, Size size) {
                                         swapped(in.get(), out.get(), size.width, size.height);
                                       });
}

/// C, with an intermediate image of double; both kernels skip the edges.
template <typename Runner>
void expect_opening(Runner &runner) {
  expect_function<std::uint16_t, double>(
      runner, sources("opening.c", Border::clip), [](auto &in, auto &out, Size size) {
        using Image = double[640];
        std::vector<double> a(640 * 480);
        for (int y = 0; y < size.height; ++y) std::copy_n(in.get()[y], size.width, &a[y * 640]);
        std::vector<double> b(a), c(a);
        const auto image = [](auto &v) { return reinterpret_cast<Image *>(v.data()); };
        sequential::opening(image(a), image(b), image(c), size.height, size.width, 1);
        for (int y = 0; y < size.height; ++y) std::copy_n(&c[y * 640], size.width, out.get()[y]);
      });
}

/// Row addresses by hand, helpers, and constants of the file; integers as array sizes.
template <typename Runner>
void expect_rank(Runner &runner) {
  expect_function<std::uint8_t, std::uint8_t>(
      runner, sources("rank.cpp", Border::replicate, {{"win", 3_whole}, {"rank", 5_whole}}),
      [](auto &in, auto &out, Size size) {
        // The function filters all rows of an image, and this image contains its margins.
        const int width = size.width + 2, height = size.height + 2;
        std::vector<std::uint8_t> from((height + 2) * width), to(from.size());
        for (int y = 0; y < height; ++y)
          std::copy_n(in.get()[y - 1] - 1, width, &from[(y + 1) * width]);
        rank(&from[width], &to[width], width, height, 3, 5);
        for (int y = 0; y < size.height; ++y)
          std::copy_n(&to[(y + 2) * width + 1], size.width, out.get()[y]);
      });
}

/// Output pixels that change step by step and start as the input; and an intermediate image that is
/// a copy.
template <typename Runner>
void expect_registers(Runner &runner) {
  expect_function<std::uint8_t, float>(
      runner, sources("registers.cpp", Border::reflect), [](auto &from, auto &to, Size size) {
        float **const in = from.get(), **const out = to.get();
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            float v = in[y][x];
            if (in[y][x] > 100) v += in[y][x - 1];
            const float diagonal = in[y - 1][x + 1] + in[y - 2][x + 2] + in[y - 3][x + 3];
            out[y][x] = in[y][x] > 200 ? v * 0.5f : v - diagonal * 0.25f;
          }
      });
}

/// Works in place; an array of the language; lines that end with CR LF.
template <typename Runner>
void expect_points(Runner &runner) {
  expect_function<std::uint16_t, int>(runner, sources("points.cpp", Border::clip),
                                      [](auto &in, auto &out, Size size) {
                                        for (int y = 0; y < size.height; ++y)
                                          for (int x = 0; x < size.width; ++x)
                                            out.get()[y][x] = in.get()[y][x] / 2 + 3;
                                      });
}

/// Repeated erosions with exchanged images equal one erosion with a larger window.
template <typename Runner>
void expect_erode(Runner &runner) {
  CpuRunner cpu(1);
  for (const Constants &times :
       {Constants{{"n", 4_whole}}, Constants{{"n", 3.0}}, Constants{{"n", 0.0}}}) {
    const auto in = picture({67, 41});
    const auto *whole = std::get_if<std::int64_t>(&times[0].value);
    const int n = whole ? static_cast<int>(*whole) : static_cast<int>(std::get<1>(times[0].value));
    auto expected = filtered(cpu, in, {.op = SwoFilterOperator::erode, .window = 2 * n + 1});
    for (auto &sample : expected) sample = sample < 255 ? sample + 1 : 255;
    EXPECT_TRUE(same(expected, filtered(runner, in, sources("erode.cpp", Border::clip, times)), 67))
        << n << " times";
  }
}

/// Uses the number of the iteration; the number of iterations is not a constant.
template <typename Runner>
void expect_doublings(Runner &runner) {
  for (const int doublings : {3, 0, 15}) {
    SwoFilterParams p = source_filter(GSWO_EXAMPLES "/recursive_erosion.cpp",
                                      {{"doublings", static_cast<double>(doublings)}});
    p.window = 5;
    for (const Size size : kSizes) {
      const auto in = picture<std::uint16_t>(size);
      const Pixels samples = in.samples();
      Pixels a(samples.size()), b(a), expected(a);
      recursive_erosion(samples.data(), a.data(), b.data(), expected.data(), size.width,
                        size.height, 5, doublings);
      EXPECT_TRUE(same(expected, filtered(runner, in, p), size.width)) << doublings;
    }
  }
}

/// The paper's own sources: medians.
template <typename Runner>
void expect_tables(Runner &runner) {
  CpuRunner cpu(1);
  Border border = Border::replicate;
  for (const char *name : {"table3.cpp", "table7.cpp", "appendix_c.cpp"}) {
    SwoFilterParams built_in{.border = border, .border_value = kOutside};
    SwoFilterParams p = sources(name, border);
    p.border_value = kOutside;
    for (const Size size : kSizes) {
      const auto in = picture(size);
      EXPECT_TRUE(same(filtered(cpu, in, built_in), filtered(runner, in, p), size.width)) << name;
      if (name[5] != '3') continue;
      const auto deep = picture<std::uint16_t>(size, Content::random, 0xffc0);
      EXPECT_TRUE(same(filtered(cpu, deep, built_in), filtered(runner, deep, p), size.width));
    }
    border = border == Border::replicate ? Border::reflect : Border::constant;
  }
}

/// Pixels that no window writes are 0 if there is no input. Nothing is written outside the rows.
template <typename Runner>
void expect_drawn(Runner &runner) {
  const Files files;
  const std::string path = files.write(
      "draw.cpp",
      "void draw(float **out, int height, int width) {\n#pragma parallel\n  {\n#pragma for\n"
      "    for (int y = 1; y < height - 1; y++)\n"
      "      for (int x = 1; x < width - 1; x++) out[y][x] = x + 10 * y;\n  }\n}\n");
  const SwoFilterParams p = source_filter(path);
  for (const Layout layout : {Layout{}, Layout{.padding = 64}, Layout{.flush = true}}) {
    Image<std::uint16_t> in(5, 4), out(5, 4, layout);
    runner(in, out, p);
    EXPECT_TRUE(out.guards_intact());
    EXPECT_EQ(out.samples(), (std::vector<std::uint16_t>{0, 0,  0,  0,  0, 0, 11, 12, 13, 0,
                                                         0, 21, 22, 23, 0, 0, 0,  0,  0,  0}));
  }
}

/// A loop as in public image code, which leaves the border alone. Functions such as exp differ from
/// those of the C library in the last bit, so that a result may be rounded to the next level.
template <typename T, typename Sample, typename Runner, typename Loop>
void expect_loop(Runner &runner, const std::string &name, Loop loop) {
  const SwoFilterParams p = source_filter(GSWO_EXAMPLES "/loops/" + name);
  for (const Size size : kSizes) {
    const auto in = picture<Sample>(size, Content::random);
    Rows<T> from(in.samples(), size, kMargin, Border::replicate, 0),
        to(in.samples(), size, kMargin, Border::replicate, 0);
    loop(from.get(), to.get(), size.width, size.height);
    const std::vector<Sample> result = filtered(runner, in, p);
    const std::vector<T> expected = to.samples();
    for (std::size_t i = 0; i < result.size(); ++i)
      ASSERT_NEAR(stored<Sample>(static_cast<double>(expected[i])), result[i],
                  (std::is_same_v<T, float> ? 1 : 0))
          << name << ", " << size.width << "x" << size.height << ", pixel " << i;
  }
}

template <typename Runner>
void expect_loops(Runner &runner) {
  expect_loop<float, std::uint8_t>(runner, "bilateral.cpp", bilateral);
  expect_loop<std::uint16_t, std::uint16_t>(runner, "census.cpp", census);
  expect_loop<std::uint8_t, std::uint8_t>(runner, "kuwahara.cpp", kuwahara);
  const auto diffused = [](float **in, float **out, int width, int height) {
    diffusion(in, out, width, height, 20, 0.2f);
  };
  expect_loop<float, std::uint8_t>(runner, "diffusion.cpp", diffused);
}

/// Samples that do not use all bits, in the lower and in the upper ones, give the same levels.
template <typename Runner>
void expect_levels(Runner &runner) {
  const SwoFilterParams p = source_filter(GSWO_EXAMPLES "/loops/local_variance.cpp");
  for (const Size size : kSizes) {
    std::vector<std::uint16_t> samples = picture<std::uint16_t>(size, Content::random).samples();
    for (auto &sample : samples) sample %= 96;
    const auto results = [&](std::uint16_t maximum, int shift) {
      std::vector<std::uint16_t> shifted = samples;
      for (auto &sample : shifted) sample <<= shift;
      return filtered(runner, Image<std::uint16_t>(shifted, size.width, size.height, {}, maximum),
                      p);
    };
    std::vector<std::uint16_t> expected = results(0xffff, 0);
    for (auto &level : expected) level = std::min<std::uint16_t>(level, 1023);
    EXPECT_TRUE(same(expected, results(0x3ff, 0), size.width));
    for (auto &level : expected) level <<= 6;
    EXPECT_TRUE(same(expected, results(0xffc0, 6), size.width));
  }
}

#define TEST_SOURCE(Name, expect)  \
  TEST(GswoPragmasSources, Name) { \
    CpuRunner cpu(2);              \
    expect(cpu);                   \
  }                                \
  CUDA_TEST_SOURCE(Name, expect)
#ifdef HAVE_CUDA
#define CUDA_TEST_SOURCE(Name, expect) \
  TEST(GswoPragmasSourcesCuda, Name) { \
    NEED_GPU();                        \
    CudaRunner cuda;                   \
    expect(cuda);                      \
  }
#else
#define CUDA_TEST_SOURCE(Name, expect)
#endif

TEST_SOURCE(Accumulate, expect_accumulate)
TEST_SOURCE(Camera, expect_camera)
TEST_SOURCE(Language, expect_language)
TEST_SOURCE(Shift, expect_shift)
TEST_SOURCE(Steps, expect_steps)
TEST_SOURCE(Swapped, expect_swapped)
TEST_SOURCE(Opening, expect_opening)
TEST_SOURCE(Rank, expect_rank)
TEST_SOURCE(Registers, expect_registers)
TEST_SOURCE(Points, expect_points)
TEST_SOURCE(Erode, expect_erode)
TEST_SOURCE(Doublings, expect_doublings)
TEST_SOURCE(TablesOfThePaper, expect_tables)
TEST_SOURCE(Drawn, expect_drawn)
TEST_SOURCE(LoopsOfImageCode, expect_loops)
TEST_SOURCE(Levels, expect_levels)

}  // namespace
}  // namespace cudascan::test
