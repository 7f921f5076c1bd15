// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard deviation of the window's samples, of all of them (not N - 1), to the nearest level,
// halves up (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding
// window operations in image processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/standard_deviation.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/standard_deviation.cpp -o standard_deviation.cu
//
// What is outside of the frame is left out, whatever `border` is.
//
// With N samples, their sum S and the sum of their squares Q it is sqrt(N Q - S^2) / N. N Q - S^2
// is a whole number, and so a double tells results apart from halves: of 8 bit for each window, of
// 16 bit up to 25x25.

#include <math.h>

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void standard_deviation(const pixel *in, pixel *out, int width, int height, int window = 3) {
  const int r = window / 2;
#pragma parallel
  {
#pragma for nest(2) tile(32, 8)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        unsigned sum = 0, n = 0;
        unsigned long long squares = 0;
#pragma single remain
        {
          for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              const unsigned sample = in[(y + dy) * width + (x + dx)];
              sum += sample;
              squares += sample * sample;
              n++;
            }
        }
        const unsigned long long variance = n * squares - (unsigned long long)sum * sum;
#pragma single assign
        out[y * width + x] = (pixel)(sqrt((double)variance) / n + 0.5);
      }
  }
}
