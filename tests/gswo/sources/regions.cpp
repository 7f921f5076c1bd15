// Functions with `parallel region` and host code of many kinds. Programs of gswo-cc must do what
// this code does without its pragmas.
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

typedef unsigned short pixel;

// One window of each kind.
static int mixed(int a, int b, int c) {
  return (a * 3 + b * 5 + c * 7 + 1) & 0xffff;
}

extern "C" void two_kernels(const pixel *in, pixel *between, pixel *out, int width, int height) {
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) between[y * width + x] = mixed(in[y * width + x], x, y);
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++)
          out[y * width + x] =
              mixed(between[(y - 1) * width + x], between[y * width + (x + 1)], in[y * width + x]);
    }
  }
}

extern "C" void scratch(const pixel *in, pixel *between, pixel *out, int width, int height) {
#pragma parallel region scratch(between)
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) between[y * width + x] = mixed(in[y * width + x], x, y);
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[y * width + x] = mixed(between[y * width + x], 1, 2);
    }
  }
}

// A loop that exchanges pointers; `a` and `b` have a margin.
extern "C" void exchanged(pixel **a, pixel **b, int width, int height, int turns) {
#pragma parallel region
  for (int turn = 0; turn < turns; turn++) {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
          b[y][x] = mixed(a[y - 1][x - 1], a[y + 1][x + 1], a[y][x] + turn);
    }
    std::swap(a, b);
  }
}

static bool differ(pixel **a, pixel **b, int width, int height) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      if (a[y][x] != b[y][x]) return true;
  return false;
}

// Host code reads the images after each turn.
extern "C" int until_equal(pixel **a, pixel **b, int width, int height) {
  int turns = 0;
#pragma parallel region
  {
    do {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) b[y][x] = a[y - 1][x] > a[y][x] ? a[y - 1][x] : a[y][x];
      }
      std::swap(a, b);
      turns++;
    } while (differ(a, b, width, height) && turns < 50);
  }
  return turns;
}

// Host code changes pixels between the kernels, in a statement without braces, too.
extern "C" void changed(pixel *a, pixel *b, int width, int height, int turns) {
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) b[y * width + x] = mixed(a[y * width + x], turn, 2);
      }
      if (turn % 2)
        b[turn] = 17;
      else if (turn == 4)
        for (int x = 0; x < width; x++) a[x] = b[x];
      int corner = 3;
      if (b[0] & 1) corner = 4;
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++)
            a[y * width + x] = mixed(b[y * width + x], corner, a[y * width + x]);
      }
    }
  }
}

// A function with windows, called in the regions of others.
extern "C" void one_step(pixel **from, pixel **to, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) to[y][x] = mixed(from[y][x + 1], from[y - 1][x], 3);
  }
}

extern "C" void calls(pixel **a, pixel **b, int width, int height, int turns) {
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
      one_step(a, b, width, height);
      one_step(b, a, width, height);
    }
  }
}

// Not a function with windows: nothing announces what it does.
static int unknown(pixel **a, pixel **b, int width, int height) {
  a[0][0]++;
  one_step(a, b, width, height);
  return b[0][0];
}

extern "C" int calls_unknown(pixel **a, pixel **b, int width, int height, int turns) {
  int sum = 0;
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) a[y][x] = mixed(b[y][x], b[y + 1][x], 5);
      }
      sum += unknown(a, b, width, height);
      one_step(b, a, width, height);
    }
  }
  return sum;
}

// Called in a region, it changes pixels before a region of its own.
extern "C" int prepared(pixel **a, pixel **b, int width, int height) {
  a[1][1] = b[1][1] + 1;
#pragma parallel region
  { one_step(a, b, width, height); }
  return b[2][2];
}

extern "C" int calls_prepared(pixel **a, pixel **b, int width, int height, int turns) {
  int sum = 0;
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
      one_step(b, a, width, height);
      sum = sum * 3 + prepared(a, b, width, height);
    }
  }
  return sum;
}

extern "C" int leaves(pixel **a, pixel **b, int width, int height, int how) {
  try {
#pragma parallel region
    {
      one_step(a, b, width, height);
      if (how == 1) return b[0][0];
      if (how == 2) throw std::runtime_error("in a region");
      one_step(b, a, width, height);
    }
  } catch (const std::exception &) {
    return b[1][1];
  }
  return a[0][0];
}

// Each turn has images of its own, whose memory is used again.
extern "C" void local_images(pixel *in, pixel *out, int width, int height, int turns) {
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
      pixel memory[64 * 64], *own = memory;
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) own[y * width + x] = mixed(in[y * width + x], turn, 1);
      }
      std::vector<pixel> other(width * height, 9);
      pixel *second = other.data();
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) second[y * width + x] += own[y * width + x];
      }
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++)
            out[y * width + x] = mixed(second[y * width + x], out[y * width + x], 4);
      }
    }
  }
}

// Bands of rows, one after the other, and windows that write only some pixels.
extern "C" void bands(const pixel *in, pixel *out, int width, int height, int bands) {
#pragma parallel region
  {
    for (int band = 0; band < bands; band++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = band * height / bands; y < (band + 1) * height / bands; y++)
          for (int x = 0; x < width; x++)
            if (in[y * width + x] & 1) out[y * width + x] = mixed(in[y * width + x], y, band);
      }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
          out[y * width + x] = mixed(out[y * width + x], in[y * width + x], 6);
    }
  }
}

// Reads along rows and along columns, beyond the image, in place.
extern "C" void crossed(pixel **a, pixel **b, int width, int height, int turns) {
#pragma parallel region
  {
    for (int turn = 0; turn < turns; turn++) {
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) b[y][x] = mixed(a[y][x - 2], a[y][x + 2], a[y][x]);
      }
#pragma parallel
      {
#pragma for nest(2)
        for (int y = 0; y < height; y++)
          for (int x = 0; x < width; x++) a[y][x] = mixed(b[y - 2][x], b[y + 2][x], b[y][x]);
      }
    }
  }
}
