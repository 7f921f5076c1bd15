// The size of the window and the rank are parameters; rows are addressed by hand; helpers, a macro,
// constants and a template.
#include <math.h>
#define SQR(x) ((x)*(x))
const float GAIN = 1.25f;
static const float BIAS[2] = { 0.5f, -0.5f };

template <typename T> static inline void order(T &a, T &b) { if (b < a) { T t = a; a = b; b = t; } }

static void sort_window(float *v, int n)
{
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++)
      order(v[a], v[b]);
}

extern "C" void rank(const unsigned char *in, unsigned char *out, int width, int height, int win,
                     int rank)
{
  const int R = win / 2;
#pragma gswo parallel
  {
#pragma gswo single initialisation
    float v[win * win];
#pragma gswo for nest(2) tile(32,16) chunksize(1,4)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++)
      {
        int n = 0;
#pragma gswo single transfer
        {
          for (int dy = -R; dy <= R; dy++)
            for (int dx = -R; dx <= R; dx++)
              v[n++] = in[x + dx + width * (y + dy)];
        }
#pragma gswo single remain
        {
          sort_window(v, n);
        }
#pragma gswo single assign
        out[y * width + x] = (unsigned char) (sqrtf(SQR(v[rank])) * GAIN / 2 + BIAS[0]);
      }
  }
}
