/* CRLF, a continued pragma, an image as an array of the language, one statement as window. */
extern "C" void points(unsigned short Image[][64], int w, int h)
{
#pragma parallel {
#pragma for nest(2) \
  tile(32,4)
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) Image[i][j] = Image[i][j] / 2 + 3;
}
}
