// SPDX-License-Identifier: LGPL-2.1-or-later
// Removes bright areas that the window does not fit into: an erosion, then a dilation of its
// result (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding window
// operations in image processing", 2016, Table 6).
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/opening.cpp window-width=5 window-height=3 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window_width=5 --set window_height=3 examples/gswo/opening.cpp -o opening.cu
//
// Two kernels share an image that the caller provides; in a pipeline the element provides it.
// Pixels outside the frame are left out, whatever `border` is.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void opening(const pixel *in, pixel *eroded, pixel *out, int width, int height,
             int window_width = 3, int window_height = 3) {
  const int rx = window_width / 2, ry = window_height / 2;
#pragma parallel region scratch(eroded)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel least = in[y * width + x];
#pragma single remain
          {
            for (int dy = -ry; dy <= ry; dy++)
              for (int dx = -rx; dx <= rx; dx++) {
                if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
                const pixel sample = in[(y + dy) * width + (x + dx)];
                least = sample < least ? sample : least;
              }
          }
#pragma single assign
          eroded[y * width + x] = least;
        }
    }

#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel most = eroded[y * width + x];
#pragma single remain
          {
            for (int dy = -ry; dy <= ry; dy++)
              for (int dx = -rx; dx <= rx; dx++) {
                if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
                const pixel sample = eroded[(y + dy) * width + (x + dx)];
                most = sample > most ? sample : most;
              }
          }
#pragma single assign
          out[y * width + x] = most;
        }
    }
  }
}
