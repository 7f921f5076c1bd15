// A structure, an enumeration, a template, a namespace, a lambda, a switch, writes through a macro.
#define PUT(im,i,j,v) im[i][j] = (v)
#define AT(im,i,j) im[i][j]
struct Params { float a, b; float scaled(float x) const { return a * x + b; } };
static const Params P = { 1.5f, 2.f };
enum Mode { ADD, SUB };
using real = float;
template <int N> static real poly(real x) {
  real s = 0;
  for (int k = 0; k < N; k++) s = s * x + P.a;
  return s;
}
namespace detail { inline real half(real x); inline real half(real x) { return x / 2; } }
int unrelated() { static int n; return n++; }
extern "C" void language(real **In, real **Out, int w, int h, int mode, real gain)
{
#pragma parallel
  {
#pragma for nest(2)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        auto g = [&](real q) { return q * gain; };
        switch (mode) {
          case ADD: PUT(Out, i, j, g(AT(In, i, j - 1)) + poly<3>(In[i][j])); break;
          default: PUT(Out, i, j, detail::half(P.scaled(In[i][j + 1])));
        }
      }
  }
}
