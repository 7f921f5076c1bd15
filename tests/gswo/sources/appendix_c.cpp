/* The memory pragmas of Table C1 in their order, around a window. */
void filter(float **W, float **im_GPU, unsigned char **D, float *W_1D, int I, int J, int N, int M,
            int ROI_w, int ROI_h) {
#pragma parallel region
  {
#pragma copyByTexture (D, toDevice, N, M, Bind, char)
#pragma copyMalloc1DArray (W, toDevice, I, J, pitch1)
#pragma copyMalloc1DArray (im_GPU, toDevice, I, J, pitch1, InKernel)
#pragma copy2DArrayTo1Darray (W, toHost, I, J, W_1D, 2DTo1D)
#pragma copyMemcpy2D (W, HosttoDevice, I, J, pitch1, W_1D)
#pragma copyMemcpy2DtoArray (W, DevicetoDevice, ROI_w, ROI_h, pitch1)
#pragma copyBindTexture (W, DevicetoDevice, W, float, Bind)
#pragma parallel
    {
#pragma single initialisation
      float v[9];
#pragma for nest(2) tile(16,16) chunksize(1,2)
      for (int i = 0; i < J; i++)
        for (int j = 0; j < I; j++) {
          int n = 0;
#pragma single transfer
          for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) v[n++] = W[i + y][j + x];
#pragma single remain
          for (int m = 0; m < 9; m++)
            for (int t = m + 1; t < 9; t++)
              if (v[m] > v[t]) {
                float tmp = v[m];
                v[m] = v[t];
                v[t] = tmp;
              }
#pragma single assign
          im_GPU[i][j] = v[4];
        }
    }
#pragma copyMemcpy2D (im_GPU, Device to Host, I, J, pitch1, W_1D)
#pragma copy2DArrayTo1Darray (W_1D, toHost, I, J, W, 1DTo2D)
  }
}
