// SPDX-License-Identifier: LGPL-2.1-or-later
// The middle one of the window's sorted samples (Yang et al., "GSWO: A programming model for
// GPU-enabled parallelization of sliding window operations in image processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/median.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/median.cpp -o median.cu
//
// The sort is that of the paper's Table 3, but it stops when the middle is reached. Outside the
// frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void median(pixel **in, pixel **out, int width, int height, int window = 3) {
  const int r = window / 2, size = window * window;
#pragma parallel
  {
#pragma single initialisation
    pixel v[window * window];
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
#pragma single transfer
        {
          int n = 0;
          for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) v[n++] = in[y + dy][x + dx];
        }
#pragma single remain
        {
          for (int m = 0; m <= size / 2; m++)
            for (int t = m + 1; t < size; t++)
              if (v[m] > v[t]) {
                const pixel least = v[t];
                v[t] = v[m];
                v[m] = least;
              }
        }
#pragma single assign
        out[y][x] = v[size / 2];
      }
  }
}
