// SPDX-License-Identifier: LGPL-2.1-or-later
// A sparse census transform: comparisons with 16 samples of 9x9, for frames of 16 bits
// (Zabih and Woodfill, "Non-parametric local transforms for computing visual correspondence", ECCV
// 1994).

typedef unsigned short pixel;

void census(pixel **in, pixel **out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 4; y < height - 4; y++)
      for (int x = 4; x < width - 4; x++) {
        pixel bits = 0;
        for (int dy = -4; dy <= 4; dy += 2)
          for (int dx = -4; dx <= 4; dx += 2) {
            if (dy == 0 || dx == 0) continue;
            bits = bits << 1;
            if (in[y + dy][x + dx] < in[y][x]) bits |= 1;
          }
        out[y][x] = bits;
      }
  }
}
