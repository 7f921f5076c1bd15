// SPDX-License-Identifier: LGPL-2.1-or-later
// How the GPU divides the work: refused settings, and the picture must not depend on it.
#include <gtest/gtest.h>

#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

using Reads = UserFilterReads;

struct Launch {
  int tile_width, tile_height, chunk_height;
  Reads reads;
  int chunk_width = 0;

  friend std::ostream &operator<<(std::ostream &out, const Launch &l) {
    return out << "tile " << l.tile_width << " x " << l.tile_height << ", chunk " << l.chunk_width
               << " x " << l.chunk_height << ", reads " << static_cast<int>(l.reads);
  }
};

SwoFilterParams with(SwoFilterParams p, const Launch &launch) {
  p.custom.tile_width = launch.tile_width;
  p.custom.tile_height = launch.tile_height;
  p.custom.chunk_width = launch.chunk_width;
  p.custom.chunk_height = launch.chunk_height;
  p.custom.reads = launch.reads;
  return p;
}

SwoFilterParams formula(const std::string &expression, int window = 3) {
  SwoFilterParams p{.op = SwoFilterOperator::custom, .window = window};
  p.custom.expression = expression;
  p.custom.cache_dir = "";
  return p;
}

struct Refused {
  Launch launch;
  const char *said;
  int window = 3;
};

TEST(GswoLaunch, ValuesAreRefusedByName) {
  CpuRunner cpu(1);
  const Refused kRefused[] = {
      {{-1, 0, 0, Reads::automatic}, "tile-width = -1: must be from 1 to 1024"},
      {{1025, 0, 0, Reads::automatic}, "tile-width = 1025: must be from 1 to 1024"},
      {{0, -1, 0, Reads::automatic}, "tile-height = -1: must be from 1 to 1024"},
      {{0, 2000, 0, Reads::automatic}, "tile-height = 2000: must be from 1 to 1024"},
      {{0, 0, -1, Reads::automatic}, "chunk-height = -1: must be from 1 to 64"},
      {{0, 0, 65, Reads::automatic}, "chunk-height = 65: must be from 1 to 64"},
      {{0, 16, 3, Reads::automatic},
       "chunk-height = 3: tile-height must be a multiple of it, but is 16"},
      {{1024, 1024, 0, Reads::automatic}, "a block has at most 1024 threads"},
      {{0, 0, 0, Reads::automatic, 3}, "chunk-width = 3: must be 1, 2 or 4"},
      {{30, 0, 0, Reads::automatic, 4},
       "chunk-width = 4: tile-width must be a multiple of it, but is 30"},
      {{64, 64, 1, Reads::automatic, 1},
       "tile-width = 64, tile-height = 64, chunk-width = 1, chunk-height = 1: a block has"},
      {{33, 37, 0, Reads::global}, "a block has at most 1024 threads"},
      {{1024, 64, 64, Reads::shared}, "reads = shared: a tile of 1024 x 64"},
      {{32, 8, 1, Reads::shared}, "reads = shared: a tile of 32 x 8", 255},
      {{0, 0, 0, Reads::shared}, "reads = shared: a tile of ", 255},
  };
  for (const auto &[launch, said, window] : kRefused) {
    SCOPED_TRACE(testing::Message() << launch);
    EXPECT_TRUE(has(refusal(cpu, with(formula("p.max()", window), launch)), said));
  }
}

TEST(GswoLaunch, TilesOfSourcesAreRefused) {
  CpuRunner cpu(1);
  const Files files;
  const std::string path = files.write("f.cpp", one_window("out[i][j] = in[i][j - 1];"));
  const std::string large =
      refusal(cpu, with(source_filter(path), {1024, 2, 1, Reads::automatic, 1}));
  EXPECT_TRUE(large.starts_with(path + ":4:")) << large;
  EXPECT_TRUE(has(large, "a tile of 1024 x 2 pixels and a chunk of 1 x 1"));
  EXPECT_TRUE(has(large, "change tile-width, tile-height, chunk-width and chunk-height"));
  EXPECT_TRUE(has(refusal(cpu, with(source_filter(path), {33, 0, 0, Reads::automatic, 2})),
                  "a tile of 33 x 32 pixels and a chunk of 2 x 8"));
  EXPECT_TRUE(has(refusal(cpu, with(source_filter(path), {1025, 0, 0, Reads::automatic})),
                  "tile-width = 1025"));
}

/// The text from emit_cuda contains the settings.
TEST(GswoLaunch, IsInTheCode) {
  Cpu cpu(1);
  const auto in = picture({4, 4});
  Image<std::uint8_t> out(4, 4);
  const auto code = [&](const SwoFilterParams &p) {
    run(cpu, in.plane(), out.plane(), p);
    return code_of(cpu)->cuda_source;
  };
  const std::string tile = code(with(formula("p.min()"), {20, 24, 6, Reads::shared, 2}));
  EXPECT_TRUE(has(tile, "#define GSWO_BLOCK_WIDTH 10\n#define GSWO_BLOCK_HEIGHT 4\n"));
  EXPECT_TRUE(has(tile,
                  "#define GSWO_CHUNK_WIDTH 2\n#define GSWO_CHUNK_HEIGHT 6\n"
                  "#define GSWO_TILE 1\n#define GSWO_TEXTURE 0\n"));
  const std::string texture = code(with(formula("p.min()"), {0, 0, 0, Reads::texture}));
  EXPECT_TRUE(has(texture, "#define GSWO_TILE 0\n#define GSWO_TEXTURE 1\n"));

  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j - 1];")));
  EXPECT_TRUE(has(code(p), "block 32 4 tile 64 32"));
  EXPECT_TRUE(has(code(p), "gswo::Tile<"));
  const std::string other = code(with(p, {33, 6, 3, Reads::global}));
  EXPECT_TRUE(has(other, "block 33 2 tile 33 6"));
  EXPECT_FALSE(has(other, "gswo::Tile<"));
}

const Launch kLaunches[] = {
    {0, 0, 0, Reads::global},     {0, 0, 0, Reads::shared},     {0, 0, 0, Reads::texture},
    {8, 1, 1, Reads::shared},     {8, 64, 4, Reads::texture},   {20, 12, 3, Reads::shared},
    {20, 7, 1, Reads::global},    {33, 1, 0, Reads::texture},   {33, 6, 2, Reads::shared},
    {33, 31, 31, Reads::global},  {64, 16, 1, Reads::shared},   {64, 64, 64, Reads::texture},
    {128, 8, 1, Reads::global},   {128, 24, 8, Reads::shared},  {1, 1, 1, Reads::shared},
    {64, 8, 2, Reads::shared, 1}, {64, 8, 2, Reads::global, 4}, {20, 12, 3, Reads::texture, 4},
    {34, 9, 3, Reads::shared, 2}, {1, 64, 2, Reads::global},    {1024, 1, 1, Reads::shared},
    {1024, 4, 4, Reads::texture}};

/// All settings give the same picture, for planes at addresses of all kinds.
template <typename T, typename Runner>
void expect_invariance(Runner &runner, const SwoFilterParams &p, T maximum, int step) {
  CpuRunner cpu;
  for (int turn = 0; turn < std::ssize(kLaunches); turn += step)
    for (const Layout layout : {Layout{.unit = 256}, Layout{5, 3}, Layout{5, 0, true}}) {
      constexpr Size kSize{131, 71};
      SCOPED_TRACE(testing::Message()
                   << p.custom.expression << p.custom.source << ", " << kLaunches[turn]
                   << ", maximum " << +maximum << ", offset " << layout.offset);
      const Image<T> in(make_content<T>(Content::text, kSize.width, kSize.height, maximum),
                        kSize.width, kSize.height, layout, maximum);
      ASSERT_TRUE(
          same(filtered(cpu, in, p), filtered(runner, in, with(p, kLaunches[turn])), kSize.width));
    }
}

template <typename Runner>
void expect_invariance(Runner &runner, int step) {
  expect_invariance<std::uint8_t>(runner, formula("p.median() + p(2, -3) / 4"), 0xff, step);
  expect_invariance<std::uint16_t>(runner, formula("p.mean()", 5), 0xffc0, 2 * step);
  const Files files;
  SwoFilterParams chain = source_filter(files.write(
      "chain.cpp",
      "void f(float **in, double **a, float **out, int h, int w) {\n#pragma parallel region\n  {\n"
      "#pragma parallel\n    {\n#pragma for\n      for (int i = 0; i < h; i++)\n"
      "        for (int j = 0; j < w; j++) a[i][j] = in[i][j] + in[i - 2][j + 3] * 0.25;\n    }\n"
      "#pragma parallel\n    {\n#pragma for\n      for (int i = 0; i < h; i++)\n"
      "        for (int j = 0; j < w; j++) out[i][j] = (a[i][j] + a[i + 1][j - 1]) / 2;\n    }\n"
      "  }\n}\n"));
  chain.border = SwoFilterBorder::reflect;
  expect_invariance<std::uint8_t>(runner, chain, 0xff, step);
  chain.border = SwoFilterBorder::constant;
  expect_invariance<std::uint16_t>(runner, chain, 0x3ff, 2 * step);
}

TEST(GswoLaunch, ChangesNoPicture) {
  CpuRunner cpu(2);
  expect_invariance(cpu, 7);
}
#ifdef HAVE_CUDA
TEST(GswoLaunchCuda, ChangesNoPicture) {
  NEED_GPU();
  CudaRunner cuda;
  expect_invariance(cuda, 1);
}
#endif

}  // namespace
}  // namespace cudascan::test
