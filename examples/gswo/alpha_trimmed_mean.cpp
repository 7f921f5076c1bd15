// SPDX-License-Identifier: LGPL-2.1-or-later
// The mean of the window without its most unusual samples (Yang et al., "GSWO: A programming model
// for GPU-enabled parallelization of sliding window operations in image processing", 2016, Table
// 6): a share `alpha` of them is left out at each end; at least one remains.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/alpha_trimmed_mean.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/alpha_trimmed_mean.cpp -o alpha_trimmed_mean.cu
//
// The mean is rounded to the nearest level. Outside the frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void alpha_trimmed_mean(pixel **in, pixel **out, int width, int height, int window = 3,
                        double alpha = 0.25) {
  const int r = window / 2, size = window * window;
  const int share = (int)(size * alpha + 1e-7);  // 0.28 of 25 samples are 7, not 6.9999
  const int trimmed = share < size / 2 ? share : size / 2;
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
          for (int m = 0; m < size; m++)
            for (int t = m + 1; t < size; t++)
              if (v[m] > v[t]) {
                const pixel least = v[t];
                v[t] = v[m];
                v[m] = least;
              }
        }
        unsigned sum = 0;
        for (int m = 0; m < size; m++) sum += m >= trimmed && m < size - trimmed ? v[m] : 0;
        const unsigned n = size - 2 * trimmed;
#pragma single assign
        out[y][x] = (sum + n / 2) / n;
      }
  }
}
