// SPDX-License-Identifier: LGPL-2.1-or-later
// The mean of the window, rounded to the nearest level, halves up (Yang et al., "GSWO: A
// programming model for GPU-enabled parallelization of sliding window operations in image
// processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/mean.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/mean.cpp -o mean.cu
//
// Pixels outside the frame are left out, whatever `border` is.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void mean(const pixel *in, pixel *out, int width, int height, int window = 3) {
  const int r = window / 2;
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        unsigned sum = 0, n = 0;
#pragma single remain
        {
          for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              sum += in[(y + dy) * width + (x + dx)];
              n++;
            }
        }
#pragma single assign
        out[y * width + x] = (sum + n / 2) / n;
      }
  }
}
