// SPDX-License-Identifier: LGPL-2.1-or-later
// The most frequent sample of the window, the lowest of several (Yang et al., "GSWO: A programming
// model for GPU-enabled parallelization of sliding window operations in image processing", 2016,
// Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/mode.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/mode.cpp -o mode.cu
//
// Each sample counts those like it. Where the window leaves the frame it reads what `border` puts
// there.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void mode(pixel **in, pixel **out, int width, int height, int window = 3) {
  const int r = window / 2, size = window * window;
#pragma parallel
  {
#pragma single initialisation
    pixel v[window * window];
#pragma for nest(2) tile(32, 8)
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
          pixel mode = 0;
          int most = 0;
          for (int m = 0; m < size; m++) {
            int like = 0;
            for (int t = 0; t < size; t++) like += v[t] == v[m];
            const bool wins = like > most || (like == most && v[m] < mode);
            mode = wins ? v[m] : mode;
            most = wins ? like : most;
          }
          v[0] = mode;
        }
#pragma single assign
        out[y][x] = v[0];
      }
  }
}
