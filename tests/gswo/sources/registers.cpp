// Changes the output pixel step by step, but not in every window. Initialises values of its own in
// each window.
extern "C" void registers(float **In, float **Out, int w, int h)
{
#pragma parallel
  {
#pragma for nest(2) tile(16,16) chunksize(2,2)
    for (int i = 0; i <= h - 1; i++)
      for (int j = 0; w > j; j += 1) {
#pragma single initialisation {
        float v[2] = { 0, 0.25f }; }
        if (In[i][j] > 100) Out[i][j] += In[i][j - 1];
        for (int k = 1; k <= 3; k++) v[0] += In[i - k][j + k];
        if (In[i][j] > 200) {
          Out[i][j] *= 0.5f;
          continue;
        }
        Out[i][j] -= v[0] * v[1];
      }
  }
}
