// SPDX-License-Identifier: LGPL-2.1-or-later
// Grows white (all but 0) until its parts nearly meet; that is, it thins black (Yang et al., "GSWO:
// A programming model for GPU-enabled parallelization of sliding window operations in image
// processing", 2016, Table 6). The result is `white` and 0.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter source=examples/gswo/thickening.cpp ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone examples/gswo/thickening.cpp -o thickening.cu
//
// In `a` and `b` black is 1. A pass has two steps. Each step removes, all at once, the pixels that
// meet the conditions of Zhang and Suen (Comm. ACM 27(3), 1984) in the image before the step.
// `passes` must be about half the width of the thickest part; passes after the last change do
// nothing. For 16-bit frames also set white=65535 in params.
//
// Outside the frame is white, 0 in `a` and `b`: use border=constant, whose border-value is 0. Your
// own program must put a row and a column of zeros around them.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

// Whether a step removes a pixel, judged by its neighbours.
static bool goes(const pixel *v, int step) {
  const int p2 = v[1], p3 = v[2], p4 = v[5], p5 = v[8], p6 = v[7], p7 = v[6], p8 = v[3], p9 = v[0];
  const int set = p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9;
  const int rises =
      (p3 > p2) + (p4 > p3) + (p5 > p4) + (p6 > p5) + (p7 > p6) + (p8 > p7) + (p9 > p8) + (p2 > p9);
  const int kept = step == 0 ? p4 * p6 * (p2 + p8) : p2 * p8 * (p4 + p6);
  return set >= 2 && set <= 6 && rises == 1 && kept == 0;
}

void thickening(pixel **in, pixel **a, pixel **b, pixel **out, int width, int height,
                int passes = 16, int white = 255) {
#pragma parallel region scratch(a, b)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) a[y][x] = in[y][x] == 0;
    }
    for (int pass = 0; pass < passes; pass++) {
#pragma parallel
      {
#pragma single initialisation
        pixel v[9];
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
#pragma single transfer
            {
              int n = 0;
              for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) v[n++] = a[y + dy][x + dx];
            }
#pragma single assign
            b[y][x] = v[4] && !goes(v, 0);
          }
      }

#pragma parallel
      {
#pragma single initialisation
        pixel v[9];
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
#pragma single transfer
            {
              int n = 0;
              for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) v[n++] = b[y + dy][x + dx];
            }
#pragma single assign
            a[y][x] = v[4] && !goes(v, 1);
          }
      }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[y][x] = a[y][x] ? 0 : white;
    }
  }
}
