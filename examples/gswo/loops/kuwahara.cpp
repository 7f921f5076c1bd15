// SPDX-License-Identifier: LGPL-2.1-or-later
// The Kuwahara filter: the mean of that quarter of 5x5 whose samples vary least.

typedef unsigned char pixel;

void kuwahara(pixel **in, pixel **out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 2; y < height - 2; y++)
      for (int x = 2; x < width - 2; x++) {
        int best = 1 << 30, result = 0;
        for (int quarter = 0; quarter < 4; quarter++) {
          const int top = quarter < 2 ? -2 : 0, left = quarter % 2 == 0 ? -2 : 0;
          int sum = 0, squares = 0;
          for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) {
              const int sample = in[y + top + dy][x + left + dx];
              sum += sample;
              squares += sample * sample;
            }
          const int variance = 9 * squares - sum * sum;
          if (variance < best) {
            best = variance;
            result = (sum + 4) / 9;
          }
        }
        out[y][x] = result;
      }
  }
}
