// Steps of 2, downwards, '!=' as bound, and an output that is one pixel off.
extern "C" void steps(int **In, int **Out, int w, int h)
{
#pragma parallel
  {
#pragma for
    for (int i = 0; i < h; i += 2)
      for (int j = w - 1; j >= 0; --j)
        Out[i][j] = In[i][j + 1] * 2;
#pragma for
    for (int i = 1; i < h; i = i + 2)
      for (int j = 1; j != w; j++)
        Out[i][j - 1] = In[i][j] - In[i - 1][j];
  }
}
