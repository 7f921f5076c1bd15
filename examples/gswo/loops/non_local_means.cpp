// SPDX-License-Identifier: LGPL-2.1-or-later
// Non-local means: a mean of 7x7 pixels, weighted by how similar the 3x3 pixels around them are
// (Buades, Coll and Morel, "A non-local algorithm for image denoising", CVPR 2005).
#include <math.h>

typedef float pixel;
static const int search = 3, patch = 1;
static const float strength = 15.0f;

void non_local_means(pixel **in, pixel **out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = search + patch; y < height - search - patch; y++)
      for (int x = search + patch; x < width - search - patch; x++) {
        float sum = 0, weights = 0;
        for (int dy = -search; dy <= search; dy++)
          for (int dx = -search; dx <= search; dx++) {
            float distance = 0;
            for (int py = -patch; py <= patch; py++)
              for (int px = -patch; px <= patch; px++) {
                const float d = in[y + py][x + px] - in[y + dy + py][x + dx + px];
                distance += d * d;
              }
            const float weight = expf(-distance / (9 * strength * strength));
            sum += weight * in[y + dy][x + dx];
            weights += weight;
          }
        out[y][x] = sum / weights;
      }
  }
}
