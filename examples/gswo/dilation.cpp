// SPDX-License-Identifier: LGPL-2.1-or-later
// Grows bright areas by a rectangle: the largest sample of the window (Yang et al., "GSWO: A
// programming model for GPU-enabled parallelization of sliding window operations in image
// processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/dilation.cpp window-width=5 window-height=3 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window_width=5 --set window_height=3 examples/gswo/dilation.cpp -o dilation.cu
//
// Outside the frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void dilation(pixel **in, pixel **out, int width, int height, int window_width = 3,
              int window_height = 3) {
  const int rx = window_width / 2, ry = window_height / 2;
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        pixel most = in[y][x];
#pragma single remain
        {
          for (int dy = -ry; dy <= ry; dy++)
            for (int dx = -rx; dx <= rx; dx++)
              most = in[y + dy][x + dx] > most ? in[y + dy][x + dx] : most;
        }
#pragma single assign
        out[y][x] = most;
      }
  }
}
