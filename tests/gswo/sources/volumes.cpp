// Volumes and sequences of frames. Programs of gswo-cc must do what this code does without its
// pragmas.
#include <algorithm>
#include <utility>

typedef unsigned short pixel;

// One array; its outermost pixels are left as they are.
extern "C" void smooth(const pixel *in, pixel *out, int width, int height, int depth) {
#pragma parallel
  {
#pragma for nest(3) tile(16, 4, 8) chunksize(2, 1, 4)
    for (int z = 1; z < depth - 1; z++)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
          int sum = 0;
          for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
              for (int dx = -1; dx <= 1; dx++)
                sum += in[((z + dz) * height + y + dy) * width + x + dx] * (2 + dz * dy - dx);
          out[(z * height + y) * width + x] = sum / 8;
        }
  }
}

// The other order of loops, steps, a product of sizes, and a fixed image.
extern "C" void steps(const pixel *in, const pixel *image, pixel *out, int width, int height,
                      int depth) {
#pragma parallel
  {
#pragma for nest(3)
    for (int x = width - 1; x >= 0; x -= 2)
      for (int y = 0; y < height; y += 3)
        for (int z = 0; z < depth; z++)
          out[z * height * width + y * width + x] =
              in[z * height * width + y * width + x] * 3 + image[y * width + x];
  }
}

// Frames, whose pointers are exchanged: each pixel is the middle of three frames, then of its own
// neighbours. `frames` has a frame before and after.
extern "C" int still(pixel ***frames, pixel ***other, int width, int height, int count, int most) {
  int changed = 1, turns = 0;
#pragma parallel region
  while (changed > 0 && turns < most) {
    changed = 0;
#pragma parallel
    {
#pragma for nest(3) reduction(+:changed)
      for (int t = 0; t < count; t++)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) {
            const pixel a = frames[t - 1][y][x], b = frames[t][y][x], c = frames[t + 1][y][x];
            const pixel middle = std::max(std::min(a, b), std::min(std::max(a, b), c));
            other[t][y][x] = middle;
            changed += middle != b;
          }
    }
    std::swap(frames, other);
    turns++;
  }
  return turns;
}

// Borders by hand, and slices that nobody can predict.
extern "C" void jumps(pixel ***v, pixel ***out, int width, int height, int depth, int far) {
#pragma parallel
  {
#pragma for nest(3)
    for (int z = 0; z < depth; z++)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          const int above = std::max(z - 1, 0), below = std::min(z + 1, depth - 1);
          out[z][y][x] = v[above][y][x] + 2 * v[below][y][x] +
                         v[(z * far) % depth][y][x];
        }
  }
}

// A register, changed step by step, and fixed sizes.
extern "C" void fixed(unsigned char in[][20][30], int out[][20][30], int depth) {
#pragma parallel
  {
#pragma for nest(3) tile(8, 8, 2)
    for (int z = 0; z < depth; z++)
      for (int y = 0; y < 20; y++)
        for (int x = 0; x < 30; x++) {
          out[z][y][x] = 0;
          for (int k = -3; k <= 3; k++)
            if (z + k >= 0 && z + k < depth) out[z][y][x] += in[z + k][y][x] * k;
        }
  }
}

// Steps from one array to the other and back. Those in the outermost pixels keep what the host has.
extern "C" void wander(pixel *a, pixel *b, int width, int height, int depth, int steps) {
#pragma parallel region
  for (int k = 0; k < steps; k++) {
#pragma parallel
    {
#pragma for nest(3)
      for (int z = 1; z < depth - 1; z++)
        for (int y = 1; y < height - 1; y++)
          for (int x = 1; x < width - 1; x++)
            b[(z * height + y) * width + x] =
                a[(z * height + y) * width + x] / 2 + a[((z - 1) * height + y) * width + x] +
                a[((z + 1) * height + y - 1) * width + x + 1] / 4 +
                a[(z * height + y + 1) * width + x - 1];
    }
    std::swap(a, b);
  }
}

// The same array, whose pixels all windows see as they were before.
extern "C" void in_place(pixel *v, int width, int height, int depth, int steps) {
#pragma parallel region
  for (int k = 0; k < steps; k++) {
#pragma parallel
    {
#pragma for nest(3)
      for (int z = 1; z < depth - 1; z++)
        for (int y = 1; y < height - 1; y++)
          for (int x = 1; x < width - 1; x++)
            if (v[(z * height + y) * width + x] % 3)
              v[(z * height + y) * width + x] =
                  v[((z - 1) * height + y) * width + x + 1] / 2 +
                  v[((z + 1) * height + y - 1) * width + x - 1] / 3 + 1;
    }
  }
}

// A ring of frames: the oldest one gets the result and becomes the newest.
extern "C" void ring(pixel **frames[], pixel **made[], int width, int height, int count,
                     int steps) {
#pragma parallel region
  for (int k = 0; k < steps; k++) {
#pragma parallel
    {
#pragma for nest(3)
      for (int t = 1; t < count - 1; t++)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++)
            made[t][y][x] = frames[t - 1][y][x] / 2 + frames[t][y][x] + frames[t + 1][y][x] / 4;
    }
    pixel **const oldest = frames[0];
    for (int t = 0; t < count - 1; t++) frames[t] = frames[t + 1];
    frames[count - 1] = made[1];
    made[1] = oldest;
  }
}

// A window larger than the tile, and one that is too large for shared memory.
extern "C" void far(const pixel *in, int *near, int *out, int width, int height, int depth) {
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(3) tile(8, 4, 2)
      for (int z = 3; z < depth - 3; z++)
        for (int y = 4; y < height - 4; y++)
          for (int x = 9; x < width - 9; x++) {
            int sum = 0;
            for (int k = -3; k <= 3; k++)
              sum += k * in[((z + k) * height + y - k) * width + x + 3 * k] +
                     in[((z - k) * height + y + 4) * width + x];
            near[(z * height + y) * width + x] = sum;
          }
    }
#pragma parallel
    {
#pragma for nest(3)
      for (int z = 9; z < depth - 9; z++)
        for (int y = 9; y < height - 9; y++)
          for (int x = 33; x < width - 33; x++)
            out[(z * height + y) * width + x] =
                in[((z - 9) * height + y + 9) * width + x + 33] +
                2 * in[((z + 9) * height + y - 9) * width + x - 33] +
                near[(z * height + y) * width + x];
    }
  }
}
