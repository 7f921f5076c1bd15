// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma of RGB and packed YUV, and images with another luma: compared with sums in floating point,
// in all layouts, on the CPU and with CUDA.
#include "kernels/luma.h"

#include <array>
#include <cmath>
#include <memory>

#include "tests/kernels/luma/colours.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::kWeights;
using test::luma_of;
using test::recoloured;
using test::Size;

/// A layout of RGB: the places of red, green, blue and the fourth sample (-1 = none) in a pixel of
/// `step` samples, or planes of their own.
struct RgbLayout {
  const char *name;
  int step;
  int place[4];
  bool is_alpha = true;
};
constexpr RgbLayout kRgb[] = {
    {"RGB", 3, {0, 1, 2, -1}},        {"BGR", 3, {2, 1, 0, -1}},
    {"RGBx", 4, {0, 1, 2, 3}, false}, {"BGRA", 4, {2, 1, 0, 3}},
    {"xRGB", 4, {1, 2, 3, 0}, false}, {"ABGR", 4, {3, 2, 1, 0}},
    {"planar", 1, {0, 1, 2, -1}},     {"planar with alpha", 1, {2, 0, 1, 3}},
    {"of 5", 5, {4, 0, 2, 3}}};

struct YuvLayout {
  const char *name;
  int step, first, samples;  ///< samples of two pixels
  int alpha;
};
constexpr YuvLayout kYuv[] = {
    {"YUY2", 2, 0, 4, -1}, {"UYVY", 2, 1, 4, -1}, {"AYUV", 4, 1, 8, 0}, {"VUYA", 4, 2, 8, 3}};

/// An image in RGB, in one or in several planes.
template <typename T>
class RgbImage {
 public:
  RgbImage(const RgbLayout &layout, Size size, test::Layout rows, T maximum, unsigned seed)
      : layout_(layout), size_(size) {
    const int planes = layout.step > 1 ? 1 : layout.place[3] < 0 ? 3 : 4;
    std::mt19937 random(seed);
    for (int i = 0; i < planes; ++i) {
      std::vector<T> samples(static_cast<std::size_t>(size.width) * layout.step * size.height);
      for (T &sample : samples) {
        // Extremes, colours, and those that are nearly gray.
        const unsigned kind = random() % 4, before = &sample == samples.data() ? 0U : (&sample)[-1];
        sample = static_cast<T>(kind == 0   ? (random() % 2) * maximum
                                : kind == 1 ? std::min<unsigned>(before + random() % 2, maximum)
                                            : random() % (maximum + 1U));
      }
      planes_.push_back(std::make_unique<Image<T>>(samples, size.width * layout.step, size.height,
                                                   rows, maximum));
    }
  }
  int count() const { return static_cast<int>(planes_.size()); }
  Image<T> &plane(int i) { return *planes_[i]; }
  unsigned at(int colour, int x, int y) const {
    const int place = layout_.place[colour];
    return layout_.step == 1 ? planes_[place]->at(x, y)
                             : planes_[0]->at(x * layout_.step + place, y);
  }
  bool has_fourth() const { return layout_.place[3] >= 0; }

  /// @param planes  those of the image, anywhere
  template <typename Sample>
  RgbPlanes<Sample> view(const std::vector<Plane<Sample>> &planes) const {
    RgbPlanes<Sample> rgb;
    Plane<Sample> *const of[] = {&rgb.red, &rgb.green, &rgb.blue, &rgb.other};
    for (int c = 0; c < 4; ++c) {
      const int place = layout_.place[c];
      if (place < 0) continue;
      *of[c] = planes[layout_.step == 1 ? place : 0];
      if (layout_.step > 1) of[c]->data += place;
      of[c]->width = size_.width;
    }
    rgb.step = layout_.step;
    rgb.is_alpha = layout_.is_alpha;
    return rgb;
  }

 private:
  RgbLayout layout_;
  Size size_;
  std::vector<std::unique_ptr<Image<T>>> planes_;
};

/// How the functions are called: on the CPU, or on copies on the GPU.
class OnCpu {
 public:
  template <typename T>
  void get(RgbImage<T> &in, const LumaWeights &w, Image<T> &out) {
    get_luma(cpu_, in.template view<const T>(planes<const T>(in)), w, out.plane());
  }
  template <typename T>
  void set(RgbImage<T> &in, const LumaWeights &w, const Image<T> &luma, Colors colors,
           RgbImage<T> &out) {
    set_luma(cpu_, in.template view<const T>(planes<const T>(in)), w, luma.plane(), colors,
             out.template view<T>(planes<T>(out)));
  }
  template <typename T>
  void get(const PackedYuv<const T> &layout, const Image<T> &in, Image<T> &out) {
    PackedYuv<const T> from = layout;
    from.samples = in.plane();
    get_luma(cpu_, from, out.plane());
  }
  template <typename T>
  void set(const PackedYuv<const T> &layout, const Image<T> &in, const Image<T> &luma,
           Colors colors, Image<T> &out) {
    PackedYuv<const T> from = layout;
    from.samples = in.plane();
    set_luma(cpu_, from, luma.plane(), colors,
             {out.plane(), layout.width, layout.first, layout.step, layout.alpha});
  }

 private:
  template <typename Sample, typename T>
  static std::vector<Plane<Sample>> planes(RgbImage<T> &image) {
    std::vector<Plane<Sample>> all;
    for (int i = 0; i < image.count(); ++i) all.push_back(image.plane(i).plane());
    return all;
  }
  Cpu cpu_{2};
};

template <typename T, typename On>
void check_rgb(On &on, T maximum) {
  unsigned seed = 1;
  for (const RgbLayout &layout : kRgb)
    for (const Size size : test::kLumaSizes)
      for (const test::Layout rows :
           {test::Layout{}, test::Layout{.unit = 64}, test::Layout{.padding = 3, .offset = 1}}) {
        const LumaWeights &w = kWeights[seed % 3];
        SCOPED_TRACE(testing::Message()
                     << layout.name << " " << size.width << "x" << size.height << ", padding "
                     << rows.padding << ", maximum " << +maximum);
        RgbImage<T> in(layout, size, rows, maximum, ++seed), out(layout, size, rows, maximum, 7);
        Image<T> luma(size.width, size.height, rows, maximum);
        on.get(in, w, luma);
        EXPECT_TRUE(luma.guards_intact());
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            ASSERT_EQ(luma.at(x, y), luma_of(w, in.at(0, x, y), in.at(1, x, y), in.at(2, x, y)))
                << x << ", " << y;
        const RgbImage<T> other(layout, size, rows, maximum, ++seed);
        std::vector<T> levels;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) levels.push_back(static_cast<T>(other.at(1, x, y)));
        const Image<T> target(levels, size.width, size.height, rows, maximum);
        for (const Colors colors : {Colors::kept, Colors::none}) {
          on.set(in, w, target, colors, out);
          for (int i = 0; i < out.count(); ++i) EXPECT_TRUE(out.plane(i).guards_intact());
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) {
              const unsigned level = target.at(x, y);
              std::array<unsigned, 3> rgb{level, level, level};
              if (colors == Colors::kept)
                rgb =
                    recoloured(w, {in.at(0, x, y), in.at(1, x, y), in.at(2, x, y)}, level, maximum);
              for (int c = 0; c < 3; ++c)
                ASSERT_EQ(out.at(c, x, y), rgb[c]) << x << ", " << y << ", colour " << c;
              if (in.has_fourth()) {
                ASSERT_EQ(out.at(3, x, y), layout.is_alpha ? in.at(3, x, y) : maximum) << x;
              }
            }
        }
      }
}

template <typename T, typename On>
void check_yuv(On &on, T maximum) {
  std::mt19937 random(5);
  for (const YuvLayout &layout : kYuv)
    for (const auto &[width, height] : test::kLumaSizes) {
      SCOPED_TRACE(testing::Message() << layout.name << " " << width << "x" << height);
      const int samples = (width + 1) / 2 * layout.samples;
      std::vector<T> values(static_cast<std::size_t>(samples) * height);
      for (T &value : values) value = static_cast<T>(random() % (maximum + 1U));
      const test::Layout rows{.padding = 4};
      const Image<T> in(values, samples, height, rows, maximum);
      Image<T> luma(width, height, {}, maximum), out(samples, height, rows, maximum);
      const PackedYuv<const T> packed{{}, width, layout.first, layout.step, layout.alpha};
      on.get(packed, in, luma);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          ASSERT_EQ(luma.at(x, y), in.at(layout.first + x * layout.step, y));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          luma.plane().row(y)[x] = static_cast<T>(maximum - luma.at(x, y));
      for (const Colors colors : {Colors::kept, Colors::none}) {
        on.set(packed, in, luma, colors, out);
        EXPECT_TRUE(out.guards_intact());
        for (int y = 0; y < height; ++y)
          for (int i = 0; i < samples; ++i) {
            const int x = (i - layout.first) / layout.step;
            const bool is_luma = i >= layout.first && (i - layout.first) % layout.step == 0;
            const bool is_alpha = layout.alpha >= 0 && i % layout.step == layout.alpha;
            const int neutral = (maximum + 1) / 2;
            if (is_luma && x < width) {
              ASSERT_EQ(out.at(i, y), luma.at(x, y)) << i;
            } else if (is_alpha || (colors == Colors::kept && !is_luma)) {
              ASSERT_EQ(out.at(i, y), in.at(i, y)) << i;
            } else if (!is_luma) {
              ASSERT_EQ(out.at(i, y), neutral) << i;
            }
          }
      }
    }
}

/// Many colours and levels. Most of them leave the range, so that factors are needed.
template <typename T, typename On>
void check_factors(On &on, T maximum) {
  const Size size{800, 150};
  RgbImage<T> in(kRgb[2], size, {}, maximum, 11), out(kRgb[2], size, {}, maximum, 12);
  std::mt19937 random(13);
  std::vector<T> levels(static_cast<std::size_t>(size.width) * size.height);
  for (T &level : levels) level = static_cast<T>(random() % (maximum + 1U));
  const Image<T> luma(levels, size.width, size.height, {}, maximum);
  on.set(in, kWeights[0], luma, Colors::kept, out);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto want = recoloured(kWeights[0], {in.at(0, x, y), in.at(1, x, y), in.at(2, x, y)},
                                   luma.at(x, y), maximum);
      for (int c = 0; c < 3; ++c) ASSERT_EQ(out.at(c, x, y), want[c]) << x << ", " << y;
    }
}

template <typename On>
void check_all(On &on) {
  check_factors<std::uint8_t>(on, 0xff);
  check_factors<std::uint16_t>(on, 0xfff);
  check_factors<std::uint16_t>(on, 0xffff);
  check_rgb<std::uint8_t>(on, 0xff);
  check_rgb<std::uint16_t>(on, 0x3ff);
  check_rgb<std::uint16_t>(on, 0xffff);
  check_yuv<std::uint8_t>(on, 0xff);
  check_yuv<std::uint16_t>(on, 0xffff);
}

TEST(Luma, IsTheWeightedSum) {
  OnCpu cpu;
  check_all(cpu);
}

TEST(Luma, WeightsOfTheStandardsAddUpToOne) {
  for (const LumaWeights &w : kWeights) EXPECT_EQ(w.red + w.green + w.blue, 1U << 16);
  EXPECT_EQ(kWeights[0].red, 19595U);  // 0.299
  EXPECT_EQ(kWeights[1].blue, 4732U);  // 0.0722
  EXPECT_THROW(luma_weights(0.9, 0.2), BadSetting);
  EXPECT_THROW(luma_weights(0, 0.2), BadSetting);
  EXPECT_THROW(luma_weights(NAN, 0.2), BadSetting);
}

TEST(Luma, TheSameLumaKeepsEveryColour) {
  RgbImage<std::uint8_t> in(kRgb[0], {200, 40}, {}, 0xff, 3), out(kRgb[0], {200, 40}, {}, 0xff, 4);
  Image<std::uint8_t> luma(200, 40);
  OnCpu on;
  on.get(in, kWeights[0], luma);
  on.set(in, kWeights[0], luma, Colors::kept, out);
  EXPECT_EQ(out.plane(0).samples(), in.plane(0).samples());
}

TEST(Luma, PlanesThatDoNotGoTogether) {
  Cpu cpu;
  const Image<std::uint8_t> packed(30, 4), small(27, 4);
  Image<std::uint8_t> luma(10, 4), narrow(9, 4);
  const auto rgb_of = [](const Image<std::uint8_t> &image, int width) {
    RgbPlanes<const std::uint8_t> rgb{image.plane(), image.plane(), image.plane(), {}, true, 3};
    rgb.red.width = rgb.green.width = rgb.blue.width = width;
    ++rgb.green.data, rgb.blue.data += 2;
    return rgb;
  };
  EXPECT_NO_THROW(get_luma(cpu, rgb_of(packed, 10), kWeights[0], luma.plane()));
  EXPECT_THROW(get_luma(cpu, rgb_of(packed, 10), kWeights[0], narrow.plane()), BadSetting);
  auto high = rgb_of(packed, 10);
  high.blue.height = 3;
  EXPECT_THROW(get_luma(cpu, high, kWeights[0], luma.plane()), BadSetting);
  const PackedYuv<const std::uint8_t> yuv{packed.plane(), 10, 0, 3, -1};
  EXPECT_NO_THROW(get_luma(cpu, yuv, luma.plane()));
  EXPECT_THROW(
      get_luma(cpu, PackedYuv<const std::uint8_t>{small.plane(), 10, 0, 3, -1}, luma.plane()),
      BadSetting);
  EXPECT_THROW(
      get_luma(cpu, PackedYuv<const std::uint8_t>{packed.plane(), 10, 3, 3, -1}, luma.plane()),
      BadSetting);
}

#ifdef HAVE_CUDA
class OnCuda {
 public:
  template <typename T>
  void get(RgbImage<T> &in, const LumaWeights &w, Image<T> &out) {
    const auto from = upload(in, 0);
    const Plane<T> to = copies_[4].upload(out);
    get_luma(cuda_, in.template view<const T>(from), w, to);
    download(copies_[4], out);
  }
  template <typename T>
  void set(RgbImage<T> &in, const LumaWeights &w, const Image<T> &luma, Colors colors,
           RgbImage<T> &out) {
    const auto from = upload(in, 0), to = upload(out, 5);
    std::vector<Plane<T>> written;
    for (const Plane<const T> &plane : to)
      written.push_back(
          {const_cast<T *>(plane.data), plane.width, plane.height, plane.stride, plane.maximum});
    const Plane<T> target = copies_[4].upload(luma);
    set_luma(cuda_, in.template view<const T>(from), w, Plane<const T>(target), colors,
             out.template view<T>(written));
    for (int i = 0; i < out.count(); ++i) download(copies_[5 + i], out.plane(i));
  }
  template <typename T>
  void get(const PackedYuv<const T> &layout, const Image<T> &in, Image<T> &out) {
    PackedYuv<const T> from = layout;
    from.samples = copies_[0].upload(in);
    get_luma(cuda_, from, copies_[4].upload(out));
    download(copies_[4], out);
  }
  template <typename T>
  void set(const PackedYuv<const T> &layout, const Image<T> &in, const Image<T> &luma,
           Colors colors, Image<T> &out) {
    PackedYuv<const T> from = layout;
    from.samples = copies_[0].upload(in);
    const Plane<T> target = copies_[4].upload(luma), to = copies_[5].upload(out);
    set_luma(cuda_, from, Plane<const T>(target), colors,
             {to, layout.width, layout.first, layout.step, layout.alpha});
    download(copies_[5], out);
  }

 private:
  template <typename T>
  std::vector<Plane<const T>> upload(RgbImage<T> &image, int first) {
    std::vector<Plane<const T>> all;
    for (int i = 0; i < image.count(); ++i)
      all.push_back(copies_[first + i].upload(image.plane(i)));
    return all;
  }
  template <typename T>
  void download(const test::DeviceCopy &from, Image<T> &to) {
    from.download(to.memory().begin(), to.memory().size());
    cuda_.synchronize();
  }

  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  CUstream_st *const on_ = stream_.get();
  test::DeviceCopy copies_[9]{test::DeviceCopy(on_), test::DeviceCopy(on_), test::DeviceCopy(on_),
                              test::DeviceCopy(on_), test::DeviceCopy(on_), test::DeviceCopy(on_),
                              test::DeviceCopy(on_), test::DeviceCopy(on_), test::DeviceCopy(on_)};
};

TEST(Luma, CudaIsTheWeightedSum) {
  NEED_GPU();
  OnCuda cuda;
  check_all(cuda);
}
#else
TEST(Luma, CudaIsRefusedWithoutIt) {
  Cuda cuda;
  const Plane<std::uint8_t> none{nullptr, 1, 1, 1};
  EXPECT_THROW(get_luma(cuda, PackedYuv<const std::uint8_t>{none, 1, 0, 1, -1}, none), Error);
}
#endif

}  // namespace
}  // namespace cudascan
