// SPDX-License-Identifier: LGPL-2.1-or-later
// Images with samples of 10 bits in words: every sample, on the CPU and with CUDA.
#include "kernels/luma.h"
#include "tests/kernels/luma/colours.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::kWeights;
using Words = PackedTens<const std::uint32_t>;

/// Samples of 10 bits in words: where the luma of pixel x is among the samples of a row, or where
/// red and blue are, in pixels that are words.
struct TensLayout {
  Tens samples;
  int (*place)(int x);
  int red = 0, blue = 0;
};
constexpr TensLayout kTens[] = {{Tens::gray, [](int x) { return x; }},
                                {Tens::yuv422, [](int x) { return 2 * x + 1; }},
                                {Tens::yuv444, [](int x) { return 3 * x + 1; }},
                                {Tens::rgb, nullptr, 0, 2},
                                {Tens::bgr, nullptr, 2, 0}};

template <typename On>
void check_tens(On &on) {
  std::mt19937 random(8);
  constexpr std::uint16_t kMaximum = 1023;
  for (const TensLayout &layout : kTens)
    for (const auto &[width, height] : test::kLumaSizes) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(layout.samples) << ": " << width << "x" << height);
      const int n = words_of(layout.samples, width);
      std::vector<std::uint32_t> words(static_cast<std::size_t>(n) * height);
      for (std::uint32_t &word : words) word = static_cast<std::uint32_t>(random());
      const test::Layout rows{.padding = 3};
      const Image<std::uint32_t> in(words, n, height, rows);
      Image<std::uint32_t> out(n, height, rows);
      const auto sample = [](const Image<std::uint32_t> &of, int i, int y) {
        return of.at(i / 3, y) >> (10 * (i % 3)) & 1023;
      };
      const auto rgb = [&](const Image<std::uint32_t> &of, int x, int y) {
        return std::array<unsigned, 3>{sample(of, 3 * x + layout.red, y), sample(of, 3 * x + 1, y),
                                       sample(of, 3 * x + layout.blue, y)};
      };
      const LumaWeights &w = kWeights[1];
      Image<std::uint16_t> luma(width, height, {}, kMaximum);
      const PackedTens<const std::uint32_t> packed{{}, width, layout.samples};
      on.get(packed, in, w, luma);
      EXPECT_TRUE(luma.guards_intact());
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const auto colours = layout.place ? std::array<unsigned, 3>{} : rgb(in, x, y);
          ASSERT_EQ(luma.at(x, y), layout.place
                                       ? sample(in, layout.place(x), y)
                                       : test::luma_of(w, colours[0], colours[1], colours[2]));
        }
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          luma.plane().row(y)[x] = static_cast<std::uint16_t>(random() % (kMaximum + 1));
      for (const Colors colors : {Colors::kept, Colors::none}) {
        on.set(packed, in, w, luma, colors, out);
        EXPECT_TRUE(out.guards_intact());
        std::vector<int> want(static_cast<std::size_t>(n) * 3, -1);  // the places of the luma
        for (int x = 0; x < width && layout.place; ++x) want[layout.place(x)] = x;
        for (int y = 0; y < height; ++y) {
          for (int i = 0; i < n; ++i) ASSERT_EQ(out.at(i, y) >> 30, in.at(i, y) >> 30);
          for (int i = 0; i < 3 * n && layout.place; ++i) {
            if (want[i] >= 0) {
              ASSERT_EQ(sample(out, i, y), luma.at(want[i], y)) << i;
            } else if (colors == Colors::kept) {
              ASSERT_EQ(sample(out, i, y), sample(in, i, y)) << i;
            } else if (layout.samples == Tens::yuv444 ||
                       (layout.samples == Tens::yuv422 && i % 2 == 0)) {
              ASSERT_EQ(sample(out, i, y), 512u) << i;
            }
          }
          for (int x = 0; x < width && !layout.place; ++x) {
            const unsigned level = luma.at(x, y);
            std::array<unsigned, 3> colour{level, level, level};
            if (colors == Colors::kept)
              colour = test::recoloured(w, rgb(in, x, y), level, kMaximum);
            ASSERT_EQ(rgb(out, x, y), colour) << x;
          }
        }
      }
    }
}

class OnCpu {
 public:
  void get(const Words &layout, const Image<std::uint32_t> &in, const LumaWeights &w,
           Image<std::uint16_t> &out) {
    get_luma(cpu_, Words{in.plane(), layout.width, layout.samples}, w, out.plane());
  }
  void set(const Words &layout, const Image<std::uint32_t> &in, const LumaWeights &w,
           const Image<std::uint16_t> &luma, Colors colors, Image<std::uint32_t> &out) {
    set_luma(cpu_, Words{in.plane(), layout.width, layout.samples}, w, luma.plane(), colors,
             PackedTens<std::uint32_t>{out.plane(), layout.width, layout.samples});
  }

 private:
  Cpu cpu_{2};
};

TEST(LumaTens, EverySampleIsInItsPlace) {
  OnCpu cpu;
  check_tens(cpu);
}

TEST(LumaTens, PlanesThatDoNotGoTogether) {
  Cpu cpu;
  const Image<std::uint32_t> words(4, 2);
  Image<std::uint16_t> luma(12, 2), wide(13, 2);
  EXPECT_NO_THROW(get_luma(cpu, Words{words.plane(), 12, Tens::gray}, kWeights[0], luma.plane()));
  EXPECT_THROW(get_luma(cpu, Words{words.plane(), 12, Tens::rgb}, kWeights[0], luma.plane()),
               BadSetting);
  EXPECT_THROW(get_luma(cpu, Words{words.plane(), 12, Tens::gray}, kWeights[0], wide.plane()),
               BadSetting);
}

#ifdef HAVE_CUDA
class OnCuda {
 public:
  void get(const Words &layout, const Image<std::uint32_t> &in, const LumaWeights &w,
           Image<std::uint16_t> &out) {
    get_luma(cuda_, Words{in_.upload(in), layout.width, layout.samples}, w, luma_.upload(out));
    download(luma_, out);
  }
  void set(const Words &layout, const Image<std::uint32_t> &in, const LumaWeights &w,
           const Image<std::uint16_t> &luma, Colors colors, Image<std::uint32_t> &out) {
    const Plane<std::uint32_t> to = out_.upload(out);
    const Plane<std::uint16_t> target = luma_.upload(luma);
    set_luma(cuda_, Words{in_.upload(in), layout.width, layout.samples}, w,
             Plane<const std::uint16_t>(target), colors,
             PackedTens<std::uint32_t>{to, layout.width, layout.samples});
    download(out_, out);
  }

 private:
  template <typename T>
  void download(const test::DeviceCopy &from, Image<T> &to) {
    from.download(to.memory().begin(), to.memory().size());
    cuda_.synchronize();
  }

  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  test::DeviceCopy in_{stream_.get()}, luma_{stream_.get()}, out_{stream_.get()};
};

TEST(LumaTens, CudaPutsEverySampleInItsPlace) {
  NEED_GPU();
  OnCuda cuda;
  check_tens(cuda);
}
#endif

}  // namespace
}  // namespace cudascan
