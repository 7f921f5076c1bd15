// SPDX-License-Identifier: LGPL-2.1-or-later
// Local binary patterns: a bit for each of the eight neighbours that is not darker than the pixel
// (Ojala, Pietikainen and Harwood, Pattern Recognition 29, 1996).

typedef unsigned char pixel;

void local_binary_pattern(const pixel *in, pixel *out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 1; y < height - 1; y++)
      for (int x = 1; x < width - 1; x++) {
        const pixel centre = in[y * width + x];
        pixel code = 0;
        code |= (in[(y - 1) * width + (x - 1)] >= centre) << 7;
        code |= (in[(y - 1) * width + x] >= centre) << 6;
        code |= (in[(y - 1) * width + (x + 1)] >= centre) << 5;
        code |= (in[y * width + (x + 1)] >= centre) << 4;
        code |= (in[(y + 1) * width + (x + 1)] >= centre) << 3;
        code |= (in[(y + 1) * width + x] >= centre) << 2;
        code |= (in[(y + 1) * width + (x - 1)] >= centre) << 1;
        code |= (in[y * width + (x - 1)] >= centre) << 0;
        out[y * width + x] = code;
      }
  }
}
