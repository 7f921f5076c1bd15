// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/windowsums/division.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cudascan::windowsums {
namespace {

TEST(WindowSumsDivision, CoversTheImageWithAboutOneRoundOfBlocks) {
  for (const int height : {1, 3, 17, 640, 2160, 9921})
    for (const int window_rows : {1, 3, 33, 255, 2047})
      for (const int inner_tiles : {0, 1, 13, 300})
        for (const int edge_tiles : {0, 1, 2})
          for (const int warps : {1, 8, 12, 16}) {
            if (inner_tiles + edge_tiles == 0) continue;
            const int resident = warps > 8 ? 1 : 2, slots = 132 * resident;
            const Division d({height, window_rows, inner_tiles, edge_tiles, 1.4f, 132}, 16, warps,
                             resident, warps == 8);
            int blocks = 0;
            for (const BlockStrips &strips : {d.inner, d.edge}) {
              EXPECT_GE(strips.rows, 1);
              EXPECT_GE(d.blocks(strips, height) * warps * strips.rows, height);
              EXPECT_EQ(strips.groups * strips.rows + strips.rest, window_rows);
              EXPECT_GE(strips.group_parts * strips.part_rows, strips.rows);
              EXPECT_LE(strips.part_rows, 16);
            }
            if (inner_tiles > 0) blocks += inner_tiles * d.blocks(d.inner, height);
            if (edge_tiles > 0) blocks += edge_tiles * d.blocks(d.edge, height);
            EXPECT_LE(blocks, std::max(slots, inner_tiles + edge_tiles));
            EXPECT_GT(d.time, 0);
            EXPECT_GE(d.load(16), d.time);
          }
}

TEST(WindowSumsDivision, FillsLowWindowsAloneAndHighOnesTogether) {
  const DividedImage image{2160, 3, 13, 2, 1.05f, 132};
  EXPECT_EQ(Division(image, 2160, 16, 1, true).most_groups(), 0);
  DividedImage high = image;
  high.window_rows = 255;
  EXPECT_GE(Division(high, 2160, 16, 1, true).most_groups(), 2);
  high.share = false;
  EXPECT_EQ(Division(high, 2160, 16, 1, true).most_groups(), 0);
}

TEST(WindowSumsDivision, AddsUpNoMoreRowsThanItMay) {
  for (int height = 100; height < 3000; height += 7) {
    DividedImage image{height, 253, 13, 2, 1.05f, 132};
    image.most_group_rows = 257;
    const Division d(image, 2160, 16, 1, true);
    for (const BlockStrips &strips : {d.inner, d.edge}) {
      EXPECT_LE(strips.groups * strips.rows, 257) << height;
      EXPECT_EQ(strips.groups * strips.rows + strips.rest, 253) << height;
    }
  }
}

TEST(WindowSumsDivision, GivesTilesThatTakeLongerLowerStrips) {
  const Division d({2160, 3, 13, 2, 1.4f, 132}, 2160, 8, 2, true);
  EXPECT_LT(d.edge.rows, d.inner.rows);
}

}  // namespace
}  // namespace cudascan::windowsums
