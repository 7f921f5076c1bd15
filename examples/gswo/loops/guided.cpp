// SPDX-License-Identifier: LGPL-2.1-or-later
// The guided filter with the frame as its own guide (He, Sun and Tang, "Guided image filtering",
// IEEE Transactions on Pattern Analysis and Machine Intelligence 35, 2013). Two passes: a line
// a * sample + b for each window, then the mean of the lines of all windows with a pixel.

typedef float pixel;
static const int radius = 4;

void guided(pixel **in, pixel **a, pixel **b, pixel **out, int width, int height,
            float epsilon = 100.0f) {
#pragma parallel region scratch(a, b)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          float sum = 0, squares = 0;
          int count = 0;
          for (int dy = -radius; dy <= radius; dy++)
            for (int dx = -radius; dx <= radius; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              const float sample = in[y + dy][x + dx];
              sum += sample;
              squares += sample * sample;
              count++;
            }
          const float mean = sum / count, variance = squares / count - mean * mean;
          a[y][x] = variance / (variance + epsilon);
          b[y][x] = mean - a[y][x] * mean;
        }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          float sum_a = 0, sum_b = 0;
          int count = 0;
          for (int dy = -radius; dy <= radius; dy++)
            for (int dx = -radius; dx <= radius; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              sum_a += a[y + dy][x + dx];
              sum_b += b[y + dy][x + dx];
              count++;
            }
          out[y][x] = sum_a / count * in[y][x] + sum_b / count;
        }
    }
  }
}
