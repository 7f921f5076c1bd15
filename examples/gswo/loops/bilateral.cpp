// SPDX-License-Identifier: LGPL-2.1-or-later
// The bilateral filter: a mean whose weights fall with the distance and with the difference of the
// levels (Tomasi and Manduchi, "Bilateral filtering for gray and color images", ICCV 1998).
#include <math.h>

typedef float pixel;
static const int radius = 3;
static const float sigma_space = 2.0f, sigma_level = 25.0f;

void bilateral(pixel **in, pixel **out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = radius; y < height - radius; y++)
      for (int x = radius; x < width - radius; x++) {
        float sum = 0, weights = 0;
        for (int dy = -radius; dy <= radius; dy++)
          for (int dx = -radius; dx <= radius; dx++) {
            const float sample = in[y + dy][x + dx];
            const float difference = sample - in[y][x];
            const float weight = expf(-(dx * dx + dy * dy) / (2 * sigma_space * sigma_space)) *
                                 expf(-difference * difference / (2 * sigma_level * sigma_level));
            sum += weight * sample;
            weights += weight;
          }
        out[y][x] = sum / weights;
      }
  }
}
