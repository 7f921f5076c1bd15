// SPDX-License-Identifier: LGPL-2.1-or-later
// The variance of the samples of 7x7, in two passes over the window.

typedef float pixel;
static const int radius = 3;

void local_variance(pixel **in, pixel **out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = radius; y < height - radius; y++)
      for (int x = radius; x < width - radius; x++) {
        const int count = (2 * radius + 1) * (2 * radius + 1);
        float mean = 0, variance = 0;
        for (int dy = -radius; dy <= radius; dy++)
          for (int dx = -radius; dx <= radius; dx++) mean += in[y + dy][x + dx];
        mean /= count;
        for (int dy = -radius; dy <= radius; dy++)
          for (int dx = -radius; dx <= radius; dx++) {
            const float difference = in[y + dy][x + dx] - mean;
            variance += difference * difference;
          }
        out[y][x] = variance / count;
      }
  }
}
