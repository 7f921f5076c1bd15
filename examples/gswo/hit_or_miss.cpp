// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a pattern of black (0) and white (all else); some cells may be either ("do not care")
// (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding window
// operations in image processing", 2016, Table 6). The result is `white` where the pattern fits,
// else 0.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudanick invert=true ! cudaswofilter source=examples/gswo/hit_or_miss.cpp ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone examples/gswo/hit_or_miss.cpp -o hit_or_miss.cu
//
// Cells outside the frame always fit, whatever `border` is. For 16-bit frames set
// params="params,white=65535".

typedef unsigned short pixel;  // samples of 8 and of 16 bit

// 1 lies on white, 0 on black, -1 on anything: here the white corners that point up and to the
// right.
static const int pattern[3][3] = {{-1, 0, 0}, {1, 1, 0}, {-1, 1, -1}};

void hit_or_miss(const pixel *in, pixel *out, int width, int height, int white = 255) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        bool fits = true;
#pragma single remain
        {
          for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
              if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
              const int wanted = pattern[1 + dy][1 + dx];
              const bool is_white = in[(y + dy) * width + (x + dx)] != 0;
              fits &= wanted < 0 || is_white == (wanted == 1);
            }
        }
#pragma single assign
        out[y * width + x] = fits ? white : 0;
      }
  }
}
