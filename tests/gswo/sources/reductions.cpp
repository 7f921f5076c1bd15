// Reductions and histograms in regions. Programs of gswo-cc must do what this code does without its
// pragmas.
#include <algorithm>
#include <utility>

typedef unsigned short pixel;

// Until nothing changes: dilation below a mask.
extern "C" int reconstruct(pixel **a, pixel **b, pixel **mask, int width, int height) {
  int turns = 0;
  bool changed = true;
#pragma parallel region
  while (changed && turns < 500) {
    changed = false;
#pragma parallel
    {
#pragma for nest(2) reduction(|:changed)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          pixel most = a[y][x];
          for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) most = std::max(most, a[y + dy][x + dx]);
          b[y][x] = std::min(most, mask[y][x]);
          changed |= b[y][x] != a[y][x];
        }
    }
    std::swap(a, b);
    turns++;
  }
  return turns;
}

// Each operation; loops in steps, columns first, and a part of the image.
extern "C" void each(const pixel *in, long long *to, int width, int height) {
  int sum = 5, bits = 3;
  unsigned char few = 200;
  long long large = -1;
  unsigned all = 0xffff, odd = 1;
  bool every = true, some = false;
  int low = 70000;
  pixel high = 3;
  double least = 1e9;
  float most = -7;
#pragma parallel
  {
#pragma for nest(2) reduction(+ : sum, few) reduction(+ : large) reduction(| : bits)
    for (int x = 0; x < width; x++)
      for (int y = 0; y < height; y++) {
        const int p = in[y * width + x];
        sum += p - 100;
        if (p & 1) few++;
        large = large - p * 1000000LL;
        bits |= p & 0x8421;
      }
  }
#pragma parallel
  {
#pragma for nest(2) reduction(&&:every) reduction(||:some) reduction(&:all) reduction(^:odd)
    for (int y = 1; y < height; y += 2)
      for (int x = width - 1; x >= 0; x -= 3) {
        const int p = in[y * width + x];
        every = every && p != 7;
        if (p == 9) some = true;
        all &= p | 0x0f0f;
        odd ^= p;
      }
  }
#pragma parallel
  {
#pragma for tile(32, 8) chunksize(2, 2) reduction(min:low, least) reduction(max:high) \
    reduction(max:most)
    for (int y = 2; y < height - 3; y++)
      for (int x = 1; x < width - 1; x++) {
        const pixel p = in[y * width + x];
        if (p == 1) continue;
        if (p < low) low = p;
        high = std::max(high, p);
        least = p - 0.5 < least ? p - 0.5 : least;
        if (most < -p / 3.f) {
          most = -p / 3.f;
        }
      }
  }
  const long long values[] = {sum,  few,  large, bits,
                              all,  odd,  every, some,
                              low,  high, static_cast<long long>(least * 4),
                              static_cast<long long>(most * 3 - 0.5)};
  std::copy(values, values + 12, to);
}

// Known and unknown lengths, and a table that has counts already.
extern "C" void histograms(const pixel *in, int *table, unsigned *other, int width, int height,
                           int levels) {
  int corner[16] = {1, 2, 3};
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(2) reduction(+ : table[:256], corner) reduction(+:other[0:levels])
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          table[in[y * width + x] & 255]++;
          other[in[y * width + x] % levels] += x;
          if (x < 4 && y < 4) --corner[y * 4 + x];
        }
    }
  }
  for (int k = 0; k < 16; k++) table[k] += 1000 * corner[k];
}

// The histogram decides what the next kernel does.
extern "C" int binarised(const pixel *in, pixel *out, int width, int height) {
  int counts[64] = {}, threshold = 0;
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(2) reduction(+:counts)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) counts[in[y * width + x] >> 10]++;
    }
    for (int seen = 0; threshold < 64 && 2 * seen < width * height; threshold++)
      seen += counts[threshold];
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
          out[y * width + x] = in[y * width + x] >> 10 < threshold ? 0 : 65535;
    }
  }
  return threshold;
}

// The histogram decides where each level goes.
extern "C" void equalized(const unsigned char *in, unsigned char *out, int width, int height) {
  int counts[256] = {}, level[256];
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(2) reduction(+:counts)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) counts[in[y * width + x]]++;
    }
    long long below = 0;
    for (int k = 0; k < 256; k++) {
      below += counts[k];
      level[k] = (int)((255 * below + width * height / 2) / (width * height));
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
          out[y * width + x] = level[in[y * width + x]] / 2 + level[in[y * width]] / 2;
    }
  }
}
