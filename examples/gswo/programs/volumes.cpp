// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters for volumes and sequences of frames, for programs of gswo-cc:
//
//     gswo-cc --emit standalone examples/gswo/programs/volumes.cpp -o volumes.cu
//
// `examples/gswo_figures.py --figures volumes` measures them. The outermost pixels of a volume are
// left as they are.
#include <algorithm>
#include <utility>

// The mean of 3x3x3.
void mean_bytes(const unsigned char *in, unsigned char *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          int sum = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                sum += in[((z + dz) * height + y + dy) * width + x + dx];
          out[(z * height + y) * width + x] = (sum + 13) / 27;
        }
  }
}

void mean_shorts(const unsigned short *in, unsigned short *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          int sum = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                sum += in[((z + dz) * height + y + dy) * width + x + dx];
          out[(z * height + y) * width + x] = (sum + 13) / 27;
        }
  }
}

void mean_floats(const float *in, float *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          float sum = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                sum += in[((z + dz) * height + y + dy) * width + x + dx];
          out[(z * height + y) * width + x] = sum / 27;
        }
  }
}

// The maximum of 3x3x3 and of 5x5x5.
void max_3(const unsigned short *in, unsigned short *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          unsigned short most = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                most = std::max(most, in[((z + dz) * height + y + dy) * width + x + dx]);
          out[(z * height + y) * width + x] = most;
        }
  }
}

void max_5(const unsigned short *in, unsigned short *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 2; z < depth - 2; z++)
      for (int y = 2; y < height - 2; y++)
        for (int x = 2; x < width - 2; x++) {
          unsigned short most = 0;
          for (int dz = -2; dz <= 2; dz++)
            for (int dy = -2; dy <= 2; dy++)
              for (int dx = -2; dx <= 2; dx++)
                most = std::max(most, in[((z + dz) * height + y + dy) * width + x + dx]);
          out[(z * height + y) * width + x] = most;
        }
  }
}

// The median of 3x3x3: a sort that ends at the middle.
void median_3(const unsigned char *in, unsigned char *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma single initialisation
    unsigned char v[27];
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          int n = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                v[n++] = in[((z + dz) * height + y + dy) * width + x + dx];
          for (int m = 0; m <= 13; m++)
            for (int t = m + 1; t < 27; t++)
              if (v[m] > v[t]) {
                const unsigned char least = v[t];
                v[t] = v[m];
                v[m] = least;
              }
          out[(z * height + y) * width + x] = v[13];
        }
  }
}

// Steps of diffusion, in which a pixel takes from its six neighbours. After an even number of steps
// the result is in `a`.
void diffusion(float *a, float *b, int width, int height, int depth, int steps) {
#pragma parallel region scratch(b)
  for (int k = 0; k < steps; k++) {
#pragma parallel
    {
#pragma for nest(3)
      for (int z = 1; z < depth - 1; z++)
        for (int y = 1; y < height - 1; y++)
          for (int x = 1; x < width - 1; x++) {
            const float own = a[(z * height + y) * width + x];
            b[(z * height + y) * width + x] =
                own +
                0.1f *
                    (a[((z - 1) * height + y) * width + x] + a[((z + 1) * height + y) * width + x] +
                     a[(z * height + y - 1) * width + x] + a[(z * height + y + 1) * width + x] +
                     a[(z * height + y) * width + x - 1] + a[(z * height + y) * width + x + 1] -
                     6 * own);
          }
    }
    std::swap(a, b);
  }
}

// A field of vectors.
struct Vector3 {
  float x, y, z;
  Vector3 operator+(const Vector3 &v) const { return {x + v.x, y + v.y, z + v.z}; }
  Vector3 operator*(float f) const { return {x * f, y * f, z * f}; }
};

void smooth_vectors(const Vector3 *in, Vector3 *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          Vector3 sum{0, 0, 0};
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                sum = sum + in[((z + dz) * height + y + dy) * width + x + dx];
          out[(z * height + y) * width + x] = sum * (1.0f / 27);
        }
  }
}

// The median of a pixel in five frames. `frames` has two frames more at each end.
void median_of_frames(unsigned char ***frames, unsigned char ***out, int width, int height,
                      int count) {
#pragma parallel
  {
#pragma single initialisation
    unsigned char v[5];
#pragma for nest(3)
    for (int t = 0; t < count; t++)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          for (int k = 0; k < 5; k++) v[k] = frames[t + k - 2][y][x];
          for (int m = 0; m <= 2; m++)
            for (int n = m + 1; n < 5; n++)
              if (v[m] > v[n]) {
                const unsigned char least = v[n];
                v[n] = v[m];
                v[m] = least;
              }
          out[t][y][x] = v[2];
        }
  }
}
