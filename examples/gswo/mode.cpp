// SPDX-License-Identifier: LGPL-2.1-or-later
// The most frequent sample of the window; of several, the lowest (Yang et al., "GSWO: A programming
// model for GPU-enabled parallelization of sliding window operations in image processing", 2016,
// Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/mode.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/mode.cpp -o mode.cu
//
// Sorting brings equal samples together. Outside the frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void mode(pixel **in, pixel **out, int width, int height, int window = 3) {
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
          for (int m = 0; m < size; m++)
            for (int t = m + 1; t < size; t++)
              if (v[m] > v[t]) {
                const pixel least = v[t];
                v[t] = v[m];
                v[m] = least;
              }
        }
        pixel mode = v[0];
        int like = 1, most = 1;
        for (int m = 1; m < size; m++) {
          like = 1 + like * (v[m] == v[m - 1]);
          const bool wins = like > most;
          mode = wins ? v[m] : mode;
          most = wins ? like : most;
        }
#pragma single assign
        out[y][x] = mode;
      }
  }
}
