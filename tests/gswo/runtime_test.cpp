// SPDX-License-Identifier: LGPL-2.1-or-later
// kernels/gswo/gswo_rt.h alone: how values become pixels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "gswo_rt.h"

namespace {

using gswo::stored;
using U8 = unsigned char;
using U16 = unsigned short;

TEST(GswoRuntime, StoresTheNearestValueOfThePixel) {
  EXPECT_EQ((stored<U8, float>(2.5f)), 3);
  EXPECT_EQ((stored<U8, float>(std::nextafter(0.5f, 0.f))), 0);
  EXPECT_EQ((stored<U8, float>(-0.4f)), 0);
  EXPECT_EQ((stored<U8, float>(-1e30f)), 0);
  EXPECT_EQ((stored<U8, float>(254.5f)), 255);
  EXPECT_EQ((stored<U8, float>(1e30f)), 255);
  EXPECT_EQ((stored<U8, double>(std::numeric_limits<double>::infinity())), 255);
  EXPECT_EQ((stored<U8, double>(std::nan(""))), 0);
  EXPECT_EQ((stored<U16, double>(65534.5)), 65535);
  EXPECT_EQ((stored<short, float>(-2.5f)), -3);
  EXPECT_EQ((stored<short, float>(-40000.f)), -32768);
  for (double v = -3; v < 260; v += 0.01)
    EXPECT_EQ((stored<U8, double>(v)), v < 0 ? 0 : v > 255 ? 255 : std::lround(v)) << v;
}

TEST(GswoRuntime, StoresWholeNumbersCutOff) {
  EXPECT_EQ((stored<U8, int>(256)), 255);
  EXPECT_EQ((stored<U8, int>(-1)), 0);
  EXPECT_EQ((stored<U8, unsigned>(4000000000u)), 255);
  EXPECT_EQ((stored<U8, U16>(300)), 255);
  EXPECT_EQ((stored<U16, U8>(200)), 200);
  EXPECT_EQ((stored<short, int>(-40000)), -32768);
  EXPECT_EQ((stored<U8, signed char>(-5)), 0);
  EXPECT_EQ((stored<int, long long>(5000000000)), INT32_MAX);
  EXPECT_EQ((stored<unsigned, int>(-7)), 0u);
}

TEST(GswoRuntime, StoresLargeNumbers) {
  EXPECT_EQ((stored<int, float>(3e9f)), INT32_MAX);
  EXPECT_EQ((stored<int, float>(-3e9f)), INT32_MIN);
  EXPECT_EQ((stored<int, double>(2147483646.5)), INT32_MAX);
  EXPECT_EQ((stored<int, double>(-1.5)), -2);
  EXPECT_EQ((stored<unsigned, float>(5e9f)), UINT32_MAX);
  EXPECT_EQ((stored<long long, double>(1e19)), INT64_MAX);
  EXPECT_EQ((stored<float, double>(0.1)), 0.1f);
  EXPECT_EQ((stored<double, float>(0.1f)), double{0.1f});
}

TEST(GswoRuntime, CutsRowsDownToInnerWindows) {
  const gswo::Plane p{nullptr, 0, 10, 5, 1, 1};
  int low = 0, high = 10;
  gswo::limit(p, 1, 1, -1, 1, -2, 1, low, high);  // the first row reads above the image
  gswo::limit_turns(10, 10, low, high);
  EXPECT_GE(low, high);
  low = 0, high = 10;
  gswo::limit(p, 2, 1, -1, 1, -2, 1, low, high);
  gswo::limit_turns(10, 10, low, high);
  EXPECT_EQ(low, 2);
  EXPECT_EQ(high, 9);
}

}  // namespace
