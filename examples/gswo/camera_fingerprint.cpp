// SPDX-License-Identifier: LGPL-2.1-or-later
// What a camera adds to each of its pictures: the picture minus its 3x3 median, which has no noise
// (Yang et al., "GSWO: A programming model for GPU-enabled parallelization of sliding window
// operations in image processing", 2016, section 4.3). The result is centred at mid-gray: 128 of
// 255, or that of maximum=65535 for 16-bit frames.
//
//     gst-launch-1.0 filesrc location=scan.png ! decodebin ! videoconvert ! cudaswofilter source=examples/gswo/camera_fingerprint.cpp ! pngenc ! filesink location=result.png
//     gswo-cc --emit standalone examples/gswo/camera_fingerprint.cpp -o camera_fingerprint.cu
//
// The mean over many pictures is the fingerprint of the camera: examples/camera_fingerprint.py.
//
// As in the paper, an outer loop goes over the regions of interest of the median; here these are
// bands of rows. The pragmas of its Appendix C manage memory: it is allocated and filled once,
// before the loop. In a pipeline nothing is copied: picture and fingerprint are the input and
// output frames.

typedef unsigned short pixel;  // samples of 8 and of 16 bit

void camera_fingerprint(const pixel *picture, pixel *denoised, pixel *fingerprint, int width,
                        int height, int regions = 4, int maximum = 255) {
#pragma parallel region
  {
#pragma copyMalloc1DArray(picture, toDevice, width, height, pitch1)
#pragma copyMalloc1DArray(denoised, toDevice, width, height, pitch2)
#pragma copyMalloc1DArray(fingerprint, toDevice, width, height, pitch3, InKernel)
#pragma copyMemcpy2D(picture, HosttoDevice, width, height, pitch1, picture)
    for (int region = 0; region < regions; region++) {
#pragma parallel
      {
#pragma single initialisation
        pixel v[9];
#pragma for nest(2)
        for (int y = region * height / regions; y < (region + 1) * height / regions; y++)
          for (int x = 0; x < width; x++) {
#pragma single transfer
            {
              int n = 0;
              for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                  int row = y + dy, column = x + dx;
                  if (row < 0) row = 0;
                  if (row >= height) row = height - 1;
                  if (column < 0) column = 0;
                  if (column >= width) column = width - 1;
                  v[n++] = picture[row * width + column];
                }
            }
#pragma single remain
            {
              for (int m = 0; m <= 4; m++)
                for (int t = m + 1; t < 9; t++)
                  if (v[m] > v[t]) {
                    const pixel least = v[t];
                    v[t] = v[m];
                    v[m] = least;
                  }
            }
#pragma single assign
            denoised[y * width + x] = v[4];
          }
      }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          const int noise = picture[y * width + x] - denoised[y * width + x];
          const int shown = (maximum + 1) / 2 + noise;
#pragma single assign
          fingerprint[y * width + x] = shown < 0 ? 0 : shown > maximum ? maximum : shown;
        }
    }
#pragma copyMemcpy2D(fingerprint, Device to Host, width, height, pitch3, fingerprint)
  }
}
