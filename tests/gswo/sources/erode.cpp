// Recursive erosion: a loop on the host runs kernels and exchanges the images.
extern "C" void erode(short **In, short **Out, int w, int h, int n)
{
  short **t;
#pragma parallel region
  {
    for (int k = 0; k < n; k++) {
#pragma parallel
      {
#pragma for nest(2) tile(16,8)
        for (int i = 0; i < h; i++)
          for (int j = 0; j < w; j++) {
            short least = In[i][j];
            for (int y = -1; y <= 1; y++)
              for (int x = -1; x <= 1; x++)
                least = In[i + y][j + x] < least ? In[i + y][j + x] : least;
            Out[i][j] = least;
          }
      }
      t = In;
      In = Out;
      Out = t;
    }
#pragma parallel
    {
#pragma for nest(2) tile(16,8)
      for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) In[i][j] = In[i][j] + 1;
    }
  }
}
