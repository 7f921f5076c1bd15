// Accumulates in the output pixel, skips windows with 'continue', has a table of its own, and a
// gain with a default value.
extern "C" void convolve(float **In, float **Out, int w, int h, float k = 40)
{
  const float K[3][3] = {{1,2,1},{2,4,2},{1,2,1}};
#pragma parallel
  {
#pragma for nest(all) tile(32,8)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < w; ++j) {
        Out[i][j] = 0;
        if (In[i][j] <= k) continue;
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++)
            Out[i][j] += In[i + a - 1][j + b - 1] * K[a][b];
        Out[i][j] /= 16.0f;
      }
  }
}
