// SPDX-License-Identifier: LGPL-2.1-or-later
// The multi-stage directional median (Yang et al., "GSWO: A programming model for GPU-enabled
// parallelization of sliding window operations in image processing", 2016, Table 6): medians of the
// row, the column and both diagonals through the pixel, of `window` samples each, and then the
// middle one of the smallest of them, the largest, and the pixel itself (Arce, McLoughlin,
// "Theoretical analysis of the max/median filter", 1987). Keeps lines that a median removes.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/directional_median.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/directional_median.cpp -o directional_median.cu
//
// Outside the frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void directional_median(pixel **in, pixel **out, int width, int height, int window = 3) {
  const int r = window / 2;
#pragma parallel
  {
#pragma single initialisation
    pixel v[4 * window];
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
#pragma single transfer
        {
          for (int i = -r; i <= r; i++) {
            v[r + i] = in[y][x + i];
            v[window + r + i] = in[y + i][x];
            v[2 * window + r + i] = in[y + i][x + i];
            v[3 * window + r + i] = in[y - i][x + i];
          }
        }
#pragma single remain
        {
          for (int line = 0; line < 4; line++)
            for (int m = 0; m <= r; m++)
              for (int t = m + 1; t < window; t++)
                if (v[line * window + m] > v[line * window + t]) {
                  const pixel least = v[line * window + t];
                  v[line * window + t] = v[line * window + m];
                  v[line * window + m] = least;
                }
        }
        pixel low = v[r], high = v[r];
        for (int line = 1; line < 4; line++) {
          const pixel median = v[line * window + r];
          low = median < low ? median : low;
          high = median > high ? median : high;
        }
        const pixel middle = in[y][x];
#pragma single assign
        out[y][x] = middle < low ? low : middle > high ? high : middle;
      }
  }
}
