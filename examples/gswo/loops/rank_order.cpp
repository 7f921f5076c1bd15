// SPDX-License-Identifier: LGPL-2.1-or-later
// The sample of rank 6 (of 0 to 24) in 5x5, by an insertion sort.

typedef unsigned char pixel;

void rank_order(const pixel *in, pixel *out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 2; y < height - 2; y++)
      for (int x = 2; x < width - 2; x++) {
        pixel sorted[25];
        int count = 0;
        for (int dy = -2; dy <= 2; dy++)
          for (int dx = -2; dx <= 2; dx++) {
            const pixel sample = in[(y + dy) * width + (x + dx)];
            int k = count++;
            while (k > 0 && sorted[k - 1] > sample) {
              sorted[k] = sorted[k - 1];
              k--;
            }
            sorted[k] = sample;
          }
        out[y * width + x] = sorted[6];
      }
  }
}
