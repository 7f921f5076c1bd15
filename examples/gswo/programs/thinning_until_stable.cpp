// SPDX-License-Identifier: LGPL-2.1-or-later
// Removes white (all but 0) until lines of one pixel are left, as ../thinning.cpp does, but in as
// many passes as the picture needs (Yang et al., "GSWO: A programming model for GPU-enabled
// parallelization of sliding window operations in image processing", 2016, Table 6).
//
//     gswo-cc --emit standalone examples/gswo/programs/thinning_until_stable.cpp -o thinning.cu
//
// The images stay on the GPU; after each pass only one number comes back. An element cannot do
// that: use operator=thin with iterations=0.
//
// `a` and `b` need a row and a column of zeros around them.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

// Whether a step removes a pixel, judged by its neighbours: the conditions of Zhang and Suen (Comm.
// ACM 27(3), 1984).
static bool goes(const pixel *v, int step) {
  const int p2 = v[1], p3 = v[2], p4 = v[5], p5 = v[8], p6 = v[7], p7 = v[6], p8 = v[3], p9 = v[0];
  const int set = p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9;
  const int rises =
      (p3 > p2) + (p4 > p3) + (p5 > p4) + (p6 > p5) + (p7 > p6) + (p8 > p7) + (p9 > p8) + (p2 > p9);
  const int kept = step == 0 ? p4 * p6 * (p2 + p8) : p2 * p8 * (p4 + p6);
  return set >= 2 && set <= 6 && rises == 1 && kept == 0;
}

// Returns the number of passes.
int thinning_until_stable(pixel **in, pixel **a, pixel **b, pixel **out, int width, int height,
                          int white = 255) {
  int passes = 0, removed = 1;
#pragma parallel region scratch(a, b)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) a[y][x] = in[y][x] != 0;
    }
    while (removed > 0) {
      removed = 0;
#pragma parallel
      {
#pragma for nest(2) reduction(+ : removed)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
            pixel v[9];
            int n = 0;
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++) v[n++] = a[y + dy][x + dx];
            b[y][x] = v[4] && !goes(v, 0);
            removed += v[4] && goes(v, 0);
          }
      }
#pragma parallel
      {
#pragma for nest(2) reduction(+ : removed)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
            pixel v[9];
            int n = 0;
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++) v[n++] = b[y + dy][x + dx];
            a[y][x] = v[4] && !goes(v, 1);
            removed += v[4] && goes(v, 1);
          }
      }
      passes++;
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[y][x] = a[y][x] ? white : 0;
    }
  }
  return passes;
}
