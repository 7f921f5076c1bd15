// SPDX-License-Identifier: LGPL-2.1-or-later
// Angles shown as hues: compared with sine and cosine, in all layouts of chroma, on the CPU and
// with CUDA.
#include "kernels/hue.h"

#include <cmath>
#include <numbers>

#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;
using test::Size;

struct Chroma {
  int step, shift_x, shift_y;
};
constexpr Chroma kChroma[] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {2, 0, 0}, {2, 1, 0}, {2, 1, 1}};
constexpr Size kSizes[] = {{1, 1}, {1, 2}, {2, 1}, {3, 3}, {180, 5}, {37, 66}, {131, 20}};

/// The planes of one image: u and v in separate images, or interleaved in the first.
template <typename T>
ChromaPlanes<T> planes_of(Plane<T> first, Plane<T> second, const Chroma &c) {
  ChromaPlanes<T> planes{first, second, c.step, c.shift_x, c.shift_y};
  if (c.step == 1) return planes;
  planes.v = first;
  ++planes.v.data;
  planes.u.width = planes.v.width = first.width / 2;
  return planes;
}

/// The value of u, or of v, for an angle.
int hue(int degrees, bool v, int maximum) {
  const double radians = 2 * degrees * std::numbers::pi / 180;
  const long level = 128 + std::lround(112 * (v ? std::sin(radians) : std::cos(radians)));
  return static_cast<int>(level * (maximum == 0xff ? 1 : maximum == 0x3ff ? 4 : 256));
}

/// Calls paint(angles, first chroma image, second chroma image) and checks every sample.
template <typename T, typename Paint>
void check_hues(T maximum, const Paint &paint) {
  const int scale = maximum == T(0xffc0) && sizeof(T) > 1 ? 64 : 1;
  for (const Chroma &c : kChroma)
    for (const auto [width, height] : kSizes) {
      SCOPED_TRACE(testing::Message()
                   << "maximum " << +maximum << ", " << width << "x" << height << ", step "
                   << c.step << ", shifts " << c.shift_x << " " << c.shift_y);
      std::vector<T> samples;
      for (int i = 0; i < width * height; ++i)
        samples.push_back(static_cast<T>(i * 7 % 180 * scale));
      const Image<T> angles(samples, width, height, {.padding = 3}, maximum);
      const int chroma_width = (width + c.shift_x) >> c.shift_x;
      const int chroma_height = (height + c.shift_y) >> c.shift_y;
      Image<T> first(chroma_width * c.step, chroma_height, {.padding = 5, .offset = 2}, maximum);
      Image<T> second(chroma_width, chroma_height, {.padding = 2}, maximum);
      paint(angles, first, second, c);
      EXPECT_TRUE(first.guards_intact() && second.guards_intact());
      const ChromaPlanes<T> out = planes_of(first.plane(), second.plane(), c);
      for (int y = 0; y < chroma_height; ++y)
        for (int x = 0; x < chroma_width; ++x) {
          const int degrees = angles.at(x << c.shift_x, y << c.shift_y) / scale;
          ASSERT_EQ(out.u.row(y)[x * c.step], hue(degrees, false, maximum))
              << degrees << " degrees";
          ASSERT_EQ(out.v.row(y)[x * c.step], hue(degrees, true, maximum)) << degrees << " degrees";
        }
    }
}

template <typename T>
void check_cpu(T maximum) {
  Cpu cpu(2);
  check_hues<T>(maximum,
                [&](const Image<T> &angles, Image<T> &first, Image<T> &second, const Chroma &c) {
                  paint_hues(cpu, angles.plane(), planes_of(first.plane(), second.plane(), c));
                });
}

TEST(Hue, IsThatOfTheAngle) {
  check_cpu<std::uint8_t>(0xff);
  check_cpu<std::uint16_t>(0x3ff);
  check_cpu<std::uint16_t>(0xffc0);
  check_cpu<std::uint16_t>(0xffff);
}

TEST(Hue, RightAnglesHaveOppositeColours) {
  Cpu cpu;
  for (int degrees = 0; degrees < 90; ++degrees) {
    const Image<std::uint8_t> angles(
        {static_cast<std::uint8_t>(degrees), static_cast<std::uint8_t>(degrees + 90)}, 2, 1);
    Image<std::uint8_t> u(2, 1), v(2, 1);
    paint_hues(cpu, angles.plane(), {u.plane(), v.plane()});
    EXPECT_EQ(u.at(0, 0) + u.at(1, 0), 256) << degrees;
    EXPECT_EQ(v.at(0, 0) + v.at(1, 0), 256) << degrees;
  }
}

TEST(Hue, PlanesOfSizesThatDoNotGoTogether) {
  Cpu cpu;
  const Image<std::uint8_t> angles(5, 4);
  Image<std::uint8_t> right(3, 2), narrow(2, 2), high(3, 4);
  const Plane<std::uint8_t> plane = right.plane();
  EXPECT_NO_THROW(paint_hues(cpu, angles.plane(), {plane, plane, 1, 1, 1}));
  EXPECT_THROW(paint_hues(cpu, angles.plane(), {plane, plane}), BadSetting);
  EXPECT_THROW(paint_hues(cpu, angles.plane(), {narrow.plane(), plane, 1, 1, 1}), BadSetting);
  EXPECT_THROW(paint_hues(cpu, angles.plane(), {plane, high.plane(), 1, 1, 1}), BadSetting);
}

#ifdef HAVE_CUDA
template <typename T>
void check_cuda(T maximum) {
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy device_angles(stream.get()), device_first(stream.get()),
      device_second(stream.get());
  check_hues<T>(
      maximum, [&](const Image<T> &angles, Image<T> &first, Image<T> &second, const Chroma &c) {
        const Plane<T> from = device_angles.upload(angles);
        paint_hues(cuda, Plane<const T>(from),
                   planes_of(device_first.upload(first), device_second.upload(second), c));
        device_first.download(first.memory().begin(), first.memory().size());
        device_second.download(second.memory().begin(), second.memory().size());
        cuda.synchronize();
      });
}

TEST(Hue, CudaPaintsThatOfTheAngle) {
  NEED_GPU();
  check_cuda<std::uint8_t>(0xff);
  check_cuda<std::uint16_t>(0x3ff);
  check_cuda<std::uint16_t>(0xffc0);
  check_cuda<std::uint16_t>(0xffff);
}
#else
TEST(Hue, CudaIsRefusedWithoutIt) {
  Cuda cuda;
  const Plane<std::uint8_t> none{nullptr, 1, 1, 1};
  EXPECT_THROW(paint_hues(cuda, Plane<const std::uint8_t>(none), {none, none}), Error);
}
#endif

}  // namespace
}  // namespace cudascan
