// Appendix C: memory pragmas written out, loops over regions of interest around the windows.
extern "C" void denoise(float **W, float *W_1D, float **out, int I, int J, int n_roi)
{
  int roi, i, j, m, t;
  float tmp;
#pragma parallel region
  {
#pragma copyMalloc1DArray(W, toDevice, I, J, pitch1)
    for (roi = 0; roi < n_roi; roi++) {
#pragma copy2DArrayTo1DArray(W, toHost, I, J, W_1D, 2DTo1D)
#pragma copyMemcpy2D(W, HosttoDevice, I, J, pitch1, W_1D)
#pragma parallel
      {
#pragma single initialisation
        float v[9] = {0,0,0,0,0,0,0,0,0};
#pragma for nest(2) tile(16,16) chunksize(1,2)
        for (i = 1; i <= J; i++)
          for (j = 1; j <= I; j++) {
#pragma single transfer
            {
              int n = 0;
              for (m = -1; m <= 1; m++)
                for (t = -1; t <= 1; t++)
                  v[n++] = W[i + m][j + t];
            }
#pragma single remain
            {
              for (m = 0; m < 9; m++)
                for (t = m + 1; t < 9; t++)
                  if (v[m] > v[t]) { tmp = v[m]; v[m] = v[t]; v[t] = tmp; }
            }
#pragma single assign
            out[i][j] = v[4];
          }
      }
#pragma copyMemcpy2D(W, Device to Host, I, J, pitch1, W_1D)
#pragma copy2DArrayTo1DArray(W_1D, toHost, I, J, W, 1DTo2D)
    }
  }
}
