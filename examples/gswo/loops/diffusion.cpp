// SPDX-License-Identifier: LGPL-2.1-or-later
// A step of anisotropic diffusion (Perona and Malik, "Scale-space and edge detection using
// anisotropic diffusion", IEEE Transactions on Pattern Analysis and Machine Intelligence 12, 1990).
#include <math.h>

typedef float pixel;

void diffusion(pixel **in, pixel **out, int width, int height, float k = 20.0f,
               float lambda = 0.2f) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 1; y < height - 1; y++)
      for (int x = 1; x < width - 1; x++) {
        const float north = in[y - 1][x] - in[y][x], south = in[y + 1][x] - in[y][x];
        const float west = in[y][x - 1] - in[y][x], east = in[y][x + 1] - in[y][x];
        out[y][x] = in[y][x] + lambda * (expf(-(north / k) * (north / k)) * north +
                                         expf(-(south / k) * (south / k)) * south +
                                         expf(-(west / k) * (west / k)) * west +
                                         expf(-(east / k) * (east / k)) * east);
      }
  }
}
