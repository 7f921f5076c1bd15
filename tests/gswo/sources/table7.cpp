/* The left column of Table 7, with the clause on its own line as it is printed. */
void median(float **Image, int height, int width) {
  int i, j, m, t;
  float tmp;
#pragma parallel region {
#pragma parallel {
#pragma single initialisation{
      float v[9] = {0,0,0,0,0,0,0,0,0};
}
#pragma for nest(2)
tile(16,16)
      for (i = 1; i <= height; i++)
        for (j = 1; j <= width; j++){
#pragma single transfer{
      v[0] = Image [i-1][j-1];
      v[1] = Image [i-1][j];
      v[2] = Image [i-1][j+1];
      v[3] = Image [i][j-1];
      v[4] = Image [i][j];
      v[5] = Image [i][j+1];
      v[6] = Image [i+1][j-1];
      v[7] = Image [i+1][j];
      v[8] = Image [i+1][j+1]; }
#pragma single remain{
      for (m = 0; m < 9; m++)
        for (t = m+1; t < 9; t++) {
          if(v[m] > v[t]) {
            tmp = v[m];
            v[m] = v[t];
            v[t] = tmp; } } }
#pragma single assign {
      Image[i][j] = v[4]; }
}
}
}
}
