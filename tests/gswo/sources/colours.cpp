// Pixels that are structures with member functions. Programs of gswo-cc must do what this code does
// without its pragmas.
#include <algorithm>

namespace colours {
struct Rgb {
  unsigned char r, g, b;
  int grey() const { return (2 * r + 5 * g + b) / 8; }
  Rgb half() const { return Rgb{(unsigned char)(r / 2), (unsigned char)(g / 2), b}; }
  bool operator<(const Rgb &other) const { return grey() < other.grey(); }
};
}  // namespace colours
using colours::Rgb;

struct Sum {
  int r = 0, g = 0, b = 0, n = 0;
  void add(const Rgb &p) { r += p.r, g += p.g, b += p.b, n++; }
  Sum &operator+=(const Rgb &p) { return add(p), *this; }
  Rgb mean() const {
    return Rgb{(unsigned char)(r / n), (unsigned char)(g / n), (unsigned char)(b / n)};
  }
};

static Rgb darker(Rgb a, const Rgb &b) {
  return a < b ? a : b;
}

extern "C" void blur(const Rgb *in, Rgb *out, int width, int height) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 1; y < height - 1; y++)
      for (int x = 1; x < width - 1; x++) {
        Sum sum;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) sum += in[(y + dy) * width + x + dx];
        const Rgb own = in[y * width + x];
        out[y * width + x] = darker(sum.mean(), own.half());
      }
  }
}

// Members one by one: all of them, and some.
extern "C" void members(Rgb **in, Rgb **out, unsigned char **grey, int width, int height) {
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          out[y][x].r = in[y][x].g;
          out[y][x].g = in[y][x].b;
          out[y][x].b = std::max(in[y][x].r, in[y][x].g);
        }
    }
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
          grey[y][x] = in[y][x].grey();
          if (grey[y][x] & 1) continue;
          out[y][x].g += 3;
          out[y][x].b = out[y][x].r;
        }
    }
    // Host code that reads and changes members.
    for (int x = 0; x < width; x++) out[0][x].r = out[height - 1][x].g + 1;
#pragma parallel
    {
#pragma for nest(2)
      for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
          if (out[y][x].r > 100) out[y][x] = in[y][x];
    }
  }
}

// Real numbers, whose size is no power of two; a volume; and a histogram of a member function.
struct Vector3 {
  float x, y, z;
  Vector3 operator+(const Vector3 &v) const { return {x + v.x, y + v.y, z + v.z}; }
  Vector3 operator*(float f) const { return {x * f, y * f, z * f}; }
};

extern "C" void flow(Vector3 *in, Vector3 *out, int *levels, int width, int height, int depth) {
#pragma parallel region
  {
#pragma parallel
    {
#pragma for nest(3) reduction(+:levels[:16])
      for (int k = 1; k < depth - 1; k++)
        for (int i = 1; i < height - 1; i++)
          for (int j = 1; j < width - 1; j++) {
            const Vector3 v = in[(k * height + i) * width + j] +
                              in[((k - 1) * height + i + 1) * width + j - 1] * 0.5f;
            out[(k * height + i) * width + j] = v + in[((k + 1) * height + i) * width + j + 1];
            levels[(int)v.x & 15]++;
          }
    }
    out[0].y = in[0].x + out[(height + 1) * width + 1].x;
  }
}
