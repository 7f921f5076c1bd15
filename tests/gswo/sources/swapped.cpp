// Columns in the outer loop, size_t, the interior only; a pragma of another tool and an #ifdef in
// the window.
#include <cstddef>
#include <algorithm>
#define FANCY 1
extern "C" void swapped(float **In, float **Out, size_t w, size_t h)
{
#pragma parallel
  {
#pragma for nest(2) tile(8,32)
    // a comment
    for (size_t x = 1; x < w - 1; x++)
      for (size_t y = 1; y < h - 1; y++)
        Out[y][x] = 0;
#pragma omp parallel for
#pragma gswo for nest(2) tile(8,32)
    for (size_t x = 1; x < w; x++)
      for (size_t y = 1; y < h; y++)
      {
#ifdef FANCY
        float s = std::max(In[y][x], std::max(In[y-1][x], In[y+1][x]));
#else
        float s = 0
#endif
        Out[y][x] = s > 3 ? s : In[y][x - 1];
      }
  }
}
