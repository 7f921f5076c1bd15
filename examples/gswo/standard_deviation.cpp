// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard deviation of the window's samples (divided by N, not N - 1), rounded to the nearest
// level, halves up (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of
// sliding window operations in image processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/standard_deviation.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/standard_deviation.cpp -o standard_deviation.cu
//
// Pixels outside the frame are left out, whatever `border` is.
//
// With N samples, their sum S and the sum of their squares Q, the result is sqrt(V) / N with V = N
// Q - S^2. In single precision it may be one level off; an exact comparison in integers corrects
// it. Squares are summed in two halves whose sums fit 32 bits. For 8-bit samples the upper half is
// 0 and costs nothing.

#include <math.h>

typedef unsigned short pixel;  // samples of 8 and of 16 bit

static unsigned long long square(unsigned long long number) {
  return number * number;
}

void standard_deviation(const pixel *in, pixel *out, int width, int height, int window = 3) {
  const int r = window / 2;
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        unsigned sum = 0, low = 0, high = 0, n = 0;
#pragma single remain
        {
          for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              const unsigned sample = in[(y + dy) * width + (x + dx)];
              sum += sample;
              low += sample * sample & 0xffff;
              high += sample * sample >> 16;
              n++;
            }
        }
        const unsigned long long squares = ((unsigned long long)high << 16) + low;
        const unsigned long long variance = n * squares - square(sum);
        unsigned level = (unsigned)(sqrtf((float)variance) * (1.0f / n) + 0.5f);
        level += square((2 * level + 1) * n) <= 4 * variance;
        level -= (level > 0) & (square((2 * level - 1) * n) > 4 * variance);
#pragma single assign
        out[y * width + x] = level;
      }
  }
}
