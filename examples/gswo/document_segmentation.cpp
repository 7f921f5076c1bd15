// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of text. A window dilates dark samples (up to `threshold`) until the letters of a line
// and the lines of a block join. The same window then erodes them, so that regions end where their
// text does, or at the edge of the frame if the window reaches it (Yang et al., "GSWO: A
// programming model for GPU-enabled parallelization of sliding window operations in image
// processing", 2016, section 4.4). Regions are `white`, everything else is 0.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/document_segmentation.cpp window-width=25 window-height=15 ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone --set window_width=25 --set window_height=15 examples/gswo/document_segmentation.cpp -o document_segmentation.cu
//
// Areas join if the gap between them is smaller than the window. A rectangle is separable: dilation
// and erosion go along rows, then along columns. So the four kernels read width + height samples of
// a window, not width times height. Pixels outside the frame are left out, whatever `border` is.
// For frames of 16 bit set threshold=32767 and white=65535 in params.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void document_segmentation(const pixel *page, pixel *a, pixel *b, pixel *regions, int width,
                           int height, int window_width = 3, int window_height = 3,
                           int threshold = 127, int white = 255) {
  const int rx = window_width / 2, ry = window_height / 2;
#pragma parallel region scratch(a, b)
  {
    // Dilation along rows, along columns.
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel ink = 0;
#pragma single remain
          {
            for (int dx = -rx; dx <= rx; dx++)
              if (x + dx >= 0 && x + dx < width && page[y * width + (x + dx)] <= threshold) ink = 1;
          }
#pragma single assign
          a[y * width + x] = ink;
        }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel ink = 0;
#pragma single remain
          {
            for (int dy = -ry; dy <= ry; dy++)
              if (y + dy >= 0 && y + dy < height && a[(y + dy) * width + x]) ink = 1;
          }
#pragma single assign
          b[y * width + x] = ink;
        }
    }
    // Erosion along rows, along columns.
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel region = 1;
#pragma single remain
          {
            for (int dx = -rx; dx <= rx; dx++)
              if (x + dx >= 0 && x + dx < width && !b[y * width + (x + dx)]) region = 0;
          }
#pragma single assign
          a[y * width + x] = region;
        }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel region = 1;
#pragma single remain
          {
            for (int dy = -ry; dy <= ry; dy++)
              if (y + dy >= 0 && y + dy < height && !a[(y + dy) * width + x]) region = 0;
          }
#pragma single assign
          regions[y * width + x] = region ? white : 0;
        }
    }
  }
}
