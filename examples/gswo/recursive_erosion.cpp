// SPDX-License-Identifier: LGPL-2.1-or-later
// Erosion in place (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of
// sliding window operations in image processing", 2016, Table 6): each pixel, row by row from the
// upper left, becomes the smallest sample of its window. Above and to the left, the window already
// contains results.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/recursive_erosion.cpp ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone examples/gswo/recursive_erosion.cpp -o recursive_erosion.cu
//
// `window` is 3 or more. Pixels outside the frame are left out, whatever `border` is.
//
// As written, the loop cannot compute two pixels at once: each needs the result before it. But a
// result is also the smallest of these, which need no other results of its row:
//
// - the samples of its row and of the r rows below, from the left edge of the image to the right
//   edge of the window: the results to its left contain them;
// - the result in the row above at the upper right corner of the window, r columns to the right: it
//   contains all other results of that row in the window.
//
// From row to row, the second follows a slanted line upwards. So there are two steps, along rows
// and along slanted lines. Each takes `doublings` passes: runs of 1, 2, 4, 8, ... samples are
// joined with the run of the same length before them; a sample counted twice does not matter. 2 to
// the power of `doublings` must be at least the width and the height of the frame: 15 suffices up
// to 32768.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void recursive_erosion(const pixel *in, pixel *a, pixel *b, pixel *out, int width, int height,
                       int window = 3, int doublings = 15) {
  const int r = window / 2;
#pragma parallel region scratch(a, b)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) a[y * width + x] = in[y * width + x];
    }
    // Row by row: the smallest sample up to each column.
    for (int pass = 0; pass < doublings; pass++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
            const int back = 1 << pass;
            pixel v = a[y * width + x];
            if (x >= back && a[y * width + (x - back)] < v) v = a[y * width + (x - back)];
            b[y * width + x] = v;
          }
      }
      pixel *other = a;
      a = b;
      b = other;
    }
    // The window's own row and the rows below, with everything to their left.
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          const int last = x + r < width ? x + r : width - 1;
          pixel v = a[y * width + last];
          for (int dy = 1; dy <= r; dy++)
            if (y + dy < height && a[(y + dy) * width + last] < v) v = a[(y + dy) * width + last];
          b[y * width + x] = v;
        }
    }
    pixel *lower = a;
    a = b;
    b = lower;
    // Row by row: adds the result at the upper right corner of the window.
    for (int pass = 0; pass < doublings; pass++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
            const int up = 1 << pass;
            const int right = x + r * up < width ? x + r * up : width - 1;
            pixel v = a[y * width + x];
            if (y >= up && a[(y - up) * width + right] < v) v = a[(y - up) * width + right];
            b[y * width + x] = v;
          }
      }
      pixel *other = a;
      a = b;
      b = other;
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[y * width + x] = a[y * width + x];
    }
  }
}
