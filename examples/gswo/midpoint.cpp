// SPDX-License-Identifier: LGPL-2.1-or-later
// The value halfway between the smallest and the largest sample of the window, halves rounded up
// (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding window
// operations in image processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/midpoint.cpp window=5 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window=5 examples/gswo/midpoint.cpp -o midpoint.cu
//
// Outside the frame, `border` says what the window reads.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void midpoint(pixel **in, pixel **out, int width, int height, int window = 3) {
  const int r = window / 2;
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        pixel least = in[y][x], most = in[y][x];
#pragma single remain
        {
          for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
              const pixel sample = in[y + dy][x + dx];
              least = sample < least ? sample : least;
              most = sample > most ? sample : most;
            }
        }
#pragma single assign
        out[y][x] = (least + most + 1) / 2;
      }
  }
}
