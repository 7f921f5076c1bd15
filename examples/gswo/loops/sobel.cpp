// SPDX-License-Identifier: LGPL-2.1-or-later
// The length of the gradient (Sobel operator of 3x3), at most 255.
#include <math.h>

typedef unsigned char pixel;

void sobel(const pixel *in, pixel *out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 1; y < height - 1; y++)
      for (int x = 1; x < width - 1; x++) {
        const int right = in[(y - 1) * width + (x + 1)] + 2 * in[y * width + (x + 1)] +
                          in[(y + 1) * width + (x + 1)];
        const int left = in[(y - 1) * width + (x - 1)] + 2 * in[y * width + (x - 1)] +
                         in[(y + 1) * width + (x - 1)];
        const int below = in[(y + 1) * width + (x - 1)] + 2 * in[(y + 1) * width + x] +
                          in[(y + 1) * width + (x + 1)];
        const int above = in[(y - 1) * width + (x - 1)] + 2 * in[(y - 1) * width + x] +
                          in[(y - 1) * width + (x + 1)];
        const int gx = right - left, gy = below - above;
        const float length = sqrtf((float)(gx * gx + gy * gy));
        out[y * width + x] = length > 255 ? 255 : (pixel)length;
      }
  }
}
